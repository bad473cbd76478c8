//! The way to the next version.
//!
//! | file | what |
//! |---|---|
//! | `request` | the changes of a transaction, and what it relies on |
//! | `history` | the keys of recent commits, and validation against them |
//! | `write_batcher` | blind writes of several transactions, committed together |
//! | `pipeline` | leader, groups, publication |
//! | `alone` | the lead of the pipeline, held over several calls |
//! | `filler` | filling an empty database |

pub mod alone;
pub mod filler;
pub mod history;
pub mod pipeline;
pub mod request;
pub mod write_batcher;
