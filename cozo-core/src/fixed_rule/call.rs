//! One application of a fixed rule.

use super::{FixedRuleError, Input, Options, Overflow, Poison};

/// The inputs and options of one application.
#[derive(Debug)]
pub struct Call<'a> {
    /// The options, and the name of the rule.
    pub options: Options<'a>,
    /// The inputs in order.
    pub inputs: Vec<Input<'a>>,
    /// The poison, which tells when to stop.
    pub poison: Poison,
    /// The disk, if the database has one for queries.
    pub overflow: Option<&'a dyn Overflow>,
}

impl<'a> Call<'a> {
    /// A required input.
    pub fn input(&self, index: usize) -> Result<&Input<'a>, FixedRuleError> {
        self.inputs.get(index).ok_or_else(|| self.missing_input(index, None))
    }

    /// The error for a missing input.
    pub fn missing_input(&self, index: usize, name: Option<&str>) -> FixedRuleError {
        let input = name.map_or_else(|| format!("number {}", index + 1), |name| format!("'{name}'"));
        FixedRuleError::NotEnoughInputs { rule: self.options.rule.to_string(), input, span: self.options.span }
    }
}
