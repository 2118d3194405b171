//! Exit codes.

use std::process::ExitCode;

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
}

impl Exit {
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
        }
    }
}

impl From<Exit> for ExitCode {
    fn from(exit: Exit) -> ExitCode {
        ExitCode::from(exit.code())
    }
}
