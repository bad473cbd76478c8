//! Search indices: vectors, texts, near-duplicates. They follow every write, and find what a scan of the relation finds.

#![allow(clippy::unwrap_used, reason = "a test fails by panicking")]

mod bm25;
#[path = "../common/mod.rs"]
mod common;
mod crash;
#[path = "../common/engines.rs"]
mod engines;
mod everywhere;
mod isolation;
mod texts;
mod vectors;
mod within;
