//! Aggregations of an exported plan, on batches of rows.

use serde_json::Value;

use super::encoding::{Encoding, decode_all};
use super::error::PortableError;
use super::expression::{list, value_of};
use crate::diag::SourceSpan;
use crate::exec::{ExecError, GroupSink};
use crate::expr::{Expr, aggregations};
use crate::program::AggregationUse;
use crate::value::{Batch, DataValue};

/// With this many groups, those that are complete are given out, so that memory is limited by the groups and not by the rows.
const MAX_GROUPS: usize = 1 << 16;

/// Aggregates rows by group. The rows come sorted by their grouping columns, so that groups can be given out while others still come.
///
/// ```
/// # fn main() -> cozo::Result<()> {
/// use cozo::{DataValue, PortableGroups};
/// use cozo::value::{Batch, Column};
/// let mut groups = PortableGroups::parse(r#"{"columns": [
///     {"encoding": "Int", "result": "Int"},
///     {"encoding": "Int", "result": "Int", "aggregation": "max", "arguments": []}
/// ]}"#)?;
/// groups.take(Batch::new(vec![Column::ints(vec![1, 1, 2]), Column::ints(vec![5, 6, 7])], 3))?;
/// assert_eq!(groups.finish()?.row(0), vec![DataValue::from(1), DataValue::from(6)]);
/// # Ok(())
/// # }
/// ```
pub struct PortableGroups {
    columns: Vec<GroupColumn>,
    sink: GroupSink,
    /// The grouping columns of the last row.
    last: Option<Vec<DataValue>>,
}

/// A column of the rows, and of the result.
struct GroupColumn {
    encoding: Encoding,
    result: Encoding,
    used: Option<AggregationUse>,
}

impl PortableGroups {
    /// The columns of a JSON text: the encoding of each, that of its result, and its aggregation if it has one.
    pub fn parse(text: &str) -> miette::Result<Self> {
        let json: Value = serde_json::from_str(text).map_err(|error| PortableError::Malformed(error.to_string()))?;
        let columns = list(&json["columns"])?.iter().map(column).collect::<Result<Vec<_>, _>>()?;
        let sink = sink(&columns)?;
        Ok(PortableGroups { columns, sink, last: None })
    }

    /// The types that the columns of the result have if there are no rows.
    pub fn declared(&self) -> Vec<Option<String>> {
        self.columns.iter().map(|column| column.result.declared()).collect()
    }

    /// Takes rows. Gives the groups that are complete, if there are many.
    pub fn take(&mut self, batch: Batch) -> miette::Result<Option<Batch>> {
        let encodings: Vec<Encoding> = self.columns.iter().map(|column| column.encoding).collect();
        let len = batch.len;
        let rows = Batch { columns: decode_all(&encodings, batch)?, len };
        let (mut start, mut complete) = (0, None);
        if self.sink.groups() >= MAX_GROUPS {
            start = (0..len).find(|row| self.last.as_ref() != Some(&self.key(&rows, *row))).unwrap_or(len);
            self.add(rows.slice(0..start))?;
            if start < len {
                let full = std::mem::replace(&mut self.sink, sink(&self.columns)?);
                complete = Some(self.encoded(full.finish()?)?);
            }
        }
        if len > 0 {
            self.last = Some(self.key(&rows, len - 1));
        }
        self.add(rows.slice(start..len))?;
        Ok(complete)
    }

    /// All groups that are left. Without grouping columns there is one group, even if there were no rows.
    pub fn finish(&mut self) -> miette::Result<Batch> {
        let full = std::mem::replace(&mut self.sink, sink(&self.columns)?);
        Ok(self.encoded(full.finish()?)?)
    }

    fn add(&mut self, rows: Batch) -> Result<(), ExecError> {
        let head: Vec<usize> = (0..self.columns.len()).collect();
        if rows.is_empty() { Ok(()) } else { self.sink.take(rows, &head) }
    }

    /// The grouping columns of a row.
    fn key(&self, rows: &Batch, row: usize) -> Vec<DataValue> {
        let grouping = self.columns.iter().zip(&rows.columns).filter(|(column, _)| column.used.is_none());
        grouping.map(|(_, values)| values.get(row)).collect()
    }

    fn encoded(&self, rows: Batch) -> Result<Batch, PortableError> {
        let columns = rows.columns.into_iter().zip(&self.columns).enumerate();
        let columns = columns.map(|(position, (values, column))| column.result.encode(position, values));
        Ok(Batch { columns: columns.collect::<Result<_, _>>()?, len: rows.len })
    }
}

fn sink(columns: &[GroupColumn]) -> Result<GroupSink, ExecError> {
    GroupSink::new(columns.iter().map(|column| column.used.as_ref()), &[])
}

fn column(json: &Value) -> Result<GroupColumn, PortableError> {
    let (encoding, result) = (Encoding::parse(&json["encoding"])?, Encoding::parse(&json["result"])?);
    let Some(name) = json["aggregation"].as_str() else { return Ok(GroupColumn { encoding, result, used: None }) };
    let aggregation = aggregations::find(name).ok_or_else(|| PortableError::expected("an aggregation", json))?;
    let span = SourceSpan::default();
    let argument = |value: &Value| value_of(value).map(|value| Expr::Constant(value, span));
    let args = list(&json["arguments"])?.iter().map(argument).collect::<Result<_, _>>()?;
    Ok(GroupColumn { encoding, result, used: Some(AggregationUse { aggregation, args, span }) })
}
