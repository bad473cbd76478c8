//! What can be wrong with the text of a script.
//!
//! ```
//! let error = cozo::parse::parse_script("?[a] :- r[a]").unwrap_err();
//! assert_eq!(miette::Diagnostic::code(&error).unwrap().to_string(), "parser::pest");
//! ```

use super::prescan::MAX_BRACKETS;
use crate::budget::Stop;
use crate::diag::SourceSpan;

/// Why a script could not be parsed.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error, miette::Diagnostic)]
pub enum ParseError {
    /// The text does not follow the grammar: mend it at the position of the label. The message says what could stand there.
    #[error("{message}")]
    #[diagnostic(code(parser::pest))]
    Syntax {
        /// What was found, where, and what was expected.
        message: String,
        /// The place; of no length.
        #[label("{label}")]
        span: SourceSpan,
        /// What the place shows.
        label: &'static str,
        /// How to mend a common mistake, or what to write at this place.
        #[help]
        help: String,
    },

    /// An integer literal is beyond 9223372036854775807: write it with a decimal point to have a Float.
    #[error("the integer {literal} is too large")]
    #[diagnostic(
        code(parser::bad_pos_int),
        help("integers go up to 9223372036854775807; a decimal number with a point, like `1e19` or `5.0`, is a Float")
    )]
    IntegerTooLarge {
        /// The literal as written, cut short when very long.
        literal: String,
        /// Where it stands.
        #[label("does not fit into 64 bits")]
        span: SourceSpan,
    },

    /// A `\u` escape in a string is one half of a surrogate pair: write both halves, or the character itself.
    #[error("the escape {escape} is not a character")]
    #[diagnostic(
        code(parser::invalid_utf8_code),
        help(
            "codes from d800 to dfff only stand in pairs, like \\ud83c\\udf88; the character itself may be written too"
        )
    )]
    LoneSurrogate {
        /// The escape as written.
        escape: String,
        /// Where it stands.
        #[label("half of a surrogate pair")]
        span: SourceSpan,
    },

    /// Brackets, blocks or operators are nested deeper than the parser allows: split the expression over several rules.
    #[error("the script is nested too deeply: more than {limit} {what}")]
    #[diagnostic(
        code(parser::nesting_too_deep),
        help("give the inner parts names: move them into unifications (`x = ...`) or rules of their own")
    )]
    NestingTooDeep {
        /// What is counted.
        what: &'static str,
        /// How many of them are allowed.
        limit: usize,
        /// The first one too many.
        #[label("this one is too many")]
        span: SourceSpan,
    },

    /// A rule is longer than the parser reads at once: hand data over as parameters, and divide the rest.
    #[error("a rule or statement is too long: {bytes} bytes, where {limit} are allowed")]
    #[diagnostic(
        code(parser::too_long),
        help(
            "hand data over as a parameter, `x in $list` or `?[a, b] <- $rows`, and divide what is left into several rules; long lists of constants do not count"
        )
    )]
    TooLong {
        /// Its length without comments and lists of constants.
        bytes: usize,
        /// The limit.
        limit: usize,
        /// Where it begins.
        #[label("begins here")]
        span: SourceSpan,
    },

    /// The script was stopped, or its tree exceeds the memory limit.
    #[error(transparent)]
    #[diagnostic(transparent)]
    Stopped(#[from] Stop),
}

impl ParseError {
    /// A syntax error at a byte offset, with an empty label.
    pub(super) fn syntax(message: String, offset: usize, label: &'static str, help: String) -> ParseError {
        ParseError::Syntax { message, span: SourceSpan(offset, 0), label, help }
    }

    /// The thread's stack is too small even for the nesting that is allowed.
    pub(super) fn out_of_stack(offset: usize) -> ParseError {
        let what = "levels of brackets and blocks, as far as the stack of this thread allows";
        ParseError::NestingTooDeep { what, limit: MAX_BRACKETS, span: SourceSpan(offset, 0) }
    }

    /// The place that the error points at.
    pub fn span(&self) -> SourceSpan {
        match self {
            ParseError::Syntax { span, .. }
            | ParseError::IntegerTooLarge { span, .. }
            | ParseError::LoneSurrogate { span, .. }
            | ParseError::NestingTooDeep { span, .. }
            | ParseError::TooLong { span, .. } => *span,
            ParseError::Stopped(_) => SourceSpan::default(),
        }
    }
}
