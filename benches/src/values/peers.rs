//! Large values in RocksDB and LMDB as they are, and in plain files.

use std::fs::{self, File};
use std::io::{ErrorKind, Write};
use std::path::{Path, PathBuf};

use heed::types::{Bytes, U64};
use heed::{EnvFlags, EnvOpenOptions, byteorder::BigEndian};
use rocksdb::{DB, WriteBatch, WriteOptions};

use super::Store;

/// What [`open`] knows.
pub const PEERS: [&str; 3] = ["raw RocksDB", "LMDB", "files"];

/// The most that LMDB may hold.
const MAP_BYTES: usize = 64 << 30;

/// Opens a peer in an empty folder. With `sync` a block that was written survives a loss of power, otherwise the death of the
/// process.
pub fn open(peer: &str, folder: &Path, sync: bool) -> Result<Box<dyn Store>, String> {
    Ok(match peer {
        "raw RocksDB" => Box::new(RocksDb { db: DB::open_default(folder).map_err(|error| error.to_string())?, sync }),
        "LMDB" => Box::new(Lmdb::open(folder, sync).map_err(|error| error.to_string())?),
        "files" => Box::new(Files { folder: folder.to_path_buf(), sync }),
        other => return Err(format!("there is no peer '{other}'")),
    })
}

/// RocksDB with the options that it has by itself.
struct RocksDb {
    db: DB,
    sync: bool,
}

impl Store for RocksDb {
    fn write(&mut self, block: Vec<(u64, Vec<u8>)>) {
        let mut batch = WriteBatch::default();
        block.iter().for_each(|(key, value)| batch.put(key.to_be_bytes(), value));
        let mut options = WriteOptions::default();
        options.set_sync(self.sync);
        self.db.write_opt(batch, &options).expect("RocksDB writes");
    }

    fn read(&mut self, key: u64) -> Option<Vec<u8>> {
        self.db.get(key.to_be_bytes()).expect("RocksDB reads")
    }
}

struct Lmdb {
    environment: heed::Env,
    values: heed::Database<U64<BigEndian>, Bytes>,
}

impl Lmdb {
    fn open(folder: &Path, sync: bool) -> heed::Result<Lmdb> {
        let mut options = EnvOpenOptions::new();
        options.map_size(MAP_BYTES);
        let environment = open_environment(&mut options, folder, sync)?;
        let mut transaction = environment.write_txn()?;
        let values = environment.create_database(&mut transaction, None)?;
        transaction.commit()?;
        Ok(Lmdb { environment, values })
    }
}

#[allow(unsafe_code)] // nobody else has the new folder: the file does not change under the map
fn open_environment(options: &mut EnvOpenOptions, folder: &Path, sync: bool) -> heed::Result<heed::Env> {
    unsafe {
        if !sync {
            options.flags(EnvFlags::NO_SYNC);
        }
        options.open(folder)
    }
}

impl Store for Lmdb {
    fn write(&mut self, block: Vec<(u64, Vec<u8>)>) {
        let mut transaction = self.environment.write_txn().expect("LMDB begins");
        for (key, value) in &block {
            self.values.put(&mut transaction, key, value).expect("LMDB puts");
        }
        transaction.commit().expect("LMDB commits");
    }

    fn read(&mut self, key: u64) -> Option<Vec<u8>> {
        let transaction = self.environment.read_txn().expect("LMDB begins");
        self.values.get(&transaction, &key).expect("LMDB reads").map(<[u8]>::to_vec)
    }
}

/// A file for each key, at its place all at once; a block is not.
struct Files {
    folder: PathBuf,
    sync: bool,
}

impl Files {
    fn path(&self, key: u64) -> PathBuf {
        self.folder.join(key.to_string())
    }

    fn write_one(&self, key: u64, value: &[u8]) -> std::io::Result<()> {
        let unfinished = self.folder.join("unfinished");
        let mut file = File::create(&unfinished)?;
        file.write_all(value)?;
        if self.sync {
            file.sync_data()?;
        }
        fs::rename(unfinished, self.path(key))
    }
}

impl Store for Files {
    fn write(&mut self, block: Vec<(u64, Vec<u8>)>) {
        block.iter().for_each(|(key, value)| self.write_one(*key, value).expect("a file is written"));
        if self.sync {
            File::open(&self.folder).and_then(|folder| folder.sync_all()).expect("the names are written");
        }
    }

    fn read(&mut self, key: u64) -> Option<Vec<u8>> {
        match fs::read(self.path(key)) {
            Err(error) if error.kind() == ErrorKind::NotFound => None,
            read => Some(read.expect("a file is read")),
        }
    }
}
