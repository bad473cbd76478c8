//! `CsvReader`: the records of a CSV file or web address.
//!
//! Threads parse blocks of lines independently (`plain`). Data that cannot be cut into lines is read record by record by the crate
//! `csv`.

mod fields;
mod plain;

use std::io::{Chain, Cursor, Read};

use csv::{ReaderBuilder, StringRecord};
use rayon::prelude::*;

use self::fields::{Field, FieldKind, Layout, Misfit, Piece, push};
use super::source::{self, CHUNK_BYTES, Origin, PREPEND_INDEX, TextSource, URL};
use crate::fixed_rule::{
    BuiltInRule, Call, DefaultValue, FixedRuleError, Gathering, OptionKind, OptionSpec, Options, Output, Settings,
};
use crate::parse::ast::BaseTypeSpec;
use crate::parse::parse_column_type;
use crate::threads;
use crate::value::{Batch, DataValue};

/// The records of a CSV file or web address.
pub static CSV_READER: BuiltInRule = BuiltInRule {
    name: "CsvReader",
    aliases: &[],
    doc: "Reads CSV from a file or the web. Columns are identified by position; records may be shorter or longer.",
    cost: "",
    source: "",
    examples: &[],
    inputs: &[],
    options: &[
        URL,
        OptionSpec::required(
            "types",
            OptionKind::Value,
            "the type of each column: `'String'`, `'Any'`, `'Int'`, `'Float'` or `'Uuid'`. With `?`, a value that is \
             missing or does not convert is null; without, it is an error",
        ),
        OptionSpec::new("delimiter", OptionKind::Text, DefaultValue::Text(","), "the byte between fields"),
        PREPEND_INDEX,
        OptionSpec::new("has_headers", OptionKind::Bool, DefaultValue::Bool(true), "skip the first record"),
    ],
    output: Output::FromOptions("the index if it is asked for, then one for each type", arity),
    external_access: true,
    run,
};

fn arity(options: Options<'_>) -> Result<usize, FixedRuleError> {
    let types = options.required("types", OptionKind::Value)?;
    source::arity(fields(&types, options)?.len(), options)
}

/// The columns of the option `types`.
fn fields(types: &DataValue, options: Options<'_>) -> Result<Vec<Field>, FixedRuleError> {
    let field = |text: &DataValue| -> Option<Field> {
        let spec = parse_column_type(text.get_str()?).ok()?;
        let BaseTypeSpec::Named(name) = &spec.base else { return None };
        let kind = match name.as_str() {
            "Any" | "String" => FieldKind::Text,
            "Int" => FieldKind::Int,
            "Float" => FieldKind::Float,
            "Uuid" => FieldKind::Uuid,
            _ => return None,
        };
        Some(Field { kind, nullable: spec.nullable })
    };
    let wrong = |found: &DataValue| {
        options.wrong(
            "types",
            "a list of 'String', 'Any', 'Int', 'Float' and 'Uuid', each perhaps with '?'",
            found.to_string(),
        )
    };
    let list = types.get_slice().ok_or_else(|| wrong(types))?;
    list.iter().map(|text| field(text).ok_or_else(|| wrong(text))).collect()
}

fn run(call: &Call<'_>, settings: &Settings) -> Result<Batch, FixedRuleError> {
    let &[delimiter] = settings.text("delimiter").as_bytes() else {
        return Err(call.options.wrong("delimiter", "one byte", settings.value("delimiter").to_string()));
    };
    let layout = Layout { fields: fields(settings.value("types"), call.options)?, delimiter };
    let origin = Origin::new(call, settings.text("url"));
    let mut source = origin.open()?;
    let rows = Gathering::result(call, layout.fields.len(), settings.bool(PREPEND_INDEX.name));
    let mut reading = Reading { origin, layout, has_headers: settings.bool("has_headers"), rows, lines: 0 };
    let rest = if plain::is_plain(delimiter) { reading.read_plain(&mut source)? } else { vec![] };
    reading.read_others(Cursor::new(rest).chain(source))?;
    reading.rows.finish()
}

/// The state of reading a file.
struct Reading<'a> {
    origin: Origin<'a>,
    layout: Layout,
    /// Whether the next record has the names of the columns.
    has_headers: bool,
    /// The rows read so far, and their number of lines.
    rows: Gathering<'a>,
    lines: u64,
}

/// The approximate size of a block of lines.
const BLOCK_BYTES: usize = 1 << 20;

/// The mark of UTF-8 at the beginning of a file.
const BYTE_ORDER_MARK: &[u8] = "\u{feff}".as_bytes();

/// The number of blocks for each thread that are read before they are parsed.
const BLOCKS_PER_THREAD: usize = 4;

impl Reading<'_> {
    /// Reads records in blocks, as long as blocks of lines are whole records. Returns the bytes read from the source after them.
    fn read_plain(&mut self, source: &mut TextSource) -> Result<Vec<u8>, FixedRuleError> {
        let mut rest = vec![];
        loop {
            let mut blocks = vec![];
            while blocks.len() < BLOCKS_PER_THREAD * threads::count() {
                match self.next_block(source, &mut rest)? {
                    Some(block) if block.starts_with(BYTE_ORDER_MARK) && self.lines == 0 && blocks.is_empty() => {
                        blocks.push(block[BYTE_ORDER_MARK.len()..].to_vec());
                    }
                    Some(block) => blocks.push(block),
                    None => break,
                }
            }
            if blocks.is_empty() {
                return Ok(rest);
            }
            let (layout, has_headers) = (&self.layout, self.has_headers);
            let parse = |(i, block): (usize, &Vec<u8>)| plain::parse(block, layout, has_headers && i == 0);
            let parsed: Vec<_> = match blocks.as_slice() {
                [block] => vec![parse((0, block))],
                blocks => blocks.par_iter().enumerate().map(parse).collect(),
            };
            let is_first = self.rows.is_empty();
            let mut open: Option<Vec<u8>> = None;
            for (i, piece) in parsed.into_iter().enumerate() {
                // A block that ends within quotes is parsed again together with the next ones, whose own parsing was wrong.
                let piece = match &open {
                    None => piece,
                    Some(lines) => plain::parse(&[lines, &blocks[i][..]].concat(), &self.layout, self.has_headers),
                };
                match piece {
                    Some(piece) => {
                        self.take(piece)?;
                        open = None;
                    }
                    None => open.get_or_insert_default().extend_from_slice(&blocks[i]),
                }
            }
            if let Some(lines) = open {
                return Ok([lines, rest].concat());
            }
            if is_first {
                self.expect_rest(blocks.iter().map(Vec::len).sum());
            }
        }
    }

    /// The next block of whole lines. None if there are no more, or if a line is longer than a block. `rest` has the bytes read
    /// after the lines before.
    fn next_block(&self, source: &mut TextSource, rest: &mut Vec<u8>) -> Result<Option<Vec<u8>>, FixedRuleError> {
        let mut block = std::mem::take(rest);
        block.reserve(BLOCK_BYTES + CHUNK_BYTES);
        let mut is_last = false;
        while block.len() < BLOCK_BYTES && !is_last {
            is_last = source.append_to(&mut block).map_err(|error| self.origin.unreadable(error))? == 0;
        }
        match memchr::memrchr(b'\n', &block) {
            _ if is_last => Ok(Some(block).filter(|block| !block.is_empty())),
            Some(end) => {
                rest.extend_from_slice(&block[end + 1..]);
                block.truncate(end + 1);
                Ok(Some(block))
            }
            None => {
                *rest = block;
                Ok(None)
            }
        }
    }

    fn take(&mut self, piece: Result<Piece, Misfit>) -> Result<(), FixedRuleError> {
        let piece = piece.map_err(|misfit| self.bad_field(&misfit))?;
        self.has_headers = false;
        self.lines += piece.lines;
        self.rows.push(piece.rows)
    }

    /// Expects the remaining rows, estimated by the rows in `bytes` bytes.
    fn expect_rest(&mut self, bytes: usize) {
        let left = self.origin.file_bytes().unwrap_or(0).saturating_sub(bytes as u64);
        let rows = left as f64 / bytes as f64 * self.rows.len() as f64 * 1.02;
        self.rows.expect(rows as usize);
    }

    /// Reads all other records one by one.
    fn read_others(&mut self, rest: Chain<Cursor<Vec<u8>>, TextSource>) -> Result<(), FixedRuleError> {
        let mut reader = ReaderBuilder::new()
            .delimiter(self.layout.delimiter)
            .has_headers(self.has_headers)
            .flexible(true)
            .from_reader(rest);
        let mut record = StringRecord::new();
        let mut pace = self.origin.poison().pace();
        while reader.read_record(&mut record).map_err(|error| read_error(&self.origin, self.lines, &error))? {
            pace.step()?;
            reader.get_mut().get_mut().1.end_record();
            for (i, (column, field)) in self.rows.next_row().iter_mut().zip(&self.layout.fields).enumerate() {
                if let Err(reason) = push(column, field, record.get(i)) {
                    let lines_before = record.position().map_or(0, |position| position.line() - 1);
                    return Err(self.bad_field(&Misfit { row: 0, lines_before, field: i, reason }));
                }
            }
            self.rows.end_row(record.as_slice().len() + record.len() * size_of::<DataValue>())?;
        }
        Ok(())
    }

    fn bad_field(&self, misfit: &Misfit) -> FixedRuleError {
        let (row, line) = (self.rows.len() + misfit.row, self.lines + misfit.lines_before + 1);
        let place = format!("row {row} (line {line}), field {}", misfit.field);
        self.origin.bad_data(
            place,
            &misfit.reason,
            "add '?' to its type to read null instead, as in 'Int?'; rows and fields count from 0",
        )
    }
}

/// The error for a record after `lines` lines.
fn read_error(origin: &Origin<'_>, lines: u64, error: &csv::Error) -> FixedRuleError {
    match error.kind() {
        csv::ErrorKind::Io(reason) => origin.unreadable(reason),
        csv::ErrorKind::Utf8 { pos, err } => {
            let line = lines + pos.as_ref().map_or(0, csv::Position::line);
            origin.bad_data(format!("line {line}"), err, "the text must be UTF-8")
        }
        _ => origin.unreadable(error),
    }
}
