//! One run of the program under a schedule.
//!
//! The program has a process group of its own. When it has ended, or its time is up, whatever is left of that group is ended
//! too, and so is every process that carries the run's name in its environment, wherever it moved to.

use std::ffi::{OsStr, OsString};
use std::fs;
use std::io::{self, Read};
use std::os::unix::process::CommandExt;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, ExitStatus, Stdio};
use std::sync::mpsc::{self, Receiver};
use std::thread;
use std::time::{Duration, Instant};

use reweave_capture::{Drain, build_of};
use rustix::process::{Pid, Signal, kill_process, kill_process_group};

use crate::Error;
use crate::inputs;
use crate::outcome::{self, Report};
use crate::plan::{self, Wish};
use crate::schedule::Schedule;

/// How often a program is looked after.
const LOOK: Duration = Duration::from_millis(2);
/// How much later than the runtime this ends a program.
const GRACE: Duration = Duration::from_secs(2);
/// Output beyond this is not kept.
const MOST_OUTPUT: u64 = 1 << 20;

/// A program and how to run it.
#[derive(Clone, Debug)]
pub struct Run<'r> {
    /// The program's file.
    pub program: &'r Path,
    /// Its arguments.
    pub arguments: &'r [OsString],
    /// What it reads; nothing where there is none.
    pub input: Option<&'r Path>,
    /// When it is ended.
    pub timeout: Duration,
    /// What was read in the recorded run, to be read again.
    pub recorded_inputs: Option<&'r Path>,
}

/// How a run ended.
#[derive(Debug)]
pub struct Ended {
    /// What the runtime says.
    pub report: Report,
    /// How the program ended; none where it was ended because its time was up.
    pub status: Option<ExitStatus>,
    /// What it wrote to its standard output.
    pub out: String,
    /// And to its standard error.
    pub err: String,
}

/// Makes sure that a program is the one that a schedule is for.
pub fn check_program(program: &Path, schedule: &Schedule) -> Result<(), Error> {
    let bytes = fs::read(program)?;
    let Some(recorded) = schedule.modules.first() else {
        return Err(Error::OtherProgram("the schedule names no program".to_owned()));
    };
    let build = build_of(&bytes);
    if build == recorded.build {
        return Ok(());
    }
    let name = program.file_name().unwrap_or_default().to_string_lossy();
    let what = if name == recorded.name.as_str() {
        "it was built anew since"
    } else {
        "it is another program, or another build"
    };
    Err(Error::OtherProgram(format!(
        "{} is not what was recorded: {what} (the recorded build is {} {}, this one is {build})",
        program.display(),
        recorded.name,
        recorded.build
    )))
}

/// A path with more slashes at its start, which mean nothing: where the program's stack begins depends on the size of its
/// environment.
fn padded(path: &Path) -> OsString {
    const MULTIPLE: usize = 256;
    let path = path.as_os_str();
    let mut padded = OsString::from("/".repeat((path.len() + 1).next_multiple_of(MULTIPLE) - path.len()));
    padded.push(path);
    padded
}

impl Run<'_> {
    /// Runs the program under a schedule.
    pub fn start(&self, schedule: &Schedule, wish: Wish) -> Result<Ended, Error> {
        let folder = tempfile::tempdir()?;
        let (mut command, _ring) = self.command(folder.path(), schedule, wish, self.program.as_os_str())?;
        command.args(self.arguments).process_group(0);
        command.stdin(match self.input {
            Some(path) => Stdio::from(fs::File::open(path)?),
            None => Stdio::null(),
        });
        command.stdout(Stdio::piped()).stderr(Stdio::piped());
        let mut child = command.spawn()?;
        let out = collect(child.stdout.take());
        let err = collect(child.stderr.take());
        let status = wait(&mut child, self.timeout + GRACE, folder.path())?;
        let notes = notes(folder.path());
        let maps = fs::read_to_string(folder.path().join("raw.maps")).unwrap_or_default();
        let mut report = outcome::report(schedule, wish.order, &notes, &maps);
        if status.is_none() && report.outcome == outcome::Outcome::Finished {
            report.outcome = outcome::Outcome::Hung;
            report.timed_out = true;
        }
        let text = |from: Receiver<Vec<u8>>| {
            let bytes = from.recv_timeout(GRACE).unwrap_or_default();
            String::from_utf8_lossy(&bytes).into_owned()
        };
        Ok(Ended { report, status, out: text(out), err: text(err) })
    }

    /// Runs it under a debugger, which stops where the bug is about to happen. Input and output are the user's.
    pub fn debug(&self, schedule: &Schedule, wish: Wish, debugger: &[OsString]) -> Result<ExitStatus, Error> {
        let folder = tempfile::tempdir()?;
        let Some((name, flags)) = debugger.split_first() else {
            return Err(Error::OtherProgram("no debugger is given".to_owned()));
        };
        let (mut command, _ring) =
            self.command(folder.path(), schedule, Wish { stops: true, ..wish }, name)?;
        command.args(flags).arg("--args").arg(self.program).args(self.arguments);
        // A user at a debugger takes any time.
        command.env("REWEAVE_TIMEOUT_MS", format!("{:020}", 0));
        let status = command.status()?;
        end_leftovers(folder.path());
        Ok(status)
    }

    fn command(
        &self,
        folder: &Path,
        schedule: &Schedule,
        wish: Wish,
        program: &OsStr,
    ) -> Result<(Command, Drain), Error> {
        // Nobody listens to what it records: the notes are all that counts.
        let raw = folder.join("raw");
        let ring = Drain::create(&raw, 1, u64::MAX)?;
        ring.refuse();
        let plan_path = folder.join("plan");
        let mut named = schedule.clone();
        // It is found by the name of its file, which may have changed.
        if let (Some(module), Some(name)) = (named.modules.first_mut(), self.program.file_name()) {
            module.name = name.to_string_lossy().into_owned();
        }
        fs::write(&plan_path, plan::write(&named, wish))?;
        let mut command = Command::new(program);
        command.env("REWEAVE_RECORD", padded(&raw)).env("REWEAVE_RING", padded(ring.ring()));
        command.env("REWEAVE_PLAN", padded(&plan_path));
        command.env("REWEAVE_POLICY", "plain---");
        let mut given = PathBuf::new();
        if let Some(path) = self.recorded_inputs {
            given = folder.join("inputs");
            fs::write(&given, inputs::translate(&fs::read(path)?, schedule))?;
        }
        command.env("REWEAVE_INPUTS", padded(&given));
        let limit = u64::try_from(self.timeout.as_millis()).unwrap_or(u64::MAX).max(1);
        for (name, value) in [("REWEAVE_SEED", 0), ("REWEAVE_TIMEOUT_MS", limit), ("REWEAVE_CLOCK", 0)] {
            command.env(name, format!("{value:020}"));
        }
        Ok((command, ring))
    }
}

/// What the runtime wrote down.
fn notes(folder: &Path) -> Vec<String> {
    let notes = fs::read(folder.join("raw.note")).unwrap_or_default();
    String::from_utf8_lossy(&notes).lines().map(str::to_owned).collect()
}

/// Reads a stream to its end, and gives what it read.
fn collect(stream: Option<impl Read + Send + 'static>) -> Receiver<Vec<u8>> {
    let (send, receive) = mpsc::channel();
    thread::spawn(move || {
        let mut bytes = Vec::new();
        if let Some(mut stream) = stream {
            // What cannot be read is not there.
            let _ = stream.by_ref().take(MOST_OUTPUT).read_to_end(&mut bytes);
            let _ = io::copy(&mut stream, &mut io::sink());
        }
        let _ = send.send(bytes);
    });
    receive
}

/// Waits for the program, or ends it; with it goes all that it started.
fn wait(child: &mut Child, limit: Duration, folder: &Path) -> Result<Option<ExitStatus>, Error> {
    let started = Instant::now();
    let mut pause = Duration::from_micros(200);
    let status = loop {
        if let Some(status) = child.try_wait()? {
            break Some(status);
        }
        if started.elapsed() > limit {
            break None;
        }
        thread::sleep(pause);
        pause = (pause * 2).min(LOOK);
    };
    if let Some(group) = i32::try_from(child.id()).ok().and_then(Pid::from_raw) {
        // It may have ended with nothing left.
        let _ = kill_process_group(group, Signal::KILL);
    }
    end_leftovers(folder);
    if status.is_none() {
        child.wait()?;
    }
    Ok(status)
}

/// Ends the processes that were started with this run's folder in their environment.
fn end_leftovers(folder: &Path) {
    let mark = folder.as_os_str().as_encoded_bytes();
    let Ok(processes) = fs::read_dir("/proc") else { return };
    for process in processes.flatten() {
        let name = process.file_name();
        let Some(id) = name.to_str().and_then(|name| name.parse().ok()).and_then(Pid::from_raw) else {
            continue;
        };
        let environment = fs::read(process.path().join("environ")).unwrap_or_default();
        let ours = id == rustix::process::getpid();
        if !ours && environment.windows(mark.len()).any(|part| part == mark) {
            let _ = kill_process(id, Signal::KILL);
        }
    }
}
