//! Queries on long traces.

use std::time::{Duration, Instant};

use anyhow::Result;
use reweave_decide::{Decider, Limits, Prepared, Verdict};
use reweave_format::synthetic::{self, Shape};
use reweave_format::{LoadOptions, create, load};
use reweave_testkit::recorded;
use reweave_trace::{EventId, Model, Trace};
use reweave_witness::Claim;

/// How many queries are asked on each trace.
const QUERIES: usize = 400;

pub(crate) fn run() -> Result<()> {
    let folder = tempfile::tempdir()?;
    for events in [100_000, 1_000_000, 10_000_000] {
        let shape = Shape { events, threads: 20, locks: 30, variables: 10_000, ..Shape::default() };
        let path = folder.path().join("trace.rw");
        let mut writer = create(&path, None, shape.capabilities())?;
        synthetic::generate(&shape, &mut *writer)?;
        let trace = load(&path, &LoadOptions::default())?.trace;
        measure(&format!("generated, {events} events, 20 threads"), &trace)?;
    }
    injected_races()
}

fn measure(name: &str, trace: &Trace) -> Result<()> {
    let start = Instant::now();
    let prepared = Prepared::new(trace, None);
    let mut decider = Decider::new(&prepared, Model::Rf)?;
    let preparation = start.elapsed();
    let mut times: Vec<(Duration, &str)> = Vec::new();
    for (a, b) in conflicting_pairs(trace) {
        let start = Instant::now();
        let verdict =
            decider.decide(&Claim::CoEnabled(vec![a, b]), &Limits { work: Some(20_000_000), stop: None })?;
        let verdict = match verdict {
            Verdict::Feasible(_) => "feasible",
            Verdict::Infeasible(_) => "infeasible",
            Verdict::Unknown(_) => "unknown",
        };
        times.push((start.elapsed(), verdict));
    }
    times.sort();
    println!(
        "{name}: prepared in {preparation:.1?} ({:.0} ns an event)",
        preparation.as_nanos() as f64 / trace.len() as f64
    );
    for verdict in ["feasible", "infeasible", "unknown"] {
        let of: Vec<Duration> = times.iter().filter(|(_, v)| *v == verdict).map(|&(time, _)| time).collect();
        let at = |share: f64| of.get(((of.len() as f64 - 1.0) * share) as usize).copied().unwrap_or_default();
        println!(
            "  {verdict:<10} {:>4}  median {:>9.1?}  90 % {:>9.1?}  slowest {:>9.1?}",
            of.len(),
            at(0.5),
            at(0.9),
            at(1.0)
        );
    }
    println!("  all        {:>4}  median {:>9.1?}", times.len(), times[times.len() / 2].0);
    Ok(())
}

/// Conflicting pairs from all over the trace, near and far.
fn conflicting_pairs(trace: &Trace) -> Vec<(EventId, EventId)> {
    let mut pairs = Vec::new();
    let mut state = 12345u64;
    let mut random = |n: usize| {
        state = state.wrapping_mul(6364136223846793005).wrapping_add(1442695040888963407);
        (state >> 33) as usize % n
    };
    while pairs.len() < QUERIES {
        let a = EventId::from_index(random(trace.len()));
        let reach = 1 << (4 + random(13));
        let end = (a.index() + reach).min(trace.len());
        let after = (a.index() + 1..end).map(EventId::from_index);
        if trace.op(a).access().is_some()
            && let Some(b) = after.rev().find(|&b| trace.conflict(a, b))
        {
            pairs.push((a, b));
        }
    }
    pairs
}

/// The races that others injected into real traces, where these are beside the project.
fn injected_races() -> Result<()> {
    let mut paths = recorded("raceinjector");
    paths.retain(|path| path.to_string_lossy().contains("-injected-"));
    for path in paths {
        let trace = load(&path, &LoadOptions { repair: true, ..LoadOptions::default() })?.trace;
        let prepared = Prepared::new(&trace, None);
        let mut decider = Decider::new(&prepared, Model::Rf)?;
        let is_bug = |id: &EventId| {
            trace.op(*id).access().is_some_and(|access| trace.variable_name(access.variable) == "BUGGY_ADDR")
        };
        let accesses: Vec<EventId> = trace.ids().filter(is_bug).collect();
        for (i, &a) in accesses.iter().enumerate() {
            for &b in accesses[i + 1..].iter().filter(|&&b| trace.conflict(a, b)) {
                let start = Instant::now();
                let verdict = decider.decide(&Claim::CoEnabled(vec![a, b]), &Limits::none())?;
                let answer = if matches!(verdict, Verdict::Feasible(_)) { "feasible" } else { "not shown" };
                let name = path.file_name().unwrap_or_default().to_string_lossy().into_owned();
                println!("  {name:<30} {:>6} {:>6}  {answer}  {:?}", a.0, b.0, start.elapsed());
            }
        }
    }
    Ok(())
}
