//! Checks of a tree's invariants, for tests.

use crate::storage::column_tree::Tree;
use crate::storage::column_tree::leaf_column::LeafColumn;
use crate::storage::column_tree::limits::{MAX_CHILDREN, MAX_LEAF_ROWS};
use crate::storage::column_tree::node::{Inner, Node};
use crate::storage::column_tree::rebalance::fit_together;
use crate::storage::column_tree::shared::Shared;
use crate::value::DataValue;

type Key = Vec<DataValue>;

/// Panics if the tree violates an invariant of the module's documentation.
pub fn check(tree: &Tree) {
    let keys = tree.shape().keys;
    let mut previous: Option<Key> = None;
    let (rows, _) = check_node(&tree.root, keys, &mut previous, true);
    assert_eq!(rows, tree.row_count());
}

/// Checks a subtree. Returns its number of rows and its height.
fn check_node(node: &Shared<Node>, keys: usize, previous: &mut Option<Key>, root: bool) -> (u64, usize) {
    match &**node {
        Node::Leaf(leaf) => {
            assert!(leaf.len <= MAX_LEAF_ROWS && (root || leaf.len > 0), "leaf of {} rows", leaf.len);
            assert!(leaf.columns.iter().all(|column| column.len() == leaf.len), "columns of one length");
            for row in 0..leaf.len {
                let key = leaf.key(row, keys);
                assert!(previous.as_ref().is_none_or(|previous| *previous < key), "{previous:?} before {key:?}");
                *previous = Some(key);
            }
            (leaf.len as u64, 0)
        }
        Node::Inner(inner) => {
            assert!(inner.children.len() > usize::from(root) && inner.children.len() <= MAX_CHILDREN);
            assert!(inner.separators.iter().map(LeafColumn::len).all(|len| len == inner.children.len()));
            check_children(inner, keys, previous)
        }
    }
}

fn check_children(inner: &Inner, keys: usize, previous: &mut Option<Key>) -> (u64, usize) {
    let mut heights = vec![];
    for (index, child) in inner.children.iter().enumerate() {
        if index > 0 {
            let separator = inner.separator(index);
            assert!(previous.as_ref().is_some_and(|previous| *previous < separator), "separator after what it ends");
            assert!(separator <= child.node.first_key(keys), "separator at or before what it begins");
            assert!(!fit_together(&inner.children[index - 1], child), "small neighbours are joined");
        }
        let (rows, height) = check_node(&child.node, keys, previous, false);
        assert_eq!(rows, child.rows);
        match &*child.node {
            Node::Leaf(leaf) => assert_eq!(leaf.len, child.size),
            Node::Inner(inner) => assert_eq!(inner.children.len(), child.size),
        }
        heights.push(height);
    }
    assert!(heights.windows(2).all(|pair| pair[0] == pair[1]), "leaves of one depth");
    let rows = inner.children.iter().map(|child| child.rows).sum();
    assert_eq!(inner.rows, rows);
    (rows, heights[0] + 1)
}

/// The numbers of rows of the leaves, in order.
pub fn leaf_sizes(tree: &Tree) -> Vec<usize> {
    fn collect(node: &Node, sizes: &mut Vec<usize>) {
        match node {
            Node::Leaf(leaf) => sizes.push(leaf.len),
            Node::Inner(inner) => inner.children.iter().for_each(|child| collect(&child.node, sizes)),
        }
    }
    let mut sizes = vec![];
    collect(&tree.root, &mut sizes);
    sizes
}

/// All nodes, by address.
pub fn nodes(tree: &Tree) -> Vec<*const Node> {
    fn collect(node: &Shared<Node>, nodes: &mut Vec<*const Node>) {
        nodes.push(Shared::as_ptr(node));
        if let Node::Inner(inner) = &**node {
            inner.children.iter().for_each(|child| collect(&child.node, nodes));
        }
    }
    let mut found = vec![];
    collect(&tree.root, &mut found);
    found
}
