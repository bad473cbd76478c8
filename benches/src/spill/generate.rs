//! The rows of all relations but those of the social network. They follow from formulas that SQL can say, too.
//!
//! | relation | rows | values |
//! |---|---|---|
//! | `fact {id => key, value}` | a number | `key` is [`scattered`], different in each row; `value` is `id % 1000` |
//! | `rows {a => b}` | a number | `b` is [`scattered`] |
//! | `edge {a, b}`, layers | components of 80 layers of 64 nodes | each node leads to two of the next layer |
//! | `edge {a, b}`, ring | three for each node | each node leads to the next one, and to two far away |
//! | `left {id => k, x}`, `right {id => k, y}` | a number each | `k` has two thirds as many values as there are rows |

/// [`scattered`] numbers are below this prime, 2³¹ − 1.
pub const MODULUS: u64 = (1 << 31) - 1;

/// The nodes of a layer.
pub const WIDTH: u64 = 64;

/// The layers of a component.
pub const LAYERS: u64 = 80;

/// The components at scale 1. Nodes have numbers as if there were at least so many, so that a bitmap of all pairs is
/// large at every scale.
pub const COMPONENTS: u64 = 38;

/// The fifth power in the field of [`MODULUS`] elements. Different numbers below the prime give different ones, since 5
/// has no divisor in common with the order of its multiplicative group, and they look random.
pub fn scattered(number: u64) -> u64 {
    let square = number * number % MODULUS;
    square * square % MODULUS * number % MODULUS
}

/// Rows of `fact`: id, key, value.
pub fn facts(rows: u64) -> impl Iterator<Item = [u64; 3]> {
    (0..rows).map(|id| [id, scattered(id), id % 1000])
}

/// Rows of `rows`: a, b.
pub fn rows(rows: u64) -> impl Iterator<Item = [u64; 2]> {
    (0..rows).map(|a| [a, scattered(a)])
}

/// Rows of `edge` for so many components of layers.
pub fn layers(components: u64) -> impl Iterator<Item = [u64; 2]> {
    let stride = components.max(COMPONENTS);
    let nodes = (0..LAYERS - 1).flat_map(|layer| (0..WIDTH).map(move |place| (layer, place)));
    nodes.flat_map(move |(layer, place)| {
        let node = move |layer: u64, place: u64| (layer * WIDTH + place % WIDTH) * stride;
        (0..components).flat_map(move |component| {
            [place, place + 1].map(|next| [node(layer, place) + component, node(layer + 1, next) + component])
        })
    })
}

/// Rows of `edge` for so many nodes that reach each other. An edge may come twice.
pub fn ring(nodes: u64) -> impl Iterator<Item = [u64; 2]> {
    (0..nodes).flat_map(move |node| [node + 1, node * 7 + 3, node * 11 + 5].map(|next| [node, next % nodes]))
}

/// Rows of `left`: id, k, x.
pub fn left(rows: u64) -> impl Iterator<Item = [u64; 3]> {
    (0..rows).map(move |id| [id, scattered(id) % join_keys(rows), id % 1000])
}

/// Rows of `right`: id, k, y.
pub fn right(rows: u64) -> impl Iterator<Item = [u64; 3]> {
    (0..rows).map(move |id| [id, scattered(id + rows) % join_keys(rows), id % 997])
}

/// How many values the column has that relations of so many rows are joined by.
pub fn join_keys(rows: u64) -> u64 {
    (rows * 2 / 3).max(1)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn scattered_numbers_are_distinct_and_in_no_order() {
        let mut numbers: Vec<u64> = (0..100_000).map(scattered).collect();
        let ascents = numbers.windows(2).filter(|pair| pair[0] < pair[1]).count();
        assert!((45_000..55_000).contains(&ascents), "{ascents}");
        numbers.sort_unstable();
        numbers.dedup();
        assert_eq!(numbers.len(), 100_000);
        assert!(numbers[99_999] > MODULUS / 100 * 99);
    }

    #[test]
    fn edges_of_layers_are_distinct_and_ascend() {
        let edges: Vec<[u64; 2]> = layers(2).collect();
        assert_eq!(edges.len() as u64, 2 * 2 * WIDTH * (LAYERS - 1));
        assert!(edges.iter().all(|[a, b]| a < b && b - a < 3 * WIDTH * COMPONENTS));
        let mut distinct = edges.clone();
        distinct.sort_unstable();
        distinct.dedup();
        assert_eq!(distinct.len(), edges.len());
    }
}
