//! A query after the analyzer: words as the index stores them.
//!
//! Each phrase becomes the tokens that the analyzer makes of it. Parts of which the filters leave nothing, such as stop words, are
//! dropped. What is left is a tree of [`QueryTerm`]s, or nothing at all.

use std::fmt::{self, Display, Formatter};

use super::{NearQuery, QueryPhrase, TextQuery, write_joined, write_list, write_marks};
use crate::budget::Stop;
use crate::text::analyzer::{Analyzer, Tokens};
use crate::value::SmallStr;

/// How phrases are read.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct AnalyzeOptions {
    /// The tokens of a quoted phrase must follow each other. Otherwise a phrase is found where all its tokens are.
    pub exact: bool,
    /// Prefixes run through the analyzer. Otherwise they are compared with stored words as they are written.
    pub prefix_analyzed: bool,
}

/// A query of words as an index stores them.
#[derive(Clone, Debug, PartialEq)]
pub enum AnalyzedQuery {
    /// A word.
    Term(QueryTerm),
    /// Words at these positions, counted from the position of the first word.
    Phrase(Vec<(usize, QueryTerm)>),
    /// All of these.
    And(Vec<AnalyzedQuery>),
    /// One of these at least.
    Or(Vec<AnalyzedQuery>),
    /// One without any of the others.
    Not {
        /// What is searched.
        keep: Box<AnalyzedQuery>,
        /// What must not be there.
        except: Vec<AnalyzedQuery>,
    },
    /// Words, two at least, that stand close together.
    Near {
        /// The most positions between them.
        within: u32,
        /// The words.
        terms: Vec<QueryTerm>,
    },
}

/// A word, or the beginning of one.
#[derive(Clone, Debug, PartialEq)]
pub struct QueryTerm {
    /// The word.
    pub text: SmallStr,
    /// Whether it is the beginning of words.
    pub prefix: bool,
    /// The factor of its score.
    pub boost: f64,
}

impl TextQuery {
    /// The query in words as the index of the analyzer stores them. None if the filters leave nothing, so that nothing is found.
    pub fn analyze(&self, analyzer: &Analyzer, options: AnalyzeOptions) -> Result<Option<AnalyzedQuery>, Stop> {
        Analysis { analyzer, options, tokens: Tokens::default() }.query(self)
    }
}

struct Analysis<'a> {
    analyzer: &'a Analyzer,
    options: AnalyzeOptions,
    tokens: Tokens,
}

impl Analysis<'_> {
    fn query(&mut self, query: &TextQuery) -> Result<Option<AnalyzedQuery>, Stop> {
        match query {
            TextQuery::Phrase(phrase) => self.phrase(phrase),
            TextQuery::And(parts) => Ok(all_of(self.queries(parts)?)),
            TextQuery::Or(parts) => Ok(one_or(self.queries(parts)?, AnalyzedQuery::Or)),
            TextQuery::Not { keep, except } => {
                let Some(keep) = self.query(keep)? else { return Ok(None) };
                let except = self.queries(except)?;
                match except.is_empty() {
                    true => Ok(Some(keep)),
                    false => Ok(Some(AnalyzedQuery::Not { keep: Box::new(keep), except })),
                }
            }
            TextQuery::Near(NearQuery { within, phrases }) => {
                let mut terms = vec![];
                for phrase in phrases {
                    terms.extend(self.terms(phrase)?.into_iter().map(|(_, term)| term));
                }
                Ok(match terms.len() {
                    0 | 1 => terms.pop().map(AnalyzedQuery::Term),
                    _ => Some(AnalyzedQuery::Near { within: *within, terms }),
                })
            }
        }
    }

    /// What is left of parts.
    fn queries(&mut self, parts: &[TextQuery]) -> Result<Vec<AnalyzedQuery>, Stop> {
        parts.iter().filter_map(|part| self.query(part).transpose()).collect()
    }

    fn phrase(&mut self, phrase: &QueryPhrase) -> Result<Option<AnalyzedQuery>, Stop> {
        let mut terms = self.terms(phrase)?;
        if self.options.exact && phrase.quoted && terms.len() > 1 {
            let first = terms[0].0;
            terms.iter_mut().for_each(|(position, _)| *position -= first);
            return Ok(Some(AnalyzedQuery::Phrase(terms)));
        }
        Ok(all_of(terms.into_iter().map(|(_, term)| AnalyzedQuery::Term(term)).collect()))
    }

    /// The terms of a phrase with their positions.
    fn terms(&mut self, phrase: &QueryPhrase) -> Result<Vec<(usize, QueryTerm)>, Stop> {
        let QueryPhrase { text, prefix, boost, .. } = phrase;
        let term = |text: SmallStr, prefix| QueryTerm { text, prefix, boost: *boost };
        if *prefix && !self.options.prefix_analyzed {
            let is_nothing = text.is_empty();
            return Ok(if is_nothing { vec![] } else { vec![(0, term(text.clone(), true))] });
        }
        match prefix {
            true => self.analyzer.tokens_of_prefix(text, &mut self.tokens)?,
            false => self.analyzer.tokens(text, &mut self.tokens)?,
        }
        let last = self.tokens.len().saturating_sub(1);
        let terms = self.tokens.iter().enumerate();
        Ok(terms.map(|(i, token)| (token.position, term(token.text.into(), *prefix && i == last))).collect())
    }
}

/// All parts. Parts that are lists of this kind become one list.
fn all_of(parts: Vec<AnalyzedQuery>) -> Option<AnalyzedQuery> {
    let mut all = Vec::with_capacity(parts.len());
    for part in parts {
        match part {
            AnalyzedQuery::And(inner) => all.extend(inner),
            part => all.push(part),
        }
    }
    one_or(all, AnalyzedQuery::And)
}

/// Nothing, the part alone, or several parts together.
fn one_or(mut parts: Vec<AnalyzedQuery>, together: fn(Vec<AnalyzedQuery>) -> AnalyzedQuery) -> Option<AnalyzedQuery> {
    match parts.len() {
        0 | 1 => parts.pop(),
        _ => Some(together(parts)),
    }
}

impl Display for AnalyzedQuery {
    fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
        match self {
            AnalyzedQuery::Term(term) => term.fmt(f),
            AnalyzedQuery::Phrase(terms) => {
                f.write_str("[")?;
                for (i, (position, term)) in terms.iter().enumerate() {
                    write!(f, "{}{position}:{term}", if i > 0 { " " } else { "" })?;
                }
                f.write_str("]")
            }
            AnalyzedQuery::And(parts) => write_joined(f, parts, " AND "),
            AnalyzedQuery::Or(parts) => write_joined(f, parts, " OR "),
            AnalyzedQuery::Not { keep, except } => {
                write!(f, "({keep} NOT ")?;
                write_list(f, except, " NOT ")?;
                f.write_str(")")
            }
            AnalyzedQuery::Near { within, terms } => {
                write!(f, "NEAR/{within}(")?;
                write_list(f, terms, " ")?;
                f.write_str(")")
            }
        }
    }
}

impl Display for QueryTerm {
    fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
        write!(f, "{:?}", self.text.as_str())?;
        write_marks(f, self.prefix, self.boost)
    }
}
