//! What to run, and how.

use std::ffi::{OsStr, OsString};
use std::io;
use std::path::Path;
use std::process::{Command, Stdio};
use std::time::Duration;

use reweave_capture::Drain;

use crate::environment;
use crate::folder::Folder;
use crate::session::Session;

/// How much is recorded.
#[derive(Clone, Copy, Debug)]
pub struct Limits {
    /// The most events.
    pub events: u64,
    /// The most bytes of the raw recording.
    pub bytes: u64,
    /// Only so many events at the end are kept, where this is given.
    pub last: Option<u64>,
}

impl Limits {
    /// Everything is recorded.
    pub const NONE: Limits = Limits { events: u64::MAX, bytes: u64::MAX, last: None };
}

/// A program, and how it is to run.
#[derive(Clone, Debug)]
pub struct Launch<'l> {
    /// What is executed: the program itself or what starts it, such as a debugger.
    pub program: &'l OsStr,
    /// Its arguments.
    pub arguments: &'l [OsString],
    /// How much is recorded; nothing at all where there are no limits.
    pub limits: Option<Limits>,
    /// Which thread runs next: a policy of the scheduler.
    pub policy: &'l str,
    /// What that is drawn from.
    pub seed: u64,
    /// The second at which the program's clock begins; 0 for now.
    pub clock: u64,
    /// When the program is ended.
    pub timeout: Option<Duration>,
    /// The schedule to force.
    pub plan: Option<&'l Path>,
    /// What the program is to read again.
    pub inputs: Option<&'l Path>,
    /// The folder of the driver that the program was started below: what it starts in turn has recordings of its own.
    pub driver: Option<&'l Path>,
    /// Whether the recording goes on in the child where the program forks while it has one thread.
    pub follows_child: bool,
    /// Whether the program has a process group of its own, and so no terminal. Else the terminal's signals reach it as if
    /// nothing was between.
    pub own_group: bool,
    /// How long the program has to end once this process was asked to.
    pub patience: Duration,
}

impl<'l> Launch<'l> {
    /// A program that is run as it is, with everything recorded.
    pub fn new(program: &'l OsStr, arguments: &'l [OsString]) -> Launch<'l> {
        Launch {
            program,
            arguments,
            limits: Some(Limits::NONE),
            policy: "random",
            seed: 0,
            clock: 0,
            timeout: None,
            plan: None,
            inputs: None,
            driver: None,
            follows_child: false,
            own_group: false,
            patience: Duration::from_secs(3),
        }
    }

    /// Starts the program with its files in a folder; `streams` sets where its input and output go.
    pub fn start(&self, folder: &Folder, streams: impl FnOnce(&mut Command)) -> io::Result<Session> {
        let raw = folder.files().raw().to_owned();
        let limits = self.limits.unwrap_or(Limits { events: 1, ..Limits::NONE });
        let mut drain = Drain::create(&raw, limits.events, limits.bytes)?;
        if let Some(keep) = limits.last {
            drain = drain.keep_last(&raw, keep);
        }
        if self.limits.is_none() {
            drain.refuse();
        }
        let mut command = Command::new(self.program);
        command.args(self.arguments).stdin(Stdio::inherit());
        environment::set(&mut command, self, &raw, drain.ring());
        streams(&mut command);
        Session::start(command, drain, folder, self)
    }
}
