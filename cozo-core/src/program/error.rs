//! The ways in which a query can be wrong before it runs.
//!
//! [`ProgramError`] has a variant for each mistake that name resolution and the passes find. A variant's doc line says when it occurs,
//! and its `help` how to mend the query. Codes are stable: hosts may match them, and a snapshot test lists them. A variant labels the
//! place in the script by its `span`; a variant that repeats the error of another module is transparent.
//!
//! `Unstratifiable` and `GroupInRecursion` share a code, since both say that recursion needs its own complete result.

use super::constant::ConstantDataError;
use super::expression::CallError;
use super::search_error::SearchError;
use crate::budget::Stop;
use crate::diag::SourceSpan;
use crate::fixed_rule::FixedRuleError;
use crate::schema::RelationError;

/// A query without a meaning, or one that names things that do not exist.
#[derive(Debug, Clone, thiserror::Error, miette::Diagnostic)]
pub enum ProgramError {
    /// No rule is named `?`: add one that says what the query answers.
    #[error("the query has no entry")]
    #[diagnostic(code(parser::no_entry), help("name the rule that gives the answer '?', as in ?[x] := ..."))]
    NoEntry {
        /// The query.
        #[label("no rule here is named '?'")]
        span: SourceSpan,
    },
    /// Definitions of one rule have different widths or aggregations: make their heads agree.
    #[error("the definitions of '{name}' do not agree")]
    #[diagnostic(
        code(parser::head_aggr_mismatch),
        help(
            "all definitions of a rule have the same number of columns and the same aggregations, position by position"
        )
    )]
    HeadMismatch {
        /// The rule.
        name: String,
        /// The definition that differs.
        #[label("differs from an earlier definition")]
        span: SourceSpan,
    },
    /// A constant or fixed rule is defined a second time: only inline rules may have several definitions.
    #[error("'{name}' is defined several times")]
    #[diagnostic(code(parser::mult_rule_def), help("only rules written with ':=' may have several definitions"))]
    MultipleDefinitions {
        /// The rule.
        name: String,
        /// The further definition.
        #[label("defined again here")]
        span: SourceSpan,
    },
    /// The head of an inline rule names no column.
    #[error("the head of '{name}' is empty")]
    #[diagnostic(code(parser::empty_horn_rule_head), help("name at least one variable of the body"))]
    EmptyHead {
        /// The rule.
        name: String,
        /// The head.
        #[label("no columns")]
        span: SourceSpan,
    },
    /// A head has `_`: name the variable.
    #[error("'_' cannot stand in a head")]
    #[diagnostic(
        code(eval::unbound_symb_in_head),
        help("'_' binds nothing; name the variable in the body and the head")
    )]
    WildcardInHead {
        /// The head's argument.
        #[label("binds nothing")]
        span: SourceSpan,
    },
    /// A head's variable is not bound by the body: every disjunct must bind it.
    #[error("the variable '{name}' in the head is not bound")]
    #[diagnostic(
        code(eval::unbound_symb_in_head),
        help("bind it in the body by an application without 'not', by '=', or by 'in'; with 'or', in every branch")
    )]
    UnboundInHead {
        /// The variable.
        name: String,
        /// Where it stands in the head.
        #[label("not bound by the body")]
        span: SourceSpan,
    },
    /// An expression uses a variable that nothing binds.
    #[error("the variable '{name}' is not bound")]
    #[diagnostic(
        code(eval::unbound_variable),
        help("bind it by an application without 'not', by '=', or by 'in', in the same rule")
    )]
    UnboundVariable {
        /// The variable.
        name: String,
        /// Where it stands.
        #[label("used here")]
        span: SourceSpan,
    },
    /// A variable stands where only constants may.
    #[error("'{name}' is a variable where a constant is needed")]
    #[diagnostic(code(eval::not_constant), help("use literals, parameters and functions of them; strings need quotes"))]
    NotConstant {
        /// The variable.
        name: String,
        /// Where it stands.
        #[label("not a constant")]
        span: SourceSpan,
    },
    /// None of the arguments of a negated application is bound, or a negated unification's variable is not.
    #[error("the negation has nothing to test")]
    #[diagnostic(
        code(eval::unsafe_negation),
        help("bind at least one of its variables by an atom without 'not', or give a constant")
    )]
    UnsafeNegation {
        /// The atom.
        #[label("nothing in it is bound")]
        span: SourceSpan,
    },
    /// A call that names no function or aggregation, or has too few or too many arguments.
    #[error(transparent)]
    #[diagnostic(transparent)]
    Call(#[from] CallError),
    /// An aggregation in the head of a constant rule.
    #[error("a constant rule cannot aggregate")]
    #[diagnostic(code(parser::aggr_in_const_rule), help("aggregate in a rule with ':=' that applies this one"))]
    AggregationInConstant {
        /// The head's argument.
        #[label("aggregation")]
        span: SourceSpan,
    },
    /// The data of a constant rule is not a list of rows.
    #[error(transparent)]
    #[diagnostic(transparent)]
    ConstantData(#[from] ConstantDataError),
    /// The head of a constant rule does not fit its data.
    #[error("the head has {head} columns, the data {data}")]
    #[diagnostic(code(parser::fixed_rule_head_arity_mismatch), help("name every column, or leave the head empty"))]
    ConstantHead {
        /// Columns in the head.
        head: usize,
        /// Values a row.
        data: usize,
        /// The rule.
        #[label("head and data differ")]
        span: SourceSpan,
    },
    /// A constant rule with neither data nor head: its width is unknown.
    #[error("the constant rule has neither columns nor rows")]
    #[diagnostic(code(parser::empty_const_rule), help("name its columns in the head"))]
    EmptyConstant {
        /// The rule.
        #[label("no columns, no rows")]
        span: SourceSpan,
    },
    /// An applied rule is not defined.
    #[error("the rule '{name}' is not defined")]
    #[diagnostic(code(eval::rule_not_found))]
    RuleNotFound {
        /// The rule.
        name: String,
        /// The stored relation of this name, or a rule of a similar one.
        #[help]
        hint: String,
        /// The application.
        #[label("not defined")]
        span: SourceSpan,
    },
    /// An application has the wrong number of arguments.
    #[error("'{name}' has {}, but {found} {} given", columns(*expected), if *found == 1 { "is" } else { "are" })]
    #[diagnostic(code(eval::rule_arity_mismatch))]
    ApplicationArity {
        /// The relation.
        name: String,
        /// Its columns by name.
        #[help]
        hint: String,
        /// Its columns.
        expected: usize,
        /// The arguments.
        found: usize,
        /// The application.
        #[label("wrong number of arguments")]
        span: SourceSpan,
    },
    /// The entry is applied.
    #[error("the entry '?' cannot be applied")]
    #[diagnostic(code(eval::rule_not_found), help("give the rule another name, and let '?' apply it"))]
    EntryApplied {
        /// The application.
        #[label("applied here")]
        span: SourceSpan,
    },
    /// A stored relation does not exist, or may not be read.
    #[error(transparent)]
    #[diagnostic(transparent)]
    Relation(#[from] RelationError),
    /// A named application names a column that the relation does not have.
    #[error("'{relation}' has no column '{column}'")]
    #[diagnostic(code(eval::named_field_not_found))]
    ColumnNotFound {
        /// The relation.
        relation: String,
        /// A column of a similar name, or all of them.
        #[help]
        hint: String,
        /// The column.
        column: String,
        /// Where it stands.
        #[label("no such column")]
        span: SourceSpan,
    },
    /// A column or an option is given twice.
    #[error("the {what} '{name}' is given twice")]
    #[diagnostic(
        code(parser::given_twice),
        help("give it once; that a column has two values at a time is a condition after the atom, as in 'a == b'")
    )]
    GivenTwice {
        /// A column or an option.
        what: &'static str,
        /// Its name.
        name: String,
        /// Where it stands first.
        #[label("first here")]
        first: SourceSpan,
        /// Where it stands again.
        #[label("and again here")]
        span: SourceSpan,
    },
    /// Recursion runs through a negation or an aggregation.
    #[error("'{from}' depends on itself through {why} of '{to}'")]
    #[diagnostic(
        code(eval::unstratifiable),
        help(
            "a rule cannot need the complete result of a rule that needs it; only meet aggregations (min, max, ...) \
             that stand after all grouping columns may be recursive, and only in the rule itself"
        )
    )]
    Unstratifiable {
        /// The rule that applies.
        from: String,
        /// The rule applied.
        to: String,
        /// What makes the dependency strict.
        why: &'static str,
        /// The rule that applies.
        #[label("in this rule")]
        span: SourceSpan,
    },
    /// A negated group of a recursive rule needs a value that only the recursion gives.
    #[error("a negated group in this rule needs the rule's own result")]
    #[diagnostic(
        code(eval::unstratifiable),
        help(
            "the group has variables of its own, and uses a value that only the recursion gives: use one that another relation \
             gives, or make the group a rule over all values that may come up, and negate that"
        )
    )]
    GroupInRecursion {
        /// The rule.
        #[label("in this rule")]
        span: SourceSpan,
    },
    /// A parameter has no value.
    #[error("the parameter '${name}' has no value")]
    #[diagnostic(code(parser::param_not_found), help("pass a value for '{name}' with the script"))]
    ParameterNotFound {
        /// The parameter.
        name: String,
        /// Where it stands.
        #[label("no value given")]
        span: SourceSpan,
    },
    /// Disjunctions multiply into too many conjunctions.
    #[error("the body expands into more than {limit} conjunctions")]
    #[diagnostic(code(parser::too_many_disjuncts), help("move some of the disjunctions into rules of their own"))]
    TooManyDisjuncts {
        /// The bound.
        limit: usize,
        /// The rule.
        #[label("in this rule")]
        span: SourceSpan,
    },
    /// A body with too many atoms.
    #[error("the body has more than {limit} atoms")]
    #[diagnostic(code(parser::too_many_atoms), help("move some of the atoms into rules of their own"))]
    TooManyAtoms {
        /// The bound.
        limit: usize,
        /// The rule's head.
        #[label("in the body of this head")]
        span: SourceSpan,
    },
    /// A time-travel read of a relation that has no history.
    #[error("'{relation}' has no history to travel in")]
    #[diagnostic(code(eval::invalid_time_travel), help("the last key column must be declared ': Validity'"))]
    InvalidTimeTravel {
        /// The relation.
        relation: String,
        /// The time asked for.
        #[label("asks for a time")]
        span: SourceSpan,
    },
    /// A negated read as of a time that depends on the row.
    #[error("a read as of the time of each row cannot be negated")]
    #[diagnostic(
        code(eval::negated_as_of),
        help(
            "write it in a rule of its own, and negate that: known[k, t] := times[k, t], *r{{k @ t}}  ?[k] := times[k, t], not known[k, t]"
        )
    )]
    NegatedAsOf {
        /// The atom.
        #[label("its time has variables")]
        span: SourceSpan,
    },
    /// What stands after `@` is not a time.
    #[error("{found} is not a time to read at")]
    #[diagnostic(code(parser::bad_validity_spec), help("{help}"))]
    BadValiditySpec {
        /// The value.
        found: String,
        /// How to write a time.
        help: &'static str,
        /// The expression.
        #[label("not a time")]
        span: SourceSpan,
    },
    /// A search in an index.
    #[error(transparent)]
    #[diagnostic(transparent)]
    Search(#[from] SearchError),
    /// A fixed rule that does not exist.
    #[error("there is no fixed rule '{name}'")]
    #[diagnostic(code(parser::fixed_rule_not_found))]
    FixedRuleNotFound {
        /// A fixed rule of a similar name.
        #[help]
        hint: String,
        /// The name.
        name: String,
        /// Where it stands.
        #[label("unknown fixed rule")]
        span: SourceSpan,
    },
    /// The head of a fixed rule does not fit what the rule gives.
    #[error("the head has {head} columns, the fixed rule '{rule}' gives {gives}")]
    #[diagnostic(
        code(parser::fixed_rule_head_arity_mismatch),
        help("name every column ('_' stands for none), or leave the head empty")
    )]
    FixedHead {
        /// Columns in the head.
        head: usize,
        /// The fixed rule.
        rule: String,
        /// Columns that it gives.
        gives: usize,
        /// The head.
        #[label("does not fit the fixed rule")]
        span: SourceSpan,
    },
    /// An aggregation in the head of a fixed rule.
    #[error("a fixed rule cannot aggregate")]
    #[diagnostic(code(parser::fixed_aggr_conflict), help("aggregate in a rule with ':=' that applies this one"))]
    AggregationInFixed {
        /// The head's argument.
        #[label("aggregation")]
        span: SourceSpan,
    },
    /// An input rule of a fixed rule is not defined.
    #[error("the rule '{name}' is not defined")]
    #[diagnostic(code(algo::rule_not_found))]
    InputRuleNotFound {
        /// The stored relation of this name, or a rule of a similar one.
        #[help]
        hint: String,
        /// The rule.
        name: String,
        /// The input.
        #[label("not defined")]
        span: SourceSpan,
    },
    /// Two columns of a fixed rule's inputs have the same name.
    #[error("the inputs have two columns '{name}'")]
    #[diagnostic(
        code(parser::duplicate_bindings_for_fixed_rule),
        help("name them differently; '_' stands for columns of no interest")
    )]
    DuplicateBinding {
        /// The name.
        name: String,
        /// The second of them.
        #[label("named so a second time")]
        span: SourceSpan,
    },
    /// A fixed rule that reads files or the network, where that is forbidden.
    #[error("the fixed rule '{name}' reads files and web addresses, which this database does not allow")]
    #[diagnostic(
        code(fixed_rule::access_denied),
        help("whoever opened the database decides: read the data there, and pass it as a parameter")
    )]
    ExternalAccess {
        /// The rule.
        name: String,
        /// Where it stands.
        #[label("not allowed here")]
        span: SourceSpan,
    },
    /// The fixed rule refuses its options.
    #[error(transparent)]
    #[diagnostic(transparent)]
    FixedRule(#[from] FixedRuleError),
    /// The script was stopped while it was compiled, or what it compiles to takes more memory than it may.
    #[error(transparent)]
    #[diagnostic(transparent)]
    Stopped(#[from] Stop),
    /// A column type's length is not a number of elements.
    #[error("the length of a list type must be an integer of at least 0")]
    #[diagnostic(code(parser::bad_list_len_in_type), help("write a number, as in [Float; 3]"))]
    ListLength {
        /// The length.
        #[label("not a length")]
        span: SourceSpan,
    },
}

fn columns(count: usize) -> String {
    format!("{count} column{}", if count == 1 { "" } else { "s" })
}
