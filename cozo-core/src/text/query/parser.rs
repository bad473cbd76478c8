//! Reads a query by recursive descent: a function for each level of precedence, the loosest first.
//!
//! The depth of parentheses is bounded, so that no query overflows the stack of a thread. Chains of operators of any length are
//! lists, not trees.

use super::cursor::Cursor;
use super::error::TextQueryError;
use super::{NearQuery, QueryPhrase, TextQuery};
use crate::value::SmallStr;

/// The most parentheses around a part of a query.
const MAX_NESTING: usize = 64;

/// The distance of NEAR that gives none.
const DEFAULT_WITHIN: u32 = 10;

/// Operators by their spellings.
const OPERATORS: [(&str, Operator); 5] =
    [("AND", Operator::And), ("OR", Operator::Or), (",", Operator::Or), (";", Operator::Or), ("NOT", Operator::Not)];

#[derive(Clone, Copy, PartialEq, Eq)]
enum Operator {
    And,
    Or,
    Not,
}

/// Reads a whole query.
pub(super) fn parse(text: &str) -> Result<Option<TextQuery>, TextQueryError> {
    let mut parser = Parser { cursor: Cursor { text, at: 0 }, nesting: 0 };
    if parser.cursor.peek().is_none() {
        return Ok(None);
    }
    let query = parser.groups()?;
    match parser.cursor.peek() {
        None => Ok(Some(query)),
        Some(_) => Err(parser.unexpected()),
    }
}

struct Parser<'q> {
    cursor: Cursor<'q>,
    /// The number of parentheses that are open.
    nesting: usize,
}

impl Parser<'_> {
    /// Groups to the end of the query or of its parenthesis.
    fn groups(&mut self) -> Result<TextQuery, TextQueryError> {
        let mut groups = vec![self.without()?];
        while !matches!(self.cursor.peek(), None | Some(')')) {
            groups.push(self.without()?);
        }
        Ok(one_or(groups, TextQuery::And))
    }

    fn without(&mut self) -> Result<TextQuery, TextQueryError> {
        let mut parts = self.chain(Operator::Not, Self::all)?;
        let keep = parts.remove(0);
        match parts.is_empty() {
            true => Ok(keep),
            false => Ok(TextQuery::Not { keep: Box::new(keep), except: parts }),
        }
    }

    fn all(&mut self) -> Result<TextQuery, TextQueryError> {
        self.chain(Operator::And, Self::any).map(|parts| one_or(parts, TextQuery::And))
    }

    fn any(&mut self) -> Result<TextQuery, TextQueryError> {
        self.chain(Operator::Or, Self::term).map(|parts| one_or(parts, TextQuery::Or))
    }

    /// Parts with an operator between them, one at least.
    fn chain(
        &mut self,
        operator: Operator,
        part: fn(&mut Self) -> Result<TextQuery, TextQueryError>,
    ) -> Result<Vec<TextQuery>, TextQueryError> {
        let mut parts = vec![part(self)?];
        while let Some((spelling, _)) = self.operator().filter(|(_, found)| *found == operator) {
            let start = self.cursor.at;
            self.cursor.at += spelling.len();
            self.check_operand((start, self.cursor.at), spelling)?;
            parts.push(part(self)?);
        }
        Ok(parts)
    }

    /// The operator that is next. It is not read yet.
    fn operator(&mut self) -> Option<(&'static str, Operator)> {
        let word = self.cursor.peek_word();
        let rest = self.cursor.rest();
        OPERATORS.into_iter().find(|(spelling, _)| match word {
            "" => rest.starts_with(spelling),
            word => word == *spelling,
        })
    }

    /// Fails if nothing follows an operator, or another operator.
    fn check_operand(&mut self, (start, end): (usize, usize), spelling: &str) -> Result<(), TextQueryError> {
        if let Some((second, _)) = self.operator() {
            let message = format!("{spelling} and {second} follow each other in the full-text query");
            let help = match second {
                "NOT" => "NOT means 'and not': write a NOT b",
                _ => "write something between them, or put a word like an operator in quotes",
            };
            return Err(TextQueryError::new(message, (start, self.cursor.at + second.len()), help));
        }
        if matches!(self.cursor.peek(), None | Some(')')) {
            let message = format!("nothing follows {spelling} in the full-text query");
            let help = "write something after it, or put a word like an operator in quotes";
            return Err(TextQueryError::new(message, (start, end), help));
        }
        Ok(())
    }

    fn term(&mut self) -> Result<TextQuery, TextQueryError> {
        if let Some((spelling, _)) = self.operator() {
            let span = (self.cursor.at, self.cursor.at + spelling.len());
            let message = format!("nothing stands before {spelling} in the full-text query");
            let help = match spelling {
                "NOT" => "NOT takes away from what is found: write a NOT b",
                _ => "write something before it, or put a word like an operator in quotes",
            };
            return Err(TextQueryError::new(message, span, help));
        }
        match self.cursor.peek() {
            Some('(') => self.parenthesis(),
            _ if self.cursor.is_near() => self.near(),
            _ => self.phrase().map(TextQuery::Phrase),
        }
    }

    fn parenthesis(&mut self) -> Result<TextQuery, TextQueryError> {
        let open = self.cursor.at;
        self.cursor.at += 1;
        if self.nesting == MAX_NESTING {
            let message = format!("the full-text query has more than {MAX_NESTING} parentheses within each other");
            return Err(TextQueryError::new(
                message,
                (open, open + 1),
                "leave out the parentheses that change nothing",
            ));
        }
        if self.cursor.takes(')') {
            let message = "nothing stands in the parentheses of the full-text query";
            return Err(TextQueryError::new(message, (open, self.cursor.at), "leave them out"));
        }
        self.check_open(open)?;
        self.nesting += 1;
        let inner = self.groups()?;
        self.nesting -= 1;
        self.check_open(open)?;
        self.cursor.at += 1;
        Ok(inner)
    }

    /// Fails at the end of the query, where a parenthesis is still open.
    fn check_open(&mut self, open: usize) -> Result<(), TextQueryError> {
        if self.cursor.peek().is_some() {
            return Ok(());
        }
        let message = "a parenthesis in the full-text query is not closed";
        Err(TextQueryError::new(message, (open, open + 1), "close it with )"))
    }

    fn near(&mut self) -> Result<TextQuery, TextQueryError> {
        let start = self.cursor.at;
        self.cursor.takes_word("NEAR");
        let mut within = DEFAULT_WITHIN;
        if self.cursor.takes('/') {
            let digits = self.cursor.number(false);
            within = digits.parse().map_err(|_| {
                let message = "NEAR/ needs a number of positions";
                TextQueryError::new(message, (start, self.cursor.at), "such as NEAR/3(a b)")
            })?;
        }
        let open = self.cursor.next_span();
        if !self.cursor.takes('(') {
            let message = "NEAR needs phrases in parentheses";
            return Err(TextQueryError::new(message, (start, open.0), "such as NEAR/3(a b)"));
        }
        let mut phrases = vec![];
        while !self.cursor.takes(')') {
            self.check_open(open.0)?;
            phrases.push(self.member()?);
        }
        if phrases.is_empty() {
            let message = "nothing stands in the parentheses of NEAR";
            return Err(TextQueryError::new(message, (start, self.cursor.at), "such as NEAR/3(a b)"));
        }
        Ok(TextQuery::Near(NearQuery { within, phrases }))
    }

    /// A phrase of NEAR. Each word is one.
    fn member(&mut self) -> Result<QueryPhrase, TextQueryError> {
        if let Some((spelling, _)) = self.operator() {
            let span = (self.cursor.at, self.cursor.at + spelling.len());
            let message = format!("{spelling} stands in the parentheses of NEAR");
            let help = "NEAR takes words and quoted texts with blanks between them, and no operators";
            return Err(TextQueryError::new(message, span, help));
        }
        match self.cursor.peek_word() {
            "" => self.phrase(),
            word => {
                self.cursor.at += word.len();
                self.marked(SmallStr::from(word), false)
            }
        }
    }

    /// Words up to the next operator, or a quoted text.
    fn phrase(&mut self) -> Result<QueryPhrase, TextQueryError> {
        if let Some(quote @ ('"' | '\'')) = self.cursor.peek() {
            let text = self.cursor.quoted(quote)?;
            return self.marked(SmallStr::from(text), true);
        }
        let start = self.cursor.at;
        let mut end = start;
        while self.operator().is_none() && !self.cursor.is_near() {
            let word = self.cursor.peek_word();
            if word.is_empty() {
                break;
            }
            self.cursor.at += word.len();
            end = self.cursor.at;
        }
        match end > start {
            true => self.marked(SmallStr::from(&self.cursor.text[start..end]), false),
            false => Err(self.unexpected()),
        }
    }

    /// A phrase with the marks that follow it.
    fn marked(&mut self, text: SmallStr, quoted: bool) -> Result<QueryPhrase, TextQueryError> {
        let prefix = self.cursor.takes('*');
        let mut boost = 1.0;
        self.cursor.skip_blanks();
        let start = self.cursor.at;
        if self.cursor.takes('^') {
            let number = self.cursor.number(true);
            boost = number.parse().ok().filter(|boost: &f64| boost.is_finite()).ok_or_else(|| {
                let message = "^ in the full-text query needs a number";
                TextQueryError::new(message, (start, self.cursor.at), "such as word^2 or word^0.5")
            })?;
        }
        Ok(QueryPhrase { text, quoted, prefix, boost })
    }

    /// An error about a character that cannot stand where it does.
    fn unexpected(&mut self) -> TextQueryError {
        let found = self.cursor.peek().unwrap_or(' ');
        let message = format!("unexpected {found} in the full-text query");
        let help = match found {
            ')' => "no parenthesis is open here",
            '*' | '^' => "* and ^ stand after a word or a quoted text",
            _ => "put text with other signs than letters, digits and _ in quotes: \"a-b\"",
        };
        TextQueryError::new(message, self.cursor.next_span(), help)
    }
}

/// The part alone, or several parts together.
fn one_or(mut parts: Vec<TextQuery>, together: fn(Vec<TextQuery>) -> TextQuery) -> TextQuery {
    match parts.len() {
        1 => parts.remove(0),
        _ => together(parts),
    }
}
