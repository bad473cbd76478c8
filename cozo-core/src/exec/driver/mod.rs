//! Drivers: they run a plan.
//!
//! | file | what |
//! |---|---|
//! | `answer` | the table of the entry becomes the answer: sorted, cut, asserted |
//! | `evaluate` | components in their order |
//! | `recursion`, `fixpoint` | recursion in rounds, of all rows or part by part |
//! | `rule` | one rule: in batches on one thread or several, or chunk by chunk |
//! | `stages` | rules with joins whose build side exceeds the memory |
//! | `groups` | groups that exceed the memory |
//! | `fixed` | fixed rules |
//!
//! Plans of one row run in [`row`](crate::exec::row) instead.

pub mod answer;
pub mod evaluate;
mod fixed;
mod fixpoint;
mod groups;
mod ordered;
mod recursion;
mod rule;
mod stages;
