//! One run of the program.

use std::ffi::OsString;
use std::fs;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::path::{Path, PathBuf};

use anyhow::Context;
use reweave_capture::Stop;
use reweave_session::{End, Files, Folder, Launch, Limits, Session, Stopped};

use crate::args::RecordArgs;
use crate::console::Console;
use crate::exit::Exit;

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

impl Ended {
    /// What is known of a recording whose recorder was killed.
    pub(super) fn unknown(left: &Files) -> Ended {
        let (notes, from_start) = (left.notes(), left.has_start());
        Ended { exit: Exit::Yes, notes, begun: true, whole: false, from_start }
    }
}

/// Makes a folder for the recording beside the trace, where there is as much room.
pub(crate) fn folder(output: &Path) -> anyhow::Result<Folder> {
    let beside = output.parent().filter(|path| !path.as_os_str().is_empty()).unwrap_or(Path::new("."));
    let name = output.file_name().unwrap_or_default().to_string_lossy();
    Folder::make(beside, &format!("{name}.recording"))
        .with_context(|| format!("a folder in {} cannot be made", beside.display()))
}

/// What is different from run to run.
pub(super) struct How<'h> {
    /// The schedule to force.
    pub(super) plan: Option<&'h Path>,
    /// The number of the run.
    pub(super) number: u64,
}

/// Runs the program to its end.
pub(super) fn run(
    args: &RecordArgs,
    program: &Path,
    arguments: &[OsString],
    folder: &Folder,
    how: How<'_>,
    console: &Console,
) -> anyhow::Result<Ended> {
    let driver = std::env::var_os("REWEAVE_DRIVER").map(PathBuf::from);
    let launch = Launch {
        driver: driver.as_deref(),
        limits: Some(Limits { events: args.max_events, bytes: args.max_size, last: args.last }),
        // Beyond the schedule, threads go on as in a replay.
        policy: if how.plan.is_some() { "plain" } else { args.policy.name() },
        plan: how.plan,
        seed: args.seed.wrapping_add(how.number),
        clock: args.clock,
        timeout: args.timeout,
        follows_child: args.follow_child,
        ..Launch::new(program.as_os_str(), arguments)
    };
    let mut session = launch
        .start(folder, |command| {
            if args.output_aside {
                command.stdout(std::io::stderr());
            }
        })
        .with_context(|| format!("{} does not start", program.display()))?;
    let fails = |error: &std::io::Error| {
        console.warn(format_args!("the recording stops here, the program goes on: {error}"));
    };
    // Should we fail, the program is ended and what it did so far still becomes a trace.
    let waited = catch_unwind(AssertUnwindSafe(|| session.wait(fails)));
    let files = folder.files();
    match waited {
        Ok(end) => Ok(ended(&session, &end?, &files)),
        Err(_) => {
            drop(session);
            Ok(Ended { exit: Exit::Bug, ..Ended::unknown(&files) })
        }
    }
}

fn ended(session: &Session, end: &End, files: &Files) -> Ended {
    let drain = session.drain();
    let mut notes = files.notes();
    notes.extend(match end.stopped {
        Some(Stopped::Timeout) => Some("timeout".to_owned()),
        Some(Stopped::Signal(_)) => Some("interrupted".to_owned()),
        None => None,
    });
    notes.extend(drain.stopped().map(|stop| match stop {
        Stop::Events => "stopped max-events".to_owned(),
        Stop::Bytes => "stopped max-size".to_owned(),
        Stop::Failed(error) => format!("stopped {error}"),
    }));
    let exit = match end.stopped {
        Some(Stopped::Signal(signal)) => Exit::Program(128 + signal as u8),
        _ if notes.iter().any(|note| note == "deadlock" || note == "timeout") => Exit::Stopped,
        _ => Exit::of_program(end.status),
    };
    let (begun, whole) = (drain.has_begun(), drain.is_whole());
    Ended { exit, notes, begun, whole, from_start: drain.keeps_all() }
}

/// Puts what the program read where a replay looks for it; nothing where it read nothing.
pub(super) fn keep_inputs(files: &Files, path: &Path) {
    let kept = files.inputs();
    // Those of an earlier recording do not belong to this one.
    let _ = fs::remove_file(path);
    if fs::metadata(&kept).is_ok_and(|about| about.len() > 0) {
        let _ = fs::rename(kept, path);
    }
}
