//! Rows under headers, into columns as they are read.

use std::cmp::Ordering;
use std::collections::BTreeMap;
use std::fmt;

use cozo::session::SessionError;
use cozo::value::{Batch, Column};
use cozo::{DataValue, NamedColumns};
use serde::de::{DeserializeSeed, Deserializer, Error, IgnoredAny, MapAccess, SeqAccess, Visitor};

use super::value::{ValueSeed, held_bytes};
use super::{DecodeError, Meter};

/// Reads `{"name": {"headers": [...], "rows": [[...]]}, ...}`.
pub struct RelationsSeed<'m, 'i>(pub &'m Meter<'i>);

impl<'de> DeserializeSeed<'de> for RelationsSeed<'_, '_> {
    type Value = BTreeMap<String, NamedColumns>;

    fn deserialize<D: Deserializer<'de>>(self, deserializer: D) -> Result<Self::Value, D::Error> {
        deserializer.deserialize_map(self)
    }
}

impl<'de> Visitor<'de> for RelationsSeed<'_, '_> {
    type Value = BTreeMap<String, NamedColumns>;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("an object of relations by name")
    }

    fn visit_map<A: MapAccess<'de>>(self, mut fields: A) -> Result<Self::Value, A::Error> {
        let mut relations = BTreeMap::new();
        while let Some(name) = fields.next_key::<String>()? {
            self.0.charge(size_of::<(String, NamedColumns)>() + name.len())?;
            let rows = fields.next_value_seed(RowsSeed { meter: self.0, relation: &name })?;
            if relations.contains_key(&name) {
                return Err(A::Error::custom(format!("the relation '{name}' occurs twice")));
            }
            relations.insert(name, rows);
        }
        Ok(relations)
    }
}

/// Reads `{"headers": [...], "rows": [[...]]}`; other fields are ignored.
pub struct RowsSeed<'m, 'i> {
    /// What it may take.
    pub meter: &'m Meter<'i>,
    /// What the rows are of, for errors.
    pub relation: &'m str,
}

impl<'de> DeserializeSeed<'de> for RowsSeed<'_, '_> {
    type Value = NamedColumns;

    fn deserialize<D: Deserializer<'de>>(self, deserializer: D) -> Result<NamedColumns, D::Error> {
        deserializer.deserialize_map(self)
    }
}

/// The fields that mean something.
#[derive(serde::Deserialize)]
#[serde(field_identifier, rename_all = "lowercase")]
enum Field {
    Headers,
    Rows,
    #[serde(other)]
    Other,
}

impl<'de> Visitor<'de> for RowsSeed<'_, '_> {
    type Value = NamedColumns;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("an object with headers and rows")
    }

    fn visit_map<A: MapAccess<'de>>(self, mut fields: A) -> Result<NamedColumns, A::Error> {
        let (mut headers, mut table): (Option<Vec<String>>, Option<Table>) = (None, None);
        while let Some(field) = fields.next_key()? {
            match field {
                Field::Headers if headers.is_none() => headers = Some(fields.next_value_seed(HeadersSeed(self.meter))?),
                Field::Rows if table.is_none() => {
                    let seed = TableSeed { rows: &self, width: headers.as_ref().map(Vec::len) };
                    table = Some(fields.next_value_seed(seed)?);
                }
                Field::Headers => return Err(A::Error::duplicate_field("headers")),
                Field::Rows => return Err(A::Error::duplicate_field("rows")),
                Field::Other => drop(fields.next_value::<IgnoredAny>()?),
            }
        }
        let headers = headers.ok_or_else(|| A::Error::missing_field("headers"))?;
        let mut table = table.ok_or_else(|| A::Error::missing_field("rows"))?;
        match table.len {
            0 => table.columns = headers.iter().map(|_| Cells::default()).collect(),
            // The headers came after the rows, each of which is as long as the first.
            _ => self.check_width(0, table.columns.len(), headers.len())?,
        }
        let columns = table.columns.into_iter().map(|cells| cells.column).collect();
        Ok(NamedColumns::new(headers, Batch::new(columns, table.len)))
    }
}

impl RowsSeed<'_, '_> {
    /// Fails unless a row has a value for each header.
    fn check_width<E: Error>(&self, row: usize, found: usize, headers: usize) -> Result<(), E> {
        let relation = self.relation.to_string();
        let refusal = match found.cmp(&headers) {
            Ordering::Equal => return Ok(()),
            Ordering::Less => SessionError::ImportRow { relation, row, found },
            Ordering::Greater => SessionError::ImportRowTooLong { relation, row, found, headers },
        };
        self.meter.refuse(DecodeError::Row(refusal))
    }
}

/// Reads headers.
struct HeadersSeed<'m, 'i>(&'m Meter<'i>);

impl<'de> DeserializeSeed<'de> for HeadersSeed<'_, '_> {
    type Value = Vec<String>;

    fn deserialize<D: Deserializer<'de>>(self, deserializer: D) -> Result<Vec<String>, D::Error> {
        deserializer.deserialize_seq(self)
    }
}

impl<'de> Visitor<'de> for HeadersSeed<'_, '_> {
    type Value = Vec<String>;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("a list of headers")
    }

    fn visit_seq<A: SeqAccess<'de>>(self, mut items: A) -> Result<Vec<String>, A::Error> {
        let mut headers = vec![];
        while let Some(header) = items.next_element::<String>()? {
            // A column takes more than its header.
            self.0.charge(size_of::<String>() + size_of::<Cells>() + header.len())?;
            headers.push(header);
        }
        Ok(headers)
    }
}

/// Rows as columns.
#[derive(Default)]
struct Table {
    columns: Vec<Cells>,
    len: usize,
}

/// A column that is being filled.
#[derive(Default)]
struct Cells {
    column: Column,
    /// Whether it is known to be a mixture, whose values take more.
    is_mixture: bool,
}

/// Reads all rows.
struct TableSeed<'s, 'm, 'i> {
    rows: &'s RowsSeed<'m, 'i>,
    /// How many values a row has, if the headers came first.
    width: Option<usize>,
}

impl<'de> DeserializeSeed<'de> for TableSeed<'_, '_, '_> {
    type Value = Table;

    fn deserialize<D: Deserializer<'de>>(self, deserializer: D) -> Result<Table, D::Error> {
        deserializer.deserialize_seq(self)
    }
}

impl<'de> Visitor<'de> for TableSeed<'_, '_, '_> {
    type Value = Table;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("a list of rows")
    }

    fn visit_seq<A: SeqAccess<'de>>(self, mut items: A) -> Result<Table, A::Error> {
        let mut table = Table::default();
        let mut width = self.width;
        loop {
            let row = RowSeed { meter: self.rows.meter, table: &mut table, width };
            let Some(found) = items.next_element_seed(row)? else { break };
            self.rows.check_width(table.len, found, *width.get_or_insert(found))?;
            table.len += 1;
        }
        Ok(table)
    }
}

/// Reads a row into the columns; gives how many values it has.
struct RowSeed<'t, 'm, 'i> {
    meter: &'m Meter<'i>,
    table: &'t mut Table,
    width: Option<usize>,
}

impl<'de> DeserializeSeed<'de> for RowSeed<'_, '_, '_> {
    type Value = usize;

    fn deserialize<D: Deserializer<'de>>(self, deserializer: D) -> Result<usize, D::Error> {
        deserializer.deserialize_seq(self)
    }
}

impl<'de> Visitor<'de> for RowSeed<'_, '_, '_> {
    type Value = usize;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("a row, which is a list of values")
    }

    fn visit_seq<A: SeqAccess<'de>>(self, mut items: A) -> Result<usize, A::Error> {
        let RowSeed { meter, table, width } = self;
        // An empty row is counted, too: there may be many.
        meter.charge(1)?;
        let mut found = 0;
        while width.is_none_or(|width| found < width) {
            if found == table.columns.len() {
                meter.charge(size_of::<Cells>())?;
                table.columns.push(Cells::default());
            }
            let cell = CellSeed { meter, cells: &mut table.columns[found] };
            if items.next_element_seed(cell)?.is_none() {
                if width.is_none() {
                    // The column for a value that is not there.
                    table.columns.truncate(found);
                }
                return Ok(found);
            }
            found += 1;
        }
        while items.next_element::<IgnoredAny>()?.is_some() {
            found += 1;
        }
        Ok(found)
    }
}

/// Appends a value to a column.
struct CellSeed<'t, 'm, 'i> {
    meter: &'m Meter<'i>,
    cells: &'t mut Cells,
}

impl CellSeed<'_, '_, '_> {
    /// Makes room for a value that has this much besides its place, and appends it.
    fn put<E: Error>(self, held: usize, put: impl FnOnce(&mut Column)) -> Result<(), E> {
        let Cells { column, is_mixture } = self.cells;
        let place = if *is_mixture { size_of::<DataValue>() } else { size_of::<i64>() };
        self.meter.charge(place + held)?;
        put(column);
        if !*is_mixture && matches!(column, Column::Any(_)) {
            *is_mixture = true;
            self.meter.charge(column.len() * (size_of::<DataValue>() - size_of::<i64>()))?;
        }
        Ok(())
    }

    fn value<E: Error>(self, value: DataValue) -> Result<(), E> {
        self.put(0, |column| column.push_owned(value))
    }
}

impl<'de> DeserializeSeed<'de> for CellSeed<'_, '_, '_> {
    type Value = ();

    fn deserialize<D: Deserializer<'de>>(self, deserializer: D) -> Result<(), D::Error> {
        deserializer.deserialize_any(self)
    }
}

impl<'de> Visitor<'de> for CellSeed<'_, '_, '_> {
    type Value = ();

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("a value")
    }

    fn visit_unit<E: Error>(self) -> Result<(), E> {
        self.value(DataValue::Null)
    }

    fn visit_bool<E: Error>(self, value: bool) -> Result<(), E> {
        self.value(value.into())
    }

    fn visit_i64<E: Error>(self, value: i64) -> Result<(), E> {
        self.put(0, |column| column.push_int(value))
    }

    fn visit_u64<E: Error>(self, value: u64) -> Result<(), E> {
        let value = ValueSeed(self.meter).visit_u64(value)?;
        self.value(value)
    }

    fn visit_f64<E: Error>(self, value: f64) -> Result<(), E> {
        self.value(value.into())
    }

    fn visit_str<E: Error>(self, value: &str) -> Result<(), E> {
        let held = if self.cells.is_mixture { held_bytes(value) } else { value.len() };
        self.put(held, |column| column.push_str(value))
    }

    fn visit_seq<A: SeqAccess<'de>>(self, items: A) -> Result<(), A::Error> {
        let value = ValueSeed(self.meter).visit_seq(items)?;
        self.value(value)
    }

    fn visit_map<A: MapAccess<'de>>(self, fields: A) -> Result<(), A::Error> {
        let value = ValueSeed(self.meter).visit_map(fields)?;
        self.value(value)
    }
}

#[cfg(test)]
mod tests {
    use cozo::Interrupt;
    use serde_json::{Value, json};

    use super::super::decode;
    use super::*;

    fn read_within(limit: usize, text: &str) -> Result<BTreeMap<String, NamedColumns>, DecodeError> {
        let interrupt = Interrupt::default();
        let meter = Meter::new(limit, &interrupt, &|_| true);
        decode(text.as_bytes(), RelationsSeed(&meter), &meter)
    }

    fn read(text: &str) -> Result<BTreeMap<String, NamedColumns>, DecodeError> {
        read_within(1 << 20, text)
    }

    #[test]
    fn rows_become_columns() {
        let values =
            json!([[1, "x", null, 1.5, [1, {"a": [null]}], 1], [2, "a longer text than others have", true, 2, 3, "y"]]);
        for text in [
            format!(r#"{{"r": {{"headers": ["a", "b", "c", "d", "e", "f"], "rows": {values}, "next": null}}}}"#),
            format!(r#"{{"r": {{"rows": {values}, "headers": ["a", "b", "c", "d", "e", "f"]}}}}"#),
        ] {
            let read = read(&text).expect("they are rows");
            let rows: Vec<Value> =
                read["r"].rows.rows().map(|row| row.into_iter().map(Value::from).collect()).collect();
            assert_eq!((Value::from(rows), read["r"].headers.len()), (values.clone(), 6));
            assert!(matches!(read["r"].rows.columns[0], Column::Int(_)));
        }
        let empty = read(r#"{"r": {"headers": ["a", "b"], "rows": []}}"#).expect("they are none");
        assert_eq!((empty["r"].rows.columns.len(), empty["r"].rows.len), (2, 0));
    }

    #[test]
    fn rows_have_a_value_for_each_header() {
        for rows in ["[[1, 2], [1, 2, 3]]", "[[1, 2], [1]]", "[[1, 2], []]"] {
            for text in [
                format!(r#"{{"r": {{"headers": ["a", "b"], "rows": {rows}}}}}"#),
                format!(r#"{{"r": {{"rows": {rows}, "headers": ["a", "b"]}}}}"#),
            ] {
                let Err(DecodeError::Row(error)) = read(&text) else { panic!("{text} is read") };
                assert!(error.to_string().contains("row 1 "), "{error}");
            }
        }
        let late = read(r#"{"r": {"rows": [[1]], "headers": ["a", "b"]}}"#);
        assert!(matches!(late, Err(DecodeError::Row(_))), "{late:?}");
    }

    #[test]
    fn other_shapes_are_refused() {
        for text in [
            "[]",
            "{",
            r#"{"r": []}"#,
            r#"{"r": {"headers": ["a"]}}"#,
            r#"{"r": {"rows": [[1]]}}"#,
            r#"{"r": {"headers": ["a"], "rows": [1]}}"#,
            r#"{"r": {"headers": [1], "rows": []}}"#,
            r#"{"r": {"headers": ["a"], "rows": [], "rows": []}}"#,
            r#"{"r": {"headers": ["a"], "rows": []}, "r": {"headers": ["a"], "rows": []}}"#,
            r#"{"r": {"headers": ["a"], "rows": []}} x"#,
        ] {
            assert!(matches!(read(text), Err(DecodeError::Bad(_))), "{text}");
        }
    }

    #[test]
    fn what_is_too_much_is_refused_while_it_is_read() {
        let rows =
            |row: &str| format!(r#"{{"r": {{"headers": ["a"], "rows": [{}[0]]}}}}"#, format!("{row},").repeat(10_000));
        for row in ["[0]", "[null]", "[\"0123456789\"]", "[[]]", "[{}]", "[[0, [1, 2, 3]]]", "[{\"a\": {\"b\": [1]}}]"]
        {
            let text = rows(row);
            assert!(matches!(read_within(50_000, &text), Err(DecodeError::TooMuch)), "{row}");
            assert_eq!(read_within(100 << 20, &text).expect("there is room")["r"].rows.len, 10_001, "{row}");
        }
        assert!(matches!(read_within(50_000, &rows("[]")), Err(DecodeError::Row(_))));
        let wide = format!(r#"{{"r": {{"rows": [[{}0]], "headers": []}}}}"#, "0,".repeat(10_000));
        assert!(matches!(read_within(50_000, &wide), Err(DecodeError::TooMuch)));
    }

    #[test]
    fn reading_can_be_stopped_and_starved() {
        let text = format!(r#"{{"r": {{"headers": ["a"], "rows": [{}[0]]}}}}"#, "[0],".repeat(100_000));
        let interrupt = Interrupt::default();
        let meter = Meter::new(usize::MAX, &interrupt, &|_| false);
        let starved = decode(text.as_bytes(), RelationsSeed(&meter), &meter);
        assert!(matches!(starved, Err(DecodeError::NoMemory)), "{starved:?}");
        interrupt.kill();
        let meter = Meter::new(usize::MAX, &interrupt, &|_| true);
        let stopped = decode(text.as_bytes(), RelationsSeed(&meter), &meter);
        assert!(matches!(stopped, Err(DecodeError::Stopped(_))), "{stopped:?}");
    }
}
