//! The memory of this process: what it holds, and the most that it held since the mark was last reset. Known on Linux only.

/// What the process holds, in megabytes.
#[derive(Clone, Copy, Debug)]
pub struct Memory {
    /// At the moment.
    pub now_mb: f64,
    /// At most since [`reset_peak`], or since the start of the process.
    pub peak_mb: f64,
}

/// Has the peak counted from now on. Not every container allows that; the peak is then that of the whole process.
pub fn reset_peak() {
    // 5 is "reset the peak resident set size", proc_pid_clear_refs(5).
    let _ = std::fs::write("/proc/self/clear_refs", "5");
}

/// What the process holds, where the system says so.
pub fn memory() -> Option<Memory> {
    let status = std::fs::read_to_string("/proc/self/status").ok()?;
    let mb = |name: &str| -> Option<f64> {
        let line = status.lines().find_map(|line| line.strip_prefix(name))?;
        Some(line.split_whitespace().next()?.parse::<f64>().ok()? / 1024.0)
    };
    Some(Memory { now_mb: mb("VmRSS:")?, peak_mb: mb("VmHWM:")? })
}

#[cfg(all(test, target_os = "linux"))]
mod tests {
    use super::*;

    #[test]
    fn the_peak_counts_what_is_there_for_a_moment() {
        let before = memory().expect("Linux tells");
        let block = vec![1u8; 64 << 20];
        drop(std::hint::black_box(block));
        // Whether it is given back at once is up to the allocator.
        let after = memory().expect("Linux tells");
        assert!(after.peak_mb > before.now_mb + 50.0, "{before:?} {after:?}");
        assert!(after.now_mb <= after.peak_mb, "{before:?} {after:?}");
    }
}
