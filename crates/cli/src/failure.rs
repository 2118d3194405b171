//! Errors as the user sees them: one message, and a hint where there is one.

use std::fmt;
use std::io;

use crate::console::Console;
use crate::exit::Exit;
use crate::interrupt;

/// An error of the command line itself.
#[derive(Debug)]
pub(crate) struct Failure {
    message: String,
    hint: Option<String>,
}

impl Failure {
    pub(crate) fn new(message: impl Into<String>) -> Failure {
        Failure { message: message.into(), hint: None }
    }

    pub(crate) fn hint(self, hint: impl Into<String>) -> Failure {
        Failure { hint: Some(hint.into()), ..self }
    }
}

impl fmt::Display for Failure {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.message)
    }
}

impl std::error::Error for Failure {}

/// Prints `error`, and says how to end.
pub(crate) fn report(error: &anyhow::Error, console: &Console) -> Exit {
    if interrupt::requested() {
        console.error("interrupted: no file was written");
        return Exit::Interrupted;
    }
    if is_broken_pipe(error) {
        // Whoever reads our output has seen enough.
        return Exit::Yes;
    }
    // With `:#` the causes follow, but our own errors name theirs already.
    let whole = error.downcast_ref::<reweave_format::Error>().is_some();
    if whole {
        console.error(error)
    } else {
        console.error(format_args!("{error:#}"))
    }
    if let Some(hint) = hint(error) {
        console.hint(hint);
    }
    Exit::BadInput
}

fn hint(error: &anyhow::Error) -> Option<&str> {
    if let Some(error) = error.downcast_ref::<reweave_format::Error>() {
        return error.hint();
    }
    error.downcast_ref::<Failure>()?.hint.as_deref()
}

fn is_broken_pipe(error: &anyhow::Error) -> bool {
    let broken = |error: &io::Error| error.kind() == io::ErrorKind::BrokenPipe;
    match error.downcast_ref::<reweave_format::Error>() {
        Some(reweave_format::Error::Io { source, .. }) => broken(source),
        Some(_) => false,
        None => error.downcast_ref::<io::Error>().is_some_and(broken),
    }
}
