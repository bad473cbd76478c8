//! A whole plan as JSON.

use std::collections::BTreeMap;

use serde_json::{Map, Value, json};

use super::error::PortableError;
use super::expression::value_json;
use super::operators::OperatorWriter;
use super::sizes::{RelationSizes, SizesOver};
use crate::exec::{non_negative, timeout_seconds};
use crate::expr::Expr;
use crate::fixed_rule::RuleSet;
use crate::parse::ast::{Assertion, MutationOp};
use crate::plan::{ComponentPlan, ConstantPlan, FixedPlan, Form, MutationPlan, Options, Plan, TableKind, ValueSource};
use crate::program::{AggregationUse, ConstantRows, check_constant_rows};
use crate::schema::{ColumnDefinition, RelationSchema};
use crate::session::script::{CompiledQuery, CompiledScript, Sampled};
use crate::txn::Transaction;
use crate::value::DataValue;

/// The version of the JSON. It grows when the meaning of a field changes, or a field is dropped; new fields may come without.
pub const PLAN_VERSION: u64 = 1;

/// The plan of a script of one query, as JSON, with these values of parameters.
pub fn plan_document(
    script: &CompiledScript,
    txn: &Transaction,
    fixed_rules: &RuleSet,
    parameters: &BTreeMap<String, DataValue>,
    sizes: &RelationSizes,
) -> miette::Result<Value> {
    let CompiledScript::Query(query) = script else { return Err(PortableError::NotOneQuery.into()) };
    let sizes = SizesOver { given: sizes, known: &Sampled::new(txn) };
    let compiled = CompiledQuery::compile_as(&query.query, txn, fixed_rules, parameters, &[], (&sizes, Form::Plain))?;
    let parameters = compiled.parameters.bind(parameters)?;
    let writer = PlanWriter { operators: OperatorWriter { parameters: &parameters }, txn };
    writer.document(&compiled)
}

struct PlanWriter<'a> {
    operators: OperatorWriter<'a>,
    txn: &'a Transaction,
}

impl PlanWriter<'_> {
    fn document(&self, compiled: &CompiledQuery) -> miette::Result<Value> {
        let mut document = json!({"format": "cozo-plan", "version": PLAN_VERSION});
        if let Some(plan) = &compiled.plan {
            document["headers"] = json!(plan.headers);
            document["entry"] = json!(plan.entry);
            document["relations"] = Value::Array(self.relations(plan));
            document["tables"] = self.tables(plan)?;
            let components = plan.components.iter().map(|component| self.component(plan, component));
            document["components"] = components.collect::<miette::Result<Vec<_>>>()?.into();
        }
        document["options"] = self.options(&compiled.options)?;
        if let Some(mutation) = &compiled.mutation {
            document["write"] = self.write(mutation)?;
        }
        Ok(document)
    }

    /// The stored relations that are read, by name.
    fn relations(&self, plan: &Plan) -> Vec<Value> {
        let schemas = self.txn.relation_names().into_iter().filter_map(|name| self.txn.relation(&name));
        schemas.filter(|schema| plan.reads.contains(&schema.id)).map(|schema| relation(schema)).collect()
    }

    fn tables(&self, plan: &Plan) -> miette::Result<Value> {
        let mut tables = vec![];
        for table in &plan.tables {
            let mut written = json!({"name": table.name.as_str(), "arity": table.arity, "distinct": table.unique});
            let aggregations: Vec<Option<&AggregationUse>> = match &table.kind {
                TableKind::Set => vec![],
                TableKind::Groups(columns) => columns.iter().map(Option::as_ref).collect(),
                TableKind::Meet { keys, aggregations } => {
                    std::iter::repeat_n(None, *keys).chain(aggregations.iter().map(Some)).collect()
                }
            };
            written["kind"] = json!(match table.kind {
                TableKind::Set => "set",
                TableKind::Groups(_) => "groups",
                TableKind::Meet { .. } => "meet",
            });
            if !aggregations.is_empty() {
                let columns = aggregations.into_iter().map(|used| used.map_or(Ok(Value::Null), |used| self.used(used)));
                written["columns"] = columns.collect::<miette::Result<Vec<_>>>()?.into();
            }
            tables.push(written);
        }
        Ok(tables.into())
    }

    /// An aggregation with the values of its constant arguments.
    fn used(&self, used: &AggregationUse) -> miette::Result<Value> {
        let arguments = used.args.iter().map(|arg| self.value(arg)).collect::<miette::Result<Vec<_>>>()?;
        let order_matters = used.aggregation.order_matters;
        Ok(json!({"aggregation": used.aggregation.name, "arguments": arguments, "order_matters": order_matters}))
    }

    /// The value of an expression without variables.
    fn value(&self, expr: &Expr) -> miette::Result<Value> {
        value_json(&expr.eval_closed(self.operators.parameters)?)
    }

    fn component(&self, plan: &Plan, component: &ComponentPlan) -> miette::Result<Value> {
        let rules = component.rules.iter().map(|rule| self.operators.rule(rule)).collect::<miette::Result<Vec<_>>>()?;
        let constants = component.constants.iter().map(|constant| self.constant(plan, constant));
        let fixed = component.fixed.iter().map(|fixed| self.fixed(fixed));
        Ok(json!({
            "tables": component.tables,
            "recursive": component.recursive,
            "rules": rules,
            "constants": constants.collect::<miette::Result<Vec<_>>>()?,
            "fixed": fixed.collect::<miette::Result<Vec<_>>>()?,
        }))
    }

    fn constant(&self, plan: &Plan, constant: &ConstantPlan) -> miette::Result<Value> {
        let mut rows: Vec<Vec<Value>> = vec![];
        match &constant.rows {
            ConstantRows::Rows(given) => {
                for row in given {
                    rows.push(row.iter().map(|cell| self.value(cell)).collect::<miette::Result<_>>()?);
                }
            }
            ConstantRows::Columns(given) => {
                for row in given.rows() {
                    rows.push(row.iter().map(value_json).collect::<miette::Result<_>>()?);
                }
            }
            ConstantRows::List(list) => {
                let value = list.eval_closed(self.operators.parameters)?;
                let width = check_constant_rows(&value, list.span())?;
                let arity = plan.tables[constant.table].arity;
                if let Some(data) = width.filter(|width| *width != arity) {
                    let error = crate::program::ProgramError::ConstantHead { head: arity, data, span: constant.span };
                    return Err(error.into());
                }
                for row in value.elements()?.as_deref().unwrap_or_default() {
                    let cells = row.elements()?;
                    let cells = cells.as_deref().unwrap_or_default().iter().map(value_json);
                    rows.push(cells.collect::<miette::Result<_>>()?);
                }
            }
            ConstantRows::Given(_) => unreachable!("only triggers and blocks have given rows"),
            ConstantRows::Listing(call) => {
                return Ok(json!({"table": constant.table, "listing": call.name().to_string()}));
            }
        }
        Ok(json!({"table": constant.table, "rows": rows}))
    }

    fn fixed(&self, fixed: &FixedPlan) -> miette::Result<Value> {
        let mut inputs = vec![];
        for input in &fixed.inputs {
            let bindings: Vec<&str> = input.bindings.iter().map(|name| name.as_str()).collect();
            inputs.push(json!({"source": self.operators.source(&input.source)?, "bindings": bindings}));
        }
        let mut options = Map::new();
        for (name, expr) in &fixed.options {
            options.insert(name.to_string(), self.operators.expr(expr)?);
        }
        let (table, name) = (fixed.table, fixed.name.as_str());
        Ok(json!({"table": table, "rule": name, "inputs": inputs, "options": options, "text": fixed.text}))
    }

    fn options(&self, options: &Options) -> miette::Result<Value> {
        let parameters = self.operators.parameters;
        let limit = non_negative(":limit", options.limit.as_ref(), parameters)?;
        let offset = non_negative(":offset", options.offset.as_ref(), parameters)?;
        let order = options.order.iter().map(|key| json!({"column": key.column, "descending": key.descending}));
        let assertion = options.assertion.map(|(assertion, _)| match assertion {
            Assertion::None => "none",
            Assertion::Some => "some",
        });
        Ok(json!({
            "limit": limit,
            "offset": offset.unwrap_or(0),
            "order": order.collect::<Vec<_>>(),
            "assert": assertion,
            "timeout_seconds": timeout_seconds(options, parameters)?,
            "returning": options.returning,
        }))
    }

    fn write(&self, mutation: &MutationPlan) -> miette::Result<Value> {
        let source = |source: &ValueSource| -> miette::Result<Value> {
            Ok(match source {
                ValueSource::Output(output) => json!({"output": output}),
                ValueSource::Default(expr) => json!({"default": self.operators.expr(expr)?}),
                ValueSource::Null => json!({"null": true}),
                ValueSource::Kept => json!({"stored": true}),
            })
        };
        let sources = mutation.sources.iter().map(source).collect::<miette::Result<Vec<_>>>()?;
        Ok(json!({
            "op": operation(mutation.op),
            "relation": relation(&mutation.schema),
            "sources": sources,
            "idle": mutation.is_idle,
        }))
    }
}

fn operation(op: MutationOp) -> &'static str {
    match op {
        MutationOp::Create => "create",
        MutationOp::Replace => "replace",
        MutationOp::Put => "put",
        MutationOp::Insert => "insert",
        MutationOp::Update => "update",
        MutationOp::Rm => "rm",
        MutationOp::Delete => "delete",
        MutationOp::Ensure => "ensure",
        MutationOp::EnsureNot => "ensure_not",
    }
}

fn relation(schema: &RelationSchema) -> Value {
    let column = |column: &ColumnDefinition| {
        let (name, default) = (column.name.as_str(), column.default.as_deref());
        json!({"name": name, "type": column.column_type.to_string(), "default": default})
    };
    let columns = |columns: &[ColumnDefinition]| columns.iter().map(column).collect::<Vec<_>>();
    json!({"name": schema.name.as_str(), "keys": columns(&schema.keys), "values": columns(&schema.values)})
}
