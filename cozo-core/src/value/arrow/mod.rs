//! Columns as Arrow arrays and back, without a value for each cell if the types agree.
//!
//! Arrow has a type for each column, and CozoScript one for each value. [`ArrowTypes`] finds the common type of all values of a
//! column, over one or more batches. Values of types that Arrow lacks are converted to text. The metadata `cozo.type` of their field
//! names the type, so that they can be converted back.
//!
//! ```
//! use cozo::value::arrow;
//! use cozo::{DataValue, value::Batch};
//!
//! let rows = Batch::from_rows(2, [[1.into(), "a".into()], [2.into(), DataValue::Null]].iter().map(<[_; 2]>::as_slice));
//! let batch = arrow::record_batch(vec!["id".into(), "name".into()], rows.clone(), &[]).unwrap();
//! assert_eq!(arrow::columns(&batch).unwrap().row(1), rows.row(1));
//! ```

mod from_arrow;
mod kinds;
mod to_arrow;

pub use from_arrow::{Refusal, columns};
pub use kinds::{ArrowTypes, Numbers};
pub use to_arrow::record_batch;

/// The extension type of arrays whose strings are JSON.
const JSON: &str = "arrow.json";

/// The extension type of arrays whose 16 bytes are UUIDs.
const UUID: &str = "arrow.uuid";

/// The metadata key of a field whose texts represent values of a type that Arrow lacks.
const TYPE_KEY: &str = "cozo.type";
