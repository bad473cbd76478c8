//! Huge pages only for what is large.
//!
//! The allocator asks for huge pages for all that it gets from the system (Linux, `madvise`). What lies in hundreds of megabytes is found 5 to
//! 10 % sooner by them. But the system clears two megabytes at the first touch of each, and the allocator has each thread touch new memory
//! for each size of blocks: a hundred threads that begin to ask a small database would wait for that, for up to a third of a second. So
//! the memory that the allocator got first is to have none, until a relation or a query is large.

use std::sync::OnceLock;
use std::sync::atomic::{AtomicBool, Ordering::Relaxed};

use super::mem::allocated_address;

/// From so many bytes on a relation or a query is large.
const LARGE: u64 = 4 << 20;

/// So many bytes the allocator asks the system for, and places at a multiple of them,
const ARENA: usize = 1 << 30;

/// between these addresses, where nothing else is unless it is put there. Elsewhere memory is shared with what is not the allocator's, and
/// stays as it is.
const PLACES: std::ops::Range<usize> = 2 << 40..32 << 40;

/// Whether anything is large.
static IS_LARGE: AtomicBool = AtomicBool::new(false);

/// The memory that the allocator got first, if it is known.
static FIRST: OnceLock<Option<usize>> = OnceLock::new();

/// Has the allocator's memory be without huge pages for now.
pub(super) fn put_off() {
    FIRST.get_or_init(|| {
        let address = allocated_address() / ARENA * ARENA;
        let is_known = PLACES.contains(&address) && !IS_LARGE.load(Relaxed);
        is_known.then(|| advise(address, false)).map(|()| address)
    });
}

/// Says that something is about to take so many bytes.
#[inline]
pub fn expect(bytes: u64) {
    if bytes >= LARGE && !IS_LARGE.load(Relaxed) {
        IS_LARGE.store(true, Relaxed);
        if let Some(Some(first)) = FIRST.get() {
            advise(*first, true);
        }
    }
}

/// Whether there are to be huge pages where some of the allocator's memory begins.
#[cfg(target_os = "linux")]
fn advise(address: usize, huge: bool) {
    use rustix::mm::{Advice, madvise};

    let advice = if huge { Advice::LinuxHugepage } else { Advice::LinuxNoHugepage };
    // SAFETY: the advice changes how long memory takes, and nothing of what is in it. What is not mapped is passed over, with an error that
    // says so; so does a system without huge pages.
    #[allow(unsafe_code)]
    let _ = unsafe { madvise(std::ptr::without_provenance_mut(address), ARENA, advice) };
}

#[cfg(not(target_os = "linux"))]
fn advise(_address: usize, _huge: bool) {}

#[cfg(all(test, target_os = "linux"))]
mod tests {
    use std::path::Path;

    use super::*;
    use crate::storage::RelationShape;
    use crate::storage::mem::Tree;
    use crate::value::{Batch, Column};

    /// What the system has been told about the memory at an address.
    fn advice(address: usize) -> Vec<String> {
        let maps = std::fs::read_to_string("/proc/self/smaps").expect("Linux has it");
        let bound = |hex: &str| usize::from_str_radix(hex, 16).ok();
        let mut within = false;
        for line in maps.lines() {
            let range = line.split(' ').next().and_then(|range| range.split_once('-'));
            if let Some((Some(start), Some(end))) = range.map(|(start, end)| (bound(start), bound(end))) {
                within = (start..end).contains(&address);
            } else if let (true, Some(flags)) = (within, line.strip_prefix("VmFlags:")) {
                return flags.split_whitespace().filter(|flag| ["hg", "nh"].contains(flag)).map(Into::into).collect();
            }
        }
        vec![]
    }

    /// In a process of its own, since tests of others have large relations.
    #[test]
    fn memory_has_huge_pages_once_a_relation_is_large() {
        if std::env::var_os("COZO_TEST_HUGE_PAGES").is_none() {
            let name = "storage::huge_pages::tests::memory_has_huge_pages_once_a_relation_is_large";
            let itself = std::env::current_exe().expect("a test has a file");
            let ran = std::process::Command::new(itself)
                .args(["--exact", name, "--test-threads=1"])
                .env("COZO_TEST_HUGE_PAGES", "1")
                .output()
                .expect("it was run just now");
            assert!(ran.status.success(), "{}", String::from_utf8_lossy(&ran.stdout));
            return;
        }
        put_off();
        let expected = |flag: &str| match FIRST.get() {
            Some(Some(_)) if Path::new("/sys/kernel/mm/transparent_hugepage").exists() => vec![flag.to_string()],
            _ => vec![],
        };
        let first = FIRST.get().copied().flatten().unwrap_or_default();
        let mut tree = Tree::new(RelationShape { keys: 1, arity: 1 });
        let mut put = |rows: i64| tree.put(&Batch::new(vec![Column::ints((0..rows).collect())], rows as usize));
        put(1000);
        assert_eq!(advice(first), expected("nh"));
        put(LARGE as i64 / 4);
        assert_eq!(advice(first), expected("hg"));
    }
}
