//! The way to the next version.
//!
//! | file | what |
//! |---|---|
//! | `request` | the changes of a transaction, and what it relies on |
//! | `history` | the keys of recent commits, and validation against them |
//! | `write_batcher` | blind writes of several transactions, committed together |
//! | `turns` | transactions that wait for a leader |
//! | `pipeline` | leader, groups, publication |
//! | `alone` | the lead of the pipeline, held over several calls |
//! | `filler` | filling an empty database |
//! | `replicated`, `observer` | commits through a shared log, and the commits of other processes |

pub mod alone;
pub mod filler;
pub mod history;
pub mod observer;
pub mod pipeline;
pub mod replicated;
pub mod request;
pub mod turns;
pub mod write_batcher;
