//! Drivers: they run a plan.
//!
//! | file | what |
//! |---|---|
//! | `answer` | the table of the entry becomes the answer: sorted, cut, asserted |
//! | `evaluate` | components in their order |
//! | `recursion`, `fixpoint`, `rounds_on_disk` | recursion in rounds: in memory, part by part, or on disk |
//! | `rule` | one rule: in batches on one thread or several, or chunk by chunk |
//! | `stages`, `build_parts` | rules with joins whose build side exceeds the memory |
//! | `groups` | groups that exceed the memory |
//! | `fixed` | fixed rules |
//!
//! Plans of one row run in [`row`](crate::exec::row) instead.

pub mod answer;
mod build_parts;
pub mod evaluate;
mod fixed;
mod fixpoint;
mod groups;
mod ordered;
mod recursion;
mod rounds_on_disk;
mod rule;
mod stages;
