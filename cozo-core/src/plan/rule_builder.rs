//! From the ordered atoms of a rule to its operators.
//!
//! [`RuleBuilder::rule`] goes through the atoms. Each variable that becomes bound gets a slot, and expressions over variables become
//! expressions over slots. For one rule:
//!
//! 1. Each atom becomes one operator or a few. An atom of a stored relation may be read through an index (`indices`), and several
//!    atoms may become one intersection (`intersect`).
//! 2. `passes::of_operators` narrows scans by filters, and joins by equalities and comparisons of expressions.
//! 3. `with_kept_slots` drops outputs that no operator reads, and says which slots each operator carries over.
//! 4. `passes::of_rule` adds distinct operators before joins, and sorts a scan for the look-up that follows.
//!
//! **Invariant**: a slot is filled once.

use std::collections::BTreeMap;

use rustc_hash::FxHashMap;

use super::cost::{ROW_AT_A_TIME, gives_rows};
use super::estimates::Estimates;
use super::order::Ordered;
use super::{
    AsOfPlan, Form, JoinPlan, MatchOrder, Method, OperatorKind, RulePlan, SearchPlan, SemiJoinPlan, Source, TablePart,
    passes,
};
use crate::expr::Expr;
use crate::program::{Apply, Arg, AsOfRead, Atom, Rule, Search, StoredRead, Target, Variable, Within};
use crate::value::SmallStr;

/// The operators of a rule while they are made.
pub(super) struct RuleBuilder<'a> {
    /// The tables of predicates.
    pub(super) numbers: &'a FxHashMap<&'a SmallStr, usize>,
    /// The sizes, where they may decide.
    pub(super) estimates: Option<&'a Estimates<'a>>,
    /// The atoms (by written position) that read a table of the rule's own component, and which of its rows.
    parts: &'a [(usize, TablePart)],
    /// Whether each solution counts, even if solutions give equal rows.
    bag: bool,
    /// Whether any engine with joins must be able to run the operators.
    pub(super) is_plain: bool,
    /// Whether solutions come in the order of atoms and relations.
    pub(super) keeps_order: bool,
    /// The slots of the variables that are bound.
    pub(super) slots: BTreeMap<SmallStr, usize>,
    next_slot: usize,
    /// The operators so far.
    pub(super) operators: Vec<OperatorKind>,
    /// The operators that read a part of a table.
    reads: Vec<(usize, TablePart)>,
}

impl<'a> RuleBuilder<'a> {
    /// A builder without operators.
    pub(super) fn new(
        numbers: &'a FxHashMap<&'a SmallStr, usize>,
        estimates: Option<&'a Estimates<'a>>,
        parts: &'a [(usize, TablePart)],
        bag: bool,
        (form, keeps_order): (Form, bool),
    ) -> Self {
        let is_plain = form == Form::Plain;
        let (slots, operators, reads) = (BTreeMap::new(), vec![], vec![]);
        RuleBuilder { numbers, estimates, parts, bag, is_plain, keeps_order, slots, next_slot: 0, operators, reads }
    }

    /// For each atom of an ordered body the part of a table that it reads, if it reads a part. `origins` are the written positions of the
    /// atoms that apply a relation.
    fn parts_of(&self, body: &[Atom], origins: &[usize]) -> Vec<Option<TablePart>> {
        let parts_at: BTreeMap<usize, TablePart> = self.parts.iter().copied().collect();
        let mut parts = origins.iter().map(|origin| parts_at.get(origin).copied());
        let part_of = |atom: &Atom| match atom {
            Atom::Apply(apply) if !apply.negated => parts.next().flatten(),
            _ => None,
        };
        body.iter().map(part_of).collect()
    }

    /// The plan of a rule whose atoms run in this order.
    pub(super) fn rule(mut self, table: usize, rule: &Rule, ordered: Ordered) -> RulePlan {
        let body = ordered.body;
        let parts_of = self.parts_of(&body, &ordered.origins);
        let mut done = vec![false; body.len()];
        // The number of operators so far, and the rows that they are estimated to give.
        let mut estimates: Vec<(usize, f64)> = vec![];
        let mut given: usize = 0;
        for (at, atom) in body.iter().enumerate() {
            if std::mem::replace(&mut done[at], true) {
                continue;
            }
            if gives_rows(atom)
                && let Some(rows) = given.checked_sub(1).and_then(|given| ordered.rows.get(given))
            {
                estimates.push((self.operators.len(), *rows));
            }
            self.atom(&body, &parts_of, at, &mut done);
            given = (0..body.len()).filter(|at| done[*at] && gives_rows(&body[*at])).count();
        }
        estimates.extend(ordered.rows.last().map(|rows| (self.operators.len(), *rows)));
        let head: Vec<usize> = rule.head.iter().map(|variable| self.slots[&variable.name]).collect();
        if !self.is_plain {
            self.read_fewer_rows();
        }
        let mut rule = RulePlan {
            number: 0,
            table,
            operators: passes::with_kept_slots(self.operators, &head),
            head,
            slots: self.next_slot,
            reads: self.reads,
            end: None,
            work: (ordered.cost * ROW_AT_A_TIME as f64) as u64,
            reason: ordered.reason,
            text: rule.to_string(),
        };
        for (operators, rows) in estimates.into_iter().filter(|(operators, _)| *operators > 0) {
            rule.operators[operators - 1].estimate = Some(rows);
        }
        passes::of_rule(&mut rule, self.bag, self.keeps_order || self.is_plain);
        rule
    }

    /// Adds the operators of the atom at a position. Several atoms may become one operator: all of them are `done` then.
    fn atom(&mut self, body: &[Atom], parts_of: &[Option<TablePart>], at: usize, done: &mut [bool]) {
        match &body[at] {
            Atom::Apply(apply) if apply.negated => self.absent(apply),
            Atom::Apply(apply) => match self.intersection(body, parts_of, at) {
                Some((intersection, taken)) => {
                    self.operators.push(OperatorKind::Intersect(intersection));
                    taken.into_iter().for_each(|at| done[at] = true);
                }
                None => self.apply(apply, parts_of[at]),
            },
            Atom::Filter(expr) => {
                let expr = self.slotted(expr);
                self.operators.push(OperatorKind::Filter(expr));
            }
            Atom::Same(variable, expr) => {
                let expr = self.slotted(expr);
                self.operators.push(OperatorKind::Same(self.slots[&variable.name], expr));
            }
            Atom::Unify(variable, expr) => self.unify(variable, expr),
            Atom::Unnest(variable, expr) => self.unnest(variable, expr),
            Atom::Search(search) => self.search(search),
            Atom::AsOf(read) => self.as_of(read),
        }
    }

    /// Runs the passes over the operators.
    fn read_fewer_rows(&mut self) {
        let own: Vec<usize> = self.reads.iter().map(|(position, _)| *position).collect();
        let matches = |read: &StoredRead, columns: &[usize]| {
            let size = self.estimates?.size(&Target::Stored(read.clone()));
            Some(size.matches(columns))
        };
        passes::of_operators(&mut self.operators, &own, &matches);
    }

    /// A slot for a variable that becomes bound.
    pub(super) fn bind(&mut self, name: &SmallStr) -> usize {
        let slot = self.fresh_slot();
        self.slots.insert(name.clone(), slot);
        slot
    }

    /// A slot that nothing has filled.
    pub(super) fn fresh_slot(&mut self) -> usize {
        self.next_slot += 1;
        self.next_slot - 1
    }

    /// The expression with slots in place of variables.
    pub(super) fn slotted(&self, expr: &Expr) -> Expr {
        expr.map_leaves(&mut |leaf| match leaf {
            Expr::Variable(name, span) => Expr::Slot(self.slots[name], *span),
            other => other.clone(),
        })
    }

    /// A bound variable as an expression; `None` for a free one.
    pub(super) fn known(&self, variable: &Variable) -> Option<Expr> {
        self.slots.get(&variable.name).map(|slot| Expr::Slot(*slot, variable.span))
    }

    /// The arguments that are bound before the atom, by column.
    fn bound_args(&self, apply: &Apply) -> Vec<(usize, Expr)> {
        let bound = |(column, arg): (usize, &Arg)| match arg {
            Arg::Variable(variable) => Some((column, self.known(variable)?)),
            Arg::Expr(expr) => Some((column, self.slotted(expr))),
            Arg::Wildcard => None,
        };
        apply.args.iter().enumerate().filter_map(bound).collect()
    }

    /// How rows with these columns bound are found, and how many of the columns (from the first) the method uses.
    fn method(&self, source: &Source, bound: &[(usize, Expr)]) -> (Method, usize) {
        let stored = match source {
            Source::Stored(stored) if !self.is_plain => stored,
            _ if bound.is_empty() => return (Method::Scan, 0),
            _ => return (Method::Hash, bound.len()),
        };
        let is_prefix =
            |(i, (column, _)): &(usize, &(usize, Expr))| column == i && *column < stored.identifying_columns();
        match bound.iter().enumerate().take_while(is_prefix).count() {
            0 if bound.is_empty() => (Method::Scan, 0),
            // For a single input row, a scan is cheaper than an index.
            0 if self.single_row_input() => (Method::Scan, 0),
            0 => (Method::Hash, bound.len()),
            leading => (Method::Prefix, leading),
        }
    }

    /// Whether the operators so far give one row at most.
    fn single_row_input(&self) -> bool {
        self.operators.iter().all(OperatorKind::gives_a_row_for_each)
    }

    /// Binds a variable to the value of an expression.
    pub(super) fn unify(&mut self, variable: &Variable, expr: &Expr) {
        let expr = self.slotted(expr);
        let slot = self.bind(&variable.name);
        self.operators.push(OperatorKind::Unify(slot, expr));
    }

    /// Repeats the rows so far for each element of a list.
    fn unnest(&mut self, variable: &Variable, expr: &Expr) {
        let expr = self.slotted(expr);
        let slot = (variable.name != "_").then(|| self.bind(&variable.name));
        self.operators.push(OperatorKind::Unnest(slot, expr));
    }

    /// Repeats the rows so far for each row that an index finds.
    fn search(&mut self, search: &Search) {
        let query = self.slotted(&search.query);
        let outputs = search.outputs.iter().map(|(column, variable)| (*column, self.bind(&variable.name))).collect();
        let filter = search.filter.as_ref().map(|filter| self.slotted(filter));
        let source = Source::Stored(StoredRead { schema: search.call.schema.clone(), as_of: None });
        let of = |within: &Within| (Source::of(&within.apply.target, self.numbers), within.columns.clone());
        let within = search.within.as_deref().map(of);
        let call = search.call.clone();
        self.operators.push(OperatorKind::Search(SearchPlan { call, source, query, filter, within, outputs }));
    }

    /// Repeats the rows so far for each history that is visible at the time of the row. Leading key columns are looked up, and others
    /// compared with what is found.
    fn as_of(&mut self, read: &AsOfRead) {
        let time = self.slotted(&read.time);
        let leading = read.keys.iter().enumerate().take_while(|(at, (column, _))| at == column).count();
        let mut keys: Vec<(usize, Expr)> =
            read.keys.iter().map(|(column, value)| (*column, self.slotted(value))).collect();
        let (mut outputs, mut tests) = (vec![], vec![]);
        for (column, value) in keys.split_off(leading) {
            let slot = self.fresh_slot();
            outputs.push((column, slot));
            tests.push(OperatorKind::Same(slot, value));
        }
        outputs.extend(read.outputs.iter().map(|(column, variable)| (*column, self.bind(&variable.name))));
        let source = Source::Stored(StoredRead { schema: read.schema.clone(), as_of: None });
        self.operators.push(OperatorKind::AsOf(AsOfPlan { source, time, keys, outputs }));
        self.operators.extend(tests);
    }

    /// The columns of the arguments that are bound before the atom.
    pub(super) fn bound_columns(&self, apply: &Apply) -> Vec<usize> {
        self.bound_args(apply).into_iter().map(|(column, _)| column).collect()
    }

    /// Joins the rows so far with those of a relation, or tests them if the atom binds nothing.
    pub(super) fn join(&mut self, apply: &Apply, part: Option<TablePart>) {
        let source = Source::of(&apply.target, self.numbers);
        let bound = self.bound_args(apply);
        let gives_nothing = bound.len() == apply.args.iter().filter(|arg| !matches!(arg, Arg::Wildcard)).count();
        let (method, used) = self.method(&source, &bound);
        let whole_key = match &source {
            Source::Stored(read) => {
                (0..read.identifying_columns()).all(|key| bound.iter().any(|(column, _)| *column == key))
            }
            Source::Table(_) => false,
        };
        // An atom that binds nothing new is a test, if equal rows count once or there is one match at most.
        let once = !self.bag || whole_key;
        if gives_nothing && once && part.is_none() && !bound.is_empty() && used == bound.len() {
            return self.exists(apply, false);
        }
        let mut outputs = vec![];
        let mut tests = vec![];
        let mut keys = bound;
        for (column, expr) in keys.split_off(used) {
            let slot = self.fresh_slot();
            outputs.push((column, slot));
            tests.push(OperatorKind::Same(slot, expr));
        }
        for (column, arg) in apply.args.iter().enumerate() {
            if let Arg::Variable(variable) = arg
                && !self.slots.contains_key(&variable.name)
            {
                outputs.push((column, self.bind(&variable.name)));
            }
        }
        if let Some(part) = part {
            self.reads.push((self.operators.len(), part));
        }
        self.operators.push(OperatorKind::Join(JoinPlan {
            source,
            method,
            keys,
            outputs,
            bounds: vec![],
            sort_by: None,
            order: if self.keeps_order { MatchOrder::Input } else { MatchOrder::Any },
            equal: None,
            compare: None,
        }));
        self.operators.extend(tests);
    }

    /// Keeps the rows for which a relation has a row, or has none.
    pub(super) fn exists(&mut self, apply: &Apply, negated: bool) {
        let source = Source::of(&apply.target, self.numbers);
        let keys = self.bound_args(apply);
        let method = match self.method(&source, &keys) {
            (Method::Prefix, used) if used == keys.len() => Method::Prefix,
            _ => Method::Hash,
        };
        self.operators.push(OperatorKind::SemiJoin(SemiJoinPlan { source, method, keys, negated }));
    }
}
