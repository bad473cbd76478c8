//! Reading the case files.

use std::collections::BTreeSet;
use std::path::Path;

use serde_json::Value;

/// A file of cases with the recorded answers.
pub struct Area {
    pub name: String,
    pub cases: Vec<Case>,
}

/// Steps that run one after the other against one fresh database.
#[derive(Clone)]
pub struct Case {
    pub name: String,
    pub steps: Vec<Step>,
}

/// A script or a call of the API, with what it must answer.
#[derive(Clone, Debug, Default)]
pub struct Step {
    pub script: String,
    pub expected: Value,
    /// The call of the API that this step is, instead of a script.
    pub op: Option<String>,
    /// The argument of the call.
    pub arg: Value,
    /// The name of the file or the transaction that the call is about.
    pub name: Option<String>,
    pub params: Value,
    pub tolerance: Option<f64>,
    pub ignored_columns: Vec<usize>,
    pub bag_columns: Vec<usize>,
    /// What `::explain` must name, with `_` for spaces.
    pub plan: Vec<String>,
    words: BTreeSet<String>,
}

const WORDS: &[&str] = &["code", "count", "err", "exact", "headers", "immutable", "loosenum", "nocheck", "ok", "set"];

impl Step {
    /// A step from its flags and its script.
    pub fn parse(flags: &str, script: &str) -> Step {
        let mut step = Step { script: script.to_string(), ..Step::default() };
        let mut rest = flags.trim();
        while !rest.is_empty() {
            let json = ["params=", "arg="].into_iter().find_map(|key| Some((key, rest.strip_prefix(key)?)));
            if let Some((key, text)) = json {
                let value = serde_json::from_str(text).unwrap_or_else(|error| panic!("bad JSON in '{rest}': {error}"));
                *(if key == "arg=" { &mut step.arg } else { &mut step.params }) = value;
                break;
            }
            let (flag, after) = rest.split_once(char::is_whitespace).unwrap_or((rest, ""));
            step.set(flag);
            rest = after.trim_start();
        }
        step
    }

    fn set(&mut self, flag: &str) {
        let columns =
            |text: &str| text.split(',').map(|column| column.parse().expect("a column is a number")).collect();
        match flag.split_once('=') {
            Some(("tol", text)) => self.tolerance = Some(text.parse().expect("a tolerance is a number")),
            Some(("ignore", text)) => self.ignored_columns = columns(text),
            Some(("bag", text)) => self.bag_columns = columns(text),
            Some(("plan", text)) => self.plan = text.split(',').map(str::to_string).collect(),
            Some(("op", text)) => self.op = Some(text.to_string()),
            Some(("name", text)) => self.name = Some(text.to_string()),
            Some(("write", text)) => {
                if text == "true" {
                    self.words.insert("write".to_string());
                }
            }
            None if WORDS.contains(&flag) => {
                self.words.insert(flag.to_string());
            }
            _ => panic!("unknown flag '{flag}'"),
        }
    }

    /// Whether a flag without a value is set.
    pub fn has(&self, word: &str) -> bool {
        self.words.contains(word)
    }
}

impl Area {
    /// Reads an area with its answers.
    pub fn load(folder: &Path, name: &str) -> Area {
        let read = |suffix: &str| {
            let path = folder.join(format!("{name}{suffix}"));
            std::fs::read_to_string(&path).unwrap_or_else(|error| panic!("{}: {error}", path.display()))
        };
        let mut cases = parse_cases(&read(".cases"));
        let answers: Value = serde_json::from_str(&read(".expect.json")).expect("the answers are JSON");
        for case in &mut cases {
            let answers = answers["cases"][&case.name].as_array();
            let answers = answers.unwrap_or_else(|| panic!("{name}/{} has no answers", case.name));
            assert_eq!(answers.len(), case.steps.len(), "{name}/{} has an answer for every step", case.name);
            case.steps.iter_mut().zip(answers).for_each(|(step, answer)| step.expected = answer.clone());
        }
        Area { name: name.to_string(), cases }
    }
}

/// The areas in a folder.
pub fn area_names(folder: &Path) -> BTreeSet<String> {
    let files = std::fs::read_dir(folder).expect("the folder of the cases can be read");
    let names = files.filter_map(|file| file.ok()?.file_name().into_string().ok());
    names.filter_map(|name| Some(name.strip_suffix(".cases")?.to_string())).collect()
}

/// The cases of a file; [`Step::expected`] is empty as yet.
fn parse_cases(text: &str) -> Vec<Case> {
    let mut cases: Vec<Case> = Vec::new();
    let mut pending = Pending::default();
    for line in text.lines().filter(|line| !line.starts_with("#:")) {
        if let Some(title) = line.strip_prefix("=== ") {
            pending.finish(&mut cases);
            let name = title.split_whitespace().next().expect("a case has a name").to_string();
            cases.push(Case { name, steps: Vec::new() });
        } else if let Some(flags) = line.strip_prefix("---") {
            pending.finish(&mut cases);
            pending.flags = flags.to_string();
        } else if let Some((flags, expr)) = shorthand(line).filter(|_| pending.is_blank()) {
            let steps = &mut cases.last_mut().expect("a step follows the name of its case").steps;
            steps.push(Step::parse(flags, &format!("?[r] := r = {expr}")));
        } else {
            pending.lines.push(line);
        }
    }
    pending.finish(&mut cases);
    cases
}

/// The flags and the expression of a step in one line.
fn shorthand(line: &str) -> Option<(&'static str, &str)> {
    let table = [("= ", ""), ("! ", "err"), ("~ ", "tol=1e-6")];
    table.into_iter().find_map(|(sign, flags)| Some((flags, line.strip_prefix(sign)?)))
}

/// The step whose lines are being gathered.
#[derive(Default)]
struct Pending<'a> {
    flags: String,
    lines: Vec<&'a str>,
}

impl Pending<'_> {
    fn is_blank(&self) -> bool {
        self.lines.iter().all(|line| line.trim().is_empty())
    }

    /// Adds the step to the last case, unless there is nothing in it.
    fn finish(&mut self, cases: &mut [Case]) {
        let Pending { flags, lines } = std::mem::take(self);
        let script = lines.join("\n");
        let step = Step::parse(&flags, script.trim_matches('\n'));
        if step.op.is_some() || !script.trim().is_empty() {
            cases.last_mut().expect("a step follows the name of its case").steps.push(step);
        }
    }
}
