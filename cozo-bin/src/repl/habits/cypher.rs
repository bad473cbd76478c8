//! Statements of Cypher about one path, in CozoScript.
//!
//! Labels of nodes and types of edges are taken for relations: the first column of a node's is its identity, the first two of
//! an edge's are where it comes from and where it leads.

use super::Written;
use super::catalog::{Catalog, add};
use crate::repl::tokens::{Kind, tokens};

const PATTERN: &str = "\
?[name] := *NODE{id: a, ...}, *EDGE{from: a, to: b}, *NODE{id: b, name}
# Any number of steps:
reached[b] := *EDGE{from: $start, to: b}
reached[b] := reached[a], *EDGE{from: a, to: b}
?[b] := reached[b]";

const CREATE_PATTERN: &str = "?[id, name] <- [[1, 'Ann']] :put NODE {id => name}";

/// How a statement is written here.
pub fn written(statement: &str, catalog: &Catalog<'_>) -> Written {
    let creates = statement.get(..5).is_none_or(|word| !word.eq_ignore_ascii_case("match"));
    match creates {
        true => Written { exact: None, pattern: CREATE_PATTERN },
        false => Written { exact: path(statement, catalog), pattern: PATTERN },
    }
}

/// `MATCH (a:X {k: v})-[:E]->(b) [WHERE ...] RETURN ... [LIMIT n]`.
fn path(statement: &str, catalog: &Catalog<'_>) -> Option<String> {
    let rest = statement.get(5..)?;
    let (pattern, rest) = split_word(rest, "return")?;
    let (returned, limit) = split_word(rest, "limit").map_or((rest, None), |(returned, limit)| (returned, Some(limit)));
    let (pattern, condition) =
        split_word(pattern, "where").map_or((pattern, None), |(pattern, condition)| (pattern, Some(condition)));
    let mut path = Path::parse(pattern.trim(), catalog)?;
    let head: Vec<String> = returned.split(',').map(|item| path.value(item.trim())).collect::<Option<_>>()?;
    let condition = condition.map(|condition| path.condition(condition));
    let atoms = path.atoms()?.into_iter().chain(condition).collect::<Vec<_>>().join(", ");
    let limit =
        limit.map_or(Some(String::new()), |limit| Some(format!("\n:limit {}", limit.trim().parse::<u64>().ok()?)))?;
    Some(format!("?[{}] := {atoms}{limit}", head.join(", ")))
}

/// What is before and behind a word.
fn split_word<'a>(text: &'a str, word: &str) -> Option<(&'a str, &'a str)> {
    let is_word = |piece: &str| piece.eq_ignore_ascii_case(word);
    let token =
        tokens(text).into_iter().find(|token| token.kind == Kind::Name && is_word(&text[token.place.clone()]))?;
    Some((&text[..token.place.start], &text[token.place.end..]))
}

/// A path of nodes and edges.
struct Path<'a> {
    catalog: &'a Catalog<'a>,
    nodes: Vec<Node>,
    /// The type of the edge behind each node but the last, and whether it leads backwards.
    edges: Vec<(String, bool)>,
}

struct Node {
    variable: String,
    label: Option<String>,
    /// Columns with a value or a variable each.
    bindings: Vec<String>,
}

impl<'a> Path<'a> {
    fn parse(pattern: &str, catalog: &'a Catalog<'a>) -> Option<Self> {
        let mut path = Path { catalog, nodes: vec![], edges: vec![] };
        let mut rest = pattern;
        loop {
            let (node, behind) = rest.trim_start().strip_prefix('(')?.split_once(')')?;
            let node = path.node(node)?;
            path.nodes.push(node);
            rest = behind.trim_start();
            if rest.is_empty() {
                return Some(path);
            }
            let (arrow, behind) = rest.split_once('(')?;
            let (left, inner) = arrow.trim().split_once('[')?;
            let (inner, right) = inner.split_once(']')?;
            let edge_type = inner.split_once(':').filter(|(_, name)| is_name(name.trim()))?.1.trim();
            let backwards = match (left.trim(), right.trim()) {
                ("-", "->") => false,
                ("<-", "-") => true,
                _ => return None,
            };
            path.edges.push((edge_type.to_string(), backwards));
            rest = &rest[rest.len() - behind.len() - 1..];
        }
    }

    /// `a`, `a:Label` or `a:Label {key: value}`.
    fn node(&self, text: &str) -> Option<Node> {
        let (before, properties) = text.split_once('{').map_or((text, None), |(before, rest)| (before, Some(rest)));
        let (variable, label) = before.split_once(':').map_or((before, None), |(name, label)| (name, Some(label)));
        let variable = match variable.trim() {
            "" => format!("n{}", self.nodes.len() + 1),
            name => name.to_lowercase(),
        };
        let properties = properties.map(|text| text.trim_end().strip_suffix('}')).map_or(Some(""), |inner| inner)?;
        let bindings =
            properties.split(',').map(str::trim).filter(|text| !text.is_empty()).map(str::to_string).collect();
        Some(Node { variable, label: label.map(|label| label.trim().to_string()), bindings })
    }

    /// A variable, a property of one, or an aggregation of these; a property is bound.
    fn value(&mut self, item: &str) -> Option<String> {
        if let Some((function, argument)) = item.split_once('(') {
            let argument = self.value(argument.strip_suffix(')')?.trim())?;
            return Some(format!("{}({argument})", function.trim().to_lowercase()));
        }
        match item.split_once('.') {
            Some((variable, column)) if is_name(column) => self.property(variable, column),
            None if is_name(item) => Some(item.to_lowercase()),
            _ => None,
        }
    }

    /// The variable for a property.
    fn property(&mut self, variable: &str, column: &str) -> Option<String> {
        let node = self.nodes.iter_mut().find(|node| node.variable.eq_ignore_ascii_case(variable))?;
        let value = format!("{}_{column}", node.variable);
        add(&mut node.bindings, &format!("{column}: {value}"));
        Some(value)
    }

    fn condition(&mut self, text: &str) -> String {
        let mut written = String::new();
        for token in tokens(text.trim()) {
            let piece = &text.trim()[token.place.clone()];
            let property = piece.split_once('.').filter(|_| token.kind == Kind::Name);
            match (property.and_then(|(variable, column)| self.property(variable, column)), piece) {
                (Some(value), _) => written.push_str(&value),
                (None, "=") if !written.ends_with(['<', '>', '!']) => written.push_str("=="),
                (None, piece) if piece.eq_ignore_ascii_case("and") => written.push_str("&&"),
                (None, piece) if piece.eq_ignore_ascii_case("or") => written.push_str("||"),
                (None, piece) => written.push_str(piece),
            }
        }
        written.replace("<>", "!=")
    }

    /// The relations of nodes and edges, in the order of the path.
    fn atoms(&self) -> Option<Vec<String>> {
        let mut atoms = vec![];
        for (index, node) in self.nodes.iter().enumerate() {
            if let Some(label) = &node.label {
                let relation = self.catalog.relation(label)?;
                let identity = format!("{}: {}", relation.columns.first()?, node.variable);
                let bindings =
                    std::iter::once(identity).chain(node.bindings.iter().cloned()).collect::<Vec<_>>().join(", ");
                atoms.push(format!("*{}{{{bindings}}}", relation.name));
            } else if !node.bindings.is_empty() {
                return None;
            }
            if let Some((name, backwards)) = self.edges.get(index) {
                let relation = self.catalog.relation(name)?;
                let [from, to, ..] = relation.columns.as_slice() else { return None };
                let (a, b) = (&node.variable, &self.nodes.get(index + 1)?.variable);
                let (a, b) = if *backwards { (b, a) } else { (a, b) };
                atoms.push(format!("*{}{{{from}: {a}, {to}: {b}}}", relation.name));
            }
        }
        Some(atoms)
    }
}

fn is_name(text: &str) -> bool {
    text.starts_with(|c: char| c.is_alphabetic()) && text.chars().all(|c| c.is_alphanumeric() || c == '_')
}
