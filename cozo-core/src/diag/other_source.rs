//! Errors in another text than the script, such as the text of a trigger.

use std::error::Error;
use std::fmt::{self, Display, Formatter};

use miette::{Diagnostic, LabeledSpan, Report};

use super::SourceSpan;
use super::render::innermost;

/// An error in another text: `message` says in which, and the label where the script runs it. The code and the help are those of
/// the error. The error itself is shown as a related one with the other text, so that no label points into the wrong text.
pub fn elsewhere(report: Report, message: String, label: &'static str, span: SourceSpan) -> Report {
    Report::new(Elsewhere { message, label, span, inner: report })
}

/// See [`elsewhere`].
#[derive(Debug)]
struct Elsewhere {
    message: String,
    label: &'static str,
    span: SourceSpan,
    inner: Report,
}

impl Display for Elsewhere {
    fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
        f.write_str(&self.message)
    }
}

impl Error for Elsewhere {
    fn source(&self) -> Option<&(dyn Error + 'static)> {
        Some(self.inner.as_ref())
    }
}

impl Diagnostic for Elsewhere {
    fn code<'a>(&'a self) -> Option<Box<dyn Display + 'a>> {
        innermost(self.inner.as_ref(), |it| it.code())
    }

    fn help<'a>(&'a self) -> Option<Box<dyn Display + 'a>> {
        innermost(self.inner.as_ref(), |it| it.help())
    }

    fn labels(&self) -> Option<Box<dyn Iterator<Item = LabeledSpan> + '_>> {
        let label = LabeledSpan::new_with_span(Some(self.label.to_string()), self.span);
        Some(Box::new(std::iter::once(label)))
    }

    fn related<'a>(&'a self) -> Option<Box<dyn Iterator<Item = &'a dyn Diagnostic> + 'a>> {
        Some(Box::new(std::iter::once(self.inner.as_ref() as &dyn Diagnostic)))
    }
}
