//! Names that a query applies, and what was probably meant where there is nothing of that name.

use std::collections::BTreeMap;

use super::{Apply, Definition, Formula, Predicate, ProgramError, Target};
use crate::diag::nearest;
use crate::parse::ast;
use crate::schema::{RelationSchema, SchemaRef};
use crate::value::SmallStr;

/// The stored and ephemeral relations that a query may name.
pub trait Relations {
    /// A relation by name.
    fn find(&self, name: &str) -> Option<SchemaRef>;

    /// The names of all relations, for an error that names one that does not exist.
    fn names(&self) -> Vec<SmallStr>;
}

/// No relations at all.
pub(super) struct NoRelations;

impl Relations for NoRelations {
    fn find(&self, _name: &str) -> Option<SchemaRef> {
        None
    }

    fn names(&self) -> Vec<SmallStr> {
        vec![]
    }
}

/// The position of a column that a script names.
pub(super) fn column_index(schema: &RelationSchema, column: &ast::Symbol) -> Result<usize, ProgramError> {
    schema.column_index(&column.name).ok_or_else(|| ProgramError::ColumnNotFound {
        relation: schema.name.to_string(),
        column: column.name.to_string(),
        hint: schema.instead_of(&column.name),
        span: column.span,
    })
}

/// What the name of a rule that is not defined may have meant.
pub(super) fn instead_of_rule(
    name: &str,
    predicates: &BTreeMap<SmallStr, Predicate<Formula>>,
    relations: &dyn Relations,
) -> String {
    if let Some(schema) = relations.find(name) {
        return format!("did you mean the stored relation `*{name}`? It has a star; {}", schema.listed());
    }
    let rules: Vec<&str> = predicates.keys().map(SmallStr::as_str).collect();
    let stored = relations.names();
    let stored: Vec<&str> = stored.iter().map(SmallStr::as_str).collect();
    match (nearest(name, &rules), nearest(name, &stored)) {
        (Some(rule), _) => format!("did you mean `{rule}`?"),
        (None, Some(relation)) => format!("did you mean the stored relation `*{relation}`?"),
        (None, None) => "define it in this query; a stored relation is applied with '*'".to_string(),
    }
}

/// Checks that every applied predicate is defined, with as many columns as arguments.
pub(super) fn check_applications(
    predicates: &BTreeMap<SmallStr, Predicate<Formula>>,
    relations: &dyn Relations,
) -> Result<(), ProgramError> {
    let check = |apply: &Apply| {
        let Target::Predicate(name) = &apply.target else { return Ok(()) };
        let span = apply.span;
        let not_found = || {
            let hint = instead_of_rule(name, predicates, relations);
            ProgramError::RuleNotFound { name: name.to_string(), hint, span }
        };
        let predicate = predicates.get(name).ok_or_else(not_found)?;
        let (expected, found) = (predicate.columns.len(), apply.args.len());
        if expected == found {
            return Ok(());
        }
        let columns: Vec<&str> = predicate.columns.iter().map(|column| column.name.as_str()).collect();
        let hint = format!("its head is {name}[{}]; '_' stands for a column of no interest", columns.join(", "));
        Err(ProgramError::ApplicationArity { name: name.to_string(), hint, expected, found, span })
    };
    for predicate in predicates.values() {
        match &predicate.definition {
            Definition::Rules(rules) => {
                for atom in rules.iter().flat_map(|rule| rule.body.atoms()) {
                    atom.applied().map_or(Ok(()), check)?;
                }
            }
            Definition::Fixed(apply) => super::fixed::check_inputs(apply, predicates, relations)?,
            Definition::Constant(_) => {}
        }
    }
    Ok(())
}
