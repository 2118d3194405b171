//! What can be wrong with the text of a specification.

use thiserror::Error;

/// A mistake in a specification, with its position.
#[derive(Clone, PartialEq, Eq, Debug, Error)]
#[error("{line}:{column}: {message}{}", .hint.as_ref().map_or(String::new(), |hint| format!(" ({hint})")))]
#[non_exhaustive]
pub struct SpecError {
    /// The line, from 1.
    pub line: u32,
    /// The column in characters, from 1.
    pub column: u32,
    /// What is wrong.
    pub message: String,
    /// What may help.
    pub hint: Option<String>,
}

/// A position in a text.
#[derive(Clone, Copy, PartialEq, Eq, Default, Debug)]
pub(crate) struct At {
    pub(crate) line: u32,
    pub(crate) column: u32,
}

impl At {
    pub(crate) fn error(self, message: impl Into<String>) -> SpecError {
        SpecError { line: self.line, column: self.column, message: message.into(), hint: None }
    }
}

impl SpecError {
    pub(crate) fn hint(mut self, hint: impl Into<String>) -> SpecError {
        self.hint = Some(hint.into());
        self
    }
}
