//! Which scripts are likely to end within a moment, so that they run on the threads that serve connections.
//!
//! A script has to come twice, so that what is written once costs nothing here. It must only read, for it may be stopped and run
//! again elsewhere, and must not call fixed rules, which may read files and wait for clients. One that takes longer
//! goes to other threads for its next calls: one of them at first, for the processor may just have been busy elsewhere, and twice as
//! many each time that it takes long again. With other parameters it may be short once more.

use std::sync::atomic::{AtomicU32, Ordering};
use std::sync::{Arc, OnceLock};

use cozo::parse::ast::{Query, QueryOption, RuleBody, Script};
use cozo::parse::parse_script;
use quick_cache::sync::Cache;

/// How many scripts are known.
const SCRIPTS: usize = 1000;

/// Longer scripts take long to compile.
const MAX_BYTES: usize = 4096;

/// The most calls in a row that go elsewhere.
const MAX_DETOURS: u32 = 128;

/// The scripts that came before, by text.
pub struct Habits(Cache<Box<str>, Arc<Habit>>);

impl Default for Habits {
    fn default() -> Self {
        Habits(Cache::new(SCRIPTS))
    }
}

/// What is known of a script.
#[derive(Default)]
pub struct Habit {
    only_reads: OnceLock<bool>,
    /// How many calls are still to go elsewhere.
    detours: AtomicU32,
    /// How many went after the last call that took long; zero after a short one.
    last_detours: AtomicU32,
}

impl Habits {
    /// The script if it is likely to be short.
    pub fn of(&self, script: &str) -> Option<Arc<Habit>> {
        if script.len() > MAX_BYTES {
            return None;
        }
        let Some(habit) = self.0.get(script) else {
            self.0.insert(script.into(), Arc::default());
            return None;
        };
        habit.is_short(script).then_some(habit)
    }
}

impl Habit {
    fn is_short(&self, script: &str) -> bool {
        let reads = || matches!(parse_script(script), Ok(Script::Query(query)) if only_reads(&query));
        *self.only_reads.get_or_init(reads)
            && self.detours.fetch_update(Ordering::Relaxed, Ordering::Relaxed, |left| left.checked_sub(1)).is_err()
    }

    /// Notes whether a call was short. Calls at the same time may overlook each other: it is a guess anyway.
    pub fn note(&self, was_short: bool) {
        let last = self.last_detours.load(Ordering::Relaxed);
        let next = if was_short { 0 } else { (2 * last).clamp(1, MAX_DETOURS) };
        if next > 0 {
            self.detours.store(next, Ordering::Relaxed);
        }
        // What all threads read is written only when it changes.
        if next != last {
            self.last_detours.store(next, Ordering::Relaxed);
        }
    }
}

fn only_reads(query: &Query) -> bool {
    let derives = |body: &RuleBody| !matches!(body, RuleBody::Fixed(_));
    let shapes = |option: &QueryOption| match option {
        QueryOption::Limit(_)
        | QueryOption::Offset(_)
        | QueryOption::Order(_)
        | QueryOption::Timeout(_)
        | QueryOption::Assert(..)
        | QueryOption::DisableMagicRewrite(_)
        | QueryOption::DisableJoinReorder(_) => true,
        QueryOption::Sleep(_) | QueryOption::Returning(_) | QueryOption::Mutation(_) => false,
    };
    query.rules.iter().all(|rule| derives(&rule.body)) && query.options.iter().all(shapes)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn scripts_that_read_are_short_until_they_take_long() {
        let habits = Habits::default();
        let script = "?[v] := *r{k: $k, v} :limit 1";
        assert!(habits.of(script).is_none(), "nothing is known of it");
        let habit = habits.of(script).expect("it came before");
        for detours in [1, 2, 4] {
            habit.note(false);
            assert!((0..detours).all(|_| habits.of(script).is_none()));
            assert!(habits.of(script).is_some(), "it has another chance");
        }
        habit.note(true);
        habit.note(false);
        assert!(habits.of(script).is_none() && habits.of(script).is_some(), "it was short meanwhile");
        (0..20).for_each(|_| habit.note(false));
        assert_eq!((0..1000).filter(|_| habits.of(script).is_none()).count(), MAX_DETOURS as usize);
    }

    #[test]
    fn what_writes_waits_or_cannot_be_read_is_never_short() {
        let habits = Habits::default();
        let others = [
            "?[k] <- [[1]] :put r {k}",
            "?[k] := k = 1 :create _e {k}",
            "?[k] := k = 1 :sleep 1",
            "?[a] <~ Mine(*r[])",
            "{?[k] <- [[1]]}",
            "::relations",
            "?[k",
        ];
        for script in others {
            assert!((0..3).all(|_| habits.of(script).is_none()), "{script}");
        }
    }
}
