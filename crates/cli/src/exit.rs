//! Exit codes.

use std::os::unix::process::ExitStatusExt;
use std::process::{ExitCode, ExitStatus};

/// How the program ends.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug)]
pub(crate) enum Exit {
    /// All is well; the answer is yes.
    Yes,
    /// The answer is no.
    No,
    /// The command or its input is wrong.
    BadInput,
    /// A limit was reached before there was an answer.
    Stopped,
    /// We are wrong.
    Bug,
    /// The user stopped it.
    Interrupted,
    /// A program that was run for the user ended with this.
    Program(u8),
}

impl Exit {
    /// As a program that was run for the user ended: by a signal, as shells say it.
    pub(crate) fn of_program(status: ExitStatus) -> Exit {
        let code = status.code().unwrap_or_else(|| 128 + status.signal().unwrap_or(0));
        if code == 0 { Exit::Yes } else { Exit::Program(code as u8) }
    }

    /// The number that the shell sees.
    pub(crate) fn code(self) -> u8 {
        match self {
            Exit::Yes => 0,
            Exit::No => 1,
            Exit::BadInput => 2,
            Exit::Stopped => 3,
            Exit::Bug => 70,
            // What shells give for a process that an interrupt ended.
            Exit::Interrupted => 130,
            Exit::Program(code) => code,
        }
    }
}

impl From<Exit> for ExitCode {
    fn from(exit: Exit) -> ExitCode {
        ExitCode::from(exit.code())
    }
}
