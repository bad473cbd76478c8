//! The time, and the time to within some milliseconds: to ask for it exactly takes a fifteenth of what a query for one row takes.

use std::time::{Duration, SystemTime, UNIX_EPOCH};

/// The time, in microseconds since the epoch.
pub fn now_micros() -> i64 {
    SystemTime::now().duration_since(UNIX_EPOCH).map_or(0, |elapsed| elapsed.as_micros() as i64)
}

pub use coarse::{about_now_micros, about_now_since_start};

#[cfg(target_os = "linux")]
mod coarse {
    use rustix::time::{ClockId, clock_gettime};

    use super::Duration;

    /// About the time, in microseconds since the epoch.
    pub fn about_now_micros() -> i64 {
        let time = clock_gettime(ClockId::RealtimeCoarse);
        time.tv_sec * 1_000_000 + time.tv_nsec / 1_000
    }

    /// About the time since some start, which is the same for the whole process; it never goes back.
    pub fn about_now_since_start() -> Duration {
        let time = clock_gettime(ClockId::MonotonicCoarse);
        Duration::new(time.tv_sec as u64, time.tv_nsec as u32)
    }
}

#[cfg(not(target_os = "linux"))]
mod coarse {
    use std::sync::LazyLock;
    use std::time::Instant;

    use super::Duration;

    /// The time, in microseconds since the epoch.
    pub fn about_now_micros() -> i64 {
        super::now_micros()
    }

    /// The time since some start, which is the same for the whole process; it never goes back.
    pub fn about_now_since_start() -> Duration {
        static START: LazyLock<Instant> = LazyLock::new(Instant::now);
        START.elapsed()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn coarse_clocks_are_a_little_behind() {
        let (before, about, after) = (now_micros(), about_now_micros(), now_micros());
        assert!(before - 1_000_000 < about && about <= after, "{before} {about} {after}");
        let start = about_now_since_start();
        std::thread::sleep(Duration::from_millis(200));
        let passed = about_now_since_start() - start;
        assert!(passed > Duration::from_millis(100), "{passed:?}");
    }
}
