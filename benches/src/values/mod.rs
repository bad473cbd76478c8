//! Large values, written a block at a time and read key by key: the experiment by which Mina chose what keeps its large
//! values, with 125 keys of 128 KB and 32 keys of 9,000 bytes a block.

pub mod database;
#[cfg(feature = "peers")]
pub mod peers;

use std::time::{Duration, Instant};

use rand::rngs::Xoshiro256PlusPlus as Random;
use rand::{Rng, RngExt, SeedableRng};

/// Something that keeps a value for each key.
pub trait Store {
    /// Writes a block that is handed over: all of it or nothing.
    fn write(&mut self, block: Vec<(u64, Vec<u8>)>);

    /// The value of a key, a copy of its own.
    fn read(&mut self, key: u64) -> Option<Vec<u8>>;
}

/// What blocks are like.
#[derive(Clone, Copy, Debug)]
pub struct Shape {
    /// How the experiment names it.
    pub name: &'static str,
    /// Keys in a block.
    pub keys: usize,
    /// Bytes of a value.
    pub bytes: usize,
}

/// The two shapes of the experiment.
pub const SHAPES: [Shape; 2] = [
    Shape { name: "125 keys of 128 KB", keys: 125, bytes: 128 << 10 },
    Shape { name: "32 keys of 9,000 bytes", keys: 32, bytes: 9_000 },
];

/// What was measured: the average time of a block, and of a key.
#[derive(Clone, Copy, Debug)]
pub struct Times {
    /// Writing a block.
    pub write_block: Duration,
    /// Reading a key, keys in a random order.
    pub read_key: Duration,
}

/// Writes so many blocks and reads as many keys as two blocks have. Panics if a value is not what was written.
pub fn run(store: &mut dyn Store, shape: Shape, blocks: usize) -> Times {
    let mut writing = Duration::ZERO;
    for block in 0..blocks {
        let keys = (block * shape.keys) as u64..((block + 1) * shape.keys) as u64;
        let block: Vec<_> = keys.map(|key| (key, value(key, shape.bytes))).collect();
        let start = Instant::now();
        store.write(block);
        writing += start.elapsed();
    }
    let keys = (blocks * shape.keys) as u64;
    assert_eq!(store.read(keys), None, "a key that was never written");
    let mut random = Random::seed_from_u64(7);
    let reads = shape.keys * 2;
    let mut reading = Duration::ZERO;
    for _ in 0..reads {
        let key = random.random_range(0..keys);
        let start = Instant::now();
        let found = store.read(key);
        reading += start.elapsed();
        assert!(found == Some(value(key, shape.bytes)), "the value of key {key} is not what was written");
    }
    Times { write_block: writing / blocks as u32, read_key: reading / reads as u32 }
}

/// The value of a key: bytes that no compression makes shorter.
fn value(key: u64, bytes: usize) -> Vec<u8> {
    let mut value = vec![0; bytes];
    Random::seed_from_u64(key).fill_bytes(&mut value);
    value
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::settings::{ENGINES, open};

    const SMALL: Shape = Shape { name: "small", keys: 5, bytes: 10_000 };

    #[test]
    fn every_engine_gives_back_what_was_written() {
        for engine in ENGINES {
            let folder = tempfile::tempdir().expect("a folder");
            run(&mut database::Database::new(open(engine, folder.path()).expect("a database")), SMALL, 3);
        }
    }

    #[cfg(feature = "peers")]
    #[test]
    fn every_peer_gives_back_what_was_written() {
        for peer in peers::PEERS {
            for sync in [false, true] {
                let folder = tempfile::tempdir().expect("a folder");
                run(&mut *peers::open(peer, folder.path(), sync).expect("a peer"), SMALL, 3);
            }
        }
    }
}
