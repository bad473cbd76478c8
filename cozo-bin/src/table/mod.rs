//! Results as tables that fit the terminal.
//!
//! What does not fit is made narrower in this order:
//!
//! 1. Texts are cut, the longest first, and end in `…`. Numbers, times and booleans are never cut.
//! 2. Columns in the middle are left out, with `…` in their place. [`Shown::hidden`] says so.
//!
//! [`Expand`] has each column on a line of its own instead, with nothing left out.

mod cell;
mod fit;

use comfy_table::presets::UTF8_FULL_CONDENSED;
use comfy_table::{CellAlignment, ContentArrangement, Table};
use console::Term;
use cozo::NamedRows;

use cell::Cell;
pub use cell::Strings;
use fit::{Column, Fit};

/// How wide a table for reading may be where there is no terminal to ask.
const PAGE_WIDTH: usize = 120;

/// Narrower terminals are not believed.
const MIN_WIDTH: usize = 20;

/// What cut texts end in, and what stands for columns that are left out.
const ELLIPSIS: &str = "…";

/// Whether a result has one column a line.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub enum Expand {
    /// Never.
    #[default]
    Off,
    /// Always.
    On,
    /// Where columns would be left out.
    Auto,
}

/// How results are laid out.
#[derive(Clone, Copy)]
pub struct Look {
    /// At most so many rows.
    pub limit: usize,
    /// How strings look.
    pub strings: Strings,
    /// Whether columns have lines of their own.
    pub expand: Expand,
    /// How many columns of characters there are; without it, as many as it takes.
    pub width: Option<usize>,
}

impl Look {
    /// A table for the terminal on standard output, if it is one.
    pub fn of_terminal(limit: usize, strings: Strings) -> Self {
        let terminal = Term::stdout().size_checked().map(|(_, columns)| usize::from(columns));
        let width = match terminal {
            // Some terminals claim to have no columns at all.
            Some(columns) if columns < MIN_WIDTH => Some(PAGE_WIDTH),
            None if strings == Strings::Plain => Some(PAGE_WIDTH),
            width => width,
        };
        Look { limit, strings, expand: Expand::Off, width }
    }
}

/// A result as text.
pub struct Shown {
    /// The table, without a line break at its end.
    pub text: String,
    /// What is not in it, for people: `4 of 12 columns are left out`.
    pub hidden: Option<String>,
}

/// Lays a result out.
pub fn layout(rows: &NamedRows, look: Look) -> Shown {
    let cells: Vec<Vec<Cell>> = rows
        .rows
        .iter()
        .take(look.limit)
        .map(|row| row.iter().map(|value| Cell::of(value, look.strings)).collect())
        .collect();
    if look.expand == Expand::On {
        return expanded(&rows.headers, &cells);
    }
    let columns = rows.headers.iter().enumerate().map(|(index, header)| Column::of(header, &cells, index));
    let fit = Fit::of(columns.collect(), look.width);
    if look.expand == Expand::Auto && fit.left_out() > 0 {
        return expanded(&rows.headers, &cells);
    }
    let total = rows.headers.len();
    let hidden = match (fit.left_out(), fit.cuts()) {
        (0, false) => None,
        (0, true) => Some("long texts are cut".to_string()),
        (left_out, _) => Some(format!("{left_out} of {total} columns are left out")),
    };
    Shown { text: drawn(&rows.headers, &cells, &fit), hidden }
}

/// The table with the columns that fit.
fn drawn(headers: &[String], cells: &[Vec<Cell>], fit: &Fit) -> String {
    let mut table = Table::new();
    table.load_style(UTF8_FULL_CONDENSED).set_content_arrangement(ContentArrangement::Disabled);
    let header = |(index, width): (usize, usize)| comfy_table::Cell::new(cell::cut(&headers[index], width));
    table.set_header(fit.row(header));
    for row in cells {
        let cell = |(index, width): (usize, usize)| {
            let cell: &Cell = &row[index];
            let shown = comfy_table::Cell::new(cell.within(width));
            if cell.is_number { shown.set_alignment(CellAlignment::Right) } else { shown }
        };
        table.add_row(fit.row(cell));
    }
    table.to_string()
}

/// One column a line, each row below a heading.
fn expanded(headers: &[String], cells: &[Vec<Cell>]) -> Shown {
    let width = headers.iter().map(|header| console::measure_text_width(header)).max().unwrap_or_default();
    let mut lines = vec![];
    for (number, row) in (1..).zip(cells) {
        lines.push(format!("── row {number} ──"));
        for (header, cell) in headers.iter().zip(row) {
            lines.push(format!("{} │ {}", console::pad_str(header, width, console::Alignment::Left, None), cell.text));
        }
    }
    Shown { text: lines.join("\n"), hidden: None }
}

#[cfg(test)]
mod tests {
    use super::*;
    use cozo::DataValue;

    fn look(width: usize, expand: Expand) -> Look {
        Look { limit: usize::MAX, strings: Strings::Quoted, expand, width: Some(width) }
    }

    /// A row of texts and numbers: `n` columns that are 12 wide, and a number in the end.
    fn wide(n: usize) -> NamedRows {
        let headers = (0..=n).map(|column| format!("c{column}")).collect();
        let texts = (0..n).map(|_| DataValue::from("abcdefghij"));
        NamedRows::new(headers, vec![texts.chain([DataValue::from(1_234_567_890_123_i64)]).collect()])
    }

    #[test]
    fn what_fits_is_whole() {
        let shown = layout(&wide(2), look(80, Expand::Off));
        assert!(shown.hidden.is_none() && shown.text.contains("\"abcdefghij\" ┆ 1234567890123"), "{}", shown.text);
    }

    #[test]
    fn texts_are_cut_before_columns_are_left_out_and_numbers_never() {
        let long = NamedRows::new(
            vec!["a".into(), "b".into(), "n".into()],
            vec![vec!["short".into(), "x".repeat(200).into(), DataValue::from(1.234_567_890_123)]],
        );
        let shown = layout(&long, look(60, Expand::Off));
        assert_eq!(shown.hidden.as_deref(), Some("long texts are cut"));
        assert!(
            shown.text.contains("│ \"short\" ┆ \"xxx") && shown.text.contains("xxx… ┆ 1.234567890123 │"),
            "{}",
            shown.text
        );
        assert!(shown.text.lines().all(|line| console::measure_text_width(line) == 60), "{}", shown.text);
    }

    #[test]
    fn columns_in_the_middle_are_left_out() {
        let shown = layout(&wide(9), look(80, Expand::Off));
        assert_eq!(shown.hidden.as_deref(), Some("6 of 10 columns are left out"));
        assert!(
            shown.text.contains("│ c0 ") && shown.text.contains("┆ … ┆") && shown.text.contains("┆ 1234567890123 │")
        );
        assert!(shown.text.lines().all(|line| console::measure_text_width(line) <= 80), "{}", shown.text);
    }

    #[test]
    fn columns_may_have_lines_of_their_own() {
        let expanded = "── row 1 ──\nc0 │ \"abcdefghij\"\nc1 │ 1234567890123";
        assert_eq!(layout(&wide(1), look(80, Expand::On)).text, expanded);
        assert_eq!(layout(&wide(1), look(20, Expand::Auto)).text, expanded);
        assert!(layout(&wide(1), look(80, Expand::Auto)).text.starts_with('┌'));
    }
}
