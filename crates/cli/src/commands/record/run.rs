//! One run of the program.

use std::ffi::OsString;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Child, Command};
use std::thread;
use std::time::{Duration, Instant};

use anyhow::Context;
use reweave_capture::{Drain, Stop, Taken};

use crate::args::RecordArgs;
use crate::console::Console;
use crate::exit::Exit;

/// How long to wait before looking for slots again: short while they come, longer while they do not.
const NAPS: [Duration; 2] = [Duration::from_micros(60), Duration::from_millis(1)];
/// What was recorded is written after so long without anything new.
const STALE: Duration = Duration::from_millis(100);
/// How many slots are taken in a row before the program is looked after.
const SPELL: u32 = 64;
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
    child: Child,
    drain: Drain,
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
    /// Whether a program came that could be recorded.
    pub(super) begun: bool,
    /// Whether the program wrote the end of the recording.
    pub(super) whole: bool,
    /// Whether the recording has the run from its start, so that occurrences can be counted.
    pub(super) from_start: bool,
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
        let mut drain = Drain::create(&raw, args.max_events, args.max_size)
            .with_context(|| format!("{} cannot be written", raw.display()))?;
        if let Some(keep) = args.last {
            drain = drain.keep_last(&raw, keep);
        }
        let mut command = Command::new(program);
        command.args(arguments).env("REWEAVE_RECORD", padded(&raw)).env("REWEAVE_RING", padded(drain.ring()));
        // What a replay is told more takes the same room.
        for name in ["REWEAVE_PLAN", "REWEAVE_INPUTS"] {
            command.env(name, "/".repeat(256));
        }
        command.env("REWEAVE_POLICY", format!("{:8}", args.policy.name()).replace(' ', "-"));
        let limit =
            args.timeout.map_or(0, |limit| u64::try_from(limit.as_millis()).unwrap_or(u64::MAX).max(1));
        for (name, value) in [
            ("REWEAVE_SEED", args.seed.wrapping_add(number)),
            ("REWEAVE_TIMEOUT_MS", limit),
            ("REWEAVE_CLOCK", args.clock),
        ] {
            command.env(name, format!("{value:020}"));
        }
        if args.output_aside {
            command.stdout(std::io::stderr());
        }
        let child = command.spawn().with_context(|| format!("{} does not start", program.display()))?;
        let raw = Raw { path: raw };
        Ok(Run { child, drain, raw, limit: args.timeout, started: Instant::now() })
    }

    /// Says once, and at once, that the recording cannot go on.
    fn tell_failure(&self, said: &mut bool, console: &Console) {
        if !*said && let Some(Stop::Failed(error)) = self.drain.stopped() {
            *said = true;
            console.warn(format_args!("the recording stops here, the program goes on: {error}"));
        }
    }

    /// Takes out what it records, until it ends.
    pub(super) fn wait(&mut self, console: &Console) -> anyhow::Result<Ended> {
        let (mut killed, mut said) = (false, false);
        let mut quiet = Instant::now();
        let status = loop {
            let taken = (0..SPELL).take_while(|_| self.drain.take() == Taken::Some).count();
            self.tell_failure(&mut said, console);
            if taken == SPELL as usize {
                continue;
            }
            if taken > 0 {
                quiet = Instant::now();
            } else if quiet.elapsed() > STALE {
                self.drain.flush();
            }
            if let Some(status) = self.child.try_wait()? {
                break status;
            }
            if self.limit.is_some_and(|limit| self.started.elapsed() > limit + GRACE) {
                killed = true;
                self.child.kill()?;
                break self.child.wait()?;
            }
            thread::sleep(if quiet.elapsed() < NAPS[1] { NAPS[0] } else { NAPS[1] });
        };
        self.drain.finish();
        self.tell_failure(&mut said, console);
        let mut notes = self.raw.notes();
        if killed {
            notes.push("timeout".to_owned());
        }
        notes.extend(self.drain.stopped().map(|stop| match stop {
            Stop::Events => "stopped max-events".to_owned(),
            Stop::Bytes => "stopped max-size".to_owned(),
            Stop::Failed(error) => format!("stopped {error}"),
        }));
        let ended = notes.iter().any(|note| note == "deadlock" || note == "timeout");
        let exit = if ended { Exit::Stopped } else { Exit::of_program(status) };
        let (begun, whole) = (self.drain.has_begun(), self.drain.is_whole());
        Ok(Ended { exit, notes, begun, whole, from_start: self.drain.keeps_all() })
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

    /// Puts what the program read where a replay looks for it; nothing where it read nothing.
    pub(super) fn keep_inputs(&self, path: &Path) {
        let kept = self.beside(".inputs");
        // Those of an earlier recording do not belong to this one.
        let _ = fs::remove_file(path);
        if fs::metadata(&kept).is_ok_and(|about| about.len() > 0) {
            let _ = fs::rename(kept, path);
        }
    }

    /// Removes what the trace was made from.
    pub(super) fn remove(&self) {
        let _ = fs::remove_file(&self.path);
        for ending in [".note", ".maps", ".before", ".inputs", ".calls"] {
            // It is in nobody's way, and the trace is there.
            let _ = fs::remove_file(self.beside(ending));
        }
    }
}
