//! How much a transaction has written, for people.

/// How many rows the operations of a script have written to stored relations. Writes of triggers and of imports, and those to
/// ephemeral relations, do not count.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub struct Written {
    /// Relations made by `:create` and `:replace`.
    pub created: usize,
    /// Rows given to `:put`, `:create` and `:replace`.
    pub put: usize,
    /// Rows added by `:insert`.
    pub inserted: usize,
    /// Rows changed by `:update`.
    pub updated: usize,
    /// Rows removed by `:delete`, or by a `:rm` that had to read them.
    pub removed: usize,
    /// Rows given to a `:rm` that did not look whether they were there.
    pub perhaps_removed: usize,
}
