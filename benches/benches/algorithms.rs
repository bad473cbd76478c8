//! Graph algorithms over a social network, by default of the small size (`COZO_BENCH_POKEC_SIZE`): the time for each edge.

use std::hint::black_box;
use std::time::Duration;

use cozo_benches::pokec::{database, generate};
use cozo_benches::run;
use criterion::{Criterion, Throughput, criterion_group, criterion_main};

/// Algorithms that take all edges, and the first columns of what they give.
const WHOLE: &[(&str, &str)] = &[
    ("cdlp", "?[count(a)] := r[a, _]  r[a, b] <~ CDLP(*friends[])"),
    ("clustering", "?[sum(t)] := r[_, _, t, _]  r[a, b, t, d] <~ ClusteringCoefficients(*friends[])"),
    ("components", "?[max(b)] := r[_, b]  r[a, b] <~ ConnectedComponents(*friends[])"),
    ("degree", "?[max(b)] := r[_, b, _, _]  r[a, b, c, d] <~ DegreeCentrality(*friends[])"),
    ("eigenvector", "?[max(b)] := r[_, b]  r[a, b] <~ EigenvectorCentrality(*friends[])"),
    ("k_core", "?[max(b)] := r[_, b]  r[a, b] <~ KCore(*friends[])"),
    ("kruskal", "?[count(a)] := r[a, _, _]  r[a, b, c] <~ MinimumSpanningForestKruskal(*friends[])"),
    ("label_propagation", "?[count(a)] := r[a, _]  r[a, b] <~ LabelPropagation(*friends[])"),
    ("lcc", "?[sum(b)] := r[_, b]  r[a, b] <~ LCC(*friends[])"),
    ("leiden", "?[max(a)] := r[a, _]  r[a, b] <~ Leiden(*friends[])"),
    ("louvain", "?[count(b)] := r[_, b]  r[a, b] <~ CommunityDetectionLouvain(*friends[], keep_depth: 1)"),
    ("matching", "?[count(a)] := r[a, _]  r[a, b] <~ BipartiteMatching(*friends[])"),
    ("node_similarity", "?[count(a)] := r[a, _, _]  r[a, b, c] <~ NodeSimilarity(*friends[])"),
    ("page_rank", "?[max(b)] := r[_, b]  r[a, b] <~ PageRank(*friends[])"),
    ("prim", "?[count(a)] := r[a, _, _]  r[a, b, c] <~ MinimumSpanningTreePrim(*friends[])"),
    ("strong_components", "?[max(b)] := r[_, b]  r[a, b] <~ SCC(*friends[])"),
    ("top_sort", "?[count(a)] := r[a, _]  r[a, b] <~ TopSort(*friends[])"),
];

/// Algorithms that start somewhere, and those that would visit all pairs of nodes: they take the friends of some users.
const FROM_SOMEWHERE: &[(&str, &str)] = &[
    (
        "a_star",
        "?[count(c)] := r[_, _, c, _]  r[a, b, c, d] <~ ShortestPathAStar(*friends[], u[id], s[], t[], heuristic: 0)",
    ),
    ("bfs", "?[count(b)] := r[_, b, _]  r[a, b, c] <~ BFS(*friends[], u[id], s[], condition: id < 0)"),
    ("cycles", "?[count(a)] := r[a, _]  r[a, b] <~ Cycles(*friends[], max_length: 3)"),
    ("dfs", "?[count(b)] := r[_, b, _]  r[a, b, c] <~ DFS(*friends[], u[id], s[], condition: id < 0)"),
    ("dijkstra", "?[count(c)] := r[_, _, c, _]  r[a, b, c, d] <~ ShortestPathDijkstra(*friends[], s[], t[])"),
    ("max_flow", "?[count(c)] := r[_, _, c]  r[a, b, c] <~ MaxFlow(*friends[], s[], t[])"),
    ("min_cut", "?[count(c)] := r[_, _, c]  r[a, b, c] <~ MinCut(*friends[], s[], t[])"),
    ("personalized_page_rank", "?[max(b)] := r[_, b]  r[a, b] <~ PersonalizedPageRank(*friends[], s[])"),
    (
        "random_walk",
        "?[count(a)] := r[a, _, _]  r[a, b, c] <~ RandomWalk(*friends[], u[], s[], steps: 100, iterations: 100)",
    ),
    ("shortest_path_bfs", "?[count(a)] := r[a, _, _]  r[a, b, c] <~ ShortestPathBFS(*friends[], s[], t[])"),
    ("sssp", "?[sum(c)] := r[_, _, c], c < 100  r[a, b, c] <~ SSSP(*friends[], s[])"),
    ("yen", "?[count(a)] := r[a, _, _, _]  r[a, b, c, d] <~ KShortestPathYen(*friends[], s[], t[], k: 10)"),
];

/// What needs a search from every node: over the friendships of users with small numbers.
const OVER_PAIRS: &[(&str, &str)] = &[
    ("betweenness", "?[max(b)] := r[_, b]  r[a, b] <~ BetweennessCentrality(f[])"),
    ("closeness", "?[max(b)] := r[_, b]  r[a, b] <~ ClosenessCentrality(f[])"),
];

const RULES: &str =
    "s[x] <- [[1]]  t[x] <- [[2]]  u[x] := *user{uid: x}  f[a, b] := *friends[a, b], a <= 2000, b <= 2000";

fn algorithms(criterion: &mut Criterion) {
    let size = std::env::var("COZO_BENCH_POKEC_SIZE").unwrap_or_else(|_| "small".to_string());
    let size = size.parse().unwrap_or_else(|error| panic!("COZO_BENCH_POKEC_SIZE: {error}"));
    let db = cozo::DbInstance::default();
    database::load(&db, &generate::network(&size)).expect("the network is loaded");
    for (group, edges, scripts) in [
        ("whole_graph", "?[count(a)] := *friends[a, _]", WHOLE),
        ("from_a_node", "?[count(a)] := *friends[a, _]", FROM_SOMEWHERE),
        ("all_pairs", "f[a, b] := *friends[a, b], a <= 2000, b <= 2000  ?[count(a)] := f[a, _]", OVER_PAIRS),
    ] {
        let mut group = criterion.benchmark_group(group);
        group.throughput(Throughput::Elements(cozo_benches::count(&db, edges) as u64));
        for (name, script) in scripts {
            let script = format!("{RULES}  {script}");
            group.bench_function(*name, |bencher| bencher.iter(|| black_box(run(&db, &script, &[]))));
        }
    }
}

fn configuration() -> Criterion {
    Criterion::default()
        .sample_size(10)
        .warm_up_time(Duration::from_millis(300))
        .measurement_time(Duration::from_secs(2))
}

criterion_group! {
    name = benches;
    config = configuration();
    targets = algorithms
}
criterion_main!(benches);
