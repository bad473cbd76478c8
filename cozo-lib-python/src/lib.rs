//! The Python module `cozo_embedded`: the class `CozoDbPy` that the client `pycozo` drives, and expressions on their own.
//!
//! ```python
//! from cozo_embedded import CozoDbPy
//! db = CozoDbPy("mem", "", "{}")
//! db.run_script("?[x] := x in $xs", {"xs": [1, 2]}, True)  # {'headers': ['x'], 'rows': [[1], [2]], 'next': None}
//! ```
//!
//! * [`database`]: the class.
//! * [`transaction`]: the class `CozoDbMulTx` of transactions held open.
//! * [`arrow`]: the class `ArrowResult`; tables in and out without an object for each value.
//! * [`stream`]: the class `ResultStream`; results that are read in batches.
//! * [`callbacks`]: functions that are told of changes; [`changes`]: those of all processes of a shared log.
//! * [`expressions`]: `eval_expressions` and `variables`.
//! * [`portable`]: `PortableRows` and `PortableGroups`, with which other engines run parts of a plan.
//! * [`fixed_rule`]: fixed rules written in Python.
//! * [`from_python`], [`to_python`]: values in and out.
//! * [`interruptible`]: scripts that Ctrl-C stops.
//! * [`arguments`]: arguments of methods; [`advice`]: what to pass instead of what is no value.
//! * [`error`]: what is raised.
//! * [`workers`]: threads that scripts and fixed rules run on; [`ending`]: what becomes of all threads when the interpreter
//!   ends.
//!
//! The interpreter's lock is held only while values are converted, never while the database works.

mod advice;
mod arguments;
mod arrow;
mod callbacks;
mod changes;
mod database;
mod ending;
mod error;
mod expressions;
mod fixed_rule;
mod from_python;
mod interruptible;
mod portable;
mod stream;
mod to_python;
mod transaction;
mod workers;

use std::sync::{Mutex, MutexGuard, PoisonError};

/// What a lock guards, also after a panic: it is changed in one step.
fn locked<T>(lock: &Mutex<T>) -> MutexGuard<'_, T> {
    lock.lock().unwrap_or_else(PoisonError::into_inner)
}

/// Results are many small allocations, which this allocator makes faster than that of glibc (`benches/README.md`).
#[global_allocator]
static ALLOCATOR: cozo::Mimalloc = cozo::Mimalloc;

/// The cozo database, embedded.
#[pyo3::pymodule]
mod cozo_embedded {
    use pyo3::prelude::*;

    #[pymodule_export]
    use super::arrow::ArrowResult;
    #[pymodule_export]
    use super::changes::SharedChanges;
    #[pymodule_export]
    use super::database::CozoDbPy;
    #[pymodule_export]
    use super::expressions::{eval_expressions, variables};
    #[pymodule_export]
    use super::portable::{PortableGroups, PortableRows, decode_value, encode_value};
    #[pymodule_export]
    use super::stream::{ResultStream, RowBatches};
    #[pymodule_export]
    use super::transaction::CozoDbMulTx;

    #[pymodule_init]
    fn initialise(module: &Bound<'_, PyModule>) -> PyResult<()> {
        module.add("__version__", env!("CARGO_PKG_VERSION"))?;
        super::error::description_class(module.py())?;
        let end = wrap_pyfunction!(super::ending::end, module)?;
        module.py().import("atexit")?.call_method1("register", (end,)).map(drop)
    }
}
