//! The generated parser of `cozoscript.pest`, and small helpers over its nodes.
//!
//! A node is a rule of the grammar with the text that it matched; [`parts`] gives those below it that carry meaning.
//! For `[1, 2]` the node is a `list` whose parts are two `expr`, without the comma and the bracket.

// The generated code has no documentation.
#![allow(missing_docs)]

use std::sync::LazyLock;

use pest::iterators::Pair;
use rustc_hash::FxHashSet;

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

/// Whether a rule only marks a place. Keywords that decide something (`not`, `or`, `%if`, ...) are left to those who care.
fn is_mark(rule: Rule) -> bool {
    use Rule::*;
    static KEYWORDS: LazyLock<FxHashSet<Rule>> = LazyLock::new(|| {
        let named = Rule::all_rules().iter().filter(|rule| format!("{rule:?}").starts_with("kw_"));
        named.copied().filter(|rule| !matches!(rule, kw_not | kw_or | kw_and | kw_if | kw_if_not)).collect()
    });
    matches!(rule, comma | semicolon | rbracket | rparen | rbrace | bar | EOI) || KEYWORDS.contains(&rule)
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
