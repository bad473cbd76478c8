//! Joins and recursion over enough rows that the engine splits the work, against a few lines of Rust.

use std::collections::{BTreeSet, HashMap};

use cozo::{DataValue, DbInstance, NamedRows};
use rand::rngs::StdRng;
use rand::{RngExt, SeedableRng};

type Edges = BTreeSet<(i64, i64)>;

fn random_edges(seed: u64, nodes: i64, count: usize) -> Edges {
    let mut random = StdRng::seed_from_u64(seed);
    let mut edges = Edges::new();
    while edges.len() < count {
        edges.insert((random.random_range(0..nodes), random.random_range(0..nodes)));
    }
    edges
}

fn database(edges: &Edges) -> DbInstance {
    let db = DbInstance::default();
    db.run_default("{:create edge {a: Int, b: Int}} {:create odd {a: Int}}").unwrap();
    let rows = edges.iter().map(|(a, b)| vec![DataValue::from(*a), DataValue::from(*b)]).collect();
    let rows = NamedRows::new(vec!["a".to_string(), "b".to_string()], rows);
    db.import_relations([("edge".to_string(), rows)].into()).unwrap();
    db.run_default("?[a] := *edge[a, _], a % 2 == 1 :put odd {a}").unwrap();
    db
}

fn pairs(db: &DbInstance, script: &str) -> Edges {
    let rows = db.run_default(script).unwrap_or_else(|error| panic!("{error:?}")).rows;
    rows.iter().map(|row| (row[0].get_int().unwrap(), row[1].get_int().unwrap())).collect()
}

fn successors(edges: &Edges) -> HashMap<i64, Vec<i64>> {
    let mut successors: HashMap<i64, Vec<i64>> = HashMap::new();
    edges.iter().for_each(|(a, b)| successors.entry(*a).or_default().push(*b));
    successors
}

#[test]
fn two_hops_over_many_rows() {
    let edges = random_edges(1, 20_000, 40_000);
    let (db, successors) = (database(&edges), successors(&edges));
    let hop = |(a, b): &(i64, i64)| successors.get(b).into_iter().flatten().map(|c| (*a, *c)).collect::<Vec<_>>();
    let expected: Edges = edges.iter().flat_map(hop).collect();
    assert_eq!(pairs(&db, "?[a, c] := *edge[a, b], *edge[b, c]"), expected);
    assert_eq!(pairs(&db, "e[a, b] := *edge[a, b]  ?[a, c] := e[a, b], e[b, c]"), expected);
    assert_eq!(pairs(&db, "back[b, a] := *edge[a, b]  ?[a, c] := *edge[b, c], back[b, a]"), expected);
    let evens: Edges =
        expected.iter().filter(|(a, c)| a % 2 == 0 && c % 2 == 1 && successors.contains_key(c)).copied().collect();
    assert_eq!(pairs(&db, "?[a, c] := *edge[a, b], *edge[b, c], not *odd[a], *odd[c]"), evens);
}

#[test]
fn counts_of_many_rows_by_group() {
    let edges = random_edges(2, 300, 40_000);
    let db = database(&edges);
    let expected: Edges = successors(&edges).into_iter().map(|(a, b)| (a, b.len() as i64)).collect();
    assert_eq!(pairs(&db, "?[a, count(b)] := *edge[a, b]"), expected);
    assert_eq!(pairs(&db, "?[a, max(n)] := n = 5, *edge[a, _]").len(), expected.len());
}

#[test]
fn closure_of_a_dense_graph() {
    let edges = random_edges(3, 400, 800);
    let (db, successors) = (database(&edges), successors(&edges));
    let mut expected = Edges::new();
    for start in 0..400 {
        let mut waiting = vec![start];
        while let Some(node) = waiting.pop() {
            waiting.extend(successors.get(&node).into_iter().flatten().filter(|next| expected.insert((start, **next))));
        }
    }
    let base = "path[a, b] := *edge[a, b]";
    for step in ["path[a, b], *edge[b, c]", "*edge[a, b], path[b, c]", "path[a, b], path[b, c]"] {
        assert_eq!(pairs(&db, &format!("{base}  path[a, c] := {step}  ?[a, b] := path[a, b]")), expected, "{step}");
        let from = expected.iter().filter(|(a, _)| *a == 7).copied().collect::<Edges>();
        assert_eq!(pairs(&db, &format!("{base}  path[a, c] := {step}  ?[a, b] := a = 7, path[a, b]")), from, "{step}");
    }
}
