//! Figures of benches that time whole workloads: a table of all systems side by side, and lines of JSON for the report.
//!
//! ```
//! let mut figures = cozo_benches::figures::Figures::new("social", "10 writers");
//! figures.add("mem", "write post", "ms", 0.25);
//! figures.add("agdb", "write post", "ms", 0.5);
//! (1..=2).for_each(|round| figures.add("agdb", "write post", "ms", f64::from(round) / 100.0));
//! figures.take_medians();
//! let table = figures.table();
//! assert!(table.lines().any(|line| line.split_whitespace().eq(["write", "post,", "ms", "0.250", "0.020"])), "{table}");
//! ```

use std::fmt::Write as _;
use std::fs::OpenOptions;
use std::io::Write as _;
use std::path::Path;

use serde_json::json;

use crate::settings::setting;

/// What was measured in one run of one bench.
pub struct Figures {
    bench: &'static str,
    title: String,
    figures: Vec<Figure>,
}

struct Figure {
    system: String,
    test: String,
    unit: &'static str,
    value: f64,
}

impl Figures {
    /// None yet. The title says how large the workload is.
    pub fn new(bench: &'static str, title: impl Into<String>) -> Figures {
        Figures { bench, title: title.into(), figures: Vec::new() }
    }

    /// Adds what a system needed for a test.
    pub fn add(&mut self, system: &str, test: &str, unit: &'static str, value: f64) {
        self.figures.push(Figure { system: system.to_string(), test: test.to_string(), unit, value });
    }

    /// Keeps of the figures of a system for a test the median, in place of the first.
    pub fn take_medians(&mut self) {
        let mut medians: Vec<(Figure, Vec<f64>)> = vec![];
        for figure in std::mem::take(&mut self.figures) {
            let is_same =
                |(other, _): &&mut (Figure, Vec<f64>)| (&other.system, &other.test) == (&figure.system, &figure.test);
            match medians.iter_mut().find(is_same) {
                Some((_, values)) => values.push(figure.value),
                None => {
                    let values = vec![figure.value];
                    medians.push((figure, values));
                }
            }
        }
        self.figures = medians.into_iter().map(|(figure, values)| Figure { value: median(values), ..figure }).collect();
    }

    /// A row for each test, a column for each system.
    pub fn table(&self) -> String {
        let (mut systems, mut tests) = (Vec::new(), Vec::new());
        for figure in &self.figures {
            let test = (figure.test.as_str(), figure.unit);
            (!systems.contains(&figure.system.as_str())).then(|| systems.push(&figure.system));
            (!tests.contains(&test)).then(|| tests.push(test));
        }
        let mut text = format!("\n{}: {}\n\n{:<44}", self.bench, self.title, "");
        systems.iter().for_each(|system| write(&mut text, format_args!(" {system:>14}")));
        for (test, unit) in tests {
            write(&mut text, format_args!("\n{:<44}", format!("{test}, {unit}")));
            for system in &systems {
                let of_test =
                    |figure: &&Figure| figure.system == *system && (figure.test.as_str(), figure.unit) == (test, unit);
                let cell = self.figures.iter().find(of_test).map_or(String::new(), |figure| shown(figure.value));
                write(&mut text, format_args!(" {cell:>14}"));
            }
        }
        text + "\n"
    }

    /// Prints the table, and what [`Figures::record`] does.
    pub fn publish(&self) -> Result<(), String> {
        println!("{}", self.table());
        self.record()
    }

    /// Appends a line of JSON for each figure to the file `COZO_BENCH_JSON`, if there is one.
    pub fn record(&self) -> Result<(), String> {
        setting("JSON").map_or(Ok(()), |path| self.append_to(Path::new(&path)))
    }

    /// Appends a line of JSON for each figure to a file.
    pub fn append_to(&self, path: &Path) -> Result<(), String> {
        let lines: String = self.figures.iter().map(|figure| self.json(figure)).collect();
        let file = OpenOptions::new().create(true).append(true).open(path);
        file.and_then(|mut file| file.write_all(lines.as_bytes()))
            .map_err(|error| format!("{} cannot be written: {error}", path.display()))
    }

    fn json(&self, figure: &Figure) -> String {
        let line = json!({
            "bench": self.bench, "title": self.title, "system": figure.system,
            "test": figure.test, "unit": figure.unit, "value": figure.value,
        });
        format!("{line}\n")
    }
}

/// The middle one of some values.
fn median(mut values: Vec<f64>) -> f64 {
    values.sort_by(f64::total_cmp);
    values[values.len() / 2]
}

/// Three digits behind the point, unless the number is large anyhow.
fn shown(value: f64) -> String {
    if value.abs() < 1000.0 { format!("{value:.3}") } else { format!("{value:.0}") }
}

fn write(text: &mut String, content: std::fmt::Arguments<'_>) {
    text.write_fmt(content).expect("text takes text");
}
