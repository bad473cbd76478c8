//! The connections of a snapshot: one at least for as long as it is used, a few while several threads read it.

use std::sync::Arc;

use rusqlite::Connection;

use super::connection::{Pool, begin_reading, end_reading};
use crate::storage::StorageError;
use crate::sync::{Condvar, Mutex, MutexGuard};

/// The most connections that one snapshot has.
const MAX_OPEN: usize = 4;

/// Connections that all see the same state of the database.
pub struct Lanes {
    pool: Arc<Pool>,
    state: Mutex<PoolState>,
    /// Told when a connection is idle again.
    returned: Condvar,
}

#[derive(Default)]
struct PoolState {
    idle: Vec<Connection>,
    /// How many there are, idle and in use.
    open: usize,
    /// Whether the database may have changed, so that another connection would see something else.
    is_sealed: bool,
}

impl Lanes {
    /// No connections yet: the state is that of the database as it is now. It must be [sealed](Lanes::seal) before the
    /// database changes.
    pub fn new(pool: Arc<Pool>) -> Self {
        Lanes { pool, state: Mutex::default(), returned: Condvar::new() }
    }

    /// The state that one connection of the pool sees.
    pub fn sealed(pool: Arc<Pool>, connection: Connection) -> Self {
        let state = PoolState { idle: vec![connection], open: 1, is_sealed: true };
        Lanes { pool, state: Mutex::new(state), returned: Condvar::new() }
    }

    /// Reads with one of the connections, when one is free.
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

    /// Sees to it that there is a connection, and that no more are made: the database may change afterwards.
    pub fn seal(&self) -> Result<(), StorageError> {
        let mut state = self.state.lock();
        if state.open == 0 {
            state.idle.push(self.pool.take()?);
            state.open = 1;
        }
        state.is_sealed = true;
        Ok(())
    }

    /// Lets the connections begin anew, where the database is as it was when they began: they then read all of it from
    /// where it is now, in the log or in the database.
    pub fn renew(&self) {
        let mut state = self.when_all_are_idle();
        let begin = |connection: &Connection| end_reading(connection).and_then(|()| begin_reading(connection));
        state.idle.retain(|connection| begin(connection).is_ok());
        state.open = state.idle.len();
        state.is_sealed = false;
    }

    /// Calls are short, so that this is soon.
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
        // Readers wait for any connection, a commit for all of them.
        self.lanes.returned.notify_all();
    }
}
