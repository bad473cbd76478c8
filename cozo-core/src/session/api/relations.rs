//! The calls that read or fill whole relations, as rows or as columns. [`transfer`] does the work.

use std::collections::BTreeMap;

use super::db::DbInstance;
use crate::budget::Interrupt;
use crate::session::filling::{self, NewRelations};
use crate::session::results::{NamedColumns, NamedRows, RelationReader};
use crate::session::transfer;

impl DbInstance {
    /// The contents of relations, all at one moment.
    pub fn export_relations<I, T>(&self, relations: I) -> miette::Result<BTreeMap<String, NamedRows>>
    where
        I: Iterator<Item = T>,
        T: AsRef<str>,
    {
        transfer::export(self.pipeline()?, relations)
    }

    /// Puts rows into relations, or removes them if the name begins with `-`; all of them or none.
    ///
    /// Every column of a relation must be among the headers (for removal every key column); other headers are ignored.
    pub fn import_relations(&self, data: BTreeMap<String, NamedRows>) -> miette::Result<()> {
        let mut txn = transfer::import(self.pipeline()?, data)?;
        Ok(self.core()?.commit(&mut txn)?)
    }

    /// The rows of a relation as they are now, for exports that hold few rows at a time. Its index `i` has the name `relation:i`.
    ///
    /// ```
    /// # fn main() -> cozo::Result<()> {
    /// let db = cozo::DbInstance::default();
    /// db.run_default("?[k, v] <- [[1, 'a'], [2, 'b']] :create r {k: Int => v}")?;
    /// let reader = db.read_relation("r")?;
    /// db.run_default("?[k] <- [[1]] :rm r {k}")?;
    /// assert_eq!((reader.headers(), reader.keys()), (vec!["k".to_string(), "v".to_string()], 1));
    /// let rows = reader.batches()?.map(|batch| batch.map(|batch| batch.len));
    /// assert_eq!(rows.sum::<cozo::Result<usize>>()?, 2);
    /// # Ok(())
    /// # }
    /// ```
    pub fn read_relation(&self, relation: &str) -> miette::Result<RelationReader> {
        transfer::read(self.pipeline()?, relation)
    }

    /// [`DbInstance::read_relation`] for several relations, all at one moment. Without names, for all that may be read.
    pub fn read_relations(&self, relations: Option<&[String]>) -> miette::Result<Vec<RelationReader>> {
        transfer::read_all(self.pipeline()?, relations)
    }

    /// Creates relations and fills them, all of them or none. Nothing is visible before the end. Other commits wait
    /// meanwhile, so `fill` must not write to this database. Rows go to the engine as they come, and are not held in memory.
    ///
    /// The indices of the relations are built afterwards. If that fails, the relations are removed again.
    ///
    /// ```
    /// # fn main() -> cozo::Result<()> {
    /// let (from, to) = (cozo::DbInstance::default(), cozo::DbInstance::default());
    /// from.run_default("?[k, v] <- [[1, 'a'], [2, 'b']] :create r {k: Int => v}")?;
    /// let reader = from.read_relation("r")?;
    /// to.fill_relations(&cozo::Interrupt::default(), |new| {
    ///     let mut relation = new.create(reader.definition())?;
    ///     reader.batches()?.try_for_each(|batch| relation.put(batch?))?;
    ///     assert_eq!(relation.finish()?, 2);
    ///     Ok(())
    /// })?;
    /// assert_eq!(to.run_default("?[k] := *r{k}")?.rows.len(), 2);
    /// # Ok(())
    /// # }
    /// ```
    pub fn fill_relations(
        &self,
        interrupt: &Interrupt,
        fill: impl FnOnce(&mut NewRelations<'_, '_>) -> miette::Result<()>,
    ) -> miette::Result<()> {
        filling::fill(self.core()?, interrupt, fill)
    }

    /// [`DbInstance::import_relations`] for one relation, from columns. If the name begins with `-`, rows are removed.
    ///
    /// Fails if there is not one column for each header, or if their lengths differ from the number of rows.
    pub fn import_columns(&self, relation: &str, data: NamedColumns) -> miette::Result<()> {
        self.import_relations_columns([(relation.to_string(), data)])
    }

    /// [`DbInstance::import_relations`] from columns; all relations or none.
    pub fn import_relations_columns(
        &self,
        relations: impl IntoIterator<Item = (String, NamedColumns)>,
    ) -> miette::Result<()> {
        let mut txn = transfer::import_columns(self.pipeline()?, relations)?;
        Ok(self.core()?.commit(&mut txn)?)
    }
}
