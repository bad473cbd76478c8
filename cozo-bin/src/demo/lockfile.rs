//! `Cargo.lock` as rows: crates, and which needs which.

use std::collections::HashMap;
use std::path::Path;

use cozo::DataValue;
use serde::Deserialize;

use super::text;
use crate::error::CliError;

/// The rows of the two relations.
pub struct Graph {
    /// `name, version, source`.
    pub crates: Vec<Vec<DataValue>>,
    /// `name, version, dep_name, dep_version`.
    pub depends: Vec<Vec<DataValue>>,
}

#[derive(Deserialize)]
struct Lockfile {
    #[serde(default)]
    package: Vec<Package>,
}

#[derive(Deserialize)]
struct Package {
    name: String,
    version: String,
    source: Option<String>,
    #[serde(default)]
    dependencies: Vec<String>,
}

/// Reads the lock file.
pub fn read(path: &Path) -> Result<Graph, CliError> {
    let content = std::fs::read_to_string(path).map_err(CliError::reading(path))?;
    parse(&content).map_err(|reason| CliError::Lockfile { path: path.display().to_string(), reason })
}

fn parse(content: &str) -> Result<Graph, String> {
    let lockfile: Lockfile = toml::from_str(content).map_err(|error| error.message().to_string())?;
    if lockfile.package.is_empty() {
        return Err("there are no packages in it".to_string());
    }
    // Where there is one version only, dependencies are given by name.
    let versions: HashMap<&str, &str> =
        lockfile.package.iter().map(|package| (package.name.as_str(), package.version.as_str())).collect();
    let mut graph = Graph { crates: vec![], depends: vec![] };
    for package in &lockfile.package {
        let source = package.source.as_deref().map_or(DataValue::Null, text);
        graph.crates.push(vec![text(&package.name), text(&package.version), source]);
        for dependency in &package.dependencies {
            let mut words = dependency.split(' ');
            let name = words.next().unwrap_or_default();
            let version = words.next().or_else(|| versions.get(name).copied());
            let version = version.ok_or_else(|| format!("'{name}' is needed, but not there"))?;
            graph.depends.push(vec![text(&package.name), text(&package.version), text(name), text(version)]);
        }
    }
    Ok(graph)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn versions_are_found_where_they_are_not_written() {
        let content = r#"
            version = 4
            [[package]]
            name = "a"
            version = "1.0.0"
            dependencies = ["b", "c 2.0.0 (registry)"]
            [[package]]
            name = "b"
            version = "0.1.0"
            source = "registry"
        "#;
        let graph = parse(content).expect("it parses");
        assert_eq!(graph.crates[1], ["b", "0.1.0", "registry"].map(text));
        assert_eq!(graph.depends, [["a", "1.0.0", "b", "0.1.0"].map(text), ["a", "1.0.0", "c", "2.0.0"].map(text)]);
        assert!(parse("[[package]]\nname = \"a\"\nversion = \"1\"\ndependencies = [\"x\"]").is_err());
        assert!(parse("").is_err());
    }
}
