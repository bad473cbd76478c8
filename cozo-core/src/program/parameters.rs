//! The parameters of a script, and their values.

use std::collections::BTreeMap;
use std::sync::Arc;

use rustc_hash::FxHashMap;
use smallvec::SmallVec;

use super::ProgramError;
use crate::diag::SourceSpan;
use crate::value::{DataValue, SmallStr, check_depth};

/// The values of parameters, by number. Most scripts have few enough to need no allocation. They are borrowed, since a value may
/// be all rows of an import.
pub type ParameterValues<'v> = SmallVec<[&'v DataValue; 4]>;

/// A parameter.
#[derive(Clone, Debug)]
pub enum Mention {
    /// Its name and the place of the first mention.
    Named(SmallStr, SourceSpan),
    /// Its value: a long list that the script holds, so that no plan copies it.
    Data(Arc<DataValue>),
}

/// The parameters that a script mentions, numbered in the order of their first mention.
#[derive(Clone, Debug, Default)]
pub struct Parameters {
    /// The mentions by number.
    pub mentioned: Vec<Mention>,
    /// The numbers by name.
    numbers: FxHashMap<SmallStr, usize>,
    /// Whether the program's shape depends on a parameter's value, so that the program serves these values only.
    pub shape_depends_on_values: bool,
}

impl Parameters {
    /// The number of a parameter.
    pub(super) fn number(&mut self, name: &SmallStr, span: SourceSpan) -> usize {
        *self.numbers.entry(name.clone()).or_insert_with(|| {
            self.mentioned.push(Mention::Named(name.clone(), span));
            self.mentioned.len() - 1
        })
    }

    /// The number of a parameter that has this value.
    pub(super) fn number_of_data(&mut self, value: &Arc<DataValue>) -> usize {
        self.mentioned.push(Mention::Data(value.clone()));
        self.mentioned.len() - 1
    }

    /// The values in the order of the numbers.
    pub fn bind<'v>(&'v self, given: &'v BTreeMap<String, DataValue>) -> Result<ParameterValues<'v>, ProgramError> {
        let mut values = ParameterValues::new();
        self.bind_into(given, &mut values)?;
        Ok(values)
    }

    /// Appends the values in the order of the numbers.
    #[inline]
    pub fn bind_into<'v>(
        &'v self,
        given: &'v BTreeMap<String, DataValue>,
        values: &mut ParameterValues<'v>,
    ) -> Result<(), ProgramError> {
        for mention in &self.mentioned {
            values.push(match mention {
                Mention::Named(name, span) => match given.get(name.as_str()) {
                    Some(value) => {
                        check_depth(value, 0)?;
                        value
                    }
                    None => return Err(ProgramError::ParameterNotFound { name: name.to_string(), span: *span }),
                },
                Mention::Data(value) => value,
            });
        }
        Ok(())
    }
}
