//! The questions of the demonstration.
//!
//! `ROOT` and `BASE` stand for two crates of the graph, see [`Subjects`].

use std::collections::HashMap;

use cozo::DataValue;

use super::lockfile::Graph;

/// A question in words and in CozoScript.
pub struct Query {
    /// In words.
    pub title: &'static str,
    /// In CozoScript.
    pub script: &'static str,
}

/// All questions, from plain joins to recursion through aggregations.
pub const QUERIES: &[Query] = &[
    Query {
        title: "What does ROOT ask for itself?",
        script: "\
?[dep_name, dep_version] := *depends{name: 'ROOT', dep_name, dep_version}",
    },
    Query {
        title: "How many crates does ROOT need in the end? Rules may use themselves.",
        script: "\
need[n, v] := *depends{name: 'ROOT', dep_name: n, dep_version: v}
need[n, v] := need[m, w], *depends{name: m, version: w, dep_name: n, dep_version: v}
?[count(n)] := need[n, v]",
    },
    Query {
        title: "If BASE vanished, what would break, and how many steps away?",
        script: "\
broken[n, min(d)] := *depends{name: n, dep_name: 'BASE'}, d = 1
broken[n, min(d)] := broken[m, e], *depends{name: n, dep_name: m}, d = e + 1
?[steps, count(crate), collect(crate, 4)] := broken[crate, steps]",
    },
    Query {
        title: "Which crates do most others need?",
        script: "\
need[a, b] := *depends{name: a, dep_name: b}
need[a, c] := need[a, b], *depends{name: b, dep_name: c}
?[crate, count(user)] := need[user, crate], user != crate
:order -count(user), crate",
    },
    Query {
        title: "The longest chain: the deepest of the paths that each crate keeps",
        script: "\
chain[n, min_cost(c)] := *crate{name: n}, c = [[n], 0]
chain[n, min_cost(c)] := chain[m, d], *depends{name: n, dep_name: m}, not is_in(n, first(d)), c = [prepend(first(d), n), last(d) - 1]
?[length, path] := chain[_, c], length = 1 - last(c), path = first(c)
:order -length :limit 1",
    },
    Query {
        title: "The shortest way from ROOT to BASE",
        script: "\
way[n, shortest(p)] := *depends{name: 'ROOT', dep_name: n}, p = ['ROOT', n]
way[n, shortest(p)] := way[m, q], *depends{name: m, dep_name: n}, p = append(q, n)
?[path] := way['BASE', path]",
    },
    Query {
        title: "How many crates first come in at which distance from ROOT?",
        script: "\
distance[n, min(d)] := n = 'ROOT', d = 0
distance[n, min(d)] := distance[m, e], *depends{name: m, dep_name: n}, d = e + 1
?[steps, count(crate), collect(crate, 4)] := distance[crate, steps]",
    },
    Query {
        title: "Which crates are there in several versions?",
        script: "\
all[name, count(version), collect(version)] := *crate{name, version}
?[name, versions] := all[name, n, versions], n > 1",
    },
    Query {
        title: "Do any two crates need each other? A join of a recursive rule with itself; no rows is good news.",
        script: "\
need[a, v, b, w] := *depends{name: a, version: v, dep_name: b, dep_version: w}
need[a, v, c, x] := need[a, v, b, w], *depends{name: b, version: w, dep_name: c, dep_version: x}
?[a, b] := need[a, v, b, w], need[b, w, a, v]",
    },
    Query {
        title: "What comes into ROOT through one of its dependencies alone? Negation of what others bring.",
        script: "\
direct[d] := *depends{name: 'ROOT', dep_name: d}
brings[d, d] := direct[d]
brings[d, c] := brings[d, b], *depends{name: b, dep_name: c}
shared[d, c] := brings[d, c], brings[e, c], d != e
?[dependency, count(crate)] := brings[dependency, crate], not shared[dependency, crate]
:order -count(crate), dependency",
    },
    Query {
        title: "Which crates does exactly one other need?",
        script: "\
users[n, count_unique(user)] := *depends{name: user, dep_name: n}
?[name, user] := users[name, 1], *depends{name: user, dep_name: name}",
    },
    Query {
        title: "Which crates stand on their own feet?",
        script: "\
?[name] := *crate{name}, not *depends{name}",
    },
    Query {
        title: "And which does nobody need: where does the graph begin?",
        script: "\
?[name, version] := *crate{name, version}, not *depends{dep_name: name, dep_version: version}",
    },
];

/// The crates that the questions are about.
pub struct Subjects {
    /// Where the graph begins: the crate `cozo`, else the first without a source.
    root: String,
    /// What much rests on: the crate `libc`, else the one that most crates ask for.
    base: String,
}

impl Subjects {
    /// Chooses two crates of the graph.
    pub fn choose(graph: &Graph) -> Self {
        let name = |row: &Vec<DataValue>, column: usize| row[column].get_str().unwrap_or_default().to_string();
        let known = |wanted: &str| graph.crates.iter().any(|row| row[0].get_str() == Some(wanted));
        let own = graph.crates.iter().find(|row| row[2] == DataValue::Null).or(graph.crates.first());
        let mut users = HashMap::<String, usize>::new();
        graph.depends.iter().for_each(|row| *users.entry(name(row, 2)).or_default() += 1);
        let most = users.into_iter().max_by(|a, b| a.1.cmp(&b.1).then(b.0.cmp(&a.0)));
        Subjects {
            root: if known("cozo") { "cozo".to_string() } else { own.map_or(String::new(), |row| name(row, 0)) },
            base: if known("libc") { "libc".to_string() } else { most.map_or(String::new(), |(name, _)| name) },
        }
    }

    /// The text with the names of the crates.
    pub fn put_into(&self, text: &str) -> String {
        text.replace("ROOT", &self.root).replace("BASE", &self.base)
    }
}
