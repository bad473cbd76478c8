//! Fixed rules: relations computed from whole relations by code instead of rules, as in `?[..] <~ Name(rel[], opt: 1)`.
//!
//! A rule of the language is one item, a [`BuiltInRule`]: its name, aliases, inputs, options and output as data, and a
//! function from columns to columns. Everything but the function is shared: the number and width of inputs are checked, and
//! options are evaluated and checked, before it runs.
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
//! | [`registry`] | the list of all rules, [`RuleSet`] (with the host's rules), [`FixedRules`] (the set of a database) |
//! | [`options`] | the options of a rule, and their values |
//! | [`call`] | one application: its inputs, options, and the means to stop it |
//! | [`gathering`] | the rows that a rule reads from files, in memory or on disk |
//! | [`input`] | an input as columns, or as rows in order |
//! | [`graph`] | edges, numbered nodes, adjacency |
//! | [`expression`] | options that are expressions over the columns of an input |
//! | [`api`] | the interface for rules of the host, which see rows: an adapter |
//! | [`algos`] | graph algorithms |
//! | [`utilities`] | rules about data instead of graphs |
//!
//! **fixed_rule never sees rules, plans or scripts**: its inputs are resolved, and its result is a batch.

pub mod algos;
mod api;
pub mod call;
mod error;
pub mod expression;
mod gathering;
pub mod graph;
pub mod input;
pub mod options;
mod poison;
pub mod registry;
pub mod utilities;

use crate::diag::SourceSpan;
use crate::expr::Expr;
use crate::parse::ast::Symbol;
use crate::value::{Batch, DataValue, SmallStr};

pub use api::{FixedRule, FixedRuleInputRelation, FixedRulePayload, RegularTempStore};
pub use call::Call;
pub use error::{FixedRuleError, Raised};
pub use gathering::{Gathering, Overflow};
pub use input::Input;
pub use options::{DefaultValue, OptionKind, OptionSpec, Options, Settings};
pub use poison::{Pace, Poison};
pub use registry::{FIXED_RULES, FixedRules, RegisterError, Rule, RuleSet};

/// Options by name, as expressions.
pub type OptionMap = std::collections::BTreeMap<SmallStr, Expr>;

/// The option that has the names of the head, a list of strings, for rules with [`Output::FromHead`]. No script can
/// write it.
pub const HEAD: &str = "(head)";

/// A fixed rule of the language.
#[derive(Debug)]
pub struct BuiltInRule {
    /// The name.
    pub name: &'static str,
    /// Other names.
    pub aliases: &'static [&'static str],
    /// A description, in a sentence or more.
    pub doc: &'static str,
    /// The cost of an algorithm, in nodes V and edges E.
    pub cost: &'static str,
    /// The origin of the algorithm.
    pub source: &'static str,
    /// Scripts, and their resulting rows as an expression.
    pub examples: &'static [(&'static str, &'static str)],
    /// The inputs in order.
    pub inputs: &'static [InputSpec],
    /// The options. Other options of a script are ignored.
    pub options: &'static [OptionSpec],
    /// The columns of the result.
    pub output: Output,
    /// Whether it reads files or the network, which a database may forbid.
    pub external_access: bool,
    /// The function. All required inputs are present and wide enough, and the settings are those of `options`.
    pub run: fn(&Call<'_>, &Settings) -> Result<Batch, FixedRuleError>,
}

/// An input of a fixed rule.
#[derive(Clone, Copy, Debug)]
pub struct InputSpec {
    /// The name in documentation and errors.
    pub name: &'static str,
    /// The required width.
    pub shape: Shape,
    /// Whether it may be omitted.
    pub optional: bool,
    /// A description of its columns.
    pub doc: &'static str,
}

/// The required width of an input.
#[derive(Clone, Copy, Debug)]
pub enum Shape {
    /// Two columns at least: from, to, and perhaps a weight.
    Edges,
    /// This number of columns at least.
    Columns(usize),
}

/// The columns of a fixed rule's result.
#[derive(Clone, Copy, Debug)]
pub enum Output {
    /// Fixed columns with these names.
    Columns(&'static [&'static str]),
    /// A number of columns that depends on the options: a description, and the function that counts them.
    FromOptions(&'static str, fn(Options<'_>) -> Result<usize, FixedRuleError>),
    /// The columns of the first input that have names, and further ones: a description, and the function that counts the latter.
    AfterInput(&'static str, fn(Options<'_>) -> Result<usize, FixedRuleError>),
    /// A number of columns that depends on the options: as [`Output::FromOptions`]. The options have the variables of the rule's
    /// head as the option [`HEAD`].
    FromHead(&'static str, fn(Options<'_>) -> Result<usize, FixedRuleError>),
}

impl Output {
    /// The columns: their names, or a description of them.
    pub fn describe(&self) -> String {
        match self {
            Output::Columns(names) => names.join(", "),
            Output::FromOptions(columns, _) | Output::AfterInput(columns, _) | Output::FromHead(columns, _) => {
                columns.to_string()
            }
        }
    }
}

impl InputSpec {
    /// A required input.
    pub const fn required(name: &'static str, shape: Shape, doc: &'static str) -> Self {
        InputSpec { name, shape, optional: false, doc }
    }

    /// An input that may be omitted, if all after it are.
    pub const fn optional(name: &'static str, shape: Shape, doc: &'static str) -> Self {
        InputSpec { name, shape, optional: true, doc }
    }
}

impl BuiltInRule {
    /// The number of columns of its result with these options, if `named` columns of the first input have names.
    pub fn arity(&self, options: Options<'_>, named: usize) -> Result<usize, FixedRuleError> {
        match self.output {
            Output::Columns(columns) => Ok(columns.len()),
            Output::FromOptions(_, count) | Output::FromHead(_, count) => count(options),
            Output::AfterInput(_, count) => Ok(named + count(options)?),
        }
    }

    /// Adds the names of the head to the options of a rule that depends on them.
    pub fn note_head(&self, options: &mut OptionMap, head: &[Symbol], span: SourceSpan) {
        if matches!(self.output, Output::FromHead(..)) {
            let names = head.iter().map(|variable| DataValue::from(variable.name.as_str())).collect();
            options.insert(HEAD.into(), Expr::Constant(DataValue::List(names), span));
        }
    }

    /// Checks inputs and options, and runs the rule.
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
