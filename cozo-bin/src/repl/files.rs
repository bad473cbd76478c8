//! `%save` and `%import`: files in the format that their extension says.

use std::fs::{self, OpenOptions};
use std::path::{Path, PathBuf};

use cozo::data_file::{is_gzip, without_gzip};
use cozo::{Interrupt, NamedRows};

use super::meta::Arguments;
use super::session::Session;
use super::tokens::{Kind, tokens};
use crate::args::FileArguments;
use crate::connection::Connection;
use crate::error::CliError;
use crate::export::{Table, to_file};
use crate::format::FileFormat;
use crate::import::load_with_progress;
use crate::load::Target;
use crate::output;
use crate::run::read_text;

/// Writes a result to a file: JSON where the extension says nothing else.
pub fn save(path: &Path, rows: &NamedRows, interrupt: &Interrupt) -> miette::Result<()> {
    to_file(&Table::of_rows(rows, interrupt), format_of(path)?, path).map(drop)
}

/// The format of a file, JSON where its extension is none of a format.
fn format_of(path: &Path) -> Result<FileFormat, CliError> {
    match FileFormat::of(None, path) {
        Err(CliError::DataFormat(_)) => Ok(FileFormat::Json),
        format => format,
    }
}

/// `%save FILE`, `%save FILE RELATION`, `%save FILE SCRIPT`, or nothing to save no more.
pub fn save_command(session: &mut Session, arguments: Arguments<'_>) -> miette::Result<()> {
    session.save = None;
    if arguments.text.is_empty() {
        return Ok(());
    }
    let (file, rest) = split(arguments.text, |rest| is_script(rest) || is_relation(session, rest));
    if let (false, Some((_, other))) = (file.exists(), file.to_str().and_then(|file| file.split_once(' ')))
        && !arguments.text.starts_with(['\'', '"'])
    {
        let advice = format!("there is no relation '{}': quote the name of a file with spaces", other.trim());
        return Err(CliError::Usage(advice).into());
    }
    format_of(&file)?;
    check_writable(&file)?;
    if rest.is_empty() {
        session.save = Some(file);
        return Ok(());
    }
    let table = match (&session.connection, is_script(rest)) {
        (Connection::Local(db), false) => Table::of_relation(db, rest, &session.interrupt)?,
        (_, false) => Table::of_rows(&session.result_of(&all_of(session, rest))?.0, &session.interrupt),
        (_, true) => {
            let (result, _) = session.result_of(&arguments.script_at(rest))?;
            Table::of_rows(&result, &session.interrupt)
        }
    };
    let rows = to_file(&table, format_of(&file)?, &file)?;
    Ok(output::line(format!("{} saved to {}", output::count(rows, "row"), file.display()))?)
}

/// `%import FILE` or `%import FILE RELATION`, where the relation may have columns in braces, and options of `cozo
/// import` may follow. Without it, the file names it, unless it is JSON of whole relations.
pub fn import_command(session: &mut Session, arguments: Arguments<'_>) -> miette::Result<()> {
    if ["http://", "https://"].iter().any(|scheme| arguments.text.starts_with(scheme)) {
        let advice = format!("'{}' is not a file: fetch it first, then %import the file", arguments.text);
        return Err(CliError::Usage(advice).into());
    }
    let (text, options) = FileArguments::split_off(arguments.text)?;
    let (file, relation) = split(text, |rest| Target::parse(rest).is_ok());
    let format = options.format.map_or_else(|| format_of(&file), Ok)?;
    let path = file.to_string_lossy();
    if format == FileFormat::Json && relation.is_empty() && !is_gzip(&path) {
        let text = read_text(&file)?;
        if !text.trim_start().starts_with('[') {
            return session.connection.import(&text);
        }
    }
    let Connection::Local(db) = &session.connection else {
        let advice = "a server imports JSON of whole relations: {\"name\": {\"headers\": [...], \"rows\": [[...]]}}";
        return Err(CliError::NotRemotely(advice).into());
    };
    let stem = Path::new(without_gzip(&path)).file_stem().unwrap_or_default().to_string_lossy();
    let target = Target::parse(if relation.is_empty() { &stem } else { relation })?;
    let options = FileArguments { format: Some(format), ..options };
    load_with_progress(db, target, std::slice::from_ref(&file), &options, &session.interrupt)
}

/// The file that comes first, and what follows it. A name in quotes may have spaces within, and so may one behind which
/// nothing comes that `follows`.
fn split(text: &str, follows: impl Fn(&str) -> bool) -> (PathBuf, &str) {
    if let Some(first) = tokens(text).first().filter(|first| first.kind == (Kind::String { ends: true })) {
        let (quoted, rest) = text.split_at(first.place.end);
        return (quoted[1..quoted.len() - 1].into(), rest.trim());
    }
    match text.split_once(char::is_whitespace) {
        Some((file, rest)) if !Path::new(text).exists() && follows(rest.trim()) => (file.into(), rest.trim()),
        _ => (text.into(), ""),
    }
}

fn is_script(text: &str) -> bool {
    text.starts_with(['?', '{', '%']) || [":=", "<-", "<~", "::"].iter().any(|sign| text.contains(sign))
}

fn is_relation(session: &Session, text: &str) -> bool {
    session.connection.names("::relations").iter().any(|name| name == text)
}

/// A script for all rows of a relation.
fn all_of(session: &Session, relation: &str) -> String {
    let columns = session.connection.names(&format!("::columns {relation}")).join(", ");
    format!("?[{columns}] := *{relation}{{{columns}}}")
}

/// Finds out whether a file can be written, and leaves things as they are: a script that writes shall not run for nothing.
fn check_writable(path: &Path) -> Result<(), CliError> {
    let found = fs::metadata(path);
    if found.as_ref().is_ok_and(|found| !found.is_file() && !found.is_dir()) {
        // To open a pipe would wait for who reads it.
        return Ok(());
    }
    OpenOptions::new().append(true).create(true).open(path).map_err(CliError::writing(path))?;
    match found {
        Ok(_) => Ok(()),
        Err(_) => fs::remove_file(path).map_err(CliError::writing(path)),
    }
}
