//! Large values: blocks of 125 keys of 128 KB, and of 32 keys of 9,000 bytes, written at once and read key by key.
//!
//! `COZO_BENCH_ENGINE` lists what it runs on: `mem`, `sqlite`, `rocksdb` (all by default), and with the cargo feature `peers`
//! `raw RocksDB`, `LMDB` and `files`. `COZO_BENCH_BLOCKS` is how many blocks of each shape are written (8).
//! `COZO_BENCH_DURABILITY` is what a block survives once it is written: `os` the death of the process (the default), `disk` a
//! loss of power. Reads find the data in memory if the system has kept it there.

use std::path::Path;
use std::process::ExitCode;

use cozo::DbInstance;
use cozo_benches::figures::Figures;
use cozo_benches::settings::{disk_bytes, exit_code, number, setting, systems};
use cozo_benches::values::{SHAPES, Store, database::Database, run};

#[cfg(feature = "peers")]
const PEERS: &[&str] = &cozo_benches::values::peers::PEERS;
#[cfg(not(feature = "peers"))]
const PEERS: &[&str] = &[];

fn main() -> ExitCode {
    exit_code(measure())
}

fn measure() -> Result<(), String> {
    let blocks = number("BLOCKS", 8)?;
    let durability = setting("DURABILITY").unwrap_or_else(|| "os".to_string());
    if !["os", "disk"].contains(&durability.as_str()) {
        return Err(format!("COZO_BENCH_DURABILITY is '{durability}', and should be os or disk"));
    }
    let mut figures = Figures::new("values", format!("{blocks} blocks, durability {durability}"));
    for shape in SHAPES {
        for system in systems(PEERS)? {
            let folder = tempfile::tempdir_in(env!("CARGO_TARGET_TMPDIR")).map_err(|error| error.to_string())?;
            let mut store = open(system, folder.path(), &durability)?;
            let times = run(&mut *store, shape, blocks);
            drop(store);
            let name = shape.name;
            figures.add(system, &format!("{name}, write a block"), "ms", times.write_block.as_secs_f64() * 1e3);
            figures.add(system, &format!("{name}, read a key"), "ms", times.read_key.as_secs_f64() * 1e3);
            let bytes = disk_bytes(folder.path()).map_err(|error| error.to_string())?;
            if bytes > 0 {
                figures.add(system, &format!("{name}, on disk"), "MB", bytes as f64 / 1e6);
            }
        }
    }
    figures.publish()
}

fn open(system: &str, folder: &Path, durability: &str) -> Result<Box<dyn Store>, String> {
    #[cfg(feature = "peers")]
    if PEERS.contains(&system) {
        return cozo_benches::values::peers::open(system, folder, durability == "disk");
    }
    // Nothing of `mem` is on the disk, whatever it promises.
    let options = if system == "mem" { String::new() } else { format!(r#"{{"durability": "{durability}"}}"#) };
    let db = DbInstance::new(system, folder.join("database"), &options);
    let db = db.map_err(|error| format!("the engine '{system}' does not open: {error}"))?;
    Ok(Box::new(Database::new(db)))
}
