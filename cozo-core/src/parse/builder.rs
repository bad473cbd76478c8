//! The state of the conversion from pest's tree to the syntax tree: the script, and the depth of the tree.
//!
//! Each file of the module adds the methods for its part of the grammar.

use std::cell::{Cell, RefCell};

use super::ast::Symbol;
use super::error::ParseError;
use super::position::describe_position;
use super::prescan::Unmatched;
use crate::diag::SourceSpan;

/// The greatest depth of a tree, since later stages recurse over it. A chain of operators such as `a - b - c` has one level for
/// each operator.
pub(super) const MAX_TREE_DEPTH: usize = 1000;

/// Builds the tree. Errors name positions in `source`, the script with its comments.
pub(super) struct Builder<'s> {
    pub source: &'s str,
    /// The first bracket of the script that is not matched.
    pub unmatched: Option<Unmatched>,
    depth: Cell<usize>,
    /// About how many bytes of the syntax tree were built and are not charged yet.
    pub syntax_bytes: Cell<usize>,
    /// The parameters mentioned so far.
    pub parameters: RefCell<Vec<Symbol>>,
}

impl<'s> Builder<'s> {
    pub fn new(source: &'s str, unmatched: Option<Unmatched>) -> Builder<'s> {
        let (depth, syntax_bytes, parameters) = (Cell::default(), Cell::default(), RefCell::default());
        Builder { source, unmatched, depth, syntax_bytes, parameters }
    }

    /// Refuses a level above an expression of `height` levels if the tree would be too deep.
    pub fn higher(&self, height: usize, excess: SourceSpan) -> Result<(), ParseError> {
        self.deeper(height + 1, excess, || Ok(()))
    }

    /// Builds something that adds `levels` to the depth of the tree; `excess` is the part that would be too deep.
    pub fn deeper<T>(
        &self,
        levels: usize,
        excess: SourceSpan,
        build: impl FnOnce() -> Result<T, ParseError>,
    ) -> Result<T, ParseError> {
        let before = self.depth.get();
        if before + levels > MAX_TREE_DEPTH {
            let what = "operators and brackets around one another";
            return Err(ParseError::NestingTooDeep { what, limit: MAX_TREE_DEPTH, span: excess });
        }
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
