//! One rendering of errors as JSON and as text, for every surface.
//!
//! ```
//! let error = cozo::parse::parse_script("?[a] :- r[a]").unwrap_err();
//! let json = cozo::diag::format_error_as_json(error.into(), Some("?[a] :- r[a]"));
//! assert_eq!(json["code"], "parser::pest");
//! assert_eq!(json["labels"][0]["span"]["offset"], 5);
//! ```

use std::iter::successors;

use miette::{Diagnostic, GraphicalReportHandler, GraphicalTheme, LabeledSpan, Report, Severity};
use serde_json::{Map, Value, json};

/// Lines longer than this are not shown in a report: who sends them does not read them.
const LONGEST_LINE_SHOWN: usize = 4096;

/// An error as all surfaces answer it.
///
/// `message` is that of the outermost error and `causes` those below it. `code`, `help` and `labels` are taken from the
/// innermost diagnostic that has them; inner diagnostics are reached through [`Report::wrap_err`] and through fields
/// marked `#[diagnostic_source]`. `code` and `help` are absent when no error has them.
pub fn format_error_as_json(report: Report, source: Option<&str>) -> Value {
    let mut object = description(report.as_ref());
    object.insert("ok".into(), json!(false));
    let causes: Vec<String> = report.chain().skip(1).map(ToString::to_string).collect();
    object.insert("causes".into(), json!(causes));
    object.insert("filename".into(), json!(""));
    let related = report.related().into_iter().flatten().map(|related| Value::Object(description(related)));
    object.insert("related".into(), related.collect());
    let shown = source.filter(|source| is_readable(source, report.as_ref()));
    let report = match shown {
        Some(source) => report.with_source_code(source.to_string()),
        None => report,
    };
    object.insert("display".into(), json!(render_report(&report, true)));
    Value::Object(object)
}

/// The report as text with the script's lines around each label, if the script was attached to it.
pub fn render_report(report: &Report, color: bool) -> String {
    let theme = if color { GraphicalTheme::unicode() } else { GraphicalTheme::unicode_nocolor() };
    let mut text = String::new();
    match GraphicalReportHandler::new_themed(theme).with_links(false).render_report(&mut text, report.as_ref()) {
        Ok(()) => text,
        Err(_) => report.to_string(),
    }
}

/// What is said about an error and a related one alike.
fn description(diagnostic: &dyn Diagnostic) -> Map<String, Value> {
    let mut object = Map::new();
    object.insert("message".into(), json!(diagnostic.to_string()));
    object.insert("severity".into(), json!(severity_name(diagnostic.severity())));
    let labels = innermost(diagnostic, |it| it.labels().map(Iterator::collect::<Vec<_>>)).unwrap_or_default();
    object.insert("labels".into(), labels.iter().map(label_as_json).collect());
    if let Some(code) = innermost(diagnostic, |it| it.code().map(|code| code.to_string())) {
        object.insert("code".into(), json!(code));
    }
    if let Some(help) = innermost(diagnostic, |it| it.help().map(|help| help.to_string())) {
        object.insert("help".into(), json!(help));
    }
    object
}

/// Asks each diagnostic from the outermost to the innermost; the last answer counts.
fn innermost<T>(diagnostic: &dyn Diagnostic, ask: impl Fn(&dyn Diagnostic) -> Option<T>) -> Option<T> {
    successors(Some(diagnostic), |outer| outer.diagnostic_source()).filter_map(ask).last()
}

fn severity_name(severity: Option<Severity>) -> &'static str {
    match severity {
        None | Some(Severity::Error) => "error",
        Some(Severity::Warning) => "warning",
        Some(Severity::Advice) => "advice",
    }
}

fn label_as_json(label: &LabeledSpan) -> Value {
    let span = json!({"offset": label.offset(), "length": label.len()});
    match label.label() {
        Some(text) => json!({"label": text, "span": span}),
        None => json!({"span": span}),
    }
}

/// Whether the labels lie within the script, on lines that a person would read.
fn is_readable(source: &str, diagnostic: &dyn Diagnostic) -> bool {
    let labels = innermost(diagnostic, |it| it.labels().map(Iterator::collect::<Vec<_>>)).unwrap_or_default();
    labels.iter().all(|label| {
        let end = label.offset() + label.len();
        let (Some(before), Some(after)) = (source.get(..label.offset()), source.get(end..)) else { return false };
        let line_start = before.len() - before.rfind('\n').map_or(0, |at| at + 1);
        line_start + label.len() + after.find('\n').unwrap_or(after.len()) <= LONGEST_LINE_SHOWN
    })
}

#[cfg(test)]
mod tests {
    use miette::{WrapErr, miette};

    use super::*;
    use crate::diag::SourceSpan;

    #[derive(Debug, thiserror::Error, miette::Diagnostic)]
    #[error("bad value")]
    #[diagnostic(code(eval::throw), help("mend it"))]
    struct Inner(#[label("here")] SourceSpan);

    #[derive(Debug, thiserror::Error, miette::Diagnostic)]
    #[error("while running")]
    struct Outer(
        #[source]
        #[diagnostic_source]
        Inner,
    );

    fn assert_inner_is_reached(json: &Value) {
        assert_eq!(json["ok"], false);
        assert_eq!(json["severity"], "error");
        assert_eq!(json["code"], "eval::throw");
        assert_eq!(json["help"], "mend it");
        assert_eq!(json["labels"], json!([{"label": "here", "span": {"offset": 2, "length": 3}}]));
    }

    #[test]
    fn wrapped_errors_keep_what_is_known_below() {
        let report = Report::new(Inner(SourceSpan(2, 3))).wrap_err("when executing against relation 'r'");
        let json = format_error_as_json(report, Some("a bad b"));
        assert_inner_is_reached(&json);
        assert_eq!(json["message"], "when executing against relation 'r'");
        assert_eq!(json["causes"], json!(["bad value"]));
        assert!(json["display"].as_str().is_some_and(|display| display.contains("bad") && display.contains('\u{1b}')));
    }

    #[test]
    fn sources_and_several_wraps_are_followed() {
        let result: Result<(), Outer> = Err(Outer(Inner(SourceSpan(2, 3))));
        let report = result.wrap_err("one").wrap_err("two").expect_err("it is an error");
        let json = format_error_as_json(report, None);
        assert_inner_is_reached(&json);
        assert_eq!(json["causes"], json!(["one", "while running", "bad value"]));
    }

    #[test]
    fn what_is_unknown_is_absent() {
        let json = format_error_as_json(miette!("plain"), Some("script"));
        let mut keys: Vec<&str> = json.as_object().expect("it is an object").keys().map(String::as_str).collect();
        keys.sort_unstable();
        assert_eq!(keys, ["causes", "display", "filename", "labels", "message", "ok", "related", "severity"]);
        assert_eq!(json["filename"], "");
    }

    #[test]
    fn labels_outside_of_the_script_do_no_harm() {
        let json = format_error_as_json(Report::new(Inner(SourceSpan(20, 3))), Some("short"));
        assert!(json["display"].as_str().is_some_and(|display| display.contains("bad value")));
    }
}
