//! Plans as rows, for `::explain`.
//!
//! [`explain`] gives one row for each operator, the last operator of a rule first, and one for the rule's end. The choices of the
//! planner are visible here: the way of each read in `op`, and the order of atoms and the strategies of a rule at its end.

use super::{
    AsOfPlan, BoundOfRows, ComparePlan, ComparedRows, ComponentPlan, EqualPlan, FixedPlan, IntersectInput,
    IntersectPlan, JoinPlan, Method, OperatorKind, Plan, RulePlan, SearchPlan, Source, Strategy, TableKind,
};
use crate::expr::Expr;
use crate::index::search::SearchColumn;
use crate::program::StoredRead;
use crate::schema::SearchOptions;
use crate::storage::End;
use crate::value::{DataValue, Tuple};

/// The headers of `::explain`.
pub const EXPLAIN_HEADERS: [&str; 9] =
    ["stratum", "rule_idx", "rule", "atom_idx", "op", "ref", "joins_on", "filters/expr", "out_relation"];

/// A row of `::explain`.
pub struct Explained<'a> {
    /// The values under [`EXPLAIN_HEADERS`].
    pub row: Tuple,
    pub describes: Described<'a>,
}

/// What a row of `::explain` describes.
#[derive(Clone, Copy)]
pub enum Described<'a> {
    /// The rows that a script or its host gives.
    Constant,
    /// A fixed rule.
    Fixed(&'a FixedPlan),
    /// The operator of a rule at a position; the position after the last is the rule's end.
    Operator(&'a RulePlan, usize),
}

/// One row for each operator, the last of a rule first.
pub fn explain(plan: &Plan) -> Vec<Explained<'_>> {
    let mut rows = vec![];
    for (stratum, component) in plan.components.iter().enumerate() {
        for constant in &component.constants {
            let table = &plan.tables[constant.table];
            let line = Line { op: "algo", reference: "Constant".into(), ..Line::default() };
            rows.push(Explained {
                row: line.row(stratum, 0, &table.name, 0, &table.name),
                describes: Described::Constant,
            });
        }
        for fixed in &component.fixed {
            let table = &plan.tables[fixed.table];
            let line = Line {
                op: "algo",
                reference: fixed.name.to_string(),
                expr: vec![fixed.text.clone()],
                ..Line::default()
            };
            rows.push(Explained {
                row: line.row(stratum, 0, &table.name, 0, &table.name),
                describes: Described::Fixed(fixed),
            });
        }
        for (rule_index, rule) in component.rules.iter().enumerate() {
            let table = &plan.tables[rule.table];
            let mut lines: Vec<Line> =
                rule.operators.iter().map(|operator| operator_line(plan, &operator.kind)).collect();
            lines.push(output_line(plan, component, rule));
            let text = format!("{}{}", table.name, rule.text);
            for (atom, line) in lines.into_iter().enumerate().rev() {
                let row = line.row(stratum, rule_index, &text, atom, &table.name);
                rows.push(Explained { row, describes: Described::Operator(rule, atom) });
            }
        }
    }
    rows
}

/// The text of a row about an operator.
#[derive(Default)]
struct Line {
    op: &'static str,
    reference: String,
    joins_on: Vec<String>,
    expr: Vec<String>,
}

impl Line {
    fn row(self, stratum: usize, rule: usize, text: &str, atom: usize, out: &str) -> Tuple {
        let number = |n: usize| DataValue::from(n as i64);
        let list = |items: Vec<String>| DataValue::from(items);
        let reference = if self.reference.is_empty() { DataValue::Null } else { self.reference.into() };
        vec![
            number(stratum),
            number(rule),
            text.into(),
            number(atom),
            self.op.into(),
            reference,
            list(self.joins_on),
            list(self.expr),
            out.into(),
        ]
    }
}

fn output_line(plan: &Plan, component: &ComponentPlan, rule: &RulePlan) -> Line {
    let op = match plan.tables[rule.table].kind {
        TableKind::Set => "out",
        TableKind::Groups(_) => "aggr_out",
        TableKind::Meet { .. } => "meet_aggr_out",
    };
    let head = rule.head.iter().map(|slot| format!("_{slot}"));
    let strategies = strategies(plan, component, rule).into_iter().map(str::to_string);
    Line { op, expr: head.chain(rule.reason.clone()).chain(strategies).collect(), ..Line::default() }
}

/// The ways in which a rule's run differs from the ordinary one: in batches, with results that are compared with each other.
fn strategies(plan: &Plan, component: &ComponentPlan, rule: &RulePlan) -> Vec<&'static str> {
    let table = &plan.tables[rule.table];
    let run = match plan.strategy {
        Strategy::OneRow => Some("run: one row"),
        Strategy::Count => Some("run: count by key"),
        Strategy::Batches if component.row_by_row && !rule.reads.is_empty() => Some("run: row by row"),
        Strategy::Batches => None,
    };
    let scan = rule.end.map(|end| match end {
        End::First => "scan: from the start, to the first row",
        End::Last => "scan: from the end, to the first row",
    });
    let is_unique = table.unique && plan.strategy == Strategy::Batches;
    let rows = [is_unique.then_some("rows: distinct"), table.in_order.then_some("rows: sorted")];
    [run, scan].into_iter().chain(rows).flatten().collect()
}

fn operator_line(plan: &Plan, kind: &OperatorKind) -> Line {
    match kind {
        OperatorKind::Join(join) => {
            let line = relation_line(plan, &join.source, join.method, &join.keys, None);
            let equalities = join.equal.iter().flat_map(|equal| equality_texts(equal));
            let comparisons = join.compare.iter().flat_map(|compare| comparison_texts(compare));
            let joins_on = line.joins_on.into_iter().chain(equalities).chain(comparisons).collect();
            let one = join.compare.as_ref().and_then(|compare| compare.one).map(|end| match end {
                End::First => "matches: the first".to_string(),
                End::Last => "matches: the last".to_string(),
            });
            Line { expr: outputs(join).into_iter().chain(one).collect(), joins_on, ..line }
        }
        OperatorKind::SemiJoin(exists) => {
            relation_line(plan, &exists.source, exists.method, &exists.keys, Some(exists.negated))
        }
        OperatorKind::Filter(expr) => Line { op: "filter", expr: vec![expr.to_string()], ..Line::default() },
        OperatorKind::Same(slot, expr) => {
            Line { op: "filter", expr: vec![format!("_{slot} is {expr}")], ..Line::default() }
        }
        OperatorKind::Unify(slot, expr) => {
            Line { op: "unify", expr: vec![format!("_{slot} = {expr}")], ..Line::default() }
        }
        OperatorKind::Distinct => Line { op: "distinct", ..Line::default() },
        OperatorKind::Intersect(intersect) => intersect_line(plan, intersect),
        OperatorKind::Search(search) => search_line(plan, search),
        OperatorKind::AsOf(read) => as_of_line(read),
        OperatorKind::Unnest(slot, expr) => {
            let slot = slot.map_or("_".to_string(), |slot| format!("_{slot}"));
            Line { op: "multi-unify", expr: vec![format!("{slot} in {expr}")], ..Line::default() }
        }
    }
}

fn as_of_line(read: &AsOfPlan) -> Line {
    let name = |column: &usize| column_name(&read.source, *column);
    let time = std::iter::once(format!("@ {}", read.time));
    let keys = read.keys.iter().map(|(column, value)| format!("{} = {value}", name(column)));
    Line {
        op: "stored_as_of_join",
        reference: format!(":{}", read.schema().name),
        joins_on: time.chain(keys).collect(),
        expr: read.outputs.iter().map(|(column, slot)| format!("{} -> _{slot}", name(column))).collect(),
    }
}

fn search_line(plan: &Plan, search: &SearchPlan) -> Line {
    let call = &search.call;
    let (op, way) = match &call.index.options {
        SearchOptions::Vectors(_) => ("hnsw_search", "graph, one hop, two hops or exact, by what may be found"),
        SearchOptions::Text(_) => ("fts_search", "postings"),
        SearchOptions::Duplicates(_) => ("lsh_search", "bands"),
    };
    let parameters = call.parameters.iter().map(|(name, value)| format!("{name}: {value}"));
    let filter = search.filter.iter().map(|filter| format!("filter: {filter}"));
    let key = |(name, column): (&str, &usize), source: &Source| format!("{} = {name}", column_name(source, *column));
    let within = search.within.iter().map(|(source, columns)| {
        let names = call.schema.keys.iter().map(|key| key.name.as_str());
        let keys: Vec<String> = names.zip(columns).map(|pair| key(pair, source)).collect();
        format!("within: {}, {}", reference(plan, source), keys.join(", "))
    });
    let query = std::iter::once(format!("query: {}", search.query));
    let way = std::iter::once(format!("way: {way}"));
    let output = |(column, slot): &(SearchColumn, usize)| format!("{} -> _{slot}", call.output_name(*column));
    Line {
        op,
        reference: format!("~{}", call.name()),
        joins_on: query.chain(parameters).chain(filter).chain(within).chain(way).collect(),
        expr: search.outputs.iter().map(output).collect(),
    }
}

fn equality_texts(equal: &EqualPlan) -> impl Iterator<Item = String> {
    let relation = if equal.each { "in" } else { "==" };
    equal.pairs.iter().map(move |(of_input, of_rows)| format!("{of_rows} {relation} {of_input}"))
}

fn comparison_texts(compare: &ComparePlan) -> impl Iterator<Item = String> {
    compare.by.iter().flat_map(|ComparedRows { of_rows, lower, upper }| {
        let text = |bound: &Option<BoundOfRows>, [strict, inclusive]: [&str; 2]| {
            let bound = bound.as_ref()?;
            Some(format!("{of_rows} {} {}", if bound.inclusive { inclusive } else { strict }, bound.of_input))
        };
        [text(lower, [">", ">="]), text(upper, ["<", "<="])].into_iter().flatten()
    })
}

/// The name of a column of a relation.
fn column_name(source: &Source, column: usize) -> String {
    match source {
        Source::Table(_) => format!("_{column}"),
        Source::Stored(stored) => stored.schema.columns().nth(column).map_or(String::new(), |c| c.name.to_string()),
    }
}

fn outputs(join: &JoinPlan) -> Vec<String> {
    join.outputs.iter().map(|(column, slot)| format!("{} -> _{slot}", column_name(&join.source, *column))).collect()
}

fn reference(plan: &Plan, source: &Source) -> String {
    match source {
        Source::Table(table) => plan.tables[*table].name.to_string(),
        Source::Stored(StoredRead { schema, as_of: Some(time) }) => format!(":{} @ {time}", schema.name),
        Source::Stored(StoredRead { schema, as_of: None }) => format!(":{}", schema.name),
    }
}

fn intersect_line(plan: &Plan, intersect: &IntersectPlan) -> Line {
    let references: Vec<String> = intersect.inputs.iter().map(|input| reference(plan, &input.source)).collect();
    let inputs = || intersect.inputs.iter();
    let on = |input: &IntersectInput| format!("{} = {}", column_name(&input.source, input.key.0), input.key.1);
    let gives = |input: &IntersectInput| format!("{} -> _{}", column_name(&input.source, input.values), intersect.slot);
    Line {
        op: "intersect",
        reference: references.join(" "),
        joins_on: inputs().map(on).collect(),
        expr: inputs().map(gives).collect(),
    }
}

/// The line of an operator that reads a relation. `semi` is `None` for a join, and says for a semi-join whether it is negated.
fn relation_line(plan: &Plan, source: &Source, method: Method, keys: &[(usize, Expr)], semi: Option<bool>) -> Line {
    let stored = matches!(source, Source::Stored(_));
    let as_of = matches!(source, Source::Stored(StoredRead { as_of: Some(_), .. }));
    let op = match (stored, method, semi) {
        (true, Method::Scan, _) if as_of => "load_stored_with_validity",
        (true, Method::Scan, _) => "load_stored",
        (true, Method::Range, _) => "load_stored_range",
        (true, Method::Prefix, None) => "stored_prefix_join",
        (true, Method::Hash, None) => "stored_mat_join",
        (true, Method::Equal, _) => "stored_equal_join",
        (true, Method::Compare, _) => "stored_range_join",
        (true, Method::Prefix, Some(true)) => "stored_neg_prefix_join",
        (true, Method::Hash, Some(true)) => "stored_neg_mat_join",
        (true, Method::Prefix, Some(false)) => "stored_prefix_exists",
        (true, Method::Hash, Some(false)) => "stored_mat_exists",
        (false, Method::Scan, _) => "load_mem",
        (false, Method::Equal, _) => "mem_equal_join",
        (false, Method::Compare, _) => "mem_range_join",
        (false, _, None) => "mem_mat_join",
        (false, _, Some(true)) => "mem_neg_mat_join",
        (false, _, Some(false)) => "mem_mat_exists",
    };
    let reference = reference(plan, source);
    let joins_on = keys.iter().map(|(column, expr)| format!("{} = {expr}", column_name(source, *column))).collect();
    Line { op, reference, joins_on, expr: vec![] }
}
