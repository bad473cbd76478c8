//! Every block of code in the book does what it says.
//!
//! The blocks of a page run in order. `cozo` blocks run in one database of the page: the file `*.db` that its `sh` blocks have made,
//! or one in memory. `sh` blocks run in a folder of the page, with the files of `docs/data`; those that call `curl` have a
//! server. What a block gives is compared with the block of `text` or `json` directly behind it: `make docs` writes those anew.
//! Blocks in other languages are run by the tests in [`ELSEWHERE`].

#![cfg(all(unix, feature = "arrow", feature = "server"))]

mod commands;
mod complete;
mod links;
mod scripts;
#[path = "../support/mod.rs"]
mod support;

use support::page::{Block, Expectations, Page, book, pages};
use support::scratch;

use commands::Commands;
use scripts::Scripts;

/// Blocks that nothing runs, by their first line, with the reason.
const NOT_RUN: &[(&str, &str)] = &[
    ("sh,install", "installs programs, which takes long and needs a network"),
    ("sh,repository", "the commands of `make`, which are tested by being used"),
    ("text", "no code: what a program prints, or a form with capitals to fill in"),
    ("text,varies", "as `text`, of a program whose output differs from run to run"),
    ("toml", "a part of a manifest"),
];

/// The file that includes pages with blocks of Rust as documentation, whose tests they are.
const CRATE: &str = "cozo-core/src/lib.rs";

/// Languages whose blocks are run by other tests.
const ELSEWHERE: &[(&str, &str)] =
    &[("rust", CRATE), ("python", "cozo-lib-python/tests/test_book.py"), ("c", "cozo-lib-c/tests/library/book.rs")];

/// Pages made of registries by `cozo-core/tests/reference`, which runs their examples.
const GENERATED: &[&str] = &["aggregations.md", "algorithms.md", "functions.md", "operations.md"];

/// What a block gave.
enum Given {
    /// Text, which a block of `text` behind it repeats.
    Text(String),
    /// JSON, which a block of `json` behind it repeats.
    Json(serde_json::Value),
}

/// Runs the blocks of a page.
fn run(page: &Page) {
    let folder = scratch(&format!("book/{}", page.name.replace('/', "_")));
    let mut commands = Commands::new(&folder);
    let mut scripts = Scripts::new(&folder);
    let mut expectations = Expectations::new(page);
    let mut given: Option<Given> = None;
    let blocks = page.blocks();
    for (i, block) in blocks.iter().enumerate() {
        let as_json = blocks.get(i + 1).is_some_and(|next| next.info == "json");
        given = match (block.info.as_str(), given.take()) {
            ("text", Some(Given::Text(text))) => {
                expectations.expect(block, &text);
                None
            }
            ("json", Some(Given::Json(found))) => {
                check_json(block, &found, &mut expectations);
                None
            }
            ("json,params", _) => {
                scripts.set_parameters(block);
                None
            }
            ("cozo", _) => Some(scripts.run(block, as_json)),
            ("cozo,error", _) => Some(scripts.fail(block)),
            ("sh" | "sh,error", _) => {
                scripts.close();
                Some(if block.info == "sh" { commands.run(block) } else { commands.fail(block) })
            }
            (info, _) => {
                let known = NOT_RUN.iter().any(|(known, _)| *known == info)
                    || ELSEWHERE.iter().any(|(language, _)| *language == block.language());
                assert!(known, "{}: nothing runs a block of '{info}'", block.place);
                None
            }
        };
    }
}

fn check_json(block: &Block, found: &serde_json::Value, expectations: &mut Expectations) {
    let shown = serde_json::from_str(&block.code).ok().map(support::curl::without_time);
    if shown.as_ref() != Some(found) {
        expectations.expect(block, &found.to_string());
    }
}

#[test]
fn blocks_give_what_the_pages_say() {
    let pages = pages();
    // A page that fails leaves the others their turn.
    std::thread::scope(|scope| {
        for page in pages.iter().filter(|page| !GENERATED.contains(&page.name.as_str())) {
            scope.spawn(move || run(page));
        }
    });
}

#[test]
fn blocks_of_rust_are_tests_of_the_crate() {
    let library = std::fs::read_to_string(book().join("..").join(CRATE)).expect("the file can be read");
    for page in pages().iter().filter(|page| page.blocks().iter().any(|block| block.language() == "rust")) {
        let include = format!("#[doc = include_str!(\"../../docs/{}\")]", page.name).replace("docs/../", "");
        assert!(library.contains(&include), "{CRATE} should have {include}");
    }
}

#[test]
fn blocks_of_other_languages_have_tests() {
    for (language, file) in ELSEWHERE {
        assert!(book().join("..").join(file).exists(), "{file} runs the blocks of {language}");
    }
}
