//! The C library as others see it: its header, and programs that use it.

mod header;
mod programs;
mod support;
