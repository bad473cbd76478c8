//! Databases with their engine as a type parameter.

use std::collections::BTreeMap;
use std::marker::PhantomData;
use std::ops::Deref;

use super::db::{DbInstance, ScriptMutability};
use crate::session::results::NamedRows;
use crate::storage::mem::MemStorage;
use crate::storage::{Options, Storage};
use crate::value::DataValue;

/// A database over an engine of a known type. It has all methods of [`DbInstance`].
///
/// ```
/// # fn main() -> cozo::Result<()> {
/// let db = cozo::new_cozo_mem()?;
/// assert_eq!(db.run_script_read_only("?[x] := x = 1", Default::default())?.rows.len(), 1);
/// # Ok(())
/// # }
/// ```
pub struct Db<S> {
    instance: DbInstance,
    engine: PhantomData<fn() -> S>,
}

/// An empty database in memory.
pub fn new_cozo_mem() -> miette::Result<Db<MemStorage>> {
    Db::new(MemStorage::new())
}

impl<S: Storage + 'static> Db<S> {
    /// A database over an engine, with the engine's contents.
    pub fn new(storage: S) -> miette::Result<Self> {
        Ok(Db { instance: DbInstance::over(Box::new(storage), &Options::default())?, engine: PhantomData })
    }

    /// Does nothing, since a new database is ready. Programs for CozoDB 0.7 call it.
    pub fn initialize(&self) -> miette::Result<()> {
        Ok(())
    }

    /// Runs a script that must not write.
    pub fn run_script_read_only(
        &self,
        payload: &str,
        params: BTreeMap<String, DataValue>,
    ) -> miette::Result<NamedRows> {
        self.instance.run_script(payload, params, ScriptMutability::Immutable)
    }
}

impl<S> Clone for Db<S> {
    fn clone(&self) -> Self {
        Db { instance: self.instance.clone(), engine: PhantomData }
    }
}

impl<S> Deref for Db<S> {
    type Target = DbInstance;

    fn deref(&self) -> &DbInstance {
        &self.instance
    }
}
