//! Errors as the user sees them: one message, and a hint where there is one.

use std::fmt;
use std::io;

use reweave_session::interrupt;

use crate::console::Console;
use crate::exit::Exit;

/// What to do where there is no memory left.
const MORE_MEMORY: &str = "end other programs, or raise the limit (ulimit -v)";

/// An error of the command line itself.
#[derive(Debug)]
pub(crate) struct Failure {
    message: String,
    hint: Option<String>,
    /// Whether it is for want of memory.
    no_memory: bool,
    /// Whether a limit of the user was reached.
    stopped: bool,
}

impl Failure {
    pub(crate) fn new(message: impl Into<String>) -> Failure {
        Failure { message: message.into(), hint: None, no_memory: false, stopped: false }
    }

    /// An error for want of memory.
    pub(crate) fn no_memory(message: impl Into<String>) -> Failure {
        Failure { no_memory: true, ..Failure::new(message) }.hint(MORE_MEMORY)
    }

    /// A limit of the user that was reached before there was an answer.
    pub(crate) fn stopped(message: impl Into<String>) -> Failure {
        Failure { stopped: true, ..Failure::new(message) }
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
    let whole = error.is::<reweave_format::Error>() || error.is::<reweave_capture::Error>();
    if whole {
        console.error(error)
    } else {
        console.error(format_args!("{error:#}"))
    }
    if let Some(hint) = hint(error) {
        console.hint(hint);
    }
    let stopped = error.downcast_ref::<Failure>().is_some_and(|failure| failure.stopped);
    if stopped || is_out_of_memory(error) {
        return Exit::Stopped;
    }
    Exit::BadInput
}

fn hint(error: &anyhow::Error) -> Option<&str> {
    if let Some(error) = error.downcast_ref::<reweave_format::Error>() {
        return error.hint();
    }
    match error.downcast_ref::<Failure>() {
        Some(failure) => failure.hint.as_deref(),
        None => is_out_of_memory(error).then_some(MORE_MEMORY),
    }
}

/// Whether the system has no memory left for something that is not ours to allocate.
fn is_out_of_memory(error: &anyhow::Error) -> bool {
    let no_memory = |error: &io::Error| error.kind() == io::ErrorKind::OutOfMemory;
    if let Some(error) = error.downcast_ref::<reweave_format::Error>() {
        return matches!(error, reweave_format::Error::Io { source, .. } if no_memory(source));
    }
    if let Some(error) = error.downcast_ref::<reweave_capture::Error>() {
        return matches!(error, reweave_capture::Error::Io { source, .. } if no_memory(source));
    }
    if let Some(failure) = error.downcast_ref::<Failure>() {
        return failure.no_memory;
    }
    // That no thread can be made is also for want of memory.
    let no_thread = |error: &io::Error| error.kind() == io::ErrorKind::WouldBlock;
    error.downcast_ref::<io::Error>().is_some_and(|error| no_memory(error) || no_thread(error))
}

fn is_broken_pipe(error: &anyhow::Error) -> bool {
    let broken = |error: &io::Error| error.kind() == io::ErrorKind::BrokenPipe;
    match error.downcast_ref::<reweave_format::Error>() {
        Some(reweave_format::Error::Io { source, .. }) => broken(source),
        Some(_) => false,
        None => error.downcast_ref::<io::Error>().is_some_and(broken),
    }
}
