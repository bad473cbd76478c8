//! What a transaction hands to the pipeline when it ends.

use smallvec::SmallVec;

use crate::schema::{RelationId, RelationSchema, SchemaRef};
use crate::storage::{ChangeSet, StorageError};
use crate::txn::keys::KeyHashes;
use crate::value::SmallStr;

/// A transaction with more rows is not batched.
const MAX_BATCHED_ROWS: usize = 4;

/// What sets the keys of transactions that keep all answers apart from those of others.
const KEEPS_ANSWERS: u64 = 0x5851_f42d_4c95_7f2d;

/// The changes of a transaction, and what it relies on.
#[derive(Default)]
pub struct CommitRequest {
    /// The number of the version that it reads; none if it has read nothing, and so cannot conflict.
    pub base: Option<u64>,
    /// The version of the catalog that it began with.
    pub base_catalog: u64,
    /// The keys written and ensured.
    pub keys: KeyHashes,
    /// The relations written or ensured that existed before, as they were at the start.
    pub relations: SmallVec<[KnownRelation; 1]>,
    /// The relations read as a whole: no other transaction may have written any of their rows.
    pub whole: Vec<RelationId>,
    /// The names whose definition changed, with the definition at the start and the new one.
    pub schemas: Vec<SchemaChange>,
    /// The changed rows.
    pub changes: ChangeSet,
    /// The callbacks of the commit.
    pub after_commit: Vec<AfterCommit>,
    /// Whether no answer of any query differs after it. It does not commit if its keys have changed, but no other transaction
    /// has to know them.
    pub keeps_answers: bool,
}

/// A callback after the new version is published. Callbacks run in the order of commits. No other commit runs meanwhile, so
/// every committing transaction waits for them.
pub type AfterCommit = Box<dyn FnOnce() + Send>;

impl CommitRequest {
    /// Whether it may be batched: it has few rows, cannot conflict, and has no callbacks.
    pub fn can_wait(&self) -> bool {
        self.base.is_none()
            && self.keys.are_at_most(MAX_BATCHED_ROWS)
            && self.schemas.is_empty()
            && self.after_commit.is_empty()
            && self.changes.has_rows_alone()
    }

    /// Whether any of the relations has value columns.
    pub fn has_values(&self) -> bool {
        self.relations.iter().any(|relation| relation.has_values)
    }

    /// The keys that it changes for other transactions, without those of relations of which more rows change than memory holds.
    pub fn changed_keys(&self) -> impl Iterator<Item = &u64> {
        (&self.keys).into_iter().take(if self.keeps_answers { 0 } else { usize::MAX })
    }

    /// The keys that other processes must know. Those of a transaction that keeps all answers count only for another such one: two
    /// processes may do the same work, of which one is enough.
    pub fn shared_keys(&self) -> Result<impl Iterator<Item = u64>, StorageError> {
        let mark = if self.keeps_answers { KEEPS_ANSWERS } else { 0 };
        Ok(self.keys.all()?.into_iter().map(move |key| key ^ mark))
    }

    /// Runs the callbacks.
    pub fn call_back(&mut self) {
        self.after_commit.drain(..).for_each(|call| call());
    }

    /// Puts the validated changes of the catalog into the changes to be stored. It may be called again after another validation.
    pub fn define(&mut self) {
        self.changes.definitions =
            self.schemas.iter().map(|change| (change.name.clone(), change.after.clone())).collect();
    }
}

/// The facts about a relation's definition that a transaction relies on. It has no reference to the definition, since many
/// transactions write the same relation at once and would contend for its counter.
pub struct KnownRelation {
    pub id: RelationId,
    pub name: SmallStr,
    /// Whether there are value columns.
    has_values: bool,
    /// The indices, which every writer of the relation must write too.
    indices: SmallVec<[RelationId; 4]>,
}

impl KnownRelation {
    pub fn new(schema: &RelationSchema) -> Self {
        let has_values = !schema.values.is_empty();
        KnownRelation { id: schema.id, name: schema.name.clone(), has_values, indices: index_ids(schema).collect() }
    }

    /// Whether the relation still has the same indices.
    pub fn agrees_with(&self, now: &RelationSchema) -> bool {
        self.indices.iter().copied().eq(index_ids(now))
    }
}

/// What tells the indices of a relation from others of the same names.
fn index_ids(schema: &RelationSchema) -> impl Iterator<Item = RelationId> {
    let searches = schema.searches.iter().map(|search| search.stored[0].id);
    schema.indices.iter().map(|index| index.schema.id).chain(searches)
}

/// A change to the catalog.
pub struct SchemaChange {
    pub name: SmallStr,
    pub before: Option<SchemaRef>,
    pub after: Option<SchemaRef>,
}
