//! How long a question takes, one at a time.

use std::hint::black_box;
use std::time::{Duration, Instant};

use cozo::DbInstance;
use cozo_benches::pokec::page_rank;
use cozo_benches::pokec::questions::Question;
use cozo_benches::run;
use criterion::Throughput;

use super::Bench;
use super::report::watch;

/// From so long an answer on, few samples must do.
const SLOW: Duration = Duration::from_millis(25);

/// From so long an answer on, one measurement must do.
const TOO_SLOW: Duration = Duration::from_secs(5);

/// Checks and measures the questions of a group; those about users for one user after another.
pub fn questions(bench: &mut Bench, db: &DbInstance, group: &str, questions: &[Question]) {
    for question in questions {
        let id = format!("{group}/{}", question.name);
        if bench.settings.wants(&id) {
            let places = if question.of_user { &bench.checked } else { &bench.checked[..1] };
            places.iter().for_each(|place| question.check(db, &bench.network, *place));
            measure(bench, db, group, question);
        }
    }
}

fn measure(bench: &mut Bench, db: &DbInstance, group: &str, question: &Question) {
    let network = &bench.network;
    let mut next = bench.asked.iter().cycle();
    let mut ask = || {
        let parameters = next.next().map(|place| question.parameters(network, *place)).unwrap_or_default();
        black_box(run(db, &question.script, &parameters));
    };
    let watch = watch();
    let once = timed(&mut ask);
    if once > TOO_SLOW {
        bench.report.run(&format!("{group}/{}", question.name), vec![once], None);
    } else {
        let mut criterion = bench.criterion.benchmark_group(group);
        if once > SLOW {
            criterion.sample_size(10);
        }
        if !question.of_user {
            criterion.throughput(Throughput::Elements(network.users.len() as u64));
        }
        criterion.bench_function(&question.name, |bencher| bencher.iter(&mut ask));
    }
    bench.report.peak(group, &watch);
}

/// Checks and measures PageRank: the first time, when the graph is read, and from then on.
pub fn page_rank(bench: &mut Bench, db: &DbInstance) {
    if !bench.settings.wants("page_rank/first") && !bench.settings.wants("page_rank/again") {
        return;
    }
    let mut ask = || drop(black_box(run(db, page_rank::SCRIPT, &[])));
    // Checked afterwards: the check would be the first to read the graph.
    let first_watch = watch();
    let first = timed(&mut ask);
    bench.report.peak("page_rank", &first_watch);
    bench.report.run("page_rank/first", vec![first], Some(bench.network.targets().len()));
    page_rank::check(db, &bench.network);
    if !bench.settings.wants("page_rank/again") {
        return;
    }
    let watch = watch();
    let mut group = bench.criterion.benchmark_group("page_rank");
    group.sample_size(10).throughput(Throughput::Elements(bench.network.targets().len() as u64));
    group.bench_function("again", |bencher| bencher.iter(&mut ask));
    group.finish();
    bench.report.peak("page_rank", &watch);
}

fn timed(run: &mut impl FnMut()) -> Duration {
    let start = Instant::now();
    run();
    start.elapsed()
}
