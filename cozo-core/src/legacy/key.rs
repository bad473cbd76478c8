//! Values in keys: the order-preserving encoding of CozoDB 0.7.
//!
//! A tag byte, then the content. `'a'` is `06 6100000000000000 f8`, `1` is `05 bff0000000000000 00`.

use super::MAX_DEPTH;
use super::malformed::Malformed;
use crate::value::{DataValue, JsonData, Num, UuidWrapper, Validity, Vector};

/// The values that follow one another in `bytes`.
pub(super) fn decode_key(bytes: &[u8]) -> Result<Vec<DataValue>, Malformed> {
    let mut reader = Reader { rest: bytes };
    let mut values = Vec::new();
    while !reader.rest.is_empty() {
        values.push(reader.value(0)?);
    }
    Ok(values)
}

/// The bytes that are still to be read.
struct Reader<'a> {
    rest: &'a [u8],
}

const SIGN: u64 = 1 << 63;

impl<'a> Reader<'a> {
    fn value(&mut self, depth: usize) -> Result<DataValue, Malformed> {
        Ok(match self.byte()? {
            0x01 => DataValue::Null,
            0x02 => false.into(),
            0x03 => true.into(),
            0x04 => DataValue::Vec(self.vector()?),
            0x05 => DataValue::Num(self.number()?),
            0x06 => self.text()?.into(),
            0x07 => DataValue::Bytes(self.chunks()?),
            0x08 => DataValue::Uuid(self.uuid()?),
            // A set becomes a list; its elements are ascending.
            0x0a | 0x0b => DataValue::List(self.list(depth + 1)?),
            0x0c => DataValue::Validity(self.validity()?),
            0x0d => DataValue::Json(self.json()?),
            tag => return Err(Malformed(format!("the key has the unknown tag {tag:#04x}"))),
        })
    }

    fn take(&mut self, count: usize) -> Result<&'a [u8], Malformed> {
        let (taken, rest) =
            self.rest.split_at_checked(count).ok_or_else(|| Malformed::new("the key ends too early"))?;
        self.rest = rest;
        Ok(taken)
    }

    fn array<const N: usize>(&mut self) -> Result<[u8; N], Malformed> {
        let (taken, rest) =
            self.rest.split_first_chunk::<N>().ok_or_else(|| Malformed::new("the key ends too early"))?;
        self.rest = rest;
        Ok(*taken)
    }

    fn byte(&mut self) -> Result<u8, Malformed> {
        self.array::<1>().map(|[byte]| byte)
    }

    fn long(&mut self) -> Result<u64, Malformed> {
        self.array().map(u64::from_be_bytes)
    }

    /// A float, then what it stands for: itself, the integer of its value, or an integer of which it is the rounding.
    fn number(&mut self) -> Result<Num, Malformed> {
        let bits = self.long()?;
        let float = f64::from_bits(if bits & SIGN != 0 { bits ^ SIGN } else { !bits });
        match self.byte()? {
            0x00 => {
                let exact = Num::Float(float).get_int().filter(|int| int.unsigned_abs() < 1 << 53);
                exact.map(Num::Int).ok_or_else(|| Malformed(format!("the key has {float} as an integer")))
            }
            0x04 => {
                let int = (self.long()? ^ SIGN).cast_signed();
                if int as f64 != float {
                    return Err(Malformed(format!("the key has {float} as the rounding of {int}")));
                }
                Ok(Num::Int(int))
            }
            0x10 => Ok(Num::Float(float)),
            kind => Err(Malformed(format!("the key has the unknown kind of number {kind:#04x}"))),
        }
    }

    /// Groups of 8 bytes with a marker each, which says how many of them are padding; `ff` if another group follows.
    fn chunks(&mut self) -> Result<Vec<u8>, Malformed> {
        let mut bytes = Vec::new();
        loop {
            let [group @ .., marker] = self.array::<9>()?;
            let padding = usize::from(0xff - marker);
            let used = group.len().checked_sub(padding).filter(|used| group[*used..].iter().all(|byte| *byte == 0));
            let used = used.ok_or_else(|| Malformed::new("the key has a group of bytes that does not end well"))?;
            bytes.extend_from_slice(&group[..used]);
            if padding > 0 {
                return Ok(bytes);
            }
        }
    }

    fn text(&mut self) -> Result<String, Malformed> {
        String::from_utf8(self.chunks()?)
            .map_err(|error| Malformed(format!("the key has text that is no UTF-8: {error}")))
    }

    fn json(&mut self) -> Result<JsonData, Malformed> {
        let parsed = serde_json::from_slice(&self.chunks()?);
        parsed.map(JsonData).map_err(|error| Malformed(format!("the key has JSON that cannot be read: {error}")))
    }

    fn list(&mut self, depth: usize) -> Result<Vec<DataValue>, Malformed> {
        if depth > MAX_DEPTH {
            return Err(Malformed(format!("the key has lists nested deeper than {MAX_DEPTH} levels")));
        }
        let mut items = Vec::new();
        while *self.rest.first().ok_or_else(|| Malformed::new("the key ends within a list"))? != 0x00 {
            items.push(self.value(depth)?);
        }
        self.byte()?;
        Ok(items)
    }

    fn vector(&mut self) -> Result<Vector, Malformed> {
        let width = match self.byte()? {
            0x01 => 4,
            0x02 => 8,
            kind => return Err(Malformed(format!("the key has the unknown kind of vector {kind:#04x}"))),
        };
        let size = usize::try_from(self.long()?).ok().and_then(|len| len.checked_mul(width));
        let bytes = self.take(size.ok_or_else(|| Malformed::new("the key has a vector that is too long"))?)?;
        Ok(if width == 4 {
            Vector::F32(bytes.as_chunks().0.iter().map(|element| f32::from_be_bytes(*element)).collect())
        } else {
            Vector::F64(bytes.as_chunks().0.iter().map(|element| f64::from_be_bytes(*element)).collect())
        })
    }

    /// The parts of the text stand in the order c, b, a, d and e, so that version 1 ids sort by time.
    fn uuid(&mut self) -> Result<UuidWrapper, Malformed> {
        let high = u16::from_be_bytes(self.array()?);
        let mid = u16::from_be_bytes(self.array()?);
        let low = u32::from_be_bytes(self.array()?);
        Ok(UuidWrapper(uuid::Uuid::from_fields(low, mid, high, &self.array()?)))
    }

    fn validity(&mut self) -> Result<Validity, Malformed> {
        let micros = (!self.long()? ^ SIGN).cast_signed();
        match self.byte()? {
            0x00 => Ok(Validity::from((micros, true))),
            0x01 => Ok(Validity::from((micros, false))),
            flag => Err(Malformed(format!("the key has a validity with the unknown flag {flag:#04x}"))),
        }
    }
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used, reason = "a test fails by panicking")]

    use super::*;
    use crate::legacy::tests::bytes_of;

    fn json(text: &str) -> DataValue {
        DataValue::Json(JsonData(serde_json::from_str(text).unwrap()))
    }

    #[test]
    fn keys_read_as_documented() {
        let two_to_53 = 1i64 << 53;
        let id = uuid::Uuid::from_u128(0x00112233_4455_6677_8899_aabbccddeeff);
        let table: Vec<(DataValue, &str)> = vec![
            (DataValue::Null, "01"),
            (false.into(), "02"),
            (true.into(), "03"),
            (0.into(), "05 8000000000000000 00"),
            (0.0.into(), "05 8000000000000000 10"),
            ((-0.0).into(), "05 7fffffffffffffff 10"),
            (1.into(), "05 bff0000000000000 00"),
            (1.0.into(), "05 bff0000000000000 10"),
            (1.5.into(), "05 bff8000000000000 10"),
            ((-1).into(), "05 400fffffffffffff 00"),
            ((-1.5).into(), "05 4007ffffffffffff 10"),
            ((-129).into(), "05 3f9fdfffffffffff 00"),
            ((two_to_53 - 1).into(), "05 c33fffffffffffff 00"),
            (two_to_53.into(), "05 c340000000000000 04 8020000000000000"),
            ((two_to_53 + 1).into(), "05 c340000000000000 04 8020000000000001"),
            ((two_to_53 as f64).into(), "05 c340000000000000 10"),
            ((-two_to_53 - 1).into(), "05 3cbfffffffffffff 04 7fdfffffffffffff"),
            (i64::MAX.into(), "05 c3e0000000000000 04 ffffffffffffffff"),
            (i64::MIN.into(), "05 3c1fffffffffffff 04 0000000000000000"),
            (f64::INFINITY.into(), "05 fff0000000000000 10"),
            (f64::NEG_INFINITY.into(), "05 000fffffffffffff 10"),
            (f64::NAN.into(), "05 fff8000000000000 10"),
            ("".into(), "06 0000000000000000 f7"),
            ("a".into(), "06 6100000000000000 f8"),
            ("\0".into(), "06 0000000000000000 f8"),
            ("1234567".into(), "06 3132333435363700 fe"),
            ("12345678".into(), "06 3132333435363738 ff 0000000000000000 f7"),
            ("123456789".into(), "06 3132333435363738 ff 3900000000000000 f8"),
            (DataValue::Bytes(vec![0xff; 9]), "07 ffffffffffffffff ff ff00000000000000 f8"),
            (DataValue::Uuid(UuidWrapper(id)), "08 6677 4455 00112233 8899aabbccddeeff"),
            (DataValue::List(vec![]), "0a00"),
            (vec![DataValue::Null].into(), "0a 01 00"),
            (vec![1, 2].into(), "0a 05bff000000000000000 05c00000000000000000 00"),
            (vec![1, 2].into(), "0b 05bff000000000000000 05c00000000000000000 00"),
            (
                DataValue::Vec(Vector::F32(vec![1.0, -2.5, 0.1].into())),
                "04 01 0000000000000003 3f800000 c0200000 3dcccccd",
            ),
            (
                DataValue::Vec(Vector::F64(vec![1.0, -2.5, 0.1].into())),
                "04 02 0000000000000003 3ff0000000000000 c004000000000000 3fb999999999999a",
            ),
            (DataValue::Validity((5, true).into()), "0c 7ffffffffffffffa 00"),
            (DataValue::Validity((-7, false).into()), "0c 8000000000000006 01"),
            (json("{}"), "0d 7b7d000000000000 f9"),
            (json("3"), "0d 3300000000000000 f8"),
            (json("3.0"), "0d 332e300000000000 fa"),
        ];
        for (value, bytes) in table {
            assert_eq!(decode_key(&bytes_of(bytes)), Ok(vec![value]), "{bytes}");
        }
        assert_eq!(decode_key(&bytes_of("0102")), Ok(vec![DataValue::Null, false.into()]));
    }

    #[test]
    fn what_means_nothing_is_refused() {
        for bytes in [
            "00",                                      // unknown tag
            "ff",                                      // bottom is never stored
            "05 8000000000000000",                     // no kind
            "05 8000000000000000 11",                  // unknown kind
            "05 bff8000000000000 00",                  // 1.5 as an integer
            "05 c340000000000000 00",                  // 2^53 needs its digits
            "05 c340000000000000 04 8020000000000009", // not its rounding
            "06 6100000000000000",                     // no marker
            "06 6100000000000000 f6",                  // more padding than bytes
            "06 6161000000000000 f8",                  // padding that is not zero
            "06 ff00000000000000 f8",                  // no UTF-8
            "04 03 0000000000000000",                  // unknown kind
            "04 01 ffffffffffffffff 00000000",         // far too long
            "04 02 0000000000000002 0000000000000000", // too long
            "0a 01",                                   // no end
            "0c 7ffffffffffffffa 02",                  // unknown flag
            "0d 7b00000000000000 f8",                  // {
        ] {
            assert!(decode_key(&bytes_of(bytes)).is_err(), "{bytes}");
        }
        let nested = |depth: usize| decode_key(&[vec![0x0a; depth], vec![0x00; depth]].concat());
        assert!(nested(MAX_DEPTH).is_ok());
        assert!(nested(MAX_DEPTH + 1).is_err() && nested(1_000_000).is_err());
    }
}
