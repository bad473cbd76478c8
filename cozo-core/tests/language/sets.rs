//! What rules derive is a set, however its rows are kept: few or many, integers close together or far apart, or with other values.

#![allow(clippy::unwrap_used, reason = "a test fails by panicking")]

use std::collections::{BTreeMap, BTreeSet};

use cozo::{DataValue, DbInstance, ScriptMutability};

fn ints(values: impl IntoIterator<Item = i64>) -> Vec<DataValue> {
    values.into_iter().map(DataValue::from).collect()
}

/// Bodies of rules for one predicate, and what each of them derives.
fn sources() -> Vec<(&'static str, Vec<DataValue>)> {
    vec![
        ("x in [5, 1, 5]", ints([1, 5])),
        ("i in int_range(3000), x = i * 3 % 1000", ints(0..1000)),
        ("i in int_range(9000), x = 20000 - i", ints(11_001..=20_000)),
        ("i in int_range(300), x = i * 100000000 - 7", ints((0..300).map(|i| i * 100_000_000 - 7))),
        ("x in ['a', null, 1.5, 5]", vec!["a".into(), DataValue::Null, 1.5.into(), 5.into()]),
    ]
}

/// One of the orders of so many numbers.
fn permutation(number: usize, len: usize) -> Vec<usize> {
    let mut left: Vec<usize> = (0..len).collect();
    let (mut rest, mut order) = (number, vec![]);
    while !left.is_empty() {
        order.push(left.remove(rest % left.len()));
        rest /= left.len() + 1;
    }
    order
}

#[test]
fn rows_are_there_once_whichever_rules_derive_them_first() {
    let (db, sources) = (DbInstance::default(), sources());
    for order in 0..120 {
        let chosen = permutation(order, sources.len());
        let chosen = &chosen[..2 + order % 4];
        let rules: String = chosen.iter().map(|source| format!("r[x] := {}\n", sources[*source].0)).collect();
        let expected: BTreeSet<&DataValue> = chosen.iter().flat_map(|source| &sources[*source].1).collect();
        let expected: Vec<Vec<DataValue>> = expected.into_iter().map(|value| vec![value.clone()]).collect();
        let entry = rules.replace("r[x]", "?[x]");
        for script in
            [format!("{rules} ?[x] := r[x]"), entry, format!("{rules} s[x] := r[x]  s[x] := s[x], r[x]  ?[x] := s[x]")]
        {
            assert_eq!(db.run_default(&script).unwrap().rows, expected, "{script}");
        }
    }
}

/// How the number of a node is written.
type Spelling = fn(i64) -> DataValue;

/// How the numbers of nodes are written: close together, far apart, growing apart while rules run, and not all as integers.
fn spellings() -> Vec<(&'static str, Spelling)> {
    vec![
        ("close together", |node| node.into()),
        ("with gaps", |node| (node * 37).into()),
        ("far apart and negative", |node| (node * 1_000_003 - 500).into()),
        ("growing apart", |node| (node * node * node).into()),
        ("partly not integers", |node| match node % 3 {
            0 if node > 100 => format!("{node}").into(),
            1 if node > 50 => (node as f64).into(),
            _ => node.into(),
        }),
        ("with null", |node| if node == 77 { DataValue::Null } else { node.into() }),
    ]
}

/// Some edges among so many nodes, each to one a little above, and some back.
fn edges(nodes: i64) -> Vec<(i64, i64)> {
    let ahead = (0..nodes - 1).flat_map(|node| [(node, node + 1), (node, (node + 1 + node * 7 % 5).min(nodes - 1))]);
    ahead.chain((0..nodes / 40).map(|n| (n * 40 + 30, n * 40))).collect()
}

/// The pairs of nodes with a path of an odd (1) or even (0) number of edges from one to the other.
fn paths(nodes: i64, edges: &[(i64, i64)]) -> BTreeSet<(i64, i64, i64)> {
    let mut next = vec![vec![]; nodes as usize];
    edges.iter().for_each(|(from, to)| next[*from as usize].push(*to));
    let mut found = BTreeSet::new();
    for start in 0..nodes {
        let mut open: Vec<(i64, i64)> = vec![(start, 0)];
        while let Some((node, parity)) = open.pop() {
            for to in &next[node as usize] {
                if found.insert((start, *to, 1 - parity)) {
                    open.push((*to, 1 - parity));
                }
            }
        }
    }
    found
}

#[test]
fn recursion_finds_the_same_pairs_however_nodes_are_written() {
    const NODES: i64 = 160;
    let edges = edges(NODES);
    let paths = paths(NODES, &edges);
    let pairs: BTreeSet<(i64, i64)> = paths.iter().map(|(from, to, _)| (*from, *to)).collect();
    let scripts = [
        ("p[x, y] := EDGE[x, y]  p[x, y] := p[x, z], EDGE[z, y]  ?[x, y] := p[x, y]", 2),
        ("p[x, y] := EDGE[x, y]  p[x, y] := EDGE[x, z], p[z, y]  ?[x, y] := p[x, y]", 2),
        ("p[x, y] := EDGE[x, y]  p[x, y] := p[x, z], p[z, y]  ?[x, y] := p[x, y]", 2),
        (
            "p[x, y, d] := EDGE[x, y], d = 1  p[x, y, d] := p[x, z, c], EDGE[z, y], d = 1 - c  ?[x, y, d] := p[x, y, d]",
            3,
        ),
    ];
    for (spelling, write) in spellings() {
        let db = DbInstance::default();
        let rows: Vec<DataValue> =
            edges.iter().map(|(from, to)| DataValue::List(vec![write(*from), write(*to)])).collect();
        let parameters = BTreeMap::from([("rows".to_string(), DataValue::List(rows))]);
        db.run_script("?[a, b] <- $rows  :create edge {a, b}", parameters, ScriptMutability::Mutable).unwrap();
        for (script, width) in scripts {
            let expected: BTreeSet<Vec<DataValue>> = match width {
                2 => pairs.iter().map(|(from, to)| vec![write(*from), write(*to)]).collect(),
                _ => paths.iter().map(|(from, to, parity)| vec![write(*from), write(*to), (*parity).into()]).collect(),
            };
            let expected: Vec<Vec<DataValue>> = expected.into_iter().collect();
            for script in
                [script.replace("EDGE", "*edge"), format!("e[x, y] := *edge[x, y]  {}", script.replace("EDGE", "e"))]
            {
                // The first time edges are looked up, then an index may have been kept.
                for time in ["first", "second"] {
                    let found = db.run_default(&script).unwrap().rows;
                    assert_eq!(found.len(), expected.len(), "nodes {spelling}, the {time} time: {script}");
                    assert!(found == expected, "nodes {spelling}, the {time} time: {script}");
                }
            }
        }
    }
}

/// So many that rounds are split among threads, whose rows come twice.
#[test]
fn rounds_that_threads_share_lose_no_row() {
    const NODES: i64 = 700;
    let db = DbInstance::default();
    let script = "?[a, b] := i in int_range($nodes), k in [1, 3, 11, 57, 101], a = i, b = (i * k + k * k) % $nodes
                  :create edge {a: Int, b: Int}";
    let parameters = BTreeMap::from([("nodes".to_string(), DataValue::from(NODES))]);
    db.run_script(script, parameters, ScriptMutability::Mutable).unwrap();
    let edges: Vec<(i64, i64)> =
        (0..NODES).flat_map(|i| [1, 3, 11, 57, 101].map(|k| (i, (i * k + k * k) % NODES))).collect();
    let pairs: BTreeSet<(i64, i64)> = paths(NODES, &edges).into_iter().map(|(from, to, _)| (from, to)).collect();
    for script in [
        "p[x, y] := *edge[x, y]  p[x, y] := p[x, z], *edge[z, y]",
        "p[x, y] := *edge[x, y]  p[x, y] := *edge[x, z], p[z, y]",
    ] {
        let found = db.run_default(&format!("{script}  ?[x, y] := p[x, y]")).unwrap().rows;
        let found: BTreeSet<(i64, i64)> =
            found.iter().map(|row| (row[0].get_int().unwrap(), row[1].get_int().unwrap())).collect();
        assert_eq!(found.len(), pairs.len(), "{script}");
        assert!(found == pairs, "{script}");
    }
}
