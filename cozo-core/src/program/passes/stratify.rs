//! Stratification: groups mutually recursive predicates into components, and orders these so that each comes after the components
//! that it needs.
//!
//! An edge leads from a predicate to each predicate that it applies. It is *strict* if the applied predicate must be complete:
//! for a negation, an aggregation, an input of a fixed rule, or the `within` of a search. The components are the strongly connected ones. **A strict edge
//! within a component has no meaning and is refused**, except that a rule with meet aggregations may apply itself.

use rustc_hash::FxHashMap;

use super::negation::is_group;
use crate::budget::{self, Stop};
use crate::program::{Component, Definition, ENTRY, Predicate, Program, ProgramError, Target};
use crate::value::SmallStr;

/// Finds the components, and drops the predicates that the entry does not need.
pub fn stratify(mut program: Program) -> Result<Program, ProgramError> {
    let graph = Graph::of(&program)?;
    let components = graph.components();
    let mut component_of = vec![usize::MAX; graph.names.len()];
    for (number, members) in components.iter().enumerate() {
        members.iter().for_each(|member| component_of[*member] = number);
    }
    for (from, edges) in graph.edges.iter().enumerate() {
        for edge in edges {
            if let Some(why) = edge.strict
                && component_of[from] == component_of[edge.to]
                && component_of[from] != usize::MAX
            {
                let (from, to) = (&graph.names[from], &graph.names[edge.to]);
                let span = program.predicates[from].span;
                if is_group(to) || is_group(from) {
                    return Err(ProgramError::GroupInRecursion { span });
                }
                return Err(ProgramError::Unstratifiable { from: from.to_string(), to: to.to_string(), why, span });
            }
        }
    }
    program.components = components
        .iter()
        .map(|members| Component {
            predicates: members.iter().map(|member| graph.names[*member].clone()).collect(),
            recursive: graph.is_recursive(members),
        })
        .collect();
    let needed = component_of.iter().map(|component| *component != usize::MAX);
    let predicates = std::mem::take(&mut program.predicates).into_iter().zip(needed);
    program.predicates = predicates.filter(|(_, needed)| *needed).map(|(predicate, _)| predicate).collect();
    Ok(program)
}

/// Which predicate applies which.
struct Graph {
    names: Vec<SmallStr>,
    edges: Vec<Vec<Edge>>,
}

/// A predicate applies another; `strict` says why it needs the other complete, if it does.
struct Edge {
    to: usize,
    strict: Option<&'static str>,
}

impl Graph {
    fn of(program: &Program) -> Result<Graph, Stop> {
        let names: Vec<SmallStr> = program.predicates.keys().cloned().collect();
        let numbers: FxHashMap<&SmallStr, usize> = names.iter().enumerate().map(|(i, name)| (name, i)).collect();
        let predicates: Vec<&Predicate> = program.predicates.values().collect();
        let mut edges = vec![];
        for (from, predicate) in predicates.iter().enumerate() {
            budget::step(1)?;
            let mut here = vec![];
            if let Definition::Fixed(apply) = &predicate.definition {
                let edge = |input| Edge { to: numbers[input], strict: Some("a complete reading") };
                here.extend(apply.predicates().map(edge));
            }
            if let Definition::Rules(rules) = &predicate.definition {
                for atom in rules.iter().flat_map(|rule| &rule.body) {
                    if let Some(Target::Predicate(target)) = atom.applied().map(|apply| &apply.target) {
                        let to = numbers[target];
                        let joined = || strictness(predicate, predicates[to], from == to);
                        here.push(Edge { to, strict: atom.needs_complete().or_else(joined) });
                    }
                }
            }
            edges.push(here);
        }
        Ok(Graph { names, edges })
    }

    fn is_recursive(&self, members: &[usize]) -> bool {
        members.len() > 1 || self.edges[members[0]].iter().any(|edge| edge.to == members[0])
    }

    /// The components that the entry reaches, each after the components that it needs.
    fn components(&self) -> Vec<Vec<usize>> {
        let Some(entry) = self.names.iter().position(|name| name == ENTRY) else { return vec![] };
        components(self.names.len(), entry, |node, next| self.edges[node].get(next).map(|edge| edge.to))
    }
}

/// The strongly connected components that `root` reaches, each after the components that it needs (Tarjan 1972). An explicit
/// stack keeps a long chain of rules from exhausting the thread's stack. `target` is the target of the nth edge of a node.
pub(super) fn components(nodes: usize, root: usize, target: impl Fn(usize, usize) -> Option<usize>) -> Vec<Vec<usize>> {
    const UNSEEN: usize = usize::MAX;
    let mut order = vec![UNSEEN; nodes];
    let mut lowest = vec![UNSEEN; nodes];
    let mut open = vec![false; nodes];
    let (mut path, mut components, mut seen) = (vec![], vec![], 0);
    let mut calls: Vec<(usize, usize)> = vec![(root, 0)];
    while let Some((node, next)) = calls.pop() {
        if next == 0 {
            (order[node], lowest[node]) = (seen, seen);
            seen += 1;
            path.push(node);
            open[node] = true;
        }
        match target(node, next) {
            Some(to) => {
                calls.push((node, next + 1));
                if order[to] == UNSEEN {
                    calls.push((to, 0));
                } else if open[to] {
                    lowest[node] = lowest[node].min(order[to]);
                }
            }
            None => {
                if lowest[node] == order[node] {
                    let start = path.iter().rposition(|member| *member == node).expect("the node is on the path");
                    let members = path.split_off(start);
                    members.iter().for_each(|member| open[*member] = false);
                    components.push(members);
                }
                if let Some((parent, _)) = calls.last() {
                    lowest[*parent] = lowest[*parent].min(lowest[node]);
                }
            }
        }
    }
    components
}

/// Why a predicate needs the complete result of one that it joins, if it does. The two may be the same.
fn strictness(applier: &Predicate, applied: &Predicate, is_same: bool) -> Option<&'static str> {
    match applied.definition {
        Definition::Constant(_) => return Some("the constant rows"),
        Definition::Fixed(_) => return Some("the fixed rule"),
        Definition::Rules(_) => {}
    }
    if is_same && applier.is_meet() {
        return None;
    }
    (applier.is_aggregated() || applied.is_aggregated()).then_some("an aggregation")
}
