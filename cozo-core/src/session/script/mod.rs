//! Scripts ready to run: parsed, compiled and cached. [`run`](super::run) runs them.
//!
//! They are apart from `run` since what runs them is above what keeps them: [`Core`](super::core::Core) has the script cache and
//! the triggers, which are queries too.
//!
//! | file | what |
//! |---|---|
//! | `cache` | [`ScriptCache`]: parsed scripts by their text |
//! | `statements` | [`CompiledScript`]: a query, a system operation, or statements |
//! | `query_cache` | [`QueryCache`]: a query of a script with its last plans |
//! | `compile` | [`CompiledQuery`]: a query with its plan |
//! | `statistics` | the sizes and samples of relations that a plan depends on |
//! | `cached_ref` | references to cached values without counting |

mod cache;
mod cached_ref;
mod compile;
mod query_cache;
mod statements;
mod statistics;

pub use cache::{CachedScript, ScriptCache};
pub use cached_ref::CachedRef;
pub use compile::{CompiledQuery, DEFAULT_TIMEOUT_SECONDS, timeout_of};
pub use query_cache::QueryCache;
pub use statements::{CompiledScript, RelationSource, Step, first_line, op_writes};
pub use statistics::Sampled;
