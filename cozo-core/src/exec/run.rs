//! One execution of a plan: the state that all its operators share, and the state of each thread.
//!
//! A [`Run`] has the plan, its [`Input`], which rows are [`Wanted`], the [`Caches`] of the database, the budget, and [`Notes`]: what
//! operators measure and build while the plan runs, by the number of the operator. A [`Worker`] is the state of one thread that
//! pushes batches through operators.

use std::any::{Any, TypeId};
use std::collections::HashMap;
use std::sync::{Arc, OnceLock};
use std::time::Duration;

use rustc_hash::FxHashMap;

use crate::budget::Budget;
use crate::exec::error::ExecError;
use crate::exec::index::cache::{IndexCache, Indexed};
use crate::exec::index::hash_index::IndexedRows;
use crate::exec::piece::Piece;
use crate::exec::profile::{BeyondMemory, Clock, OperatorProfile, Profile};
use crate::exec::rowset::seen::Seen;
use crate::exec::rowset::top_k::TopKSpec;
use crate::exec::sorting::Disk;
use crate::exec::thresholds::{FIRST_BATCH_ROWS, MAX_BATCH_ROWS, PARTITION_SHARE_OF_MEMORY};
use crate::expr::Expr;
use crate::fixed_rule::graph::GraphCache;
use crate::index::search::{SearchCache, SearchWork};
use crate::plan::{ComponentPlan, FixedPlan, Plan, RulePlan, SortKey};
use crate::program::checked_time;
use crate::spill::SpillSpace;
use crate::sync::Mutex;
use crate::threads;
use crate::txn::View;
use crate::value::{Batch, DataValue};

/// One execution of a plan: the state that all its operators share.
pub struct Run<'a> {
    /// The plan that runs.
    pub plan: &'a Plan,
    /// The input of the plan.
    pub input: Input<'a>,
    /// Which rows of the entry are wanted.
    pub wanted: Wanted,
    /// The caches, which other queries share.
    pub caches: Caches<'a>,
    /// Says when to stop.
    pub budget: &'a Budget,
    /// Where rows go when memory is used up; `None` if they may not.
    pub space: Option<&'a Arc<SpillSpace>>,
    /// See [`Run::disk`].
    disk: OnceLock<Disk>,
    /// What the operators measure and build during the run.
    pub notes: Notes,
}

/// The input of a plan.
pub struct Input<'a> {
    /// The parameters, by number.
    pub parameters: &'a [&'a DataValue],
    /// The stored relations.
    pub view: View<'a>,
    /// The rows that the host passes in as relations, by number.
    pub given: &'a [Batch],
    /// The times of the plan, as timestamps. They are evaluated once, so that all rounds and threads read at the same times.
    times: Vec<i64>,
}

/// Which rows of the entry are wanted.
pub struct Wanted {
    /// How many distinct rows are enough.
    pub enough: Option<usize>,
    /// The first rows in some order, if not all.
    pub top: Option<TopKSpec>,
    /// The order that is wanted of the rows; among equals, and if it is empty, they are sorted by all columns.
    pub order: Vec<SortKey>,
}

/// The caches of a database.
#[derive(Clone, Copy, Default)]
pub struct Caches<'a> {
    /// Graphs of stored relations.
    pub graphs: Option<&'a GraphCache>,
    /// Indexes of stored relations.
    pub indexes: Option<&'a IndexCache>,
    /// The segments of search indices.
    pub searches: Option<&'a SearchCache>,
}

/// What operators measure and build during a run, by the number of the operator.
#[derive(Default)]
pub struct Notes {
    /// What each operator did, if a profile is asked for.
    pub profile: Option<Profile>,
    /// The indexes of stored relations. `None` stands for an index that is too large to build unless the plan needs it.
    pub indexes: Mutex<HashMap<Indexed, Option<Arc<IndexedRows>>>>,
    /// In recursion, how many more rows each look-up finds before an index join replaces it, by the number of its operator. At 0
    /// it is replaced.
    pub lookups_left: Mutex<FxHashMap<usize, u64>>,
    /// The pieces of the lists of operators that are divided, by the number of the operator.
    pieces: Mutex<FxHashMap<usize, Piece>>,
    /// What an operator builds once and keeps for all rounds and threads, by its type.
    built: Mutex<FxHashMap<(usize, TypeId), Built>>,
}

type Built = Arc<dyn Any + Send + Sync>;

impl Notes {
    /// What an operator, by its number, builds once for each run. Others wait for it, so that it must not divide its work: a thread
    /// that waits for its share may run another part of this run, and that part would wait for it.
    pub fn build_once<T: Send + Sync + 'static>(
        &self,
        operator: usize,
        build: impl FnOnce() -> Result<T, ExecError>,
    ) -> Result<Arc<T>, ExecError> {
        let mut built = self.built.lock();
        let value = match built.get(&(operator, TypeId::of::<T>())) {
            Some(known) => known.clone(),
            None => {
                let new: Built = Arc::new(build()?);
                built.insert((operator, TypeId::of::<T>()), new.clone());
                new
            }
        };
        Ok(of_type(value))
    }

    /// [`Notes::build_once`] for work that may be divided. Several threads may do it, and one of the results is kept.
    pub fn build_unlocked<T: Send + Sync + 'static>(
        &self,
        operator: usize,
        build: impl FnOnce() -> Result<T, ExecError>,
    ) -> Result<Arc<T>, ExecError> {
        let key = (operator, TypeId::of::<T>());
        let known = self.built.lock().get(&key).cloned();
        let value = match known {
            Some(known) => known,
            None => {
                let new: Built = Arc::new(build()?);
                self.built.lock().entry(key).or_insert(new).clone()
            }
        };
        Ok(of_type(value))
    }
}

impl Notes {
    /// Notes how an operator processes rows that exceed the memory, if a profile is asked for.
    pub fn exceeds(&self, rule: &RulePlan, position: usize, how: BeyondMemory) {
        self.profile.iter().for_each(|profile| profile.exceeds(rule, position, how));
    }

    /// Notes how the predicates of a component are computed if their rows exceed the memory.
    pub fn all_exceed(&self, component: &ComponentPlan, how: BeyondMemory) {
        component.rules.iter().for_each(|rule| self.exceeds(rule, rule.operators.len(), how));
    }

    /// Notes what a fixed rule did, if a profile is asked for.
    pub fn fixed(&self, plan: &FixedPlan, rows: usize, time: Duration, beyond_memory: Option<BeyondMemory>) {
        let done = OperatorProfile { rows: rows as u64, batches: 1, time, beyond_memory, ..OperatorProfile::default() };
        self.profile.iter().for_each(|profile| profile.add_fixed(plan.table, done));
    }

    /// The table of a fixed rule, if it is one, has so many rows without repetitions.
    pub fn fixed_has(&self, table: usize, rows: usize) {
        self.profile.iter().for_each(|profile| profile.fixed_has(table, rows as u64));
    }

    /// The piece of its lists that an operator reads now, if that is decided.
    pub fn piece(&self, operator: usize) -> Option<Piece> {
        self.pieces.lock().get(&operator).copied()
    }

    /// The operator at a position of a rule reads the first of so many pieces of its lists.
    pub fn divide(&self, rule: &RulePlan, position: usize, of: u32) {
        self.pieces.lock().insert(rule.operators[position].number, Piece { nth: 0, of });
        if of > 1 {
            self.exceeds(rule, position, BeyondMemory::Pieces);
        }
    }

    /// Begins with the first pieces of the lists that a rule reads. A rule may have given up at others.
    pub fn first_pieces(&self, rule: &RulePlan) {
        self.turn_pieces(rule, |_| None);
    }

    /// Goes on to the next pieces of the lists that a rule reads. Returns `false` if it has read all.
    pub fn next_pieces(&self, rule: &RulePlan) -> bool {
        self.turn_pieces(rule, Piece::next)
    }

    /// Turns to other pieces, as a counter does: those that have no next begin anew. Returns whether one has a next.
    fn turn_pieces(&self, rule: &RulePlan, next: impl Fn(Piece) -> Option<Piece>) -> bool {
        let mut pieces = self.pieces.lock();
        for operator in &rule.operators {
            let Some(piece) = pieces.get_mut(&operator.number) else { continue };
            let (before, next) = (*piece, next(*piece));
            *piece = next.unwrap_or(Piece { nth: 0, ..before });
            if *piece != before {
                self.built.lock().retain(|(number, _), _| *number != operator.number);
            }
            if next.is_some() {
                return true;
            }
        }
        false
    }
}

fn of_type<T: Send + Sync + 'static>(value: Built) -> Arc<T> {
    value.downcast().expect("a value is found by its type")
}

impl<'a> Run<'a> {
    /// An execution that gives all rows.
    pub fn new(
        plan: &'a Plan,
        parameters: &'a [&'a DataValue],
        view: View<'a>,
        budget: &'a Budget,
    ) -> Result<Self, ExecError> {
        let timestamp = |time: &Expr| -> Result<i64, ExecError> {
            Ok(checked_time(&time.eval_closed(parameters)?, view.now_micros(), time.span())?)
        };
        let times = plan.times.iter().map(timestamp).collect::<Result<_, _>>()?;
        Ok(Run {
            plan,
            input: Input { parameters, view, given: &[], times },
            wanted: Wanted { enough: None, top: None, order: vec![] },
            caches: Caches::default(),
            budget,
            space: None,
            disk: OnceLock::new(),
            notes: Notes::default(),
        })
    }

    /// Where rows go when memory is used up; `None` if they may not. Most runs do not need it, so it is made when it is asked for.
    pub fn disk(&self) -> Option<&Disk> {
        self.space.map(|space| self.disk.get_or_init(|| Disk::new(space, self.budget)))
    }

    /// The bytes that the rows of a predicate may take before they are parted.
    pub fn share_bytes(&self) -> usize {
        self.budget.spill_above() / PARTITION_SHARE_OF_MEMORY
    }

    /// The bytes that a part of them, or of a build side, may take in one thread.
    pub fn part_bytes(&self) -> usize {
        self.share_bytes() / threads::count()
    }

    /// The timestamp of one of the plan's times in this execution.
    pub fn timestamp(&self, time: &Expr) -> i64 {
        let number = self.plan.times.iter().position(|known| known.span() == time.span());
        self.input.times[number.expect("the plan lists the times of all its sources")]
    }
}

/// The state of one thread that pushes batches through operators.
pub struct Worker<'r> {
    /// The execution.
    pub run: &'r Run<'r>,
    batch_rows: usize,
    /// The rows that each `Distinct` operator has seen, by the operator's position.
    pub seen: FxHashMap<usize, Seen>,
    /// Measures the operators, if the run has a profile.
    clock: Option<Clock>,
    /// The number of operators after those that this worker runs.
    pub later: usize,
}

impl<'r> Worker<'r> {
    /// The state of a thread that runs a rule.
    pub fn new(run: &'r Run<'r>, rule: &RulePlan) -> Self {
        // `next_batch_rows` doubles the number with each call.
        let batch_rows = run.wanted.enough.map_or(MAX_BATCH_ROWS, |enough| enough.clamp(1, FIRST_BATCH_ROWS));
        let clock = run.notes.profile.as_ref().map(|_| Clock::new(rule.operators.len()));
        Worker { run, batch_rows, seen: FxHashMap::default(), clock, later: 0 }
    }

    /// Notes that an operator runs now. `operator` is the number of operators after it.
    pub fn runs(&mut self, operator: usize) {
        if let Some(clock) = &mut self.clock {
            clock.switch_to(operator + self.later);
        }
    }

    /// Notes that an operator emitted a batch.
    pub fn gave(&mut self, operator: usize, rows: usize) {
        if let Some(clock) = &mut self.clock
            && (operator > 0 || self.later == 0)
        {
            clock.count(operator + self.later, rows);
        }
    }

    /// Notes what the running operator searched.
    pub fn searched(&mut self, work: &SearchWork) {
        if let Some(clock) = &mut self.clock {
            clock.searched(work);
        }
    }

    /// Adds this thread's measurements to the run's profile.
    pub fn finish(self, rule: &RulePlan) {
        if let (Some(profile), Some(mut clock)) = (&self.run.notes.profile, self.clock) {
            clock.switch_to(0);
            profile.add(rule, clock);
        }
    }

    /// How many rows the next batch may have: few at first if few are wanted, then more and more. Fails if the run is cancelled.
    pub fn next_batch_rows(&mut self) -> Result<usize, ExecError> {
        self.run.budget.check()?;
        let rows = self.batch_rows;
        self.batch_rows = (rows * 2).min(MAX_BATCH_ROWS);
        Ok(rows)
    }
}
