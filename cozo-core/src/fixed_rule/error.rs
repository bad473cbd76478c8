//! The errors of fixed rules.
//!
//! [`FixedRuleError`] has a variant for each mistake in an application: in the inputs, the options, the weights of edges, files
//! and rows of the host. Each has a stable code and a span in the script. [`Raised`] wraps a report of any type, such as an
//! error of the host's code or of the [`Poison`](super::Poison), and passes on its code, help and labels unchanged.

use std::fmt::{self, Display, Formatter};
use std::sync::Arc;

use miette::{Diagnostic, LabeledSpan, Severity, SourceCode};

use crate::budget::Stop;
use crate::diag::SourceSpan;
use crate::expr::EvalError;
use crate::storage::StorageError;

/// A fixed rule was applied wrongly, or failed.
#[derive(Debug, Clone, thiserror::Error, miette::Diagnostic)]
pub enum FixedRuleError {
    /// The script was killed, ran into its timeout, or outgrew its memory.
    #[error(transparent)]
    #[diagnostic(transparent)]
    Stop(#[from] Stop),
    /// Too few inputs: give the relations that the rule works on, in order.
    #[error("the fixed rule '{rule}' lacks its input {input}")]
    #[diagnostic(
        code(fixed_rule::not_enough_args),
        help("give relations before the options: {rule}(rule[], *stored[], ...)")
    )]
    NotEnoughInputs {
        /// The fixed rule.
        rule: String,
        /// The input: its name, or its number from 1.
        input: String,
        /// The call.
        #[label("lacks an input")]
        span: SourceSpan,
    },
    /// There are more inputs than the rule has, so they would be ignored.
    #[error("'{rule}' takes {most} inputs at most, and is given {found}")]
    #[diagnostic(code(fixed_rule::too_many_args), help("leave out the inputs that the rule does not have"))]
    TooManyInputs {
        /// The fixed rule.
        rule: String,
        /// The greatest number of inputs.
        most: usize,
        /// The number of inputs found.
        found: usize,
        /// The first surplus input.
        #[label("not used by the rule")]
        span: SourceSpan,
    },
    /// An input has too few columns.
    #[error("the input '{input}' of '{rule}' has {found} columns and needs {needed}")]
    #[diagnostic(code(algo::input_relation_bad_arity), help("give a relation with at least {needed} columns"))]
    InputArity {
        /// The fixed rule.
        rule: String,
        /// The input.
        input: String,
        /// The number of its columns.
        found: usize,
        /// The number of columns needed.
        needed: usize,
        /// The input.
        #[label("too few columns")]
        span: SourceSpan,
    },
    /// A relation of edges has only one column.
    #[error("a relation of edges needs two columns, this one has {found}")]
    #[diagnostic(
        code(algo::not_an_edge),
        help("the first column is where an edge starts, the second where it ends, a third may be its weight")
    )]
    NotAnEdge {
        /// The columns that it has.
        found: usize,
        /// The input.
        #[label("not edges")]
        span: SourceSpan,
    },
    /// The weight of an edge is not a valid number for the rule.
    #[error("the edge weight {weight} is not {expected}")]
    #[diagnostic(
        code(algo::invalid_edge_weight),
        help("weights stand in the third column; apply a rule of two columns to leave them out")
    )]
    EdgeWeight {
        /// The weight.
        weight: String,
        /// The valid weights.
        expected: &'static str,
        /// The input.
        #[label("has this weight")]
        span: SourceSpan,
    },
    /// There is no node to start from.
    #[error("there is no node to start from")]
    #[diagnostic(
        code(algo::empty_starting),
        help("give a relation with a row, or leave it out to start from the first node of the first edge")
    )]
    EmptyStarting {
        /// The input.
        #[label("has no rows")]
        span: SourceSpan,
    },
    /// The node to start from is not in the graph.
    #[error("the starting node {node} is not in the graph")]
    #[diagnostic(code(algo::starting_node_not_found), help("start from a node that has an edge"))]
    StartingNodeNotFound {
        /// The node.
        node: String,
        /// The input.
        #[label("names this node")]
        span: SourceSpan,
    },
    /// A node is both source and sink of a flow.
    #[error("the node {node} is both a source and a sink")]
    #[diagnostic(
        code(algo::source_is_sink),
        help("what flows from a node to itself has no limit; leave it out of one of them")
    )]
    SourceIsSink {
        /// The node.
        node: String,
        /// The sinks.
        #[label("has a source")]
        span: SourceSpan,
    },
    /// The relation of nodes lacks a reached node.
    #[error("the node {node} was reached and is not among the nodes")]
    #[diagnostic(
        code(algo::node_with_key_not_found),
        help("every node that edges lead to needs a row, with the node in its first column")
    )]
    NodeNotFound {
        /// The node.
        node: String,
        /// The relation of nodes.
        #[label("lacks the node")]
        span: SourceSpan,
    },
    /// An option that is an expression has an invalid value.
    #[error("the option '{option}' of '{rule}' gave {found}")]
    #[diagnostic(code(algo::bad_expression_value), help("it must give {expected} for each row"))]
    ExpressionWrong {
        /// The fixed rule.
        rule: String,
        /// The option.
        option: String,
        /// The valid values.
        expected: &'static str,
        /// The value found.
        found: String,
        /// The expression.
        #[label("gives this")]
        span: SourceSpan,
    },
    /// A graph has more nodes or edges than numbers for them.
    #[error("the graph has more than {limit} {what}")]
    #[diagnostic(code(algo::graph_too_large), help("restrict the edges to the part of the graph that matters"))]
    GraphTooLarge {
        /// Nodes or edges.
        what: &'static str,
        /// The greatest number of them.
        limit: u64,
        /// The input.
        #[label("these edges")]
        span: SourceSpan,
    },
    /// A value of an input that the rule cannot use.
    #[error("'{rule}' needs {wanted} in each row, not {found}")]
    #[diagnostic(
        code(algo::bad_input_value),
        help("filter such rows out, or convert the value, before the rule is applied")
    )]
    InputValue {
        /// The rule.
        rule: String,
        /// What it needs.
        wanted: &'static str,
        /// The value, shortened.
        found: String,
        /// The input.
        #[label("has it")]
        span: SourceSpan,
    },
    /// A required option is missing.
    #[error("the fixed rule '{rule}' needs the option '{option}'")]
    #[diagnostic(code(fixed_rule::arg_not_found), help("write {rule}(..., {option}: ...)"))]
    OptionNotFound {
        /// The fixed rule.
        rule: String,
        /// The option.
        option: String,
        /// The call.
        #[label("lacks '{option}'")]
        span: SourceSpan,
    },
    /// The value of an option is invalid.
    #[error("the option '{option}' of '{rule}' cannot be {found}")]
    #[diagnostic(code(fixed_rule::arg_wrong), help("'{option}' must be {expected}"))]
    OptionWrong {
        /// The fixed rule.
        rule: String,
        /// The option.
        option: String,
        /// The valid values.
        expected: String,
        /// The value found.
        found: String,
        /// The value.
        #[label("wrong value")]
        span: SourceSpan,
    },
    /// An option has a variable where only constants are allowed.
    #[error("the option '{option}' of '{rule}' is not constant")]
    #[diagnostic(
        code(eval::not_constant),
        help("'{name}' is a variable; use literals, parameters and functions of them; strings need quotes")
    )]
    OptionNotConstant {
        /// The fixed rule.
        rule: String,
        /// The option.
        option: String,
        /// The variable.
        name: String,
        /// The variable.
        #[label("not a constant")]
        span: SourceSpan,
    },
    /// The options do not determine the number of columns of the result.
    #[error("the number of columns of '{rule}' cannot be told")]
    #[diagnostic(code(parser::no_algo_arity), help("{help}"))]
    NoArity {
        /// The fixed rule.
        rule: String,
        /// The remedy.
        help: &'static str,
        /// The option, or the call.
        #[label("does not say how many columns there are")]
        span: SourceSpan,
    },
    /// An expression uses a name that the bindings of the inputs do not have.
    #[error("'{name}' is not bound by the inputs")]
    #[diagnostic(
        code(eval::bad_binding),
        help("name the columns of the input in order, as in rel[a, b]; the bindings here are: {known}")
    )]
    BadBinding {
        /// The variable.
        name: String,
        /// The existing bindings.
        known: String,
        /// The place of the variable.
        #[label("not bound")]
        span: SourceSpan,
    },
    /// A rule of the host returned a row of the wrong length.
    #[error("the fixed rule '{rule}' gave a row of {found} values and has {expected} columns")]
    #[diagnostic(
        code(parser::simple_fixed_rule_arity_mismatch),
        help("every row that the rule gives must be as long as it said when it was registered")
    )]
    RowArity {
        /// The fixed rule.
        rule: String,
        /// The number of its columns.
        expected: usize,
        /// The length of the row.
        found: usize,
        /// The call.
        #[label("gave a row that does not fit")]
        span: SourceSpan,
    },
    /// A file or an address cannot be read.
    #[error("cannot read '{url}': {reason}")]
    #[diagnostic(
        code(fixed_rule::cannot_read),
        help(
            "see that it is there, can be read, and has the format that the rule reads; before a path, CsvReader and JsonReader need 'file://'"
        )
    )]
    Unreadable {
        /// The address.
        url: String,
        /// The reason.
        reason: String,
        /// The call.
        #[label("reads it")]
        span: SourceSpan,
    },
    /// The data read does not agree with the options.
    #[error("{place} of '{url}': {reason}")]
    #[diagnostic(code(fixed_rule::bad_data), help("{help}"))]
    BadData {
        /// The address.
        url: String,
        /// The place in the data.
        place: String,
        /// The reason.
        reason: String,
        /// The remedy.
        help: &'static str,
        /// The call.
        #[label("reads it")]
        span: SourceSpan,
    },
    /// An expression failed on a row.
    #[error(transparent)]
    #[diagnostic(transparent)]
    Eval(#[from] EvalError),
    /// A stored relation cannot be read.
    #[error(transparent)]
    #[diagnostic(transparent)]
    Storage(#[from] StorageError),
    /// The host's code raised an error, or the query must stop.
    #[error(transparent)]
    #[diagnostic(transparent)]
    Raised(#[from] Raised),
}

/// A report of any kind, shared.
#[derive(Clone, Debug)]
pub struct Raised(Arc<miette::Report>);

impl From<miette::Report> for FixedRuleError {
    fn from(report: miette::Report) -> Self {
        Raised(Arc::new(report)).into()
    }
}

impl Display for Raised {
    fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
        write!(f, "{}", self.0)
    }
}

impl std::error::Error for Raised {
    fn source(&self) -> Option<&(dyn std::error::Error + 'static)> {
        (**self.0).source()
    }
}

impl Diagnostic for Raised {
    fn code<'a>(&'a self) -> Option<Box<dyn Display + 'a>> {
        self.0.code()
    }

    fn severity(&self) -> Option<Severity> {
        self.0.severity()
    }

    fn help<'a>(&'a self) -> Option<Box<dyn Display + 'a>> {
        self.0.help()
    }

    fn url<'a>(&'a self) -> Option<Box<dyn Display + 'a>> {
        self.0.url()
    }

    fn source_code(&self) -> Option<&dyn SourceCode> {
        self.0.source_code()
    }

    fn labels(&self) -> Option<Box<dyn Iterator<Item = LabeledSpan> + '_>> {
        self.0.labels()
    }

    fn related<'a>(&'a self) -> Option<Box<dyn Iterator<Item = &'a dyn Diagnostic> + 'a>> {
        self.0.related()
    }

    fn diagnostic_source(&self) -> Option<&dyn Diagnostic> {
        self.0.diagnostic_source()
    }
}
