//! Results of scripts, as rows or as columns, and the contents of relations.
//!
//! | file | what |
//! |---|---|
//! | `rows` | [`NamedRows`], values under headers |
//! | `columns` | [`NamedColumns`], the same in the engine's own form; [`ScriptResult`], the types that a script may return |
//! | `stream` | [`ResultStream`], a result batch by batch |
//! | `reader` | [`RelationReader`], a stored relation batch by batch |

mod columns;
mod reader;
mod rows;
mod stream;

pub use columns::{NamedColumns, ScriptResult};
pub use reader::RelationReader;
pub use rows::{NamedRows, keep_memory_of_results, row_bytes};
pub use stream::{ResultStream, ScriptAnswer};
