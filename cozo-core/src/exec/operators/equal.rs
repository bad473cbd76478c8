//! Joins input rows with the rows of a relation for which expressions over both are equal.
//!
//! ```text
//! *a{k, s}, *b{j, t}, lowercase(s) == t
//!
//! rows of b, read once       t    row         row of a, lowercase(s)      rows of b
//!                            x    0           x                           0, 2 (and 3)
//!                            y    1           fails                       all
//!                            x    2
//!                          fails  3: equal to anything
//! ```
//!
//! An [`EqualJoin`] reads the relation once into [`EqualRows`], an [`Index`] by the values of the expressions, and looks up each
//! input row. A few input rows are joined with all rows instead (`product`), which costs less than an index. Values are made
//! comparable first: numbers that `==` takes for equal become the same value.
//!
//! The filter that follows compares exactly, and fails where an expression fails. The join may therefore give too many rows, but
//! never too few.

use std::borrow::Cow;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, OnceLock};

use super::probe::emit_matches;
use super::{Emit, Operator, Shape, empty_slots, frame};
use crate::budget::{Charge, Stop, make_room, step};
use crate::exec::error::ExecError;
use crate::exec::index::hash_index::Index;
use crate::exec::rowset::table::BYTES_AROUND_ROW;
use crate::exec::run::{Run, Worker};
use crate::exec::sink::{CONTINUE, Flow};
use crate::exec::thresholds::READ_THROUGH_MAX_ROWS;
use crate::expr::{EvalError, Expr, Frame};
use crate::plan::{EqualPlan, JoinPlan};
use crate::value::{Batch, Column, DataValue, Num};

/// Joins by equal values.
pub struct EqualJoin<'a> {
    plan: &'a JoinPlan,
    equal: &'a EqualPlan,
    shape: Shape<'a>,
    /// Reads the relation.
    scan: Box<dyn Operator + 'a>,
    /// Joins every input row with every row of the relation.
    product: Box<dyn Operator + 'a>,
    kept: Kept,
    run: &'a Run<'a>,
    rows: OnceLock<Arc<EqualRows>>,
    /// The number of input rows so far.
    taken: AtomicUsize,
}

/// How long indexed rows can be used.
#[derive(Clone, Copy)]
pub struct Kept {
    /// Whether the rows are the same for the whole run.
    pub is_complete: bool,
    /// Whether the rule runs in several rounds.
    pub is_recursive: bool,
}

/// The rows of a relation, by the values of expressions.
#[derive(Debug)]
pub struct EqualRows {
    /// A column for each expression, and then one for each output of the join.
    rows: Batch,
    index: Index,
    /// The rows for which an expression fails, in ascending order.
    failing: Vec<u32>,
    /// The memory of all that.
    _charge: Charge,
}

impl<'a> EqualJoin<'a> {
    /// `scan` reads the relation into the slots of the plan. `product` is the join with all rows of it.
    pub fn new(
        plan: &'a JoinPlan,
        equal: &'a EqualPlan,
        shape: Shape<'a>,
        [scan, product]: [Box<dyn Operator + 'a>; 2],
        kept: Kept,
        run: &'a Run<'a>,
    ) -> Self {
        let (rows, taken) = (OnceLock::new(), AtomicUsize::new(0));
        EqualJoin { plan, equal, shape, scan, product, kept, run, rows, taken }
    }

    fn rows(&self, worker: &mut Worker<'_>) -> Result<&EqualRows, ExecError> {
        if let Some(rows) = self.rows.get() {
            return Ok(rows);
        }
        let rows = match self.kept.is_complete {
            true => self.run.notes.build_once(self.shape.number, || self.read(worker))?,
            false => Arc::new(self.read(worker)?),
        };
        Ok(self.rows.get_or_init(|| rows))
    }

    fn read(&self, worker: &mut Worker<'_>) -> Result<EqualRows, ExecError> {
        let keys = self.equal.pairs.len();
        let mut rows = Batch::empty(keys + self.plan.outputs.len());
        let (mut failing, mut charge) = (vec![], self.run.budget.charge_for_now());
        let unit = Batch { columns: empty_slots(self.shape.slots), len: 1 };
        let _ = self.scan.push(unit, worker, &mut |mut read, worker| {
            let frame = frame(&read, worker);
            let wanted = self.wanted(frame)?;
            let (mut columns, fails) = compared(self.equal.pairs.iter().map(|(_, of_rows)| of_rows), frame)?;
            columns.extend(self.plan.outputs.iter().map(|(_, slot)| std::mem::take(&mut read.columns[*slot])));
            let batch = Batch::new(columns, read.len);
            let batch = if wanted.len() == read.len { batch } else { batch.take(&wanted) };
            let numbers = rows.len as u32..;
            failing.extend(numbers.zip(&wanted).filter(|(_, row)| fails[**row as usize]).map(|(number, _)| number));
            charge.add(batch.memory_bytes() + batch.len * BYTES_AROUND_ROW)?;
            rows.append_all(batch);
            CONTINUE
        })?;
        let mut index = Index::new((0..keys).collect());
        index.extend(&rows);
        Ok(EqualRows { rows, index, failing, _charge: charge })
    }

    /// The rows for which no test gives false. A row for which a test fails stays.
    fn wanted(&self, frame: Frame<'_>) -> Result<Vec<u32>, Stop> {
        let mut wanted: Vec<u32> = (0..frame.len as u32).collect();
        for test in &self.equal.tests {
            let (holds, _) = values_or_failures(test, frame)?;
            wanted.retain(|row| holds.get(*row as usize) != DataValue::Bool(false));
        }
        Ok(wanted)
    }

    /// The values to look up for some input rows.
    fn sought(&self, frame: Frame<'_>) -> Result<Sought, Stop> {
        if self.equal.each {
            return sought_elements(&self.equal.pairs[0].0, frame);
        }
        let (columns, fails) = compared(self.equal.pairs.iter().map(|(of_input, _)| of_input), frame)?;
        Ok(Sought { keys: Batch::new(columns, frame.len), ends: (1..=frame.len).collect(), fails })
    }
}

impl Operator for EqualJoin<'_> {
    fn push(&self, input: Batch, worker: &mut Worker<'_>, emit: &mut Emit<'_>) -> Flow {
        let taken = self.taken.fetch_add(input.len, Ordering::Relaxed) + input.len;
        let serves_again = self.kept.is_complete && self.kept.is_recursive;
        if taken <= READ_THROUGH_MAX_ROWS && !serves_again {
            return self.product.push(input, worker, emit);
        }
        let equal_rows = self.rows(worker)?;
        let sought = self.sought(frame(&input, worker))?;
        let keys: Vec<&Column> = sought.keys.columns.iter().collect();
        let found = equal_rows.index.find(&equal_rows.rows, &keys, sought.keys.len);
        let matches = |row: usize, matches: &mut Vec<u32>| {
            if sought.fails[row] {
                matches.extend(0..equal_rows.rows.len as u32);
                return;
            }
            let first = matches.len();
            for key in sought.of(row) {
                let chain = std::iter::successors(found.last(key), |row| equal_rows.index.before(*row));
                matches.extend(chain);
            }
            matches.extend(&equal_rows.failing);
            sort_from(matches, first);
        };
        let keys = keys.len();
        emit_matches(
            &self.plan.outputs,
            &self.shape,
            &equal_rows.rows,
            |nth, _| keys + nth,
            matches,
            &input,
            worker,
            emit,
        )
    }
}

/// Sorts the rows from `first` on in ascending order, each once. Mostly they come in descending order.
fn sort_from(rows: &mut Vec<u32>, first: usize) {
    rows[first..].reverse();
    if !rows[first..].is_sorted_by(|a, b| a < b) {
        rows[first..].sort_unstable();
        let mut distinct = rows.split_off(first);
        distinct.dedup();
        rows.append(&mut distinct);
    }
}

/// The values that input rows look up.
struct Sought {
    /// The values to look up, any number for each row.
    keys: Batch,
    /// Where the values of each row end.
    ends: Vec<usize>,
    /// Whether an expression fails for a row, so that all rows match it.
    fails: Vec<bool>,
}

impl Sought {
    fn of(&self, row: usize) -> std::ops::Range<usize> {
        let start = if row == 0 { 0 } else { self.ends[row - 1] };
        start..self.ends[row]
    }
}

/// The elements of the lists that an expression gives; a value that is not a list counts as a failure.
fn sought_elements(lists: &Expr, frame: Frame<'_>) -> Result<Sought, Stop> {
    let (lists, _) = values_or_failures(lists, frame)?;
    let (mut keys, mut ends, mut fails) = (Column::default(), vec![], vec![]);
    for row in 0..frame.len {
        let list = match &lists {
            Column::Any(values) => Cow::Borrowed(&values[row]),
            other => Cow::Owned(other.get(row)),
        };
        let elements = list.elements()?;
        fails.push(elements.is_none());
        for element in elements.as_deref().unwrap_or_default() {
            keys.push_owned(element.copy()?);
        }
        ends.push(keys.len());
    }
    let len = keys.len();
    Ok(Sought { keys: Batch::new(vec![comparable(keys)], len), ends, fails })
}

/// The values of expressions, made comparable, and the rows for which one of them fails.
fn compared<'e>(
    expressions: impl Iterator<Item = &'e Expr>,
    frame: Frame<'_>,
) -> Result<(Vec<Column>, Vec<bool>), Stop> {
    let (mut columns, mut fails) = (vec![], vec![false; frame.len]);
    for expr in expressions {
        let (values, failing) = values_or_failures(expr, frame)?;
        columns.push(comparable(values));
        failing.into_iter().for_each(|row| fails[row as usize] = true);
    }
    Ok((columns, fails))
}

/// The values of an expression, null where it fails, and the rows for which it fails.
pub(super) fn values_or_failures(expr: &Expr, frame: Frame<'_>) -> Result<(Column, Vec<u32>), Stop> {
    match expr.eval(frame) {
        Ok(values) => return Ok((values.into_column(frame.len)?, vec![])),
        Err(EvalError::Stop(stop)) => return Err(stop),
        Err(_) => {}
    }
    let (mut values, mut failing) = (Column::default(), vec![]);
    for row in 0..frame.len {
        step(1)?;
        match expr.eval_at(frame, row) {
            Ok(value) => {
                make_room(value.memory_bytes())?;
                values.push_owned(value);
            }
            Err(EvalError::Stop(stop)) => return Err(stop),
            Err(_) => {
                failing.push(row as u32);
                values.push_owned(DataValue::Null);
            }
        }
    }
    Ok((values, failing))
}

/// Up to here a float represents every integer exactly.
const FLOATS_ARE_EXACT: i64 = 1 << 53;

/// Makes values the same wherever `==` holds: numbers that are equal as floats become one number.
fn comparable(values: Column) -> Column {
    let is_exact = |int: &i64| (-FLOATS_ARE_EXACT..=FLOATS_ARE_EXACT).contains(int);
    let is_comparable = match &values {
        Column::Float(_) | Column::Any(_) => false,
        Column::Int(_) => values.as_dense_ints().is_some_and(|ints| ints.iter().all(is_exact)),
        _ => true,
    };
    if is_comparable {
        return values;
    }
    let mut all = Column::default();
    for row in 0..values.len() {
        all.push_owned(match values.get(row) {
            DataValue::Num(number) => {
                let float = number.get_float();
                let int = float as i64;
                DataValue::Num(if int as f64 == float && is_exact(&int) { Num::Int(int) } else { Num::Float(float) })
            }
            other => other,
        });
    }
    all
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::expr::functions;

    #[test]
    fn what_is_equal_is_the_same_when_made_comparable() {
        let big = 1i64 << 53;
        let ints = [0, 1, -1, 7, big - 1, big, big + 1, big + 2, -big, -big - 1, i64::MAX, i64::MAX - 1, i64::MIN];
        let floats = [0.0, -0.0, 1.0, 0.5, -1.0, 7.0, big as f64, -(big as f64), 9_223_372_036_854_775_808.0, f64::NAN];
        let others = [DataValue::Null, true.into(), "7".into(), DataValue::List(vec![7.into()])];
        let numbers = ints.into_iter().map(DataValue::from).chain(floats.into_iter().map(DataValue::from));
        let values: Vec<DataValue> = numbers.chain(others).collect();
        let equal = functions::find("eq").expect("the function exists");
        let made = |value: &DataValue| comparable(Column::of(Cow::Borrowed(value))).get(0);
        let mut found = 0;
        for a in &values {
            for b in &values {
                if (equal.eval)(&[a.clone(), b.clone()]) == Ok(true.into()) {
                    found += 1;
                    assert_eq!(made(a), made(b), "{a} == {b}");
                }
            }
        }
        assert!(found > values.len(), "an Int and a Float are equal");
    }

    #[test]
    fn rows_come_in_ascending_order_each_once() {
        let sorted = |mut rows: Vec<u32>| {
            sort_from(&mut rows, 1);
            rows
        };
        assert_eq!(sorted(vec![9, 5, 3, 1]), [9, 1, 3, 5]);
        assert_eq!(sorted(vec![9, 5, 3, 5, 4]), [9, 3, 4, 5]);
        assert_eq!(sorted(vec![9]), [9]);
    }
}
