//! `cozo export --partition` and `cozo import --partition`: relations as folders of Parquet files, with a catalog.
//!
//! ```text
//! FOLDER/catalog.json               what is in the folder: PartitionCatalog
//! FOLDER/person/part-00000.parquet  rows of the relation person
//! FOLDER/person/part-00001.parquet
//! ```
//!
//! | file | what |
//! |---|---|
//! | `write`, `part` | an export: the folder, and the files of a relation |
//! | `read`, `definition` | an import: the files, and the definition of a relation |
//! | `catalog`, `names` | the catalog, and names of folders |
//! | `form`, `tagged` | how the values of a column stand in a file, and any value as JSON |
//!
//! The type of a column decides how its values are written, and not the values, so that rows are read once.

mod catalog;
mod definition;
mod error;
mod form;
mod names;
mod part;
mod read;
mod tagged;
mod write;

pub use read::Partition;
pub use write::export;
