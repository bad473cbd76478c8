//! The handle of a database: its interface, transactions, triggers, callbacks and backups.

#[path = "../common/mod.rs"]
mod common;
#[path = "../common/engines.rs"]
mod engines;

mod api_0_7;
mod backup;
mod callbacks;
mod cancellation;
mod changing_columns;
mod held_transactions;
mod paths;
mod statements;
mod transactions;
mod triggers;
mod whole_relations;
