//! What a replay came to, for people.

use std::io::Write;

use reweave_replay::outcome::{Doing, Stack};
use reweave_replay::{Ended, Harm, Order, Outcome, Schedule, Shape};

use crate::console::{BAD, Console, GOOD, STRONG};
use crate::plural;

/// The most lines of output that are shown of a run.
const LINES: usize = 12;
/// How wide a column is where two runs are shown side by side.
const COLUMN: usize = 48;

/// Prints what one or two runs came to.
pub(super) fn show(schedule: &Schedule, runs: &[(Order, Ended)], console: &Console) -> anyhow::Result<()> {
    let mut out = console.out();
    let Some((_, first)) = runs.first() else { return Ok(()) };
    let worst = runs.iter().map(|(_, ended)| ended).max_by_key(|ended| ended.report.outcome).unwrap_or(first);
    let outcome = worst.report.outcome;
    let style = if outcome == Outcome::Confirmed { GOOD } else { BAD };
    writeln!(out, "{}: {}", console.styled(style, outcome), sentence(schedule, worst))?;
    for (number, event) in schedule.events.iter().enumerate() {
        let stack = first.report.events.get(number).and_then(Option::as_ref);
        let thread = schedule.threads.get(event.thread).map_or("", |thread| &thread.name);
        let (lead, what) = self::event(schedule, number, &event.note);
        writeln!(out, "  {} {lead} {what}", console.styled(STRONG, thread))?;
        match stack {
            Some(stack) => frames(&mut out, stack)?,
            None => writeln!(out, "    it did not get there")?,
        }
    }
    if matches!(schedule.shape, Shape::Deadlock | Shape::Sleep) || outcome != Outcome::Confirmed {
        state(&mut out, worst)?;
    }
    if outcome != Outcome::Confirmed {
        reasons(&mut out, worst)?;
    }
    match runs {
        [(_, one)] => {
            writeln!(out, "  the program: {}", one.ending())?;
            one.lines().iter().take(LINES).try_for_each(|line| writeln!(out, "    {line}"))?;
        }
        [(_, ab), (_, ba)] => side_by_side(&mut out, schedule, ab, ba)?,
        _ => {}
    }
    Ok(out.flush()?)
}

/// What the thread of an event of the finding did or is about to do, and what that is.
pub(super) fn event<'n>(schedule: &Schedule, number: usize, note: &'n str) -> (&'static str, &'n str) {
    let lead = match schedule.shape {
        Shape::Race => "stands before the",
        Shape::Deadlock => "waits to",
        Shape::Sequence => "did:",
        Shape::Sleep => "is never woken:",
        Shape::Late if number == 0 => "did:",
        Shape::Late => "comes too late, before:",
    };
    (lead, note.split_once(", ").map_or(note, |(what, _)| what))
}

/// Prints how often it was confirmed.
pub(super) fn counted(count: u32, times: u32, console: &Console) -> anyhow::Result<()> {
    let mut out = console.out();
    writeln!(
        out,
        "  confirmed {} of {} times",
        plural::grouped(count.into()),
        plural::grouped(times.into())
    )?;
    Ok(out.flush()?)
}

fn sentence(schedule: &Schedule, ended: &Ended) -> String {
    let given_up = ended.report.given_up.len();
    match ended.report.outcome {
        Outcome::Confirmed => {
            let what = match schedule.shape {
                Shape::Race => "both accesses were next at once",
                Shape::Deadlock => "the threads wait for each other",
                Shape::Sequence if schedule.kind == reweave_replay::DEEPENED => "the read came as planned",
                Shape::Sequence if schedule.order.is_empty() => "the read came before every write",
                Shape::Sequence => "the events came in the wrong order",
                Shape::Sleep => "the thread was never woken",
                Shape::Late => "the call that must come last came first",
            };
            match given_up {
                0 => what.to_owned(),
                count => format!("{what}, though {} came otherwise", plural::count(count as u64, "step")),
            }
        }
        Outcome::Diverged => {
            let step = ended.report.given_up.first().map_or(0, |given_up| given_up.step);
            format!("at step {step} of {} the program did something else", ended.report.steps)
        }
        Outcome::Hung => "the program waited for something that did not come".to_owned(),
        Outcome::Finished => match ended.harm(None) {
            Harm::Crash => format!("the program {} before the finding's events had come", ended.ending()),
            Harm::Assertion => {
                "the program failed its assertion before the finding's events had come".to_owned()
            }
            _ => "the program ended, and the bug did not happen".to_owned(),
        },
    }
}

fn frames(out: &mut impl Write, stack: &Stack) -> std::io::Result<()> {
    for (depth, frame) in stack.frames.iter().enumerate() {
        writeln!(out, "    #{depth} {frame}")?;
    }
    Ok(())
}

/// Who holds what, and what every thread waits for.
fn state(out: &mut impl Write, ended: &Ended) -> std::io::Result<()> {
    for held in &ended.report.held {
        writeln!(out, "  {} holds {} since {}", held.thread, held.lock, held.site)?;
    }
    let waiting = ended.report.threads.iter().filter_map(|doing| Some((doing, doing.waits.as_ref()?)));
    for (Doing { stack, .. }, waits) in waiting {
        writeln!(out, "  {} waits for {waits}", stack.thread)?;
        frames(out, stack)?;
    }
    Ok(())
}

fn reasons(out: &mut impl Write, ended: &Ended) -> std::io::Result<()> {
    for given_up in ended.report.given_up.iter().take(LINES) {
        writeln!(out, "  step {}: wanted was: {}", given_up.step, given_up.wanted)?;
        writeln!(out, "    instead: {}", given_up.instead)?;
    }
    if ended.report.given_up.len() > LINES {
        writeln!(out, "  and {} more", ended.report.given_up.len() - LINES)?;
    }
    Ok(())
}

fn side_by_side(out: &mut impl Write, schedule: &Schedule, ab: &Ended, ba: &Ended) -> std::io::Result<()> {
    let thread = |event: usize| {
        let thread = schedule.events.get(event).map_or(0, |event| event.thread);
        schedule.threads.get(thread).map_or("", |thread| &thread.name).to_owned()
    };
    let mut left = vec![format!("{} first:", thread(0)), ab.ending()];
    let mut right = vec![format!("{} first:", thread(1)), ba.ending()];
    left.extend(ab.lines().iter().flat_map(|line| wrapped(line)));
    right.extend(ba.lines().iter().flat_map(|line| wrapped(line)));
    for row in 0..left.len().max(right.len()).min(LINES) {
        let cell = |column: &[String]| column.get(row).cloned().unwrap_or_default();
        writeln!(out, "  {:<COLUMN$} | {}", cell(&left), cell(&right))?;
    }
    Ok(())
}

/// A line in pieces that fit a column.
fn wrapped(line: &str) -> Vec<String> {
    let letters: Vec<char> = line.chars().collect();
    letters.chunks(COLUMN).map(|piece| piece.iter().collect()).collect()
}
