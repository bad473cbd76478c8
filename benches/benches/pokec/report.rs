//! What criterion does not print: measurements of few runs, queries a second side by side, and memory.

use std::fmt::Write;
use std::time::Duration;

use cozo_benches::figures::Figures;
use cozo_benches::memory::{Memory, memory, reset_peak};

/// What is printed at the end.
#[derive(Default)]
pub struct Report {
    runs: Vec<Run>,
    throughputs: Vec<Throughput>,
    peaks: Vec<Peak>,
}

/// Something that was measured a few times.
struct Run {
    id: String,
    median: Duration,
    /// How many rows it went through, where it is about rows.
    rows: Option<usize>,
}

struct Throughput {
    name: String,
    threads: usize,
    queries_per_second: f64,
}

/// The memory of a group: what was there when its first measurement began, and the peak over all of them.
struct Peak {
    group: String,
    before_mb: f64,
    peak_mb: f64,
}

/// Counts the peak of memory from its making on.
pub struct Watch(Option<Memory>);

/// Begins to count the peak of memory.
pub fn watch() -> Watch {
    reset_peak();
    Watch(memory())
}

impl Report {
    /// Adds something that was measured a few times.
    pub fn run(&mut self, id: &str, mut durations: Vec<Duration>, rows: Option<usize>) {
        durations.sort_unstable();
        if let Some(median) = durations.get(durations.len() / 2) {
            self.runs.push(Run { id: id.to_string(), median: *median, rows });
        }
    }

    /// Adds how many queries were answered each second.
    pub fn throughput(&mut self, name: &str, threads: usize, queries_per_second: f64) {
        self.throughputs.push(Throughput { name: name.to_string(), threads, queries_per_second });
    }

    /// Adds the peak of memory since a watch was made.
    pub fn peak(&mut self, group: &str, watch: &Watch) {
        let (Some(before), Some(after)) = (watch.0, memory()) else { return };
        match self.peaks.iter_mut().find(|peak| peak.group == group) {
            Some(peak) => peak.peak_mb = peak.peak_mb.max(after.peak_mb),
            None => {
                self.peaks.push(Peak { group: group.to_string(), before_mb: before.now_mb, peak_mb: after.peak_mb })
            }
        }
    }

    /// All that was measured, as that of a system.
    pub fn figures(&self, title: &str, system: &str) -> Figures {
        let mut figures = Figures::new("pokec", title);
        for run in &self.runs {
            match run.rows {
                Some(rows) => figures.add(system, &run.id, "rows/s", rows as f64 / run.median.as_secs_f64()),
                None => figures.add(system, &run.id, "ms", run.median.as_secs_f64() * 1e3),
            }
        }
        for throughput in &self.throughputs {
            let test = format!("{}, threads {}", throughput.name, throughput.threads);
            figures.add(system, &test, "queries/s", throughput.queries_per_second);
        }
        let peak = self.peaks.iter().map(|peak| peak.peak_mb).reduce(f64::max);
        peak.into_iter().for_each(|peak_mb| figures.add(system, "peak of memory", "MB", peak_mb));
        figures
    }

    /// The tables.
    pub fn render(&self, title: &str) -> String {
        let mut text = format!("\n{title}\n");
        self.render_runs(&mut text);
        self.render_throughputs(&mut text);
        self.render_peaks(&mut text);
        text
    }

    fn render_runs(&self, text: &mut String) {
        for (place, run) in self.runs.iter().enumerate() {
            if place == 0 {
                line(text, format_args!("\n{:<32} {:>14} {:>14}", "runs", "median ms", "rows/s"));
            }
            let rate = run.rows.map_or(String::new(), |rows| format!("{:.0}", rows as f64 / run.median.as_secs_f64()));
            line(text, format_args!("{:<32} {:>14.3} {rate:>14}", run.id, run.median.as_secs_f64() * 1e3));
        }
    }

    /// A row for each name, a column for each number of threads.
    fn render_throughputs(&self, text: &mut String) {
        let mut threads: Vec<usize> = self.throughputs.iter().map(|throughput| throughput.threads).collect();
        threads.sort_unstable();
        threads.dedup();
        let names = self.throughputs.chunk_by(|left, right| left.name == right.name);
        for (place, of_name) in names.enumerate() {
            if place == 0 {
                let heads: Vec<String> =
                    threads.iter().map(|number| format!("{:>14}", format!("{number} thr."))).collect();
                line(text, format_args!("\n{:<32} {}", "queries/s", heads.join(" ")));
            }
            let cell = |number: &usize| {
                let found = of_name.iter().find(|throughput| throughput.threads == *number);
                found.map_or(format!("{:>14}", ""), |found| format!("{:>14.0}", found.queries_per_second))
            };
            let cells: Vec<String> = threads.iter().map(cell).collect();
            line(text, format_args!("{:<32} {}", of_name[0].name, cells.join(" ")));
        }
    }

    fn render_peaks(&self, text: &mut String) {
        for (place, peak) in self.peaks.iter().enumerate() {
            if place == 0 {
                line(text, format_args!("\n{:<32} {:>14} {:>14}", "memory of the process, MB", "before", "peak"));
            }
            line(text, format_args!("{:<32} {:>14.1} {:>14.1}", peak.group, peak.before_mb, peak.peak_mb));
        }
    }
}

fn line(text: &mut String, content: std::fmt::Arguments<'_>) {
    writeln!(text, "{content}").expect("text takes text");
}
