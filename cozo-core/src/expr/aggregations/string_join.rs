//! `string_join`: the values of a group in one string.

use super::grouped::{Kind, for_each_value, grouped};
use super::{Aggregation, unexpected};
use crate::budget::make_room;
use crate::expr::FunctionError;
use crate::expr::functions::text_of;
use crate::value::{Column, DataValue};

pub(super) static STRING_JOIN: Aggregation = Aggregation {
    name: "string_join",
    parameters: &["x", "separator?"],
    doc: "The values as one String in the order of `collect`, with a comma or another separator between them. Values other \
          than Strings are converted as by `to_string`; nulls are left out. No rows give ''.",
    examples: &[
        ("?[string_join(x)] := x in ['b', 'a']", "'b,a'"),
        ("?[string_join(x, ' + ')] := x in [1, null, 2.5]", "'1 + 2.5'"),
        ("?[string_join(x)] := x in []", "''"),
        ("?[string_join(x, 1)] := x in ['a']", ""),
    ],
    order_matters: true,
    start: |args| match args.first() {
        None => Ok(grouped(StringJoin { separator: ",".to_string(), kept_bytes: 0 })),
        Some(DataValue::Str(separator)) => Ok(grouped(StringJoin { separator: separator.to_string(), kept_bytes: 0 })),
        Some(other) => Err(unexpected("string_join", "a String as the separator", other)),
    },
    meet: None,
};

struct StringJoin {
    separator: String,
    /// How many bytes the texts of all groups have room for.
    kept_bytes: usize,
}

impl StringJoin {
    fn add(&mut self, state: &mut Option<String>, text: &str) -> Result<(), FunctionError> {
        make_room(self.separator.len() + text.len())?;
        let separator = if state.is_some() { &*self.separator } else { "" };
        let joined = state.get_or_insert_default();
        let room = joined.capacity();
        joined.reserve(separator.len() + text.len());
        joined.push_str(separator);
        joined.push_str(text);
        self.kept_bytes += joined.capacity() - room;
        Ok(())
    }
}

impl Kind for StringJoin {
    type State = Option<String>;

    fn initial(&self) -> Option<String> {
        None
    }

    fn update(&mut self, states: &mut [Self::State], groups: &[u32], values: &Column) -> Result<(), FunctionError> {
        if let Column::Str(texts) = values {
            for (row, group) in groups.iter().enumerate().filter(|(row, _)| !texts.is_null(*row)) {
                self.add(&mut states[*group as usize], texts.str_at(row))?;
            }
            return Ok(());
        }
        for_each_value(values, |row, value| {
            let state = &mut states[groups[row] as usize];
            match value {
                DataValue::Null => Ok(()),
                DataValue::Str(text) => self.add(state, text),
                other => self.add(state, &text_of(other)?),
            }
        })
    }

    fn absorb(&mut self, state: &mut Self::State, later: Self::State) -> Result<(), FunctionError> {
        later.map_or(Ok(()), |later| self.add(state, &later))
    }

    fn memory_bytes(&self) -> usize {
        self.kept_bytes
    }

    fn finish(&self, states: Vec<Self::State>) -> Result<Column, FunctionError> {
        Ok(states.into_iter().map(|text| DataValue::from(text.unwrap_or_default())).collect())
    }

    fn fork(&self) -> Self {
        StringJoin { separator: self.separator.clone(), kept_bytes: 0 }
    }
}
