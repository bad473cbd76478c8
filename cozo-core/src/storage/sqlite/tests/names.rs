//! Names of tables and columns.

use super::*;
use crate::schema::{BaseType, IndexDefinition};

const INT: ColumnType = ColumnType { base: BaseType::Int, nullable: false };

fn of_name(id: u64, name: &str) -> SchemaRef {
    relation(id, name, 1, &[("k", INT), ("v", ColumnType::ANY)])
}

fn row(number: i64) -> Vec<Tuple> {
    vec![vec![number.into(), number.into()]]
}

fn table_names(file: &TestFile) -> Vec<String> {
    let connection = file.plain();
    let query = "select name from sqlite_schema where name not in ('cozo_catalog', 'cozo_commit_log') order by name";
    let mut statement = connection.prepare(query).unwrap();
    statement.query_map([], |row| row.get(0)).unwrap().map(Result::unwrap).collect()
}

#[test]
fn names_that_sqlite_does_not_take_or_tell_apart() {
    let long = "é".repeat(3000);
    let names = ["friends", "Friends", "FRIENDS", "cozo_catalog", "sqlite_x", "a\"b' c", "cozo", "Friends~2", &long];
    let relations: Vec<SchemaRef> = names.iter().zip(1..).map(|(name, id)| of_name(id, name)).collect();
    let file = TestFile::new();
    let storage = file.open().unwrap();
    for (relation, number) in relations.iter().zip(0..) {
        storage.commit(&mut [created(relation, &row(number))]).unwrap();
    }
    drop(storage);
    let storage = file.open().unwrap();
    assert_eq!(storage.opened().unwrap().definitions, relations);
    for (relation, number) in relations.iter().zip(0..) {
        assert_eq!(all_rows(&storage, relation), row(number), "{}", relation.name);
    }
    let tables = table_names(&file);
    for expected in ["friends", "Friends~2", "FRIENDS~3", "cozo_catalog~2", "_sqlite_x", "a\"b' c", "cozo"] {
        assert!(tables.iter().any(|table| table == expected), "{expected} in {tables:?}");
    }
}

#[test]
fn columns_named_alike() {
    let columns = ["a", "A", "a~2", "order", "rowid", "\"q\""].map(|name| (name, ColumnType::ANY));
    let schema = relation(1, "r", 2, &columns);
    let rows: Vec<Tuple> = vec![(0..6).map(Into::into).collect()];
    let file = TestFile::new();
    let storage = file.open().unwrap();
    storage.commit(&mut [created(&schema, &rows)]).unwrap();
    assert_eq!(all_rows(&storage, &schema), rows);
}

#[test]
fn too_many_columns_are_refused() {
    let names: Vec<String> = (0..2001).map(|i| format!("{i:0>99}")).collect();
    let of_width = |id, width: usize| {
        let columns: Vec<(&str, ColumnType)> = names[..width].iter().map(|name| (name.as_str(), INT)).collect();
        relation(id, "wide", 1000, &columns)
    };
    let file = TestFile::new();
    let storage = file.open().unwrap();
    let error = storage.commit(&mut [created(&of_width(1, 2001), &[])]).err().unwrap();
    assert!(matches!(error, StorageError::CannotHold { .. }), "{error}");
    let (widest, row) = (of_width(2, 2000), (0..2000).map(Into::into).collect());
    storage.commit(&mut [created(&widest, &[row])]).unwrap();
    assert_eq!(all_rows(&storage, &widest).len(), 1);
}

/// A definition under another name, in the form of a commit.
fn renaming(from: &SchemaRef, to: &SchemaRef) -> ChangeSet {
    let definitions = vec![(from.name.clone(), None), (to.name.clone(), Some(to.clone()))];
    ChangeSet { definitions, ..ChangeSet::default() }
}

#[test]
fn tables_are_renamed_with_their_relations_and_indices_with_them() {
    let file = TestFile::new();
    let storage = file.open().unwrap();
    let plain = of_name(1, "a");
    let index = IndexDefinition::new(&plain, &"by_v".into(), &[1], RelationId(2));
    let with_index = SchemaRef::new(plain.with_index(index.clone()));
    let mut creation = created(&with_index, &row(1));
    creation.created.push(index.schema);
    storage.commit(&mut [creation, created(&of_name(3, "b"), &row(3))]).unwrap();
    assert_eq!(table_names(&file), ["a", "a:by_v", "b"]);

    let renamed = |schema: &SchemaRef, name: &str| {
        let renamed = RelationSchema { name: name.into(), ..RelationSchema::clone(schema) };
        SchemaRef::new(renamed.with_indices_in_step())
    };
    let c = renamed(&with_index, "c");
    let held = storage.snapshot();
    storage.commit(&mut [renaming(&with_index, &c)]).unwrap();
    assert_eq!(table_names(&file), ["b", "c", "c:by_v"]);
    assert_eq!(rows_of(&*held, &with_index, &KeyRange::all()), row(1), "a snapshot from before");
    drop(held);

    let (c_as_b, b_as_c) = (renamed(&c, "b"), renamed(&of_name(3, "b"), "c"));
    let definitions = [&c_as_b, &b_as_c].map(|schema| (schema.name.clone(), Some(schema.clone()))).to_vec();
    storage.commit(&mut [ChangeSet { definitions, ..ChangeSet::default() }]).unwrap();
    assert_eq!(table_names(&file), ["b", "b:by_v", "c"]);
    drop(storage);
    let storage = file.open().unwrap();
    assert_eq!(storage.opened().unwrap().definitions, [c_as_b.clone(), b_as_c.clone()]);
    assert_eq!((all_rows(&storage, &c_as_b), all_rows(&storage, &b_as_c)), (row(1), row(3)));
}

#[test]
fn a_relation_takes_the_place_of_another() {
    let file = TestFile::new();
    let storage = file.open().unwrap();
    let (old, new) = (of_name(1, "r"), of_name(2, "r"));
    storage.commit(&mut [created(&old, &row(1))]).unwrap();
    let replacement = ChangeSet { dropped: vec![old.id], ..created(&new, &row(2)) };
    storage.commit(&mut [replacement]).unwrap();
    assert_eq!((all_rows(&storage, &new), all_rows(&storage, &old)), (row(2), vec![]));
    assert_eq!(table_names(&file), ["r"]);
    let fleeting = of_name(3, "fleeting");
    storage.commit(&mut [ChangeSet { dropped: vec![fleeting.id], ..created(&fleeting, &row(3)) }]).err().unwrap();
    let fleeting = ChangeSet { dropped: vec![fleeting.id], definitions: vec![], ..created(&fleeting, &row(3)) };
    storage.commit(&mut [fleeting]).unwrap();
    assert_eq!(table_names(&file), ["r"]);
}
