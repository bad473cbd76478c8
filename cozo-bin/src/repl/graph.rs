//! Edges as text: each node above the nodes that it leads to.

use std::collections::{HashMap, HashSet};

use cozo::{DataValue, NamedRows};

use crate::error::CliError;
use crate::output;

/// More lines are counted, but not drawn.
const MAX_LINES: usize = 200;

/// Draws the edges that the first two columns of the rows are. What was drawn before is marked instead of drawn again.
pub fn draw(rows: &NamedRows) -> Result<String, CliError> {
    if rows.headers.len() < 2 {
        return Err(CliError::Usage(
            "a graph needs two columns: where edges come from, and where they lead".to_string(),
        ));
    }
    let mut drawing = Drawing::new(rows);
    let targets: HashSet<&DataValue> = rows.rows.iter().map(|row| &row[1]).collect();
    let (roots, others): (Vec<_>, Vec<_>) =
        rows.rows.iter().map(|row| &row[0]).partition(|node| !targets.contains(node));
    // What no root leads to lies on a cycle, or behind one.
    for node in roots.into_iter().chain(others) {
        if !drawing.drawn.contains(node) {
            drawing.node(node, "", "", "");
        }
    }
    Ok(drawing.finish(rows.rows.len()))
}

struct Drawing<'a> {
    leads_to: HashMap<&'a DataValue, Vec<&'a DataValue>>,
    drawn: HashSet<&'a DataValue>,
    lines: Vec<String>,
    edges: usize,
}

impl<'a> Drawing<'a> {
    fn new(rows: &'a NamedRows) -> Self {
        let mut leads_to = HashMap::<_, Vec<_>>::new();
        rows.rows.iter().for_each(|row| leads_to.entry(&row[0]).or_default().push(&row[1]));
        Drawing { leads_to, drawn: HashSet::new(), lines: vec![], edges: 0 }
    }

    /// Draws a node and what it leads to; the depth is bounded by the number of lines.
    fn node(&mut self, node: &'a DataValue, indent: &str, branch: &str, below: &str) {
        if self.lines.len() >= MAX_LINES {
            return;
        }
        let is_new = self.drawn.insert(node);
        let targets = self.leads_to.get(node).cloned().unwrap_or_default();
        let mark = if is_new || targets.is_empty() { "" } else { " …" };
        self.lines.push(format!("{indent}{branch}{}{mark}", label(node)));
        self.edges += usize::from(!branch.is_empty());
        if !is_new {
            return;
        }
        let indent = format!("{indent}{below}");
        for (position, target) in targets.iter().enumerate() {
            match position + 1 == targets.len() {
                true => self.node(target, &indent, "└── ", "    "),
                false => self.node(target, &indent, "├── ", "│   "),
            }
        }
    }

    fn finish(mut self, edges: usize) -> String {
        if self.edges < edges {
            let hidden = output::count(edges - self.edges, "more edge");
            self.lines.push(format!("… and {hidden}"));
        }
        self.lines.join("\n")
    }
}

/// Strings as they are, everything else as in a script; on one line.
fn label(node: &DataValue) -> String {
    let text = node.get_str().map_or_else(|| node.to_string(), str::to_string);
    text.replace(|c: char| c.is_control(), " ")
}

#[cfg(test)]
mod tests {
    use super::*;

    fn drawn(edges: &[(&str, &str)]) -> String {
        let rows = edges.iter().map(|(from, to)| vec![DataValue::from(*from), DataValue::from(*to)]);
        draw(&NamedRows::new(vec!["a".into(), "b".into()], rows.collect())).expect("it has two columns")
    }

    #[test]
    fn trees_hang_below_their_roots() {
        let expected = "a\n├── b\n│   └── c\n└── d\ne\n└── b …";
        assert_eq!(drawn(&[("a", "b"), ("a", "d"), ("b", "c"), ("e", "b")]), expected);
    }

    #[test]
    fn cycles_end() {
        assert_eq!(drawn(&[("a", "b"), ("b", "a")]), "a\n└── b\n    └── a …");
        assert_eq!(drawn(&[("a", "a")]), "a\n└── a …");
    }

    #[test]
    fn long_graphs_are_cut() {
        let nodes: Vec<String> = (0..1000).map(|n| format!("{n:04}")).collect();
        let edges: Vec<(&str, &str)> = nodes.iter().zip(&nodes[1..]).map(|(a, b)| (a.as_str(), b.as_str())).collect();
        let text = drawn(&edges);
        assert_eq!(text.lines().count(), MAX_LINES + 1);
        assert!(text.ends_with("… and 800 more edges"), "{text}");
    }
}
