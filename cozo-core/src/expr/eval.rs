//! Evaluation of expressions over a frame of columns, a batch at a time.

use std::borrow::Cow;

use super::functions::Function;
use super::{EvalError, Expr, FunctionError};
use crate::value::{Cell, Column, DataValue, Scalar};

/// What an expression is evaluated over: columns by slot, all of one length, and the parameters.
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
    Scalar(DataValue),
    /// One value a row.
    Column(Cow<'a, Column>),
}

impl<'a> Operand<'a> {
    /// The value for a row.
    pub fn get(&self, row: usize) -> DataValue {
        match self {
            Operand::Scalar(value) => value.clone(),
            Operand::Column(column) => column.get(row),
        }
    }

    /// One value a row, for `len` rows.
    pub fn into_column(self, len: usize) -> Column {
        self.into_shared_column(len).into_owned()
    }

    /// As [`Operand::into_column`], but what the frame has is not copied.
    pub fn into_shared_column(self, len: usize) -> Cow<'a, Column> {
        match self {
            Operand::Scalar(value) => Cow::Owned(Column::repeat(&value, len)),
            Operand::Column(column) => column,
        }
    }
}

impl Expr {
    /// Evaluates for all rows of a frame.
    pub fn eval<'a>(&self, frame: Frame<'a>) -> Result<Operand<'a>, EvalError> {
        match self {
            Expr::Constant(value, _) => Ok(Operand::Scalar(value.clone())),
            Expr::Parameter(index, _) => Ok(Operand::Scalar(frame.parameters[*index].clone())),
            Expr::Slot(slot, _) => Ok(Operand::Column(Cow::Borrowed(&frame.columns[*slot]))),
            Expr::Variable(name, _) => unreachable!("the planner replaced variable '{name}' by a slot"),
            Expr::Call { function, args, span } => {
                let args = args.iter().map(|arg| arg.eval(frame)).collect::<Result<Vec<_>, _>>()?;
                call(function, &args, frame.len)
                    .map_err(|FunctionError(reason)| EvalError::Throw { reason, span: *span })
            }
            Expr::Conditional { branches, .. } => eval_conditional(branches, frame),
        }
    }

    /// Evaluates an expression without variables, once.
    pub fn eval_closed(&self, parameters: &[&DataValue]) -> Result<DataValue, EvalError> {
        self.eval_row(&[], parameters)
    }

    /// The value of a constant or a parameter, where it is; nothing for what must be evaluated.
    pub fn given<'v>(&'v self, parameters: &[&'v DataValue]) -> Option<&'v DataValue> {
        match self {
            Expr::Constant(value, _) => Some(value),
            Expr::Parameter(number, _) => Some(parameters[*number]),
            _ => None,
        }
    }

    /// [`Expr::eval_closed`], without a copy of what is [given](Expr::given).
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

    fn eval_any(&self, slots: &[DataValue], parameters: &[&DataValue]) -> Result<DataValue, EvalError> {
        match self {
            Expr::Constant(value, _) => Ok(value.clone()),
            Expr::Parameter(index, _) => Ok(parameters[*index].clone()),
            Expr::Slot(slot, _) => Ok(slots[*slot].clone()),
            Expr::Variable(name, _) => unreachable!("the planner replaced variable '{name}' by a slot"),
            Expr::Call { function, args, span } => {
                let outcome = match args.as_slice() {
                    // Most functions have one argument or two, which need no memory of their own.
                    [arg] => (function.eval)(&[arg.eval_any(slots, parameters)?]),
                    [a, b] => (function.eval)(&[a.eval_any(slots, parameters)?, b.eval_any(slots, parameters)?]),
                    args => {
                        let args = args.iter().map(|arg| arg.eval_any(slots, parameters));
                        (function.eval)(&args.collect::<Result<Vec<_>, _>>()?)
                    }
                };
                outcome.map_err(|FunctionError(reason)| EvalError::Throw { reason, span: *span })
            }
            Expr::Conditional { branches, .. } => {
                for (condition, value) in branches {
                    if condition.holds_for_row(slots, parameters)? {
                        return value.eval_any(slots, parameters);
                    }
                }
                Ok(DataValue::Null)
            }
        }
    }

    /// The number or Boolean that it gives for one row, if that takes nothing else on the way.
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
        match self.scalar(slots, parameters).and_then(Scalar::get_bool) {
            Some(holds) => Ok(holds),
            None => self.holds_for_any(slots, parameters),
        }
    }

    fn holds_for_any(&self, slots: &[DataValue], parameters: &[&DataValue]) -> Result<bool, EvalError> {
        match self.eval_any(slots, parameters)? {
            DataValue::Bool(holds) => Ok(holds),
            found => Err(self.not_boolean(&found)),
        }
    }

    fn not_boolean(&self, found: &DataValue) -> EvalError {
        EvalError::NotBoolean { found: describe(found), span: self.span() }
    }

    /// Evaluates as a condition: `true` for the rows that hold.
    pub fn eval_condition(&self, frame: Frame<'_>) -> Result<Condition, EvalError> {
        match self.eval(frame)? {
            Operand::Scalar(DataValue::Bool(value)) => Ok(Condition::All(value)),
            Operand::Scalar(other) => Err(self.not_boolean(&other)),
            Operand::Column(column) => match column.into_owned() {
                Column::Bool(data) if data.nulls.is_none() => Ok(Condition::Rows(data.values)),
                other => {
                    let rows = other.iter().map(|value| match value {
                        DataValue::Bool(value) => Ok(value),
                        other => Err(self.not_boolean(&other)),
                    });
                    Ok(Condition::Rows(rows.collect::<Result<_, _>>()?))
                }
            },
        }
    }
}

/// The rows for which a condition holds.
pub enum Condition {
    /// All or none of them.
    All(bool),
    /// These.
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

/// A value and its type, for errors.
fn describe(value: &DataValue) -> String {
    format!("{value} ({})", value.type_name())
}

/// Applies a function to all rows: once if nothing varies, by its kernel if it has one for these columns, else row by row.
fn call<'a>(function: &Function, args: &[Operand<'a>], len: usize) -> Result<Operand<'a>, FunctionError> {
    let scalars = args.iter().all(|arg| matches!(arg, Operand::Scalar(_)));
    if scalars && (function.deterministic || len == 1) {
        let values: Vec<DataValue> = args.iter().map(|arg| arg.get(0)).collect();
        return (function.eval)(&values).map(Operand::Scalar);
    }
    if let Some(outcome) = function.kernel.and_then(|kernel| kernel(args, len)) {
        return outcome.map(|column| Operand::Column(Cow::Owned(column)));
    }
    let mut values: Vec<DataValue> =
        args.iter().map(|arg| if len > 0 { arg.get(0) } else { DataValue::Null }).collect();
    let mut column = Column::default();
    for row in 0..len {
        for (value, arg) in values.iter_mut().zip(args) {
            if let Operand::Column(arg) = arg {
                *value = arg.get(row);
            }
        }
        column.push_owned((function.eval)(&values)?);
    }
    Ok(Operand::Column(Cow::Owned(column)))
}

/// Evaluates each branch only for the rows that reach it.
fn eval_conditional<'a>(branches: &[(Expr, Expr)], frame: Frame<'a>) -> Result<Operand<'a>, EvalError> {
    let mut outcome = vec![DataValue::Null; frame.len];
    let mut waiting: Vec<u32> = (0..frame.len as u32).collect();
    for (condition, value) in branches {
        if waiting.is_empty() {
            break;
        }
        let columns = take_used(condition, frame.columns, &waiting);
        let holds = condition.eval_condition(Frame { columns: &columns, len: waiting.len(), ..frame })?;
        let mut numbered = 0..;
        let (chosen, rest): (Vec<u32>, Vec<u32>) =
            waiting.iter().partition(|_| numbered.next().is_some_and(|position| holds.holds(position)));
        if !chosen.is_empty() {
            let columns = take_used(value, frame.columns, &chosen);
            let values = value.eval(Frame { columns: &columns, len: chosen.len(), ..frame })?;
            for (i, row) in chosen.iter().enumerate() {
                outcome[*row as usize] = values.get(i);
            }
        }
        waiting = rest;
    }
    Ok(Operand::Column(Cow::Owned(outcome.into_iter().collect())))
}

/// The given rows of the columns that an expression uses; the other slots are left empty.
fn take_used(expr: &Expr, columns: &[Column], rows: &[u32]) -> Vec<Column> {
    let mut taken = vec![Column::default(); columns.len()];
    expr.walk(&mut |part| {
        if let Expr::Slot(slot, _) = part
            && taken[*slot].is_empty()
        {
            taken[*slot] = columns[*slot].take(rows);
        }
    });
    taken
}
