//! The numbers of the demonstration against a computation without the database.

mod support;

use std::collections::{BTreeMap, BTreeSet, VecDeque};

use support::{cozo, cozo_with_input, scratch};

const LOCKFILE: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/../Cargo.lock");

type Crate = (String, String);

/// The graph, read line by line: who needs whom, by name and version.
fn graph() -> BTreeMap<Crate, Vec<Crate>> {
    let content = std::fs::read_to_string(LOCKFILE).expect("there is a lock file");
    let mut packages = Vec::<(Crate, Vec<String>)>::new();
    for line in content.lines() {
        let quoted = || line.split('"').nth(1).expect("a string in quotes").to_string();
        match line {
            "[[package]]" => packages.push(Default::default()),
            _ if line.starts_with("name = ") => packages.last_mut().expect("a package").0.0 = quoted(),
            _ if line.starts_with("version = \"") => packages.last_mut().expect("a package").0.1 = quoted(),
            _ if line.starts_with(" \"") => packages.last_mut().expect("a package").1.push(quoted()),
            _ => {}
        }
    }
    let all: Vec<Crate> = packages.iter().map(|(package, _)| package.clone()).collect();
    let find = |needed: &String| {
        let (name, version) = needed.split_once(' ').unwrap_or((needed, ""));
        let fits = |package: &&Crate| package.0 == name && (version.is_empty() || package.1 == version);
        all.iter().find(fits).expect("the needed crate is there").clone()
    };
    packages.iter().map(|(package, needs)| (package.clone(), needs.iter().map(find).collect())).collect()
}

/// The distance of all that can be reached from some starts, themselves included.
fn distances<T: Ord + Clone>(starts: Vec<T>, next: impl Fn(&T) -> Vec<T>) -> BTreeMap<T, usize> {
    let mut found: BTreeMap<T, usize> = starts.iter().map(|start| (start.clone(), 0)).collect();
    let mut queue = VecDeque::from(starts);
    while let Some(at) = queue.pop_front() {
        let distance = found[&at] + 1;
        for neighbor in next(&at) {
            if !found.contains_key(&neighbor) {
                found.insert(neighbor.clone(), distance);
                queue.push_back(neighbor);
            }
        }
    }
    found
}

/// Crate names with the names that they need.
fn by_name(graph: &BTreeMap<Crate, Vec<Crate>>) -> BTreeMap<String, BTreeSet<String>> {
    let mut names = BTreeMap::<String, BTreeSet<String>>::new();
    for ((name, _), needs) in graph {
        names.entry(name.clone()).or_default().extend(needs.iter().map(|(needed, _)| needed.clone()));
    }
    names
}

/// The rows of the answer to the question whose title has these words, by cells.
fn answer(output: &str, title: &str) -> Vec<Vec<String>> {
    let section = output.split("\n\n").find(|section| section.lines().next().is_some_and(|line| line.contains(title)));
    let rows = section.expect("the question is asked").lines().skip_while(|line| !line.starts_with('╞')).skip(1);
    let cells = |line: &str| line.trim_matches('│').split('┆').map(|cell| cell.trim().to_string()).collect();
    rows.take_while(|line| line.starts_with('│')).map(cells).collect()
}

#[test]
fn the_numbers_are_right() {
    let output = cozo(&["demo", LOCKFILE]).succeeded();
    let graph = graph();
    let edges: usize = graph.values().map(Vec::len).sum();
    let loaded = format!("{} crates and {edges} dependency edges loaded", graph.len());
    assert!(output.replace(',', "").contains(&loaded), "'{loaded}' in {output}");

    let roots: Vec<Crate> = graph.keys().filter(|(name, _)| name == "cozo").cloned().collect();
    let direct: usize = roots.iter().map(|root| graph[root].len()).sum();
    assert!(output.contains(&format!("of {direct} rows")), "{output}");
    let needed = distances(roots, |at| graph[at].clone());
    assert_eq!(answer(&output, "need in the end"), [[(needed.len() - 1).to_string()]]);

    let names = by_name(&graph);
    let steps = distances(vec!["cozo".to_string()], |at| names[at].iter().cloned().collect());
    assert_eq!(counted(&answer(&output, "at which distance")), histogram(steps.values()));
    assert_eq!(answer(&output, "The shortest way")[0][0].split(' ').count(), steps["libc"] + 1);

    let users =
        |at: &String| names.iter().filter(|(_, needs)| needs.contains(at)).map(|(name, _)| name.clone()).collect();
    let broken = distances(vec!["libc".to_string()], users);
    assert_eq!(counted(&answer(&output, "libc vanished")), histogram(broken.values().filter(|steps| **steps > 0)));
    assert!(answer(&output, "need each other").is_empty());
}

/// How many have each distance.
fn histogram<'a>(steps: impl Iterator<Item = &'a usize>) -> BTreeMap<usize, usize> {
    let mut counts = BTreeMap::new();
    steps.for_each(|step| *counts.entry(*step).or_default() += 1);
    counts
}

/// The first two columns as numbers.
fn counted(rows: &[Vec<String>]) -> BTreeMap<usize, usize> {
    let number = |cell: &String| cell.parse().expect("it is a number");
    rows.iter().filter(|row| !row[0].is_empty()).map(|row| (number(&row[0]), number(&row[1]))).collect()
}

#[test]
fn the_most_needed_crates_are_right() {
    let output = cozo(&["demo", LOCKFILE]).succeeded();
    let names = by_name(&graph());
    let mut users = BTreeMap::<String, usize>::new();
    for name in names.keys() {
        let needs = distances(vec![name.clone()], |at| names[at].iter().cloned().collect());
        needs.into_keys().filter(|needed| needed != name).for_each(|needed| *users.entry(needed).or_default() += 1);
    }
    for row in answer(&output, "most others need") {
        assert_eq!(users[&row[0]].to_string(), row[1], "{}", row[0]);
    }
}

#[test]
fn the_repl_goes_on_with_the_data() {
    let output =
        cozo_with_input(&["demo", LOCKFILE, "--repl"], "?[total] := total = 41 + 1\n::columns depends\n").succeeded();
    assert!(output.contains("│    42 │"), "{output}");
    assert!(output.contains("\"dep_version\""), "{output}");
}

#[test]
fn other_files_are_refused() {
    let directory = scratch("lockfile");
    cozo(&["demo", &directory.file("Cargo.lock", "not toml")]).failed("cli::lockfile");
    cozo(&["demo", &directory.path("nowhere")]).failed("cannot read");
}
