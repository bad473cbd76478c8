//! Diagnostics: spans into scripts, and errors rendered as text and as JSON.
//!
//! Every stage has its own error enum. All of them are `miette` diagnostics with a stable code, and become a [`miette::Report`]
//! at the API. This module renders such a report, once for all surfaces.

mod located;
mod nearest;
mod other_source;
mod render;

pub use located::locate;
pub use nearest::nearest;
pub use other_source::elsewhere;
pub use render::{code_of, format_error_as_json, render_report, show_in, wrap};

/// A part of a script: offset and length in bytes.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug, Default, serde::Serialize, serde::Deserialize)]
pub struct SourceSpan(pub usize, pub usize);

impl SourceSpan {
    /// The smallest span that covers both.
    pub fn merge(self, other: SourceSpan) -> SourceSpan {
        let start = self.0.min(other.0);
        let end = (self.0 + self.1).max(other.0 + other.1);
        SourceSpan(start, end - start)
    }
}

impl From<SourceSpan> for miette::SourceSpan {
    fn from(span: SourceSpan) -> Self {
        (span.0, span.1).into()
    }
}
