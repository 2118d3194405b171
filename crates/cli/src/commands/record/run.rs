//! One run of the program.

use std::ffi::OsString;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Child, Command};
use std::thread;
use std::time::{Duration, Instant};

use anyhow::Context;

use crate::args::RecordArgs;
use crate::exit::Exit;

/// How often a program with a time limit is looked after.
const LOOK: Duration = Duration::from_millis(10);
/// How much later than the recorder this ends the program, which then does not reach the recorder at all.
const GRACE: Duration = Duration::from_secs(2);

/// A path with more slashes at its start, which mean nothing: where the program's stack begins depends on the size of its
/// environment, and the same seed must give the same run.
fn padded(path: &Path) -> OsString {
    const MULTIPLE: usize = 256;
    let path = path.as_os_str();
    let mut padded = OsString::from("/".repeat(path.len().next_multiple_of(MULTIPLE) - path.len()));
    padded.push(path);
    padded
}

/// A program under way.
pub(super) struct Run {
    child: std::cell::RefCell<Child>,
    pub(super) raw: Raw,
    limit: Option<Duration>,
    started: Instant,
}

/// What the recorder in a program writes.
pub(super) struct Raw {
    pub(super) path: PathBuf,
}

/// How a run ended.
pub(super) struct Ended {
    pub(super) exit: Exit,
    /// What the recorder had to say.
    pub(super) notes: Vec<String>,
}

impl Run {
    pub(super) fn start(
        args: &RecordArgs,
        program: &Path,
        arguments: &[OsString],
        output: &Path,
        number: u64,
    ) -> anyhow::Result<Run> {
        // The program may change its folder.
        let mut raw = std::path::absolute(output)?.into_os_string();
        raw.push(format!(".{}.raw", std::process::id()));
        let raw = PathBuf::from(raw);
        let mut command = Command::new(program);
        command.args(arguments).env("REWEAVE_RECORD", padded(&raw));
        command.env("REWEAVE_POLICY", format!("{:8}", args.policy.name()).replace(' ', "-"));
        let limit =
            args.timeout.map_or(0, |limit| u64::try_from(limit.as_millis()).unwrap_or(u64::MAX).max(1));
        for (name, value) in [
            ("REWEAVE_SEED", args.seed.wrapping_add(number)),
            ("REWEAVE_MAX_EVENTS", args.max_events),
            ("REWEAVE_MAX_SIZE", args.max_size),
            ("REWEAVE_TIMEOUT_MS", limit),
        ] {
            command.env(name, format!("{value:020}"));
        }
        let child = command.spawn().with_context(|| format!("{} does not start", program.display()))?;
        Ok(Run { child: child.into(), raw: Raw { path: raw }, limit: args.timeout, started: Instant::now() })
    }

    /// Waits for its end.
    pub(super) fn wait(&self) -> anyhow::Result<Ended> {
        let mut child = self.child.borrow_mut();
        let mut killed = false;
        let status = match self.limit {
            None => child.wait()?,
            Some(limit) => loop {
                if let Some(status) = child.try_wait()? {
                    break status;
                }
                if self.started.elapsed() > limit + GRACE {
                    killed = true;
                    child.kill()?;
                    break child.wait()?;
                }
                thread::sleep(LOOK);
            },
        };
        let mut notes = self.raw.notes();
        if killed {
            notes.push("timeout".to_owned());
        }
        let ended = notes.iter().any(|note| note == "deadlock" || note == "timeout");
        Ok(Ended { exit: if ended { Exit::Stopped } else { Exit::of_program(status) }, notes })
    }
}

impl Raw {
    /// A file that the recorder writes beside the recording.
    pub(super) fn beside(&self, ending: &str) -> PathBuf {
        let mut path = self.path.clone().into_os_string();
        path.push(ending);
        path.into()
    }

    /// What the recorder had to say.
    pub(super) fn notes(&self) -> Vec<String> {
        let notes = fs::read_to_string(self.beside(".note")).unwrap_or_default();
        notes.lines().map(str::to_owned).collect()
    }

    /// Removes what the trace was made from.
    pub(super) fn remove(&self) {
        for path in [self.path.clone(), self.beside(".note"), self.beside(".maps")] {
            // It is in nobody's way, and the trace is there.
            let _ = fs::remove_file(path);
        }
    }
}
