//! Adds the place of the running statement to errors without a place.
//!
//! A timeout, or a conflict at commit, arises where the script is unknown. The caller that runs the script adds the place.

use std::error::Error;
use std::fmt::{self, Display, Formatter};

use miette::{Diagnostic, LabeledSpan, Report, Severity, SourceCode};

use super::SourceSpan;

/// The report with a label at a place, unless it has one.
pub fn locate(report: Report, place: SourceSpan, label: &'static str) -> Report {
    let mut causes = std::iter::successors(Some(report.as_ref() as &dyn Diagnostic), |it| it.diagnostic_source());
    if causes.any(|it| it.labels().is_some_and(|mut labels| labels.next().is_some())) {
        return report;
    }
    Report::new(Located { inner: report, place, label })
}

/// See [`locate`]. Everything but the label comes from the inner report.
#[derive(Debug)]
struct Located {
    inner: Report,
    place: SourceSpan,
    label: &'static str,
}

impl Display for Located {
    fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
        Display::fmt(&self.inner, f)
    }
}

impl Error for Located {
    fn source(&self) -> Option<&(dyn Error + 'static)> {
        self.inner.source()
    }
}

impl Diagnostic for Located {
    fn code<'a>(&'a self) -> Option<Box<dyn Display + 'a>> {
        self.inner.code()
    }

    fn severity(&self) -> Option<Severity> {
        self.inner.severity()
    }

    fn help<'a>(&'a self) -> Option<Box<dyn Display + 'a>> {
        self.inner.help()
    }

    fn labels(&self) -> Option<Box<dyn Iterator<Item = LabeledSpan> + '_>> {
        let label = LabeledSpan::new_with_span(Some(self.label.to_string()), self.place);
        Some(Box::new(std::iter::once(label)))
    }

    fn related<'a>(&'a self) -> Option<Box<dyn Iterator<Item = &'a dyn Diagnostic> + 'a>> {
        self.inner.related()
    }

    fn source_code(&self) -> Option<&dyn SourceCode> {
        self.inner.source_code()
    }

    fn diagnostic_source(&self) -> Option<&dyn Diagnostic> {
        self.inner.diagnostic_source()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::diag::format_error_as_json;

    #[derive(Debug, thiserror::Error, miette::Diagnostic)]
    #[error("stopped")]
    #[diagnostic(code(eval::killed), help("run it again"))]
    struct Nowhere;

    #[derive(Debug, thiserror::Error, miette::Diagnostic)]
    #[error("bad value")]
    struct Somewhere(#[label("here")] SourceSpan);

    #[test]
    fn only_what_has_no_place_gets_one() {
        let outer = SourceSpan(0, 6);
        let json = format_error_as_json(locate(Report::new(Nowhere), outer, "in this"), Some("script"));
        assert_eq!(
            (&json["message"], &json["code"], &json["help"]),
            (&"stopped".into(), &"eval::killed".into(), &"run it again".into())
        );
        assert_eq!(json["labels"][0]["label"], "in this");
        assert_eq!(json["causes"], serde_json::json!([]));
        let json =
            format_error_as_json(locate(Report::new(Somewhere(SourceSpan(2, 1))), outer, "in this"), Some("script"));
        assert_eq!(json["labels"].as_array().map(Vec::len), Some(1));
        assert_eq!(json["labels"][0]["label"], "here");
    }
}
