//! What crosses the boundary to C: strings in, strings out; panics do not.

use std::any::Any;
use std::ffi::{CStr, CString, c_char};
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::ptr::NonNull;

use serde_json::json;

/// A string of the caller.
///
/// # Safety
///
/// The pointer is NULL or points to a NUL-terminated string that stays as it is for `'a`.
pub unsafe fn text<'a>(pointer: *const c_char, argument: &str) -> Result<&'a str, String> {
    if pointer.is_null() {
        return Err(null_pointer(argument));
    }
    // SAFETY: it is not NULL, and so points to a string, says the caller.
    let bytes = unsafe { CStr::from_ptr(pointer) };
    bytes.to_str().map_err(|_| format!("the argument '{argument}' is not UTF-8 encoded"))
}

/// Where a function leaves what it gives, if that is anywhere.
pub fn out_pointer<T>(pointer: *mut T, argument: &str) -> Result<NonNull<T>, String> {
    NonNull::new(pointer).ok_or_else(|| null_pointer(argument))
}

fn null_pointer(argument: &str) -> String {
    format!("the argument '{argument}' is a null pointer")
}

/// A string that the caller frees. Text for people may hold a NUL (JSON never does), which C would take for its end.
pub fn owned(text: String) -> *mut c_char {
    let without_nul = || CString::new(text.replace('\0', "\u{fffd}")).unwrap_or_default();
    CString::new(text.as_str()).unwrap_or_else(|_| without_nul()).into_raw()
}

/// The JSON that some work gives, or its error as JSON, as a string that the caller frees.
pub fn answer(work: impl FnOnce() -> Result<String, String>) -> *mut c_char {
    owned(guarded(work).unwrap_or_else(|message| json!({"ok": false, "message": message}).to_string()))
}

/// Does some work; a panic becomes an error. The database stands whatever panics: a transaction that is not committed
/// leaves nothing behind.
pub fn guarded<T>(work: impl FnOnce() -> Result<T, String>) -> Result<T, String> {
    catch_unwind(AssertUnwindSafe(work)).unwrap_or_else(|panic| Err(format!("internal error: {}", message_of(&*panic))))
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
