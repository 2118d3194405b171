//! The launcher: a program started under the recorder and seen to its end.
//!
//! A [`Launch`] says what to run and how, [`Session`] is the run: the ring is drained, signals to this process reach the
//! program, time limits hold. [`Nested`] is a command that starts sessions of its own, such as cargo. Temporary files are in a
//! [`Folder`] that only its owner may enter.
//!
//! **Invariant.** However a run ends (by itself, by a signal to this process or to its group, by its time limit, by a panic
//! here), no process of the program is left, and no file outside of what was asked for. A signal to this process ends the
//! program, not the recording: what was recorded by then is there to be converted.
#![forbid(unsafe_code)]

mod collect;
mod environment;
mod folder;
pub mod interrupt;
mod launch;
mod nested;
mod patience;
mod processes;
mod session;

pub use collect::Collected;
pub use folder::{Files, Folder};
pub use launch::{Launch, Limits};
pub use nested::Nested;
pub use processes::adopt;
pub use session::{End, Session, Stopped};
