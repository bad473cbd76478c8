//! Reading the options of an operation: `{ name: value, ... }`.
//!
//! A value is a constant expression, a bare word such as `Cosine`, a list of column names, or a call such as `NGram(2, 3)`.

use super::index_error::IndexError;
use super::shared::value_of;
use crate::diag::{SourceSpan, nearest};
use crate::parse::ast::{Expr, Symbol};
use crate::program::Resolver;
use crate::schema::{AnalyzerPart, RelationSchema};
use crate::session::run::ScriptContext;
use crate::text::{Analyzer, Named};
use crate::value::{DataValue, Num};

/// Reads options by name.
pub struct OptionReader<'a> {
    options: &'a [(Symbol, Expr)],
    /// The names that were asked for.
    known: Vec<&'static str>,
    /// Where errors about the options as a whole point to.
    span: SourceSpan,
    context: &'a ScriptContext<'a>,
}

/// An option as it is written.
pub struct Written<'a> {
    name: &'a Symbol,
    expr: &'a Expr,
    context: &'a ScriptContext<'a>,
}

impl<'a> OptionReader<'a> {
    pub fn new(options: &'a [(Symbol, Expr)], span: SourceSpan, context: &'a ScriptContext<'a>) -> Self {
        OptionReader { options, known: vec![], span, context }
    }

    /// An option by any of its names.
    pub fn optional(&mut self, names: &[&'static str]) -> Option<Written<'a>> {
        self.known.extend(names);
        let (name, expr) = self.options.iter().find(|(name, _)| names.contains(&name.name.as_str()))?;
        Some(Written { name, expr, context: self.context })
    }

    /// An option that must be there.
    pub fn needed(&mut self, names: &[&'static str]) -> Result<Written<'a>, IndexError> {
        let missing = IndexError::OptionMissing { name: names[0], span: self.span };
        self.optional(names).ok_or(missing)
    }

    /// Refuses options that were not asked for, and names given twice.
    pub fn finish(self) -> Result<(), IndexError> {
        for (i, (name, _)) in self.options.iter().enumerate() {
            if !self.known.contains(&name.name.as_str()) {
                let hint = match nearest(&name.name, &self.known) {
                    Some(meant) => format!("did you mean '{meant}'?"),
                    None => format!("there are the options {}", self.known.join(", ")),
                };
                return Err(IndexError::UnknownOption { name: name.to_string(), hint, span: name.span });
            }
            if self.options[..i].iter().any(|(earlier, _)| earlier.name == name.name) {
                return Err(IndexError::OptionTwice { name: name.to_string(), span: name.span });
            }
        }
        Ok(())
    }

    /// Refuses tokenizers and filters that do not exist, or have other arguments.
    pub fn check_analyzer(&self, tokenizer: &AnalyzerPart, filters: &[AnalyzerPart]) -> miette::Result<()> {
        let filters: Vec<Named<'_>> = filters.iter().map(|part| (&*part.name, &*part.args)).collect();
        Analyzer::new((&tokenizer.name, &tokenizer.args), &filters)?;
        Ok(())
    }
}

impl Written<'_> {
    fn is_not(&self, wanted: impl Into<String>) -> miette::Report {
        let found = self.expr.to_string();
        IndexError::BadOption { name: self.name.to_string(), found, wanted: wanted.into(), span: self.expr.span() }
            .into()
    }

    fn value(&self) -> miette::Result<DataValue> {
        value_of(self.expr, self.context)
    }

    /// A positive integer.
    pub fn positive(&self) -> miette::Result<usize> {
        let value = self.value()?.get_int().and_then(|count| usize::try_from(count).ok());
        value.filter(|count| *count > 0).ok_or_else(|| self.is_not("a positive integer"))
    }

    /// A number.
    pub fn number(&self) -> miette::Result<f64> {
        match self.value()? {
            DataValue::Num(Num::Int(number)) => Ok(number as f64),
            DataValue::Num(Num::Float(number)) => Ok(number),
            _ => Err(self.is_not("a number")),
        }
    }

    /// `true` or `false`.
    pub fn truth(&self) -> miette::Result<bool> {
        self.value()?.get_bool().ok_or_else(|| self.is_not("true or false"))
    }

    /// One of some words, bare or as a string.
    pub fn one_of<T: Copy>(&self, words: &[(&str, T)]) -> miette::Result<T> {
        let written = match self.expr {
            Expr::Variable(symbol) => Some(symbol.name.to_string()),
            expr => value_of(expr, self.context)?.get_str().map(str::to_string),
        };
        let found = words.iter().find(|(word, _)| written.as_deref() == Some(word));
        let names: Vec<&str> = words.iter().map(|(word, _)| *word).collect();
        found.map(|(_, meant)| *meant).ok_or_else(|| self.is_not(format!("one of {}", names.join(", "))))
    }

    /// Names of columns: one, or a list of them.
    pub fn names(&self) -> miette::Result<Vec<Symbol>> {
        let items = match self.expr {
            Expr::List(items, _) => items.as_slice(),
            one => std::slice::from_ref(one),
        };
        let name = |expr: &Expr| match expr {
            Expr::Variable(symbol) => Ok(symbol.clone()),
            _ => Err(self.is_not("the name of a column, or a list of names")),
        };
        match items {
            [] => Err(self.is_not("the name of a column, or a list of names")),
            items => items.iter().map(name).collect(),
        }
    }

    /// The text of an expression over the columns of a relation.
    pub fn over_columns(&self, schema: &RelationSchema) -> miette::Result<String> {
        let no_values = Default::default();
        let mut resolver = Resolver::standalone(&no_values);
        let resolved = resolver.expr(self.expr)?;
        let mut wrong = None;
        resolved.walk(&mut |part| match part {
            crate::expr::Expr::Variable(name, span) if schema.column_index(name).is_none() => {
                let (relation, name, span) = (schema.name.to_string(), name.to_string(), *span);
                wrong.get_or_insert(IndexError::BadBinding { relation, name, span });
            }
            crate::expr::Expr::Parameter(_, span) => {
                wrong.get_or_insert(IndexError::Parameter { span: *span });
            }
            _ => {}
        });
        wrong.map_or_else(|| Ok(self.expr.to_string()), |error| Err(error.into()))
    }

    /// A tokenizer or a filter: a name, perhaps with arguments.
    pub fn part(&self) -> miette::Result<AnalyzerPart> {
        self.part_of(self.expr)
    }

    /// A list of filters.
    pub fn parts(&self) -> miette::Result<Vec<AnalyzerPart>> {
        match self.expr {
            Expr::List(items, _) => items.iter().map(|item| self.part_of(item)).collect(),
            _ => Err(self.is_not("a list such as [Lowercase, Stemmer('english')]")),
        }
    }

    fn part_of(&self, expr: &Expr) -> miette::Result<AnalyzerPart> {
        match expr {
            Expr::Variable(symbol) => Ok(AnalyzerPart { name: symbol.name.to_string(), args: vec![] }),
            Expr::Call { function, args, .. } => {
                let args = args.iter().map(|arg| value_of(arg, self.context)).collect::<Result<_, _>>()?;
                Ok(AnalyzerPart { name: function.name.to_string(), args })
            }
            _ => Err(self.is_not("a name, perhaps with arguments: Simple, NGram(2, 3)")),
        }
    }
}
