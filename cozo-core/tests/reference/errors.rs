//! `docs/errors.md`: the codes of all errors with their messages, causes and cures, as the code declares them.

use std::collections::BTreeMap;
use std::fmt::Write;
use std::path::{Path, PathBuf};

use syn::{Attribute, Expr, Field, Item, Lit, Meta, Variant};

use crate::{check_page, title};

const INTRODUCTION: &str = "\
Every error has a code, which stays the same when its words change. Programs tell errors by it: `code` in the JSON of an error, `e.args[0]['code']` in Python,
`error.code()` in Rust. For each code: what the message looks like, when the error comes, and what to do. `{name}` stands for what the message fills in.
";

/// An error as its declaration describes it.
struct Described {
    message: String,
    cause: String,
    cure: String,
}

#[test]
fn the_page_is_current_and_every_error_says_what_to_do() {
    let mut errors: BTreeMap<String, Vec<Described>> = BTreeMap::new();
    let mut silent = vec![];
    for folder in ["cozo-core/src", "cozo-bin/src", "cozo-lib-python/src", "cozo-lib-c/src"] {
        for path in sources(&Path::new(env!("CARGO_MANIFEST_DIR")).join("..").join(folder)) {
            let text = std::fs::read_to_string(&path).expect("a source can be read");
            let file = syn::parse_file(&text).unwrap_or_else(|error| panic!("{}: {error}", path.display()));
            for (code, error) in described(&file.items) {
                if error.cause.is_empty() || error.cure.is_empty() {
                    silent.push(format!("{}: {code}: {}", path.display(), error.message));
                }
                errors.entry(code).or_default().push(error);
            }
        }
    }
    assert!(errors.len() > 150, "the errors are found in the code: {}", errors.len());
    assert!(silent.is_empty(), "errors without a cause (doc comment) or a cure (help):\n{}", silent.join("\n"));
    check_page("errors.md", &page(&errors));
}

fn page(errors: &BTreeMap<String, Vec<Described>>) -> String {
    let mut page = title("Errors", "the declarations of errors", INTRODUCTION);
    let mut area = "";
    for (code, errors) in errors {
        let begins = code.split("::").next().unwrap_or_default();
        if begins != area {
            area = begins;
            let _ = write!(page, "\n## `{area}`\n");
        }
        let _ = write!(page, "\n### `{code}`\n\n");
        for Described { message, cause, cure } in errors {
            let _ = writeln!(page, "* {message}. {cause} *{cure}*");
        }
    }
    page
}

fn sources(folder: &Path) -> Vec<PathBuf> {
    let entries = std::fs::read_dir(folder).expect("the crate has sources");
    let mut paths: Vec<PathBuf> = entries.map(|entry| entry.expect("an entry can be read").path()).collect();
    paths.sort();
    let is_test = |path: &Path| path.file_stem().is_some_and(|name| name.to_string_lossy().ends_with("tests"));
    let below = |path: PathBuf| if path.is_dir() { sources(&path) } else { vec![path] };
    let all = paths.into_iter().filter(|path| !is_test(path)).flat_map(below);
    all.filter(|path| path.extension().is_some_and(|end| end == "rs")).collect()
}

/// The errors that are declared with a code.
fn described(items: &[Item]) -> Vec<(String, Described)> {
    let of_item = |item: &Item| match item {
        Item::Enum(item) => item.variants.iter().filter_map(of_variant).collect(),
        Item::Struct(item) => {
            let fields: Vec<&Field> = item.fields.iter().collect();
            one(&item.attrs, &fields).into_iter().collect::<Vec<_>>()
        }
        _ => vec![],
    };
    items.iter().flat_map(of_item).collect()
}

fn of_variant(variant: &Variant) -> Option<(String, Described)> {
    one(&variant.attrs, &variant.fields.iter().collect::<Vec<_>>())
}

fn one(attributes: &[Attribute], fields: &[&Field]) -> Option<(String, Described)> {
    let diagnostic = list(attributes, "diagnostic")?;
    let code: String = between(&diagnostic, "code")?.split_whitespace().collect();
    let message = list(attributes, "error").and_then(|tokens| first_text(&tokens)).unwrap_or_default();
    let cure = between(&diagnostic, "help").map(|tokens| first_text(&tokens).unwrap_or(tokens));
    let helps = |field: &&&Field| field.attrs.iter().any(|attribute| attribute.path().is_ident("help"));
    // What a field says is known only when the error comes; its comment says what that is.
    let cure = cure.or_else(|| fields.iter().find(helps).map(|field| doc(&field.attrs)));
    let cure = cure.unwrap_or_default().replace("{{", "{").replace("}}", "}");
    Some((code, Described { message, cause: doc(attributes), cure }))
}

/// The tokens of an attribute `name(...)`.
fn list(attributes: &[Attribute], name: &str) -> Option<String> {
    attributes.iter().find_map(|attribute| match &attribute.meta {
        Meta::List(list) if list.path.is_ident(name) => Some(list.tokens.to_string()),
        _ => None,
    })
}

/// What stands between the parentheses behind a word.
fn between(tokens: &str, word: &str) -> Option<String> {
    let start = tokens.find(&format!("{word} (")).map(|at| at + word.len() + 2);
    let start = start.or_else(|| tokens.find(&format!("{word}(")).map(|at| at + word.len() + 1))?;
    let (mut depth, mut quoted, mut escaped) = (1, false, false);
    let end = tokens[start..].char_indices().find_map(|(at, character)| {
        match character {
            _ if escaped => escaped = false,
            '\\' if quoted => escaped = true,
            '"' => quoted = !quoted,
            '(' if !quoted => depth += 1,
            ')' if !quoted => depth -= 1,
            _ => {}
        }
        (depth == 0).then_some(at)
    })?;
    Some(tokens[start..start + end].trim().to_string())
}

/// The text of the first literal.
fn first_text(tokens: &str) -> Option<String> {
    let start = tokens.find('"')?;
    let mut escaped = false;
    let end = tokens[start + 1..].char_indices().find_map(|(at, character)| match character {
        _ if escaped => {
            escaped = false;
            None
        }
        '\\' => {
            escaped = true;
            None
        }
        '"' => Some(at),
        _ => None,
    })?;
    match syn::parse_str(&tokens[start..start + end + 2]).ok()? {
        Lit::Str(text) => Some(text.value().split_whitespace().collect::<Vec<_>>().join(" ")),
        _ => None,
    }
}

fn doc(attributes: &[Attribute]) -> String {
    let line = |attribute: &Attribute| match &attribute.meta {
        Meta::NameValue(pair) if pair.path.is_ident("doc") => match &pair.value {
            Expr::Lit(literal) => match &literal.lit {
                Lit::Str(text) => Some(text.value().trim().to_string()),
                _ => None,
            },
            _ => None,
        },
        _ => None,
    };
    attributes.iter().filter_map(line).collect::<Vec<_>>().join(" ")
}
