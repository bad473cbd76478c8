//! What could stand at a place, in the user's words.
//!
//! The rules `[comma, rbracket, op_add, op_sub]` are "`,`, `]` or an operator".

use super::grammar::Rule;

/// What could stand there, each thing once, the end of the script last.
pub(super) fn expected(rules: &[Rule]) -> Vec<&'static str> {
    if rules == [Rule::integer] {
        return vec!["an integer"];
    }
    let mut names: Vec<&str> = vec![];
    for name in rules.iter().map(|rule| name_of(*rule)) {
        if !name.is_empty() && !names.contains(&name) {
            names.push(name);
        }
    }
    if names.contains(&"an atom") {
        names.retain(|name| !matches!(*name, "an expression" | "a rule" | "a stored relation"));
    }
    names.sort_by_key(|name| *name == END);
    names
}

/// `a, b or c`
pub(super) fn listed(names: &[&str]) -> String {
    match names {
        [] => String::new(),
        [only] => only.to_string(),
        [first @ .., last] => format!("{} or {last}", first.join(", ")),
    }
}

const END: &str = "the end of the script";

/// A rule of the grammar in the user's words; empty for rules that are parts of what has a name.
pub(super) fn name_of(rule: Rule) -> &'static str {
    use Rule::*;
    match rule {
        EOI => END,
        comma => "`,`",
        semicolon => "`;`",
        rbracket => "`]`",
        rparen => "`)`",
        rbrace => "`}`",
        bar => "`|`",
        ident => "a name",
        column_name | spec_name => "a column",
        column_spec | column_list => "a column",
        binding_name => "a variable",
        rule_name | rule_apply | fixed_rule_input => "a rule",
        head_name | head | rule_definition => "a rule",
        relation_name | stored_name | target_name => "the name of a relation",
        index_path => "an index (`relation:index`)",
        ephemeral => "an ephemeral relation (`_name`)",
        op_get | op_concat | op_or | op_and | op_eq | op_neq | op_ge | op_le | op_gt | op_lt | op_add | op_sub
        | op_mul | op_div | op_mod | op_pow | op_coalesce => "an operator",
        expr | grouped | constant | parameter | variable | function_name | call | list | object | float | integer
        | double_string | single_string | raw_string | op_minus | op_negate => "an expression",
        pair => "a `key: value` pair",
        body | filter | group | unify | unify_each | kw_not | stored_apply | search_apply => "an atom",
        positional_args | positional_bindings | named_args | named_bindings => "`[` or `{`",
        named_arg | named_binding | search_bindings => "a column",
        validity => "`@`",
        search_parameters | setting | within | kw_within => "a `name: value` pair",
        kw_or => "`or`",
        kw_and => "`and`",
        kw_in => "`in`",
        inline_body | kw_inline => "`:=`",
        constant_body | kw_constant => "`<-`",
        fixed_body | kw_fixed => "`<~`",
        fixed_call => "a fixed rule",
        fixed_stored_input => "a stored relation",
        aggregation => "an aggregation",
        query => "a rule or an option",
        limit
        | offset
        | order
        | timeout
        | sleep
        | assertion
        | returning
        | disable_magic_rewrite
        | disable_join_reorder
        | mutation
        | mutation_op
        | kw_limit
        | kw_offset
        | kw_order
        | kw_timeout
        | kw_sleep
        | kw_assert
        | kw_disable_magic_rewrite
        | kw_disable_join_reorder => "an option",
        order_key | output_column | ascending | descending => "an output column",
        assertion_kind => "`none` or `some`",
        column_specs => "`{`",
        kw_values => "`=>`",
        column_default | kw_default => "`default`",
        column_binding => "`=`",
        column_type | type_list | type_tuple | type_vector | type_name => "a column type",
        nullable => "`?`",
        sys_relations
        | sys_running
        | sys_compact
        | sys_fixed_rules
        | sys_replica
        | sys_columns
        | sys_indices
        | sys_describe
        | sys_remove
        | sys_rename
        | sys_create_index
        | sys_create_search_index
        | sys_drop_index
        | sys_reindex
        | sys_set_triggers
        | sys_show_triggers
        | sys_access_level
        | sys_kill
        | sys_explain
        | kw_columns
        | kw_indices
        | kw_describe
        | kw_remove
        | kw_rename
        | kw_index
        | kw_reindex
        | search_index_kind
        | kw_set_triggers
        | kw_show_triggers
        | kw_access_level
        | kw_kill
        | kw_explain => "a system operation",
        add_columns | kw_add => "`add`",
        retype_columns | kw_retype => "`retype`",
        rename_columns | kw_rename_columns => "`rename`",
        set_key | kw_key => "`key`",
        changed_column => "a column",
        column_value => "`=`",
        if_absent | kw_if_absent => "`if absent`",
        renaming | column_renaming => "`old -> new`",
        kw_arrow => "`->`",
        kw_create => "`create`",
        drop_columns | kw_drop => "`drop`",
        kw_on | trigger => "`on`",
        trigger_event => "`put`, `rm` or `replace`",
        access_level => "`normal`, `protected`, `read_only` or `hidden`",
        analyze => "`analyze`",
        block | query_statement => "a `{` block `}`",
        statements
        | system_statement
        | if_statement
        | loop_statement
        | break_statement
        | continue_statement
        | return_statement
        | debug_statement
        | ignore_error_statement
        | swap_statement
        | kw_if
        | kw_if_not
        | kw_break
        | kw_continue
        | kw_return
        | kw_debug
        | kw_ignore_error
        | kw_swap => "a statement",
        store_as | kw_as => "`as`",
        kw_then => "`%then`",
        kw_else => "`%else`",
        kw_end => "`%end`",
        kw_mark => "`%mark`",
        kw_loop => "`%loop`",
        _ => "",
    }
}
