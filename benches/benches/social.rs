//! A social network that many write and read at once: the benchmark of agdb.
//!
//! `COZO_BENCH_ENGINE` lists what it runs on: `mem`, `sqlite`, `rocksdb` (all by default), and with the cargo feature `peers`
//! `agdb` (mapped into memory) and `agdb-memory`. `COZO_BENCH_ACTIONS` is how often each of the 220 users acts (100), and
//! `COZO_BENCH_PAUSE_MS` how long each waits after an action (100); everything is done with that pause and without, `COZO_BENCH_ROUNDS`
//! times (3) by all systems in turn, of which the medians are shown: most of an action is waiting for a processor.

use std::path::Path;
use std::process::ExitCode;
use std::time::Duration;

use cozo_benches::figures::Figures;
use cozo_benches::settings::{disk_bytes, exit_code, number, open, systems};
use cozo_benches::social::{Network, Role, Scenario, database::Database, run};

#[cfg(feature = "peers")]
const PEERS: &[&str] = &["agdb", "agdb-memory"];
#[cfg(not(feature = "peers"))]
const PEERS: &[&str] = &[];

fn main() -> ExitCode {
    exit_code(measure())
}

fn measure() -> Result<(), String> {
    let pause = Duration::from_millis(number("PAUSE_MS", 100)? as u64);
    let paused = Scenario { writers: 10, readers: 100, actions: number("ACTIONS", 100)?, pause };
    let title = format!("10 + 10 writers, 100 + 100 readers of 10 entries, each acts {} times", paused.actions);
    let mut figures = Figures::new("social", title);
    let name = format!("{} ms apart", pause.as_millis());
    let at_once = Scenario { pause: Duration::ZERO, ..paused.clone() };
    let rounds = number("ROUNDS", 3)?;
    for (speed, scenario) in [("at once", &at_once), (name.as_str(), &paused)] {
        for system in (0..rounds).map(|_| systems(PEERS)).collect::<Result<Vec<_>, _>>()?.concat() {
            let folder = tempfile::tempdir_in(env!("CARGO_TARGET_TMPDIR")).map_err(|error| error.to_string())?;
            let network = network(system, folder.path(), scenario.users())?;
            let roles = run(&*network, scenario);
            roles.iter().for_each(|role| add(&mut figures, system, speed, role));
            // Closed, so that logs are written back.
            drop(network);
            let bytes = disk_bytes(folder.path()).map_err(|error| error.to_string())?;
            if bytes > 0 {
                figures.add(system, &format!("{speed}, on disk"), "MB", bytes as f64 / 1e6);
            }
        }
    }
    figures.take_medians();
    figures.publish()
}

fn network(system: &str, folder: &Path, users: usize) -> Result<Box<dyn Network>, String> {
    Ok(match system {
        #[cfg(feature = "peers")]
        "agdb" => Box::new(cozo_benches::social::agdb::Agdb::mapped(&folder.join("social.agdb"), users)),
        #[cfg(feature = "peers")]
        "agdb-memory" => Box::new(cozo_benches::social::agdb::Agdb::in_memory(&folder.join("none"), users)),
        engine => Box::new(Database::new(open(engine, folder)?, users)),
    })
}

fn add(figures: &mut Figures, system: &str, speed: &str, role: &Role) {
    let durations =
        [("shortest", role.shortest), ("average", role.average), ("longest", role.longest), ("total", role.total)];
    for (name, duration) in durations {
        figures.add(system, &format!("{speed}, {}, {name}", role.name), "ms", duration.as_secs_f64() * 1e3);
    }
}
