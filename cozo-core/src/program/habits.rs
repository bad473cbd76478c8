//! The names that functions and aggregations have in other languages, for "did you mean".
//!
//! People type what they know from SQL, DuckDB, Cypher, Python, pandas or JavaScript. An unknown name is looked up in these tables
//! first, then the name that differs least is suggested. A name may also be known in the other place: an aggregation stands in the
//! head of a rule, a function in its body.

use crate::diag::nearest;
use crate::expr::aggregations::{self, AGGREGATIONS};
use crate::expr::functions;

/// Functions: names in other languages, and the name of each here.
const FUNCTIONS: &[(&[&str], &str)] = &[
    (&["absolute"], "abs"),
    (&["ceiling"], "ceil"),
    (&["sign", "sgn"], "signum"),
    (&["power", "raise"], "pow"),
    (&["log", "loge", "logarithm"], "ln"),
    (&["modulo", "rem", "remainder", "fmod"], "mod"),
    (&["divide", "quotient"], "div"),
    (&["idiv", "integer_divide", "floordiv", "floor_div"], "int_div"),
    (&["subtract"], "sub"),
    (&["multiply", "times"], "mul"),
    (&["plus"], "add"),
    (&["neg"], "minus"),
    (&["square_root"], "sqrt"),
    (&["radians", "to_radians"], "deg_to_rad"),
    (&["degrees", "to_degrees"], "rad_to_deg"),
    (&["trunc", "truncate", "int", "integer", "toint", "tointeger", "parseint", "cast_int"], "to_int"),
    (&["float", "double", "tofloat", "parsefloat", "number", "real", "to_number", "to_double"], "to_float"),
    (&["str", "string", "text", "tostring", "varchar", "to_char", "to_text", "stringify"], "to_string"),
    (&["bool", "boolean", "toboolean", "to_boolean"], "to_bool"),
    (&["uuid", "touuid"], "to_uuid"),
    (&["gen_random_uuid", "uuid4", "uuidv4", "generate_uuid", "new_uuid", "randomuuid", "newid"], "rand_uuid_v4"),
    (&["array", "tolist", "list_value", "make_list", "to_array", "as_list"], "to_list"),
    (&["json_parse", "parsejson", "from_json", "fromjson", "json_loads", "loads"], "parse_json"),
    (&["to_json", "tojson", "as_json"], "json"),
    (&["json_dump", "json_dumps", "dumps", "json_stringify", "to_json_string"], "dump_json"),
    (&["json_extract", "json_value", "json_query", "json_extract_path", "json_get", "jsonb_extract_path"], "get"),
    (&["json_set", "jsonb_set", "json_replace", "json_insert"], "set_json_path"),
    (&["json_remove", "jsonb_delete", "json_delete"], "remove_json_path"),
    (&["json_merge", "json_merge_patch", "json_concat", "merge", "assign", "update"], "concat"),
    (&["json_build_object", "jsonb_build_object", "object", "struct_pack", "dict", "map_from"], "json_object"),
    (&["keys", "object_keys", "json_object_keys", "map_keys"], "json_keys"),
    (&["values", "object_values", "map_values"], "json_values"),
    (&["entries", "items", "json_each", "jsonb_each", "map_entries", "json_items"], "json_entries"),
    (
        &[
            "len",
            "size",
            "strlen",
            "char_length",
            "character_length",
            "array_length",
            "list_length",
            "json_array_length",
            "cardinality",
            "octet_length",
            "count_elements",
        ],
        "length",
    ),
    (&["upper", "ucase", "toupper", "touppercase", "to_upper", "to_uppercase"], "uppercase"),
    (&["lower", "lcase", "tolower", "tolowercase", "to_lower", "to_lowercase", "casefold"], "lowercase"),
    (&["substr", "substring", "mid", "left", "right", "slice_text"], "slice_string"),
    (&["btrim", "strip"], "trim"),
    (&["ltrim", "lstrip", "trimstart", "trim_left", "trimleft"], "trim_start"),
    (&["rtrim", "rstrip", "trimend", "trim_right", "trimright"], "trim_end"),
    (&["lpad", "padstart", "pad_left", "rjust", "zfill", "left_pad"], "pad_start"),
    (&["rpad", "padend", "pad_right", "ljust", "right_pad"], "pad_end"),
    (&["contains", "includes", "str_contains", "string_contains", "has_substring"], "str_includes"),
    (&["startswith", "prefix", "has_prefix", "begins_with", "str_starts"], "starts_with"),
    (&["endswith", "suffix", "has_suffix", "str_ends"], "ends_with"),
    (
        &["instr", "indexof", "strpos", "position", "locate", "charindex", "find", "list_position", "array_position"],
        "index_of",
    ),
    (&["str_replace", "replaceall", "replace_all", "translate"], "replace"),
    (&["string_split", "str_split", "split_text", "regexp_split_to_array", "explode"], "split"),
    (&["array_to_string", "list_to_string", "implode", "concat_ws", "array_join"], "join"),
    (&["replicate", "rep", "repeat_string"], "repeat"),
    (&["string_concat", "list_concat", "array_cat", "array_concat", "list_cat"], "concat"),
    (&["strcat", "string_from_list"], "from_substrings"),
    (&["characters", "to_chars", "string_to_list"], "chars"),
    (&["regexp_matches", "regexp_like", "rlike", "regexp", "regexp_match", "match", "matches"], "regex_matches"),
    (&["regexp_replace", "regex_sub", "re_sub"], "regex_replace_all"),
    (&["regexp_extract", "regexp_substr"], "regex_extract_first"),
    (&["regexp_extract_all", "findall", "find_all", "matchall"], "regex_extract"),
    (&["regexp_groups", "capture", "captures"], "regex_groups"),
    (&["ifnull", "nvl", "if_null"], "coalesce"),
    (&["iif", "iff", "ifelse", "if_else"], "if"),
    (&["case", "switch", "decode"], "cond"),
    (&["isnull", "isna", "is_none", "is_nil"], "is_null"),
    (&["isnan"], "is_nan"),
    (&["isfinite"], "is_finite"),
    (&["isinf", "is_inf"], "is_infinite"),
    (&["is_str", "is_text", "isstring"], "is_string"),
    (&["is_boolean", "isbool"], "is_bool"),
    (&["is_integer", "isinteger"], "is_int"),
    (&["is_number", "is_numeric", "isnumeric"], "is_num"),
    (&["is_array", "islist", "isarray"], "is_list"),
    (&["is_vector"], "is_vec"),
    (&["greatest", "maximum"], "max"),
    (&["least", "minimum"], "min"),
    (&["equals", "equal"], "eq"),
    (&["not_equals", "ne"], "neq"),
    (&["list_contains", "array_contains", "list_has", "contains_element", "member", "elem"], "is_in"),
    (&["head", "list_first", "array_first", "car"], "first"),
    (&["list_last", "array_last"], "last"),
    (&["list_extract", "array_extract", "element_at", "nth", "list_element", "at", "elt"], "get"),
    (&["try_get", "get_or_null"], "maybe_get"),
    (&["list_slice", "array_slice", "sublist"], "slice"),
    (&["list_append", "array_append", "push", "array_push_back"], "append"),
    (&["list_prepend", "array_prepend", "unshift", "cons"], "prepend"),
    (&["sort", "list_sort", "array_sort"], "sorted"),
    (&["reversed", "list_reverse", "array_reverse"], "reverse"),
    (&["range", "generate_series", "sequence", "seq"], "int_range"),
    (&["chunk", "batched"], "chunks"),
    (&["with_index", "zip_with_index", "list_enumerate"], "enumerate"),
    (&["list_distinct", "array_distinct", "array_union", "list_union", "distinct_list"], "union"),
    (&["list_intersect", "array_intersect", "intersect"], "intersection"),
    (&["array_except", "list_except", "except", "set_difference"], "difference"),
    (&["current_timestamp", "current_time", "timestamp", "time", "getdate", "sysdate", "unixepoch", "epoch"], "now"),
    (
        &["to_timestamp", "strptime", "date", "datetime", "parse_date", "to_date", "unix_timestamp", "fromisoformat"],
        "parse_timestamp",
    ),
    (
        &["strftime", "date_format", "to_iso8601", "from_unixtime", "isoformat", "format_date", "datetime_format"],
        "format_timestamp",
    ),
    (&["rand", "random", "math_random"], "rand_float"),
    (&["randint", "randrange", "random_int", "rand_between"], "rand_int"),
    (&["random_choice", "choice_of", "sample"], "rand_choose"),
    (&["base64", "to_base64", "base64_encode", "btoa"], "encode_base64"),
    (&["from_base64", "base64_decode", "atob", "unbase64"], "decode_base64"),
    (&["cosine_distance", "cosine", "list_cosine_distance", "array_cosine_distance"], "cos_dist"),
    (&["euclidean", "l2_distance", "array_distance", "list_distance"], "l2_dist"),
    (&["inner_product", "dot", "dot_product", "list_inner_product"], "ip_dist"),
    (&["normalize", "normalise"], "l2_normalize"),
    (&["vector", "embedding", "to_vec", "to_vector"], "vec"),
    (&["distance_sphere", "st_distance", "geo_distance"], "haversine_deg_input"),
    (&["not"], "negate"),
    (&["raise_error", "throw", "error"], "assert"),
];

/// Aggregations: names in other languages, and the name of each here.
const AGGREGATED: &[(&[&str], &str)] = &[
    (&["avg", "average"], "mean"),
    (&["stddev", "std", "stdev", "stddev_samp", "standard_deviation", "sd"], "std_dev"),
    (&["var", "var_samp", "var_sample"], "variance"),
    (
        &["count_distinct", "countdistinct", "nunique", "n_distinct", "approx_count_distinct", "distinct_count"],
        "count_unique",
    ),
    (&["group_concat", "string_agg", "listagg", "concat_agg", "join", "str_join"], "string_join"),
    (&["array_agg", "list", "list_agg", "json_agg", "jsonb_agg", "json_group_array", "tolist", "to_list"], "collect"),
    (&["distinct", "collect_set", "array_agg_distinct", "set", "uniq", "set_agg"], "unique"),
    (&["histogram", "value_counts", "counter", "frequencies", "map_agg"], "group_count"),
    (&["total", "sum_float"], "sum"),
    (&["sum_int", "isum", "bigint_sum", "sum0"], "int_sum"),
    (&["prod", "multiply"], "product"),
    (&["minimum", "least", "smallest"], "min"),
    (&["maximum", "greatest", "largest"], "max"),
    (&["any_value", "first", "any", "first_value", "arbitrary", "sample"], "choice"),
    (&["random", "rand_choose", "any_random"], "choice_rand"),
    (&["arg_max", "argmax", "max_by", "maxby", "last", "last_value", "max_cost"], "latest_by"),
    (&["arg_min", "argmin", "min_by", "minby"], "smallest_by"),
    (
        &["percentile", "quantile_cont", "percentile_cont", "approx_quantile", "percentile_disc", "quantile_disc"],
        "quantile",
    ),
    (&["med"], "median"),
    (&["most_common", "most_frequent"], "mode"),
    (&["bool_and", "every", "all", "logical_and"], "and"),
    (&["bool_or", "some", "logical_or"], "or"),
    (&["n", "cnt", "size", "len", "length", "row_count", "count_star", "num_rows"], "count"),
    (&["intersect"], "intersection"),
    (&["flatten", "concat", "list_concat"], "union"),
    (&["xor"], "bit_xor"),
];

/// A hint for the name of a function that does not exist.
pub(super) fn suggested_function(name: &str) -> String {
    if let Some(here) = habit(name, FUNCTIONS) {
        // Arguments differ between languages, too.
        let form =
            functions::find(here).map(|function| format!(" Its form is {here}({})", function.parameters.join(", ")));
        return format!("did you mean '{here}'?{}", form.unwrap_or_default());
    }
    let aggregation = aggregations::find(name).map(|found| found.name).or_else(|| habit(name, AGGREGATED));
    match aggregation {
        Some(here) if here == name => {
            format!("'{name}' is an aggregation: it stands in the head of a rule, as in ?[{name}(x)] := ...")
        }
        Some(here) => {
            format!("did you mean the aggregation '{here}'? It stands in the head of a rule, as in ?[{here}(x)] := ...")
        }
        None => nearest_of(name, functions::names(), "docs/functions.md"),
    }
}

/// A hint for the name of an aggregation that does not exist.
pub(super) fn suggested_aggregation(name: &str) -> String {
    if let Some(here) = habit(name, AGGREGATED) {
        return format!("did you mean '{here}'?");
    }
    let function = functions::find(name).map(|found| found.name).or_else(|| habit(name, FUNCTIONS));
    match function {
        Some(here) if here == name => {
            format!("'{name}' is a function: it stands in the body of a rule, as in y = {name}(x)")
        }
        Some(here) => {
            format!("did you mean the function '{here}'? It stands in the body of a rule, as in y = {here}(x)")
        }
        None => nearest_of(name, AGGREGATIONS.iter().map(|aggregation| aggregation.name), "docs/aggregations.md"),
    }
}

/// A hint by the known name that differs least.
fn nearest_of<'n>(name: &str, known: impl Iterator<Item = &'n str>, page: &str) -> String {
    match nearest(name, &known.collect::<Vec<_>>()) {
        Some(near) => format!("did you mean '{near}'?"),
        None => format!("{page} lists what there is"),
    }
}

/// What a name of another language is called here.
fn habit(name: &str, habits: &[(&[&str], &'static str)]) -> Option<&'static str> {
    let name = name.to_lowercase();
    habits.iter().find(|(names, _)| names.contains(&&*name)).map(|(_, here)| *here)
}

#[cfg(test)]
mod tests {
    use std::collections::HashSet;

    use super::*;

    #[test]
    fn every_habit_leads_to_a_name_that_exists_and_has_no_meaning_yet() {
        let known_functions: Vec<&str> = functions::names().collect();
        let known_aggregations: Vec<&str> = AGGREGATIONS.iter().map(|aggregation| aggregation.name).collect();
        for (habits, known) in [(FUNCTIONS, known_functions), (AGGREGATED, known_aggregations)] {
            let mut seen = HashSet::new();
            for (names, here) in habits {
                assert!(known.contains(here), "{here}");
                for name in *names {
                    assert!(!known.contains(name), "{name} is a name of this language");
                    assert!(seen.insert(name), "{name} is there twice");
                    assert_eq!(*name, name.to_lowercase());
                }
            }
        }
    }

    #[test]
    fn hints_name_what_was_probably_meant() {
        for (name, hint) in [
            ("len", "did you mean 'length'? Its form is length(x)"),
            ("toUpperCase", "did you mean 'uppercase'? Its form is uppercase(text)"),
            ("iif", "did you mean 'if'?"),
            ("avg", "did you mean the aggregation 'mean'? It stands in the head of a rule, as in ?[mean(x)] := ..."),
            ("lenght", "did you mean 'length'?"),
            ("sum", "'sum' is an aggregation: it stands in the head of a rule, as in ?[sum(x)] := ..."),
            ("frobnicate", "docs/functions.md lists what there is"),
        ] {
            assert_eq!(suggested_function(name), hint);
        }
        for (name, hint) in [
            ("avg", "did you mean 'mean'?"),
            ("STDDEV", "did you mean 'std_dev'?"),
            ("colect", "did you mean 'collect'?"),
            ("sqrt", "'sqrt' is a function: it stands in the body of a rule, as in y = sqrt(x)"),
            ("frobnicate", "docs/aggregations.md lists what there is"),
        ] {
            assert_eq!(suggested_aggregation(name), hint);
        }
    }
}
