//! Reading a stored relation through one of its indices.
//!
//! An index is considered if the relation's first key column is not bound. If the index has every column that the atom uses, it
//! is read in place of the relation. Otherwise the atom becomes two: a join with the index, and then a join with the relation by
//! its whole key:
//!
//! ```text
//! user {uid => city, age}, index user:place {city, uid}
//! *user{city: 'x', uid}        *user:place{city: 'x', uid}
//! *user{city: 'x', age}        *user:place{city: 'x', uid: k}, *user{uid: k, age}
//! ```

use super::rule_builder::RuleBuilder;
use super::{MatchOrder, OperatorKind, TablePart};
use crate::diag::SourceSpan;
use crate::expr::Expr;
use crate::program::{Apply, Arg, StoredRead, Target, Variable};
use crate::schema::{IndexDefinition, RelationSchema};
use crate::value::SmallStr;

/// The index with the most leading columns bound; of several, the first by name. `None` if the first key column of the relation
/// is bound, or no index begins with a bound column.
pub fn choose<'s>(read: &'s StoredRead, apply: &Apply, bound: &[usize]) -> Option<&'s IndexDefinition> {
    let schema = &read.schema;
    if schema.indices.is_empty() || bound.contains(&0) {
        return None;
    }
    let usable = schema.indices.iter().filter(|index| {
        bound_run(index, bound) > 0 && (read.as_of.is_none() || has_the_same_histories(schema, index, apply))
    });
    // `max_by_key` takes the last of equals, which is the first by name from the back.
    usable.rev().max_by_key(|index| bound_run(index, bound))
}

/// Whether an atom may be read as of a time in an index alone. The index must end with the Validity and have keys only, so that
/// its histories are those of the relation, and it must have every column that the atom uses.
fn has_the_same_histories(schema: &RelationSchema, index: &IndexDefinition, apply: &Apply) -> bool {
    let keys = schema.keys.len();
    index.columns.last() == Some(&(keys - 1))
        && index.columns.iter().all(|column| *column < keys)
        && covers(index, apply)
}

/// Whether all bound columns lead an index, so that one look-up tells whether there are such rows.
pub fn decides(index: &IndexDefinition, bound: &[usize]) -> bool {
    bound_run(index, bound) == bound.len()
}

/// How many leading columns of an index are bound.
pub fn bound_run(index: &IndexDefinition, bound: &[usize]) -> usize {
    index.columns.iter().take_while(|column| bound.contains(column)).count()
}

/// Whether an index has every column that an atom uses.
pub fn covers(index: &IndexDefinition, apply: &Apply) -> bool {
    let used = apply.args.iter().enumerate().filter(|(_, arg)| !matches!(arg, Arg::Wildcard));
    used.into_iter().all(|(column, _)| index.columns.contains(&column))
}

/// Whether the rows of an index for bound columns lie in the order of the `keys` key columns of its relation.
pub fn is_in_order_of_keys(index: &IndexDefinition, bound: &[usize], keys: usize) -> bool {
    let free_keys = (0..keys).filter(|key| !bound.contains(key));
    index.columns[bound_run(index, bound)..]
        .iter()
        .copied()
        .filter(|column| !bound.contains(column))
        .take(keys)
        .eq(free_keys)
}

/// An atom of a relation as an atom of its index, without the columns that the index does not have.
pub fn on_index(index: &IndexDefinition, apply: &Apply) -> Apply {
    let args = index.columns.iter().map(|column| apply.args[*column].clone()).collect();
    let as_of = match &apply.target {
        Target::Stored(read) => read.as_of.clone(),
        Target::Predicate(_) => None,
    };
    Apply { target: Target::Stored(StoredRead { schema: index.schema.clone(), as_of }), args, ..apply.clone() }
}

/// An atom that an index does not cover, in parts.
pub struct Split {
    /// Values to compute first, since both atoms use them.
    pub values: Vec<(Variable, Expr)>,
    /// The join with the index.
    pub index: Apply,
    /// The join with the relation, by all of its keys.
    pub relation: Apply,
}

/// Divides an atom between an index and the relation. `id` makes the names of new variables unique within the rule.
pub fn split(schema: &RelationSchema, index: &IndexDefinition, apply: &Apply, id: usize) -> Split {
    let mut values = vec![];
    let mut keyed = apply.clone();
    for (column, arg) in keyed.args.iter_mut().enumerate().take(schema.keys.len()) {
        let variable = |span: SourceSpan| Variable { name: format!("*{id}.{column}").into(), span };
        match arg {
            Arg::Wildcard => *arg = Arg::Variable(variable(apply.span)),
            Arg::Expr(expr) if !expr.is_given() => {
                let variable = variable(expr.span());
                values.push((variable.clone(), expr.clone()));
                *arg = Arg::Variable(variable);
            }
            Arg::Expr(_) | Arg::Variable(_) => {}
        }
    }
    let on_index = on_index(index, &keyed);
    for (column, arg) in keyed.args.iter_mut().enumerate().skip(schema.keys.len()) {
        if index.columns.contains(&column) {
            *arg = Arg::Wildcard;
        }
    }
    Split { values, index: on_index, relation: keyed }
}

impl RuleBuilder<'_> {
    /// An atom, read through an index if one serves.
    pub(super) fn apply(&mut self, apply: &Apply, part: Option<TablePart>) {
        let Target::Stored(read) = &apply.target else { return self.join(apply, part) };
        let bound = self.bound_columns(apply);
        let index = choose(read, apply, &bound).filter(|_| !self.is_plain);
        let Some(index) = index else { return self.join(apply, part) };
        let covers = covers(index, apply);
        let in_order = !self.keeps_order || is_in_order_of_keys(index, &bound, read.schema.keys.len());
        if covers && in_order {
            return self.join(&on_index(index, apply), part);
        }
        let split = split(&read.schema, index, apply, self.operators.len());
        split.values.iter().for_each(|(variable, expr)| self.unify(variable, expr));
        let keys = if in_order { vec![] } else { self.free_keys(&read.schema, &split.index, index) };
        self.join(&split.index, part);
        if !in_order {
            self.order_by(&keys);
        }
        if !covers {
            self.join(&split.relation, part);
        }
    }

    /// The variables that a join with an index binds to the columns of its relation's key, in their order.
    fn free_keys(&self, schema: &RelationSchema, on_index: &Apply, index: &IndexDefinition) -> Vec<SmallStr> {
        let key = |column: usize| {
            let position = index.columns.iter().position(|indexed| *indexed == column)?;
            match &on_index.args[position] {
                Arg::Variable(variable) if self.known(variable).is_none() => Some(variable.name.clone()),
                _ => None,
            }
        };
        (0..schema.keys.len()).filter_map(key).collect()
    }

    /// Lets the join that was planned last give the matches of each input row in the ascending order of some variables.
    fn order_by(&mut self, variables: &[SmallStr]) {
        let by: Vec<usize> = variables.iter().map(|variable| self.slots[variable]).collect();
        let row = self.fresh_slot();
        let join = self.operators.iter_mut().rev().find_map(|operator| match operator {
            OperatorKind::Join(join) => Some(join),
            _ => None,
        });
        if let Some(join) = join {
            join.order = MatchOrder::Keys { row, by };
        }
    }

    /// A negated atom, tested through an index if one look-up decides.
    pub(super) fn absent(&mut self, apply: &Apply) {
        let Target::Stored(read) = &apply.target else { return self.exists(apply, true) };
        let bound = self.bound_columns(apply);
        match choose(read, apply, &bound).filter(|index| !self.is_plain && decides(index, &bound)) {
            Some(index) => self.exists(&on_index(index, apply), true),
            None => self.exists(apply, true),
        }
    }
}
