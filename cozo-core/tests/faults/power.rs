//! The power is cut at some moment: with `durability: "disk"` all that was acknowledged before is there, with `"os"` all up to some
//! moment before.

use rand::rngs::StdRng;
use rand::seq::IndexedRandom;
use rand::{RngExt, SeedableRng};

use super::disk::{Disk, Names, Pending};
use super::injector;
use super::io_errors::STEPS;
use super::lab::{Lab, Possible, Run, number};
use super::model::{Judge, Said, State, digest};
use super::settings;
use super::trace::Event;

/// How often the power is cut in one trace.
const CUTS_PER_RUN: u64 = 20;

/// The files of which no piece in the midst is lost without a sync: RocksDB reads zeros there as room that was never used, and goes
/// on behind them. The book tells it.
const IN_ORDER: &str = "*.log";

/// Cuts the power on all settings of an engine.
pub fn try_engine(engine: &str) {
    let mut lab = Lab::new(&format!("power-{engine}"));
    let (count, first) = (number("COZO_POWER_LOSSES", 100), number("COZO_FAULTS_SEED", 1));
    let settings = settings::of_engine(engine);
    for round in 0..count.div_ceil(CUTS_PER_RUN) {
        let (setting, _) = settings[round as usize % settings.len()];
        let seed = first * 1000 + 500 + round;
        let mut random = StdRng::seed_from_u64(seed);
        let plain = lab.run(setting, seed, STEPS, random.random(), None);
        // Every third trace is one with an error.
        let run = match random.random_ratio(1, 3) {
            true => lab.run(setting, seed, STEPS, random.random(), Some(injector::draw(&plain.trace, &mut random))),
            false => plain,
        };
        cut(&mut lab, &run, CUTS_PER_RUN.min(count - round * CUTS_PER_RUN), &mut random);
        lab.clear(&run);
    }
    lab.report();
}

/// Cuts the power so many times in a run.
fn cut(lab: &mut Lab, run: &Run, cuts: u64, random: &mut StdRng) {
    let names = *[Names::Strict, Names::Journal].choose(random).expect("there are two");
    let moments = moments(run, cuts, random);
    let before = lab.new_folder();
    run.write_beginning(&before);
    let mut disk = Disk::with(&before, names);
    if !run.task.setting().is_synced {
        disk.keep_order_of(IN_ORDER);
    }
    let mut judges = run.new_judges();
    let mut earlier: Vec<Vec<State>> = judges.iter().map(|judge| judge.states.clone()).collect();
    for (number, event) in run.trace.events.iter().enumerate() {
        for _ in moments.iter().filter(|moment| **moment == number) {
            cut_now(lab, run, &disk, &judges, &earlier, (number, names), random);
        }
        disk.happens(event);
        match event {
            Event::Sync { fd, succeeded } => disk.syncs(*fd, *succeeded, &run.trace),
            Event::Said(writer, said) => {
                judges[*writer].hear(said);
                if !run.task.setting().is_synced && !matches!(said, Said::Begins(_)) {
                    remember(&mut earlier[*writer], &judges[*writer]);
                }
            }
            _ => {}
        }
    }
}

/// When the power is cut, in numbers of events: anywhere, and often just after something was acknowledged.
fn moments(run: &Run, cuts: u64, random: &mut StdRng) -> Vec<usize> {
    let events = &run.trace.events;
    let done = |(number, event): (usize, &Event)| matches!(event, Event::Said(_, Said::Done(_))).then_some(number + 1);
    let after: Vec<usize> = events.iter().enumerate().filter_map(done).collect();
    let moment = |_| match after.choose(random) {
        Some(moment) if random.random_ratio(1, 3) => *moment,
        _ => random.random_range(0..events.len()),
    };
    (0..cuts).map(moment).collect()
}

/// Keeps the states that the database may have had.
fn remember(earlier: &mut Vec<State>, judge: &Judge<'_>) {
    for state in judge.possible() {
        if !earlier.iter().rev().any(|known| digest(known) == digest(&state)) {
            earlier.push(state);
        }
    }
}

fn cut_now(
    lab: &mut Lab,
    run: &Run,
    disk: &Disk,
    judges: &[Judge<'_>],
    earlier: &[Vec<State>],
    (event, names): (usize, Names),
    random: &mut StdRng,
) {
    let kept = *[Pending::Lost, Pending::There, Pending::Prefix, Pending::Prefix, Pending::Each, Pending::Each]
        .choose(random)
        .expect("there are some");
    let folder = lab.new_folder();
    disk.write(&folder, kept, &run.trace, random);
    *lab.done.entry(format!("{kept:?}")).or_default() += 1;
    let last = |(writer, judge): (usize, &Judge<'_>)| {
        judge.last_done.map_or("nothing".to_string(), |step| run.told(writer, &Said::Begins(step)))
    };
    let last = judges.iter().enumerate().map(last).collect::<Vec<_>>().join(" and ");
    let context = format!(
        "the power is cut before event {event}, after {last} was acknowledged; names {names:?}, pending writes {kept:?}\n  {}\n  {}",
        folder.display(),
        run.context()
    );
    let earlier = if run.task.setting().is_synced { &[] } else { earlier };
    let goes_on = random.random_ratio(1, 4);
    lab.check(run, &folder, &Possible { judges, earlier, may_be_torn: true }, goes_on, &context);
    if std::env::var("COZO_FAULTS_KEEP").is_err() {
        std::fs::remove_dir_all(&folder).unwrap();
    }
}
