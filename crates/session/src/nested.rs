//! A command that runs sessions of its own below it, such as cargo.
//!
//! Signals are passed on to whatever is below, but not to the programs of those sessions, which their own session looks after;
//! and so long as one of them is under way, this waits for it.

use std::io;
use std::path::Path;
use std::process::{Child, Command, ExitStatus, Output, Stdio};
use std::thread;
use std::time::{Duration, Instant};

use crate::collect::Collected;
use crate::interrupt::Running;
use crate::patience::{Patience, Step};
use crate::processes;

const NAP: Duration = Duration::from_millis(2);
const TERMINATE: i32 = 15;
/// How long a command may take to end once its time is over.
const GRACE: Duration = Duration::from_secs(2);

/// A command under way. Should this go before the command has ended, that is asked to end.
pub struct Nested {
    child: Child,
    status: Option<ExitStatus>,
    /// When it is asked to end, if that is not left to itself.
    end: Option<Instant>,
    /// How long it may take to end then, before it is killed; none where it may take any time.
    grace: Option<Duration>,
    _running: Running,
}

impl Nested {
    /// Runs a command to its end.
    pub fn status(command: &mut Command) -> io::Result<ExitStatus> {
        Nested::start(command)?.wait()
    }

    /// Runs a command to its end, and asks it and all that is below it to end when its time is over; whether it was asked.
    pub fn status_before(command: &mut Command, end: Option<Instant>) -> io::Result<(ExitStatus, bool)> {
        let mut nested = Nested::start(command)?;
        nested.end = end;
        let status = nested.wait()?;
        Ok((status, end.is_some() && nested.end.is_none()))
    }

    /// Runs a command to its end, and keeps what it writes.
    pub fn output(command: &mut Command) -> io::Result<Output> {
        let mut nested = Nested::start(command.stdout(Stdio::piped()).stderr(Stdio::piped()))?;
        let out = Collected::start(nested.child.stdout.take(), u64::MAX);
        let err = Collected::start(nested.child.stderr.take(), u64::MAX);
        let status = nested.wait()?;
        Ok(Output { status, stdout: out.bytes(), stderr: err.bytes() })
    }

    /// The same until its time is over: then it is asked to end, and killed when it does not.
    /// Nothing of it stays behind in any case, where this process adopts; none where it was ended
    /// before its end.
    pub fn output_before(command: &mut Command, end: Option<Instant>) -> io::Result<Option<Output>> {
        let mut nested = Nested::start(command.stdout(Stdio::piped()).stderr(Stdio::piped()))?;
        let out = Collected::start(nested.child.stdout.take(), u64::MAX);
        let err = Collected::start(nested.child.stderr.take(), u64::MAX);
        nested.end = end;
        nested.grace = Some(GRACE);
        let status = nested.wait()?;
        if processes::adopts() {
            processes::end_rest();
        }
        let was_ended = end.is_some() && nested.end.is_none();
        let output = Output { status, stdout: out.bytes(), stderr: err.bytes() };
        Ok((!was_ended).then_some(output))
    }

    fn start(command: &mut Command) -> io::Result<Nested> {
        let running = Running::new();
        Ok(Nested { child: command.spawn()?, status: None, end: None, grace: None, _running: running })
    }

    fn wait(&mut self) -> io::Result<ExitStatus> {
        let mut patience = Patience::new(None, true);
        let mut killed: Option<Instant> = None;
        loop {
            processes::bury(self.child.id() as i32);
            if self.status.is_none() {
                self.status = self.child.try_wait()?;
            }
            // A signal to the group may end the command before the sessions below it have ended theirs.
            if let Some(status) = self.status.filter(|_| !processes::is_nested_running()) {
                return Ok(status);
            }
            if self.end.is_some_and(|end| end <= Instant::now()) {
                self.end = None;
                self.forward(TERMINATE);
                killed = self.grace.and_then(|grace| Instant::now().checked_add(grace));
            }
            if killed.is_some_and(|end| end <= Instant::now()) {
                killed = None;
                self.kill();
            }
            if let Step::Forward(signal) = patience.look() {
                self.forward(signal);
            }
            thread::sleep(NAP);
        }
    }

    fn forward(&self, signal: i32) {
        if processes::adopts() {
            processes::outermost().into_iter().for_each(|id| processes::send(id, signal));
        } else if self.status.is_none() {
            processes::send(self.child.id() as i32, signal);
        }
    }

    fn kill(&mut self) {
        match processes::adopts() {
            true => processes::end_all(self.child.id() as i32, false, Path::new("/")),
            false => _ = self.child.kill(),
        }
    }
}

impl Drop for Nested {
    fn drop(&mut self) {
        if self.status.is_none() {
            self.forward(TERMINATE);
            let _ = self.child.wait();
        }
    }
}
