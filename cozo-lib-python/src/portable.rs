//! Parts of an exported plan, for other engines: the classes `PortableRows` and `PortableGroups`.
//!
//! ```python
//! rows = PortableRows('{"inputs": [...], "operators": [...], "outputs": [...]}')
//! pyarrow.table(rows.run(table))
//! ```

use std::sync::Mutex;

use cozo::DataValue;
use cozo::value::Batch;
use pyo3::prelude::*;
use pyo3::types::PyBytes;

use crate::arguments::text;
use crate::arrow::{ArrowResult, columns_of, exact_columns_of};
use crate::error::error;
use crate::from_python::value_from_python;
use crate::interruptible::released;
use crate::locked;
use crate::to_python::value_to_python;

/// The bytes by which other engines know a value: equal bytes are identical values, and bytes sort as values do.
#[pyfunction]
pub fn encode_value<'py>(py: Python<'py>, value: &Bound<'py, PyAny>) -> PyResult<Bound<'py, PyBytes>> {
    let value: DataValue = value_from_python(value)?;
    let bytes = cozo::encoded_value(&value).map_err(|report| error(py, report))?;
    Ok(PyBytes::new(py, &bytes))
}

/// The value of the bytes that `encode_value` gives.
#[pyfunction]
pub fn decode_value<'py>(py: Python<'py>, encoded: &[u8]) -> PyResult<Bound<'py, PyAny>> {
    value_to_python(py, cozo::decoded_value(encoded).map_err(|report| error(py, report))?)
}

/// Tests, assignments and lists of an exported plan, which run on each row by itself.
#[pyclass(frozen, module = "cozo_embedded")]
pub struct PortableRows(cozo::PortableRows);

#[pymethods]
impl PortableRows {
    /// The operators of a JSON text.
    #[new]
    fn new(py: Python<'_>, operators: &Bound<'_, PyAny>) -> PyResult<Self> {
        let operators = text(operators, "the operators")?;
        cozo::PortableRows::parse(&operators).map(PortableRows).map_err(|report| error(py, report))
    }

    /// The rows that are left of an Arrow table, or of a result, whose columns are the inputs in their order.
    fn run(&self, py: Python<'_>, data: &Bound<'_, PyAny>) -> PyResult<Py<ArrowResult>> {
        let columns = exact_columns_of(data)?;
        let rows = released(py, || self.0.run(columns))?.map_err(|report| error(py, report))?;
        result(py, rows, self.0.declared())
    }
}

/// Aggregations of an exported plan. The rows come sorted by their grouping columns.
#[pyclass(frozen, module = "cozo_embedded")]
pub struct PortableGroups(Mutex<cozo::PortableGroups>);

#[pymethods]
impl PortableGroups {
    /// The columns of a JSON text.
    #[new]
    fn new(py: Python<'_>, columns: &Bound<'_, PyAny>) -> PyResult<Self> {
        let columns = text(columns, "the columns")?;
        let groups = cozo::PortableGroups::parse(&columns).map_err(|report| error(py, report))?;
        Ok(PortableGroups(Mutex::new(groups)))
    }

    /// Takes an Arrow table. Gives the groups that are complete, if there are many.
    fn take(&self, py: Python<'_>, data: &Bound<'_, PyAny>) -> PyResult<Option<Py<ArrowResult>>> {
        let columns = columns_of(data)?;
        let complete = released(py, || locked(&self.0).take(columns.rows))?.map_err(|report| error(py, report))?;
        complete.map(|rows| result(py, rows, locked(&self.0).declared())).transpose()
    }

    /// All groups that are left. Without grouping columns there is one group, even if there were no rows.
    fn finish(&self, py: Python<'_>) -> PyResult<Py<ArrowResult>> {
        let rows = released(py, || locked(&self.0).finish())?.map_err(|report| error(py, report))?;
        result(py, rows, locked(&self.0).declared())
    }
}

/// Rows as an Arrow table whose columns have their numbers as names.
fn result(py: Python<'_>, rows: Batch, types: Vec<Option<String>>) -> PyResult<Py<ArrowResult>> {
    let headers = (0..rows.columns.len()).map(|position| position.to_string()).collect();
    ArrowResult::of_rows(py, headers, rows, &types)
}
