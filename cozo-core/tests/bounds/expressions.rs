//! Random expressions, many of which make large values or take long.

use cozo::expr::functions;
use rand::RngExt;
use rand::rngs::StdRng;
use rand::seq::IndexedRandom;

fn one<T: Copy>(random: &mut StdRng, of: &[T]) -> T {
    *of.choose(random).expect("there is one")
}

/// What an expression is to be, so that most of them have a value.
#[derive(Clone, Copy, PartialEq)]
enum Kind {
    Number,
    Text,
    List,
    Truth,
}

/// Expressions of each kind: `N`, `T`, `L` and `B` stand for others of the kinds.
const FORMS: &[(Kind, &[&str])] = &[
    (
        Kind::Number,
        &[
            "N + N",
            "N - N",
            "N * N",
            "N / (1 + abs(N))",
            "N ^ N",
            "abs(N)",
            "length(L)",
            "length(T)",
            "max(N, N)",
            "sqrt(abs(N))",
            "if(B, N, N)",
            "floor(N)",
            "min(N, 7)",
            "bit_xor(to_int(abs(N) % 1000), 5)",
            "round(N)",
            "maybe_get([N, N], 1)",
            "coalesce(null, N)",
            "length(pack_bits([B, B, B]))",
            "length(json(L))",
            "length(dump_json(json(L)))",
            "length(vec(int_range(1000)))",
        ],
    ),
    (
        Kind::Text,
        &[
            "concat(T, T)",
            "T ++ T",
            "to_string(L)",
            "to_string(N)",
            "uppercase(T)",
            "trim(T)",
            "regex_replace_all(T, '.', T)",
            "regex_replace(T, '(?s).*', '$0$0$0$0')",
            "slice_string(T, 0, 1)",
            "unicode_normalize(T, 'nfc')",
            "dump_json(json(L))",
            "regex_replace_all(T, 'a*', 'aa')",
            "if(B, T, T)",
            "concat(T, T, T, T)",
            "from_substrings(chars(T))",
            "regex_replace_all(T, T, T)",
            "to_string([T, L, N])",
            "coalesce(T, '')",
        ],
    ),
    (
        Kind::List,
        &[
            "int_range(abs(round(N)))",
            "concat(L, L)",
            "L ++ L",
            "[L, L, L]",
            "[N, T, L]",
            "reverse(L)",
            "sorted(L)",
            "chunks(L, 2)",
            "windows(L, 100)",
            "chars(T)",
            "regex_extract(T, '.')",
            "union(L, L)",
            "intersection(L, L)",
            "append(L, L)",
            "prepend(L, L)",
            "slice(L, 0, 1)",
            "if(B, L, L)",
            "difference(L, L)",
            "list(L, T, N)",
            "chunks_exact(L, 3)",
            "regex_extract(T, T)",
            "[L, L, L, L, L, L, L, L, L, L]",
            "concat(L, L, L, L)",
            "maybe_get([L, L], 1)",
            "coalesce(L, [])",
        ],
    ),
    (
        Kind::Truth,
        &[
            "N < N",
            "T == T",
            "L == L",
            "N in L",
            "starts_with(T, T)",
            "regex_matches(T, '(a|b)*c')",
            "B && B",
            "!B",
            "is_in(N, L)",
            "L < L",
            "str_includes(T, T)",
            "regex_matches(T, T)",
        ],
    ),
];

/// A script of one or two expressions for one or many rows.
pub fn script(random: &mut StdRng) -> String {
    let rows = one(random, &["v in [1]", "v in int_range(10)", "v in int_range(5000)", "v = 3"]);
    let kind = one(random, &[Kind::Number, Kind::Text, Kind::List, Kind::Truth]);
    let first = match random.random_range(0..6) {
        0 => any_function(random, 3),
        _ => expression(random, kind, 5),
    };
    let result = one(random, &["x", "length(to_string(x))", "[x, x]", "x"]);
    let head = one(random, &["r", "collect(r)", "count(r)", "unique(r)", "max(r)", "r"]);
    format!("?[{head}] := {rows}, x = {first}, r = {result} :timeout 0.2")
}

/// An expression that is most likely of a kind.
fn expression(random: &mut StdRng, kind: Kind, depth: usize) -> String {
    if depth == 0 || random.random_range(0..6) == 0 {
        return leaf(random, kind);
    }
    let forms = FORMS.iter().find(|(of, _)| *of == kind).map_or(&[][..], |(_, forms)| *forms);
    let form = one(random, forms);
    let mut text = String::from("(");
    let letters: Vec<char> = form.chars().collect();
    for (i, letter) in letters.iter().enumerate() {
        let is_alone = |at: Option<&char>| !at.is_some_and(|c| c.is_alphanumeric());
        let before = i.checked_sub(1).and_then(|before| letters.get(before));
        let kind = match letter {
            'N' => Some(Kind::Number),
            'T' => Some(Kind::Text),
            'L' => Some(Kind::List),
            'B' => Some(Kind::Truth),
            _ => None,
        };
        match kind.filter(|_| is_alone(before) && is_alone(letters.get(i + 1))) {
            Some(kind) => text += &expression(random, kind, depth - 1),
            None => text.push(*letter),
        }
    }
    text + ")"
}

fn leaf(random: &mut StdRng, kind: Kind) -> String {
    let text = match kind {
        Kind::Number => {
            one(random, &["v", "0", "1", "2.5", "100", "5000", "1000000", "100000000", "9223372036854775807", "-3"])
        }
        Kind::Text => one(
            random,
            &[
                "'a'",
                "''",
                "'some text of a few words, and more'",
                "to_string(v)",
                "'aaaaaaaaaaaaaaaaaaaaaaaaaaaaaa'",
                "'é😀'",
            ],
        ),
        Kind::List => {
            one(random, &["[]", "[v]", "[1, 2, 3]", "int_range(1000)", "int_range(1000000)", "['a', 'b', null, 1.5]"])
        }
        Kind::Truth => one(random, &["true", "false", "v > 3"]),
    };
    text.to_string()
}

/// Any function of the language, with arguments of any kind.
fn any_function(random: &mut StdRng, depth: usize) -> String {
    let all: Vec<_> = functions::all().collect();
    let function = one(random, &all);
    let arguments = (0..=4).filter(|count| function.arity.accepts(*count)).max().unwrap_or(0);
    let arguments: Vec<String> = (0..arguments)
        .map(|_| {
            let kind = one(random, &[Kind::Number, Kind::Text, Kind::List, Kind::Truth]);
            expression(random, kind, depth - 1)
        })
        .collect();
    format!("{}({})", function.name, arguments.join(", "))
}
