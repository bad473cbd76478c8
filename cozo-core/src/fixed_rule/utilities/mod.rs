//! Fixed rules about data instead of graphs: a file for each.

mod constant;
mod csv_reader;
mod intervals;
mod json_reader;
mod marginal_relevance;
mod rank_fusion;
mod read_files;
mod reorder_sort;
mod source;
mod window;

pub use constant::CONSTANT;
pub use csv_reader::CSV_READER;
pub use intervals::INTERVALS;
pub use json_reader::JSON_READER;
pub use marginal_relevance::MAXIMAL_MARGINAL_RELEVANCE;
pub use rank_fusion::RECIPROCAL_RANK_FUSION;
pub use read_files::{READ_CSV, READ_JSON_LINES, READ_PARQUET};
pub use reorder_sort::REORDER_SORT;
pub use window::WINDOW;
