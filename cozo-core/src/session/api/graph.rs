//! A stored relation as a graph for the algorithms of other crates. [`StoredGraph`] has the traits of petgraph.

use super::db::DbInstance;
use crate::clock::now_micros;
use crate::diag::SourceSpan;
use crate::exec::Stored;
use crate::fixed_rule::Poison;
use crate::fixed_rule::graph::{StoredGraph, Weights};
use crate::fixed_rule::input::{Input, InputSource};
use crate::session::running::Running;
use crate::session::script::DEFAULT_TIMEOUT_SECONDS;
use crate::session::transfer::find_stored;
use crate::txn::Transaction;

impl DbInstance {
    /// The graph of a relation as it is now: edges lead from the values of its first column to those of its second. Each edge has
    /// the weight 1, whatever the other columns are. Needs the feature `petgraph`.
    ///
    /// All rows count, as for `*relation[]` in a script: those that a history has retracted, too.
    ///
    /// Fails if there is no such relation, if it has fewer than two columns, and if the graph does not fit into the memory of a query.
    /// An index `i` of a relation has the name `relation:i`.
    pub fn graph(&self, relation: &str) -> miette::Result<StoredGraph> {
        self.stored_graph(relation, None)
    }

    /// [`DbInstance::graph`] with the third column of the relation as the weights of edges. Without a third column each is 1.
    ///
    /// Fails as well if a weight is not a finite number.
    pub fn weighted_graph(&self, relation: &str) -> miette::Result<StoredGraph> {
        self.stored_graph(relation, Some(Weights::Finite))
    }

    /// It is on the list of running scripts, so that `::kill` and a closing database stop it.
    fn stored_graph(&self, relation: &str, weights: Option<Weights>) -> miette::Result<StoredGraph> {
        let core = self.core()?;
        let entry = Running::enter(self.running(), None, now_micros());
        let budget = core.budget(entry.interrupt(), DEFAULT_TIMEOUT_SECONDS);
        let mut txn = Transaction::begin(&core.pipeline, false);
        let schema = find_stored(&txn, relation, "read")?;
        let view = txn.view(&[schema.id])?;
        let rows = InputSource::Stored(Box::new(Stored::whole(view.of(schema.id), schema.id)));
        let input = Input::new(rows, schema.arity(), &[], SourceSpan::default()).keeping(Some(&core.graphs));
        let edges = input.edges(weights, &Poison::of(&budget));
        core.graphs.keep_within_budget();
        Ok(StoredGraph::new(edges?)?)
    }
}
