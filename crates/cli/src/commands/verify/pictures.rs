//! Pictures of a verification: the bug in the old program, and its events in the new one.

use reweave_detect::{Kind, Pattern};
use reweave_report::answer::{Picture, Tone};
use reweave_report::view::{Maker, Subject, View};
use reweave_trace::{EventId, Model, ProgramOrder, Trace};
use reweave_verify::port::Builds;
use reweave_verify::{State, seen};
use reweave_witness::{CheckedWitness, Checker, Claim, Witness};

use super::after::{BugClaim, Outcomes};
use super::before::{Before, Bug};
use super::given::{Given, shortened};
use super::look::{Found, Search};
use crate::args::VerifyArgs;
use crate::commands::replay::finding::Context;

/// The bug that the verdict is about in the old program, and what there is of it in the new one;
/// nothing where no document is written.
pub(super) fn pictures(
    args: &VerifyArgs,
    before: &Before,
    outcomes: &Outcomes,
    builds: Builds<'_>,
    given: &Given,
    search: Search<'_>,
) -> anyhow::Result<Vec<Picture>> {
    if args.html.is_none() && args.json.is_none() {
        return Ok(Vec::new());
    }
    search.progress.say("drawing what was seen");
    let all = before.bugs.iter().zip(&outcomes.bugs);
    let shown = all.clone().find(|(_, claim)| claim.state == State::Shown);
    let Some((bug, claim)) = shown.or_else(|| all.clone().next()) else { return Ok(Vec::new()) };
    let failed = bug.failed.as_ref().map(|how| format!(" With it, the program {how}.")).unwrap_or_default();
    let caption = format!("An order of the recorded events that shows the bug: {}.{failed}", bug.found.title);
    let mut pictures = of_found(&bug.found, "Before the fix", caption, search)?;
    pictures.extend(match &outcomes.picture {
        Some(found) => {
            let caption = format!("An order of the events that were recorded shows it: {}.", found.title);
            of_found(found, "After the fix", caption, search)?
        }
        None => of_run(bug, claim, builds, search)?,
    });
    Ok(pictures.into_iter().map(|picture| shortened(given, picture)).collect())
}

/// The picture of a finding; none where it cannot be drawn.
fn of_found(found: &Found, title: &str, caption: String, search: Search<'_>) -> anyhow::Result<Vec<Picture>> {
    let opened = search.open(&found.trace)?;
    let events: Vec<EventId> = found.events.iter().copied().map(EventId).collect();
    let (kind, pattern) = (found.about.kind, found.about.pattern);
    let view = view(&opened.loaded.trace, kind, pattern, &events, &found.witness);
    Ok(picture(title, caption, Tone::Bad, view).into_iter().collect())
}

/// The events of the bug in the run under its schedule, in the order in which they came.
fn of_run(
    bug: &Bug,
    claim: &BugClaim,
    builds: Builds<'_>,
    search: Search<'_>,
) -> anyhow::Result<Vec<Picture>> {
    let (Some(path), Some(shape)) = (&claim.trace, &bug.found.shape) else { return Ok(Vec::new()) };
    let opened = search.open(path)?;
    let trace = &opened.loaded.trace;
    let context = Context::new(trace, path)?;
    let counterparts = |&operation| builds.map.counterparts(builds.old, builds.new, operation);
    let wanted: Vec<Vec<usize>> = shape.operations.iter().map(counterparts).collect();
    let events = seen::instance(&wanted, &shape.threads, trace, context.steps(), builds.new);
    let Some(events) = events else { return Ok(Vec::new()) };
    let Some(checked) = as_recorded(trace, &events) else { return Ok(Vec::new()) };
    let by = if claim.by.is_empty() { claim.state.name() } else { &claim.by };
    let caption = format!("The same events in a run of the new program under the schedule of the bug: {by}.");
    let mut view = view(trace, bug.found.about.kind, bug.found.about.pattern, &events, &checked);
    if let Some(board) = view.as_mut().and_then(|view| view.board.as_mut()) {
        board.moment = by.to_owned();
    }
    let tone = match claim.state {
        State::Shown => Tone::Bad,
        State::Open => Tone::Open,
        State::Excluded | State::Harmless => Tone::Good,
    };
    Ok(picture("After the fix", caption, tone, view).into_iter().collect())
}

/// The recorded run as a witness of itself, with these events in it.
fn as_recorded(trace: &Trace, events: &[EventId]) -> Option<CheckedWitness> {
    let mut events = events.to_vec();
    events.sort_unstable();
    events.dedup();
    let (links, order) = (reweave_spec::links(trace), ProgramOrder::new(trace));
    let witness = Witness { prefix: u32::try_from(trace.len()).ok()?, tail: Vec::new() };
    let claim = Claim::Sequence { events, adjacent: Vec::new() };
    Checker::new(trace, &links, &order).check(Model::Rf, witness, claim).ok()
}

fn view(
    trace: &Trace,
    kind: Kind,
    pattern: &str,
    events: &[EventId],
    checked: &CheckedWitness,
) -> Option<View> {
    let pattern = Pattern::from_name(pattern)?;
    let maker = Maker::new(trace, events.iter().copied());
    maker.views(&[Subject { kind, pattern, events, checked }]).pop()
}

/// A picture with nothing in it but its order.
fn picture(title: &str, caption: String, tone: Tone, view: Option<View>) -> Option<Picture> {
    let mut view = view?;
    view.board.as_mut()?.observed.clear();
    view.roles.clear();
    view.summary.clear();
    view.next.clear();
    view.wrong = None;
    Some(Picture { title: title.to_owned(), caption, tone, view })
}
