//! What a verification came to, for people and for programs.

use std::io::Write;
use std::path::Path;

use reweave_report::answer::Picture;
use reweave_report::json::{SCHEMA, TOOL, Verified, VerifiedBug, VerifiedClaim};
use reweave_verify::{Relation, State, Verdict};

use super::after::{BugClaim, Outcomes, Settled};
use super::before::{Before, Bug};
use super::given::Given;
use crate::args::VerifyArgs;
use crate::console::{BAD, Console, GOOD, STRONG};
use crate::plural;

/// Why nothing is known where the budget ends before the new program runs.
const CUT: &str = "the time of --budget was up before the old program showed a bug";

/// So many lines of each sort are shown.
const LINES: usize = 12;

/// The document.
pub(super) fn document(
    given: &Given,
    before: &Before,
    outcomes: Option<&Outcomes>,
    schedule: Option<&Path>,
    pictures: Vec<Picture>,
) -> Verified {
    let mut bugs: Vec<VerifiedBug> = match outcomes {
        Some(outcomes) => {
            before.bugs.iter().zip(&outcomes.bugs).map(|(bug, claim)| one_bug(bug, claim)).collect()
        }
        None => Vec::new(),
    };
    let nothing = if before.cut { Verdict::Undecided } else { Verdict::NotShown };
    let bug = if bugs.is_empty() { None } else { Some(bugs.remove(0)) };
    let list = |get: fn(&Outcomes) -> &Vec<String>| outcomes.map(get).cloned().unwrap_or_default();
    Verified {
        schema: SCHEMA,
        tool: TOOL.to_owned(),
        verdict: outcomes.map_or(nothing, |outcomes| outcomes.verdict).name().to_owned(),
        before: given.names[0].clone(),
        after: given.names[1].clone(),
        bug,
        other_bugs: bugs,
        claims: outcomes.map_or(Vec::new(), |outcomes| outcomes.claims.iter().map(claim).collect()),
        gaps: if before.bugs.is_empty() && before.cut {
            vec![CUT.to_owned()]
        } else {
            list(|outcomes| &outcomes.gaps)
        },
        runs: outcomes.map_or(0, |outcomes| outcomes.runs),
        traces: outcomes.map_or(0, |outcomes| outcomes.traces),
        candidates: outcomes.map_or(0, |outcomes| outcomes.candidates),
        excluded: outcomes.map_or(0, |outcomes| outcomes.excluded),
        schedules: schedule.iter().map(|path| path.display().to_string()).collect(),
        hints: list(|outcomes| &outcomes.hints),
        notes: list(|outcomes| &outcomes.notes),
        pictures,
    }
}

fn one_bug(bug: &Bug, claim: &BugClaim) -> VerifiedBug {
    let found = &bug.found;
    VerifiedBug {
        kind: found.about.kind.name().to_owned(),
        pattern: found.about.pattern.to_owned(),
        fingerprint: found.fingerprint.clone(),
        title: found.title.clone(),
        sites: found.sites.clone(),
        failed: bug.failed.clone(),
        state: claim.state.name().to_owned(),
        by: claim.by.clone(),
        steps: claim.steered.map(|(came, all)| [came as u64, all as u64]),
    }
}

fn claim(claim: &Settled) -> VerifiedClaim {
    let relation = match claim.relation {
        Relation::Same => "same",
        Relation::Near => "near",
        Relation::Changed => "changed",
        Relation::Other => "other",
    };
    VerifiedClaim {
        kind: claim.kind.to_owned(),
        pattern: claim.pattern.to_owned(),
        fingerprint: claim.fingerprint.clone(),
        title: claim.title.clone(),
        relation: relation.to_owned(),
        events: claim.events.clone(),
        sites_before: claim.sites_before.clone(),
        sites_after: claim.sites.clone(),
        state: claim.state.name().to_owned(),
        by: claim.by.clone(),
    }
}

/// The old program does not show a bug.
pub(super) fn not_shown(
    args: &VerifyArgs,
    given: &Given,
    before: &Before,
    console: &Console,
) -> anyhow::Result<()> {
    let mut out = console.out();
    let what = match &args.finding {
        Some(name) => format!("a bug whose fingerprint begins with {name}"),
        None => "a bug".to_owned(),
    };
    let runs = match &args.trace {
        Some(_) => "that recorded run".to_owned(),
        None => plural::count(args.before_runs.into(), "run"),
    };
    if before.cut {
        writeln!(out, "{}: {CUT}", console.styled(BAD, "UNDECIDED"))?;
        return Ok(out.flush()?);
    }
    writeln!(out, "{}: {} does not show {what} in {runs}", console.styled(BAD, "NOT SHOWN"), given.names[0])?;
    for bug in before.beside.iter().take(LINES) {
        let harm = if bug.is_bug { "" } else { ", without harm that can be seen" };
        let print = bug.found.fingerprint.get(..8).unwrap_or_default();
        writeln!(out, "  it shows: {}{harm}; --finding {print} takes it for the bug", bug.found.title)?;
    }
    if before.failed_runs == args.before_runs && args.trace.is_none() {
        let how: Vec<&str> = before.failed.iter().map(String::as_str).collect();
        writeln!(out, "  every run {}: --expect-status says which statuses are good", how.join(", or "))?;
    }
    writeln!(out, "  try more with --before-runs, or the arguments that lead to it")?;
    Ok(out.flush()?)
}

/// The verdict and what it rests on.
pub(super) fn verdict(
    given: &Given,
    before: &Before,
    outcomes: &Outcomes,
    schedule: Option<&Path>,
    console: &Console,
) -> anyhow::Result<()> {
    let mut out = console.out();
    let (style, head) = head(before, outcomes);
    writeln!(out, "{}", console.styled(style, head))?;
    for (bug, claim) in before.bugs.iter().zip(&outcomes.bugs).take(LINES) {
        let failed = bug.failed.as_ref().map(|how| format!("; it {how}")).unwrap_or_default();
        writeln!(
            out,
            "  before: {} at {}{failed}",
            console.styled(STRONG, &bug.found.title),
            bug.found.sites.join(", ")
        )?;
        let steps =
            claim.steered.map(|(came, all)| format!("of {all} steps {came} came")).unwrap_or_default();
        let by = if claim.by.is_empty() { "not shown".to_owned() } else { claim.by.clone() };
        let parts: Vec<String> = [format!("{}: {by}", claim.state.name()), steps]
            .into_iter()
            .filter(|part| !part.is_empty())
            .collect();
        writeln!(out, "  after:  {}", parts.join("; "))?;
    }
    let told = outcomes
        .claims
        .iter()
        .filter(|claim| claim.state == State::Shown && claim.relation < Relation::Other);
    for claim in told.take(LINES) {
        writeln!(out, "  after:  {} at {}; it {}", claim.title, claim.sites.join(", "), claim.by)?;
    }
    if let Some(shown) = &outcomes.shown {
        writeln!(out, "  run {} of {}: {}", shown.run, given.names[1], shown.ended)?;
        if let Some(path) = schedule {
            let words: Vec<String> =
                given.arguments.iter().map(|word| word.to_string_lossy().into_owned()).collect();
            let command = [given.names[1].clone()].into_iter().chain(words).collect::<Vec<_>>().join(" ");
            if given.stays {
                writeln!(out, "  see it again: reweave replay --schedule {} -- {command}", path.display())?;
            } else {
                writeln!(
                    out,
                    "  the schedule is in {}; --keep FOLDER keeps the program, too",
                    path.display()
                )?;
            }
        }
    }
    for gap in outcomes.gaps.iter().take(LINES) {
        writeln!(out, "  because {gap}")?;
    }
    for note in outcomes.notes.iter().take(LINES) {
        writeln!(out, "  note: {note}")?;
    }
    for hint in outcomes.hints.iter().take(LINES) {
        writeln!(out, "  hint: {hint}")?;
    }
    looked_at(&mut out, before, outcomes)?;
    Ok(out.flush()?)
}

fn head(before: &Before, outcomes: &Outcomes) -> (anstyle::Style, String) {
    let bug = before.bugs.first().map_or("the bug", |bug| bug.found.title.as_str());
    let shown = |relations: &[Relation]| {
        let mut claims = outcomes.claims.iter();
        claims.find(|claim| claim.state == State::Shown && relations.contains(&claim.relation))
    };
    match outcomes.verdict {
        Verdict::Insufficient => {
            let still = before.bugs.iter().zip(&outcomes.bugs).find(|(_, claim)| claim.state == State::Shown);
            let text = match (still, shown(&[Relation::Same, Relation::Near])) {
                (Some((bug, _)), _) => format!("INSUFFICIENT: {} is still there", bug.found.title),
                (None, Some(claim)) if claim.relation == Relation::Same => {
                    format!("INSUFFICIENT: {} is still there", claim.title)
                }
                (None, Some(claim)) => format!("INSUFFICIENT: of {bug}, {} is left", claim.title),
                _ => format!("INSUFFICIENT: {bug} is still there"),
            };
            (BAD, text)
        }
        Verdict::NewBug => {
            let what = shown(&[Relation::Changed]).map_or("a bug", |claim| claim.title.as_str());
            (BAD, format!("BRINGS A NEW BUG: {what}"))
        }
        Verdict::Sufficient => (GOOD, format!("SUFFICIENT, as far as was seen: {bug} is gone")),
        Verdict::Undecided | Verdict::NotShown => {
            (BAD, format!("UNDECIDED: whether {bug} is gone is not known"))
        }
    }
}

/// What was looked at.
fn looked_at(out: &mut impl Write, before: &Before, outcomes: &Outcomes) -> anyhow::Result<()> {
    let count = |state: State| {
        outcomes
            .claims
            .iter()
            .filter(|claim| claim.state == state && claim.relation < Relation::Other)
            .count() as u64
    };
    writeln!(
        out,
        "  looked at: {} of the new program, {} in {}: {} excluded, {} run without harm, {} shown, {} open",
        plural::count(outcomes.runs.into(), "run"),
        plural::count(outcomes.candidates, "candidate"),
        plural::count(outcomes.traces.into(), "trace"),
        plural::grouped(outcomes.excluded),
        count(State::Harmless),
        count(State::Shown),
        count(State::Open),
    )?;
    let other = outcomes.claims.iter().filter(|claim| claim.relation == Relation::Other).count();
    let beside = before.beside.iter().filter(|bug| bug.is_bug).count();
    if other + beside > 0 {
        writeln!(
            out,
            "  beside it: {} in code that did not change: `reweave hunt` says more",
            plural::count(other.max(beside) as u64, "finding")
        )?;
    }
    Ok(())
}
