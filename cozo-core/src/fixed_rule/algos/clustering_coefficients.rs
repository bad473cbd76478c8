//! `ClusteringCoefficients`: to what extent the neighbours of each node are neighbours of one another.

use super::inputs::EDGES;
use super::triangles::{Joined, triangles};
use crate::fixed_rule::{BuiltInRule, Call, FixedRuleError, Output, Settings};
use crate::value::{Batch, Column};

/// To what extent the neighbours of each node are neighbours of one another.
pub static CLUSTERING_COEFFICIENTS: BuiltInRule = BuiltInRule {
    name: "ClusteringCoefficients",
    aliases: &[],
    doc: "Gives for each node the coefficient 2 t / (d (d - 1)), the number t of triangles that contain it, and its degree \
          d; the coefficient is 0.0 for a degree below 2. Edges count whatever their direction. Each parallel edge counts, \
          in the degree and in triangles; a loop counts twice, and makes its node one of its own neighbours. `LCC` counts \
          distinct neighbours instead.",
    cost: "Time O(E sqrt(E)), in parallel over edges; space O(V + E).",
    source: "D. J. Watts and S. H. Strogatz, Collective dynamics of 'small-world' networks, Nature 393 (1998); \
             M. Latapy, Main-memory triangle computations for very large graphs, Theor. Comput. Sci. 407 (2008)",
    examples: &[(
        "e[a, b] <- [[1, 2], [2, 3], [3, 1], [1, 4]]  c[n, v, t, d] <~ ClusteringCoefficients(e[])
         ?[node, coefficient, triangles, degree] := c[node, v, triangles, degree], coefficient = round(v * 100)",
        "[[1, 33.0, 1, 3], [2, 100.0, 1, 2], [3, 100.0, 1, 2], [4, 0.0, 0, 1]]",
    )],
    inputs: &[EDGES],
    options: &[],
    output: Output::Columns(&["node", "coefficient", "triangles", "degree"]),
    external_access: false,
    run,
};

fn run(call: &Call<'_>, _: &Settings) -> Result<Batch, FixedRuleError> {
    let edges = call.input(0)?.edges(None, &call.poison)?;
    let found = triangles(&edges, Joined::ByEnds, &call.poison)?;
    let mut degrees = vec![0_i64; edges.nodes.len()];
    edges.from().iter().chain(edges.to().iter()).for_each(|node| degrees[*node as usize] += 1);
    let mut loops = vec![0_i64; edges.nodes.len()];
    let ends = edges.from().iter().zip(edges.to().iter());
    ends.filter(|(from, to)| from == to).for_each(|(node, _)| loops[*node as usize] += 2);
    let coefficient = |(degree, triangles): (&i64, &i64)| match *degree as f64 {
        degree if degree < 2.0 => 0.0,
        degree => 2.0 * *triangles as f64 / (degree * (degree - 1.0)),
    };
    // A node with a loop is its own neighbour, and so joined with its other neighbours.
    let with_loops = |node: usize| found.joined[node] as i64 + loops[node] * (degrees[node] - loops[node]);
    let triangles: Vec<i64> = (0..degrees.len()).map(with_loops).collect();
    let coefficients = degrees.iter().zip(&triangles).map(coefficient).collect();
    let count = degrees.len();
    let columns =
        vec![edges.nodes.into_values(), Column::floats(coefficients), Column::ints(triangles), Column::ints(degrees)];
    Ok(Batch::new(columns, count))
}
