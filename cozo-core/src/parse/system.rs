//! System operations.
//!
//! `::rename a -> b` becomes `SystemOpKind::Rename` with one pair.

use super::ast::{
    ChangedColumn, ColumnChange, SearchIndexKind, Symbol, SystemOp, SystemOpKind, TriggerEvent, TriggerSpec,
};
use super::builder::Builder;
use super::error::ParseError;
use super::formula::index_path;
use super::grammar::{Node, Rule, next_part, parts, span_of, symbol};

impl Builder<'_> {
    /// One system operation.
    pub fn system_op(&self, node: Node<'_>) -> Result<SystemOp, ParseError> {
        let span = span_of(&node);
        let rule = node.as_rule();
        let mut inner = parts(node);
        let kind = match rule {
            Rule::sys_relations => SystemOpKind::Relations,
            Rule::sys_running => SystemOpKind::Running,
            Rule::sys_compact => SystemOpKind::Compact,
            Rule::sys_fixed_rules => SystemOpKind::FixedRules,
            Rule::sys_replica => SystemOpKind::Replica,
            Rule::sys_columns => {
                let relation = symbol(&next_part(&mut inner));
                match inner.next() {
                    None => SystemOpKind::Columns(relation),
                    Some(change) => SystemOpKind::ChangeColumns { relation, change: self.column_change(change)? },
                }
            }
            Rule::sys_indices => SystemOpKind::Indices(symbol(&next_part(&mut inner))),
            Rule::sys_show_triggers => SystemOpKind::ShowTriggers(symbol(&next_part(&mut inner))),
            Rule::sys_describe => {
                let relation = symbol(&next_part(&mut inner));
                SystemOpKind::Describe(relation, inner.next().map(|text| self.expr(text)).transpose()?)
            }
            Rule::sys_remove => SystemOpKind::Remove(inner.map(|name| symbol(&name)).collect()),
            Rule::sys_rename => SystemOpKind::Rename(inner.map(renaming).collect()),
            Rule::sys_create_index => create_index(inner),
            Rule::sys_create_search_index => self.create_search_index(inner)?,
            Rule::sys_drop_index => drop_index(inner),
            Rule::sys_reindex => reindex(inner),
            Rule::sys_set_triggers => {
                let relation = symbol(&next_part(&mut inner));
                SystemOpKind::SetTriggers(relation, inner.map(|it| self.trigger(it)).collect::<Result<_, _>>()?)
            }
            Rule::sys_access_level => {
                let level = symbol(&next_part(&mut inner));
                SystemOpKind::AccessLevel(level, inner.map(|name| symbol(&name)).collect())
            }
            Rule::sys_kill => SystemOpKind::Kill(self.expr(next_part(&mut inner))?),
            Rule::sys_explain => self.explain(inner)?,
            rule => unreachable!("{rule:?} is no system operation"),
        };
        Ok(SystemOp { kind, span })
    }

    fn create_search_index<'i>(&self, mut inner: impl Iterator<Item = Node<'i>>) -> Result<SystemOpKind, ParseError> {
        let kind = match next_part(&mut inner).as_str() {
            "::hnsw" => SearchIndexKind::Hnsw,
            "::fts" => SearchIndexKind::Fts,
            _ => SearchIndexKind::Lsh,
        };
        let (relation, index) = index_path(&next_part(&mut inner));
        Ok(SystemOpKind::CreateSearchIndex { kind, relation, index, options: self.settings(inner)? })
    }

    fn column_change(&self, node: Node<'_>) -> Result<ColumnChange, ParseError> {
        let rule = node.as_rule();
        let inner = parts(node);
        Ok(match rule {
            Rule::add_columns => ColumnChange::Add(self.changed_columns(inner)?),
            Rule::retype_columns => ColumnChange::Retype(self.changed_columns(inner)?),
            Rule::drop_columns => ColumnChange::Drop(inner.map(|name| symbol(&name)).collect()),
            Rule::rename_columns => ColumnChange::Rename(inner.map(renaming).collect()),
            _ => ColumnChange::Key(inner.map(|name| symbol(&name)).collect()),
        })
    }

    fn changed_columns<'i>(&self, nodes: impl Iterator<Item = Node<'i>>) -> Result<Vec<ChangedColumn>, ParseError> {
        let column = |node: Node<'i>| {
            let mut inner = parts(node);
            let name = symbol(&next_part(&mut inner));
            let mut column = ChangedColumn { name, column_type: None, default: None, value: None };
            for part in inner {
                match part.as_rule() {
                    Rule::column_type => column.column_type = Some(self.column_type(part)?),
                    Rule::column_default => column.default = Some(self.expr(next_part(&mut parts(part)))?),
                    _ => column.value = Some(self.expr(next_part(&mut parts(part)))?),
                }
            }
            Ok(column)
        };
        nodes.map(column).collect()
    }

    fn trigger(&self, node: Node<'_>) -> Result<TriggerSpec, ParseError> {
        let mut inner = parts(node);
        let event = match next_part(&mut inner).as_str() {
            "put" => TriggerEvent::Put,
            "rm" => TriggerEvent::Rm,
            _ => TriggerEvent::Replace,
        };
        let block = next_part(&mut inner);
        let braces = span_of(&block);
        let source = &self.source[braces.0 + 1..braces.0 + braces.1 - 1];
        Ok(TriggerSpec { event, source: source.trim_start().to_string(), query: self.block(block)? })
    }

    fn explain<'i>(&self, mut inner: impl Iterator<Item = Node<'i>>) -> Result<SystemOpKind, ParseError> {
        let first = next_part(&mut inner);
        let analyze = first.as_rule() == Rule::analyze;
        let block = if analyze { next_part(&mut inner) } else { first };
        Ok(SystemOpKind::Explain { query: self.block(block)?, analyze })
    }
}

fn renaming(node: Node<'_>) -> (Symbol, Symbol) {
    let mut inner = parts(node);
    (symbol(&next_part(&mut inner)), symbol(&next_part(&mut inner)))
}

fn create_index<'i>(mut inner: impl Iterator<Item = Node<'i>>) -> SystemOpKind {
    let (relation, index) = index_path(&next_part(&mut inner));
    SystemOpKind::CreateIndex { relation, index, columns: inner.map(|column| symbol(&column)).collect() }
}

/// The kind before the path does not matter.
fn drop_index<'i>(inner: impl Iterator<Item = Node<'i>>) -> SystemOpKind {
    let (relation, index) = index_path(&inner.last().expect("the grammar demands a path"));
    SystemOpKind::DropIndex { relation, index }
}

fn reindex<'i>(mut inner: impl Iterator<Item = Node<'i>>) -> SystemOpKind {
    let (relation, index) = index_path(&next_part(&mut inner));
    SystemOpKind::Reindex { relation, index }
}
