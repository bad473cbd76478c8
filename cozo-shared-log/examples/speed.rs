//! How fast a log is: `cargo run --release --example speed -- ADDRESS [ENTRIES] [BYTES]`.

use cozo_shared_log::{Options, open};
use std::{
    env,
    time::{Duration, Instant},
};

fn main() -> miette::Result<()> {
    let arguments: Vec<_> = env::args().collect();
    let number = |index: usize, other| arguments.get(index).and_then(|text| text.parse().ok()).unwrap_or(other);
    let (address, count, bytes) = (&arguments[1], number(2, 1000), number(3, 10_000));
    let timeout = Duration::from_secs(30);
    let log = open(address, &Options::default())?;
    let (entry, from) = (vec![7; bytes as usize], log.bounds(timeout)?.last + 1);

    let start = Instant::now();
    for number in from..from + count {
        log.append(number, &entry, timeout)?;
    }
    println!("{}: {:.0} appends a second", log.name(), count as f64 / start.elapsed().as_secs_f64());

    let (start, mut next) = (Instant::now(), from);
    while next < from + count {
        next += log.read(next, 4 << 20, timeout)?.len() as u64;
    }
    let seconds = start.elapsed().as_secs_f64();
    let megabytes = (count * bytes) as f64 / 1e6;
    println!("{:.0} entries and {:.0} MB a second read", count as f64 / seconds, megabytes / seconds);
    Ok(())
}
