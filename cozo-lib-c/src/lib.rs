//! The database for C, and for every language that calls C: `libcozo_c` with its header `cozo_c.h`.
//!
//! ```c
//! int32_t db;
//! char *error = cozo_open_db("mem", "", "{}", &db);
//! char *result = cozo_run_query(db, "?[x] := x in [1, 2]", "{}", true);
//! puts(result); // {"headers":["x"],"next":null,"ok":true,"rows":[[1],[2]],"took":0.0001}
//! cozo_free_str(result);
//! cozo_close_db(db);
//! ```
//!
//! This file is the whole interface: `header/` makes the header of it, comments included.
//!
//! * [`boundary`]: strings in and out, and panics, which stay inside.
//! * [`handles`]: the open databases by number.
//!
//! **Nothing here knows what a script is**: each function calls one method of [`cozo::DbInstance`] that takes and gives text.

// C hands over pointers, and takes functions by name.
#![allow(unsafe_code)]

mod boundary;
mod handles;

use std::ffi::{CString, c_char};

use boundary::{answer, complaint, guarded, out_pointer, text};
use cozo::DbInstance;
use serde_json::json;

/// Opens a database.
///
/// `engine` is "mem", which keeps everything in memory, "sqlite" or, where the library was built with it, "rocksdb".
/// `path` is the file of "sqlite" or the directory of "rocksdb"; "mem" ignores it.
/// `options` is a JSON object; empty text and "{}" stand for none.
///
/// Returns NULL on success: `*db_id` is then the number of the database. Otherwise returns what is wrong as plain text,
/// which is not JSON, and leaves `*db_id` alone. The caller frees the text with `cozo_free_str`.
///
/// # Safety
///
/// `db_id` is NULL or points to an `int32_t`; the strings are NULL or NUL-terminated.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn cozo_open_db(
    engine: *const c_char,
    path: *const c_char,
    options: *const c_char,
    db_id: *mut i32,
) -> *mut c_char {
    complaint(|| {
        let db_id = out_pointer(db_id, "db_id")?;
        // SAFETY: strings are NULL or NUL-terminated, says the caller.
        let (engine, path, options) =
            unsafe { (text(engine, "engine")?, text(path, "path")?, text(options, "options")?) };
        let id = handles::insert(DbInstance::new(engine, path, options)?)?;
        handles::close_at_exit(engine);
        // SAFETY: it is not NULL, and so points to an int32_t, says the caller.
        unsafe { db_id.as_ptr().write(id) };
        Ok(())
    })
}

/// Tells what is missing of a database, such as commits in a log that was damaged while it was closed.
///
/// Returns {"ok": true, "warnings": [text, ...]}, which has no texts as a rule, or {"ok": false, "message": text, ...};
/// the caller frees it with `cozo_free_str`.
#[unsafe(no_mangle)]
pub extern "C" fn cozo_warnings(id: i32) -> *mut c_char {
    answer(|| Ok(json!({"ok": true, "warnings": handles::get(id)?.warnings()}).to_string()))
}

/// Closes a database. Queries of it that other threads run are stopped; its files are released when the last call that
/// uses it has returned. A program that ends by `exit` or by the end of `main` closes what is open.
///
/// Returns true if it was open. In a process that was forked from the one that opened it, returns false and does nothing.
#[unsafe(no_mangle)]
pub extern "C" fn cozo_close_db(id: i32) -> bool {
    guarded(|| Ok(handles::close(id))).unwrap_or(false)
}

/// Runs a script.
///
/// `params` are its parameters as a JSON object; empty text and "{}" stand for none.
/// With `immutable_query`, the script must not write.
///
/// Returns JSON, which the caller frees with `cozo_free_str`:
/// {"ok": true, "headers": [...], "rows": [[...], ...], "next": null or a further {"headers", "rows", "next"}, "took": seconds}
/// or, with `code` and `help` where they are known and offsets in bytes,
/// {"ok": false, "message": text, "severity": "error", "display": text with colours for terminals, "causes": [text, ...],
///  "labels": [{"label", "span": {"offset", "length"}}, ...], "related": [], "filename": "", "code", "help"}
///
/// # Safety
///
/// The strings are NULL or NUL-terminated.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn cozo_run_query(
    id: i32,
    script: *const c_char,
    params: *const c_char,
    immutable_query: bool,
) -> *mut c_char {
    answer(|| {
        let db = handles::get(id)?;
        // SAFETY: strings are NULL or NUL-terminated, says the caller.
        let (script, params) = unsafe { (text(script, "script")?, text(params, "params")?) };
        Ok(db.run_script_str(script, params, immutable_query))
    })
}

/// Puts rows into relations, or removes them where the name begins with '-': all of them or, after an error, none.
///
/// `json` is {"relation": {"headers": [...], "rows": [[...], ...]}, ...}. Every column of a relation must be among the
/// headers (for removal, every key column); triggers do not run.
///
/// Returns {"ok": true} or {"ok": false, "message": text, ...}; the caller frees it with `cozo_free_str`.
///
/// # Safety
///
/// The string is NULL or NUL-terminated.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn cozo_import_relations(id: i32, json: *const c_char) -> *mut c_char {
    // SAFETY: the string is NULL or NUL-terminated, says the caller.
    answer(|| Ok(handles::get(id)?.import_relations_str(unsafe { text(json, "json")? })))
}

/// Gives the contents of relations, all as of one moment.
///
/// `json` is {"relations": ["name", ...]}.
///
/// Returns {"ok": true, "data": {"name": {"headers": [...], "rows": [[...], ...], "next": null}, ...}} or
/// {"ok": false, "message": text, ...}; the caller frees it with `cozo_free_str`.
///
/// # Safety
///
/// The string is NULL or NUL-terminated.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn cozo_export_relations(id: i32, json: *const c_char) -> *mut c_char {
    // SAFETY: the string is NULL or NUL-terminated, says the caller.
    answer(|| Ok(handles::get(id)?.export_relations_str(unsafe { text(json, "json")? })))
}

/// Writes everything, as of one moment, into a new file, which is a database of the engine "sqlite".
///
/// Returns {"ok": true} or {"ok": false, "message": text, ...}; the caller frees it with `cozo_free_str`.
///
/// # Safety
///
/// The string is NULL or NUL-terminated.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn cozo_backup(id: i32, path: *const c_char) -> *mut c_char {
    // SAFETY: the string is NULL or NUL-terminated, says the caller.
    answer(|| Ok(handles::get(id)?.backup_db_str(unsafe { text(path, "path")? })))
}

/// Fills a database that has no relations from a backup. After an error nothing has changed.
///
/// Returns {"ok": true} or {"ok": false, "message": text, ...}; the caller frees it with `cozo_free_str`.
///
/// # Safety
///
/// The string is NULL or NUL-terminated.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn cozo_restore(id: i32, path: *const c_char) -> *mut c_char {
    // SAFETY: the string is NULL or NUL-terminated, says the caller.
    answer(|| Ok(handles::get(id)?.restore_backup_str(unsafe { text(path, "path")? })))
}

/// Puts the rows of some relations of a backup into the relations of the same names: all of them or, after an error, none.
///
/// `json` is {"path": "file", "relations": ["name", ...]}.
///
/// Returns {"ok": true} or {"ok": false, "message": text, ...}; the caller frees it with `cozo_free_str`.
///
/// # Safety
///
/// The string is NULL or NUL-terminated.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn cozo_import_from_backup(id: i32, json: *const c_char) -> *mut c_char {
    // SAFETY: the string is NULL or NUL-terminated, says the caller.
    answer(|| Ok(handles::get(id)?.import_from_backup_str(unsafe { text(json, "json")? })))
}

/// Frees a string that a function of this library returned; NULL is fine.
///
/// # Safety
///
/// The string comes from this library and was not freed before.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn cozo_free_str(s: *mut c_char) {
    if !s.is_null() {
        // SAFETY: it was made by `owned`, and is freed here only, says the caller.
        drop(unsafe { CString::from_raw(s) });
    }
}
