"""Graph algorithms against networkx, on graphs of a few hundred nodes."""

import math

import networkx as nx
import pytest

# The one that needs no scipy.
from networkx.algorithms.link_analysis.pagerank_alg import _pagerank_python as pagerank

NODES = 200


def graph(kind):
    """A graph with weights of its edges."""
    if kind == "sparse":
        made = nx.gnm_random_graph(NODES, 500, seed=1, directed=True)
    elif kind == "dense":
        made = nx.gnm_random_graph(60, 1200, seed=2, directed=True)
    elif kind == "scale_free":
        made = nx.DiGraph(nx.scale_free_graph(NODES, seed=3))
        made.remove_edges_from(list(nx.selfloop_edges(made)))
    else:
        made = nx.DiGraph()
        made.add_edges_from(nx.watts_strogatz_graph(NODES, 6, 0.1, seed=4).edges)
    made.remove_nodes_from(list(nx.isolates(made)))
    for a, b in made.edges:
        made[a][b]["weight"] = 1 + (a * 7 + b * 13) % 10
    return made


@pytest.fixture(params=["sparse", "dense", "scale_free", "small_world"])
def directed(request):
    return graph(request.param)


@pytest.fixture
def ask(run, directed):
    """Runs a script with the edges as `e` (with weights) and `p` (without), and the nodes as `n`."""
    weighted = [[a, b, w] for a, b, w in directed.edges.data("weight")]
    given = {"e": weighted, "p": [row[:2] for row in weighted], "n": [[node] for node in directed.nodes]}
    return lambda script: run("e[a, b, w] <- $e p[a, b] <- $p n[x] <- $n " + script, given)


def close(rows, expected, tolerance=1e-9):
    found = dict(rows)
    assert found.keys() == expected.keys()
    for node, value in expected.items():
        assert math.isclose(found[node], value, rel_tol=1e-6, abs_tol=tolerance), (node, found[node], value)


def partition(rows):
    groups = {}
    for node, group in rows:
        groups.setdefault(group, set()).add(node)
    return sorted(map(sorted, groups.values()))


def test_components(ask, directed):
    assert partition(ask("?[a, b] <~ WCC(p[])")) == sorted(map(sorted, nx.weakly_connected_components(directed)))
    assert partition(ask("?[a, b] <~ SCC(p[])")) == sorted(map(sorted, nx.strongly_connected_components(directed)))


def test_page_rank(ask, directed):
    # Networkx shares out what nodes without successors hold; so each of them has an edge to itself here.
    for node in [node for node in directed if not directed.out_degree(node)]:
        directed.add_edge(node, node, weight=1)
    loops = "q[a, b, w] := e[a, b, w] has[a] := e[a, _, _] q[a, b, w] := n[a], not has[a], b = a, w = 1 "
    options = "epsilon: 0.0, iterations: 500"
    expected = pagerank(directed, weight=None, tol=1e-12, max_iter=1000)
    close(ask(loops + f"?[n, s] <~ PageRank(q[], {options})"), expected)
    expected = pagerank(directed, weight="weight", tol=1e-12, max_iter=1000)
    close(ask(loops + f"?[n, s] <~ PageRank(q[], weighted: true, {options})"), expected)
    start = min(directed)
    expected = pagerank(directed, weight=None, personalization={start: 1}, tol=1e-12, max_iter=1000)
    close(ask(loops + f"s[x] <- [[{start}]] ?[n, s] <~ PersonalizedPageRank(q[], s[], {options})"), expected)


def test_betweenness(ask, directed):
    expected = nx.betweenness_centrality(directed, normalized=False)
    close(ask("?[n, c] <~ BetweennessCentrality(p[])"), expected)
    expected = nx.betweenness_centrality(directed, normalized=False, weight="weight")
    close(ask("?[n, c] <~ BetweennessCentrality(e[])"), expected)
    undirected = nx.betweenness_centrality(directed.to_undirected(), normalized=False)
    close(ask("?[n, c] <~ BetweennessCentrality(p[], undirected: true)"), {n: 2 * c for n, c in undirected.items()})


def test_closeness(ask, directed):
    def expected(weight):
        # Of networkx, distances to a node; and (r - 1)² where r² is here.
        plain = nx.closeness_centrality(directed.reverse(), distance=weight)
        reached = {node: len(nx.descendants(directed, node)) + 1 for node in directed}
        return {n: c * (reached[n] / (reached[n] - 1)) ** 2 if reached[n] > 1 else 0.0 for n, c in plain.items()}

    close(ask("?[n, c] <~ ClosenessCentrality(p[])"), expected(None))
    close(ask("?[n, c] <~ ClosenessCentrality(e[])"), expected("weight"))


def test_eigenvector(ask, directed):
    # An edge in both directions counts twice.
    counted = nx.Graph()
    for a, b in directed.edges:
        counted.add_edge(a, b, count=counted.get_edge_data(a, b, {"count": 0})["count"] + 1)
    largest = counted.subgraph(max(nx.connected_components(counted), key=len))
    expected = nx.eigenvector_centrality(largest, max_iter=10000, tol=1e-12, weight="count")
    found = dict(ask("?[n, c] <~ EigenvectorCentrality(p[], undirected: true, iterations: 10000, epsilon: 1e-12)"))
    for node, value in expected.items():
        assert math.isclose(found[node], value, rel_tol=1e-4, abs_tol=1e-6)


def test_clustering_and_cores(ask, directed):
    undirected = directed.to_undirected()
    close(ask("?[n, c] <~ LCC(p[], undirected: true)"), nx.clustering(undirected))
    # Parallel edges would make more pairs of edges to the same two neighbours.
    once = "u[a, b] := p[a, b], a < b  u[a, b] := p[b, a], a < b  r[n, c, t, d] <~ ClusteringCoefficients(u[])"
    close(ask(f"?[n, t] := r[n, _, t, _] {once}"), nx.triangles(undirected))
    close(ask("?[n, k] <~ KCore(p[])"), nx.core_number(undirected))


def test_shortest_paths(ask, directed):
    starts = sorted(directed)[:5]
    rule = f"s[x] := x in {starts} "
    expected = {start: nx.single_source_dijkstra_path_length(directed, start) for start in starts}
    found = ask(rule + "c[s, n, d] <~ SSSP(e[], s[]) ?[s, n, d] := c[s, n, d], d < 1000000")
    assert {(s, n): d for s, n, d in found} == {(s, n): d for s, costs in expected.items() for n, d in costs.items()}
    for s, n, cost, path in ask(rule + "?[s, n, d, p] <~ ShortestPathDijkstra(e[], s[])"):
        assert cost == expected[s].get(n, math.inf)
        assert not path or nx.path_weight(directed, path, "weight") == cost
    for s, n, path in ask(rule + "?[s, n, p] <~ ShortestPathBFS(p[], s[], n[])"):
        known = nx.has_path(directed, s, n)
        assert (path is not None) == known
        assert not known or len(path) == nx.shortest_path_length(directed, s, n) + 1


def test_paths_in_order(ask, directed):
    start = max(directed, key=directed.out_degree)
    goal = max(nx.single_source_dijkstra_path_length(directed, start).items(), key=lambda item: item[1])[0]
    ends = f"s[x] <- [[{start}]] g[x] <- [[{goal}]] "
    expected = []
    for path in nx.shortest_simple_paths(directed, start, goal, weight="weight"):
        expected.append(nx.path_weight(directed, path, "weight"))
        if len(expected) == 20:
            break
    found = ask(ends + "?[c, p] := r[_, _, c, p] r[s, g, c, p] <~ KShortestPathYen(e[], s[], g[], k: 20)")
    assert [cost for cost, _ in found] == expected
    ties = ask(ends + "?[p] := r[_, _, _, p] r[s, g, c, p] <~ ShortestPathDijkstra(e[], s[], g[], keep_ties: true)")
    assert sorted(path for [path] in ties) == sorted(nx.all_shortest_paths(directed, start, goal, weight="weight"))


def test_spanning_trees(ask, directed):
    undirected = nx.Graph()
    for a, b, weight in directed.edges.data("weight"):
        least = min(weight, undirected.get_edge_data(a, b, {"weight": weight})["weight"])
        undirected.add_edge(a, b, weight=least)
    expected = nx.minimum_spanning_tree(undirected).size("weight")
    assert sum(row[2] for row in ask("?[a, b, w] <~ MinimumSpanningForestKruskal(e[])")) == expected


def test_flows(ask, directed):
    start = max(directed, key=directed.out_degree)
    goal = max((node for node in directed if node != start), key=directed.in_degree)
    ends = f"s[x] <- [[{start}]] g[x] <- [[{goal}]] "
    expected = nx.maximum_flow_value(directed, start, goal, capacity="weight")
    flows = ask(ends + "?[a, b, f] <~ MaxFlow(e[], s[], g[])")
    assert sum(f for a, _, f in flows if a == start) - sum(f for _, b, f in flows if b == start) == expected
    cut = ask(ends + "?[a, b, c] <~ MinCut(e[], s[], g[])")
    assert sum(row[2] for row in cut) == expected
    left = directed.copy()
    left.remove_edges_from([row[:2] for row in cut])
    assert not nx.has_path(left, start, goal)


def test_matching(ask, directed):
    bipartite = nx.Graph()
    bipartite.add_edges_from((("left", a), ("right", b)) for a, b in directed.edges)
    left = [node for node in bipartite if node[0] == "left"]
    expected = len(nx.bipartite.hopcroft_karp_matching(bipartite, left)) // 2
    assert len(ask("?[a, b] <~ BipartiteMatching(p[])")) == expected


def test_cycles(ask, directed):
    expected = sorted(cycle[cycle.index(min(cycle)) :] + cycle[: cycle.index(min(cycle))] for cycle in nx.simple_cycles(directed, 3))
    found = ask("?[c] := r[c, _] r[c, l] <~ Cycles(p[], max_length: 3, limit: 1000000)")
    assert sorted(cycle for [cycle] in found) == expected


def test_topological_order(ask, directed):
    found = {node: index for index, node in ask("q[a, b] := p[a, b], a < b ?[i, n] <~ TopSort(q[])")}
    assert all(found[a] < found[b] for a, b in directed.edges if a < b)


@pytest.mark.parametrize("rule", ["CommunityDetectionLouvain", "Leiden"])
def test_communities_are_as_modular_as_those_of_networkx(ask, directed, rule):
    label = "first(l)" if rule == "CommunityDetectionLouvain" else "l"
    rows = ask(f"?[n, g] := r[l, n], g = {label} r[l, n] <~ {rule}(e[])")
    groups = {}
    for node, group in rows:
        groups.setdefault(group, set()).add(node)
    found = nx.community.modularity(directed, groups.values())
    expected = nx.community.modularity(directed, nx.community.louvain_communities(directed, seed=5))
    assert found > expected - 0.05
