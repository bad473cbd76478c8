//! Fixed rules as plain functions of the host, or as requests over a channel.

use std::collections::BTreeMap;
use std::time::Duration;

use crossbeam_channel::{Receiver, RecvTimeoutError, Sender, bounded, unbounded};

use crate::diag::SourceSpan;
use crate::expr::Expr;
use crate::fixed_rule::{FixedRule, FixedRulePayload, Poison, RegularTempStore};
use crate::parse::ast::Symbol;
use crate::session::error::SessionError;
use crate::session::results::NamedRows;
use crate::value::{DataValue, SmallStr};

/// The interval at which a query that waits for an answer checks whether it must stop.
const POISON_INTERVAL: Duration = Duration::from_millis(20);

/// A request of a fixed rule over a channel: the inputs, the options, and the channel for the rows.
pub type RuleRequest = (Vec<NamedRows>, BTreeMap<String, DataValue>, Sender<miette::Result<NamedRows>>);

type Body = dyn Fn(Vec<NamedRows>, BTreeMap<String, DataValue>, &Poison) -> miette::Result<NamedRows> + Send + Sync;

/// A fixed rule that takes whole relations and the values of its options, and returns a relation.
///
/// The inputs are rows under the column names of the script. Columns without a name are `_0`, `_1`, and so on.
///
/// ```
/// use cozo::{DataValue, DbInstance, NamedRows, SimpleFixedRule};
/// # fn main() -> cozo::Result<()> {
/// let db = DbInstance::default();
/// let count = SimpleFixedRule::new(1, |inputs, _options| {
///     Ok(NamedRows::new(vec![], vec![vec![DataValue::from(inputs[0].rows.len() as i64)]]))
/// });
/// db.register_fixed_rule("CountRows".to_string(), count)?;
/// let result = db.run_default("r[a] <- [[5], [6]]  ?[n] <~ CountRows(r[])")?;
/// assert_eq!(result.rows, vec![vec![DataValue::from(2)]]);
/// # Ok(())
/// # }
/// ```
pub struct SimpleFixedRule {
    return_arity: usize,
    body: Box<Body>,
}

impl SimpleFixedRule {
    /// A rule that returns rows of `return_arity` values.
    pub fn new<R>(return_arity: usize, rule: R) -> Self
    where
        R: Fn(Vec<NamedRows>, BTreeMap<String, DataValue>) -> miette::Result<NamedRows> + Send + Sync + 'static,
    {
        SimpleFixedRule { return_arity, body: Box::new(move |inputs, options, _| rule(inputs, options)) }
    }

    /// [`SimpleFixedRule::new`] for a rule that may take long and can be stopped. It checks the poison at intervals, and returns its
    /// error.
    pub fn interruptible<R>(return_arity: usize, rule: R) -> Self
    where
        R: Fn(Vec<NamedRows>, BTreeMap<String, DataValue>, &Poison) -> miette::Result<NamedRows>
            + Send
            + Sync
            + 'static,
    {
        SimpleFixedRule { return_arity, body: Box::new(rule) }
    }

    /// A rule whose work is done by the receiver of its requests. Each request needs one answer. A stopped query does not wait for
    /// the answer.
    pub fn rule_with_channel(return_arity: usize) -> (Self, Receiver<RuleRequest>) {
        let (requests, receiver) = unbounded();
        let ask = move |inputs, options, poison: &Poison| -> miette::Result<NamedRows> {
            let (sender, answer) = bounded(1);
            requests.send((inputs, options, sender)).map_err(|_| SessionError::NoAnswer)?;
            loop {
                match answer.recv_timeout(POISON_INTERVAL) {
                    Ok(rows) => return rows,
                    Err(RecvTimeoutError::Timeout) => poison.check()?,
                    Err(RecvTimeoutError::Disconnected) => return Err(SessionError::NoAnswer.into()),
                }
            }
        };
        (SimpleFixedRule { return_arity, body: Box::new(ask) }, receiver)
    }
}

impl FixedRule for SimpleFixedRule {
    fn arity(&self, _: &BTreeMap<SmallStr, Expr>, _: &[Symbol], _: SourceSpan) -> miette::Result<usize> {
        Ok(self.return_arity)
    }

    fn run(&self, payload: FixedRulePayload<'_, '_>, out: &mut RegularTempStore, poison: Poison) -> miette::Result<()> {
        let input = |i| -> miette::Result<NamedRows> {
            let input = payload.get_input(i)?;
            Ok(NamedRows::new(input.headers(), input.iter()?.collect::<Result<_, _>>()?))
        };
        let inputs = (0..payload.inputs_count()).map(input).collect::<Result<_, _>>()?;
        let options = payload.options();
        let value = |(name, expr): (&SmallStr, &Expr)| Ok((name.to_string(), options.constant(name, expr)?));
        let options = options.given.iter().map(value).collect::<miette::Result<_>>()?;
        (self.body)(inputs, options, &poison)?.rows.into_iter().for_each(|row| out.put(row));
        Ok(())
    }
}
