//! The state that turning pest's tree into ours needs: the script, and how deep we are.
//!
//! Each file of the module adds the methods for its part of the grammar.

use std::cell::{Cell, RefCell};

use super::ast::Symbol;
use super::error::ParseError;
use super::position::describe_position;
use crate::diag::SourceSpan;

/// How deep a tree may become. A chain of operators such as `a + b + c` is one level deep for each operator, and later
/// stages recurse over the tree.
pub(super) const MAX_TREE_DEPTH: usize = 1000;

/// Builds the tree. Errors name positions in `source`, the script with its comments.
pub(super) struct Builder<'s> {
    pub source: &'s str,
    depth: Cell<usize>,
    /// The parameters mentioned so far.
    pub parameters: RefCell<Vec<Symbol>>,
}

impl<'s> Builder<'s> {
    pub fn new(source: &'s str) -> Builder<'s> {
        Builder { source, depth: Cell::new(0), parameters: RefCell::default() }
    }

    /// How many levels may still be added to the tree.
    pub fn levels_left(&self) -> usize {
        MAX_TREE_DEPTH - self.depth.get()
    }

    /// Builds something that adds `levels` to the depth of the tree; `excess` is the first part that would be too deep.
    pub fn deeper<T>(
        &self,
        levels: usize,
        excess: SourceSpan,
        build: impl FnOnce() -> Result<T, ParseError>,
    ) -> Result<T, ParseError> {
        if levels > self.levels_left() {
            let what = "operators and brackets around one another";
            return Err(ParseError::NestingTooDeep { what, limit: MAX_TREE_DEPTH, span: excess });
        }
        let before = self.depth.get();
        self.depth.set(before + levels);
        let built = build();
        self.depth.set(before);
        built
    }

    /// A syntax error that the grammar could not see.
    pub fn misplaced(&self, what: &str, span: SourceSpan, help: &str) -> ParseError {
        let message = format!("{what}, at {}", describe_position(self.source, span.0));
        ParseError::syntax(message, span.0, "this one", help.to_string())
    }
}
