//! The language of full-text search: a text becomes a [`TextQuery`], and with an analyzer an [`AnalyzedQuery`].
//!
//! ```text
//! query  = group { group }                                    juxtaposed groups: AND
//! group  = all { "NOT" all }                                  the first without the others
//! all    = any { "AND" any }
//! any    = term { ("OR" | "," | ";") term }
//! term   = phrase | near | "(" query ")"
//! near   = "NEAR" ["/" INT] "(" (word | quoted) [marks] { .. } ")"     10 without INT
//! phrase = (word { word } | quoted) [marks]
//! marks  = ["*"] ["^" NUMBER]                                 a beginning of a word; a weight of the score
//! ```
//!
//! | query | meaning |
//! |---|---|
//! | `red apple` | one phrase: both words |
//! | `a OR b AND c NOT d` | `((a OR b) AND c) NOT d` |
//! | `a NOT b "c"` | `(a NOT b) AND "c"`: juxtaposed phrases are the loosest |
//! | `"red, apple"` | one phrase, which the analyzer divides |
//! | `appl* ^2.5` | words that begin with `appl`, with 2.5 times their score |
//!
//! A word is of letters, digits, marks and `_`. Keywords are upper-case words; `ORanges` and `and` are words.

mod analyzed;
mod cursor;
mod error;
mod parser;

#[cfg(test)]
mod tests;

pub use analyzed::{AnalyzeOptions, AnalyzedQuery, QueryTerm};
pub use error::TextQueryError;

use std::fmt::{self, Display, Formatter, Write};

use crate::value::SmallStr;

/// A query as it was written.
#[derive(Clone, Debug, PartialEq)]
pub enum TextQuery {
    /// A phrase.
    Phrase(QueryPhrase),
    /// All of these.
    And(Vec<TextQuery>),
    /// One of these at least.
    Or(Vec<TextQuery>),
    /// One without any of the others.
    Not {
        /// What is searched.
        keep: Box<TextQuery>,
        /// What must not be there.
        except: Vec<TextQuery>,
    },
    /// Phrases that stand close together.
    Near(NearQuery),
}

/// Words that stand next to each other in the query, or a quoted text.
#[derive(Clone, Debug, PartialEq)]
pub struct QueryPhrase {
    /// The words as they stand in the query; what is quoted, without quotes and escapes.
    pub text: SmallStr,
    /// Whether it stands in quotes.
    pub quoted: bool,
    /// Whether it is the beginning of a word: `*`.
    pub prefix: bool,
    /// The factor of its score: `^`.
    pub boost: f64,
}

/// Phrases that stand close together: `NEAR/3(a b)`.
#[derive(Clone, Debug, PartialEq)]
pub struct NearQuery {
    /// The most positions between them.
    pub within: u32,
    /// The phrases, one at least.
    pub phrases: Vec<QueryPhrase>,
}

impl TextQuery {
    /// Reads a query. A blank text is no query, and finds nothing.
    pub fn parse(text: &str) -> Result<Option<TextQuery>, TextQueryError> {
        parser::parse(text)
    }
}

impl Display for TextQuery {
    fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
        match self {
            TextQuery::Phrase(phrase) => phrase.fmt(f),
            TextQuery::And(parts) => write_joined(f, parts, " AND "),
            TextQuery::Or(parts) => write_joined(f, parts, " OR "),
            TextQuery::Not { keep, except } => {
                write!(f, "({keep} NOT ")?;
                write_list(f, except, " NOT ")?;
                f.write_char(')')
            }
            TextQuery::Near(NearQuery { within, phrases }) => {
                write!(f, "NEAR/{within}(")?;
                write_list(f, phrases, " ")?;
                f.write_char(')')
            }
        }
    }
}

impl Display for QueryPhrase {
    fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
        match self.quoted {
            true => write!(f, "{:?}", self.text)?,
            false => f.write_str(&self.text)?,
        }
        write_marks(f, self.prefix, self.boost)
    }
}

fn write_marks(f: &mut Formatter<'_>, prefix: bool, boost: f64) -> fmt::Result {
    if prefix {
        f.write_char('*')?;
    }
    if boost != 1.0 {
        write!(f, "^{boost}")?;
    }
    Ok(())
}

fn write_list<T: Display>(f: &mut Formatter<'_>, parts: &[T], separator: &str) -> fmt::Result {
    for (i, part) in parts.iter().enumerate() {
        if i > 0 {
            f.write_str(separator)?;
        }
        part.fmt(f)?;
    }
    Ok(())
}

fn write_joined<T: Display>(f: &mut Formatter<'_>, parts: &[T], separator: &str) -> fmt::Result {
    f.write_char('(')?;
    write_list(f, parts, separator)?;
    f.write_char(')')
}
