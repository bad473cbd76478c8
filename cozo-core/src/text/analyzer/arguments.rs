//! Tokenizers and filters by name: the registry's entry, and the arguments that are read for it.

use super::Named;
use super::error::AnalyzerError;
use crate::diag::nearest;
use crate::value::{DataValue, Num};

/// An entry of the tokenizers or of the filters.
pub struct PartOfAnalyzer<T> {
    /// Its names, the usual one first.
    pub names: &'static [&'static str],
    /// How it is written, with the values of arguments that may be left out.
    pub usage: &'static str,
    /// What it does, in one line.
    pub doc: &'static str,
    /// Makes it.
    pub(super) make: fn(&Arguments<'_>) -> Result<T, AnalyzerError>,
}

/// The tokenizer or filter of a name.
pub(super) fn make<T>(
    what: &'static str,
    all: &[PartOfAnalyzer<T>],
    (name, args): Named<'_>,
) -> Result<T, AnalyzerError> {
    let Some(part) = all.iter().find(|part| part.names.contains(&name)) else {
        let names: Vec<&str> = all.iter().flat_map(|part| part.names.iter().copied()).collect();
        let usual: Vec<&str> = all.iter().map(|part| part.names[0]).collect();
        let help = suggestion(name, &names, &usual);
        return Err(AnalyzerError::UnknownName { what, name: name.to_string(), help });
    };
    let arguments = Arguments { what, name: part.names[0], usage: part.usage, args };
    // The usage lists the arguments with commas between them.
    let most = part.usage.matches(',').count() + usize::from(part.usage.contains('('));
    if args.len() > most {
        let takes = match most {
            0 => "no argument".to_string(),
            1 => "one argument".to_string(),
            most => format!("{most} arguments at most"),
        };
        return Err(arguments.error(format!("it takes {takes}, and has {}", args.len())));
    }
    (part.make)(&arguments)
}

/// The arguments of one tokenizer or filter.
pub(super) struct Arguments<'a> {
    what: &'static str,
    name: &'static str,
    usage: &'static str,
    args: &'a [DataValue],
}

impl Arguments<'_> {
    /// An error that says how it is written.
    pub(super) fn error(&self, problem: String) -> AnalyzerError {
        let help = format!("it is written {}", self.usage);
        AnalyzerError::BadArgument { what: self.what, name: self.name, problem, help }
    }

    /// An error about a word that is not in a list.
    pub(super) fn unknown_word(&self, argument: &str, word: &str, known: &[&str]) -> AnalyzerError {
        let problem = format!("there is no {argument} '{word}'");
        let help = suggestion(word, known, known);
        AnalyzerError::BadArgument { what: self.what, name: self.name, problem, help }
    }

    fn wrong(&self, at: usize, argument: &str, wanted: &str) -> AnalyzerError {
        self.error(match self.args.get(at) {
            None => format!("the argument '{argument}' is missing, which is {wanted}"),
            Some(found) => format!("the argument '{argument}' is {wanted}, not {found}"),
        })
    }

    /// An Int of at least `min`. There may be a default.
    pub(super) fn count(
        &self,
        at: usize,
        argument: &str,
        min: usize,
        default: Option<usize>,
    ) -> Result<usize, AnalyzerError> {
        let found = match (self.args.get(at), default) {
            (None, Some(default)) => return Ok(default),
            (Some(DataValue::Num(Num::Int(value))), _) => usize::try_from(*value).ok(),
            _ => None,
        };
        let found = found.filter(|found| *found >= min);
        found.ok_or_else(|| self.wrong(at, argument, &format!("an Int of at least {min}")))
    }

    /// `true` or `false`, or false if it is left out.
    pub(super) fn flag(&self, at: usize, argument: &str) -> Result<bool, AnalyzerError> {
        match self.args.get(at) {
            None => Ok(false),
            Some(DataValue::Bool(value)) => Ok(*value),
            Some(_) => Err(self.wrong(at, argument, "a Bool")),
        }
    }

    /// A String. There may be a default.
    pub(super) fn word<'s>(
        &'s self,
        at: usize,
        argument: &str,
        default: Option<&'s str>,
    ) -> Result<&'s str, AnalyzerError> {
        match (self.args.get(at), default) {
            (None, Some(default)) => Ok(default),
            (Some(DataValue::Str(word)), _) => Ok(word),
            _ => Err(self.wrong(at, argument, "a String")),
        }
    }

    /// The strings of a list, or nothing if the argument is no list.
    pub(super) fn list(&self, at: usize, argument: &str) -> Result<Option<Vec<&str>>, AnalyzerError> {
        let Some(DataValue::List(items)) = self.args.get(at) else { return Ok(None) };
        let words = items.iter().map(|item| match item {
            DataValue::Str(word) => Ok(word.as_str()),
            other => Err(self.error(format!("the list '{argument}' has Strings, not {other}"))),
        });
        words.collect::<Result<_, _>>().map(Some)
    }

    /// The strings of a list.
    pub(super) fn words(&self, at: usize, argument: &str) -> Result<Vec<&str>, AnalyzerError> {
        self.list(at, argument)?.ok_or_else(|| self.wrong(at, argument, "a list of Strings"))
    }

    /// An error about an argument that is neither a String nor a list.
    pub(super) fn no_word_or_list(&self, at: usize, argument: &str) -> AnalyzerError {
        self.wrong(at, argument, "a language or a list of Strings")
    }

    /// Whether the argument is a String.
    pub(super) fn is_word(&self, at: usize) -> bool {
        matches!(self.args.get(at), Some(DataValue::Str(_)))
    }
}

/// What the user may have meant, or else all that there is.
fn suggestion(name: &str, known: &[&str], usual: &[&str]) -> String {
    // Of two spellings of one name, the usual one is suggested.
    match nearest(name, usual).or_else(|| nearest(name, known)) {
        Some(near) => format!("did you mean '{near}'?"),
        None => format!("there are {}", usual.join(", ")),
    }
}
