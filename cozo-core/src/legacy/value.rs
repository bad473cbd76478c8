//! Values in value columns, and in the catalog: MessagePack.
//!
//! A value is an enum: its name where it has no content, else a map of one entry from its name to the content:
//! `"Null"`, `{"Num": {"Int": 1}}`.

use std::fmt;

use serde::Deserialize;
use serde::de::{Deserializer, Error, MapAccess, Visitor};

use super::MAX_DEPTH;
use super::malformed::Malformed;
use crate::value::{DataValue, JsonData, Num, SmallStr, UuidWrapper, Validity, Vector};

/// A list is a map with an array in it, and stands within arrays of the row or structs of the catalog.
const MAX_NESTED: usize = 2 * MAX_DEPTH + 16;

/// Reads one item that fills `bytes`.
pub(super) fn decode<'de, T: Deserialize<'de>>(bytes: &'de [u8]) -> Result<T, Malformed> {
    let mut deserializer = rmp_serde::Deserializer::from_read_ref(bytes);
    deserializer.set_max_depth(MAX_NESTED);
    let item = T::deserialize(&mut deserializer).map_err(|error| Malformed(format!("bad MessagePack: {error}")))?;
    // The reader does not tell how far it came. What follows would be a marker, whatever it marks.
    match <()>::deserialize(&mut deserializer) {
        Err(rmp_serde::decode::Error::InvalidMarkerRead(_)) => Ok(item),
        _ => Err(Malformed::new("more bytes after the MessagePack")),
    }
}

/// The values of the value columns of a row.
pub(super) fn decode_values(bytes: &[u8]) -> Result<Vec<DataValue>, Malformed> {
    decode::<Vec<Stored>>(bytes).map(plain)
}

/// A list of values within a struct, for `#[serde(deserialize_with)]`.
pub(super) fn values<'de, D: Deserializer<'de>>(deserializer: D) -> Result<Vec<DataValue>, D::Error> {
    Vec::<Stored>::deserialize(deserializer).map(plain)
}

/// A value as it is stored.
pub(super) struct Stored(pub DataValue);

fn plain(values: Vec<Stored>) -> Vec<DataValue> {
    values.into_iter().map(|value| value.0).collect()
}

impl<'de> Deserialize<'de> for Stored {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        deserializer.deserialize_any(StoredVisitor).map(Stored)
    }
}

/// By hand, since a derived enum would take numbers in place of names.
struct StoredVisitor;

impl<'de> Visitor<'de> for StoredVisitor {
    type Value = DataValue;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("a value")
    }

    fn visit_str<E: Error>(self, name: &str) -> Result<DataValue, E> {
        if name == "Null" { Ok(DataValue::Null) } else { Err(unknown(name)) }
    }

    fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<DataValue, A::Error> {
        let name: &str = map.next_key()?.ok_or_else(|| A::Error::custom("a value without a name"))?;
        let value = content(name, &mut map)?;
        match map.next_key::<&str>()? {
            None => Ok(value),
            Some(more) => Err(A::Error::custom(format!("a value that is both '{name}' and '{more}'"))),
        }
    }
}

fn content<'de, A: MapAccess<'de>>(name: &str, map: &mut A) -> Result<DataValue, A::Error> {
    Ok(match name {
        "Bool" => map.next_value::<bool>()?.into(),
        "Num" => DataValue::Num(map.next_value::<Num>()?),
        "Str" => DataValue::Str(map.next_value::<SmallStr>()?),
        "Bytes" => DataValue::Bytes(map.next_value::<&[u8]>()?.to_vec()),
        "Uuid" => {
            let id = uuid::Uuid::from_slice(map.next_value()?).map_err(A::Error::custom)?;
            DataValue::Uuid(UuidWrapper(id))
        }
        // A set becomes a list; its elements are ascending.
        "List" | "Set" => DataValue::List(plain(map.next_value()?)),
        "Vec" => {
            let (kind, bytes) = map.next_value::<(u8, &[u8])>()?;
            DataValue::Vec(vector(kind, bytes).ok_or_else(|| A::Error::custom("a vector of a wrong kind or length"))?)
        }
        "Json" => DataValue::Json(JsonData(map.next_value()?)),
        "Validity" => DataValue::Validity(Validity::from(map.next_value::<(i64, bool)>()?)),
        unknown_name => return Err(unknown(unknown_name)),
    })
}

fn unknown<E: Error>(name: &str) -> E {
    E::custom(format!("a value of the unknown kind '{name}'"))
}

/// A vector of little-endian elements.
fn vector(kind: u8, bytes: &[u8]) -> Option<Vector> {
    match kind {
        0 => {
            let (elements, rest) = bytes.as_chunks();
            rest.is_empty().then(|| Vector::F32(elements.iter().map(|x| f32::from_le_bytes(*x)).collect()))
        }
        1 => {
            let (elements, rest) = bytes.as_chunks();
            rest.is_empty().then(|| Vector::F64(elements.iter().map(|x| f64::from_le_bytes(*x)).collect()))
        }
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::legacy::tests::bytes_of;

    /// The value that stands alone in an array.
    fn decode_one(bytes: &str) -> Result<DataValue, Malformed> {
        decode_values(&[vec![0x91], bytes_of(bytes)].concat()).map(|mut values| values.remove(0))
    }

    fn json(value: serde_json::Value) -> DataValue {
        DataValue::Json(JsonData(value))
    }

    #[test]
    fn values_read_as_documented() {
        let id = uuid::Uuid::from_u128(0x00112233_4455_6677_8899_aabbccddeeff);
        let table: Vec<(DataValue, &str)> = vec![
            (DataValue::Null, "a44e756c6c"),
            (false.into(), "81 a4426f6f6c c2"),
            (1.into(), "81a34e756d 81a3496e74 01"),
            ((-129).into(), "81a34e756d 81a3496e74 d1ff7f"),
            (i64::MAX.into(), "81a34e756d 81a3496e74 cf7fffffffffffffff"),
            (i64::MIN.into(), "81a34e756d 81a3496e74 d38000000000000000"),
            (1.5.into(), "81a34e756d 81a5466c6f6174 cb3ff8000000000000"),
            ("a".into(), "81a3537472 a161"),
            (DataValue::Bytes(vec![0xff]), "81a54279746573 c4 01 ff"),
            (DataValue::Uuid(UuidWrapper(id)), "81a455756964 c4 10 00112233445566778899aabbccddeeff"),
            (DataValue::List(vec![]), "81a44c697374 90"),
            (DataValue::List(vec![]), "81a3536574 90"),
            (
                DataValue::Vec(Vector::F32(vec![1.0, -2.5, 0.1].into())),
                "81a3566563 92 00 c40c 0000803f000020c0cdcccc3d",
            ),
            (DataValue::Vec(Vector::F64(vec![1.0].into())), "81a3566563 92 01 c408 000000000000f03f"),
            (json(serde_json::json!(3)), "81a44a736f6e 03"),
            (json(serde_json::json!(3.0)), "81a44a736f6e cb4008000000000000"),
            (json(serde_json::json!(null)), "81a44a736f6e c0"),
            (json(serde_json::json!(u64::MAX)), "81a44a736f6e cfffffffffffffffff"),
            (DataValue::Validity((-7, false).into()), "81a856616c6964697479 92 f9 c2"),
        ];
        for (value, bytes) in table {
            assert_eq!(decode_one(bytes), Ok(value), "{bytes}");
        }
        let row = "93 81a3537472a8706572736f6e2030 a44e756c6c 81a34e756d81a3496e7414";
        assert_eq!(decode_values(&bytes_of(row)), Ok(vec!["person 0".into(), DataValue::Null, 20.into()]));
        assert_eq!(decode_values(&bytes_of("dc 0001 a44e756c6c")), Ok(vec![DataValue::Null]));
    }

    #[test]
    fn what_means_nothing_is_refused() {
        for bytes in [
            "",                                         // nothing
            "00",                                       // a number where a name should be
            "c0",                                       // nil
            "a3426f74",                                 // never stored
            "a4426f6f6c",                               // no content
            "81 a4426f6f6c 01",                         // no Boolean
            "80",                                       // no name
            "82 a4426f6f6c c2 a4426f6f6c c2",           // two values
            "81a34e756d 81a3496e74 cf8000000000000000", // an integer beyond 64 bits
            "81a3537472 a261ff",                        // no UTF-8
            "81a455756964 c4 02 0011",                  // short
            "81a3566563 92 02 c400",                    // unknown kind
            "81a3566563 92 00 c403 000000",             // no whole element
            "81a44c697374 ddffffffff",                  // far too long
            "81a54279746573 c6ffffffff",                // far too long
            "a44e756c6c a44e756c6c",                    // two values
        ] {
            assert!(decode_one(bytes).is_err(), "{bytes}");
        }
        let nested = |depth: usize| decode_one(&["81a44c697374 91".repeat(depth), "a44e756c6c".to_string()].concat());
        assert!(nested(MAX_DEPTH).is_ok());
        assert!(nested(MAX_DEPTH + 10).is_err() && nested(100_000).is_err());
        let json = |depth: usize| decode_one(&["81a44a736f6e".to_string(), "91".repeat(depth), "c0".into()].concat());
        assert!(json(MAX_DEPTH).is_ok() && json(100_000).is_err());
    }
}
