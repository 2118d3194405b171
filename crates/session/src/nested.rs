//! A command that runs sessions of its own below it, such as cargo.
//!
//! Signals are passed on to whatever is below, but not to the programs of those sessions, which their own session looks after;
//! and so long as one of them is under way, this waits for it.

use std::io;
use std::process::{Child, Command, ExitStatus, Output, Stdio};
use std::thread;
use std::time::{Duration, Instant};

use crate::collect::Collected;
use crate::interrupt::Running;
use crate::patience::{Patience, Step};
use crate::processes;

const NAP: Duration = Duration::from_millis(2);
const TERMINATE: i32 = 15;

/// A command under way. Should this go before the command has ended, that is asked to end.
pub struct Nested {
    child: Child,
    status: Option<ExitStatus>,
    /// When it is asked to end, if that is not left to itself.
    end: Option<Instant>,
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

    fn start(command: &mut Command) -> io::Result<Nested> {
        let running = Running::new();
        Ok(Nested { child: command.spawn()?, status: None, end: None, _running: running })
    }

    fn wait(&mut self) -> io::Result<ExitStatus> {
        let mut patience = Patience::new(None, true);
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
}

impl Drop for Nested {
    fn drop(&mut self) {
        if self.status.is_none() {
            self.forward(TERMINATE);
            let _ = self.child.wait();
        }
    }
}
