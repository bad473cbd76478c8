//! Values in each kind of column: they come back identical, in the total order, and are found by bounds of any type.

use super::*;
use crate::schema::BaseType;
use crate::storage::tests::identical;
use crate::value::{DataValue, JsonData, UuidWrapper, Validity, Vector};

fn of(base: BaseType, nullable: bool) -> ColumnType {
    ColumnType { base, nullable }
}

fn floats() -> Vec<DataValue> {
    let odd = [0x7ff8_0000_0000_0001, 0xfff8_0000_0000_0002, 0x7ff0_0000_0000_0003, 1, 1 << 63];
    let plain =
        [0.0, 1.0, -1.0, 1.5, 1e300, 9.007199254740993e15, f64::INFINITY, f64::NEG_INFINITY, -3.0, 140737488355328.0];
    odd.map(f64::from_bits).into_iter().chain(plain).map(Into::into).collect()
}

fn ints() -> Vec<DataValue> {
    [i64::MIN, i64::MIN + 1, -1, 0, 1, 2, 1 << 53, (1 << 53) + 1, i64::MAX].map(Into::into).to_vec()
}

fn texts() -> Vec<DataValue> {
    ["", "a", "A", "a\0b", "a\0", "\0", "1", "1.0", "é", "zz", "null", "x'00'"].map(Into::into).to_vec()
}

fn bytes() -> Vec<DataValue> {
    [&b""[..], b"\0", b"\0\0", b"a", b"1", b"\xff\xfe", b"\x02"].map(|bytes| DataValue::Bytes(bytes.to_vec())).to_vec()
}

fn bools() -> Vec<DataValue> {
    vec![false.into(), true.into()]
}

fn others() -> Vec<DataValue> {
    let validity = |micros, asserts| DataValue::Validity(Validity::from((micros, asserts)));
    vec![
        DataValue::Uuid(UuidWrapper(uuid::Uuid::from_u128(7))),
        DataValue::List(vec![]),
        vec![1, 2].into(),
        DataValue::Vec(Vector::F32(vec![0.5, -0.0].into())),
        DataValue::Vec(Vector::F64(vec![0.5, f64::NAN].into())),
        validity(5, true),
        validity(5, false),
        validity(i64::MIN, true),
    ]
}

fn jsons() -> Vec<DataValue> {
    let texts = ["null", "1", "1.0", "-0.0", "18446744073709551615", "\"a\\u0000\"", "{\"b\":1,\"a\":[2.5]}", "[]"];
    texts.map(|text| DataValue::Json(JsonData(serde_json::from_str(text).unwrap()))).to_vec()
}

/// Types of columns, each with values of the type.
fn kinds() -> Vec<(ColumnType, Vec<DataValue>)> {
    let all = [floats(), ints(), texts(), bytes(), bools(), others(), jsons()].concat();
    let plain = [
        (BaseType::Int, ints()),
        (BaseType::Float, floats()),
        (BaseType::String, texts()),
        (BaseType::Bytes, bytes()),
        (BaseType::Bool, bools()),
        (BaseType::Json, jsons()),
        (BaseType::Uuid, others()[..1].to_vec()),
        (BaseType::Validity, others()[5..].to_vec()),
        (BaseType::Any, all),
    ];
    let nullable = |values: Vec<DataValue>| [vec![DataValue::Null], values].concat();
    let both = |(base, values): (BaseType, Vec<DataValue>)| {
        [(of(base.clone(), false), values.clone()), (of(base, true), nullable(values))]
    };
    plain.into_iter().flat_map(both).collect()
}

#[test]
fn values_come_back_identical() {
    for (column_type, values) in kinds() {
        let file = TestFile::new();
        let storage = file.open().unwrap();
        let schema = relation(1, "r", 1, &[("k", of(BaseType::Int, false)), ("v", column_type.clone())]);
        let rows: Vec<Tuple> = values.iter().zip(0i64..).map(|(value, i)| vec![i.into(), value.clone()]).collect();
        storage.commit(&mut [created(&schema, &rows)]).unwrap();
        identical(&all_rows(&storage, &schema), &rows);
    }
}

#[test]
fn keys_are_in_the_total_order_and_bounds_of_any_type_find_their_place() {
    let bounds: Vec<DataValue> = kinds().last().unwrap().1.clone();
    for (column_type, mut values) in kinds() {
        values.sort();
        let file = TestFile::new();
        let storage = file.open().unwrap();
        let schema = relation(1, "r", 2, &[("k", column_type.clone()), ("l", of(BaseType::Int, false))]);
        let rows: Vec<Tuple> =
            values.iter().flat_map(|value| (0..2).map(|i: i64| vec![value.clone(), i.into()])).collect();
        storage.commit(&mut [created(&schema, &rows)]).unwrap();
        let snapshot = storage.snapshot();
        identical(&rows_of(&*snapshot, &schema, &KeyRange::all()), &rows);
        for bound in &bounds {
            for key in [vec![bound.clone()], vec![bound.clone(), 1.into()], vec![bound.clone(), 0.5.into()]] {
                let (above, below): (Vec<Tuple>, Vec<Tuple>) =
                    rows.iter().cloned().partition(|row| row[..key.len()] >= key[..]);
                let lower = KeyRange { lower: Some(key.clone()), ..KeyRange::default() };
                identical(&rows_of(&*snapshot, &schema, &lower), &above);
                let upper = KeyRange { upper: Some(key.clone()), ..KeyRange::default() };
                identical(&rows_of(&*snapshot, &schema, &upper), &below);
                let same: Vec<Tuple> = rows.iter().filter(|row| row.starts_with(&key)).cloned().collect();
                identical(&rows_of(&*snapshot, &schema, &KeyRange::prefix(key.clone())), &same);
                let probe = Batch::from_rows(key.len(), [&key[..]]).columns;
                assert_eq!(snapshot.contains(schema.id, &probe, None).unwrap(), [!same.is_empty()], "{key:?}");
            }
        }
    }
}

#[test]
fn what_a_column_cannot_hold_is_refused() {
    let file = TestFile::new();
    let storage = file.open().unwrap();
    let int = of(BaseType::Int, false);
    let schema = relation(1, "r", 1, &[("k", int.clone()), ("v", int)]);
    storage.commit(&mut [created(&schema, &[])]).unwrap();
    let bad: [Tuple; 3] = [vec![DataValue::Null, 1.into()], vec![1.into(), "a".into()], vec![1.0.into(), 1.into()]];
    for row in bad {
        assert!(storage.commit(&mut [put(&schema, &[row])]).is_err());
        assert!(all_rows(&storage, &schema).is_empty());
    }
    let mut deep = DataValue::from(1);
    for _ in 0..200 {
        deep = DataValue::List(vec![deep]);
    }
    let any = relation(2, "any", 1, &[("k", ColumnType::ANY), ("v", ColumnType::ANY)]);
    assert!(storage.commit(&mut [created(&any, &[vec![deep, 1.into()]])]).is_err());
}

/// All reads use the primary key: none sorts, and reads with a bound do not scan.
#[test]
fn reads_seek() {
    use super::super::bounds::Shape;
    use super::super::table::Table;
    let file = TestFile::new();
    let storage = file.open().unwrap();
    let columns = [("a", of(BaseType::Int, false)), ("b", ColumnType::ANY), ("c", of(BaseType::String, false))];
    let schema = relation(1, "r", 3, &columns);
    storage.commit(&mut [created(&schema, &[])]).unwrap();
    let table = Table::new(&schema, "r".to_string()).unwrap();
    let ends = (0..=3).flat_map(|width| [(width, false), (width, true)]);
    let between = ends.clone().flat_map(|lower| ends.clone().map(move |upper| Shape::Between(lower, upper)));
    for shape in (1..=3).map(Shape::Prefix).chain(between) {
        let query = format!("explain query plan {}", table.selection(&[0, 1, 2], shape));
        let plan: Vec<String> = storage.with_writer(|connection, _| {
            let mut statement = connection.prepare(&query).unwrap();
            let mut rows = statement.raw_query();
            let mut plan = vec![];
            while let Some(row) = rows.next().unwrap() {
                plan.push(row.get(3).unwrap());
            }
            plan
        });
        let is_bounded = matches!(shape, Shape::Prefix(_)) || table.selection(&[0], shape).contains('?');
        assert_eq!(plan.len(), 1, "{shape:?} {plan:?}");
        let expected = if is_bounded { "SEARCH r USING PRIMARY KEY" } else { "SCAN r" };
        assert!(plan[0].starts_with(expected), "{shape:?} {plan:?}");
    }
}
