//! The time, exactly or to within some milliseconds.
//!
//! To read the exact clock costs a noticeable part of a query for one row, so queries read the coarse clock where some
//! milliseconds do not matter. A [`Deadline`] reads the exact clock only when it is about to pass.

use std::time::{Duration, SystemTime, UNIX_EPOCH};

/// The time, in microseconds since the epoch.
pub fn now_micros() -> i64 {
    SystemTime::now().duration_since(UNIX_EPOCH).map_or(0, |elapsed| elapsed.as_micros() as i64)
}

/// The most that the coarse clock is behind, unless the machine is very busy.
const BEHIND: Duration = Duration::from_millis(20);

/// From this length on, a period may be too short by the lag of the coarse clock.
const LONG: Duration = Duration::from_secs(1);

/// An instant in the future.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Deadline(Duration);

impl Deadline {
    /// The instant after a period from now.
    pub fn after(time: Duration) -> Self {
        let now = if time < LONG { now_since_start() } else { about_now_since_start() };
        Deadline(now.saturating_add(time))
    }

    /// Whether the instant has passed.
    pub fn is_over(self) -> bool {
        about_now_since_start() + BEHIND >= self.0 && now_since_start() >= self.0
    }
}

pub use sources::about_now_micros;
use sources::{about_now_since_start, now_since_start};

#[cfg(target_os = "linux")]
mod sources {
    use rustix::time::{ClockId, clock_gettime};

    use super::Duration;

    /// About the time, in microseconds since the epoch.
    pub fn about_now_micros() -> i64 {
        let time = clock_gettime(ClockId::RealtimeCoarse);
        time.tv_sec * 1_000_000 + time.tv_nsec / 1_000
    }

    /// The time since a fixed start, which is the same for the whole process. It never goes back.
    pub fn now_since_start() -> Duration {
        since_start(ClockId::Monotonic)
    }

    /// About the time since the same start.
    pub fn about_now_since_start() -> Duration {
        since_start(ClockId::MonotonicCoarse)
    }

    fn since_start(clock: ClockId) -> Duration {
        let time = clock_gettime(clock);
        Duration::new(time.tv_sec as u64, time.tv_nsec as u32)
    }
}

#[cfg(not(target_os = "linux"))]
mod sources {
    use std::sync::LazyLock;
    use std::time::Instant;

    use super::Duration;

    /// The time, in microseconds since the epoch.
    pub fn about_now_micros() -> i64 {
        super::now_micros()
    }

    /// The time since a fixed start, which is the same for the whole process. It never goes back.
    pub fn now_since_start() -> Duration {
        static START: LazyLock<Instant> = LazyLock::new(Instant::now);
        START.elapsed()
    }

    /// The time since the same start.
    pub fn about_now_since_start() -> Duration {
        now_since_start()
    }
}

#[cfg(test)]
mod tests {
    use std::time::Instant;

    use super::*;

    #[test]
    fn coarse_clocks_are_a_little_behind() {
        let (before, about, after) = (now_micros(), about_now_micros(), now_micros());
        assert!(before - 1_000_000 < about && about <= after, "{before} {about} {after}");
        let (before, about, after) = (now_since_start(), about_now_since_start(), now_since_start());
        assert!(before < about + Duration::from_secs(1) && about <= after, "{before:?} {about:?} {after:?}");
    }

    #[test]
    fn a_deadline_is_over_no_sooner_than_it_says() {
        let (start, time) = (Instant::now(), Duration::from_millis(3));
        let deadline = Deadline::after(time);
        while !deadline.is_over() {}
        assert!(start.elapsed() >= time);
        assert!(!Deadline::after(Duration::from_secs(100)).is_over() && !Deadline::after(Duration::MAX).is_over());
    }
}
