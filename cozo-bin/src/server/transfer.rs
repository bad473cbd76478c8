//! `/export`, `/import`, `/backup` and `/import-from-backup`: whole relations in and out.

use axum::extract::Path;
use axum::response::Response;
use cozo::Interrupt;

use super::auth::Client;
use super::error::Failure;
use super::json_body::JsonText;
use super::request::{Decoded, Payload};
use crate::decode::{Meter, RelationsSeed, decode};

/// `GET /export/{names}`, separated by commas.
pub async fn export(client: Client, Path(names): Path<String>) -> Result<Response, Failure> {
    client.may_mention(&names)?;
    let app = client.app().clone();
    let work = move || {
        let relations = client.app().db.export_relations(names.split(',').filter(|name| !name.is_empty()))?;
        Ok(JsonText::of_relations(relations).into_response())
    };
    app.workers.finish(work).await
}

/// `PUT /import`: `{name: {"headers": [...], "rows": [[...]]}, ...}`.
pub async fn import(client: Client, payload: Payload) -> Result<Response, Failure> {
    client.must_write()?;
    let (app, interrupt) = (client.app().clone(), Interrupt::default());
    let switch = interrupt.clone();
    let work = move || {
        let read = |text: &[u8], meter: &Meter<'_>| decode(text, RelationsSeed(meter), meter);
        let Decoded { value, held: _held } = payload.decode(&switch, read)?;
        // From here on it is not to be stopped half-way.
        client.app().db.import_relations_columns(value)?;
        Ok(JsonText::ok().into_response())
    };
    app.workers.run(interrupt, work).await
}

/// `{"path": ...}`
#[derive(serde::Deserialize)]
struct Backup {
    path: String,
}

/// `POST /backup`.
pub async fn backup(client: Client, payload: Payload) -> Result<Response, Failure> {
    client.must_write()?;
    let app = client.app().clone();
    let work = move || {
        let Backup { path } = payload.parse()?;
        client.app().db.backup_db(client.app().files.new_file(&path)?)?;
        Ok(JsonText::ok().into_response())
    };
    app.workers.finish(work).await
}

/// `{"path": ..., "relations": [...]}`
#[derive(serde::Deserialize)]
struct ImportFromBackup {
    path: String,
    relations: Vec<String>,
}

/// `POST /import-from-backup`.
pub async fn import_from_backup(client: Client, payload: Payload) -> Result<Response, Failure> {
    client.must_write()?;
    let app = client.app().clone();
    let work = move || {
        let ImportFromBackup { path, relations } = payload.parse()?;
        client.app().db.import_from_backup(client.app().files.existing(&path)?, &relations)?;
        Ok(JsonText::ok().into_response())
    };
    app.workers.finish(work).await
}
