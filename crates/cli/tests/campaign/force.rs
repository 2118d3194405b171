//! A schedule forced on the program: every step has to come, with what it read where its thread was clean.

use std::fs;
use std::path::Path;
use std::time::Duration;

use reweave_capture::{Step, Told};
use reweave_detect::{Options, predict};
use reweave_replay::build::{Recorded, Title, build};
use reweave_replay::{Ended, Order, Outcome, Schedule, Wish};
use reweave_trace::{EventId, Kind, Model, ThreadId};
use reweave_wire::Op;
use reweave_witness::CheckedWitness;

use crate::build::Binary;
use crate::record::{Key, Run, Steps};
use crate::walk::{Walk, Walker};

/// Numbers above are taken for addresses, which may differ.
const LARGEST: u64 = 1 << 32;
/// Forces a schedule. What went wrong, if something did.
pub(crate) fn force(
    binary: &Binary,
    case: usize,
    run: &Run,
    walker: &Walker<'_>,
    walk: &Walk,
) -> Result<usize, String> {
    let raw = run.trace_path.with_extension("replay");
    let (schedule, ended) = start(binary, case, run, walker, &walk.checked, Some(&raw))?;
    let text = || format!("{}\n{}", reweave_replay::text::write(&schedule), ended.err);
    went(&ended).map_err(|what| format!("{what}\n{}", text()))?;
    let mut maps = raw.as_os_str().to_owned();
    maps.push(".maps");
    let told = Steps::read(&raw, &fs::read_to_string(maps).unwrap_or_default());
    compare(run, walk, &told).map_err(|what| format!("{what}\n{}", text()))
}

/// Replays a witness as `reweave replay` does.
pub(crate) fn replay(
    binary: &Binary,
    case: usize,
    run: &Run,
    walker: &Walker<'_>,
    checked: &CheckedWitness,
) -> Result<Outcome, String> {
    start(binary, case, run, walker, checked, None).map(|(_, ended)| ended.report.outcome)
}

/// What became of the findings of a program.
#[derive(Default)]
pub(crate) struct Confirmed {
    /// What was not confirmed.
    pub(crate) wrong: Vec<String>,
    /// How many were replayed.
    pub(crate) replayed: usize,
    /// How many there were no replays for.
    pub(crate) left: usize,
}

/// Replays what is found in a program, atomicity violations among it, up to `most` of them.
pub(crate) fn confirm(
    binary: &Binary,
    case: usize,
    run: &Run,
    walker: &Walker<'_>,
    model: Model,
    most: usize,
) -> Confirmed {
    let options = Options { jobs: 1, ..Options::default() };
    let found = predict(&run.trace, model, &options).expect("it is searched").findings;
    let replayed = found.len().min(most);
    let mut confirmed = Confirmed { replayed, left: found.len() - replayed, ..Confirmed::default() };
    for finding in found.iter().take(most) {
        let outcome = replay(binary, case, run, walker, finding.witness());
        if outcome != Ok(Outcome::Confirmed) {
            let target = finding.target(&run.trace);
            let name = finding.pattern().name();
            confirmed.wrong.push(format!("{name} of {target} was not confirmed: {outcome:?}"));
        }
    }
    confirmed
}

/// One run under a schedule, strictly where it is recorded.
fn start(
    binary: &Binary,
    case: usize,
    run: &Run,
    walker: &Walker<'_>,
    checked: &CheckedWitness,
    recording: Option<&Path>,
) -> Result<(Schedule, Ended), String> {
    let recorded = Recorded { trace: &run.trace, steps: &run.steps, about: &run.about };
    let title = Title { fingerprint: "-".to_owned(), kind: "walk".to_owned(), text: String::new() };
    let schedule = build(recorded, &walker.checker(), checked, title).map_err(|error| error.to_string())?;
    let arguments = [case.to_string().into()];
    let replay = reweave_replay::Run {
        program: &binary.path,
        arguments: &arguments,
        input: None,
        timeout: Duration::from_secs(5),
        recorded_inputs: Some(run.inputs.as_path()).filter(|path| path.exists()),
        folder: None,
        recording,
        follows_child: false,
    };
    let wish = Wish { order: Order::Ab, strict: recording.is_some(), stops: false, patience: None };
    let ended = replay.start(&schedule, wish).map_err(|error| error.to_string())?;
    Ok((schedule, ended))
}

/// Whether the schedule was followed, and the program then ended well.
fn went(ended: &Ended) -> Result<(), String> {
    let report = &ended.report;
    if let Some(given_up) = report.given_up.first() {
        return Err(format!(
            "step {}: wanted {}; instead: {}",
            given_up.step, given_up.wanted, given_up.instead
        ));
    }
    if report.outcome != Outcome::Confirmed {
        return Err(format!("{}: {:?}", report.outcome, report.threads));
    }
    match ended.status.and_then(|status| status.code()) {
        Some(0) => Ok(()),
        _ => Err(format!("the program ended with {:?}: {:?}", ended.status, report.threads)),
    }
}

/// Compares what each step was told to do; how many had values to compare.
fn compare(run: &Run, walk: &Walk, told: &Steps) -> Result<usize, String> {
    let mut compared = 0;
    let is_step = |event: &&EventId| !matches!(run.trace.kind(**event), Kind::Branch | Kind::Unseen);
    for &event in walk.events.iter().filter(is_step) {
        let key = key(run, event);
        let (then, now) = (run.told.get(&key), told.get(&key));
        if walk.clean.contains(&event) {
            compared += then.len();
            if let Some(difference) = difference(then, now) {
                return Err(format!("event {} at {key:?}: {difference}", event.0));
            }
        } else if then.first().map(|told| told.op) != now.first().map(|told| told.op) {
            return Err(format!("event {} at {key:?} is another operation: {then:?} {now:?}", event.0));
        }
    }
    Ok(compared)
}

fn difference(then: &[Told], now: &[Told]) -> Option<String> {
    if then.len() != now.len() {
        return Some(format!("{} parts were recorded, {} came", then.len(), now.len()));
    }
    let small = |a: u64, b: u64| a == b || a >= LARGEST && b >= LARGEST;
    let same = |(a, b): (&Told, &Told)| {
        a.op == b.op
            && (matches!(a.op, Op::Alloc | Op::Free) || small(a.read, b.read) && small(a.written, b.written))
    };
    let place = then.iter().zip(now).position(|pair| !same(pair))?;
    Some(format!("recorded {:?}, came {:?}", then[place], now[place]))
}

/// How a step is named in every run.
fn key(run: &Run, event: EventId) -> Key {
    let Step { place, occurrence, .. } = run.steps[event.index()];
    (thread(run, run.trace.thread(event)), named(run, place), occurrence)
}

fn named(run: &Run, place: reweave_capture::CodePlace) -> String {
    let module = place.module.and_then(|module| run.about.modules.get(module as usize));
    module.map_or_else(|| "?".to_owned(), |module| format!("{}+{:#x}", module.name, place.offset))
}

fn thread(run: &Run, id: ThreadId) -> String {
    let name = run.trace.thread_name(id);
    path(run, name)
}

fn path(run: &Run, name: &str) -> String {
    match run.about.threads.iter().find(|(known, _)| known == name) {
        Some((_, made)) => format!("{}/{}#{}", path(run, &made.parent), named(run, made.place), made.nth),
        None => "main".to_owned(),
    }
}
