//! Tests with random values of every type: bytes sort as the values do, and values come back identical.

#![allow(clippy::unwrap_used, clippy::mutable_key_type)]

use rand::rngs::StdRng;
use rand::{RngExt, SeedableRng};
use serde_json::json;

use super::*;
use crate::schema::{BaseType, ColumnType, RelationSchema};
use crate::storage::StorageError;
use crate::storage::tests::schema;
use crate::value::{Batch, Column, DataValue, JsonData, Num, RegexWrapper, UuidWrapper, Validity, Vector};

const FLOATS: [f64; 14] = [
    0.0,
    -0.0,
    1.0,
    -1.0,
    0.5,
    f64::INFINITY,
    f64::NEG_INFINITY,
    f64::MIN_POSITIVE,
    9_223_372_036_854_775_808.0,
    -9_223_372_036_854_775_808.0,
    9_223_372_036_854_774_784.0,
    9_007_199_254_740_992.0,
    f64::MAX,
    5e-324,
];

fn float(random: &mut StdRng) -> f64 {
    match random.random_range(0..5) {
        0 => FLOATS[random.random_range(0..FLOATS.len())],
        // Any bits: also NaNs of every kind.
        1 => f64::from_bits(random.random()),
        2 => f64::from_bits(0x7ff0_0000_0000_0000 | random.random::<u64>() >> random.random_range(0..3)),
        3 => int(random) as f64,
        _ => f64::from(random.random_range(-8..8)) / 4.0,
    }
}

fn int(random: &mut StdRng) -> i64 {
    let near = random.random_range(-3..3);
    match random.random_range(0..5) {
        0 => [i64::MIN, i64::MAX, 0][random.random_range(0..3)].saturating_add(near),
        1 => (1i64 << random.random_range(50..63)).wrapping_add(near),
        2 => (-(1i64 << random.random_range(50..63))).wrapping_add(near),
        3 => random.random::<i64>() >> random.random_range(0..63),
        _ => near,
    }
}

fn text(random: &mut StdRng) -> String {
    let letters = ['\0', '\u{1}', '\u{2}', 'a', 'b', 'é', '\u{ffff}', '😀'];
    (0..random.random_range(0..5)).map(|_| letters[random.random_range(0..letters.len())]).collect()
}

fn bytes(random: &mut StdRng) -> Vec<u8> {
    (0..random.random_range(0..5)).map(|_| [0, 1, 2, 3, 254, 255][random.random_range(0..6)]).collect()
}

fn validity(random: &mut StdRng) -> DataValue {
    DataValue::Validity(Validity::from((int(random), random.random_bool(0.5))))
}

fn uuid(random: &mut StdRng) -> DataValue {
    let bits = [0u128, u128::MAX, random.random(), 1 << random.random_range(0..128)][random.random_range(0..4)];
    DataValue::Uuid(UuidWrapper(uuid::Uuid::from_u128(bits)))
}

fn list(random: &mut StdRng, depth: usize) -> Vec<DataValue> {
    (0..random.random_range(0..4)).map(|_| value(random, depth + 1)).collect()
}

fn vector(random: &mut StdRng) -> Vector {
    let len = random.random_range(0..4);
    let floats: Vec<f64> = (0..len).map(|_| float(random)).collect();
    if random.random_bool(0.5) {
        Vector::F64(floats.into())
    } else {
        Vector::F32(floats.iter().map(|x| *x as f32).collect())
    }
}

fn document(random: &mut StdRng) -> serde_json::Value {
    match random.random_range(0..5) {
        0 => json!(int(random)),
        1 => json!({text(random): float(random), "a": [text(random)]}),
        2 => json!([[], {}, null, text(random)]),
        3 => json!(u64::MAX),
        _ => json!(text(random)),
    }
}

fn value(random: &mut StdRng, depth: usize) -> DataValue {
    match random.random_range(0..if depth < 3 { 15 } else { 11 }) {
        0 => DataValue::Null,
        1 => random.random_bool(0.5).into(),
        2 | 3 => int(random).into(),
        4 | 5 => float(random).into(),
        6 => text(random).into(),
        7 => bytes(random).into(),
        8 => uuid(random),
        9 => validity(random),
        10 => DataValue::Vec(vector(random)),
        11 => DataValue::Json(JsonData(document(random))),
        12 => DataValue::Set(list(random, depth).into_iter().collect()),
        13 if random.random_bool(0.1) => DataValue::Bot,
        13 if random.random_bool(0.1) => DataValue::Regex(RegexWrapper(regex::Regex::new("a+").unwrap())),
        _ => DataValue::List(list(random, depth)),
    }
}

/// The column types that have encodings of their own, and some that have not.
fn types() -> Vec<ColumnType> {
    use BaseType::*;
    let bases =
        [Any, Bool, Int, Float, String, Bytes, Uuid, Json, Validity, Tuple(vec![]), Vector { wide: false, len: 3 }];
    let both = |base: BaseType| [true, false].map(|nullable| ColumnType { base: base.clone(), nullable });
    bases.into_iter().flat_map(both).collect()
}

/// A value that fits the type.
fn fitting(column: &ColumnType, random: &mut StdRng) -> DataValue {
    if column.nullable && random.random_bool(0.2) {
        return DataValue::Null;
    }
    match column.base {
        BaseType::Bool => random.random_bool(0.5).into(),
        BaseType::Int => int(random).into(),
        BaseType::Float => float(random).into(),
        BaseType::String => text(random).into(),
        BaseType::Bytes => bytes(random).into(),
        BaseType::Uuid => uuid(random),
        BaseType::Json => DataValue::Json(JsonData(document(random))),
        BaseType::Validity => validity(random),
        BaseType::Tuple(_) => DataValue::List(list(random, 2)),
        BaseType::Vector { .. } => DataValue::Vec(Vector::F32((0..3).map(|_| float(random) as f32).collect())),
        _ => value(random, 0),
    }
}

/// Identity to the last bit. Values that are equal in the total order are compared as text.
fn assert_identical(a: &DataValue, b: &DataValue) {
    fn bits(value: &DataValue) -> String {
        match value {
            DataValue::Num(Num::Float(float)) => format!("{:x}", float.to_bits()),
            DataValue::List(items) => items.iter().map(bits).collect::<Vec<_>>().join(","),
            DataValue::Vec(Vector::F32(items)) => format!("{:?}", items.mapv(f32::to_bits)),
            DataValue::Vec(Vector::F64(items)) => format!("{:?}", items.mapv(f64::to_bits)),
            other => format!("{other:?}"),
        }
    }
    assert_eq!((a, bits(a)), (b, bits(b)));
}

#[test]
fn the_order_of_tagged_values_is_the_total_order_and_they_come_back() {
    let mut random = StdRng::seed_from_u64(1);
    let values: Vec<DataValue> = (0..2500).map(|_| value(&mut random, 0)).collect();
    let encoded: Vec<Vec<u8>> = values
        .iter()
        .map(|value| {
            let mut bytes = vec![];
            encode_any(value, &mut bytes).unwrap();
            bytes
        })
        .collect();
    for (value, bytes) in values.iter().zip(&encoded) {
        let (back, len) = decode_any(&[&bytes[..], b"rest"].concat()).unwrap();
        assert_identical(&back, value);
        assert_eq!(len, bytes.len());
    }
    for (a, a_bytes) in values.iter().zip(&encoded) {
        for (b, b_bytes) in values.iter().zip(&encoded) {
            assert_eq!(a.cmp(b), a_bytes.cmp(b_bytes), "{a:?} {b:?}");
            assert!(a == b || !a_bytes.starts_with(b_bytes), "{a:?} {b:?}");
        }
    }
}

fn relation(keys: Vec<ColumnType>, values: Vec<ColumnType>) -> RelationSchema {
    let count = keys.len();
    let all = keys.into_iter().chain(values).collect();
    RelationSchema::clone(&schema(count, all))
}

/// Two key columns of random types and any number of values.
fn random_relation(random: &mut StdRng) -> (RelationSchema, Vec<ColumnType>) {
    let types = types();
    let mut pick = |count: usize| (0..count).map(|_| types[random.random_range(0..types.len())].clone()).collect();
    let (keys, values): (Vec<ColumnType>, Vec<ColumnType>) = (pick(2), pick(3));
    (relation(keys.clone(), values.clone()), keys.into_iter().chain(values).collect())
}

fn key_of(codec: &RowCodec, batch: &Batch, row: usize) -> Vec<u8> {
    let mut key = vec![];
    codec.write_key(&batch.columns, row, &mut key).unwrap();
    key
}

#[test]
fn rows_of_every_type_sort_and_come_back() {
    let mut random = StdRng::seed_from_u64(2);
    for _ in 0..300 {
        let (schema, types) = random_relation(&mut random);
        let codec = RowCodec::new(&schema);
        let row = |random: &mut StdRng| types.iter().map(|column| fitting(column, random)).collect::<Vec<_>>();
        let rows: Vec<Vec<DataValue>> = (0..30).map(|_| row(&mut random)).collect();
        let mut batch = Batch::from_rows(types.len(), rows.iter().map(Vec::as_slice));
        if random.random_bool(0.3) {
            batch.columns = batch.columns.iter().map(|column| Column::Any(column.iter().collect())).collect();
        }
        let mut asked: Vec<usize> = (0..types.len()).filter(|_| random.random_bool(0.6)).collect();
        asked.reverse();
        asked.extend(asked.first().copied());
        let mut reader = RowReader::new(&codec, &asked);
        for (i, a) in rows.iter().enumerate() {
            let key = key_of(&codec, &batch, i);
            for (j, b) in rows.iter().enumerate() {
                assert_eq!(key.cmp(&key_of(&codec, &batch, j)), a[..2].cmp(&b[..2]), "{a:?} {b:?}");
            }
            let mut value = vec![];
            codec.write_value(&batch.columns, i, &mut value).unwrap();
            reader.read(&key, &value).unwrap();
        }
        let read = reader.finish();
        assert_eq!((read.len, read.columns.len()), (rows.len(), asked.len()));
        for (column, asked) in read.columns.iter().zip(&asked) {
            (0..rows.len()).for_each(|row| assert_identical(&column.get(row), &rows[row][*asked]));
        }
    }
}

#[test]
fn bounds_of_any_type_stand_where_the_total_order_has_them() {
    let mut random = StdRng::seed_from_u64(3);
    for _ in 0..3000 {
        let types = types();
        let pick = |random: &mut StdRng| types[random.random_range(0..types.len())].clone();
        let keys = vec![pick(&mut random), pick(&mut random)];
        let codec = RowCodec::new(&relation(keys.clone(), vec![]));
        let row: Vec<DataValue> = keys.iter().map(|column| fitting(column, &mut random)).collect();
        let batch = Batch::from_rows(2, [&row[..]]);
        let mut bound: Vec<DataValue> = (0..random.random_range(1..3)).map(|_| value(&mut random, 0)).collect();
        if random.random_bool(0.5) {
            bound[0] = row[0].clone();
        }
        // Keys of a relation have something before them.
        let (mut place, mut prefix, mut key) = (vec![7], vec![7], vec![7]);
        codec.write_bound(0, &bound, &mut place).unwrap();
        codec.write_key(&batch.columns, 0, &mut key).unwrap();
        assert_eq!(row[..bound.len()] >= bound[..], key >= place, "{keys:?} {row:?} {bound:?}");
        let can_be = codec.write_prefix_values(&bound, &mut prefix).unwrap();
        assert_eq!(can_be && key.starts_with(&prefix), row.starts_with(&bound), "{keys:?} {row:?} {bound:?}");
    }
}

#[test]
fn damaged_bytes_are_errors_or_other_values() {
    let mut random = StdRng::seed_from_u64(4);
    for _ in 0..500 {
        let (schema, types) = random_relation(&mut random);
        let codec = RowCodec::new(&schema);
        let row: Vec<DataValue> = types.iter().map(|column| fitting(column, &mut random)).collect();
        let batch = Batch::from_rows(types.len(), [&row[..]]);
        let (key, mut value) = (key_of(&codec, &batch, 0), vec![]);
        codec.write_value(&batch.columns, 0, &mut value).unwrap();
        let asked: Vec<usize> = if random.random_bool(0.5) { vec![4] } else { (0..5).collect() };
        for part in 0..2 {
            for _ in 0..20 {
                let mut damaged = [key.clone(), value.clone()];
                let target = &mut damaged[part];
                match random.random_range(0..3) {
                    0 => target.truncate(random.random_range(0..=target.len())),
                    1 => target.push(random.random()),
                    _ if target.is_empty() => {}
                    _ => {
                        let at = random.random_range(0..target.len());
                        target[at] = random.random();
                    }
                }
                match RowReader::new(&codec, &asked).read(&damaged[0], &damaged[1]) {
                    Ok(()) | Err(StorageError::Damaged(_)) => {}
                    Err(other) => panic!("{other}"),
                }
            }
        }
    }
    for bytes in [
        &[][..],
        &[0],
        &[99],
        &[9],
        &[5, b'a'],
        &[5, 1, 7, 0],
        &[5, 255, 0],
        &[11, 255, 255, 255, 255, 255, 255, 255, 255],
    ] {
        assert!(matches!(decode_any(bytes), Err(StorageError::Damaged(_))), "{bytes:?}");
    }
    assert!(matches!(decode_any(&[9; 100_000]), Err(StorageError::Damaged(_))));
}

#[test]
fn a_row_ends_with_its_last_column() {
    let codec = RowCodec::new(&relation(vec![types()[5].clone()], vec![types()[5].clone()]));
    let whole = |key: &[u8], value: &[u8]| RowReader::new(&codec, &[0, 1]).read(key, value).is_ok();
    assert!(whole(&[0; 8], &[7]));
    assert!(!whole(&[0; 9], &[7]) && !whole(&[0; 7], &[7]) && !whole(&[0; 8], &[7, 7]) && !whole(&[0; 8], &[]));
}

#[test]
fn nesting_is_bounded_both_ways() {
    let nested = |levels: usize| (0..levels).fold(DataValue::from(1), |inner, _| DataValue::List(vec![inner]));
    let mut bytes = vec![];
    encode_any(&nested(MAX_DEPTH), &mut bytes).unwrap();
    assert_eq!(decode_any(&bytes).unwrap().0, nested(MAX_DEPTH));
    assert!(matches!(encode_any(&nested(MAX_DEPTH + 1), &mut vec![]), Err(StorageError::Unstorable(_))));
    let document = |levels: usize| (0..levels).fold(json!(1), |inner, _| json!([inner]));
    let json = |levels: usize| DataValue::Json(JsonData(document(levels)));
    bytes.clear();
    encode_any(&json(MAX_DEPTH), &mut bytes).unwrap();
    assert_eq!(decode_any(&bytes).unwrap().0, json(MAX_DEPTH));
    assert!(matches!(encode_any(&json(MAX_DEPTH + 1), &mut vec![]), Err(StorageError::Unstorable(_))));
}

#[test]
fn values_of_another_type_are_refused() {
    let codec = RowCodec::new(&relation(vec![types()[5].clone()], vec![]));
    let error = codec.write_key(&[Column::floats(vec![1.0])], 0, &mut vec![]).unwrap_err();
    assert_eq!(error.to_string(), "a value cannot be stored: Float is not what column 0 of 'r' holds");
}

#[test]
fn vectors_are_stored_as_they_always_were() {
    let narrow = DataValue::Vec(Vector::F32(vec![1.0, -2.0].into()));
    let wide = DataValue::Vec(Vector::F64(vec![1.0].into()));
    for (value, head, elements) in [
        (narrow, [11, 0, 0, 0, 0, 0, 0, 0, 2], [0xBF, 0x80, 0, 0, 0x3F, 0xFF, 0xFF, 0xFF]),
        (wide, [12, 0, 0, 0, 0, 0, 0, 0, 1], [0xBF, 0xF0, 0, 0, 0, 0, 0, 0]),
    ] {
        let (mut bytes, mut column) = (vec![], Column::default());
        encode_any(&value, &mut bytes).unwrap();
        assert_eq!(bytes, [&head[..], &elements].concat());
        decode_into(&bytes, &mut column).unwrap();
        assert!(matches!(column, Column::Vec(_)) && column.get(0) == value);
        assert!(decode_into(&bytes[..bytes.len() - 1], &mut column).is_err());
    }
}
