//! The part of the Python package that is in Rust: traces, and what can be asked of them.
//!
//! Documents cross the border as JSON, in the form that `docs/json.md` describes; `python/reweave` gives them types. Columns
//! cross it as buffers, without a copy.

mod column;
mod interruptible;
mod trace;

use pyo3::exceptions::{PyOSError, PyRuntimeError, PyValueError};
use pyo3::prelude::*;
use reweave_report::html;
use reweave_report::json::predict::Document;
use reweave_trace::{Kind, Model};

/// Events, findings and answers of Reweave.
#[pymodule]
fn _reweave(module: &Bound<'_, PyModule>) -> PyResult<()> {
    module.add("__version__", env!("CARGO_PKG_VERSION"))?;
    let operations: Vec<String> = Kind::ALL.iter().map(|kind| snake(&format!("{kind:?}"))).collect();
    module.add("OPERATIONS", operations)?;
    let models: Vec<&str> = Model::ALL.iter().map(|model| model.name()).collect();
    module.add("MODELS", models)?;
    module.add_class::<trace::Trace>()?;
    module.add_class::<column::Column>()?;
    module.add_function(wrap_pyfunction!(page, module)?)
}

/// The page of HTML for a document of `predict`.
#[pyfunction]
fn page(document: &str) -> PyResult<String> {
    let document = Document::parse(document.as_bytes()).map_err(value_error)?;
    Ok(html::page(&document))
}

/// `AtomicRead` as `atomic_read`.
fn snake(name: &str) -> String {
    let mut text = String::new();
    for letter in name.chars() {
        if letter.is_ascii_uppercase() && !text.is_empty() {
            text.push('_');
        }
        text.push(letter.to_ascii_lowercase());
    }
    text
}

/// What the caller got wrong.
fn value_error(error: impl std::fmt::Display) -> PyErr {
    PyValueError::new_err(error.to_string())
}

/// What we got wrong.
fn bug(error: impl std::fmt::Display) -> PyErr {
    PyRuntimeError::new_err(format!("this is a bug of Reweave, please report it: {error}"))
}

/// A file that cannot be read, or is not a trace.
fn file_error(error: reweave_format::Error) -> PyErr {
    match error {
        reweave_format::Error::Io { path, source } => {
            let message = source.to_string();
            match source.raw_os_error() {
                // Python picks the right class: FileNotFoundError and the like.
                Some(code) => PyOSError::new_err((code, message, path.display().to_string())),
                None => PyOSError::new_err(format!("{}: {message}", path.display())),
            }
        }
        error => value_error(error),
    }
}
