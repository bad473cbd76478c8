//! Evaluation of expressions over a [`Frame`] of columns, a batch at a time.
//!
//! [`Expr::eval`] evaluates an expression for all rows and gives an [`Operand`]: one value for all rows, or a column. A call is
//! evaluated in the first way that applies:
//!
//! | way | when |
//! |---|---|
//! | once | no argument varies from row to row |
//! | by the kernel of the function | it has one, and the kernel takes these columns |
//! | row by row, arguments in columns | otherwise |
//! | row by row, arguments as well | an argument may be much larger than its own arguments |
//!
//! The branches of a conditional are evaluated only for the rows that reach them. Single rows are evaluated by
//! [`Expr::eval_row`]; [`Expr::holds_for_row`] tries numbers and Booleans first, which need no values. All ways give the same
//! results and the same errors: the body of a function on values is the reference.

use std::borrow::Cow;

use super::functions::{Function, quote};
use super::{EvalError, Expr, FunctionError};
use crate::budget::{Stop, make_room, temporary};
use crate::value::{Column, DataValue, Scalar};

/// The input of an expression: columns by slot, all of one length, and the parameters.
#[derive(Clone, Copy)]
pub struct Frame<'a> {
    /// The columns, by slot. Slots that the expression does not use may be of any length.
    pub columns: &'a [Column],
    /// The number of rows.
    pub len: usize,
    /// The parameters, by number.
    pub parameters: &'a [&'a DataValue],
}

/// The outcome of an expression: one value for all rows, or one for each.
#[derive(Debug)]
pub enum Operand<'a> {
    /// The same value for all rows.
    Scalar(Cow<'a, DataValue>),
    /// One value a row.
    Column(Cow<'a, Column>),
}

impl<'a> Operand<'a> {
    /// A copy of the value for a row.
    pub fn get(&self, row: usize) -> Result<DataValue, Stop> {
        match self {
            Operand::Scalar(value) => value.copy(),
            Operand::Column(column) => column.copy_at(row),
        }
    }

    /// One value a row, for `len` rows.
    pub fn into_column(self, len: usize) -> Result<Column, Stop> {
        match self {
            Operand::Scalar(Cow::Owned(value)) if len == 1 => Ok(Column::of(Cow::Owned(value))),
            Operand::Scalar(value) => Column::repeated(&value, len),
            Operand::Column(Cow::Borrowed(column)) => column.copy_range(0..len),
            Operand::Column(Cow::Owned(column)) => Ok(column),
        }
    }

    /// As [`Operand::into_column`], but a column of the frame is borrowed.
    pub fn into_shared_column(self, len: usize) -> Result<Cow<'a, Column>, Stop> {
        match self {
            Operand::Column(column) => Ok(column),
            scalar => scalar.into_column(len).map(Cow::Owned),
        }
    }
}

/// The values of one row by slot.
trait Row: Copy {
    /// A copy of the value in a slot.
    fn copy(self, slot: usize) -> Result<DataValue, Stop>;

    /// Whether a condition holds, if that can be decided without making values.
    fn holds(self, condition: &Expr, parameters: &[&DataValue]) -> Option<bool>;
}

impl Row for &[DataValue] {
    #[inline]
    fn copy(self, slot: usize) -> Result<DataValue, Stop> {
        self[slot].copy()
    }

    #[inline]
    fn holds(self, condition: &Expr, parameters: &[&DataValue]) -> Option<bool> {
        condition.scalar(self, parameters).and_then(Scalar::get_bool)
    }
}

/// A row of a frame.
#[derive(Clone, Copy)]
struct FrameRow<'a> {
    columns: &'a [Column],
    row: usize,
}

impl Row for FrameRow<'_> {
    fn copy(self, slot: usize) -> Result<DataValue, Stop> {
        self.columns[slot].copy_at(self.row)
    }

    fn holds(self, _: &Expr, _: &[&DataValue]) -> Option<bool> {
        None
    }
}

impl Expr {
    /// Evaluates for all rows of a frame.
    pub fn eval<'a>(&'a self, frame: Frame<'a>) -> Result<Operand<'a>, EvalError> {
        match self {
            Expr::Constant(value, _) => Ok(Operand::Scalar(Cow::Borrowed(value))),
            Expr::Parameter(index, _) => Ok(Operand::Scalar(Cow::Borrowed(frame.parameters[*index]))),
            Expr::Slot(slot, _) => Ok(Operand::Column(Cow::Borrowed(&frame.columns[*slot]))),
            Expr::Variable(name, _) => unreachable!("the planner replaced variable '{name}' by a slot"),
            Expr::Call { args, .. } if frame.len > 1 && args.iter().any(Expr::makes_much) => self.eval_by_rows(frame),
            Expr::Call { function, args, span } => {
                let args = args.iter().map(|arg| arg.eval(frame)).collect::<Result<Vec<_>, _>>()?;
                call(function, args, frame.len).map_err(|error| error.at(function, *span))
            }
            Expr::Conditional { branches, .. } => eval_conditional(branches, frame),
        }
    }

    /// Evaluates row by row, so that large intermediate values exist for one row at a time.
    fn eval_by_rows<'a>(&self, frame: Frame<'a>) -> Result<Operand<'a>, EvalError> {
        if !self.varies() {
            return Ok(Operand::Scalar(Cow::Owned(self.eval_at(frame, 0)?)));
        }
        let (all, mut bytes, mut column) = (temporary(), 0, Column::default());
        for row in 0..frame.len {
            let value = self.eval_at(frame, row)?;
            bytes += size_of::<DataValue>() + value.held_bytes();
            all.holds(bytes)?;
            column.push_owned(value);
        }
        all.leave(bytes)?;
        Ok(Operand::Column(Cow::Owned(column)))
    }

    /// Evaluates for one row of a frame.
    pub fn eval_at(&self, frame: Frame<'_>, row: usize) -> Result<DataValue, EvalError> {
        self.eval_any(FrameRow { columns: frame.columns, row }, frame.parameters)
    }

    /// Evaluates an expression without variables, once.
    pub fn eval_closed(&self, parameters: &[&DataValue]) -> Result<DataValue, EvalError> {
        self.eval_row(&[], parameters)
    }

    /// The value of a constant or a parameter, borrowed; `None` for any other expression.
    pub fn given<'v>(&'v self, parameters: &[&'v DataValue]) -> Option<&'v DataValue> {
        match self {
            Expr::Constant(value, _) => Some(value),
            Expr::Parameter(number, _) => Some(parameters[*number]),
            _ => None,
        }
    }

    /// [`Expr::eval_closed`], without a copy of a constant or a parameter.
    pub fn eval_or_borrow<'v>(&'v self, parameters: &[&'v DataValue]) -> Result<Cow<'v, DataValue>, EvalError> {
        match self.given(parameters) {
            Some(value) => Ok(Cow::Borrowed(value)),
            None => self.eval_closed(parameters).map(Cow::Owned),
        }
    }

    /// Evaluates for one row; `slots` are its values by slot.
    #[inline]
    pub fn eval_row(&self, slots: &[DataValue], parameters: &[&DataValue]) -> Result<DataValue, EvalError> {
        let is_computed = matches!(self, Expr::Call { .. } | Expr::Conditional { .. });
        match is_computed.then(|| self.scalar(slots, parameters)).flatten() {
            Some(scalar) => Ok(scalar.into()),
            None => self.eval_any(slots, parameters),
        }
    }

    fn eval_any(&self, row: impl Row, parameters: &[&DataValue]) -> Result<DataValue, EvalError> {
        match self {
            Expr::Constant(value, _) => Ok(value.copy()?),
            Expr::Parameter(index, _) => Ok(parameters[*index].copy()?),
            Expr::Slot(slot, _) => Ok(row.copy(*slot)?),
            Expr::Variable(name, _) => unreachable!("the planner replaced variable '{name}' by a slot"),
            Expr::Call { function, args, span } => {
                let outcome = match args.as_slice() {
                    // Most functions have one argument or two, which need no memory of their own.
                    [arg] => (function.eval)(&[arg.eval_any(row, parameters)?]),
                    [a, b] => (function.eval)(&[a.eval_any(row, parameters)?, b.eval_any(row, parameters)?]),
                    args => {
                        let args = args.iter().map(|arg| arg.eval_any(row, parameters));
                        (function.eval)(&args.collect::<Result<Vec<_>, _>>()?)
                    }
                };
                outcome.map_err(|error| error.at(function, *span))
            }
            Expr::Conditional { branches, .. } => {
                for (condition, value) in branches {
                    if condition.holds_for(row, parameters)? {
                        return value.eval_any(row, parameters);
                    }
                }
                Ok(DataValue::Null)
            }
        }
    }

    /// The number or Boolean that it gives for one row, if all intermediate values are numbers and Booleans, too.
    fn scalar(&self, slots: &[DataValue], parameters: &[&DataValue]) -> Option<Scalar> {
        match self {
            Expr::Constant(value, _) => value.scalar(),
            Expr::Parameter(index, _) => parameters[*index].scalar(),
            Expr::Slot(slot, _) => slots[*slot].scalar(),
            Expr::Call { function, args, .. } => {
                let (Some(numbers), [a, b]) = (function.numbers, args.as_slice()) else { return None };
                numbers(a.scalar(slots, parameters)?, b.scalar(slots, parameters)?)
            }
            Expr::Conditional { branches, .. } => {
                for (condition, value) in branches {
                    if condition.scalar(slots, parameters)?.get_bool()? {
                        return value.scalar(slots, parameters);
                    }
                }
                None
            }
            Expr::Variable(..) => None,
        }
    }

    /// Evaluates as a condition for one row, as [`Expr::eval_row`] does.
    #[inline]
    pub fn holds_for_row(&self, slots: &[DataValue], parameters: &[&DataValue]) -> Result<bool, EvalError> {
        self.holds_for(slots, parameters)
    }

    #[inline]
    fn holds_for(&self, row: impl Row, parameters: &[&DataValue]) -> Result<bool, EvalError> {
        match row.holds(self, parameters) {
            Some(holds) => Ok(holds),
            None => self.holds_for_any(row, parameters),
        }
    }

    fn holds_for_any(&self, row: impl Row, parameters: &[&DataValue]) -> Result<bool, EvalError> {
        match self.eval_any(row, parameters)? {
            DataValue::Bool(holds) => Ok(holds),
            found => Err(self.not_boolean(&found)),
        }
    }

    fn not_boolean(&self, found: &DataValue) -> EvalError {
        EvalError::NotBoolean { found: quote(found), span: self.span() }
    }

    /// Evaluates as a condition: `true` for the rows that hold.
    pub fn eval_condition(&self, frame: Frame<'_>) -> Result<Condition, EvalError> {
        match self.eval(frame)? {
            Operand::Scalar(value) => match *value {
                DataValue::Bool(holds) => Ok(Condition::All(holds)),
                _ => Err(self.not_boolean(&value)),
            },
            Operand::Column(Cow::Owned(Column::Bool(data))) if data.nulls.is_none() => Ok(Condition::Rows(data.values)),
            Operand::Column(column) => {
                let holds = |row| match column.scalar(row).and_then(Scalar::get_bool) {
                    Some(holds) => Ok(holds),
                    None => Err(self.not_boolean(&column.copy_at(row)?)),
                };
                Ok(Condition::Rows((0..frame.len).map(holds).collect::<Result<_, _>>()?))
            }
        }
    }
}

/// The rows for which a condition holds.
pub enum Condition {
    /// All or none.
    All(bool),
    /// The rows with `true`.
    Rows(Vec<bool>),
}

impl Condition {
    /// Whether it holds for a row.
    pub fn holds(&self, row: usize) -> bool {
        match self {
            Condition::All(value) => *value,
            Condition::Rows(rows) => rows[row],
        }
    }
}

/// Applies a function to all rows: once if no argument varies, by its kernel if the kernel takes these columns, or else row by
/// row.
fn call<'a>(function: &Function, args: Vec<Operand<'a>>, len: usize) -> Result<Operand<'a>, FunctionError> {
    let scalars = args.iter().all(|arg| matches!(arg, Operand::Scalar(_)));
    if scalars && (function.deterministic || len == 1) {
        let owned = |arg| match arg {
            Operand::Scalar(Cow::Owned(value)) => Ok(value),
            other => other.get(0),
        };
        let values = args.into_iter().map(owned).collect::<Result<Vec<DataValue>, Stop>>()?;
        return (function.eval)(&values).map(|value| Operand::Scalar(Cow::Owned(value)));
    }
    let outcome = match function.kernel.and_then(|kernel| kernel(&args, len)) {
        Some(outcome) => outcome,
        None => call_by_rows(function, &args, len),
    };
    outcome.map(|column| Operand::Column(Cow::Owned(column)))
}

/// Results may take this many bytes before the budget is asked, so that small results need not ask each time.
const BYTES_UNASKED: usize = 1 << 14;

fn call_by_rows(function: &Function, args: &[Operand<'_>], len: usize) -> Result<Column, FunctionError> {
    let first = |arg: &Operand<'_>| if len > 0 { arg.get(0) } else { Ok(DataValue::Null) };
    let (all, mut bytes, mut asked) = (temporary(), 0, 0);
    let mut values = args.iter().map(first).collect::<Result<Vec<DataValue>, Stop>>()?;
    let mut column = Column::default();
    for row in 0..len {
        for (value, arg) in values.iter_mut().zip(args) {
            if let Operand::Column(arg) = arg {
                *value = arg.copy_at(row)?;
            }
        }
        let result = (function.eval)(&values)?;
        bytes += size_of::<DataValue>() + result.held_bytes();
        if bytes - asked > BYTES_UNASKED {
            asked = bytes;
            all.holds(bytes + values.iter().map(DataValue::held_bytes).sum::<usize>())?;
        }
        column.push_owned(result);
    }
    all.leave(bytes)?;
    Ok(column)
}

/// Evaluates each branch only for the rows that reach it.
fn eval_conditional<'a>(branches: &'a [(Expr, Expr)], frame: Frame<'a>) -> Result<Operand<'a>, EvalError> {
    make_room(frame.len * size_of::<DataValue>())?;
    let mut outcome = vec![DataValue::Null; frame.len];
    let mut waiting: Vec<u32> = (0..frame.len as u32).collect();
    for (condition, value) in branches {
        if waiting.is_empty() {
            break;
        }
        let columns = take_used(condition, frame.columns, &waiting)?;
        let holds = condition.eval_condition(Frame { columns: &columns, len: waiting.len(), ..frame })?;
        let mut numbered = 0..;
        let (chosen, rest): (Vec<u32>, Vec<u32>) =
            waiting.iter().partition(|_| numbered.next().is_some_and(|position| holds.holds(position)));
        if !chosen.is_empty() {
            let columns = take_used(value, frame.columns, &chosen)?;
            let values = value.eval(Frame { columns: &columns, len: chosen.len(), ..frame })?;
            for (i, row) in chosen.iter().enumerate() {
                outcome[*row as usize] = values.get(i)?;
            }
        }
        waiting = rest;
    }
    Ok(Operand::Column(Cow::Owned(outcome.into_iter().collect())))
}

/// Some rows of the columns that an expression uses; the other slots stay empty.
fn take_used(expr: &Expr, columns: &[Column], rows: &[u32]) -> Result<Vec<Column>, Stop> {
    let mut taken = vec![Column::default(); columns.len()];
    let mut outcome = Ok(());
    expr.walk(&mut |part| {
        if let Expr::Slot(slot, _) = part
            && taken[*slot].is_empty()
            && outcome.is_ok()
        {
            match columns[*slot].copy_rows(rows) {
                Ok(copies) => taken[*slot] = copies,
                Err(stop) => outcome = Err(stop),
            }
        }
    });
    outcome.map(|()| taken)
}
