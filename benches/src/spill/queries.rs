//! The cases: each has data, a script whose answer is small while what it holds in between is large, and the answer.

use cozo::DbInstance;

use super::load::fill;
use super::{Inputs, generate, network, truth};

/// A query over stored relations.
#[derive(Clone, Debug)]
pub struct Case {
    /// What the case is called.
    pub name: &'static str,
    /// What is large, in words.
    pub what: &'static str,
    /// Makes and fills the relations.
    pub load: fn(&DbInstance, &Inputs) -> Result<(), String>,
    /// What is timed.
    pub script: &'static str,
    /// What gives the answer afterwards, if the script makes a relation.
    pub check: Option<&'static str>,
    /// The right answer: the integers of all rows, one row after another.
    pub answer: fn(&Inputs) -> Result<Vec<i64>, String>,
}

/// All cases.
pub const CASES: [Case; 8] = [
    Case {
        name: "groups",
        what: "a group for each row",
        load: |db, inputs| fill(db, "fact", "{id: Int => key: Int, value: Int}", generate::facts(inputs.sizes.facts)),
        script: GROUPS,
        check: None,
        answer: |inputs| Ok(truth::groups(inputs.sizes.facts)),
    },
    Case {
        name: "order",
        what: "rows in the order of a value, stored",
        load: load_rows,
        script: "?[a, b] := *rows{a, b} :order b :create sorted {a, b}",
        check: Some(CHECK_SORTED),
        answer: |inputs| Ok(truth::sorted(inputs.sizes.rows)),
    },
    Case {
        name: "reorder",
        what: "rows stored by another key",
        load: load_rows,
        script: "?[b, a] := *rows{a, b} :order b :create sorted {b, a}",
        check: Some(CHECK_SORTED),
        answer: |inputs| Ok(truth::sorted(inputs.sizes.rows)),
    },
    Case {
        name: "page",
        what: "ten rows in the middle of all, by a value",
        load: load_rows,
        script: "?[a, b] := *rows{a, b} :order b :offset $half :limit 10",
        check: None,
        answer: |inputs| Ok(truth::page(inputs.sizes.rows)),
    },
    Case {
        name: "closure, layers",
        what: "all pairs of a graph of many nodes in layers",
        load: |db, inputs| fill(db, "edge", "{a: Int, b: Int}", generate::layers(inputs.sizes.components)),
        script: CLOSURE,
        check: None,
        answer: |inputs| Ok(truth::layers(inputs.sizes.components)),
    },
    Case {
        name: "closure, ring",
        what: "all pairs of few nodes that reach each other",
        load: |db, inputs| fill(db, "edge", "{a: Int, b: Int}", generate::ring(inputs.sizes.ring)),
        script: CLOSURE,
        check: None,
        answer: |inputs| Ok(truth::ring(inputs.sizes.ring)),
    },
    Case {
        name: "distinct",
        what: "distinct pairs three steps apart in a social network",
        load: load_network,
        script: DISTINCT,
        check: None,
        answer: |inputs| Ok(vec![network::pairs(inputs).map_err(|error| error.to_string())?]),
    },
    Case {
        name: "join",
        what: "two relations joined by a column that is no key",
        load: |db, inputs| {
            fill(db, "left", "{id: Int => k: Int, x: Int}", generate::left(inputs.sizes.joined))?;
            fill(db, "right", "{id: Int => k: Int, y: Int}", generate::right(inputs.sizes.joined))
        },
        script: JOIN,
        check: None,
        answer: |inputs| Ok(truth::joined(inputs.sizes.joined)),
    },
];

/// The weights make sure that each sum is that of its group.
const GROUPS: &str = "
    groups[key, sum(value)] := *fact{key, value}
    ?[count(key), sum(weighted)] := groups[key, total], weighted = total * (key % 1000)
";

const CHECK_SORTED: &str = "?[count(a), sum(weighted)] := *sorted{a, b}, weighted = (a % 1000) * (b % 1000)";

const CLOSURE: &str = "
    reached[a, b] := *edge{a, b}
    reached[a, c] := reached[a, b], *edge{a: b, b: c}
    ?[count(a)] := reached[a, b]
";

const DISTINCT: &str = "
    reached[start, d] := *start{user: start}, *friends{fr: start, to: b}, *friends{fr: b, to: c}, *friends{fr: c, to: d}
    ?[count(d)] := reached[start, d]
";

/// The product needs both sides of each match.
const JOIN: &str = "?[count(x), sum(product)] := *left{k, x}, *right{k, y}, product = x * y";

/// The case of a name.
pub fn find(name: &str) -> Option<&'static Case> {
    CASES.iter().find(|case| case.name == name)
}

fn load_rows(db: &DbInstance, inputs: &Inputs) -> Result<(), String> {
    fill(db, "rows", "{a: Int => b: Int}", generate::rows(inputs.sizes.rows))
}

fn load_network(db: &DbInstance, inputs: &Inputs) -> Result<(), String> {
    let failed = |error: std::io::Error| error.to_string();
    fill(db, "friends", "{fr: Int, to: Int}", network::friends(inputs).map_err(failed)?)?;
    fill(db, "start", "{user: Int}", network::start_users(inputs).map_err(failed)?)
}
