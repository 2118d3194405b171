//! The runs of a hunt: of one program, or of a driver that starts several.

use std::ffi::OsString;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command as Process;
use std::time::{Duration, Instant};

use anyhow::Context;
use reweave_session::{Nested, adopt, interrupt};

use super::driven::{self, Started, Wanted};
use crate::args::{self, Command, HuntArgs};
use crate::commands::clock::{Clock, Phase};
use crate::commands::record;
use crate::console::Console;
use crate::exit::Exit;
use crate::failure::Failure;
use crate::plural;

/// A run that was begun may take as long at least.
const SHORTEST: Duration = Duration::from_millis(100);

/// A recorded run of a program.
pub(super) struct Run {
    /// None where nothing of it was recorded.
    pub(super) trace: Option<PathBuf>,
    pub(super) seed: u64,
    pub(super) ended: Exit,
    /// Whether it failed by itself.
    pub(super) failed: bool,
    /// The program and its arguments.
    pub(super) program: Vec<OsString>,
    /// Where it ran, if that is not here.
    pub(super) folder: Option<PathBuf>,
}

/// The runs of a hunt.
pub(super) struct Recorded {
    pub(super) runs: Vec<Run>,
    /// What there was no time for.
    pub(super) cut: Option<String>,
}

/// Records the runs, each with the next seed, as far as there is time.
pub(super) fn record_all(
    args: &HuntArgs,
    folder: &Path,
    clock: &Clock,
    console: &Console,
) -> anyhow::Result<Recorded> {
    let drives = record::is_driver(args.program.first())?;
    let (mut runs, mut cut) = (Vec::new(), None);
    let start = Instant::now();
    for number in 1..=args.runs {
        let seed = args.seed + u64::from(number - 1);
        // Without a run there is nothing to do.
        if number > 1 && clock.is_over(Phase::Record) {
            cut = cut.or_else(|| Some(format!("{} of {} runs were recorded", number - 1, args.runs)));
            break;
        }
        if console.shows_progress() {
            console.note(format_args!(
                "run {number} of {}, seed {seed}{}",
                args.runs,
                left(start.elapsed(), number - 1, args.runs, limit(args, clock))
            ));
        }
        if drives {
            let below =
                if args.runs == 1 { folder.join("run") } else { folder.join(format!("run-{number}")) };
            let (driven, ended_early) = drive(args, seed, &below, clock, console)?;
            runs.extend(driven);
            cut = cut.or(ended_early.then(|| format!("run {number} was ended before its end")));
        } else {
            let (run, ended_early) = one(args, seed, number, folder, clock, console)?;
            runs.push(run);
            cut = cut.or(ended_early.then(|| format!("run {number} was ended before its end")));
        }
        if interrupt::requested() {
            break;
        }
    }
    let nothing = drives && runs.iter().all(|run| run.trace.is_none());
    if nothing && cut.is_none() && !interrupt::requested() {
        let driver = args.program.first().map(|name| name.to_string_lossy().into_owned()).unwrap_or_default();
        return Err(Failure::new(format!(
            "nothing was recorded: {driver} is not compiled to be recorded, and it started no program that is"
        ))
        .hint("compile and link with `reweave cc` or `reweave c++`, as in: make CC=\"reweave cc\"")
        .into());
    }
    Ok(Recorded { runs, cut })
}

/// How long a run may take: the user's limit for a run, or less where there is less time in all.
fn limit(args: &HuntArgs, clock: &Clock) -> Duration {
    clock.left(Phase::Record).map_or(args.timeout, |left| args.timeout.min(left.max(SHORTEST)))
}

/// How long the rest will take if it takes as long as what was done; before that, how long it may.
fn left(spent: Duration, done: u32, all: u32, most: Duration) -> String {
    match spent.checked_div(done) {
        Some(each) => format!(", about {} s left", (each * (all - done)).as_secs().max(1)),
        None => format!(", at most {} s each", most.as_secs().max(1)),
    }
}

/// One run of a program that is recorded itself; whether it was ended because there was no more time.
fn one(
    args: &HuntArgs,
    seed: u64,
    number: u32,
    folder: &Path,
    clock: &Clock,
    console: &Console,
) -> anyhow::Result<(Run, bool)> {
    let trace = match args.runs {
        1 => folder.join("run.rw"),
        _ => record::numbered(&folder.join("run.rw"), number),
    };
    let mut line: Vec<OsString> = ["reweave", "record", "--output-aside"].map(OsString::from).to_vec();
    let (start, limit) = (Instant::now(), limit(args, clock));
    let timeout = format!("{}ms", limit.as_millis());
    line.extend(["--seed", &seed.to_string(), "--timeout", &timeout].map(OsString::from));
    line.extend(["--policy", args.policy.name(), "-o"].map(OsString::from));
    line.push(trace.clone().into());
    line.extend(args.replaying.follow_child.then(|| "--follow-child".into()));
    line.extend(args.dependences.then(|| "--dependences".into()));
    line.push("--".into());
    line.extend(args.program.iter().cloned());
    let parsed = args::parse(&line).map_err(|error| Failure::new(error.to_string()))?;
    let Command::Record(recording) = parsed.command else {
        return Err(Failure::new("the flags were not understood").into());
    };
    let ended = record::run(&recording, console)?;
    // It is our limit that it came to, and not the one that the user has for a run.
    let ended_early = limit < args.timeout && ended == Exit::Stopped && start.elapsed() >= limit;
    let failed = !args.expect_status.contains(&ended.code()) && !interrupt::requested() && !ended_early;
    let program = args.program.clone();
    Ok((Run { trace: Some(trace), seed, ended, failed, program, folder: None }, ended_early))
}

/// One run of a driver, in which every program that was compiled for it is recorded by itself; whether it was ended because
/// there was no more time.
fn drive(
    args: &HuntArgs,
    seed: u64,
    folder: &Path,
    clock: &Clock,
    console: &Console,
) -> anyhow::Result<(Vec<Run>, bool)> {
    let Some((driver, arguments)) = args.program.split_first() else { return Ok((Vec::new(), false)) };
    let wanted = Wanted {
        seed,
        policy: args.policy.name().to_owned(),
        timeout: u64::try_from(args.timeout.as_millis()).unwrap_or(u64::MAX),
        follow_child: args.replaying.follow_child,
        dependences: args.dependences,
    };
    let folder = driven::prepare(folder, &wanted)?;
    interrupt::watch()?;
    adopt()?;
    let mut command = Process::new(driver);
    command.args(arguments).env(driven::FOLDER, &folder).stdout(std::io::stderr());
    let end = clock.left(Phase::Record).and_then(|left| Instant::now().checked_add(left.max(SHORTEST)));
    let (status, ended_early) = Nested::status_before(&mut command, end)
        .with_context(|| format!("{} does not start", driver.display()))?;
    let ended = Exit::of_program(status);
    let failed = !args.expect_status.contains(&ended.code()) && !interrupt::requested() && !ended_early;
    let mut started = driven::started(&folder)?;
    let _ = fs::remove_file(folder.join(driven::RECORDER));
    let number = plural::count(started.iter().filter(|one| one.trace.is_some()).count() as u64, "trace");
    console.note(format_args!("seed {seed}: {number} of what {} started", driver.display()));
    let to_blame = |one: &Started| one.status.is_some_and(|status| status != 0);
    let any = started.iter().any(to_blame);
    let mut runs = Vec::new();
    if failed && !any {
        // It is the driver itself that is not content.
        let program = args.program.clone();
        runs.push(Run { trace: None, seed, ended, failed, program, folder: None });
    }
    for one in started.drain(..) {
        runs.push(Run {
            // A driver may count on programs that fail: only where it is not content, they have failed.
            failed: failed && to_blame(&one),
            ended: one
                .status
                .map_or(Exit::Stopped, |status| if status == 0 { Exit::Yes } else { Exit::Program(status) }),
            program: one.words(),
            folder: Some(one.folder),
            trace: one.trace,
            seed,
        });
    }
    Ok((runs, ended_early))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_rest_is_estimated_from_what_was_done() {
        let most = Duration::from_secs(60);
        assert_eq!(left(Duration::from_secs(6), 2, 5, most), ", about 9 s left");
        assert_eq!(left(Duration::ZERO, 0, 5, most), ", at most 60 s each");
    }
}
