//! Stored relations as graphs of crate `petgraph`: algorithms of petgraph and rustworkx-core on them, beside the same
//! algorithms on copies, and beside our own.

#![allow(clippy::unwrap_used, reason = "a test fails by panicking")]

#[path = "../common/mod.rs"]
mod common;

mod api;
mod case;
mod centrality;
mod components;
mod copies;
mod flows;
mod paths;
mod traits;
