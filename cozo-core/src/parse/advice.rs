//! What to write where the grammar could not go on: a line of help for each construct.
//!
//! For `::access_level r` it is the form of that operation. [`super::hint`] asks here when no common mistake explains an
//! error better.

use super::grammar::Rule::{self, *};

/// What to write at a place where one of the rules could stand, after the text before it.
pub(super) fn advice(before: &str, rules: &[Rule]) -> &'static str {
    if before.trim_end().ends_with("<~") {
        return FIXED_CALL;
    }
    let entry = ADVICE.iter().find(|(expected, _)| rules.iter().any(|rule| expected.contains(rule)));
    entry.map_or(ANY_SCRIPT, |(_, text)| text)
}

const FIXED_CALL: &str = "call a fixed rule with parentheses: `?[node, rank] <~ PageRank(*edge[])`";

const ANY_SCRIPT: &str = "begin with a rule, whose head has brackets: `?[x] := *r[x]`; an option: `:create r {x}`; or a \
                          system operation: `::relations`";

/// Help by what is expected. The first entry with an expected rule counts, so what stands in few places comes before
/// what stands in many.
const ADVICE: &[(&[Rule], &str)] = &[
    (
        &[column_type, type_list, type_tuple, type_vector, type_name],
        "write a type: Any, Bool, Bytes, Float, Int, Json, String, Uuid, Validity, `[T]`, `[T; 3]`, `(T, U)` or \
         `<F32; 3>`, with `?` behind it if null is allowed",
    ),
    (
        &[column_default, kw_default, column_binding, nullable],
        "divide columns by `,`, keys from values by one `=>`; a column may have a type, a default and the output column \
         that fills it: `{k: Int, t = max(x) => v: Float default 0.0}`",
    ),
    (
        &[column_specs, kw_values, column_list, column_spec],
        "list the columns in braces, the keys before `=>`: `:create r {key: Int => value: String}`",
    ),
    (&[access_level], "write the level, then the relations: `::access_level read_only r, s`"),
    (&[renaming, kw_arrow], "write the old name, `->` and the new one: `::rename old -> new`"),
    (
        &[trigger, trigger_event, kw_on],
        "write an event and a query in braces for each trigger: `::set_triggers r on put { ... } on rm { ... }`",
    ),
    (&[kw_create, kw_drop], "write `create` or `drop`, and the index as `relation:index`"),
    (&[analyze], "put the query in braces: `::explain { ?[x] := *r[x] }`"),
    (&[assertion_kind], "write `:assert none` if there must be no rows, `:assert some` if there must be one"),
    (
        &[order_key, output_column, ascending, descending],
        "name columns as the head of `?` spells them, `-` before those that descend: `:order city, -count(x)`",
    ),
    (
        &[search_bindings, bar, search_parameters],
        "divide the columns from the parameters of the search by `|`: `~r:index{ k | query: q, k: 3 }`",
    ),
    (
        &[positional_args, named_args, positional_bindings, named_bindings],
        "apply a stored relation by position, `*r[a, b]`, or by column, `*r{column: a}`",
    ),
    (
        &[fixed_stored_input, fixed_rule_input],
        "give a fixed rule relations, as `*r[]` or `rule[]`, and options, as `name: value`: `BFS(*e[], s[], limit: 5)`",
    ),
    (&[fixed_call], FIXED_CALL),
    (&[setting, search_index_kind], "write settings as `name: value`, divided by `,`"),
    (&[query, rule_definition], ANY_SCRIPT),
    (&[pair], "write pairs as `key: value`, divided by `,`"),
    (
        &[validity, named_arg, named_binding, column_name],
        "name columns, divided by `,`; in an application each may have `:` and what it must equal, and `@` with a time \
         comes last: `*r{a, b: x @ 'NOW'}`",
    ),
    (&[index_path], "name the index with its relation: `relation:index`"),
    (&[ephemeral, store_as], "name an ephemeral relation; its name begins with `_`: `{ ... } as _kept`"),
    (
        &[relation_name, stored_name, target_name],
        "write the name of a stored relation: letters, digits and `_`, without `*` or quotes",
    ),
    (
        &[
            statements,
            query_statement,
            system_statement,
            if_statement,
            loop_statement,
            break_statement,
            continue_statement,
            return_statement,
            debug_statement,
            ignore_error_statement,
            swap_statement,
            block,
            kw_as,
            kw_if,
            kw_if_not,
            kw_then,
            kw_else,
            kw_end,
            kw_mark,
            kw_loop,
            kw_break,
            kw_continue,
            kw_return,
            kw_debug,
            kw_ignore_error,
            kw_swap,
        ],
        "write statements, at least one in each branch: queries and system operations in braces, `%if { ... } %then ... \
         %else ... %end`, `%loop ... %end`",
    ),
    (
        &[inline_body, constant_body, fixed_body, kw_inline, kw_constant, kw_fixed],
        "write `:=` and a body, `<-` and a list of rows, or `<~` and a fixed rule after the head",
    ),
    (
        &[binding_name, aggregation],
        "write variables, or aggregations of them, divided by `,`: `?[x, count(y)]`; what is computed gets a name in the \
         body, as in `z = x + 1`",
    ),
    (
        &[body, group, unify, unify_each, stored_apply, search_apply, rule_apply, rule_name, kw_not, kw_in, filter],
        "write an atom: `rule[x]`, `*relation{column: x}`, `x = expression`, `x in list` or a condition, perhaps with \
         `not` before it",
    ),
    (
        &[EOI, semicolon, head_name, head],
        "what stands before is complete: join more to it by an operator or, in a body, by `,` and an atom; a rule begins \
         with `name[...]`, an option with `:`, and a system operation stands alone",
    ),
    (
        &[
            op_get,
            op_concat,
            op_or,
            op_and,
            op_eq,
            op_neq,
            op_ge,
            op_le,
            op_gt,
            op_lt,
            op_add,
            op_sub,
            op_mul,
            op_div,
            op_mod,
            op_pow,
            op_coalesce,
            kw_or,
            kw_and,
        ],
        "put an operator between two values, `:` behind a key, `,` between items, and close the bracket after the last",
    ),
    (
        &[
            expr,
            grouped,
            constant,
            parameter,
            variable,
            function_name,
            call,
            list,
            object,
            float,
            integer,
            double_string,
            single_string,
            raw_string,
            op_minus,
            op_negate,
        ],
        "write a value: a literal, a variable, a parameter `$name`, a call `f(x)`, or `(...)` around an expression",
    ),
    (
        &[comma, rbracket, rparen, rbrace],
        "divide names by `,` and close the bracket after the last; what is computed gets a name in the body, as in `z = x \
         + 1`",
    ),
    (&[ident], "write a name: a letter, then letters, digits and `_`"),
    (
        &[
            limit,
            offset,
            order,
            timeout,
            sleep,
            assertion,
            returning,
            disable_magic_rewrite,
            disable_join_reorder,
            mutation,
            mutation_op,
            kw_limit,
            kw_offset,
            kw_order,
            kw_timeout,
            kw_sleep,
            kw_assert,
            kw_disable_magic_rewrite,
            kw_disable_join_reorder,
        ],
        "write an option and its value: `:limit 10`, `:order -x`, `:put r {k => v}`",
    ),
    (
        &[
            sys_relations,
            sys_running,
            sys_compact,
            sys_fixed_rules,
            sys_columns,
            sys_indices,
            sys_describe,
            sys_remove,
            sys_rename,
            sys_create_index,
            sys_create_search_index,
            sys_drop_index,
            sys_set_triggers,
            sys_show_triggers,
            sys_access_level,
            sys_kill,
            sys_explain,
            kw_columns,
            kw_indices,
            kw_describe,
            kw_remove,
            kw_rename,
            kw_index,
            kw_set_triggers,
            kw_show_triggers,
            kw_access_level,
            kw_kill,
            kw_explain,
        ],
        "write a system operation: `::relations`, `::columns r`, `::explain { ?[x] := *r[x] }`",
    ),
];
