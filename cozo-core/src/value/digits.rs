//! Integers that no number can represent: beyond the range of Int, and rounded as a Float.

/// Whether a text is an integer that neither Int nor Float represents exactly. A text with a fraction or an exponent is not an integer.
pub fn loses_digits(text: &str) -> bool {
    let digits = text.strip_prefix('-').unwrap_or(text);
    !digits.is_empty()
        && digits.bytes().all(|byte| byte.is_ascii_digit())
        && text.parse::<i64>().is_err()
        && text.parse::<f64>().is_ok_and(|float| format!("{float:.0}") != text)
}

/// The first integer in the text of a JSON value, however deep, that [loses digits](loses_digits).
pub fn lost_integer(json: &str) -> Option<&str> {
    let bytes = json.as_bytes();
    let mut at = 0;
    while at < bytes.len() {
        match bytes[at] {
            b'"' => {
                at += 1;
                while at < bytes.len() && bytes[at] != b'"' {
                    at += if bytes[at] == b'\\' { 2 } else { 1 };
                }
                at += 1;
            }
            b'-' | b'0'..=b'9' => {
                let is_part = |byte: &u8| matches!(byte, b'-' | b'+' | b'.' | b'e' | b'E' | b'0'..=b'9');
                let len = bytes[at..].iter().take_while(|byte| is_part(byte)).count();
                let number = &json[at..at + len];
                // Int can represent all integers with fewer digits.
                if len > 18 && loses_digits(number) {
                    return Some(number);
                }
                at += len;
            }
            _ => at += 1,
        }
    }
    None
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn integers_lose_digits_where_neither_number_holds_them() {
        let kept =
            ["0", "-1", "9223372036854775807", "-9223372036854775808", "9223372036854775808", "100000000000000000000"];
        assert_eq!(kept.map(loses_digits), [false; 6]);
        let lost = ["9223372036854775809", "-9223372036854775809", "18446744073709551617", "99999999999999999999"];
        assert_eq!(lost.map(loses_digits), [true; 4]);
        assert!(["", "-", "1.5", "1e30", "abc", "18446744073709551617.0"].iter().all(|text| !loses_digits(text)));
    }

    #[test]
    fn they_are_found_in_json() {
        let found = |json: &'static str| lost_integer(json);
        assert_eq!(found(r#"{"a": [1, {"b": 18446744073709551617}]}"#), Some("18446744073709551617"));
        assert_eq!(found("[-18446744073709551617, 1]"), Some("-18446744073709551617"));
        assert_eq!(found(r#"{"18446744073709551617": "18446744073709551617", "\"": 1}"#), None);
        assert_eq!(found(r#"["\\", 18446744073709551617]"#), Some("18446744073709551617"));
        assert_eq!(found("[1844674407370955161.7, 18446744073709551617e0, 9223372036854775808]"), None);
        assert_eq!(found(""), None);
    }
}
