//! The approximate sizes of values, including their contents and the overhead of the allocator.

use std::ops::Range;

use serde_json::Value;

use super::{Column, DataValue, Vector};

/// The overhead of an allocated block, and the multiple to which its size is rounded up.
const BLOCK_HEADER: usize = 8;
const BLOCK_MULTIPLE: usize = 16;

/// The capacity of a node of a `BTreeMap`, and the mean number of its entries, since full nodes are split.
const NODE_ENTRIES: usize = 11;
const MEAN_NODE_ENTRIES: usize = 7;

/// The size of a node of a `BTreeMap` besides its entries: the lengths, and pointers to its parent and its children.
const NODE_HEADER: usize = 40;

/// The approximate memory of an allocated block. An empty block is not allocated and takes none.
pub fn allocated(bytes: usize) -> usize {
    match bytes {
        0 => 0,
        _ => bytes.saturating_add(BLOCK_HEADER + BLOCK_MULTIPLE - 1) / BLOCK_MULTIPLE * BLOCK_MULTIPLE,
    }
}

/// The approximate size of the tree nodes of a JSON object with `fields` fields.
pub fn object_bytes(fields: usize) -> usize {
    tree_bytes::<(String, Value)>(fields)
}

/// The approximate size of the tree nodes for each field of a large JSON object.
pub fn field_bytes() -> usize {
    object_bytes(MEAN_NODE_ENTRIES) / MEAN_NODE_ENTRIES
}

/// The approximate size of the nodes of a tree with `entries` entries.
fn tree_bytes<Entry>(entries: usize) -> usize {
    entries.div_ceil(MEAN_NODE_ENTRIES) * allocated(NODE_HEADER + NODE_ENTRIES * size_of::<Entry>())
}

impl DataValue {
    /// The approximate size of the value, with its contents.
    pub fn memory_bytes(&self) -> usize {
        size_of::<DataValue>() + self.held_bytes()
    }

    /// The approximate size of its contents, without the value itself.
    #[inline]
    pub fn held_bytes(&self) -> usize {
        match self {
            DataValue::Null | DataValue::Bool(_) | DataValue::Num(_) => 0,
            DataValue::Str(text) if !text.is_heap_allocated() => 0,
            _ => self.bytes_on_heap(),
        }
    }

    fn bytes_on_heap(&self) -> usize {
        match self {
            DataValue::Str(text) if text.is_heap_allocated() => allocated(text.capacity()),
            DataValue::Bytes(bytes) => allocated(bytes.capacity()),
            DataValue::List(items) => {
                allocated(items.capacity() * size_of::<DataValue>())
                    + items.iter().map(DataValue::held_bytes).sum::<usize>()
            }
            DataValue::Set(items) => {
                tree_bytes::<DataValue>(items.len()) + items.iter().map(DataValue::held_bytes).sum::<usize>()
            }
            DataValue::Vec(Vector::F32(elements)) => allocated(elements.len() * size_of::<f32>()),
            DataValue::Vec(Vector::F64(elements)) => allocated(elements.len() * size_of::<f64>()),
            DataValue::Json(json) => json_bytes(&json.0),
            _ => 0,
        }
    }
}

/// The size of values that may be large. The numbers and Booleans of one batch are never large enough to count.
impl Column {
    /// The approximate size of strings, vectors and untyped values. Numbers and Booleans count as 0.
    pub fn large_bytes(&self) -> usize {
        self.large_bytes_within(0..self.len())
    }

    /// [`Column::large_bytes`] for the rows of a range.
    pub fn large_bytes_within(&self, rows: Range<usize>) -> usize {
        match self {
            Column::Str(column) => rows.len() * size_of::<u32>() + column.bytes_within(rows),
            Column::Vec(column) => column.bytes_within(rows),
            Column::Any(values) => values[rows].iter().map(DataValue::memory_bytes).sum(),
            _ => 0,
        }
    }

    /// The size of the largest row, counted as in [`Column::large_bytes`].
    pub fn largest_bytes(&self) -> usize {
        match self {
            Column::Str(column) => (0..column.len()).map(|row| column.bytes_at(row).len()).max().unwrap_or(0),
            Column::Vec(column) => column.row_bytes(),
            Column::Any(values) => values.iter().map(DataValue::memory_bytes).max().unwrap_or(0),
            _ => 0,
        }
    }
}

/// The approximate size of a JSON value's contents, without the value itself.
pub fn json_bytes(value: &Value) -> usize {
    match value {
        Value::String(text) => allocated(text.capacity()),
        Value::Array(items) => {
            allocated(items.capacity() * size_of::<Value>()) + items.iter().map(json_bytes).sum::<usize>()
        }
        Value::Object(fields) => {
            let held = fields.iter().map(|(name, field)| allocated(name.capacity()) + json_bytes(field));
            object_bytes(fields.len()) + held.sum::<usize>()
        }
        _ => 0,
    }
}
