//! Fixed rules about data instead of graphs: a file for each.

mod constant;
mod csv_reader;
mod json_reader;
mod reorder_sort;
mod source;

pub use constant::CONSTANT;
pub use csv_reader::CSV_READER;
pub use json_reader::JSON_READER;
pub use reorder_sort::REORDER_SORT;
