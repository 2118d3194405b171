//! Predicted races against a straightforward version: every conflicting pair of every variable, each one closed.
//!
//! Twice: with a closure written as plainly as that sounds ([`crate::plain`]), and with our own preparation and
//! decider for each pair, which refuse most pairs at once by the must order; that ratio says what choosing candidates is
//! worth, and nothing else. A seeded sample of the pairs is timed, and the time of all is that of the sample times their
//! share.

use std::collections::BTreeSet;
use std::time::{Duration, Instant};

use anyhow::{Result, bail};
use reweave_decide::{Decider, Limits, Prepared, Stages, Verdict};
use reweave_detect::{Kind, Options, predict};
use reweave_testkit::Rng;
use reweave_trace::{EventId, Model, SiteId, Space, Trace};
use reweave_witness::Claim;

use crate::plain::refuted;

/// How many pairs are timed.
const SAMPLE: usize = 100_000;

/// How many of them by the plain closure, which takes its time.
const PLAIN_SAMPLE: usize = 200;

/// How often our own races are predicted; the median is taken.
const RUNS: usize = 5;

pub(crate) fn compare(trace: &Trace) -> Result<()> {
    let mut runs = Vec::new();
    for _ in 0..RUNS {
        runs.push(predicted(trace)?);
    }
    runs.sort();
    let Ours { time: ours, found, .. } = &runs[RUNS / 2];
    println!("races of {} events, with preparation, one job:", trace.len());
    println!("  predicted: {} found in {ours:.1?}", found.len());
    let accesses = accesses(trace);
    let count = conflicting_pairs(trace, &accesses).count();
    if count == 0 {
        bail!("there is no conflicting pair to compare with");
    }
    let start = Instant::now();
    let prepared = Prepared::new(trace, None);
    let mut decider = Decider::new(&prepared, Model::Rf)?.without_reasons();
    let preparation = start.elapsed();
    let pairs = sample(trace, &accesses, count);
    compare_plain(&prepared, &pairs, count, &runs[RUNS / 2])?;
    for (stages, name) in [(Stages::Fast, "closure"), (Stages::All, "all stages")] {
        let (time, feasible) = decide(&mut decider, &pairs, stages)?;
        if let Some(missed) = feasible.iter().find(|pair| !found.contains(&sites(trace, &[pair.0, pair.1]))) {
            bail!("{missed:?} is a race that was not predicted");
        }
        let all = preparation + time.mul_f64(count as f64 / pairs.len() as f64);
        let ratio = all.as_secs_f64() / ours.as_secs_f64();
        let sampled = format!("by a sample of {}, {} of it feasible", pairs.len(), feasible.len());
        println!("  all {count} conflicting pairs, our {name}: {all:.1?} {sampled}  {ratio:.0}×");
    }
    Ok(())
}

fn compare_plain(
    prepared: &Prepared<'_>,
    pairs: &[(EventId, EventId)],
    count: usize,
    ours: &Ours,
) -> Result<()> {
    for &(a, b) in &ours.races {
        if refuted(prepared, a, b) {
            bail!("the plain closure refutes the race of {a:?} and {b:?}");
        }
    }
    let stride = pairs.len().div_ceil(PLAIN_SAMPLE);
    let pairs: Vec<_> = pairs.iter().copied().step_by(stride).collect();
    let start = Instant::now();
    let refuted = pairs.iter().filter(|&&(a, b)| refuted(prepared, a, b)).count();
    let all = start.elapsed().mul_f64(count as f64 / pairs.len() as f64);
    let ratio = all.as_secs_f64() / ours.time.as_secs_f64();
    let sampled = format!("by a sample of {}, {refuted} of it refuted", pairs.len());
    println!("  all {count} conflicting pairs, plain closure: {all:.0?} {sampled}  {ratio:.0}×");
    Ok(())
}

#[derive(PartialEq, Eq, PartialOrd, Ord)]
struct Ours {
    time: Duration,
    found: BTreeSet<Vec<SiteId>>,
    races: Vec<(EventId, EventId)>,
}

fn predicted(trace: &Trace) -> Result<Ours> {
    let start = Instant::now();
    let options = Options { kinds: vec![Kind::Race], ..Options::default() };
    let findings = predict(trace, Model::Rf, &options)?.findings;
    let time = start.elapsed();
    let found = findings.iter().map(|finding| sites(trace, finding.events())).collect();
    let races = findings.iter().map(|finding| (finding.events()[0], finding.events()[1])).collect();
    Ok(Ours { time, found, races })
}

/// What makes two races one finding.
fn sites(trace: &Trace, events: &[EventId]) -> Vec<SiteId> {
    let mut sites: Vec<SiteId> = events.iter().map(|&event| trace.site(event)).collect();
    sites.sort_unstable();
    sites
}

/// Per variable, the events that access it.
fn accesses(trace: &Trace) -> Vec<Vec<EventId>> {
    let mut accesses = vec![Vec::new(); trace.count(Space::Variable)];
    for (id, event) in trace.events() {
        if let Some(access) = event.op.access() {
            accesses[access.variable.index()].push(id);
        }
    }
    accesses
}

fn conflicting_pairs<'a>(
    trace: &'a Trace,
    accesses: &'a [Vec<EventId>],
) -> impl Iterator<Item = (EventId, EventId)> + 'a {
    let pairs = accesses.iter().flat_map(|events| {
        events.iter().enumerate().flat_map(|(place, &b)| events[..place].iter().map(move |&a| (a, b)))
    });
    pairs.filter(|&(a, b)| trace.conflict(a, b))
}

/// Pairs drawn at random with a fixed seed, all equally likely.
fn sample(trace: &Trace, accesses: &[Vec<EventId>], count: usize) -> Vec<(EventId, EventId)> {
    let mut rng = Rng::new(1);
    let mut places: Vec<usize> = (0..SAMPLE).map(|_| rng.below(count)).collect();
    places.sort_unstable();
    places.dedup();
    let mut wanted = places.into_iter().peekable();
    let numbered = conflicting_pairs(trace, accesses).enumerate();
    numbered.filter(|(place, _)| wanted.next_if_eq(place).is_some()).map(|(_, pair)| pair).collect()
}

/// How long the pairs took, and which are feasible.
fn decide(
    decider: &mut Decider<'_>,
    pairs: &[(EventId, EventId)],
    stages: Stages,
) -> Result<(Duration, Vec<(EventId, EventId)>)> {
    let mut feasible = Vec::new();
    let start = Instant::now();
    for &(a, b) in pairs {
        let verdict = decider.decide_with(&Claim::CoEnabled(vec![a, b]), &Limits::none(), stages)?;
        if matches!(verdict, Verdict::Feasible(_)) {
            feasible.push((a, b));
        }
    }
    Ok((start.elapsed(), feasible))
}
