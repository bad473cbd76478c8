//! The versions that transactions read.
//!
//! | file | what |
//! |---|---|
//! | `version` | a number, a catalog and a snapshot |
//! | `current` | the current version, with a handle for each thread |
//! | `active` | the write transactions that have not ended |

pub mod active;
pub mod current;
pub mod version;
