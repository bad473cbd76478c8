//! The types of the answer's columns, as far as the script says them.
//!
//! Columns have the types of their values. A column without values has none, and gets the type that [`answer_types`] finds: that of
//! the stored column, of the constant or of the aggregation that it comes from, if it is the same in all rules.

use super::operator::{AsOfPlan, IntersectPlan, JoinPlan};
use super::{OperatorKind, Plan, RulePlan, Source, TableKind};
use crate::expr::Expr;
use crate::program::AggregationUse;
use crate::schema::{BaseType, ColumnType};
use crate::value::{DataValue, Num};

/// What is known of the type of a column.
#[derive(Clone, PartialEq)]
enum Known {
    /// No rule gives it values, apart from those that are still open in a recursion.
    Nothing,
    /// The values have this type, or are null.
    Type(BaseType),
    /// The values may have any types.
    Unknown,
}

impl Known {
    fn or(self, other: Known) -> Known {
        match (self, other) {
            (Known::Nothing, known) | (known, Known::Nothing) => known,
            (one, other) if one == other => one,
            _ => Known::Unknown,
        }
    }
}

/// The type of each column of the answer; `None` if the script does not say it.
pub fn answer_types(plan: &Plan) -> Vec<Option<ColumnType>> {
    let known = TypeSearch { plan, open: vec![] }.of_table(plan.entry);
    let of = |known| match known {
        Known::Type(base) if base != BaseType::Any => Some(ColumnType { base, nullable: true }),
        _ => None,
    };
    known.into_iter().map(of).collect()
}

struct TypeSearch<'p> {
    plan: &'p Plan,
    /// The tables whose rules are looked at: a recursive rule adds nothing to what the others say of its own table.
    open: Vec<usize>,
}

impl TypeSearch<'_> {
    fn of_table(&mut self, table: usize) -> Vec<Known> {
        let arity = self.plan.tables[table].arity;
        if self.open.contains(&table) {
            return vec![Known::Nothing; arity];
        }
        let components = &self.plan.components;
        let is_given = components.iter().any(|component| {
            component.constants.iter().any(|constant| constant.table == table)
                || component.fixed.iter().any(|fixed| fixed.table == table)
        });
        if is_given {
            return vec![Known::Unknown; arity];
        }
        self.open.push(table);
        let mut known = vec![Known::Nothing; arity];
        for rule in components.iter().flat_map(|component| &component.rules).filter(|rule| rule.table == table) {
            for (known, slot) in known.iter_mut().zip(&rule.head) {
                *known = std::mem::replace(known, Known::Nothing).or(self.of_slot(rule, *slot, rule.operators.len()));
            }
        }
        self.open.pop();
        let aggregations: Vec<Option<&AggregationUse>> = match &self.plan.tables[table].kind {
            TableKind::Set => vec![],
            TableKind::Groups(columns) => columns.iter().map(Option::as_ref).collect(),
            TableKind::Meet { keys, aggregations } => {
                std::iter::repeat_n(None, *keys).chain(aggregations.iter().map(Some)).collect()
            }
        };
        for (known, used) in known.iter_mut().zip(aggregations) {
            if let Some(used) = used {
                *known = of_aggregation(used.aggregation.name, known);
            }
        }
        known
    }

    /// What the first `operators` fill a slot with last.
    fn of_slot(&mut self, rule: &RulePlan, slot: usize, operators: usize) -> Known {
        for (position, operator) in rule.operators[..operators].iter().enumerate().rev() {
            let found = match &operator.kind {
                OperatorKind::Join(JoinPlan { source, outputs, .. })
                | OperatorKind::AsOf(AsOfPlan { source, outputs, .. }) => {
                    let column = outputs.iter().find(|(_, filled)| *filled == slot);
                    column.map(|(column, _)| self.of_column(source, *column))
                }
                OperatorKind::Intersect(IntersectPlan { slot: filled, inputs }) if *filled == slot => {
                    Some(self.of_column(&inputs[0].source, inputs[0].values))
                }
                OperatorKind::Unify(filled, expr) if *filled == slot => Some(match expr {
                    Expr::Slot(from, _) => self.of_slot(rule, *from, position),
                    Expr::Constant(value, _) => of_value(value),
                    _ => Known::Unknown,
                }),
                OperatorKind::Unnest(Some(filled), expr) if *filled == slot => Some(match expr {
                    Expr::Constant(value, _) => match value.get_slice() {
                        Some(elements) => elements.iter().map(of_value).fold(Known::Nothing, Known::or),
                        None => Known::Unknown,
                    },
                    _ => Known::Unknown,
                }),
                _ => None,
            };
            if let Some(found) = found {
                return found;
            }
        }
        Known::Unknown
    }

    fn of_column(&mut self, source: &Source, column: usize) -> Known {
        match source {
            Source::Table(table) => self.of_table(*table)[column].clone(),
            Source::Stored(read) => {
                let declared = read.schema.columns().nth(column);
                declared.map_or(Known::Unknown, |declared| Known::Type(declared.column_type.base.clone()))
            }
        }
    }
}

fn of_value(value: &DataValue) -> Known {
    Known::Type(match value {
        DataValue::Bool(_) => BaseType::Bool,
        DataValue::Num(Num::Int(_)) => BaseType::Int,
        DataValue::Num(Num::Float(_)) => BaseType::Float,
        DataValue::Str(_) => BaseType::String,
        DataValue::Null => return Known::Nothing,
        _ => return Known::Unknown,
    })
}

/// The type of an aggregation over a column of which this is known.
fn of_aggregation(name: &str, aggregated: &Known) -> Known {
    match name {
        "count" | "count_unique" | "int_sum" => Known::Type(BaseType::Int),
        "sum" | "product" | "mean" | "variance" | "std_dev" => Known::Type(BaseType::Float),
        "and" | "or" => Known::Type(BaseType::Bool),
        "string_join" => Known::Type(BaseType::String),
        "min" | "max" | "choice" | "choice_rand" => aggregated.clone(),
        _ => Known::Unknown,
    }
}
