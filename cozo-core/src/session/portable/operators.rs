//! The operators of a rule as JSON.

use serde_json::{Value, json};

use super::expression::expr_json;
use crate::expr::Expr;
use crate::plan::{OperatorKind, RulePlan, SearchPlan, Source, TablePart};
use crate::program::StoredRead;
use crate::value::DataValue;

/// Writes operators, with these values of parameters.
pub struct OperatorWriter<'a> {
    pub parameters: &'a [&'a DataValue],
}

impl OperatorWriter<'_> {
    /// A rule with its operators.
    pub fn rule(&self, rule: &RulePlan) -> miette::Result<Value> {
        let mut operators = vec![];
        for (position, operator) in rule.operators.iter().enumerate() {
            let mut written = self.operator(&operator.kind)?;
            written["keep"] = json!(operator.keep);
            if let Some(rows) = operator.estimate {
                written["estimate"] = json!(rows.round());
            }
            if let Some((_, part)) = rule.reads.iter().find(|(at, _)| *at == position) {
                written["rows"] = json!(part_name(*part));
            }
            operators.push(written);
        }
        let mut written =
            json!({"table": rule.table, "head": rule.head, "operators": operators, "text": rule.text.as_str()});
        if let Some(reason) = &rule.reason {
            written["reason"] = json!(reason);
        }
        Ok(written)
    }

    /// An expression.
    pub fn expr(&self, expr: &Expr) -> miette::Result<Value> {
        expr_json(expr, self.parameters)
    }

    /// A relation to read.
    pub fn source(&self, source: &Source) -> miette::Result<Value> {
        Ok(match source {
            Source::Table(table) => json!({"table": table}),
            Source::Stored(StoredRead { schema, as_of: None }) => json!({"relation": schema.name.as_str()}),
            Source::Stored(StoredRead { schema, as_of: Some(time) }) => {
                json!({"relation": schema.name.as_str(), "as_of": self.expr(time)?})
            }
        })
    }

    fn operator(&self, kind: &OperatorKind) -> miette::Result<Value> {
        Ok(match kind {
            OperatorKind::Join(join) => json!({
                "op": "join",
                "source": self.source(&join.source)?,
                "on": self.keys(&join.keys)?,
                "outputs": outputs(&join.outputs),
            }),
            OperatorKind::SemiJoin(test) => json!({
                "op": if test.negated { "anti_join" } else { "semi_join" },
                "source": self.source(&test.source)?,
                "on": self.keys(&test.keys)?,
            }),
            OperatorKind::Filter(expr) => json!({"op": "filter", "test": self.expr(expr)?}),
            OperatorKind::Same(slot, expr) => json!({"op": "same", "slot": slot, "value": self.expr(expr)?}),
            OperatorKind::Unify(slot, expr) => json!({"op": "assign", "slot": slot, "value": self.expr(expr)?}),
            OperatorKind::Unnest(slot, expr) => json!({"op": "unnest", "slot": slot, "value": self.expr(expr)?}),
            OperatorKind::Distinct => json!({"op": "distinct"}),
            OperatorKind::Search(search) => self.search(search)?,
            OperatorKind::AsOf(read) => json!({
                "op": "as_of",
                "source": self.source(&read.source)?,
                "time": self.expr(&read.time)?,
                "on": self.keys(&read.keys)?,
                "outputs": outputs(&read.outputs),
            }),
            OperatorKind::Intersect(_) => unreachable!("a plain plan has no intersections"),
        })
    }

    fn keys(&self, keys: &[(usize, Expr)]) -> miette::Result<Vec<Value>> {
        let key = |(column, value): &(usize, Expr)| -> miette::Result<Value> {
            Ok(json!({"column": column, "value": self.expr(value)?}))
        };
        keys.iter().map(key).collect()
    }

    fn search(&self, search: &SearchPlan) -> miette::Result<Value> {
        let output = |(column, slot): &(_, usize)| json!({"name": search.call.output_name(*column), "slot": slot});
        let outputs: Vec<Value> = search.outputs.iter().map(output).collect();
        Ok(json!({
            "op": "search",
            "index": search.call.name().to_string(),
            "query": self.expr(&search.query)?,
            "outputs": outputs,
        }))
    }
}

fn outputs(outputs: &[(usize, usize)]) -> Vec<Value> {
    outputs.iter().map(|(column, slot)| json!({"column": column, "slot": slot})).collect()
}

fn part_name(part: TablePart) -> &'static str {
    match part {
        TablePart::Delta => "delta",
        TablePart::Old => "old",
        TablePart::Known => "known",
    }
}
