//! `/export`, `/import`, `/backup` and `/import-from-backup`: whole relations in and out.

use std::collections::BTreeMap;

use axum::extract::Path;
use axum::response::Response;

use super::auth::Client;
use super::error::Failure;
use super::json_body::JsonText;
use super::request::Payload;
use super::values::SentRows;

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
    let app = client.app().clone();
    let work = move || {
        let sent: BTreeMap<String, SentRows> = payload.parse()?;
        let data = sent.into_iter().map(|(name, SentRows(rows))| (name, rows)).collect();
        client.app().db.import_relations(data)?;
        Ok(JsonText::ok().into_response())
    };
    app.workers.finish(work).await
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
