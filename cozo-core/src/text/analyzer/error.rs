//! What can be wrong with the names and arguments of an analyzer.

/// An error of a tokenizer or a filter. The caller knows the place in the script, and adds it.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error, miette::Diagnostic)]
pub enum AnalyzerError {
    /// No tokenizer, or no filter, has this name. The help names one that is meant, or all.
    #[error("there is no {what} '{name}'")]
    #[diagnostic(code(text::unknown_name), help("{help}"))]
    UnknownName {
        /// `tokenizer` or `token filter`.
        what: &'static str,
        /// The name in question.
        name: String,
        /// What is accepted.
        help: String,
    },
    /// An argument is missing, of a wrong type or out of bounds, or there are too many.
    #[error("{what} '{name}': {problem}")]
    #[diagnostic(code(text::bad_argument), help("{help}"))]
    BadArgument {
        /// `tokenizer` or `token filter`.
        what: &'static str,
        /// Its name.
        name: &'static str,
        /// What is wrong.
        problem: String,
        /// How it is written.
        help: String,
    },
    /// This build lacks what the tokenizer needs. Compile with the feature.
    #[error("the tokenizer '{name}' is not in this build")]
    #[diagnostic(code(text::not_in_build), help("compile the crate with its feature '{feature}'"))]
    NotInBuild {
        /// The name of the tokenizer.
        name: &'static str,
        /// The feature of the crate.
        feature: &'static str,
    },
}
