//! Graph algorithms: each against a brute force on many small random graphs, and against what was computed by hand.

#![allow(clippy::unwrap_used, reason = "a test fails by panicking")]

#[path = "../common/mod.rs"]
mod common;
#[path = "../common/engines.rs"]
mod engines;

mod by_hand;
mod centrality;
mod communities;
mod components;
mod flows;
mod kept;
mod large;
mod paths;
mod random;
mod searches;
