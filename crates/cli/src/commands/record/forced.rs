//! Runs under a schedule that become traces like any other.

use std::path::{Path, PathBuf};

use anyhow::Context;
use reweave_replay::outcome;
use reweave_replay::run::write_plan;
use reweave_replay::{Order, Report, Schedule, Wish};
use reweave_session::Folder;

use super::ending::failure;
use super::run::Ended;
use super::{Made, convert, replay};
use crate::console::Console;
use crate::exit::Exit;
use crate::failure::Failure;
use crate::plural;

const WISH: Wish = Wish { order: Order::Ab, strict: false, stops: false, patience: None };

/// The schedule in a file, once it is certain that it is one of this program.
pub(super) fn schedule(path: &Path, program: &Path) -> anyhow::Result<Schedule> {
    let schedule = replay::read(path)?;
    replay::check(program, &schedule)?;
    Ok(schedule)
}

/// Writes down what the program is to follow.
pub(super) fn plan(folder: &Folder, program: &Path, schedule: &Schedule) -> anyhow::Result<PathBuf> {
    write_plan(folder, program, schedule, WISH).context("the schedule cannot be written down")
}

/// What came of the schedule.
pub(super) fn report(schedule: &Schedule, folder: &Folder) -> Report {
    let files = folder.files();
    outcome::report(schedule, Order::Ab, &files.notes(), &files.maps())
}

/// Says what came of a schedule that was recorded.
pub(super) fn say_outcome(report: &Report, console: &Console) {
    let (all, missing) = (report.steps as u64, report.given_up.len() as u64);
    console.note(format_args!(
        "the schedule: {}; of {} {} came",
        report.outcome,
        plural::count(all, "step"),
        all.saturating_sub(missing)
    ));
}

/// Makes a trace of a run in `folder`, with dependences if they are asked for; `ran` gets the
/// places of the program that ran.
pub(crate) fn trace_of(
    folder: Folder,
    ended: &reweave_replay::Ended,
    output: &Path,
    dependences: bool,
    ran: Option<&mut Vec<u64>>,
    console: &Console,
) -> anyhow::Result<()> {
    let Some(recording) = ended.recording else {
        return Err(Failure::new("the run was not recorded").into());
    };
    let mut notes = folder.files().notes();
    if ended.report.timed_out && !notes.iter().any(|note| note == "timeout") {
        notes.push("timeout".to_owned());
    }
    let exit = ended.status.map_or(Exit::Stopped, Exit::of_program);
    let (begun, whole, from_start) = (recording.begun, recording.whole, recording.from_start);
    let ended = Ended { exit, notes, begun, whole, from_start };
    let made = Made { output, ways: None, dependences, ending: failure(&ended), ran };
    convert(folder, &ended, made, console)
}
