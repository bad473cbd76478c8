//! The registry of fixed rules: those of the language, and those that the host adds to a database.

use std::collections::BTreeMap;
use std::fmt::{self, Debug, Formatter};
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

use arc_swap::{ArcSwap, Guard};

use super::api::{BuiltInForHost, run_custom};
use super::{BuiltInRule, Call, FixedRule, FixedRuleError, OptionMap, Options, Output, algos, utilities};
use crate::diag::SourceSpan;
use crate::parse::ast::Symbol;
use crate::sync::Mutex;
use crate::value::Batch;

/// The fixed rules of the language, by name.
pub static FIXED_RULES: &[&BuiltInRule] = &[
    &algos::BETWEENNESS_CENTRALITY,
    &algos::BIPARTITE_MATCHING,
    &algos::BREADTH_FIRST_SEARCH,
    &algos::CDLP,
    &algos::CLOSENESS_CENTRALITY,
    &algos::CLUSTERING_COEFFICIENTS,
    &algos::COMMUNITY_DETECTION_LOUVAIN,
    &algos::CONNECTED_COMPONENTS,
    &utilities::CONSTANT,
    &utilities::CSV_READER,
    &algos::CYCLES,
    &algos::DEGREE_CENTRALITY,
    &algos::DEPTH_FIRST_SEARCH,
    &algos::EIGENVECTOR_CENTRALITY,
    &utilities::INTERVALS,
    &utilities::JSON_READER,
    &algos::K_CORE,
    &algos::K_SHORTEST_PATH_YEN,
    &algos::LCC,
    &algos::LABEL_PROPAGATION,
    &algos::LEIDEN,
    &algos::MAX_FLOW,
    &utilities::MAXIMAL_MARGINAL_RELEVANCE,
    &algos::MIN_CUT,
    &algos::MINIMUM_SPANNING_FOREST_KRUSKAL,
    &algos::MINIMUM_SPANNING_TREE_PRIM,
    &algos::NODE_SIMILARITY,
    &algos::PAGE_RANK,
    &algos::PERSONALIZED_PAGE_RANK,
    &algos::RANDOM_WALK,
    &utilities::READ_CSV,
    &utilities::READ_JSON_LINES,
    &utilities::READ_PARQUET,
    &utilities::RECIPROCAL_RANK_FUSION,
    &utilities::REORDER_SORT,
    &algos::SSSP,
    &algos::SHORTEST_PATH_A_STAR,
    &algos::SHORTEST_PATH_BFS,
    &algos::SHORTEST_PATH_DIJKSTRA,
    &algos::STRONGLY_CONNECTED_COMPONENTS,
    &algos::TOP_SORT,
    &utilities::WINDOW,
];

/// A reference to a rule.
#[derive(Clone)]
pub enum Rule {
    /// A rule of the language.
    BuiltIn(&'static BuiltInRule),
    /// A rule of the host.
    Custom(Arc<Box<dyn FixedRule>>),
}

impl Rule {
    /// Lets the rule check and complete its options.
    pub fn init_options(
        &self,
        options: &mut OptionMap,
        head: &[Symbol],
        span: SourceSpan,
    ) -> Result<(), FixedRuleError> {
        match self {
            Rule::BuiltIn(rule) => {
                rule.note_head(options, head, span);
                Ok(())
            }
            Rule::Custom(rule) => Ok(rule.init_options(options, span)?),
        }
    }

    /// The number of columns of its result. `head` has the variables that are given to them, `named` is the number of named columns
    /// of the first input.
    pub fn arity(&self, options: Options<'_>, head: &[Symbol], named: usize) -> Result<usize, FixedRuleError> {
        match self {
            Rule::BuiltIn(rule) => rule.arity(options, named),
            Rule::Custom(rule) => Ok(rule.arity(options.given, head, options.span)?),
        }
    }

    /// Whether the number of columns may depend on the values of options.
    pub fn arity_depends_on_options(&self) -> bool {
        match self {
            Rule::BuiltIn(rule) => !matches!(rule.output, Output::Columns(_)),
            Rule::Custom(_) => true,
        }
    }

    /// Whether it reads files or the network.
    pub fn needs_external_access(&self) -> bool {
        matches!(self, Rule::BuiltIn(rule) if rule.external_access)
    }

    /// Runs the rule. `arity` is the result of [`Rule::arity`].
    pub fn apply(&self, call: &Call<'_>, arity: usize) -> Result<Batch, FixedRuleError> {
        match self {
            Rule::BuiltIn(rule) => rule.apply(call),
            Rule::Custom(rule) => run_custom(&***rule, call, arity),
        }
    }
}

impl Debug for Rule {
    fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
        match self {
            Rule::BuiltIn(rule) => f.write_str(rule.name),
            Rule::Custom(_) => f.write_str("a rule of the host"),
        }
    }
}

/// A rule of the language by name or alias.
fn built_in(name: &str) -> Option<&'static BuiltInRule> {
    FIXED_RULES.iter().copied().find(|rule| rule.name == name || rule.aliases.contains(&name))
}

/// The names of the rules of the language, including aliases.
fn built_in_names() -> impl Iterator<Item = (&'static str, &'static BuiltInRule)> {
    FIXED_RULES
        .iter()
        .flat_map(|rule| std::iter::once(rule.name).chain(rule.aliases.iter().copied()).map(move |name| (name, *rule)))
}

/// The rules that the scripts of a database may use, at one moment.
#[derive(Clone)]
pub struct RuleSet {
    custom: BTreeMap<String, Arc<Box<dyn FixedRule>>>,
    /// Whether rules may read files and the network.
    pub external_access: bool,
    /// Grows with every change.
    pub version: u64,
}

/// The rules of the language.
impl Default for RuleSet {
    fn default() -> Self {
        RuleSet { custom: BTreeMap::new(), external_access: true, version: 0 }
    }
}

impl RuleSet {
    /// A rule by name.
    pub fn find(&self, name: &str) -> Option<Rule> {
        built_in(name).map(Rule::BuiltIn).or_else(|| self.custom.get(name).cloned().map(Rule::Custom))
    }

    /// The names of all rules, in order.
    pub fn names(&self) -> Vec<&str> {
        let mut names: Vec<&str> =
            built_in_names().map(|(name, _)| name).chain(self.custom.keys().map(String::as_str)).collect();
        names.sort_unstable();
        names
    }

    /// All rules, in the form for the host.
    pub fn for_host(&self) -> BTreeMap<String, Arc<Box<dyn FixedRule>>> {
        let boxed = |rule| -> Arc<Box<dyn FixedRule>> { Arc::new(Box::new(BuiltInForHost(rule))) };
        let built_in = built_in_names().map(|(name, rule)| (name.to_string(), boxed(rule)));
        built_in.chain(self.custom.clone()).collect()
    }
}

/// The present rules of a database.
#[derive(Default)]
pub struct FixedRules {
    current: ArcSwap<RuleSet>,
    /// The version of the current set, readable without loading the set.
    version: AtomicU64,
    /// Held during a change.
    changing: Mutex<()>,
}

/// A change of the rules that is refused.
#[derive(Debug, Clone, thiserror::Error, miette::Diagnostic)]
pub enum RegisterError {
    /// The name is taken: unregister the other rule first, or choose another name.
    #[error("a fixed rule '{0}' is already registered")]
    #[diagnostic(code(fixed_rule::already_registered), help("choose another name, or unregister that rule first"))]
    Taken(String),
    /// A rule of the language cannot be removed.
    #[error("the fixed rule '{0}' is built in: it cannot be unregistered")]
    #[diagnostic(code(fixed_rule::built_in), help("only rules that were registered can be unregistered"))]
    BuiltIn(String),
}

impl FixedRules {
    /// The rules at this moment.
    pub fn current(&self) -> Guard<Arc<RuleSet>> {
        self.current.load()
    }

    /// The version of the rules at this moment.
    #[inline]
    pub fn version(&self) -> u64 {
        self.version.load(Ordering::Acquire)
    }

    /// Adds a rule of the host.
    pub fn register(&self, name: String, rule: Box<dyn FixedRule>) -> Result<(), RegisterError> {
        self.change(|set| {
            if set.custom.contains_key(&name) || is_reserved(&name) {
                return Err(RegisterError::Taken(name));
            }
            set.custom.insert(name, Arc::new(rule));
            Ok(())
        })
    }

    /// Removes a rule of the host. Returns whether there was one with this name.
    pub fn unregister(&self, name: &str) -> Result<bool, RegisterError> {
        if is_reserved(name) {
            return Err(RegisterError::BuiltIn(name.to_string()));
        }
        self.change(|set| Ok(set.custom.remove(name).is_some()))
    }

    /// Allows or forbids rules that read files or the network.
    pub fn set_external_access(&self, allowed: bool) {
        let set = |set: &mut RuleSet| -> Result<(), RegisterError> {
            set.external_access = allowed;
            Ok(())
        };
        self.change(set).expect("this change cannot be refused");
    }

    fn change<T>(&self, change: impl FnOnce(&mut RuleSet) -> Result<T, RegisterError>) -> Result<T, RegisterError> {
        let changing = self.changing.lock();
        let mut set = RuleSet::clone(&self.current.load());
        let outcome = change(&mut set)?;
        set.version += 1;
        let version = set.version;
        let before = self.current.swap(Arc::new(set));
        self.version.store(version, Ordering::Release);
        // Dropping the set before may drop a rule of the host, whose code may do anything. So the lock is released first.
        drop(changing);
        drop(before);
        Ok(outcome)
    }
}

fn is_reserved(name: &str) -> bool {
    built_in(name).is_some()
}
