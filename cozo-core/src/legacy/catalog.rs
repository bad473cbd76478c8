//! The catalog: rows under id 0, one for each relation and each index, with its definition.

use super::expression::{expression, rewrite_strings};
use super::handle::{Handle, StoredColumn};
use super::key::decode_key;
use super::malformed::Malformed;
use super::report::Note;
use super::search::{FtsIndex, HnswIndex, LshIndex, SearchDefinition, SearchIndex};
use super::source::{FileSource, IdRange};
use super::value::decode;
use super::{LegacyIndex, LegacyRelation};
use crate::parse::parse_expr;
use crate::schema::{ColumnDefinition, RelationId, RelationSchema, Triggers};
use crate::storage::StorageError;
use crate::value::{DataValue, SmallStr};

/// What the catalog says.
#[derive(Default)]
pub(super) struct Catalog {
    /// The relations of the user, by name.
    pub relations: Vec<LegacyRelation>,
    /// The relations that keep indices, by name.
    pub index_relations: Vec<RelationSchema>,
    /// What cannot be carried over.
    pub lost: Vec<Note>,
    /// What is strange.
    pub warnings: Vec<Note>,
}

/// How the catalog is called in errors.
const CATALOG: &str = "the catalog";
const CATALOG_ID: u64 = 0;
const PAGE_ROWS: usize = 1000;

impl Catalog {
    /// Reads all of it.
    pub fn read(source: &FileSource) -> Result<Self, StorageError> {
        let mut catalog = Catalog::default();
        let mut last: Option<Vec<u8>> = None;
        loop {
            let after = last.take();
            let found =
                source.page((CATALOG, IdRange { id: CATALOG_ID }), after.as_deref(), PAGE_ROWS, |key, value| {
                    last = Some(key.to_vec());
                    let added = value.and_then(|value| catalog.add_row(key, value));
                    added.map_err(|error| error.at(CATALOG, key))
                })?;
            if found < PAGE_ROWS {
                return Ok(catalog);
            }
        }
    }

    fn add_row(&mut self, key: &[u8], value: &[u8]) -> Result<(), Malformed> {
        match decode_key(key)?.as_slice() {
            [DataValue::Str(name)] => self.add_handle(name, decode(value)?)?,
            // The last id given out, which is not to be trusted, and the version.
            [DataValue::Null] => {}
            [DataValue::Null, DataValue::Str(row)] if row == "STORAGE_VERSION" => {}
            other => {
                let message = format!("a row of the catalog under the unknown key {}", DataValue::List(other.to_vec()));
                self.lost.push(Note { relation: SmallStr::default(), message });
            }
        }
        Ok(())
    }

    fn add_handle(&mut self, name: &SmallStr, handle: Handle) -> Result<(), Malformed> {
        if handle.id == CATALOG_ID || handle.id == u64::MAX {
            return Err(Malformed(format!("'{name}' has the impossible id {}", handle.id)));
        }
        if handle.name != *name {
            let message = format!("its definition gives it the name '{}'", handle.name);
            self.warnings.push(Note { relation: name.clone(), message });
        }
        if name.contains(':') {
            let schema = self.schema(name, handle);
            self.index_relations.push(schema);
        } else {
            let relation = self.relation(name, handle)?;
            self.relations.push(relation);
        }
        Ok(())
    }

    fn relation(&mut self, name: &SmallStr, mut handle: Handle) -> Result<LegacyRelation, Malformed> {
        let indices = std::mem::take(&mut handle.indices);
        let search_indices = search_indices(&mut handle);
        let schema = self.schema(name, handle);
        let indices = indices.into_iter().map(|(index, (handle, columns))| {
            check_positions(&columns, &schema, &index)?;
            Ok(LegacyIndex { name: index.into(), columns, relation: handle.name.into() })
        });
        Ok(LegacyRelation { indices: indices.collect::<Result<_, _>>()?, search_indices, schema })
    }

    fn schema(&mut self, name: &SmallStr, handle: Handle) -> RelationSchema {
        let mut columns =
            |stored: Vec<StoredColumn>| stored.into_iter().map(|column| self.column(name, column)).collect();
        RelationSchema {
            id: RelationId(handle.id),
            name: name.clone(),
            keys: columns(handle.metadata.keys),
            values: columns(handle.metadata.non_keys),
            access_level: handle.access_level.into(),
            description: handle.description,
            triggers: Triggers { put: handle.put_triggers, rm: handle.rm_triggers, replace: handle.replace_triggers },
            indices: vec![],
            searches: vec![],
        }
    }

    fn column(&mut self, relation: &SmallStr, stored: StoredColumn) -> ColumnDefinition {
        let text = stored.default_gen.map(|default| expression(default).to_string());
        let default = text.filter(|text| match parse_expr(text) {
            Ok(_) => true,
            Err(error) => {
                let message = format!("the default of column '{}', '{text}': {error}", stored.name);
                self.lost.push(Note { relation: relation.clone(), message });
                false
            }
        });
        let column_type = (&stored.typing).into();
        ColumnDefinition { name: stored.name.into(), column_type, default: default.map(SmallStr::from) }
    }
}

fn search_indices(handle: &mut Handle) -> Vec<SearchIndex> {
    let hnsw = std::mem::take(&mut handle.hnsw_indices).into_iter().map(hnsw);
    let fts = std::mem::take(&mut handle.fts_indices).into_iter().map(fts);
    let lsh = std::mem::take(&mut handle.lsh_indices).into_iter().map(lsh);
    hnsw.chain(fts).chain(lsh).collect()
}

/// The positions of an index must be those of columns, none of them twice.
fn check_positions(positions: &[usize], schema: &RelationSchema, index: &str) -> Result<(), Malformed> {
    let mut seen = vec![false; schema.arity()];
    let mut is_new = |position: &usize| seen.get_mut(*position).is_some_and(|seen| !std::mem::replace(seen, true));
    if positions.iter().all(&mut is_new) {
        return Ok(());
    }
    Err(Malformed(format!("the index '{index}' of '{}' has the impossible columns {positions:?}", schema.name)))
}

fn hnsw((name, (handle, index)): (String, (Handle, HnswIndex))) -> SearchIndex {
    search_index(name, [handle], SearchDefinition::Hnsw(index))
}

fn fts((name, (handle, mut index)): (String, (Handle, FtsIndex))) -> SearchIndex {
    index.extractor = rewrite_strings(&index.extractor);
    search_index(name, [handle], SearchDefinition::Fts(index))
}

fn lsh((name, (handle, inverse, mut index)): (String, (Handle, Handle, LshIndex))) -> SearchIndex {
    index.extractor = rewrite_strings(&index.extractor);
    search_index(name, [handle, inverse], SearchDefinition::Lsh(index))
}

fn search_index<const N: usize>(name: String, handles: [Handle; N], definition: SearchDefinition) -> SearchIndex {
    SearchIndex { name: name.into(), definition, relations: handles.map(|handle| handle.name.into()).to_vec() }
}
