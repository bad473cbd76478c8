//! Plans for other engines: a query after all passes as JSON, and the parts of it that are evaluated here.
//!
//! Another engine joins, tests and stores rows; values, functions and aggregations are ours. [`plan_document`] writes a plan of the form
//! [`Form::Plain`](crate::plan::Form) as JSON. The other engine passes batches of rows to two classes, which are made from parts of that
//! JSON:
//!
//! * [`PortableRows`] runs tests, assignments and lists on rows.
//! * [`PortableGroups`] aggregates rows by group.
//!
//! Columns whose values may have several types travel as bytes: see [`encoding`]. `docs/design/plan-json.md` documents the JSON.
//!
//! ```text
//! ?[b] := *e[a, b], a > 1
//!     {"op": "join", "source": {"relation": "e"}, "on": [], "outputs": [{"column": 0, "slot": 0}, {"column": 1, "slot": 1}]}
//!     {"op": "filter", "test": {"call": "gt", "arguments": [{"slot": 0}, {"constant": {"type": "Int", "value": 1, ...}}]}}
//! ```
//!
//! **Nothing is planned here**: the plan is that of [`crate::plan`].

mod document;
mod encoding;
mod error;
mod expression;
mod groups;
mod operators;
mod rows;
mod sizes;

pub use document::{PLAN_VERSION, plan_document};
pub use encoding::{decoded_value, encoded_value};
pub use groups::PortableGroups;
pub use rows::PortableRows;
pub use sizes::RelationSizes;
