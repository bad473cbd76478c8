//! The language and the evaluator: what scripts give, how they run, and what bounds them.

#[path = "../common/mod.rs"]
mod common;
#[path = "../common/engines.rs"]
mod engines;

mod as_of_joins;
mod bindings;
mod columns;
mod early_aggregation;
mod explain;
mod fixed_rules;
mod index_cache;
mod join_order;
mod key_ranges;
mod large_files;
mod limits;
mod parse;
mod plan_json;
mod point_queries;
mod query_memory;
mod range_joins;
mod read_files;
mod row_recursion;
mod sets;
mod spill;
mod syntax_errors;
mod time_travel;
mod top_rows;
mod utilities;
mod vectors;
mod warnings;
mod windows;
