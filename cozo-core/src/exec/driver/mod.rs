//! Drivers: they run a plan.
//!
//! | file | what |
//! |---|---|
//! | `answer` | the table of the entry becomes the answer: sorted, cut, asserted |
//! | `fixpoint` | components in their order, and recursion in rounds |
//! | `rule` | one rule: in batches on one thread or several, or chunk by chunk |
//! | `fixed` | fixed rules |
//!
//! Plans of one row run in [`row`](crate::exec::row) instead.

pub mod answer;
mod fixed;
pub mod fixpoint;
mod ordered;
mod rule;
mod sort;
