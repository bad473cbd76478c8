//! The bad scripts, by what is bad about them.

use super::Bad;

/// Fixed rules.
#[rustfmt::skip]
pub const FIXED_RULES: &[Bad] = &[
    Bad { name: "unknown", setup: &[], script: "?[a] <~ NoSuchRule(a: 1)", code: "parser::fixed_rule_not_found" },
    Bad { name: "unknown_unused", setup: &[], script: "x[a] <~ NoSuchRule()  ?[a] <- [[1]]", code: "parser::fixed_rule_not_found" },
    Bad { name: "missing_input", setup: &[], script: "?[] <~ ReorderSort(out: [1])", code: "fixed_rule::not_enough_args" },
    Bad { name: "unknown_input_rule", setup: &[], script: "?[i, x] <~ ReorderSort(nowhere[x], out: [x])", code: "algo::rule_not_found" },
    Bad { name: "unknown_input_relation", setup: &[], script: "?[i, x] <~ ReorderSort(*nowhere[x], out: [x])", code: "query::relation_not_found" },
    Bad { name: "unknown_input_column", setup: &["?[k] <- [[1]] :create s {k}"], script: "?[i, x] <~ ReorderSort(*s{v: x}, out: [x])", code: "eval::named_field_not_found" },
    Bad { name: "duplicate_binding", setup: &[], script: "r[a, b] <- [[1, 2]]  ?[i, x] <~ ReorderSort(r[x, x], out: [x])", code: "parser::duplicate_bindings_for_fixed_rule" },
    Bad { name: "head_too_short", setup: &[], script: "r[a] <- [[1]]  ?[i] <~ ReorderSort(r[x], out: [x])", code: "parser::fixed_rule_head_arity_mismatch" },
    Bad { name: "head_aggregates", setup: &[], script: "r[a] <- [[1]]  ?[i, max(x)] <~ ReorderSort(r[x], out: [x])", code: "parser::fixed_aggr_conflict" },
    Bad { name: "no_arity", setup: &[], script: "r[a] <- [[1]]  ?[i, x] <~ ReorderSort(r[x])", code: "parser::no_algo_arity" },
    Bad { name: "no_list", setup: &[], script: "r[a] <- [[1]]  ?[i, x] <~ ReorderSort(r[x], out: x)", code: "parser::no_algo_arity" },
    Bad { name: "bad_binding", setup: &[], script: "r[a] <- [[1]]  ?[i, x] <~ ReorderSort(r[x], out: [a])", code: "eval::bad_binding" },
    Bad { name: "option_missing", setup: &[], script: "?[x] <~ CsvReader(url: 'file:///a')", code: "fixed_rule::arg_not_found" },
    Bad { name: "option_missing_constant", setup: &[], script: "?[x] <~ Constant()", code: "fixed_rule::arg_not_found" },
    Bad { name: "option_of_wrong_type", setup: &[], script: "r[a] <- [[1]]  ?[i, x] <~ ReorderSort(r[x], out: [x], take: 'x')", code: "fixed_rule::arg_wrong" },
    Bad { name: "option_not_constant", setup: &[], script: "r[a] <- [[1]]  ?[i, x] <~ ReorderSort(r[x], out: [x], take: x)", code: "eval::not_constant" },
    Bad { name: "option_fails", setup: &[], script: "r[a] <- [[1]]  ?[i, x] <~ ReorderSort(r[x], out: [x], take: 1 + 'x')", code: "eval::throw" },
    Bad { name: "expression_fails", setup: &[], script: "r[a] <- [[1]]  ?[i, x] <~ ReorderSort(r[x], out: [x + 'x'])", code: "eval::throw" },
    Bad { name: "parameter_missing", setup: &[], script: "?[x] <~ CsvReader(url: $nope, types: ['Int'])", code: "parser::param_not_found" },
    Bad { name: "defined_twice", setup: &[], script: "r[a] <- [[1]]  ?[i, x] <~ ReorderSort(r[x], out: [x])  ?[i, x] := i = 1, x = 2", code: "parser::mult_rule_def" },
    Bad { name: "recursive", setup: &[], script: "r[i, x] <~ ReorderSort(r[_, x], out: [x])  ?[x] := r[_, x]", code: "eval::unstratifiable" },
    Bad { name: "unreadable", setup: &[], script: "?[x] <~ CsvReader(url: 'file:///no/such/file', types: ['Int'])", code: "fixed_rule::cannot_read" },
    Bad { name: "unreadable_json", setup: &[], script: "?[x] <~ JsonReader(url: 'nonsense', fields: ['a'])", code: "fixed_rule::cannot_read" },
];

/// Triggers, when they are set and when they are set off.
#[rustfmt::skip]
pub const TRIGGERS: &[Bad] = &[
    Bad { name: "syntax", setup: &[":create r {k}"], script: "::set_triggers r on put { ?[k] := _new[k] } on rm { ?[k] := _old[k }", code: "parser::pest" },
    Bad { name: "event", setup: &[":create r {k}"], script: "::set_triggers r on insert { ?[k] := _new[k] }", code: "parser::pest" },
    Bad { name: "nothing", setup: &[":create r {k}"], script: "::set_triggers r on put { }", code: "parser::pest" },
    Bad { name: "no_entry", setup: &[":create r {k}"], script: "::set_triggers r on put { :limit 1 }", code: "parser::no_entry" },
    Bad { name: "replace", setup: &[":create r {k}"], script: "::set_triggers r on put { ?[k] := _new[k] :replace s {k} }", code: "eval::replace_in_trigger" },
    Bad { name: "unknown_function", setup: &[":create r {k}", "::set_triggers r on put { ?[k] := _new[j], k = nofn(j) }"], script: "?[k] <- [[1]] :put r {k}", code: "eval::no_implementation" },
    Bad { name: "unbound", setup: &[":create r {k}", "::set_triggers r on put { ?[k, v] := _new[k] }"], script: "?[k] <- [[1]] :put r {k}", code: "eval::unbound_symb_in_head" },
    Bad { name: "parameter", setup: &[":create r {k}"], script: "::set_triggers r on put { ?[k] := _new[k], k > $least }", code: "parser::param_not_found" },
    Bad { name: "rows_before_replacing", setup: &[":create r {k}", "::set_triggers r on replace { ?[k] := _old[k] }"], script: "?[k] <- [[1]] :replace r {k}", code: "eval::rule_not_found" },
    Bad { name: "two_mutations", setup: &[":create r {k}"], script: "::set_triggers r on put { ?[k] := _new[k] :put a {k} :put b {k} }", code: "parser::multiple_mutations" },
    Bad { name: "missing_relation", setup: &[], script: "::set_triggers r on put { ?[k] := _new[k] }", code: "query::relation_not_found" },
    Bad { name: "ephemeral_relation", setup: &[], script: "::set_triggers _r on put { ?[k] := _new[k] }", code: "parser::pest" },
    Bad { name: "read_only_relation", setup: &[":create r {k}", "::access_level read_only r"], script: "::set_triggers r", code: "tx::insufficient_access_level" },
    Bad { name: "rows_outside_of_a_trigger", setup: &[], script: "?[k] := _new[k]", code: "eval::rule_not_found" },
    Bad { name: "fails_when_set_off", setup: &[":create r {k}", "::set_triggers r on put { ?[k] := _new[k] :put nowhere {k} }"], script: "?[k] <- [[1]] :put r {k}", code: "query::relation_not_found" },
    Bad { name: "wrong_width_when_set_off", setup: &[":create r {k}", "::set_triggers r on put { ?[k] := _new[k, _] }"], script: "?[k] <- [[1]] :put r {k}", code: "eval::rule_arity_mismatch" },
    Bad { name: "asserts", setup: &[":create r {k}", "::set_triggers r on put { ?[k] := _new[k], k < 0 :assert none }"], script: "?[k] <- [[-1]] :put r {k}", code: "eval::assert_none_failure" },
];

/// Access levels and the arguments of system operations.
#[rustfmt::skip]
pub const ACCESS: &[Bad] = &[
    Bad { name: "negated", setup: &[":create r {k}", "::access_level hidden r"], script: "a[x] <- [[1]] ?[x] := a[x], not *r[x]", code: "tx::insufficient_access_level" },
    Bad { name: "negated_group", setup: &[":create r {k}", "::access_level hidden r"], script: "a[x] <- [[1]] ?[x] := a[x], not (*r[y], y > x)", code: "tx::insufficient_access_level" },
    Bad { name: "returned", setup: &[":create r {k}", "::access_level hidden r"], script: "%return r", code: "tx::insufficient_access_level" },
    Bad { name: "debugged", setup: &[":create r {k}", "::access_level hidden r"], script: "%debug r", code: "tx::insufficient_access_level" },
    Bad { name: "ensured", setup: &[":create r {k}", "::access_level hidden r"], script: "?[k] <- [[1]] :ensure_not r {k}", code: "tx::insufficient_access_level" },
    Bad { name: "renamed", setup: &[":create r {k}", "::access_level protected r"], script: "::rename r -> s", code: "tx::insufficient_access_level" },
    Bad { name: "replaced", setup: &[":create r {k}", "::access_level protected r"], script: "?[k] <- [[1]] :replace r {k}", code: "tx::insufficient_access_level" },
    Bad { name: "kill_by_name", setup: &[], script: "::kill 'first'", code: "parser::bad_process_id" },
    Bad { name: "description", setup: &[":create r {k}"], script: "::describe r 5", code: "parser::bad_description" },
];
