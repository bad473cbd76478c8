//! One application of a fixed rule.

use super::{FixedRuleError, Input, Options, Poison};

/// What a fixed rule is applied to.
#[derive(Debug)]
pub struct Call<'a> {
    /// Its options and name.
    pub options: Options<'a>,
    /// Its inputs in order.
    pub inputs: Vec<Input<'a>>,
    /// Says when to stop.
    pub poison: Poison,
}

impl<'a> Call<'a> {
    /// An input that must be there.
    pub fn input(&self, index: usize) -> Result<&Input<'a>, FixedRuleError> {
        self.inputs.get(index).ok_or_else(|| self.missing_input(index, None))
    }

    /// The error of an input that is not given.
    pub fn missing_input(&self, index: usize, name: Option<&str>) -> FixedRuleError {
        let input = name.map_or_else(|| format!("number {}", index + 1), |name| format!("'{name}'"));
        FixedRuleError::NotEnoughInputs { rule: self.options.rule.to_string(), input, span: self.options.span }
    }
}
