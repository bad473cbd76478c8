//! The bad scripts, by what is bad about them.

use super::Bad;

/// Literals and lexical syntax.
#[rustfmt::skip]
pub const LITERALS: &[Bad] = &[
    Bad { name: "int_too_big", setup: &[], script: "?[r] := r = 9223372036854775808", code: "parser::bad_pos_int" },
    Bad { name: "str_single_rejects_escaped_double", setup: &[], script: r#"?[r] := r = 'a\"b'"#, code: "parser::pest" },
    Bad { name: "str_bad_escape_1", setup: &[], script: r"?[r] := r = 'a\qb'", code: "parser::pest" },
    Bad { name: "str_bad_escape_2", setup: &[], script: r"?[r] := r = '\x41'", code: "parser::pest" },
    Bad { name: "str_bad_escape_3", setup: &[], script: r"?[r] := r = '\u12'", code: "parser::pest" },
    Bad { name: "str_lone_surrogate", setup: &[], script: r"?[r] := r = '\ud800'", code: "parser::invalid_utf8_code" },
    Bad { name: "str_unterminated_1", setup: &[], script: r#"?[r] := r = "abc"#, code: "parser::pest" },
    Bad { name: "str_unterminated_2", setup: &[], script: "?[r] := r = 'abc", code: "parser::pest" },
    Bad { name: "list_missing_bracket", setup: &[], script: "?[r] := r = [1, 2", code: "parser::pest" },
    Bad { name: "block_comment_open", setup: &[], script: "?[a] <- [[1]] /* never closed", code: "parser::pest" },
    Bad { name: "params_missing", setup: &[], script: "?[a] <- [[$nope]]", code: "parser::param_not_found" },
    Bad { name: "ident_cannot_start_with_digit", setup: &[], script: "?[1a] <- [[1]]", code: "parser::pest" },
    Bad { name: "empty_script", setup: &[], script: r"
 # nothing", code: "parser::pest" },
    Bad { name: "no_entry", setup: &[], script: "r[a] <- [[1]]", code: "parser::no_entry" },
    Bad { name: "int_then_dot_method", setup: &[], script: "?[r] := r = 1.a", code: "parser::pest" },
    Bad { name: "scientific_needs_digits", setup: &[], script: "?[r] := r = 1e", code: "parser::pest" },
    Bad { name: "null_case_sensitive", setup: &[], script: "?[a] <- [[NULL]]", code: "eval::not_constant" },
    Bad { name: "lists_trailing_and_empty_1", setup: &["?[r] := r = [[],]", "?[r] := r = [[1,],[2,],]"], script: "?[r] := r = [,]", code: "parser::pest" },
    Bad { name: "lists_trailing_and_empty_2", setup: &["?[r] := r = [[],]", "?[r] := r = [[1,],[2,],]"], script: "?[r] := r = [1,,2]", code: "parser::pest" },
];

/// Rules.
#[rustfmt::skip]
pub const RULES: &[Bad] = &[
    Bad { name: "const_ragged", setup: &[], script: "?[a, b] <- [[1, 2], [3]]", code: "parser::const_data_arity_mismatch" },
    Bad { name: "const_not_list_1", setup: &[], script: "?[a] <- 5", code: "fixed_rule::arg_wrong" },
    Bad { name: "const_not_list_2", setup: &[], script: "?[a] <- [1, 2]", code: "parser::bad_row_for_const" },
    Bad { name: "const_head_arity", setup: &[], script: "?[a] <- [[1, 2]]", code: "parser::fixed_rule_head_arity_mismatch" },
    Bad { name: "const_empty_row", setup: &[], script: "?[] <- [[]]", code: "parser::const_rule_empty_row" },
    Bad { name: "const_unbound_variable", setup: &[], script: "?[a] <- [[zz]]", code: "eval::not_constant" },
    Bad { name: "wildcard_in_head", setup: &[], script: r"e[x, y] <- [[1, 2]]
?[_] := e[_, _]", code: "eval::unbound_symb_in_head" },
    Bad { name: "filter_not_boolean", setup: &[], script: r"n[v] <- [[1]]
?[v] := n[v], v + 1", code: "eval::predicate_not_bool" },
    Bad { name: "unify_cyclic", setup: &[], script: "?[x] := x = y, y = x", code: "eval::unbound_variable" },
    Bad { name: "in_non_list", setup: &[], script: "?[x] := x in 5", code: "eval::invalid_spread_unif" },
    Bad { name: "multiple_definitions_arity", setup: &[], script: r"r[a] := a = 1
r[a, b] := a = 1, b = 2
?[a] := r[a]", code: "parser::head_aggr_mismatch" },
    Bad { name: "or_unbalanced_bindings", setup: &[], script: "?[a, b] := a = 1 or b = 2", code: "eval::unbound_symb_in_head" },
    Bad { name: "not_unbound", setup: &[], script: r"q[x, y] <- [[1, 2]]
?[x] := x = 1, not q[y, z]", code: "eval::unsafe_negation" },
    Bad { name: "unsafe_head", setup: &[], script: r"n[v] <- [[1]]
?[v, w] := n[v]", code: "eval::unbound_symb_in_head" },
    Bad { name: "unsafe_expression", setup: &[], script: r"n[v] <- [[1]]
?[v] := n[v], q > 1", code: "eval::unbound_variable" },
    Bad { name: "empty_inline_head", setup: &[], script: r"n[v] <- [[1]]
?[] := n[v]", code: "parser::empty_horn_rule_head" },
    Bad { name: "entry_cannot_be_applied", setup: &[], script: r"n[v] := ?[v]
?[v] := v = 1", code: "parser::pest" },
    Bad { name: "unknown_rule", setup: &[], script: "?[x] := missing_rule[x]", code: "eval::rule_not_found" },
    Bad { name: "wrong_rule_arity", setup: &[], script: r"n[a, b] <- [[1, 2]]
?[x] := n[x]", code: "eval::rule_arity_mismatch" },
    Bad { name: "stored_positional_and_named_1", setup: &[":create pets {id: Int => kind: String, age: Int}", r"?[id, kind, age] <- [[1, 'cat', 3], [2, 'dog', 5], [3, 'cat', 7]]
:put pets {id => kind, age}", "?[k] := *pets[_, k, _]", "?[id, a] := *pets{id, age: a}, a > 4", "?[id] := *pets{kind: 'cat', id}", "?[n] := *pets{id: n, kind: 'cat', age: 7}"], script: "?[id] := *pets{colour: id}", code: "eval::named_field_not_found" },
    Bad { name: "stored_positional_and_named_2", setup: &[":create pets {id: Int => kind: String, age: Int}", r"?[id, kind, age] <- [[1, 'cat', 3], [2, 'dog', 5], [3, 'cat', 7]]
:put pets {id => kind, age}", "?[k] := *pets[_, k, _]", "?[id, a] := *pets{id, age: a}, a > 4", "?[id] := *pets{kind: 'cat', id}", "?[n] := *pets{id: n, kind: 'cat', age: 7}"], script: "?[id] := *pets[id]", code: "eval::rule_arity_mismatch" },
    Bad { name: "stored_unknown", setup: &[], script: "?[x] := *no_such_rel[x]", code: "query::relation_not_found" },
    Bad { name: "filter_null_is_error", setup: &[], script: r"n[v] <- [[1]]
?[v] := n[v], null", code: "eval::predicate_not_bool" },
    Bad { name: "unknown_relation_under_negation", setup: &[], script: "?[x] := x = 1, not *nowhere[x]", code: "query::relation_not_found" },
];

/// Recursion.
#[rustfmt::skip]
pub const RECURSION: &[Bad] = &[
    Bad { name: "negation_in_own_recursion", setup: &[], script: r"n[x] <- [[1], [2]]
p[x] := n[x], not p[x]
?[x] := p[x]", code: "eval::unstratifiable" },
    Bad { name: "negation_through_partner", setup: &[], script: r"n[x] <- [[1], [2]]
p[x] := n[x], not q[x]
q[x] := n[x], not p[x]
?[x] := p[x]", code: "eval::unstratifiable" },
    Bad { name: "ordinary_aggregation_in_recursion", setup: &[], script: r"e[a, b] <- [[1, 2], [2, 3]]
c[a, count(b)] := e[a, b]
c[a, count(b)] := c[x, b], e[a, x]
?[a, b] := c[a, b]", code: "eval::unstratifiable" },
    Bad { name: "timeout_stops_infinite", setup: &[], script: r"loop[n] := n = 0
loop[n] := loop[m], n = m + 1
?[n] := loop[n]
:timeout 0.3", code: "eval::killed" },
    Bad { name: "sum_inside_recursion_rejected", setup: &[], script: r"e[a, b] <- [[1, 2]]
s[a, sum(b)] := e[a, b]
s[a, sum(c)] := s[a, b], c = b
?[a, b] := s[a, b]", code: "eval::unstratifiable" },
];

/// Aggregations.
#[rustfmt::skip]
pub const AGGR: &[Bad] = &[
    Bad { name: "sum_string", setup: &[], script: r"r[x] <- [[1], ['2']]
?[sum(x)] := r[x]", code: "eval::throw" },
    Bad { name: "min_strings", setup: &[], script: r"r[x] <- [['a'], ['b']]
?[min(x)] := r[x]", code: "eval::throw" },
    Bad { name: "and_non_bool", setup: &[], script: r"r[b] <- [[true], [1]]
?[and(b)] := r[b]", code: "eval::throw" },
    Bad { name: "collect_bad_limit_1", setup: &[], script: r"r[x] <- [[1]]
?[collect(x, 0)] := r[x]", code: "eval::throw" },
    Bad { name: "collect_bad_limit_2", setup: &[], script: r"r[x] <- [[1]]
?[collect(x, 'two')] := r[x]", code: "eval::throw" },
    Bad { name: "union_non_list", setup: &[], script: r"r[l] <- [[1], [2]]
?[union(l)] := r[l]", code: "eval::throw" },
    Bad { name: "min_cost_wrong_shape", setup: &[], script: r"r[i, l] <- [[1, ['a', 1, 2]], [2, ['b', 1]]]
?[min_cost(l)] := r[_, l]", code: "eval::throw" },
    Bad { name: "bit_and_length_mismatch", setup: &[], script: r"r[i, b] <- [[1, 'Dw=='], [2, 'AAAA']]
x[i, d] := r[i, b], d = decode_base64(b)
?[bit_and(d)] := x[_, d]", code: "eval::throw" },
    Bad { name: "two_definitions_differ", setup: &[], script: r"a[v] <- [[1], [2]]
m[max(v)] := a[v]
m[min(v)] := a[v]
?[x] := m[x]", code: "parser::head_aggr_mismatch" },
    Bad { name: "unknown_aggregation", setup: &[], script: r"a[v] <- [[1]]
?[median(v)] := a[v]", code: "parser::aggr_not_found" },
    Bad { name: "aggregation_in_const_rule", setup: &[], script: "?[count(v)] <- [[1]]", code: "parser::aggr_in_const_rule" },
    Bad { name: "aggregate_unbound", setup: &[], script: r"s[g, v] <- [['x', 1]]
?[g, sum(q)] := s[g, v]", code: "eval::unbound_symb_in_head" },
    Bad { name: "mean_null", setup: &[], script: r"r[i, v] <- [[1, null], [2, 1]]
?[mean(v)] := r[_, v]", code: "eval::throw" },
    Bad { name: "min_cost_not_number", setup: &[], script: r"r[i, l] <- [[1, ['a', 'x']], [2, ['b', 'y']]]
?[min_cost(l)] := r[_, l]", code: "eval::throw" },
    Bad { name: "bit_or_non_bytes", setup: &[], script: r"r[b] <- [['abc'], ['abd']]
?[bit_or(b)] := r[b]", code: "eval::throw" },
];

/// Query options.
#[rustfmt::skip]
pub const OPTIONS: &[Bad] = &[
    Bad { name: "order_unknown_key", setup: &[], script: r"?[v] <- [[1]]
:order w", code: "parser::sort_key_not_found" },
    Bad { name: "order_by_column_not_in_head", setup: &[], script: r"r[a, b] <- [[1, 2]]
?[a] := r[a, b]
:order b", code: "parser::sort_key_not_found" },
    Bad { name: "order_with_aggregate_needs_full_name", setup: &[], script: r"r[g, v] <- [['b', 1]]
?[g, count(v)] := r[g, v]
:order v", code: "parser::sort_key_not_found" },
    Bad { name: "limit_negative", setup: &[], script: r"?[v] <- [[1]]
:limit -1", code: "parser::option_not_non_neg" },
    Bad { name: "limit_not_constant", setup: &[], script: r"?[v] <- [[1]]
:limit v", code: "parser::option_not_constant" },
    Bad { name: "limit_not_int_1", setup: &[], script: r"?[v] <- [[1]]
:limit 'two'", code: "parser::option_not_non_neg" },
    Bad { name: "limit_not_int_2", setup: &[], script: r"?[v] <- [[1]]
:offset 1.5", code: "parser::option_not_non_neg" },
    Bad { name: "assert_none", setup: &[r"?[v] := v in []
:assert none"], script: r"?[v] <- [[1]]
:assert none", code: "eval::assert_none_failure" },
    Bad { name: "assert_some", setup: &[r"?[v] <- [[1]]
:assert some"], script: r"?[v] := v in []
:assert some", code: "eval::assert_some_failure" },
    Bad { name: "assert_twice", setup: &[], script: r"?[v] <- [[1]]
:assert some
:assert none", code: "parser::multiple_out_assert" },
    Bad { name: "timeout_bad", setup: &[], script: r"?[v] <- [[1]]
:timeout 'soon'", code: "parser::option_not_non_neg" },
    Bad { name: "sleep_bad_1", setup: &[], script: r"?[v] <- [[1]]
:sleep 0", code: "parser::option_not_pos" },
    Bad { name: "sleep_bad_2", setup: &[], script: r"?[v] <- [[1]]
:sleep -1", code: "parser::option_not_pos" },
    Bad { name: "unknown_option", setup: &[], script: r"?[v] <- [[1]]
:lmit 1", code: "parser::pest" },
    Bad { name: "offset_negative", setup: &[], script: r"?[v] <- [[1]]
:offset -2", code: "parser::option_not_non_neg" },
    Bad { name: "option_case_sensitive", setup: &[], script: r"?[v] <- [[1]]
:LIMIT 1", code: "parser::pest" },
];

/// Stored relations.
#[rustfmt::skip]
pub const STORED: &[Bad] = &[
    Bad { name: "create_twice", setup: &[":create t3 {a}"], script: ":create t3 {a}", code: "eval::stored_relation_conflict" },
    Bad { name: "create_with_correspondence_1", setup: &[], script: "?[p, count(q)] <- [[1, 2]]", code: "parser::aggr_in_const_rule" },
    Bad { name: "create_with_correspondence_2", setup: &[], script: r"?[p, count(q)] := p = 1, q in [5, 6]
:create t6 {p => count(q)}", code: "parser::pest" },
    Bad { name: "create_duplicate_column", setup: &[], script: ":create t7 {a, b => a}", code: "parser::dup_name_in_cols" },
    Bad { name: "create_no_keys", setup: &[], script: ":create t8 {=> a}", code: "parser::relation_has_no_keys" },
    Bad { name: "put_unknown_relation", setup: &[], script: r"?[a] <- [[1]]
:put ghost {a}", code: "query::relation_not_found" },
    Bad { name: "put_unknown_column", setup: &[":create uc {a => b}"], script: r"?[a, zz] <- [[1, 2]]
:put uc {a => zz}", code: "eval::required_col_not_found" },
    Bad { name: "put_missing_required_column", setup: &[":create mr {a => b: Int}"], script: r"?[a] <- [[1]]
:put mr {a}", code: "eval::required_col_not_provided" },
    Bad { name: "rm_missing_key_column", setup: &[":create rm3 {a, b => c}"], script: r"?[a] <- [[1]]
:rm rm3 {a}", code: "eval::required_col_not_provided" },
    Bad { name: "insert_new_and_conflict", setup: &[":create ins {a => b}", r"?[a, b] <- [[1, 'one']]
:insert ins {a => b}"], script: r"?[a, b] <- [[2, 'two'], [1, 'again']]
:insert ins {a => b}", code: "transact::assertion_failure" },
    Bad { name: "update_missing_row", setup: &[":create up2 {a => b}"], script: r"?[a, b] <- [[1, 2]]
:update up2 {a => b}", code: "transact::assertion_failure" },
    Bad { name: "update_missing_key", setup: &[":create up3 {a, k => b}"], script: r"?[a, b] <- [[1, 2]]
:update up3 {a => b}", code: "eval::required_col_not_provided" },
    Bad { name: "delete_existing_and_missing", setup: &[":create del {a => b}", r"?[a, b] <- [[1, 'x'], [2, 'y']]
:put del {a => b}", r"?[a] <- [[1]]
:delete del {a}"], script: r"?[a] <- [[1]]
:delete del {a}", code: "transact::assertion_failure" },
    Bad { name: "replace_needs_query", setup: &[], script: ":replace rp3 {a}", code: "parser::no_entry" },
    Bad { name: "ensure_pass_and_fail_1", setup: &[":create en {a => b}", r"?[a, b] <- [[1, 'x']]
:put en {a => b}", r"?[a, b] <- [[1, 'x']]
:ensure en {a => b}"], script: r"?[a, b] <- [[1, 'y']]
:ensure en {a => b}", code: "transact::assertion_failure" },
    Bad { name: "ensure_pass_and_fail_2", setup: &[":create en {a => b}", r"?[a, b] <- [[1, 'x']]
:put en {a => b}", r"?[a, b] <- [[1, 'x']]
:ensure en {a => b}"], script: r"?[a, b] <- [[2, 'x']]
:ensure en {a => b}", code: "transact::assertion_failure" },
    Bad { name: "ensure_not_pass_and_fail", setup: &[":create en2 {a}", r"?[a] <- [[1]]
:put en2 {a}", r"?[a] <- [[2]]
:ensure_not en2 {a}"], script: r"?[a] <- [[1]]
:ensure_not en2 {a}", code: "transact::assertion_failure" },
    Bad { name: "failing_put_changes_nothing", setup: &[":create at {a => b: Int}", r"?[a, b] <- [[1, 1]]
:put at {a => b}"], script: r"?[a, b] <- [[2, 2], [3, 'bad']]
:put at {a => b}", code: "eval::coercion_failed" },
    Bad { name: "update_wrong_type", setup: &[r"?[id, n] <- [[1, 1]]
:create uwt {id => n: Int}"], script: r"?[id, n] <- [[1, 'x']]
:update uwt {id => n}", code: "eval::coercion_failed" },
];

/// Column types.
#[rustfmt::skip]
pub const TYPES: &[Bad] = &[
    Bad { name: "int_column_1", setup: &[":create c {k => v: Int}", r"?[k, v] <- [['a', 5], ['b', 3.0], ['c', -2]]
:put c {k => v}", "?[k, v] := *c[k, v]"], script: r"?[k, v] <- [['d', 3.5]]
:put c {k => v}", code: "eval::coercion_failed" },
    Bad { name: "int_column_2", setup: &[":create c {k => v: Int}", r"?[k, v] <- [['a', 5], ['b', 3.0], ['c', -2]]
:put c {k => v}", "?[k, v] := *c[k, v]"], script: r"?[k, v] <- [['d', '5']]
:put c {k => v}", code: "eval::coercion_failed" },
    Bad { name: "int_column_3", setup: &[":create c {k => v: Int}", r"?[k, v] <- [['a', 5], ['b', 3.0], ['c', -2]]
:put c {k => v}", "?[k, v] := *c[k, v]"], script: r"?[k, v] <- [['d', true]]
:put c {k => v}", code: "eval::coercion_failed" },
    Bad { name: "float_column", setup: &[":create c {k => v: Float}", r"?[k, v] <- [['a', 5], ['b', 3.25]]
:put c {k => v}", "?[k, v] := *c[k, v]"], script: r"?[k, v] <- [['d', 'x']]
:put c {k => v}", code: "eval::coercion_failed" },
    Bad { name: "bool_column", setup: &[":create c {k => v: Bool}", r"?[k, v] <- [['a', true], ['b', false]]
:put c {k => v}", "?[k] := *c[k, v], v"], script: r"?[k, v] <- [['d', 1]]
:put c {k => v}", code: "eval::coercion_failed" },
    Bad { name: "string_column_1", setup: &[":create c {k => v: String}", r"?[k, v] <- [['a', ''], ['b', 'é']]
:put c {k => v}", "?[k, v] := *c[k, v]"], script: r"?[k, v] <- [['d', 1]]
:put c {k => v}", code: "eval::coercion_failed" },
    Bad { name: "string_column_2", setup: &[":create c {k => v: String}", r"?[k, v] <- [['a', ''], ['b', 'é']]
:put c {k => v}", "?[k, v] := *c[k, v]"], script: r"?[k, v] <- [['d', null]]
:put c {k => v}", code: "eval::coercion_null" },
    Bad { name: "bytes_column_1", setup: &[":create c {k => v: Bytes}", r"?[k, v] <- [['a', 'AAEC'], ['b', decode_base64('/w==')]]
:put c {k => v}", "?[k, v] := *c[k, v]"], script: r"?[k, v] <- [['d', '*not base64*']]
:put c {k => v}", code: "eval::coercion_bad_base_64" },
    Bad { name: "bytes_column_2", setup: &[":create c {k => v: Bytes}", r"?[k, v] <- [['a', 'AAEC'], ['b', decode_base64('/w==')]]
:put c {k => v}", "?[k, v] := *c[k, v]"], script: r"?[k, v] <- [['d', 5]]
:put c {k => v}", code: "eval::coercion_failed" },
    Bad { name: "uuid_column", setup: &[":create c {k => v: Uuid}", r"?[k, v] <- [['a', '550e8400-e29b-41d4-a716-446655440000']]
:put c {k => v}", "?[k, v, t] := *c[k, v], t = is_uuid(v)"], script: r"?[k, v] <- [['d', 'nope']]
:put c {k => v}", code: "eval::coercion_failed" },
    Bad { name: "list_column_1", setup: &[":create c {k => v: [Int]}", r"?[k, v] <- [[1, [1, 2, 3]], [2, []], [3, [4.0]]]
:put c {k => v}", "?[k, v] := *c[k, v]"], script: r"?[k, v] <- [[4, ['x']]]
:put c {k => v}", code: "eval::coercion_failed" },
    Bad { name: "list_column_2", setup: &[":create c {k => v: [Int]}", r"?[k, v] <- [[1, [1, 2, 3]], [2, []], [3, [4.0]]]
:put c {k => v}", "?[k, v] := *c[k, v]"], script: r"?[k, v] <- [[4, 5]]
:put c {k => v}", code: "eval::coercion_failed" },
    Bad { name: "list_column_3", setup: &[":create c {k => v: [Int]}", r"?[k, v] <- [[1, [1, 2, 3]], [2, []], [3, [4.0]]]
:put c {k => v}", "?[k, v] := *c[k, v]"], script: r"?[k, v] <- [[4, [null]]]
:put c {k => v}", code: "eval::coercion_null" },
    Bad { name: "fixed_length_list_1", setup: &[":create c {k => v: [Float; 2]}", r"?[k, v] <- [[1, [1, 2.5]]]
:put c {k => v}", "?[v] := *c[_, v]"], script: r"?[k, v] <- [[2, [1.0]]]
:put c {k => v}", code: "eval::coercion_bad_list_len" },
    Bad { name: "fixed_length_list_2", setup: &[":create c {k => v: [Float; 2]}", r"?[k, v] <- [[1, [1, 2.5]]]
:put c {k => v}", "?[v] := *c[_, v]"], script: r"?[k, v] <- [[2, [1.0, 2.0, 3.0]]]
:put c {k => v}", code: "eval::coercion_bad_list_len" },
    Bad { name: "tuple_column_1", setup: &[":create c {k => v: (Int, String)}", r"?[k, v] <- [[1, [5, 'five']]]
:put c {k => v}", "?[v] := *c[_, v]"], script: r"?[k, v] <- [[2, ['five', 5]]]
:put c {k => v}", code: "eval::coercion_failed" },
    Bad { name: "tuple_column_2", setup: &[":create c {k => v: (Int, String)}", r"?[k, v] <- [[1, [5, 'five']]]
:put c {k => v}", "?[v] := *c[_, v]"], script: r"?[k, v] <- [[2, [5]]]
:put c {k => v}", code: "eval::coercion_bad_list_len" },
    Bad { name: "nested_composite", setup: &[":create c {k => v: [(String, [Int]?)]}", r"?[k, v] <- [[1, [['a', [1, 2]], ['b', null]]]]
:put c {k => v}", "?[v] := *c[_, v]"], script: r"?[k, v] <- [[2, [['a', ['x']]]]]
:put c {k => v}", code: "eval::coercion_failed" },
    Bad { name: "validity_column", setup: &[":create c {k, at: Validity => v}", r"?[k, at, v] <- [['a', [100, true], 1], ['a', [50, false], 0]]
:put c {k, at => v}", "?[k, at, v] := *c[k, at, v]"], script: r"?[k, at, v] <- [['b', 'not a time', 1]]
:put c {k, at => v}", code: "eval::invalid_validity" },
    Bad { name: "type_spellings_1", setup: &[], script: ":create c {k: int}", code: "parser::pest" },
    Bad { name: "type_spellings_2", setup: &[], script: ":create c {k: Str}", code: "parser::pest" },
    Bad { name: "type_spellings_3", setup: &[], script: ":create c {k: [Int; -1]}", code: "parser::bad_list_len_in_type" },
    Bad { name: "type_spellings_4", setup: &[], script: ":create c {k: <F16; 2>}", code: "parser::pest" },
    Bad { name: "list_of_nullable", setup: &[":create c {k => v: [Int?]}", r"?[k, v] <- [[1, [1, null, 3]]]
:put c {k => v}", "?[v] := *c[_, v]"], script: r"?[k, v] <- [[2, null]]
:put c {k => v}", code: "eval::coercion_null" },
];

/// Scripts of several statements.
#[rustfmt::skip]
pub const TRANSACTIONS: &[Bad] = &[
    Bad { name: "chain_rolls_back_on_error", setup: &[":create t {a}"], script: r"{?[a] <- [[1]] :put t {a}}
{?[a] <- [[1, 2]] :put t {a}}", code: "parser::fixed_rule_head_arity_mismatch" },
    Bad { name: "chain_runtime_error_rolls_back", setup: &[":create t {a: Int}"], script: r"{?[a] <- [[1]] :put t {a}}
{?[a] <- [['x']] :put t {a}}", code: "eval::coercion_failed" },
    Bad { name: "ephemeral_gone_afterwards", setup: &["{?[a] <- [[1]] :create _gone {a}}"], script: "?[a] := *_gone[a]", code: "query::relation_not_found" },
    Bad { name: "break_outside_loop", setup: &[], script: r"{?[a] <- [[1]]}
%break", code: "eval::dangling_ctrl_flow" },
    Bad { name: "continue_outside_loop", setup: &[], script: "%continue", code: "eval::dangling_ctrl_flow" },
    Bad { name: "unknown_ephemeral", setup: &[], script: "%return _nothing", code: "query::relation_not_found" },
    Bad { name: "multi_ensure", setup: &[":create rel {a => b}", r"?[a, b] <- [[2, 'two'], [4, 'four']]
:put rel {a => b}", r"{?[a, b] <- [[1, 'one'], [3, 'three']] :put rel {a => b}}
{?[a] <- [[2]] :rm rel {a}}
{?[a, b] <- [[4, 'four']] :ensure rel {a => b}}", "?[a] := *rel[a, _]"], script: r"{?[a, b] <- [[7, 'seven']] :put rel {a => b}}
{?[a, b] <- [[4, 'FOUR']] :ensure rel {a => b}}", code: "transact::assertion_failure" },
    Bad { name: "imperative_parse_errors_1", setup: &[], script: "%if {?[a] <- [[1]]} {?[b] <- [[2]]}", code: "parser::pest" },
    Bad { name: "imperative_parse_errors_2", setup: &[], script: "%loop %end", code: "parser::pest" },
    Bad { name: "imperative_parse_errors_3", setup: &[], script: "{?[a] <- [[1]]", code: "parser::pest" },
    Bad { name: "imperative_parse_errors_4", setup: &[], script: "%then", code: "parser::pest" },
    Bad { name: "chain_create_is_rolled_back_1", setup: &[], script: r"{:create fresh {a}}
{?[a] <- [[1]] :put fresh {a}}
{?[a] <- [[1]] :insert fresh {a}}", code: "transact::assertion_failure" },
    Bad { name: "chain_create_is_rolled_back_2", setup: &[], script: "?[a] := *fresh[a]", code: "query::relation_not_found" },
];

/// Errors of all kinds.
#[rustfmt::skip]
pub const ERRORS: &[Bad] = &[
    Bad { name: "parse_unbalanced_1", setup: &[], script: "?[a] := r[a", code: "parser::pest" },
    Bad { name: "parse_unbalanced_2", setup: &[], script: "?[a := r[a]", code: "parser::pest" },
    Bad { name: "parse_unbalanced_3", setup: &[], script: "?[a] <- [[1]", code: "parser::pest" },
    Bad { name: "parse_unbalanced_4", setup: &[], script: "?[a] := (a = 1", code: "parser::pest" },
    Bad { name: "parse_bad_operator_1", setup: &[], script: "?[r] := r = 1 ** 2", code: "parser::pest" },
    Bad { name: "parse_bad_operator_2", setup: &[], script: "?[r] := r = 1 = 2", code: "parser::pest" },
    Bad { name: "parse_bad_operator_3", setup: &[], script: "?[r] := r = 1 & 2", code: "parser::pest" },
    Bad { name: "parse_bad_operator_4", setup: &[], script: "?[r] := r = 1 | 2", code: "parser::pest" },
    Bad { name: "parse_bad_operator_5", setup: &[], script: "?[r] := r = a ? 1", code: "parser::pest" },
    Bad { name: "parse_bad_head_1", setup: &[], script: "?[1] <- [[1]]", code: "parser::pest" },
    Bad { name: "parse_bad_head_2", setup: &[], script: "?[a + b] := a = 1, b = 2", code: "parser::pest" },
    Bad { name: "parse_bad_head_3", setup: &[], script: "?['a'] <- [[1]]", code: "parser::pest" },
    Bad { name: "parse_bad_head_4", setup: &[], script: "r <- [[1]]", code: "parser::pest" },
    Bad { name: "parse_missing_body_1", setup: &[], script: "?[a] <-", code: "parser::pest" },
    Bad { name: "parse_missing_body_2", setup: &[], script: "?[a] <~", code: "parser::pest" },
    Bad { name: "parse_bad_fixed_rule_syntax_1", setup: &[], script: "?[a] <~ Constant data: [[1]]", code: "parser::pest" },
    Bad { name: "parse_bad_fixed_rule_syntax_2", setup: &[], script: "?[a] <~ Constant(data = [[1]])", code: "parser::pest" },
    Bad { name: "parse_bad_fixed_rule_syntax_3", setup: &[], script: "?[a] <~ Constant([[1]])", code: "parser::pest" },
    Bad { name: "parse_trailing_operator_1", setup: &[], script: "?[r] := r = 1 +", code: "parser::pest" },
    Bad { name: "parse_trailing_operator_2", setup: &[], script: "?[r] := r = * 2", code: "parser::pest" },
    Bad { name: "parse_trailing_operator_3", setup: &[], script: "?[r] := r = 1 == ", code: "parser::pest" },
    Bad { name: "unknown_function_1", setup: &[], script: "?[r] := r = nosuchfn(1)", code: "eval::no_implementation" },
    Bad { name: "unknown_function_2", setup: &[], script: "?[r] := r = Length('a')", code: "eval::no_implementation" },
    Bad { name: "unknown_function_in_filter", setup: &[], script: r"r[a] <- [[1]]
?[a] := r[a], is_good(a)", code: "eval::no_implementation" },
    Bad { name: "wrong_argument_counts_1", setup: &[], script: "?[r] := r = length()", code: "parser::func_wrong_num_args" },
    Bad { name: "wrong_argument_counts_2", setup: &[], script: "?[r] := r = is_null(1, 2)", code: "parser::func_wrong_num_args" },
    Bad { name: "wrong_argument_counts_3", setup: &[], script: "?[r] := r = concat()", code: "parser::func_wrong_num_args" },
    Bad { name: "wrong_argument_counts_4", setup: &[], script: "?[r] := r = if()", code: "parser::bad_if" },
    Bad { name: "wrong_argument_counts_5", setup: &[], script: "?[r] := r = to_int()", code: "parser::func_wrong_num_args" },
    Bad { name: "wrong_argument_types_1", setup: &[], script: "?[r] := r = length(1.5)", code: "eval::throw" },
    Bad { name: "wrong_argument_types_2", setup: &[], script: "?[r] := r = uppercase(true)", code: "eval::throw" },
    Bad { name: "wrong_argument_types_3", setup: &[], script: "?[r] := r = 'a' * 2", code: "eval::throw" },
    Bad { name: "wrong_argument_types_4", setup: &[], script: "?[r] := r = [1] + [2]", code: "eval::throw" },
    Bad { name: "wrong_argument_types_5", setup: &[], script: "?[r] := r = -null", code: "eval::throw" },
    Bad { name: "wrong_argument_types_6", setup: &[], script: "?[r] := r = !5", code: "eval::throw" },
    Bad { name: "unbound_variable_in_head", setup: &[], script: "?[x] := y = 1", code: "eval::unbound_symb_in_head" },
    Bad { name: "unbound_variable_in_function", setup: &[], script: "?[x] := x = length(y)", code: "eval::unbound_variable" },
    Bad { name: "unbound_in_const", setup: &[], script: "?[x] <- [[y]]", code: "eval::not_constant" },
    Bad { name: "rule_arity", setup: &[], script: r"r[a, b] <- [[1, 2]]
?[a] := r[a, b, c]", code: "eval::rule_arity_mismatch" },
    Bad { name: "relation_arity_1", setup: &[":create rr {a, b => c}"], script: "?[a] := *rr[a, b]", code: "eval::rule_arity_mismatch" },
    Bad { name: "relation_arity_2", setup: &[":create rr {a, b => c}"], script: "?[a] := *rr[]", code: "eval::rule_arity_mismatch" },
    Bad { name: "relation_unknown_column", setup: &[":create rr {a => b}"], script: "?[a] := *rr{a, zz: 1}", code: "eval::named_field_not_found" },
    Bad { name: "relation_duplicate_named_column", setup: &[":create rr {a => b}"], script: "?[a] := *rr{a, zzz}", code: "eval::named_field_not_found" },
    Bad { name: "entry_missing", setup: &[], script: r"r[a] <- [[1]]
q[a] := r[a]", code: "parser::no_entry" },
    Bad { name: "eval_error_aborts_query", setup: &[], script: r"r[a] <- [[1], ['x']]
?[b] := r[a], b = a + 1", code: "eval::throw" },
    Bad { name: "eval_error_in_aggregation", setup: &[], script: r"r[i, a] <- [[1, 1], [2, 'x']]
?[max(a)] := r[i, a]", code: "eval::throw" },
    Bad { name: "error_is_not_sticky", setup: &[], script: "?[a] := nothing[a]", code: "eval::rule_not_found" },
    Bad { name: "predicate_type_1", setup: &[], script: r"r[a] <- [[1]]
?[a] := r[a], 'yes'", code: "eval::predicate_not_bool" },
    Bad { name: "predicate_type_2", setup: &[], script: r"r[a] <- [[1]]
?[a] := r[a], a", code: "eval::predicate_not_bool" },
    Bad { name: "option_unknown", setup: &[], script: r"?[a] <- [[1]]
:group a", code: "parser::pest" },
    Bad { name: "mutation_on_missing_relation_1", setup: &[], script: r"?[a] <- [[1]]
:rm nowhere {a}", code: "query::relation_not_found" },
    Bad { name: "mutation_on_missing_relation_2", setup: &[], script: r"?[a] <- [[1]]
:update nowhere {a}", code: "query::relation_not_found" },
    Bad { name: "mutation_on_missing_relation_3", setup: &[], script: r"?[a] <- [[1]]
:delete nowhere {a}", code: "query::relation_not_found" },
    Bad { name: "mutation_on_missing_relation_4", setup: &[], script: r"?[a] <- [[1]]
:insert nowhere {a}", code: "query::relation_not_found" },
    Bad { name: "schema_syntax_1", setup: &[], script: ":create x a, b", code: "parser::pest" },
    Bad { name: "schema_syntax_2", setup: &[], script: ":create x {a: }", code: "parser::pest" },
    Bad { name: "schema_syntax_3", setup: &[], script: ":create x {a => b => c}", code: "parser::pest" },
    Bad { name: "schema_syntax_4", setup: &[], script: ":create {a}", code: "parser::pest" },
    Bad { name: "in_operator_misuse_1", setup: &[], script: "?[x] := x in {}", code: "eval::invalid_spread_unif" },
    Bad { name: "in_operator_misuse_2", setup: &[], script: "?[x] := [1] in x", code: "parser::pest" },
    Bad { name: "or_at_start_1", setup: &[], script: "?[x] := or x = 1", code: "parser::pest" },
    Bad { name: "or_at_start_2", setup: &[], script: "?[x] := x = 1 or", code: "parser::pest" },
    Bad { name: "not_misuse_1", setup: &[], script: "?[x] := not", code: "parser::pest" },
    Bad { name: "not_misuse_2", setup: &[], script: "?[x] := not x = 1", code: "eval::unsafe_negation" },
    Bad { name: "sysop_arguments_1", setup: &[], script: "::columns", code: "parser::pest" },
    Bad { name: "sysop_arguments_2", setup: &[], script: "::remove 5", code: "parser::pest" },
    Bad { name: "sysop_arguments_3", setup: &[], script: "::index create a {b}", code: "parser::pest" },
    Bad { name: "sysop_arguments_4", setup: &[], script: "::access_level", code: "parser::pest" },
    Bad { name: "unicode_error_position", setup: &[], script: "?[ä] := ä = 'ö' +", code: "parser::pest" },
    Bad { name: "parse_rule_operators_1", setup: &[], script: "?[a] :- r[a]", code: "parser::pest" },
    Bad { name: "parse_rule_operators_2", setup: &[], script: "?[a] <= [[1]]", code: "parser::pest" },
    Bad { name: "parse_rule_operators_3", setup: &[], script: "?[a] <-- [[1]]", code: "eval::throw" },
    Bad { name: "stored_misuse_1", setup: &[":create t {a => b}"], script: "?[a] := t[a, b]", code: "eval::rule_not_found" },
    Bad { name: "stored_misuse_2", setup: &[":create t {a => b}"], script: "?[a] := *t{a: b: c}", code: "parser::pest" },
    Bad { name: "stored_misuse_3", setup: &[":create t {a => b}"], script: "?[a] := *t(a)", code: "parser::pest" },
    Bad { name: "stored_misuse_4", setup: &[":create t {a => b}"], script: "?[a] <- [[1]] :put *t {a}", code: "parser::pest" },
    Bad { name: "null_handling_errors_1", setup: &[], script: "?[r] := r = null + 1", code: "eval::throw" },
    Bad { name: "null_handling_errors_2", setup: &[], script: "?[r] := r = length(null)", code: "eval::throw" },
    Bad { name: "null_handling_errors_3", setup: &[], script: "?[r] := r = null > 1", code: "eval::throw" },
    Bad { name: "null_handling_errors_4", setup: &[], script: "?[r] := r = regex_matches(null, 'a')", code: "eval::throw" },
    Bad { name: "null_handling_errors_5", setup: &[], script: "?[r] := r = null ++ 'a'", code: "eval::throw" },
    Bad { name: "null_handling_errors_6", setup: &[], script: "?[r] := r = first(null)", code: "eval::throw" },
];

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
    Bad { name: "unknown_function", setup: &[":create r {k}"], script: "::set_triggers r on put { ?[k] := _new[j], k = nofn(j) }", code: "eval::no_implementation" },
    Bad { name: "unbound", setup: &[":create r {k}"], script: "::set_triggers r on put { ?[k, v] := _new[k] }", code: "eval::unbound_symb_in_head" },
    Bad { name: "parameter", setup: &[":create r {k}"], script: "::set_triggers r on put { ?[k] := _new[k], k > $least }", code: "parser::param_not_found" },
    Bad { name: "rows_before_replacing", setup: &[":create r {k}"], script: "::set_triggers r on replace { ?[k] := _old[k] }", code: "eval::rule_not_found" },
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
