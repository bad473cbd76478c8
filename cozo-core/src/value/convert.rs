//! Bytes and UUIDs from text, for functions and for the coercion of stored columns.

use base64::Engine as _;

/// Text that cannot be converted.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("{0}")]
pub struct ParseError(pub String);

/// Bytes from standard, padded base64.
pub fn decode_base64(text: &str) -> Result<Vec<u8>, ParseError> {
    let decoded = base64::engine::general_purpose::STANDARD.decode(text);
    decoded.map_err(|error| ParseError(format!("not valid base64: {error}")))
}

/// Standard, padded base64 of bytes.
pub fn encode_base64(bytes: &[u8]) -> String {
    base64::engine::general_purpose::STANDARD.encode(bytes)
}

/// A UUID in any of its usual spellings.
pub fn parse_uuid(text: &str) -> Result<super::UuidWrapper, ParseError> {
    let parsed = uuid::Uuid::parse_str(text);
    parsed.map(super::UuidWrapper).map_err(|error| ParseError(format!("not a UUID: {error}")))
}
