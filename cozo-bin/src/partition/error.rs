//! What can go wrong with a partition.

use std::io;

/// An export or an import of a partition that is refused.
#[derive(Debug, thiserror::Error, miette::Diagnostic)]
pub enum PartitionError {
    /// An export would mix its files with others.
    #[error("'{0}' is there, and is not an empty folder")]
    #[diagnostic(code(partition::not_empty), help("name a folder that does not exist yet, or empty this one"))]
    NotEmpty(String),
    /// The folder that an export writes to before it gives it its name is there.
    #[error("'{0}' is in the way")]
    #[diagnostic(
        code(partition::unfinished),
        help("an export that was killed leaves such a folder: remove it, and export again")
    )]
    Unfinished(String),
    /// The disk is full, or the user may write no more.
    #[error("there is no space for '{path}'")]
    #[diagnostic(
        code(partition::no_space),
        help("free some space, or name a folder on another disk; nothing of the export is left")
    )]
    NoSpace {
        /// The file.
        path: String,
        /// What the system says.
        #[source]
        source: io::Error,
    },
    /// A folder that no export has written.
    #[error("there is no '{0}'")]
    #[diagnostic(
        code(partition::no_catalog),
        help("name a folder that 'cozo export --partition' has written; 'cozo import NAME FILE' imports single files")
    )]
    NoCatalog(String),
    /// A catalog that was damaged, or changed so that it makes no sense.
    #[error("bad catalog '{path}': {reason}")]
    #[diagnostic(code(partition::bad_catalog), help("mend the catalog, or export again"))]
    BadCatalog {
        /// The file.
        path: String,
        /// What is wrong with it.
        reason: String,
    },
    /// A partition of a later version of this program.
    #[error("the partition has the format {found}, and this program knows formats up to {known}")]
    #[diagnostic(
        code(partition::newer_format),
        help("it was written by '{program}': import it with that or a later version")
    )]
    Newer {
        /// The version of the format.
        found: u64,
        /// The latest version that can be read.
        known: u64,
        /// The program that wrote it.
        program: String,
    },
    /// Relations of the partition are in the database already.
    #[error("the database has these relations already: {0}")]
    #[diagnostic(
        code(partition::relation_exists),
        help(
            "remove them (::remove), rename them (::rename), import others with --only, or import into a new database; \
             nothing was changed"
        )
    )]
    Exists(String),
    /// A relation that `--only` names is not in the partition.
    #[error("the partition has no relation '{relation}'")]
    #[diagnostic(code(partition::no_relation), help("its relations: {known}"))]
    NoRelation {
        /// What was named.
        relation: String,
        /// Those that are there.
        known: String,
    },
    /// A file has more or fewer rows than when it was exported.
    #[error("'{path}' has {found} rows, and the catalog says {expected}")]
    #[diagnostic(
        code(partition::other_rows),
        help(
            "copy the file again, or write the new numbers to catalog.json if the change is meant; nothing was changed"
        )
    )]
    OtherRows {
        /// The file, or the relation.
        path: String,
        /// The number of rows in the catalog.
        expected: u64,
        /// The number of rows in the file.
        found: u64,
    },
    /// A file does not have the columns of its relation.
    #[error("'{path}' has the columns {found}, and the catalog says {expected}")]
    #[diagnostic(
        code(partition::other_columns),
        help("copy the file again, or change catalog.json too if the change is meant; nothing was changed")
    )]
    OtherColumns {
        /// The file.
        path: String,
        /// The columns in the catalog.
        expected: String,
        /// The columns in the file.
        found: String,
    },
    /// A value in a file is not what the catalog says.
    #[error("bad value in '{path}', column '{column}': {reason}")]
    #[diagnostic(
        code(partition::bad_value),
        help("copy the file again, or mend the value; 'stored_as' in catalog.json says how values are written")
    )]
    BadValue {
        /// The file.
        path: String,
        /// The column.
        column: String,
        /// What is wrong.
        reason: String,
    },
}
