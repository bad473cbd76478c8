//! What a write or a script makes known: triggers run, and the host receives changes and debug output.
//!
//! | file | what |
//! |---|---|
//! | `callbacks` | channels of the host that receive the changes of a relation |
//! | `triggers` | queries of a relation that run when it changes, parsed and cached |
//! | `hooks` | [`Hooks`]: the triggers and callbacks of one operation, and when they happen |
//! | `elsewhere` | callbacks for the changes of other processes |
//! | `shared_changes` | [`SharedChanges`]: the changes of all processes, from a position that the host keeps |
//! | `debug` | the output of `%debug` |
//!
//! **events never run a query**: [`RunTrigger`](triggers::RunTrigger), a function of the caller, does.

mod callbacks;
mod debug;
mod elsewhere;
mod hooks;
mod shared_changes;
mod triggers;

pub use callbacks::{CallbackOp, Change};
pub use debug::DebugSink;
pub use elsewhere::Elsewhere;
pub use hooks::{Events, Hooks, before_replacing};
pub use shared_changes::{ChangePosition, SharedChange, SharedChanges};
pub use triggers::{Trigger, given};
