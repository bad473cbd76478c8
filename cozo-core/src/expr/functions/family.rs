//! A family of functions: what a file of this directory gives, and a section of the documentation.

use super::Function;

/// Functions that belong together.
pub struct Family {
    /// The heading in the documentation.
    pub title: &'static str,
    /// The functions, sorted by name.
    pub functions: &'static [Function],
}
