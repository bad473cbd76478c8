//! The generated parser of `cozoscript.pest`, and small helpers over its nodes.
//!
//! A node is a rule of the grammar with the text that it matched; [`parts`] gives those below it that carry meaning.
//! For `[1, 2]` the node is a `list` whose parts are two `expr`, without the comma and the bracket.

// The generated code has no documentation.
#![allow(missing_docs)]

use pest::iterators::Pair;

use super::ast::Symbol;
use crate::diag::SourceSpan;

#[derive(pest_derive::Parser)]
#[grammar = "parse/cozoscript.pest"]
pub(super) struct CozoScriptParser;

/// A node of pest's tree.
pub(super) type Node<'i> = Pair<'i, Rule>;

/// The nodes below one, without punctuation and keywords.
pub(super) fn parts(node: Node<'_>) -> impl Iterator<Item = Node<'_>> {
    node.into_inner().filter(|part| !is_mark(part.as_rule()))
}

/// Whether a rule only marks a place. Keywords that decide something (`not`, `or`, `%else`, ...) are looked at by those
/// who care before this filter.
fn is_mark(rule: Rule) -> bool {
    use Rule::*;
    matches!(
        rule,
        comma
            | semicolon
            | rbracket
            | rparen
            | rbrace
            | bar
            | kw_in
            | kw_inline
            | kw_constant
            | kw_fixed
            | kw_limit
            | kw_offset
            | kw_order
            | kw_timeout
            | kw_sleep
            | kw_assert
            | kw_disable_magic_rewrite
            | kw_disable_join_reorder
            | kw_values
            | kw_default
            | kw_columns
            | kw_indices
            | kw_describe
            | kw_remove
            | kw_rename
            | kw_arrow
            | kw_index
            | kw_create
            | kw_drop
            | kw_set_triggers
            | kw_on
            | kw_show_triggers
            | kw_access_level
            | kw_kill
            | kw_explain
            | kw_as
            | kw_then
            | kw_else
            | kw_end
            | kw_mark
            | kw_loop
            | kw_break
            | kw_continue
            | kw_return
            | kw_debug
            | kw_ignore_error
            | kw_swap
            | EOI
    )
}

/// The next part, which the grammar promises.
pub(super) fn next_part<'i>(parts: &mut impl Iterator<Item = Node<'i>>) -> Node<'i> {
    parts.next().expect("the grammar demands this part")
}

/// Where a node stands. The blanks that pest may include at its end are left out.
pub(super) fn span_of(node: &Node<'_>) -> SourceSpan {
    let span = node.as_span();
    SourceSpan(span.start(), span.as_str().trim_end().len())
}

/// The node's text as a name.
pub(super) fn symbol(node: &Node<'_>) -> Symbol {
    Symbol::new(node.as_str(), span_of(node))
}
