//! The page at `/`: its files, which are part of the binary, and the words that its editor completes.
//!
//! The files are what a browser takes, with no step in between: the page is [`INDEX`], and what it loads are [`FILES`].
//! They load nothing from elsewhere, and the policy below has browsers make sure of it: neither scripts nor styles in the
//! markup, and text that becomes markup is an error (`require-trusted-types-for`), wherever it comes from.

use axum::extract::Path;
use axum::http::{HeaderName, Uri, header};
use axum::response::{IntoResponse, Response};

use super::error::ServerError;
use super::vocabulary;

/// What the page may do: run the scripts and use the styles of this server, and talk to it.
const POLICY: &str = "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self'; connect-src 'self'; \
    base-uri 'none'; form-action 'none'; frame-ancestors 'none'; require-trusted-types-for 'script'; trusted-types 'none'";

/// The page.
const INDEX: &str = include_str!("page/index.html");

/// A file that the page loads.
struct File {
    name: &'static str,
    text: &'static str,
}

/// The files of `page/` by their names.
macro_rules! files {
    ($($name:literal),* $(,)?) => { &[$(File { name: $name, text: include_str!(concat!("page/", $name)) }),*] };
}

/// All files that the page loads.
const FILES: &[File] = files![
    "api.js",
    "base.css",
    "camera.js",
    "comment.js",
    "complete.js",
    "csv.js",
    "csv_dialog.js",
    "dom.js",
    "editor.css",
    "editor.js",
    "export.js",
    "gestures.js",
    "graph.css",
    "graph.js",
    "graph_colors.js",
    "graph_data.js",
    "graph_keys.js",
    "graph_node.js",
    "graph_paint.js",
    "heads.js",
    "history.js",
    "icon.svg",
    "json.js",
    "labels.js",
    "layout.js",
    "lexer.js",
    "main.js",
    "operators.js",
    "packing.js",
    "parts.js",
    "plan.js",
    "quadtree.js",
    "relations.js",
    "results.css",
    "results.js",
    "runner.js",
    "running.js",
    "side.css",
    "spans.js",
    "storage.js",
    "suggest.js",
    "svg_pen.js",
    "table.js",
    "tabs.js",
    "theme.js",
    "token.js",
    "validity.js",
    "values.js",
    "welcome.css",
    "welcome.js",
];

/// `GET /`.
pub async fn page() -> Response {
    respond("text/html; charset=utf-8", INDEX)
}

/// `GET /page/{name}`.
pub async fn file(Path(name): Path<String>, uri: Uri) -> Result<Response, ServerError> {
    let found = FILES.iter().find(|file| file.name == name);
    let file = found.ok_or_else(|| ServerError::NoRoute { method: "GET".to_string(), path: uri.path().to_string() })?;
    Ok(respond(content_type(file.name), file.text))
}

/// `GET /page/vocabulary.json`.
pub async fn words() -> Response {
    respond("application/json", vocabulary::json())
}

fn content_type(name: &str) -> &'static str {
    match name.rsplit_once('.') {
        Some((_, "css")) => "text/css; charset=utf-8",
        Some((_, "svg")) => "image/svg+xml",
        _ => "text/javascript; charset=utf-8",
    }
}

fn respond(content_type: &'static str, text: &'static str) -> Response {
    let headers = [
        (header::CONTENT_TYPE, content_type),
        // Another version of the server has other files under the same names.
        (header::CACHE_CONTROL, "no-cache"),
        (header::CONTENT_SECURITY_POLICY, POLICY),
        (header::X_CONTENT_TYPE_OPTIONS, "nosniff"),
        (HeaderName::from_static("cross-origin-opener-policy"), "same-origin"),
        (HeaderName::from_static("referrer-policy"), "no-referrer"),
    ];
    (headers, text).into_response()
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    use super::*;

    /// The names of files between two marks.
    fn named<'t>(text: &'t str, open: &str) -> Vec<&'t str> {
        text.split(open).skip(1).filter_map(|rest| rest.split(['\'', '"', ')']).next()).collect()
    }

    #[test]
    fn every_file_of_the_folder_is_served() {
        let folder =
            std::fs::read_dir(concat!(env!("CARGO_MANIFEST_DIR"), "/src/server/page")).expect("the folder is there");
        let names: BTreeSet<String> =
            folder.map(|entry| entry.expect("it can be read").file_name().to_string_lossy().into_owned()).collect();
        let mut served: BTreeSet<String> = FILES.iter().map(|file| file.name.to_string()).collect();
        served.insert("index.html".to_string());
        assert_eq!(names, served);
    }

    #[test]
    fn files_load_what_is_served_and_is_from_here() {
        let is_served = |name: &str| FILES.iter().any(|file| file.name == name);
        for name in named(INDEX, "href=\"page/").into_iter().chain(named(INDEX, "src=\"page/")) {
            assert!(is_served(name), "index.html names {name}");
        }
        for file in FILES {
            // `url(#...)` is a part of the same drawing.
            let urls = named(file.text, "url(").into_iter().filter(|name| !name.starts_with('#'));
            for name in named(file.text, "from './").into_iter().chain(urls) {
                assert!(is_served(name), "{} names {name}", file.name);
            }
            let elsewhere = file.text.replace("http://www.w3.org/2000/svg", "");
            assert!(!elsewhere.contains("http:") && !elsewhere.contains("https:"), "{}", file.name);
        }
        assert!(!INDEX.contains("http:") && !INDEX.contains("https:"));
    }
}
