//! What crosses the boundary to C: strings in, strings out; panics do not.

use std::any::Any;
use std::ffi::{CStr, CString, c_char};
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::ptr::{NonNull, null_mut};

use miette::Report;
use serde_json::{Value, json};

use crate::handles;

/// Why a function did not do what it was asked for.
#[derive(Debug)]
pub struct Failure {
    /// For C.
    json: Value,
    /// For people.
    text: String,
}

impl From<String> for Failure {
    fn from(message: String) -> Self {
        Failure { json: json!({"ok": false, "message": message}), text: message }
    }
}

impl From<Report> for Failure {
    fn from(report: Report) -> Self {
        Failure { text: format!("{report:?}"), json: cozo::format_error_as_json(report, None) }
    }
}

/// A string of the caller.
///
/// # Safety
///
/// The pointer is NULL or points to a NUL-terminated string that stays as it is for `'a`.
pub unsafe fn text<'a>(pointer: *const c_char, argument: &str) -> Result<&'a str, Failure> {
    if pointer.is_null() {
        return Err(null_pointer(argument));
    }
    // SAFETY: it is not NULL, and so points to a string, says the caller.
    let bytes = unsafe { CStr::from_ptr(pointer) };
    bytes.to_str().map_err(|_| format!("the argument '{argument}' is not UTF-8 encoded").into())
}

/// Where a function leaves what it gives, if that is anywhere.
pub fn out_pointer<T>(pointer: *mut T, argument: &str) -> Result<NonNull<T>, Failure> {
    NonNull::new(pointer).ok_or_else(|| null_pointer(argument))
}

fn null_pointer(argument: &str) -> Failure {
    format!("the argument '{argument}' is a null pointer").into()
}

/// A string that the caller frees. Text for people may hold a NUL (JSON never does), which C would take for its end.
pub fn owned(text: String) -> *mut c_char {
    let without_nul = || CString::new(text.replace('\0', "\u{fffd}")).unwrap_or_default();
    CString::new(text.as_str()).unwrap_or_else(|_| without_nul()).into_raw()
}

/// The JSON that some work gives, or its error as JSON, as a string that the caller frees.
pub fn answer(work: impl FnOnce() -> Result<String, Failure>) -> *mut c_char {
    owned(guarded(work).unwrap_or_else(|failure| failure.json.to_string()))
}

/// Nothing, or in words why some work failed, as a string that the caller frees.
pub fn complaint(work: impl FnOnce() -> Result<(), Failure>) -> *mut c_char {
    guarded(work).map_or_else(|failure| owned(failure.text), |()| null_mut())
}

/// Does some work; a panic becomes an error. The database stands whatever panics: a transaction that is not committed
/// leaves nothing behind.
pub fn guarded<T>(work: impl FnOnce() -> Result<T, Failure>) -> Result<T, Failure> {
    let _call = handles::call();
    let outcome = catch_unwind(AssertUnwindSafe(work));
    outcome.unwrap_or_else(|panic| Err(format!("internal error: {}", message_of(&*panic)).into()))
}

fn message_of(panic: &(dyn Any + Send)) -> &str {
    let text = panic.downcast_ref::<&str>().copied();
    text.or_else(|| panic.downcast_ref::<String>().map(String::as_str)).unwrap_or("a panic without a message")
}

#[cfg(test)]
mod tests {
    use super::*;

    fn read(pointer: *mut c_char) -> String {
        // SAFETY: `owned` made it, and it is freed here only.
        unsafe { CString::from_raw(pointer) }.into_string().expect("UTF-8 went in")
    }

    #[test]
    fn a_panic_becomes_an_answer() {
        let expected = r#"{"message":"internal error: out of paper","ok":false}"#;
        assert_eq!(read(answer(|| panic!("out of paper"))), expected);
        assert_eq!(read(answer(|| panic!("out of {}", "paper"))), expected);
        assert!(read(answer(|| std::panic::panic_any(1))).contains("without a message"));
    }

    #[test]
    fn text_with_a_nul_is_not_cut() {
        assert_eq!(read(owned("a\0b".to_string())), "a\u{fffd}b");
    }
}
