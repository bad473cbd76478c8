//! The codec of a relation's rows: columns of batches to bytes, and back.

use super::kind::{Base, TypeKind};
use super::reader::{Damage, Read, Reader};
use crate::schema::RelationSchema;
use crate::storage::error::StorageError;
use crate::storage::key::Key;
use crate::storage::range::AsOf;
use crate::value::{Batch, Column, DataValue, Primitive, StrColumn};

/// The encoding of a relation's rows.
#[derive(Debug)]
pub struct RowCodec {
    relation: String,
    keys: Vec<TypeKind>,
    values: Vec<TypeKind>,
}

impl RowCodec {
    /// The codec for the types of a relation's columns.
    pub fn new(schema: &RelationSchema) -> Self {
        let mut kinds: Vec<TypeKind> = schema.columns().map(|column| TypeKind::of(&column.column_type)).collect();
        let values = kinds.split_off(schema.keys.len());
        RowCodec { relation: schema.name.to_string(), keys: kinds, values }
    }

    /// The number of key columns.
    pub fn keys(&self) -> usize {
        self.keys.len()
    }

    /// The number of columns.
    pub fn arity(&self) -> usize {
        self.keys.len() + self.values.len()
    }

    /// Whether keys end with a validity of [`VALIDITY_BYTES`](super::VALIDITY_BYTES) bytes in this column.
    pub fn ends_with_validity(&self, as_of: AsOf) -> bool {
        let validity = TypeKind { base: Base::Validity, nullable: false };
        self.keys.len() == as_of.column + 1 && self.keys.last() == Some(&validity)
    }

    /// Appends the key of a row. `columns` begins with the key columns.
    #[inline]
    pub fn write_key(&self, columns: &[Column], row: usize, out: &mut Vec<u8>) -> Result<(), StorageError> {
        for (i, kind) in self.keys.iter().enumerate() {
            if !kind.write_key_of(&columns[i], row, out)? {
                return Err(self.misfit(columns[i].get(row), i));
            }
        }
        Ok(())
    }

    /// Appends the value of a row. `columns` has all columns.
    #[inline]
    pub fn write_value(&self, columns: &[Column], row: usize, out: &mut Vec<u8>) -> Result<(), StorageError> {
        for (i, kind) in self.values.iter().enumerate().map(|(i, kind)| (self.keys.len() + i, kind)) {
            if !kind.write_value_of(&columns[i], row, out)? {
                return Err(self.misfit(columns[i].get(row), i));
            }
        }
        Ok(())
    }

    #[cold]
    fn misfit(&self, value: DataValue, column: usize) -> StorageError {
        let (found, relation) = (value.type_name(), &self.relation);
        StorageError::Unstorable(format!("{found} is not what column {column} of '{relation}' holds"))
    }

    /// Appends the prefix of keys with these leading columns. Returns whether there can be such keys. If a value is not of its
    /// column's type, there are none, and the appended bytes are not valid.
    #[inline]
    pub fn write_prefix(&self, columns: &[Column], row: usize, out: &mut Vec<u8>) -> Result<bool, StorageError> {
        for (kind, column) in self.keys.iter().zip(columns) {
            if !kind.write_key_of(column, row, out)? {
                return Ok(false);
            }
        }
        Ok(true)
    }

    /// [`RowCodec::write_prefix`] for single values.
    pub fn write_prefix_values(&self, values: &[DataValue], out: &mut Vec<u8>) -> Result<bool, StorageError> {
        for (kind, value) in self.keys.iter().zip(values) {
            if !kind.write_key(Key::of(value), out)? {
                return Ok(false);
            }
        }
        Ok(true)
    }

    /// Appends the lower bound of the keys whose columns from `first` on are at or above some values in the total order. `out` has
    /// the columns before `first`, after at least one other byte.
    pub fn write_bound(&self, first: usize, bound: &[DataValue], out: &mut Vec<u8>) -> Result<(), StorageError> {
        TypeKind::write_bound(self.keys.get(first..).unwrap_or_default(), bound, out)
    }

    /// The values of the columns of a key.
    pub fn key_values(&self, key: &[u8]) -> Result<Vec<DataValue>, StorageError> {
        let mut reader = Reader::new(key);
        let mut value = |kind: &TypeKind| {
            let mut column = Column::default();
            kind.read_key(&mut reader, &mut column).map(|()| column.get(0))
        };
        self.keys.iter().map(&mut value).collect::<Read<_>>().map_err(|damage| self.damaged(damage))
    }

    #[cold]
    fn damaged(&self, damage: Damage) -> StorageError {
        StorageError::Damaged(format!("relation '{}': {}", self.relation, damage.0))
    }
}

/// A step of decoding a row: one column.
#[derive(Clone, Copy)]
struct DecodeStep {
    kind: TypeKind,
    /// The index of the column in `made`; `None` to skip it.
    target: Option<usize>,
}

/// Decodes rows into batches.
pub struct RowReader<'c> {
    codec: &'c RowCodec,
    /// The steps for a key, up to the last requested column.
    keys: Vec<DecodeStep>,
    values: Vec<DecodeStep>,
    /// For each requested column its index in `made`.
    outputs: Vec<usize>,
    /// The decoded columns, each once.
    made: Vec<usize>,
    columns: Vec<Column>,
    rows: usize,
}

impl<'c> RowReader<'c> {
    /// A reader of these columns.
    pub fn new(codec: &'c RowCodec, columns: &[usize]) -> Self {
        let mut made: Vec<usize> = columns.to_vec();
        made.sort_unstable();
        made.dedup();
        let place = |column: usize| made.binary_search(&column).ok();
        let steps = |kinds: &[TypeKind], first: usize| {
            let step = |(i, kind): (usize, &TypeKind)| DecodeStep { kind: *kind, target: place(first + i) };
            let mut steps: Vec<DecodeStep> = kinds.iter().enumerate().map(step).collect();
            let end = steps.iter().rposition(|step| step.target.is_some()).map_or(0, |last| last + 1);
            steps.truncate(end);
            steps
        };
        let (keys, values) = (steps(&codec.keys, 0), steps(&codec.values, codec.keys.len()));
        let outputs = columns.iter().filter_map(|column| place(*column)).collect();
        let mut reader = RowReader { codec, keys, values, outputs, made, columns: vec![], rows: 0 };
        reader.start();
        reader
    }

    /// The number of rows read so far.
    pub fn rows(&self) -> usize {
        self.rows
    }

    /// Appends a row.
    #[inline]
    pub fn read(&mut self, key: &[u8], value: &[u8]) -> Result<(), StorageError> {
        self.rows += 1;
        self.read_columns(key, value).map_err(|damage| self.codec.damaged(damage))
    }

    #[inline]
    fn read_columns(&mut self, key: &[u8], value: &[u8]) -> Read<()> {
        let mut reader = Reader::new(key);
        for step in &self.keys {
            match step.target {
                Some(target) => step.kind.read_key(&mut reader, &mut self.columns[target])?,
                None => step.kind.skip_key(&mut reader)?,
            }
        }
        check_end(&reader, self.keys.len() == self.codec.keys.len())?;
        let mut reader = Reader::new(value);
        for step in &self.values {
            match step.target {
                Some(target) => step.kind.read_value(&mut reader, &mut self.columns[target])?,
                None => step.kind.skip_value(&mut reader)?,
            }
        }
        check_end(&reader, self.values.len() == self.codec.values.len())
    }

    /// Returns the rows read so far as a batch, and begins a new one.
    pub fn finish(&mut self) -> Batch {
        let mut columns = std::mem::take(&mut self.columns);
        let mut output = |(i, place): (usize, &usize)| {
            let again = self.outputs[i + 1..].contains(place);
            if again { columns[*place].clone() } else { std::mem::take(&mut columns[*place]) }
        };
        let columns = self.outputs.iter().enumerate().map(&mut output).collect();
        let batch = Batch { columns, len: self.rows };
        self.start();
        batch
    }

    fn start(&mut self) {
        let (keys, values) = (&self.codec.keys, &self.codec.values);
        let kind = |column: &usize| keys.get(*column).unwrap_or_else(|| &values[*column - keys.len()]);
        self.columns = self.made.iter().map(|column| kind(column).empty_column()).collect();
        self.rows = 0;
    }
}

/// Checks that no bytes follow the last column.
#[inline]
fn check_end(reader: &Reader, all_read: bool) -> Read<()> {
    if all_read && !reader.rest.is_empty() { Err(Damage("a row goes on after its last column")) } else { Ok(()) }
}

impl TypeKind {
    /// An empty column in the representation for this kind.
    fn empty_column(self) -> Column {
        match self.base {
            Base::Bool => Column::Bool(Primitive::default()),
            Base::Int => Column::Int(Primitive::default()),
            Base::Float => Column::Float(Primitive::default()),
            Base::Str => Column::Str(StrColumn::default()),
            _ => Column::default(),
        }
    }
}
