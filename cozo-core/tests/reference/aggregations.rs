//! `docs/aggregations.md`.

use cozo::expr::aggregations::AGGREGATIONS;
use cozo::{DataValue, DbInstance};

use crate::{check_examples, check_page, list_of, title};

const INTRODUCTION: &str = "\
Aggregations stand in the head of a rule: `?[city, count(name)] := *person{name, city}` counts within each city. They apply to
all rows that the body derives; several of these may be equal. If all columns of a head are aggregated, there is one
row even if the body derives none. Arguments after the variable are constants.

A *meet* aggregation may also be used in recursion, if the aggregated columns of the head come last:
`dist[to, min(d)] := *edge{fr: 'a', to, d}  dist[to, min(d)] := dist[x, e], *edge{fr: x, to, d: w}, d = e + w`.
";

/// The one value that an example gives.
fn run(query: &str) -> cozo::Result<DataValue> {
    Ok(DbInstance::default().run_default(query)?.rows[0][0].clone())
}

#[test]
fn examples_give_what_they_say() {
    check_examples(AGGREGATIONS.iter().flat_map(|aggregation| aggregation.examples).copied(), run);
}

#[test]
fn every_aggregation_is_documented() {
    for aggregation in AGGREGATIONS {
        assert!(aggregation.doc.ends_with('.') && !aggregation.examples.is_empty(), "{aggregation:?}");
        let (query, _) = aggregation.examples[0];
        assert!(query.starts_with(&format!("?[{}(", aggregation.name)), "{query} shows another aggregation");
    }
}

#[test]
fn the_page_is_current() {
    let mut page = title("Aggregations", "`cozo-core/src/expr/aggregations`", INTRODUCTION);
    for aggregation in AGGREGATIONS {
        let meet = if aggregation.meet.is_some() { " *Meet.*" } else { "" };
        page.push_str(&format!(
            "\n## `{}({})`\n\n{}{meet}\n\n{}",
            aggregation.name,
            aggregation.parameters.join(", "),
            aggregation.doc,
            list_of(aggregation.examples)
        ));
    }
    check_page("aggregations.md", &page);
}
