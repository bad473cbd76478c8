//! Callbacks: the host receives the changes of a relation.
//!
//! An operation on a relation with a callback records its rows in the transaction. At the commit the pipeline puts the records on
//! one queue, in the order of commits. The committing thread then empties the queue into the channels, one thread at a time. So
//! messages come in the order of commits, and are sent before the script returns.
//!
//! **A commit never waits for a receiver**: a channel that is full when a message comes is closed.

use std::collections::VecDeque;
use std::fmt::{self, Display, Formatter};
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

use crossbeam_channel::{Receiver, Sender, bounded, unbounded};
use rustc_hash::FxHashMap;

use crate::budget::Stop;
use crate::schema::RelationSchema;
use crate::session::results::NamedRows;
use crate::sync::{Mutex, RwLock};
use crate::txn::Transaction;
use crate::value::{Batch, SmallStr};

/// The kind of an operation on the rows of a relation.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub enum CallbackOp {
    /// Rows were put.
    Put,
    /// Rows were removed.
    Rm,
}

impl CallbackOp {
    /// `"Put"` or `"Rm"`
    pub fn as_str(&self) -> &'static str {
        match self {
            CallbackOp::Put => "Put",
            CallbackOp::Rm => "Rm",
        }
    }
}

impl Display for CallbackOp {
    fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
        f.write_str(self.as_str())
    }
}

/// A message: the operation, the rows put or the keys to be removed, and the full rows that were there before.
pub type Change = (CallbackOp, NamedRows, NamedRows);

/// Rows under the names of the first columns of a relation.
pub fn named(schema: &RelationSchema, rows: &Batch) -> Result<NamedRows, Stop> {
    let columns = schema.columns().take(rows.columns.len());
    NamedRows::from_batch(columns.map(|column| column.name.to_string()).collect(), rows)
}

/// The callbacks of a database.
#[derive(Default)]
pub struct Callbacks {
    registry: RwLock<Registry>,
    /// The number of callbacks, readable without a lock.
    count: AtomicUsize,
    /// The committed messages that are not sent yet, in the order of commits.
    committed: Mutex<VecDeque<(SmallStr, Change)>>,
    /// Held by the thread that sends.
    delivery: Mutex<()>,
}

#[derive(Default)]
struct Registry {
    next: u32,
    by_relation: FxHashMap<SmallStr, Vec<Callback>>,
}

struct Callback {
    id: u32,
    sender: Sender<Change>,
}

impl Callbacks {
    /// Registers a channel for a relation, which need not exist.
    pub fn register(&self, relation: &str, capacity: Option<usize>) -> (u32, Receiver<Change>) {
        let (sender, receiver) = capacity.map_or_else(unbounded, bounded);
        let mut registry = self.registry.write();
        let id = registry.next;
        registry.next += 1;
        registry.by_relation.entry(relation.into()).or_default().push(Callback { id, sender });
        self.count.fetch_add(1, Ordering::Relaxed);
        (id, receiver)
    }

    /// Removes a callback, which closes its channel. Returns whether there was one.
    pub fn unregister(&self, id: u32) -> bool {
        let mut registry = self.registry.write();
        let mut removed = 0;
        registry.by_relation.retain(|_, callbacks| {
            let before = callbacks.len();
            callbacks.retain(|callback| callback.id != id);
            removed += before - callbacks.len();
            !callbacks.is_empty()
        });
        self.count.fetch_sub(removed, Ordering::Relaxed);
        removed > 0
    }

    /// Whether there is any callback.
    pub fn is_any(&self) -> bool {
        self.count.load(Ordering::Relaxed) > 0
    }

    /// Whether a relation has a callback.
    pub fn listens_to(&self, relation: &str) -> bool {
        self.is_any() && self.registry.read().by_relation.contains_key(relation)
    }

    /// Records a change, which is sent when the transaction is committed.
    pub fn note(self: &Arc<Self>, relation: &SmallStr, change: Change, txn: &mut Transaction) {
        let (callbacks, relation) = (self.clone(), relation.clone());
        txn.after_commit(Box::new(move || callbacks.committed(&relation, change)));
    }

    /// Records a change that is committed.
    pub fn committed(&self, relation: &SmallStr, change: Change) {
        self.committed.lock().push_back((relation.clone(), change));
    }

    /// Closes the channels of a relation, since a message is lost.
    pub fn give_up(&self, relation: &str) {
        let lost = self.registry.write().by_relation.remove(relation).map_or(0, |callbacks| callbacks.len());
        self.count.fetch_sub(lost, Ordering::Relaxed);
    }

    /// Sends the committed messages. On return, all messages committed before the call are sent.
    pub fn deliver(&self) {
        let _turn = self.delivery.lock();
        loop {
            // The lock must not be held while a message is sent.
            let next = self.committed.lock().pop_front();
            match next {
                Some((relation, change)) => self.send(&relation, change),
                None => return,
            }
        }
    }

    fn send(&self, relation: &SmallStr, change: Change) {
        let mut given_up = vec![];
        let mut give = |callback: &Callback, change| {
            if callback.sender.try_send(change).is_err() {
                given_up.push(callback.id);
            }
        };
        if let Some((last, others)) = self.registry.read().by_relation.get(relation).and_then(|list| list.split_last())
        {
            others.iter().for_each(|callback| give(callback, change.clone()));
            give(last, change);
        }
        for id in given_up {
            self.unregister(id);
        }
    }
}
