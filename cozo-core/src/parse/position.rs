//! Lines and columns of byte offsets, counted once per error.
//!
//! Offset 5 (bytes) of `a\nbé` is line 2, column 3: columns count characters from 1.

/// `line 2, column 3`.
pub(super) fn describe_position(source: &str, offset: usize) -> String {
    let before = &source[..offset];
    let line = before.bytes().filter(|byte| *byte == b'\n').count() + 1;
    let column = before[before.rfind('\n').map_or(0, |at| at + 1)..].chars().count() + 1;
    format!("line {line}, column {column}")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn columns_count_characters() {
        assert_eq!(describe_position("a\nbé", 5), "line 2, column 3");
        assert_eq!(describe_position("", 0), "line 1, column 1");
    }
}
