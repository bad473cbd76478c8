//! Whole scripts, statements and system operations.

use std::fmt::{self, Display, Formatter};

use super::body::Setting;
use super::{commas, separated};
use crate::parse::ast::{
    ChangedColumn, ColumnChange, Condition, Query, Script, SearchIndexKind, Statement, Symbol, SystemOp, SystemOpKind,
    TriggerEvent, TriggerSpec,
};

impl Display for Script {
    fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
        match self {
            Script::Query(query) => write!(f, "{query}"),
            Script::Imperative { statements, .. } => separated(f, "\n", statements),
            Script::System(op) => write!(f, "{op}"),
        }
    }
}

impl Display for Statement {
    fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
        match self {
            Statement::Query { query, store_as } => write!(f, "{}{}", Block(query), StoreAs(store_as)),
            Statement::System { op, store_as } => write!(f, "{{ {op} }}{}", StoreAs(store_as)),
            Statement::If { condition, negated, then, otherwise, .. } => {
                write!(f, "%if{} {condition} %then\n{}", if *negated { "_not" } else { "" }, Statements(then))?;
                if !otherwise.is_empty() {
                    write!(f, "%else\n{}", Statements(otherwise))?;
                }
                f.write_str("%end")
            }
            Statement::Loop { label, body, .. } => {
                if let Some(label) = label {
                    write!(f, "%mark {label} ")?;
                }
                write!(f, "%loop\n{}%end", Statements(body))
            }
            Statement::Break(label, _) => write!(f, "%break{}", Optional(label)),
            Statement::Continue(label, _) => write!(f, "%continue{}", Optional(label)),
            Statement::Return(values, _) => {
                f.write_str(if values.is_empty() { "%return" } else { "%return " })?;
                commas(f, values)
            }
            Statement::Debug(name) => write!(f, "%debug {name}"),
            Statement::IgnoreError(query) => write!(f, "%ignore_error {}", Block(query)),
            Statement::Swap(left, right) => write!(f, "%swap {left} {right}"),
        }
    }
}

impl Display for Condition {
    fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
        match self {
            Condition::Relation(name) => write!(f, "{name}"),
            Condition::Query { query, store_as } => write!(f, "{}{}", Block(query), StoreAs(store_as)),
        }
    }
}

/// A query in braces.
struct Block<'q>(&'q Query);

impl Display for Block<'_> {
    fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
        write!(f, "{{ {} }}", self.0)
    }
}

/// A statement a line.
struct Statements<'s>(&'s [Statement]);

impl Display for Statements<'_> {
    fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
        self.0.iter().try_for_each(|statement| writeln!(f, "{statement}"))
    }
}

/// ` as _name`, or nothing.
struct StoreAs<'s>(&'s Option<Symbol>);

impl Display for StoreAs<'_> {
    fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
        self.0.as_ref().map_or(Ok(()), |name| write!(f, " as {name}"))
    }
}

/// A name after a blank, or nothing.
struct Optional<'s>(&'s Option<Symbol>);

impl Display for Optional<'_> {
    fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
        self.0.as_ref().map_or(Ok(()), |name| write!(f, " {name}"))
    }
}

impl Display for SystemOp {
    fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
        write!(f, "{}", self.kind)
    }
}

impl Display for SystemOpKind {
    fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
        match self {
            SystemOpKind::Relations => f.write_str("::relations"),
            SystemOpKind::Running => f.write_str("::running"),
            SystemOpKind::Replica => f.write_str("::replica"),
            SystemOpKind::Compact => f.write_str("::compact"),
            SystemOpKind::FixedRules => f.write_str("::fixed_rules"),
            SystemOpKind::Columns(name) => write!(f, "::columns {name}"),
            SystemOpKind::ChangeColumns { relation, change } => write!(f, "::columns {relation} {change}"),
            SystemOpKind::Indices(name) => write!(f, "::indices {name}"),
            SystemOpKind::ShowTriggers(name) => write!(f, "::show_triggers {name}"),
            SystemOpKind::Describe(name, None) => write!(f, "::describe {name}"),
            SystemOpKind::Describe(name, Some(text)) => write!(f, "::describe {name} {text}"),
            SystemOpKind::Remove(names) => {
                f.write_str("::remove ")?;
                commas(f, names)
            }
            SystemOpKind::Rename(pairs) => {
                f.write_str("::rename ")?;
                commas(f, pairs.iter().map(|(old, new)| format!("{old} -> {new}")))
            }
            SystemOpKind::CreateIndex { relation, index, columns } => {
                write!(f, "::index create {relation}:{index} {{")?;
                commas(f, columns)?;
                f.write_str("}")
            }
            SystemOpKind::CreateSearchIndex { kind, relation, index, options } => {
                write!(f, "::{kind} create {relation}:{index} {{")?;
                commas(f, options.iter().map(Setting))?;
                f.write_str("}")
            }
            SystemOpKind::Reindex { relation, index } => write!(f, "::reindex {relation}:{index}"),
            SystemOpKind::DropIndex { relation, index } => write!(f, "::index drop {relation}:{index}"),
            SystemOpKind::SetTriggers(name, triggers) => {
                write!(f, "::set_triggers {name}")?;
                triggers.iter().try_for_each(|trigger| write!(f, " {trigger}"))
            }
            SystemOpKind::AccessLevel(level, names) => {
                write!(f, "::access_level {level} ")?;
                commas(f, names)
            }
            SystemOpKind::Kill(id) => write!(f, "::kill {id}"),
            SystemOpKind::Explain { query, analyze } => {
                write!(f, "::explain {}{}", if *analyze { "analyze " } else { "" }, Block(query))
            }
        }
    }
}

impl Display for ColumnChange {
    fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
        match self {
            ColumnChange::Add(columns) => braced(f, "add", columns),
            ColumnChange::Retype(columns) => braced(f, "retype", columns),
            ColumnChange::Key(columns) => braced(f, "key", columns),
            ColumnChange::Drop(columns) => {
                f.write_str("drop ")?;
                commas(f, columns)
            }
            ColumnChange::Rename(pairs) => {
                f.write_str("rename ")?;
                commas(f, pairs.iter().map(|(old, new)| format!("{old} -> {new}")))
            }
        }
    }
}

fn braced<T: Display>(f: &mut Formatter<'_>, word: &str, columns: &[T]) -> fmt::Result {
    write!(f, "{word} {{")?;
    commas(f, columns)?;
    f.write_str("}")
}

impl Display for ChangedColumn {
    fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
        write!(f, "{}", self.name)?;
        self.column_type.as_ref().map_or(Ok(()), |column_type| write!(f, ": {column_type}"))?;
        self.default.as_ref().map_or(Ok(()), |default| write!(f, " default {default}"))?;
        self.value.as_ref().map_or(Ok(()), |value| write!(f, " = {value}"))
    }
}

impl Display for SearchIndexKind {
    fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            SearchIndexKind::Hnsw => "hnsw",
            SearchIndexKind::Fts => "fts",
            SearchIndexKind::Lsh => "lsh",
        })
    }
}

impl Display for TriggerSpec {
    /// With the text of the query as it was written.
    fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
        write!(f, "on {} {{{}}}", self.event, self.source)
    }
}

impl Display for TriggerEvent {
    fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            TriggerEvent::Put => "put",
            TriggerEvent::Rm => "rm",
            TriggerEvent::Replace => "replace",
        })
    }
}
