//! One run of the program under a schedule.

use std::ffi::{OsStr, OsString};
use std::path::{Path, PathBuf};
use std::process::{ExitStatus, Stdio};
use std::time::Duration;
use std::{fs, io};

use reweave_capture::build_of;
use reweave_session::{Collected, Files, Folder, Launch, Limits};

use crate::Error;
use crate::inputs;
use crate::outcome::{self, Report};
use crate::plan::{self, Wish};
use crate::schedule::Schedule;

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
    /// Where a recording of this run is to be left, if one is wanted.
    pub recording: Option<&'r Path>,
    /// Where it runs; here where there is none.
    pub folder: Option<&'r Path>,
    /// Whether the recording went on in the child where the program forked.
    pub follows_child: bool,
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
    /// What became of the recording of this run, where there is one.
    pub recording: Option<Recording>,
}

/// What is known of a recording beside what is in it.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Recording {
    /// Whether a program came that could be recorded.
    pub begun: bool,
    /// Whether the program wrote the end of it.
    pub whole: bool,
    /// Whether it has the run from its start.
    pub from_start: bool,
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

/// What a run needs in its folder.
struct Prepared<'f> {
    folder: &'f Folder,
    plan: PathBuf,
    inputs: Option<PathBuf>,
}

/// Writes what the runtime of `program` is to follow into a folder; the file.
pub fn write_plan(
    folder: &Folder,
    program: &Path,
    schedule: &Schedule,
    wish: Wish,
) -> Result<PathBuf, Error> {
    let plan = folder.path().join("plan");
    let mut named = schedule.clone();
    // It is found by the name of its file, which may have changed.
    if let (Some(module), Some(name)) = (named.modules.first_mut(), program.file_name()) {
        module.name = name.to_string_lossy().into_owned();
    }
    fs::write(&plan, plan::write(&named, wish))?;
    Ok(plan)
}

impl Run<'_> {
    /// Runs the program under a schedule.
    pub fn start(&self, schedule: &Schedule, wish: Wish) -> Result<Ended, Error> {
        self.start_in(&Folder::temporary()?, self.recording.is_some(), schedule, wish)
    }

    /// Runs the program under a schedule, with its files, and the recording of the run where that is wanted, in a folder.
    pub fn start_in(
        &self,
        folder: &Folder,
        records: bool,
        schedule: &Schedule,
        wish: Wish,
    ) -> Result<Ended, Error> {
        let prepared = self.prepare(folder, schedule, wish)?;
        let launch = self.launch(&prepared, self.program.as_os_str(), self.arguments);
        let mut ended =
            self.run_in(folder, Launch { limits: records.then_some(Limits::NONE), ..launch }, |files| {
                outcome::report(schedule, wish.order, &files.notes(), &files.maps())
            })?;
        if !records {
            ended.recording = None;
        }
        Ok(ended)
    }

    /// Runs the program without a schedule, and records it in a folder.
    pub fn record_in(&self, folder: &Folder, policy: &str, seed: u64) -> Result<Ended, Error> {
        let launch = Launch {
            policy,
            seed,
            follows_child: self.follows_child,
            ..Launch::new(self.program.as_os_str(), self.arguments)
        };
        self.run_in(folder, launch, |files| outcome::without_schedule(&files.notes()))
    }

    /// Runs the program to its end.
    fn run_in(
        &self,
        folder: &Folder,
        launch: Launch<'_>,
        report: impl FnOnce(&Files) -> Report,
    ) -> Result<Ended, Error> {
        let input = match self.input {
            Some(path) => Stdio::from(fs::File::open(path)?),
            None => Stdio::null(),
        };
        let launch = Launch {
            timeout: Some(self.timeout),
            own_group: true,
            // There is nothing to finish: what it does is of no use any more.
            patience: Duration::ZERO,
            ..launch
        };
        let mut session = launch.start(folder, |command| {
            command.stdin(input).stdout(Stdio::piped()).stderr(Stdio::piped());
            if let Some(folder) = self.folder {
                command.current_dir(folder);
            }
        })?;
        let (out, err) = session.output();
        let (out, err) = (Collected::start(out, MOST_OUTPUT), Collected::start(err, MOST_OUTPUT));
        let end = session.wait(|_| ())?;
        if end.asked.is_some() {
            return Err(Error::Interrupted);
        }
        let files = folder.files();
        if let Some(path) = self.recording {
            keep(&files, path)?;
        }
        let mut report = report(&files);
        if end.stopped.is_some() && report.outcome == outcome::Outcome::Finished {
            report.outcome = outcome::Outcome::Hung;
            report.timed_out = true;
        }
        let text = |from: Collected| String::from_utf8_lossy(&from.bytes()).into_owned();
        let status = end.stopped.is_none().then_some(end.status);
        let drain = session.drain();
        let recording =
            Recording { begun: drain.has_begun(), whole: drain.is_whole(), from_start: drain.keeps_all() };
        Ok(Ended { report, status, out: text(out), err: text(err), recording: Some(recording) })
    }

    /// Runs it under a debugger, which stops where the bug is about to happen. Input and output are
    /// the user's. `debugger` gives the command up to the program's name; it may put files into the
    /// folder.
    pub fn debug(
        &self,
        schedule: &Schedule,
        wish: Wish,
        debugger: impl FnOnce(&Folder) -> io::Result<Vec<OsString>>,
    ) -> Result<ExitStatus, Error> {
        let folder = Folder::temporary()?;
        let words = debugger(&folder)?;
        let Some((name, flags)) = words.split_first() else {
            return Err(Error::OtherProgram("no debugger is given".to_owned()));
        };
        let prepared = self.prepare(&folder, schedule, Wish { stops: true, ..wish })?;
        let mut arguments = flags.to_vec();
        arguments.push(self.program.as_os_str().to_owned());
        arguments.extend_from_slice(self.arguments);
        // A user at a debugger takes any time.
        let launch = Launch { timeout: None, limits: None, ..self.launch(&prepared, name, &arguments) };
        Ok(launch.start(prepared.folder, |_| ())?.wait(|_| ())?.status)
    }

    fn launch<'l>(
        &self,
        prepared: &'l Prepared<'_>,
        program: &'l OsStr,
        arguments: &'l [OsString],
    ) -> Launch<'l> {
        Launch {
            policy: "plain",
            plan: Some(&prepared.plan),
            inputs: prepared.inputs.as_deref(),
            follows_child: self.follows_child,
            ..Launch::new(program, arguments)
        }
    }

    fn prepare<'f>(
        &self,
        folder: &'f Folder,
        schedule: &Schedule,
        wish: Wish,
    ) -> Result<Prepared<'f>, Error> {
        let plan = write_plan(folder, self.program, schedule, wish)?;
        let inputs = match self.recorded_inputs {
            Some(path) => {
                let given = folder.path().join("inputs");
                fs::write(&given, inputs::translate(&fs::read(path)?, schedule))?;
                Some(given)
            }
            None => None,
        };
        Ok(Prepared { folder, plan, inputs })
    }
}

/// Leaves the recording of the run where it is wanted, with what was mapped beside it.
fn keep(files: &Files, path: &Path) -> Result<(), Error> {
    fs::copy(files.raw(), path)?;
    let mut maps = path.as_os_str().to_owned();
    maps.push(".maps");
    fs::copy(files.maps_path(), maps)?;
    Ok(())
}
