//! The C library as others see it: its header, and programs that use it.

mod book;
mod header;
#[path = "../../../cozo-bin/tests/support/page.rs"]
mod page;
mod programs;
mod support;
