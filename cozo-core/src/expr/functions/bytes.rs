//! Byte strings and their bits.

use super::arguments::{Outcome, bytes, fail, list, string, unexpected};
use super::{Family, Function};
use crate::budget::{Stop, make_room, step};
use crate::value::{DataValue, allocated, decode_base64, encode_base64};

pub(super) const FAMILY: Family = Family { title: "Bytes", functions: FUNCTIONS };

static FUNCTIONS: &[Function] = &[
    Function::new(
        "bit_and",
        &["x", "y"],
        "The bits that are set in both of two Bytes of one length.",
        &[
            ("bit_and(decode_base64('Dw=='), decode_base64('PA=='))", "decode_base64('DA==')"),
            ("bit_and('a', 'b')", ""),
        ],
        |args| combine("bit_and", args, |a, b| a & b),
    ),
    Function::new(
        "bit_not",
        &["bytes"],
        "Bytes with each bit inverted.",
        &[("bit_not(decode_base64('Dw=='))", "decode_base64('8A==')"), ("bit_not(1)", "")],
        |args| {
            let bytes = bytes("bit_not", args, 0)?;
            make_room(bytes.len())?;
            Ok(bytes.iter().map(|byte| !byte).collect::<Vec<u8>>().into())
        },
    ),
    Function::new(
        "bit_or",
        &["x", "y"],
        "The bits that are set in either of two Bytes of one length.",
        &[("bit_or(decode_base64('Dw=='), decode_base64('PA=='))", "decode_base64('Pw==')"), ("bit_or('a', 'b')", "")],
        |args| combine("bit_or", args, |a, b| a | b),
    ),
    Function::new(
        "bit_xor",
        &["x", "y"],
        "The bits that are set in exactly one of two Bytes of one length.",
        &[
            ("bit_xor(decode_base64('Dw=='), decode_base64('PA=='))", "decode_base64('Mw==')"),
            ("bit_xor('a', 'b')", ""),
        ],
        |args| combine("bit_xor", args, |a, b| a ^ b),
    ),
    Function::new(
        "decode_base64",
        &["text"],
        "The Bytes that a standard, padded base64 text stands for.",
        &[("length(decode_base64('AAECAw=='))", "4"), ("decode_base64('***')", "")],
        |args| {
            let text = string("decode_base64", args, 0)?;
            make_room(text.len())?;
            decode_base64(text).map(DataValue::Bytes).or_else(|error| fail("decode_base64", error))
        },
    ),
    Function::new(
        "encode_base64",
        &["bytes"],
        "Bytes as standard, padded base64 text.",
        &[("encode_base64(decode_base64('aGk='))", "'aGk='"), ("encode_base64('hi')", "")],
        |args| {
            let bytes = bytes("encode_base64", args, 0)?;
            make_room(bytes.len().div_ceil(3) * 4)?;
            Ok(encode_base64(bytes).into())
        },
    ),
    Function::new(
        "pack_bits",
        &["list"],
        "A list of Booleans as Bytes, the first in the highest bit; the last byte is filled up with zeros.",
        &[
            ("pack_bits([true, false, false, false, false, false, false, true])", "decode_base64('gQ==')"),
            ("pack_bits([1])", ""),
        ],
        pack_bits,
    ),
    Function::new(
        "unpack_bits",
        &["bytes"],
        "The bits of Bytes as a list of Booleans, the highest bit of each byte first.",
        &[("slice(unpack_bits(decode_base64('gQ==')), 0, 2)", "[true, false]"), ("unpack_bits('a')", "")],
        |args| Ok(DataValue::List(unpack_bits(bytes("unpack_bits", args, 0)?)?)),
    )
    .making_much(),
];

/// The bytes that are unpacked between two looks at the clock.
const PIECE: usize = 1024;

fn unpack_bits(bytes: &[u8]) -> Result<Vec<DataValue>, Stop> {
    make_room(allocated(bytes.len() * 8 * size_of::<DataValue>()))?;
    let mut bits = Vec::with_capacity(bytes.len() * 8);
    for piece in bytes.chunks(PIECE) {
        step(piece.len() * 8)?;
        bits.extend(piece.iter().flat_map(|byte| (0..8).map(move |i| DataValue::Bool(byte & (0x80 >> i) != 0))));
    }
    Ok(bits)
}

fn combine(function: &str, args: &[DataValue], operation: fn(u8, u8) -> u8) -> Outcome {
    let (a, b) = (bytes(function, args, 0)?, bytes(function, args, 1)?);
    if a.len() != b.len() {
        return fail(function, format!("the Bytes have different lengths, {} and {}", a.len(), b.len()));
    }
    make_room(a.len())?;
    Ok(a.iter().zip(b).map(|(a, b)| operation(*a, *b)).collect::<Vec<u8>>().into())
}

fn pack_bits(args: &[DataValue]) -> Outcome {
    let items = list("pack_bits", args, 0)?;
    make_room(items.len() / 8)?;
    let mut packed = vec![0u8; items.len().div_ceil(8)];
    for (i, item) in items.iter().enumerate() {
        match item {
            DataValue::Bool(true) => packed[i / 8] |= 0x80 >> (i % 8),
            DataValue::Bool(false) => {}
            _ => return Err(unexpected("pack_bits", args, 0, "a List of Booleans")),
        }
    }
    Ok(packed.into())
}
