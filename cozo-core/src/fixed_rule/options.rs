//! The options of fixed rules: their declarations, and their values in a script.

use std::collections::BTreeMap;

use super::{FixedRuleError, OptionMap};
use crate::diag::SourceSpan;
use crate::expr::Expr;
use crate::value::DataValue;

/// An option of a fixed rule.
#[derive(Clone, Copy, Debug)]
pub struct OptionSpec {
    /// The name.
    pub name: &'static str,
    /// The kind of its value.
    pub kind: OptionKind,
    /// The default value.
    pub default: DefaultValue,
    /// A description.
    pub doc: &'static str,
}

/// The kind of an option's value.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum OptionKind {
    /// `true` or `false`.
    Bool,
    /// An integer.
    Int,
    /// An integer of at least 1.
    PositiveInt,
    /// An integer of at least 0.
    NonNegativeInt,
    /// A number other than NaN.
    Float,
    /// A number between 0 and 1.
    UnitInterval,
    /// A string.
    Text,
    /// Any value.
    Value,
    /// An expression over the bindings of the inputs. The rule evaluates it itself.
    Expression,
}

/// The default value of an option.
#[derive(Clone, Copy, Debug)]
pub enum DefaultValue {
    /// There is none: the option is required.
    Required,
    /// Null, or no expression.
    Null,
    /// A Boolean.
    Bool(bool),
    /// An integer.
    Int(i64),
    /// A number.
    Float(f64),
    /// A string.
    Text(&'static str),
}

impl OptionSpec {
    /// A required option.
    pub const fn required(name: &'static str, kind: OptionKind, doc: &'static str) -> Self {
        OptionSpec { name, kind, default: DefaultValue::Required, doc }
    }

    /// An option with a default.
    pub const fn new(name: &'static str, kind: OptionKind, default: DefaultValue, doc: &'static str) -> Self {
        OptionSpec { name, kind, default, doc }
    }
}

impl OptionKind {
    /// The kind in words.
    pub fn describe(self) -> &'static str {
        match self {
            OptionKind::Bool => "true or false",
            OptionKind::Int => "an integer",
            OptionKind::PositiveInt => "an integer of at least 1",
            OptionKind::NonNegativeInt => "an integer of at least 0",
            OptionKind::Float => "a number",
            OptionKind::UnitInterval => "a number between 0 and 1",
            OptionKind::Text => "a string",
            OptionKind::Value => "a value",
            OptionKind::Expression => "an expression",
        }
    }

    /// The value in the form of the kind (integers and floats are distinct), if it fits.
    fn fit(self, value: DataValue) -> Option<DataValue> {
        let int_from = |least: i64| value.get_int().filter(|int| *int >= least).map(DataValue::from);
        match self {
            OptionKind::Bool => value.get_bool().map(DataValue::from),
            OptionKind::Int => int_from(i64::MIN),
            OptionKind::PositiveInt => int_from(1),
            OptionKind::NonNegativeInt => int_from(0),
            OptionKind::Float => value.get_float().filter(|float| !float.is_nan()).map(DataValue::from),
            OptionKind::UnitInterval => {
                value.get_float().filter(|float| (0.0..=1.0).contains(float)).map(DataValue::from)
            }
            OptionKind::Text => value.get_str().is_some().then_some(value),
            OptionKind::Value | OptionKind::Expression => Some(value),
        }
    }
}

impl DefaultValue {
    fn value(self) -> Option<DataValue> {
        match self {
            DefaultValue::Required => None,
            DefaultValue::Null => Some(DataValue::Null),
            DefaultValue::Bool(value) => Some(value.into()),
            DefaultValue::Int(value) => Some(value.into()),
            DefaultValue::Float(value) => Some(value.into()),
            DefaultValue::Text(value) => Some(value.into()),
        }
    }
}

/// The options of a fixed rule in a script. Parameters are replaced by their values.
#[derive(Clone, Copy, Debug)]
pub struct Options<'a> {
    /// The fixed rule's name in the script.
    pub rule: &'a str,
    /// The options by name.
    pub given: &'a OptionMap,
    /// The call.
    pub span: SourceSpan,
}

impl<'a> Options<'a> {
    /// An option as an expression.
    pub fn expr(&self, name: &str) -> Option<&'a Expr> {
        self.given.get(name)
    }

    /// The place of an option, or of the call if it is missing.
    pub fn span_of(&self, name: &str) -> SourceSpan {
        self.expr(name).map_or(self.span, Expr::span)
    }

    /// The value of an option, if there is one. It must be constant and of the kind.
    pub fn value(&self, name: &str, kind: OptionKind) -> Result<Option<DataValue>, FixedRuleError> {
        let Some(expr) = self.expr(name) else { return Ok(None) };
        let value = self.constant(name, expr)?;
        let found = value.to_string();
        kind.fit(value).map(Some).ok_or_else(|| self.wrong(name, kind.describe(), found))
    }

    /// The value of a required option.
    pub fn required(&self, name: &str, kind: OptionKind) -> Result<DataValue, FixedRuleError> {
        self.value(name, kind)?.ok_or_else(|| self.missing(name))
    }

    /// The value of an option's expression, which must have no variables.
    pub fn constant(&self, option: &str, expr: &Expr) -> Result<DataValue, FixedRuleError> {
        let mut variable = None;
        expr.walk(&mut |part| {
            if let Expr::Variable(name, span) = part {
                variable.get_or_insert((name, *span));
            }
        });
        match variable {
            None => Ok(expr.eval_closed(&[])?),
            Some((name, span)) => {
                let (rule, option, name) = (self.rule.to_string(), option.to_string(), name.to_string());
                Err(FixedRuleError::OptionNotConstant { rule, option, name, span })
            }
        }
    }

    /// The error for a missing option.
    pub fn missing(&self, name: &str) -> FixedRuleError {
        let (rule, option) = (self.rule.to_string(), name.to_string());
        FixedRuleError::OptionNotFound { rule, option, span: self.span }
    }

    /// The error for an option with a wrong value.
    pub fn wrong(&self, name: &str, expected: impl Into<String>, found: impl Into<String>) -> FixedRuleError {
        FixedRuleError::OptionWrong {
            rule: self.rule.to_string(),
            option: name.to_string(),
            expected: expected.into(),
            found: found.into(),
            span: self.span_of(name),
        }
    }
}

/// The checked values of a rule's options, from the script or by default. Reading an option that the rule does not declare, or
/// with another kind than declared, is a mistake in the rule and panics.
#[derive(Clone, Debug)]
pub struct Settings(BTreeMap<&'static str, DataValue>);

impl Settings {
    /// Evaluates and checks the options that a rule declares. Expressions are only checked for presence.
    pub fn new(specs: &[OptionSpec], options: Options<'_>) -> Result<Self, FixedRuleError> {
        let mut values = BTreeMap::new();
        for spec in specs {
            let given = match spec.kind {
                OptionKind::Expression => options.expr(spec.name).map(|_| DataValue::Null),
                kind => options.value(spec.name, kind)?,
            };
            let value = given.or_else(|| spec.default.value()).ok_or_else(|| options.missing(spec.name))?;
            values.insert(spec.name, value);
        }
        Ok(Settings(values))
    }

    /// The value of an option of any kind.
    pub fn value(&self, name: &str) -> &DataValue {
        self.0.get(name).unwrap_or_else(|| panic!("the rule declares its option '{name}'"))
    }

    fn read<'s, T>(&'s self, name: &str, read: impl FnOnce(&'s DataValue) -> Option<T>) -> T {
        read(self.value(name)).unwrap_or_else(|| panic!("the rule declares the kind of its option '{name}'"))
    }

    /// A Boolean.
    pub fn bool(&self, name: &str) -> bool {
        self.read(name, DataValue::get_bool)
    }

    /// An integer.
    pub fn int(&self, name: &str) -> i64 {
        self.read(name, DataValue::get_int)
    }

    /// An integer of at least 0 or 1. A larger one than `usize` becomes the greatest `usize`.
    pub fn count(&self, name: &str) -> usize {
        usize::try_from(self.int(name)).unwrap_or(usize::MAX)
    }

    /// A number.
    pub fn float(&self, name: &str) -> f64 {
        self.read(name, DataValue::get_float)
    }

    /// A string.
    pub fn text(&self, name: &str) -> &str {
        self.read(name, DataValue::get_str)
    }
}
