//! One rendering of errors as JSON and as text, for every surface.
//!
//! Errors are wrapped on their way up: the outermost message says what was tried, the innermost diagnostic knows why it
//! failed and where. Both surfaces show the outermost message, all causes, and the `code`, `help` and labels of the
//! innermost diagnostic that has them. Inner diagnostics are reached through [`wrap`] and through fields marked
//! `#[diagnostic_source]`; `miette`'s own `wrap_err` hides whatever lies below a marked field.
//!
//! ```
//! let error = cozo::parse::parse_script("?[a] :- r[a]").unwrap_err();
//! let json = cozo::diag::format_error_as_json(error.into(), Some("?[a] :- r[a]"));
//! assert_eq!(json["code"], "parser::pest");
//! assert_eq!(json["labels"][0]["span"]["offset"], 5);
//! ```

use std::error::Error;
use std::fmt::{self, Display, Formatter};
use std::iter::successors;

use miette::{Diagnostic, GraphicalReportHandler, GraphicalTheme, LabeledSpan, Report, Severity, SourceCode};
use serde_json::{Map, Value, json};

/// Lines longer than this are not shown in a report, since they are not made for reading.
const LONGEST_LINE_SHOWN: usize = 4096;

/// An error as all surfaces answer it.
///
/// `source` is the script, from which the report under `display` shows lines. `code` and `help` are absent when no
/// diagnostic has them.
pub fn format_error_as_json(report: Report, source: Option<&str>) -> Value {
    let shown = source.filter(|source| is_readable(source, report.as_ref()));
    let flat = Flattened { diagnostic: report.as_ref(), source: shown };
    let mut object = description(&flat);
    object.insert("ok".into(), json!(false));
    let causes: Vec<String> = report.chain().skip(1).map(ToString::to_string).collect();
    object.insert("causes".into(), json!(causes));
    object.insert("filename".into(), json!(""));
    let related = flat.related().into_iter().flatten().map(|diagnostic| Flattened { diagnostic, source: None });
    object.insert("related".into(), related.map(|related| Value::Object(description(&related))).collect());
    object.insert("display".into(), json!(render(&flat, true)));
    Value::Object(object)
}

/// The report as text with the script's lines around each label, if the script was attached to it.
pub fn render_report(report: &Report, color: bool) -> String {
    render(&Flattened { diagnostic: report.as_ref(), source: None }, color)
}

/// The code of the innermost diagnostic that has one.
pub fn code_of(report: &Report) -> Option<String> {
    innermost(report.as_ref(), |it| it.code()).map(|code| code.to_string())
}

/// Puts a message on top of an error, below which everything stays reachable.
pub fn wrap(report: Report, message: impl Into<String>) -> Report {
    Report::new(Wrapped { message: message.into(), inner: report })
}

/// See [`wrap`].
#[derive(Debug)]
struct Wrapped {
    message: String,
    inner: Report,
}

impl Display for Wrapped {
    fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
        f.write_str(&self.message)
    }
}

impl Error for Wrapped {
    fn source(&self) -> Option<&(dyn Error + 'static)> {
        Some(self.inner.as_ref())
    }
}

impl Diagnostic for Wrapped {
    fn diagnostic_source(&self) -> Option<&dyn Diagnostic> {
        Some(self.inner.as_ref())
    }
}

/// A chain of diagnostics as one: the outermost message with the code, help and labels found below it.
#[derive(Debug)]
struct Flattened<'d> {
    diagnostic: &'d dyn Diagnostic,
    source: Option<&'d str>,
}

impl Display for Flattened<'_> {
    fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
        write!(f, "{}", self.diagnostic)
    }
}

impl Error for Flattened<'_> {
    fn source(&self) -> Option<&(dyn Error + 'static)> {
        self.diagnostic.source()
    }
}

impl Diagnostic for Flattened<'_> {
    fn code<'a>(&'a self) -> Option<Box<dyn Display + 'a>> {
        innermost(self.diagnostic, |it| it.code())
    }

    fn severity(&self) -> Option<Severity> {
        innermost(self.diagnostic, |it| it.severity())
    }

    fn help<'a>(&'a self) -> Option<Box<dyn Display + 'a>> {
        innermost(self.diagnostic, |it| it.help())
    }

    fn labels(&self) -> Option<Box<dyn Iterator<Item = LabeledSpan> + '_>> {
        innermost(self.diagnostic, |it| it.labels())
    }

    fn related<'a>(&'a self) -> Option<Box<dyn Iterator<Item = &'a dyn Diagnostic> + 'a>> {
        innermost(self.diagnostic, |it| it.related())
    }

    fn source_code(&self) -> Option<&dyn SourceCode> {
        let own = innermost(self.diagnostic, |it| it.source_code());
        own.or(self.source.as_ref().map(|source| source as &dyn SourceCode))
    }
}

/// Asks each diagnostic from the outermost to the innermost; the last answer counts.
pub(super) fn innermost<'d, T>(
    diagnostic: &'d dyn Diagnostic,
    ask: impl Fn(&'d dyn Diagnostic) -> Option<T>,
) -> Option<T> {
    successors(Some(diagnostic), |outer| outer.diagnostic_source()).filter_map(ask).last()
}

fn render(diagnostic: &dyn Diagnostic, color: bool) -> String {
    let theme = if color { GraphicalTheme::unicode() } else { GraphicalTheme::unicode_nocolor() };
    let mut text = String::new();
    match GraphicalReportHandler::new_themed(theme).with_links(false).render_report(&mut text, diagnostic) {
        Ok(()) => text,
        Err(_) => diagnostic.to_string(),
    }
}

/// The description of an error or a related error.
fn description(diagnostic: &dyn Diagnostic) -> Map<String, Value> {
    let mut object = Map::new();
    object.insert("message".into(), json!(diagnostic.to_string()));
    object.insert("severity".into(), json!(severity_name(diagnostic.severity())));
    object.insert("labels".into(), diagnostic.labels().into_iter().flatten().map(label_as_json).collect());
    if let Some(code) = diagnostic.code() {
        object.insert("code".into(), json!(code.to_string()));
    }
    if let Some(help) = diagnostic.help() {
        object.insert("help".into(), json!(help.to_string()));
    }
    object
}

fn severity_name(severity: Option<Severity>) -> &'static str {
    match severity {
        None | Some(Severity::Error) => "error",
        Some(Severity::Warning) => "warning",
        Some(Severity::Advice) => "advice",
    }
}

fn label_as_json(label: LabeledSpan) -> Value {
    let span = json!({"offset": label.offset(), "length": label.len()});
    match label.label() {
        Some(text) => json!({"label": text, "span": span}),
        None => json!({"span": span}),
    }
}

/// The report with a script, if its labels stand where a person can read them: a report shows the lines around its labels.
pub fn show_in(report: Report, source: &str) -> Report {
    match is_readable(source, report.as_ref()) {
        true => report.with_source_code(source.to_string()),
        false => report,
    }
}

/// Whether the labels lie within the script, on lines that a person would read, and between such lines.
fn is_readable(source: &str, diagnostic: &dyn Diagnostic) -> bool {
    let mut labels = innermost(diagnostic, |it| it.labels()).into_iter().flatten();
    labels.all(|label| {
        let end = label.offset() + label.len();
        let (Some(before), Some(after)) = (source.get(..label.offset()), source.get(end..)) else { return false };
        let mut lines_before = before.rsplit('\n').map(str::len);
        let mut lines_after = after.split('\n').map(str::len);
        let labelled = [lines_before.next(), Some(label.len()), lines_after.next()].into_iter().flatten().sum();
        let longest = lines_before.take(1).chain(lines_after.take(1)).fold(labelled, usize::max);
        longest <= LONGEST_LINE_SHOWN
    })
}

#[cfg(test)]
mod tests {
    use miette::miette;

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
        let report = wrap(wrap(Report::new(Outer(Inner(SourceSpan(2, 3)))), "one"), "two");
        assert_eq!(code_of(&report).as_deref(), Some("eval::throw"));
        let json = format_error_as_json(report, Some("a bad b"));
        assert_inner_is_reached(&json);
        assert_eq!(json["message"], "two");
        assert_eq!(json["causes"], json!(["one", "while running", "bad value"]));
        assert!(
            json["display"].as_str().is_some_and(|display| display.contains("eval::throw") && display.contains("here"))
        );
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
    fn long_lines_are_not_shown() {
        let long = "x".repeat(100_000);
        for source in [format!("a bad {long}"), format!("{long} bad"), format!("{long}\nbad"), format!("bad\n{long}")] {
            let at = source.find("bad").expect("it is there");
            let report = show_in(Report::new(Inner(SourceSpan(at, 3))), &source);
            assert!(format!("{report:?}").len() < 1000);
            let json = format_error_as_json(report, Some(&source));
            assert_eq!(json["labels"][0]["span"]["offset"], at);
            assert!(json["display"].as_str().is_some_and(|display| display.len() < 1000));
        }
    }

    #[test]
    fn labels_outside_of_the_script_do_no_harm() {
        let json = format_error_as_json(Report::new(Inner(SourceSpan(20, 3))), Some("short"));
        assert!(json["display"].as_str().is_some_and(|display| display.contains("bad value")));
    }
}
