//! The connections of a snapshot. A snapshot in use has at least one, and a few if several threads read it.
//!
//! [`Lanes`] is a small pool. Each connection is in a read transaction, and all of them see the same state of the database. A
//! new connection sees the database as it is when its transaction begins, so one can be added only until the database changes.
//!
//! ```text
//!             new                 seal: before a commit changes the database
//!  (no conn.) ───> unsealed ────────────────────────────────────────────────> sealed
//!                     ^   read opens up to MAX_OPEN connections                 │   read waits for one of its connections
//!                     └─────────── renew: all transactions begin again ─────────┘
//! ```
//!
//! | | unsealed | sealed |
//! |---|---|---|
//! | state shown | the database as it is | the database before a change |
//! | connections | 0 to `MAX_OPEN`, more on demand | those at sealing, at least 1 |
//!
//! Invariants: `open` counts idle connections and those in use. `renew` is called only while the database still is as the
//! snapshot shows it. Its transactions then read the pages that are written back from the database, which frees the log.

use std::sync::Arc;

use rusqlite::Connection;

use super::connection::{Pool, begin_reading, end_reading};
use crate::storage::error::StorageError;
use crate::sync::{Condvar, Mutex, MutexGuard};

/// The most connections that one snapshot has.
const MAX_OPEN: usize = 4;

/// Connections that all see the same state of the database.
pub struct Lanes {
    pool: Arc<Pool>,
    state: Mutex<PoolState>,
    /// Notified when a connection becomes idle.
    returned: Condvar,
}

#[derive(Default)]
struct PoolState {
    idle: Vec<Connection>,
    /// The number of connections, idle and in use.
    open: usize,
    /// Whether the database may have changed, so that a new connection would see another state.
    is_sealed: bool,
}

impl Lanes {
    /// No connections yet, for the present state of the database. It must be [sealed](Lanes::seal) before the database changes.
    pub fn new(pool: Arc<Pool>) -> Self {
        Lanes { pool, state: Mutex::default(), returned: Condvar::new() }
    }

    /// The state that one connection of the pool sees.
    pub fn sealed(pool: Arc<Pool>, connection: Connection) -> Self {
        let state = PoolState { idle: vec![connection], open: 1, is_sealed: true };
        Lanes { pool, state: Mutex::new(state), returned: Condvar::new() }
    }

    /// Reads with one of the connections. Waits until one is free.
    pub fn read<T>(&self, work: impl FnOnce(&Connection) -> Result<T, StorageError>) -> Result<T, StorageError> {
        let lane = Lane { lanes: self, connection: Some(self.take()?) };
        work(lane.connection.as_ref().expect("it is given back when this ends"))
    }

    fn take(&self) -> Result<Connection, StorageError> {
        let mut state = self.state.lock();
        loop {
            if let Some(connection) = state.idle.pop() {
                return Ok(connection);
            }
            if !state.is_sealed && state.open < MAX_OPEN {
                let connection = self.pool.take()?;
                state.open += 1;
                return Ok(connection);
            }
            state = self.returned.wait(state);
        }
    }

    /// Makes sure that there is a connection, and prevents further ones. Afterwards the database may change.
    pub fn seal(&self) -> Result<(), StorageError> {
        let mut state = self.state.lock();
        if state.open == 0 {
            state.idle.push(self.pool.take()?);
            state.open = 1;
        }
        state.is_sealed = true;
        Ok(())
    }

    /// Restarts the transactions of all connections. The database must still be as it was when they began. They then read each
    /// page from its present place, in the log or in the database.
    pub fn renew(&self) {
        let mut state = self.when_all_are_idle();
        let begin = |connection: &Connection| end_reading(connection).and_then(|()| begin_reading(connection));
        state.idle.retain(|connection| begin(connection).is_ok());
        state.open = state.idle.len();
        state.is_sealed = false;
    }

    /// Waits until all connections are idle. That is short, since calls are short.
    fn when_all_are_idle(&self) -> MutexGuard<'_, PoolState> {
        let mut state = self.state.lock();
        while state.idle.len() < state.open {
            state = self.returned.wait(state);
        }
        state
    }
}

impl Drop for Lanes {
    fn drop(&mut self) {
        self.state.get_mut().idle.drain(..).for_each(|connection| self.pool.give_back(connection));
    }
}

/// A connection in use.
struct Lane<'l> {
    lanes: &'l Lanes,
    connection: Option<Connection>,
}

impl Drop for Lane<'_> {
    fn drop(&mut self) {
        self.lanes.state.lock().idle.extend(self.connection.take());
        // Readers wait for any connection, and a commit waits for all of them.
        self.lanes.returned.notify_all();
    }
}
