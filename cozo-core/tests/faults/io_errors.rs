//! A call fails, once or for ever: the process goes on, and all that it acknowledged is there afterwards.

use rand::rngs::StdRng;
use rand::{RngExt, SeedableRng};

use super::disk::{Disk, Names};
use super::injector::{self, Fault};
use super::lab::{Lab, Possible, Run, number};
use super::settings;

/// How many steps a process runs.
pub const STEPS: usize = 45;

/// How many faults are tried on one workload.
const FAULTS_PER_SEED: u64 = 8;

/// Tries faults on all settings of an engine.
pub fn try_engine(engine: &str) {
    let mut lab = Lab::new(&format!("io-errors-{engine}"));
    let (count, first) = (number("COZO_IO_ERRORS", 40), number("COZO_FAULTS_SEED", 1));
    let settings = settings::of_engine(engine);
    assert!(!settings.is_empty(), "there is no setting of the engine {engine}");
    for round in 0..count.div_ceil(FAULTS_PER_SEED) {
        let (setting, _) = settings[round as usize % settings.len()];
        let seed = first * 1000 + round;
        let mut random = StdRng::seed_from_u64(seed);
        let plain = lab.run(setting, seed, STEPS, random.random(), None);
        check(&mut lab, &plain, true);
        for _ in 0..FAULTS_PER_SEED.min(count - round * FAULTS_PER_SEED) {
            let fault = injector::draw(&plain.trace, &mut random);
            let run = lab.run(setting, seed, STEPS, random.random(), Some(fault));
            let goes_on = random.random_ratio(1, 3);
            check(&mut lab, &run, goes_on);
            lab.clear(&run);
        }
        lab.clear(&plain);
    }
    lab.report();
}

/// Checks what a process said and left.
fn check(lab: &mut Lab, run: &Run, goes_on: bool) {
    let (judges, context) = (run.judges(), run.context());
    let kind = if run.trace.failures().is_empty() { "without an error" } else { "with an error" };
    *lab.done.entry(kind.to_string()).or_default() += 1;
    for (kind, text) in run.complaints(&judges) {
        lab.find(kind, &context, &text);
    }
    let folder = run.task.folder.clone();
    lab.check(run, &folder, &Possible { judges: &judges, earlier: &[], may_be_torn: false }, goes_on, &context);
}

/// The trace knows all that a process does to its files: what follows from it is what the process left.
pub fn traces_are_complete(engine: &str) {
    let mut lab = Lab::new(&format!("traces-{engine}"));
    for (setting, _) in settings::of_engine(engine) {
        for (seed, is_killed) in [(7, false), (8, true)] {
            let run = lab.run(setting, seed, STEPS, is_killed, None);
            let before = lab.new_folder();
            run.write_beginning(&before);
            let mut disk = Disk::with(&before, Names::Strict);
            run.trace.events.iter().for_each(|event| disk.happens(event));
            let (seen, left) = (disk.seen(&run.trace), run.files());
            let names = |files: &std::collections::BTreeMap<String, Vec<u8>>| files.keys().cloned().collect::<Vec<_>>();
            assert_eq!(names(&seen), names(&left), "{}", run.context());
            for (path, bytes) in &seen {
                assert!(*bytes == left[path], "{path} differs from what was traced: {}", run.context());
            }
            assert!(run.trace.said().count() > STEPS);
        }
    }
}

/// Runs one case again, and tells all that is said.
pub fn again(case: &str) {
    let parts: Vec<&str> = case.splitn(5, '|').collect();
    let [setting, seed, steps, is_killed, fault] = parts[..] else { panic!("no case: {case}") };
    let fault: Option<Fault> = (!fault.is_empty()).then(|| fault.parse().unwrap());
    let mut lab = Lab::new("again");
    let number = |text: &str| text.parse::<u64>().unwrap();
    let (setting, steps) = (number(setting) as usize, number(steps) as usize);
    let run = lab.run(setting, number(seed), steps, is_killed.parse().unwrap(), fault);
    for event in &run.trace.events {
        match event {
            super::trace::Event::Said(writer, said) => println!("{}", run.told(*writer, said)),
            super::trace::Event::Failed(text) => println!("    fails: {text}"),
            _ => {}
        }
    }
    check(&mut lab, &run, true);
    lab.report();
}
