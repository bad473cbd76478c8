//! Which columns fit a terminal, and how wide they are.

use super::ELLIPSIS;
use super::cell::Cell;

/// What a column takes beyond its cells: a bar and two spaces.
const FRAME: usize = 3;

/// The bar at the right end.
const EDGE: usize = 1;

/// A column whose texts would become narrower is left out.
const MIN_TEXT: usize = 12;

/// How wide a column is.
#[derive(Clone, Copy)]
pub struct Column {
    /// As wide as its widest cell.
    natural: usize,
    /// As wide as what must not be cut.
    least: usize,
}

impl Column {
    /// The column at an index of the rows.
    pub fn of(header: &str, rows: &[Vec<Cell>], index: usize) -> Self {
        let header = console::measure_text_width(header);
        let mut column = Column { natural: header, least: header.min(MIN_TEXT) };
        for cell in rows.iter().map(|row| &row[index]) {
            let width = console::measure_text_width(&cell.text);
            column.natural = column.natural.max(width);
            column.least = column.least.max(if cell.is_whole { width } else { width.min(MIN_TEXT) });
        }
        column
    }

    /// Its width where texts have at most `cap`.
    fn within(self, cap: usize) -> usize {
        self.natural.min(cap).max(self.least)
    }
}

/// The columns that are shown.
pub struct Fit {
    columns: Vec<Column>,
    /// How many of the first ones.
    first: usize,
    /// How many of the last ones.
    last: usize,
    /// How wide texts may be.
    cap: usize,
}

impl Fit {
    /// As many columns as fit; of those that must not be cut, the first one even if it does not.
    pub fn of(columns: Vec<Column>, width: Option<usize>) -> Self {
        let mut fit = Fit { first: columns.len(), last: 0, columns, cap: usize::MAX };
        let Some(width) = width.filter(|width| fit.total() > *width) else { return fit };
        fit.cap = MIN_TEXT;
        if fit.total() > width {
            fit.leave_out(width);
        }
        while fit.cap < width && fit.grown().total() <= width {
            fit.cap += 1;
        }
        fit
    }

    /// Keeps columns at both ends, as many as fit.
    fn leave_out(&mut self, width: usize) {
        (self.first, self.last) = (1, 0);
        loop {
            let (first, last) = (self.first, self.last);
            self.last += usize::from(last < first);
            if self.last > last && self.total() > width {
                self.last = last;
            }
            self.first += 1;
            if self.total() > width || self.first + self.last >= self.columns.len() {
                self.first = first;
            }
            if (self.first, self.last) == (first, last) {
                return;
            }
        }
    }

    fn grown(&self) -> Fit {
        Fit { columns: self.columns.clone(), cap: self.cap + 1, ..*self }
    }

    /// How many columns are not shown.
    pub fn left_out(&self) -> usize {
        self.columns.len() - self.first - self.last
    }

    /// Whether texts are cut.
    pub fn cuts(&self) -> bool {
        self.shown().any(|index| self.columns[index].natural > self.columns[index].within(self.cap))
    }

    fn shown(&self) -> impl Iterator<Item = usize> {
        (0..self.first).chain(self.columns.len() - self.last..self.columns.len())
    }

    /// The width of the table.
    fn total(&self) -> usize {
        let columns: usize = self.shown().map(|index| self.columns[index].within(self.cap) + FRAME).sum();
        let ellipsis = if self.left_out() > 0 { FRAME + 1 } else { 0 };
        columns + ellipsis + EDGE
    }

    /// The cells of a row, each made of the index and the width of its column.
    pub fn row(&self, cell: impl Fn((usize, usize)) -> comfy_table::Cell) -> Vec<comfy_table::Cell> {
        let mut cells: Vec<_> = self.shown().map(|index| cell((index, self.columns[index].within(self.cap)))).collect();
        if self.left_out() > 0 {
            cells.insert(self.first, comfy_table::Cell::new(ELLIPSIS));
        }
        cells
    }
}
