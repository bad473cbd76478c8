//! The generated parser of `cozoscript.pest`, and small helpers over its nodes.
//!
//! A node is a rule of the grammar with the text that it matched; [`parts`] gives the nodes below it that carry meaning. For `[1,
//! 2]` the node is a `list` whose parts are two `expr`, without the comma and the bracket. The grammar reads a part of a
//! condensed text; the span of a node is mapped to the script.

// The generated code has no documentation.
#![allow(missing_docs)]

use std::ops::Range;
use std::sync::LazyLock;

use pest::Parser;
use pest::error::Error;
use pest::iterators::Pair;
use rustc_hash::FxHashSet;

use super::ast::Symbol;
use super::condensed::Condensed;
use crate::diag::SourceSpan;

#[derive(pest_derive::Parser)]
#[grammar = "parse/cozoscript.pest"]
pub(super) struct CozoScriptParser;

/// A node of pest's tree.
#[derive(Clone)]
pub(super) struct Node<'i> {
    pair: Pair<'i, Rule>,
    text: &'i Condensed<'i>,
    /// Where the part of the text begins that was parsed.
    begin: usize,
}

impl<'i> Node<'i> {
    /// The nodes of a part of a text that the grammar reads as a rule.
    pub fn parse(
        rule: Rule,
        text: &'i Condensed<'i>,
        part: Range<usize>,
    ) -> Result<impl Iterator<Item = Node<'i>>, Box<Error<Rule>>> {
        let begin = part.start;
        let pairs = CozoScriptParser::parse(rule, &text.text[part])?;
        Ok(pairs.map(move |pair| Node { pair, text, begin }))
    }

    pub fn as_rule(&self) -> Rule {
        self.pair.as_rule()
    }

    /// The text that it matched, without what was left out.
    pub fn as_str(&self) -> &'i str {
        self.pair.as_str()
    }

    /// The nodes below it.
    pub fn into_inner(self) -> impl Iterator<Item = Node<'i>> {
        let Node { pair, text, begin } = self;
        pair.into_inner().map(move |pair| Node { pair, text, begin })
    }

    /// Its part of the condensed text.
    pub fn range(&self) -> Range<usize> {
        let span = self.pair.as_span();
        self.begin + span.start()..self.begin + span.end()
    }

    /// The condensed text.
    pub fn text(&self) -> &'i Condensed<'i> {
        self.text
    }
}

/// The nodes below one, without punctuation and keywords.
pub(super) fn parts(node: Node<'_>) -> impl Iterator<Item = Node<'_>> {
    node.into_inner().filter(|part| !is_mark(part.as_rule()))
}

/// Whether a rule only marks a place. Keywords that decide something (`not`, `or`, `%if`, ...) are kept for the builder.
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
    let Range { start, .. } = node.range();
    let place = node.text.place(start);
    let len = match node.as_str().trim_end().len().checked_sub(1) {
        Some(last) => node.text.place(start + last) + 1 - place,
        None => 0,
    };
    SourceSpan(place, len)
}

/// The node's text as a name.
pub(super) fn symbol(node: &Node<'_>) -> Symbol {
    Symbol::new(node.as_str(), span_of(node))
}
