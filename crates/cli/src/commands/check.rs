//! `reweave check`: does a witness show what it claims?

use std::io::Write;
use std::path::Path;

use reweave_format::Loaded;
use reweave_report::json::Question;
use reweave_trace::{EventId, ProgramOrder};
use reweave_witness::{CheckedWitness, Checker, Claim, Failure as Unmet, Refusal, Rejection};

use crate::args::{CheckArgs, Global};
use crate::console::{BAD, Console, GOOD};
use crate::event_text::describe;
use crate::exit::Exit;
use crate::failure::Failure;
use crate::progress::Progress;
use crate::{input, plural, witness_file};

pub(crate) fn run(args: &CheckArgs, global: &Global, console: &Console) -> anyhow::Result<Exit> {
    if input::is_standard(&args.trace) && input::is_standard(&args.witness) {
        return Err(Failure::new("the trace and the witness cannot both be read from standard input").into());
    }
    let Question { model, schedule, claim } = witness_file::read(&args.witness)?;
    let loaded = input::load(&args.trace, args.reading, global, console)?;
    let loaded = input::with_specifications(loaded, &args.spec)?;
    let progress = Progress::waiting(
        format!("checking in a trace of {}", plural::count(loaded.trace.len() as u64, "event")),
        console,
    );
    let links = reweave_spec::links(&loaded.trace);
    let order = ProgramOrder::new(&loaded.trace);
    let checked =
        Checker::new(&loaded.trace, &links, &order).check(model, schedule.expand(&loaded.trace), claim);
    drop(progress);
    match checked {
        Ok(checked) => accepted(&checked, &loaded, &args.trace, console),
        Err(unsound @ Rejection::Unsound { .. }) => {
            let hint = "the model is the one in the witness file; a trace states what it has, for example \
                        with `#! capabilities: branches` at its top";
            Err(Failure::new(format!("{}: {unsound}", args.trace.display())).hint(hint).into())
        }
        Err(rejection) => rejected(&rejection, &loaded, &args.trace, console),
    }
}

fn accepted(
    checked: &CheckedWitness,
    loaded: &Loaded,
    path: &Path,
    console: &Console,
) -> anyhow::Result<Exit> {
    let steps = checked.witness().schedule(&loaded.trace).count() as u64;
    let claim = checked.claim();
    let shows = match claim {
        Claim::CoEnabled(_) => "after it all these events may run",
        Claim::Deadlock(_) => "after it these acquires block each other",
        Claim::Sequence { .. } => "it has these events in this order",
        Claim::Before { .. } => "it has the first of each pair before the second",
        Claim::Asleep(_) => "after it this wait has missed its notification and nobody can go on",
        Claim::Ahead { .. } => "it has the first ahead of its order, and the second may run after it",
        Claim::Unwritten(_) => "it has this read before every write of what is read",
    };
    let mut out = console.out();
    let label = console.styled(GOOD, "accepted");
    let steps = plural::count(steps, "event");
    writeln!(out, "{label}: in the model {} the schedule of {steps} runs, and {shows}", checked.model())?;
    for event in events_of(claim) {
        writeln!(out, "  {}", describe(loaded, path, event))?;
    }
    if let Claim::CoEnabled(events) = claim
        && let [a, b] = events[..]
        && loaded.trace.conflict(a, b)
    {
        writeln!(out, "they conflict: a data race")?;
    }
    out.flush()?;
    Ok(Exit::Yes)
}

fn rejected(rejection: &Rejection, loaded: &Loaded, path: &Path, console: &Console) -> anyhow::Result<Exit> {
    let mut out = console.out();
    writeln!(out, "{}: {rejection}", console.styled(BAD, "not accepted"))?;
    for event in involved(rejection) {
        writeln!(out, "  {}", describe(loaded, path, event))?;
    }
    out.flush()?;
    Ok(Exit::No)
}

fn events_of(claim: &Claim) -> Vec<EventId> {
    match claim {
        Claim::CoEnabled(events) | Claim::Deadlock(events) | Claim::Sequence { events, .. } => events.clone(),
        Claim::Before { pairs, .. } => pairs.iter().flat_map(|&(a, b)| [a, b]).collect(),
        Claim::Asleep(event) | Claim::Unwritten(event) => vec![*event],
        Claim::Ahead { first, then } => vec![*first, *then],
    }
}

/// The events that a rejection speaks of.
fn involved(rejection: &Rejection) -> Vec<EventId> {
    match rejection {
        Rejection::Step { event, refusal, .. } | Rejection::Claim(Unmet::MayNotRun { event, refusal }) => {
            [Some(*event), cause(refusal)].into_iter().flatten().collect()
        }
        Rejection::Claim(Unmet::Missing(event)) => vec![*event],
        Rejection::Claim(Unmet::SameThread(a, b) | Unmet::NotBefore(a, b) | Unmet::NotAdjacent(a, b)) => {
            vec![*a, *b]
        }
        _ => Vec::new(),
    }
}

/// The other event that a refusal names.
fn cause(refusal: &Refusal) -> Option<EventId> {
    match *refusal {
        Refusal::NotNext { next } => Some(next),
        Refusal::NotForked { fork } => Some(fork),
        Refusal::JoinsTainted { read } | Refusal::Tainted { read } => Some(read),
        Refusal::NotWoken { waker } | Refusal::WokenTooEarly { waker } => Some(waker),
        _ => None,
    }
}
