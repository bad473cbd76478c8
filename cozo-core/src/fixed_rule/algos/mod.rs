//! The graph algorithms, one per file. They work on numbered nodes ([`Edges`](super::graph::Edges)): a node is a `u32`.
//!
//! Rules for all of them:
//!
//! * No algorithm is recursive, so a long path needs no deep stack.
//! * Each checks the poison within its loops.
//! * The result depends on the input, the options and the seed alone. Work is divided among threads in a way that does not
//!   depend on their number.
//!
//! Shared parts: `inputs` (reading them), `parallel` (a value for each node, sums), `search` (shortest paths from a start),
//! `expressions` (options evaluated for nodes), `traversal` (searching with a condition), `triangles`, `communities` and
//! `modularity`, `disjoint_sets`, `dinic` (flows), `power_iteration` (ranks).

mod betweenness_centrality;
mod bipartite_matching;
mod breadth_first_search;
mod cdlp;
mod closeness_centrality;
mod clustering_coefficients;
mod communities;
mod connected_components;
mod cycles;
mod degree_centrality;
mod depth_first_search;
mod dinic;
mod disjoint_sets;
mod eigenvector_centrality;
mod expressions;
mod inputs;
mod k_core;
mod k_shortest_path_yen;
mod label_propagation;
mod lcc;
mod leiden;
mod louvain;
mod max_flow;
mod min_cut;
mod minimum_spanning_forest_kruskal;
mod minimum_spanning_tree_prim;
mod modularity;
mod node_similarity;
mod page_rank;
mod parallel;
mod personalized_page_rank;
mod power_iteration;
mod random_walk;
mod search;
mod shortest_path_a_star;
mod shortest_path_bfs;
mod shortest_path_dijkstra;
mod sssp;
mod strongly_connected_components;
mod top_sort;
mod traversal;
mod triangles;

pub use betweenness_centrality::BETWEENNESS_CENTRALITY;
pub use bipartite_matching::BIPARTITE_MATCHING;
pub use breadth_first_search::BREADTH_FIRST_SEARCH;
pub use cdlp::CDLP;
pub use closeness_centrality::CLOSENESS_CENTRALITY;
pub use clustering_coefficients::CLUSTERING_COEFFICIENTS;
pub use connected_components::CONNECTED_COMPONENTS;
pub use cycles::CYCLES;
pub use degree_centrality::DEGREE_CENTRALITY;
pub use depth_first_search::DEPTH_FIRST_SEARCH;
pub use eigenvector_centrality::EIGENVECTOR_CENTRALITY;
pub use k_core::K_CORE;
pub use k_shortest_path_yen::K_SHORTEST_PATH_YEN;
pub use label_propagation::LABEL_PROPAGATION;
pub use lcc::LCC;
pub use leiden::LEIDEN;
pub use louvain::COMMUNITY_DETECTION_LOUVAIN;
pub use max_flow::MAX_FLOW;
pub use min_cut::MIN_CUT;
pub use minimum_spanning_forest_kruskal::MINIMUM_SPANNING_FOREST_KRUSKAL;
pub use minimum_spanning_tree_prim::MINIMUM_SPANNING_TREE_PRIM;
pub use node_similarity::NODE_SIMILARITY;
pub use page_rank::PAGE_RANK;
pub use personalized_page_rank::PERSONALIZED_PAGE_RANK;
pub use random_walk::RANDOM_WALK;
pub use shortest_path_a_star::SHORTEST_PATH_A_STAR;
pub use shortest_path_bfs::SHORTEST_PATH_BFS;
pub use shortest_path_dijkstra::SHORTEST_PATH_DIJKSTRA;
pub use sssp::SSSP;
pub use strongly_connected_components::STRONGLY_CONNECTED_COMPONENTS;
pub use top_sort::TOP_SORT;
