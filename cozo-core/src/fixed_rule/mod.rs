//! Fixed rules: relations computed from whole relations by code instead of rules, as in `?[..] <~ Name(rel[], opt: 1)`.
//!
//! A rule of the language is one item, a [`BuiltInRule`]: its name, aliases, inputs, options and output as data, and a
//! function from columns to columns. Everything but the function is shared: inputs are counted and measured, options
//! are evaluated and checked before it runs.
//!
//! ```text
//! pub static DEGREE: BuiltInRule = BuiltInRule {
//!     name: "DegreeCentrality",
//!     inputs: &[InputSpec::required("edges", Shape::Edges, "..."), InputSpec::optional("nodes", Shape::Columns(1), "...")],
//!     options: &[],
//!     output: Output::Columns(&["node", "total", "out", "in"]),
//!     run: |call, _| { let edges = call.input(0)?.edges(&call.poison)?; ... Ok(batch) },
//!     ..
//! };
//! ```
//!
//! | module | what |
//! |---|---|
//! | [`registry`] | the list of all rules, [`RuleSet`] (those and the host's), [`FixedRules`] (the set of a database) |
//! | [`options`] | what options a rule has, and their values |
//! | [`call`] | one application: its inputs, options, and the means to stop it |
//! | [`input`] | an input as columns, or as rows in order |
//! | [`graph`] | edges, nodes as numbers, adjacency |
//! | [`expression`] | options that are expressions over the columns of an input |
//! | [`api`] | the rules of the host, which see rows: an adapter |
//! | [`algos`] | graph algorithms |
//! | [`utilities`] | rules about data instead of graphs |
//!
//! **fixed_rule never sees rules, plans or scripts**: what it is given was resolved, and what it gives is a batch.

pub mod algos;
mod api;
pub mod call;
mod error;
pub mod expression;
pub mod graph;
pub mod input;
pub mod options;
mod poison;
pub mod registry;
pub mod utilities;

use crate::expr::Expr;
use crate::value::{Batch, SmallStr};

pub use api::{FixedRule, FixedRuleInputRelation, FixedRulePayload, RegularTempStore};
pub use call::Call;
pub use error::{FixedRuleError, Raised};
pub use input::Input;
pub use options::{DefaultValue, OptionKind, OptionSpec, Options, Settings};
pub use poison::{Pace, Poison};
pub use registry::{FIXED_RULES, FixedRules, RegisterError, Rule, RuleSet};

/// Options by name, as expressions.
pub type OptionMap = std::collections::BTreeMap<SmallStr, Expr>;

/// A fixed rule of the language.
#[derive(Debug)]
pub struct BuiltInRule {
    /// Its name.
    pub name: &'static str,
    /// Its other names.
    pub aliases: &'static [&'static str],
    /// What it computes, in a sentence or more.
    pub doc: &'static str,
    /// What it costs in nodes V and edges E, for an algorithm.
    pub cost: &'static str,
    /// Where the algorithm comes from.
    pub source: &'static str,
    /// Scripts, and the rows that they answer as an expression.
    pub examples: &'static [(&'static str, &'static str)],
    /// Its inputs in order.
    pub inputs: &'static [InputSpec],
    /// Its options; others that a script gives are ignored.
    pub options: &'static [OptionSpec],
    /// The columns of what it gives.
    pub output: Output,
    /// Whether it reads files or the network, which a database may forbid.
    pub external_access: bool,
    /// What it does. The inputs are all there and wide enough, and the settings are those of `options`.
    pub run: fn(&Call<'_>, &Settings) -> Result<Batch, FixedRuleError>,
}

/// An input of a fixed rule.
#[derive(Clone, Copy, Debug)]
pub struct InputSpec {
    /// What documentation and errors call it.
    pub name: &'static str,
    /// How wide it must be.
    pub shape: Shape,
    /// Whether it may be left out.
    pub optional: bool,
    /// What it holds.
    pub doc: &'static str,
}

/// How wide an input must be.
#[derive(Clone, Copy, Debug)]
pub enum Shape {
    /// Two columns at least: from, to, and perhaps a weight.
    Edges,
    /// So many columns at least.
    Columns(usize),
}

/// The columns of what a fixed rule gives.
#[derive(Clone, Copy, Debug)]
pub enum Output {
    /// These.
    Columns(&'static [&'static str]),
    /// As many as the options say: a description, and the function that counts them.
    FromOptions(&'static str, fn(Options<'_>) -> Result<usize, FixedRuleError>),
}

impl InputSpec {
    /// An input that must be given.
    pub const fn required(name: &'static str, shape: Shape, doc: &'static str) -> Self {
        InputSpec { name, shape, optional: false, doc }
    }

    /// An input that may be left out, if all after it are.
    pub const fn optional(name: &'static str, shape: Shape, doc: &'static str) -> Self {
        InputSpec { name, shape, optional: true, doc }
    }
}

impl BuiltInRule {
    /// The number of columns that it gives with these options.
    pub fn arity(&self, options: Options<'_>) -> Result<usize, FixedRuleError> {
        match self.output {
            Output::Columns(columns) => Ok(columns.len()),
            Output::FromOptions(_, count) => count(options),
        }
    }

    /// Checks inputs and options, and runs it.
    pub fn apply(&self, call: &Call<'_>) -> Result<Batch, FixedRuleError> {
        for (i, spec) in self.inputs.iter().enumerate() {
            match call.inputs.get(i) {
                Some(input) => input.check_shape(call.options.rule, spec)?,
                None if spec.optional => break,
                None => return Err(call.missing_input(i, Some(spec.name))),
            }
        }
        if let Some(input) = call.inputs.get(self.inputs.len()) {
            let (rule, most) = (call.options.rule.to_string(), self.inputs.len());
            return Err(FixedRuleError::TooManyInputs { rule, most, found: call.inputs.len(), span: input.span });
        }
        let settings = Settings::new(self.options, call.options)?;
        call.poison.check()?;
        (self.run)(call, &settings)
    }
}
