//! The inputs of an intersection as pairs of numbers: a key, and a value of its list.

use hashbrown::HashTable;

use super::all_rows::AllRows;
use super::stored::Stored;
use crate::budget::Charge;
use crate::exec::error::ExecError;
use crate::exec::rowset::table::Table;
use crate::exec::run::Run;
use crate::exec::thresholds::INDEX_SHARE_OF_MEMORY;
use crate::plan::{IntersectInput, IntersectPlan, Source};
use crate::value::{Batch, Column};

/// The pairs of an input, which are read several times.
pub struct Pairs<'a> {
    rows: AllRows<'a>,
    columns: [usize; 2],
    /// The pairs, if there is memory for them. Otherwise they are read from the relation each time.
    held: Option<(Batch, Charge)>,
    /// Whether those in memory are numbers of the dictionary.
    are_numbers: bool,
}

/// What the numbers in lists stand for.
#[derive(Debug)]
pub enum Domain {
    /// The numbers themselves.
    Integers,
    /// The values of a dictionary.
    Values(Dictionary),
}

/// Distinct values, by number.
#[derive(Debug)]
pub struct Dictionary {
    values: Column,
    by_value: HashTable<u32>,
    charge: Charge,
}

/// The number of pairs, and the least and the greatest number of each side.
#[derive(Debug, Default)]
pub struct Bounds {
    pub rows: usize,
    pub keys: Option<(i64, i64)>,
    pub values: Option<(i64, i64)>,
}

impl<'a> Pairs<'a> {
    /// The pairs of each input of an intersection by its number, and the pairs. Inputs that read the same share theirs.
    pub fn of(
        plan: &IntersectPlan,
        tables: &'a [Table],
        run: &'a Run<'a>,
    ) -> Result<(Vec<usize>, Vec<Pairs<'a>>), ExecError> {
        let (mut of_input, mut all): (Vec<usize>, Vec<Pairs<'_>>) = (vec![], vec![]);
        for (i, input) in plan.inputs.iter().enumerate() {
            match plan.inputs[..i].iter().position(|earlier| reads_the_same(earlier, input, run)) {
                Some(earlier) => of_input.push(of_input[earlier]),
                None => {
                    of_input.push(all.len());
                    all.push(Pairs::read(input, tables, run)?);
                }
            }
        }
        Ok((of_input, all))
    }

    fn read(input: &IntersectInput, tables: &'a [Table], run: &'a Run<'a>) -> Result<Self, ExecError> {
        let rows = AllRows::whole(&input.source, tables, run);
        let columns = [input.key.0, input.values];
        let bytes = rows.most_rows().saturating_mul(2 * size_of::<i64>() as u64);
        if bytes > (run.budget.spare_bytes() / INDEX_SHARE_OF_MEMORY) as u64 {
            return Ok(Pairs { rows, columns, held: None, are_numbers: false });
        }
        let (mut pairs, mut charge) = (Batch::empty(2), run.budget.charge_for_now());
        rows.read(&columns, run, |block| {
            charge.add(block.memory_bytes())?;
            pairs.append_all(block);
            Ok(())
        })?;
        Ok(Pairs { rows, columns, held: Some((pairs, charge)), are_numbers: false })
    }

    /// Passes on the pairs as values, block by block.
    fn read_blocks(
        &self,
        run: &Run<'_>,
        mut take: impl FnMut(&Column, &Column) -> Result<(), ExecError>,
    ) -> Result<(), ExecError> {
        match &self.held {
            Some((pairs, _)) if pairs.len == 0 => Ok(()),
            Some((pairs, _)) => take(&pairs.columns[0], &pairs.columns[1]),
            None => self.rows.read(&self.columns, run, |block| take(&block.columns[0], &block.columns[1])),
        }
    }

    /// Passes on the pairs as numbers of a domain, block by block.
    pub fn visit(
        &self,
        domain: &Domain,
        run: &Run<'_>,
        mut take: impl FnMut(&[i64], &[i64]) -> Result<(), ExecError>,
    ) -> Result<(), ExecError> {
        self.read_blocks(run, |keys, values| match (domain, keys.as_dense_ints(), values.as_dense_ints()) {
            (Domain::Values(dictionary), ..) if !self.are_numbers => {
                take(&dictionary.numbers(keys), &dictionary.numbers(values))
            }
            (_, Some(keys), Some(values)) => take(keys, values),
            _ => unreachable!("the domain of integers has no other values"),
        })
    }

    /// The bounds of pairs of integers; `None` if there are other values.
    fn bounds(&self, run: &Run<'_>) -> Result<Option<Bounds>, ExecError> {
        let (mut bounds, mut are_ints) = (Bounds::default(), true);
        self.read_blocks(run, |keys, values| {
            bounds.rows += keys.len();
            for (so_far, column) in [(&mut bounds.keys, keys), (&mut bounds.values, values)] {
                let Some(numbers) = column.as_dense_ints() else {
                    are_ints = false;
                    continue;
                };
                let start = so_far.or(numbers.first().map(|number| (*number, *number)));
                let widened = |(least, most): (i64, i64), number: &i64| (least.min(*number), most.max(*number));
                *so_far = start.map(|start| numbers.iter().fold(start, widened));
            }
            Ok(())
        })?;
        Ok(are_ints.then_some(bounds))
    }

    /// Enters the values into a dictionary. Pairs in memory become its numbers.
    fn enter(&mut self, dictionary: &mut Dictionary, run: &Run<'_>) -> Result<usize, ExecError> {
        let mut rows = 0;
        self.read_blocks(run, |keys, values| {
            rows += keys.len();
            dictionary.enter_all(keys)?;
            dictionary.enter_all(values)
        })?;
        if let Some((pairs, _)) = &mut self.held {
            pairs.columns.iter_mut().for_each(|column| *column = Column::ints(dictionary.numbers(column)));
            self.are_numbers = true;
        }
        Ok(rows)
    }
}

fn reads_the_same(a: &IntersectInput, b: &IntersectInput, run: &Run<'_>) -> bool {
    let same_source = match (&a.source, &b.source) {
        (Source::Stored(a), Source::Stored(b)) => Stored::of(a, run).identity() == Stored::of(b, run).identity(),
        (Source::Table(a), Source::Table(b)) => a == b,
        _ => false,
    };
    same_source && a.key.0 == b.key.0 && a.values == b.values
}

impl Domain {
    /// The domain of all values of all pairs, and the bounds of each in it.
    pub fn of(all: &mut [Pairs<'_>], run: &Run<'_>) -> Result<(Self, Vec<Bounds>), ExecError> {
        let bounds: Vec<Option<Bounds>> = all.iter().map(|pairs| pairs.bounds(run)).collect::<Result<_, _>>()?;
        if let Some(bounds) = bounds.into_iter().collect() {
            return Ok((Domain::Integers, bounds));
        }
        let (values, by_value) = (Column::default(), HashTable::new());
        let mut dictionary = Dictionary { values, by_value, charge: run.budget.charge_for_now() };
        let rows: Vec<usize> =
            all.iter_mut().map(|pairs| pairs.enter(&mut dictionary, run)).collect::<Result<_, _>>()?;
        let numbers = dictionary.values.len().checked_sub(1).map(|last| (0, last as i64));
        let bounds = rows.into_iter().map(|rows| Bounds { rows, keys: numbers, values: numbers }).collect();
        Ok((Domain::Values(dictionary), bounds))
    }
}

impl Dictionary {
    /// The values, by number.
    pub fn values(&self) -> &Column {
        &self.values
    }

    fn enter_all(&mut self, column: &Column) -> Result<(), ExecError> {
        for row in 0..column.len() {
            if self.find(column, row).is_none() {
                let number = self.values.len() as u32;
                self.charge.add(column.get(row).memory_bytes() + 2 * size_of::<u32>())?;
                self.values.push_from(column, row);
                let values = &self.values;
                self.by_value.insert_unique(column.hash_at(row), number, |number| values.hash_at(*number as usize));
            }
        }
        Ok(())
    }

    fn numbers(&self, column: &Column) -> Vec<i64> {
        let number = |row| self.find(column, row).expect("all values of the pairs have been entered");
        (0..column.len()).map(number).collect()
    }

    /// The number of the value in a row of a column, if it has one.
    pub fn find(&self, column: &Column, row: usize) -> Option<i64> {
        let same = |number: &u32| self.values.equals_at(*number as usize, column, row);
        self.by_value.find(column.hash_at(row), same).map(|number| i64::from(*number))
    }
}
