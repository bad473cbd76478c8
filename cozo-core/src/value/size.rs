//! How many bytes values take, with all that they hold and with what the allocator adds.

use std::ops::Range;

use serde_json::Value;

use super::{Column, DataValue, Vector};

/// What an allocator adds to a block, and the multiple that it rounds up to.
const BLOCK_HEADER: usize = 8;
const BLOCK_MULTIPLE: usize = 16;

/// The entries that a node of a `BTreeMap` has room for, and those that it has on average: a full node is divided.
const NODE_ENTRIES: usize = 11;
const MEAN_NODE_ENTRIES: usize = 7;

/// What a node of a `BTreeMap` takes besides its entries: the lengths, and the way to its parent and its children.
const NODE_HEADER: usize = 40;

/// About how many bytes of memory a block of so many bytes takes; none for an empty one, which is not allocated.
pub fn allocated(bytes: usize) -> usize {
    match bytes {
        0 => 0,
        _ => bytes.saturating_add(BLOCK_HEADER + BLOCK_MULTIPLE - 1) / BLOCK_MULTIPLE * BLOCK_MULTIPLE,
    }
}

/// About how many bytes the nodes of the tree of a JSON object of so many fields take.
pub fn object_bytes(fields: usize) -> usize {
    tree_bytes::<(String, Value)>(fields)
}

/// About how many bytes the nodes take for each field of a large JSON object.
pub fn field_bytes() -> usize {
    object_bytes(MEAN_NODE_ENTRIES) / MEAN_NODE_ENTRIES
}

/// About how many bytes the nodes of a tree of so many entries take.
fn tree_bytes<Entry>(entries: usize) -> usize {
    entries.div_ceil(MEAN_NODE_ENTRIES) * allocated(NODE_HEADER + NODE_ENTRIES * size_of::<Entry>())
}

impl DataValue {
    /// About how many bytes it takes, with all that it holds.
    pub fn memory_bytes(&self) -> usize {
        size_of::<DataValue>() + self.held_bytes()
    }

    /// About how many bytes it takes besides itself.
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

/// Of numbers and Booleans a batch cannot have so many that they need to be counted; the rest may be large.
impl Column {
    /// About how many bytes strings, and values of mixtures, take; none for numbers and Booleans.
    pub fn large_bytes(&self) -> usize {
        self.large_bytes_within(0..self.len())
    }

    /// [`Column::large_bytes`] of the rows of a range.
    pub fn large_bytes_within(&self, rows: Range<usize>) -> usize {
        match self {
            Column::Str(column) => rows.len() * size_of::<u32>() + column.bytes_within(rows),
            Column::Any(values) => values[rows].iter().map(DataValue::memory_bytes).sum(),
            _ => 0,
        }
    }

    /// The most of [`Column::large_bytes`] that a single row takes.
    pub fn largest_bytes(&self) -> usize {
        match self {
            Column::Str(column) => (0..column.len()).map(|row| column.bytes_at(row).len()).max().unwrap_or(0),
            Column::Any(values) => values.iter().map(DataValue::memory_bytes).max().unwrap_or(0),
            _ => 0,
        }
    }
}

/// About how many bytes a JSON value takes besides itself.
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
