//! Our verdicts against Z3's difference logic, on the same generated instances.
//!
//! `REWEAVE_Z3` names the executable; where there is none, nothing is compared. `REWEAVE_Z3_SECONDS` bounds each of
//! its checks: one that is given up counts as the time until then, so that the ratio is a lower bound.

#[path = "../../decide/tests/z3/encoding/mod.rs"]
mod encoding;

use std::time::{Duration, Instant};

use anyhow::{Result, bail};
use reweave_decide::{Decider, Limits, Prepared, Verdict};
use reweave_trace::{Model, Trace};
use reweave_witness::Claim;

use encoding::{Law, Z3, claims};

const SIZES: [usize; 3] = [500, 1000, 2000];
const MODELS: [Model; 3] = [Model::Rf, Model::Value, Model::Branch];

/// Z3's arithmetic solvers that come into question: for difference logic, and its own choice.
const ARITHMETIC: [u32; 2] = [1, 6];

const QUESTIONS: usize = 10;
const SECONDS: u32 = 20;

/// How often we answer; the median is taken. Milliseconds vary more than minutes.
const RUNS: usize = 5;

pub(crate) fn run() -> Result<()> {
    let seconds = std::env::var("REWEAVE_Z3_SECONDS").ok().and_then(|n| n.parse().ok()).unwrap_or(SECONDS);
    let mut solvers = Vec::new();
    for arithmetic in ARITHMETIC {
        // It says itself that it is not installed.
        let Some(solver) = Z3::start(arithmetic, seconds) else { return Ok(()) };
        solvers.push((arithmetic, solver));
    }
    println!("{QUESTIONS} questions each; ours with preparation, Z3 without reading the encoding;");
    println!("Z3 gives a question up after {seconds} s, which then counts as that long\n");
    for events in SIZES {
        for model in MODELS {
            compare(&mut solvers, events, model)?;
        }
    }
    Ok(())
}

/// How long Z3 took for the questions.
#[derive(Default)]
struct Tally {
    time: Duration,
    gave_up: usize,
}

fn compare(solvers: &mut [(u32, Z3)], events: usize, model: Model) -> Result<()> {
    let trace = encoding::trace(events, model, 0);
    let prepared = Prepared::new(&trace, None);
    let claims = claims(&mut Decider::new(&prepared, model)?, 0, QUESTIONS);
    if claims.len() != QUESTIONS {
        bail!("only {} questions were found at {events} events", claims.len());
    }
    let mut ours = Vec::new();
    for _ in 0..RUNS {
        ours.push(answer(&trace, model, &claims)?);
    }
    ours.sort();
    let (time, verdicts) = &ours[RUNS / 2];
    let law = Law::new(&trace, model);
    let mut best: Option<(u32, Tally)> = None;
    for (arithmetic, solver) in solvers {
        let bound = best.as_ref().map(|(_, tally)| tally.time);
        if let Some(tally) = ask(solver, &law, &claims, verdicts, bound)? {
            best = Some((*arithmetic, tally));
        }
    }
    let Some((arithmetic, tally)) = best else { bail!("Z3 was not asked") };
    let (ours, theirs) = (time.as_secs_f64(), tally.time.as_secs_f64());
    let setting = format!("arith.solver={arithmetic}, gave up on {}", tally.gave_up);
    let (ms, ratio, model) = (ours * 1e3, theirs / ours, model.to_string());
    println!(
        "  {events:>5} events, {model:<7} ours {ms:>6.1} ms  Z3 {theirs:>7.2} s ({setting})  {ratio:>7.0}×"
    );
    Ok(())
}

/// Our answers with all stages, and how long they took with the preparation.
fn answer(trace: &Trace, model: Model, claims: &[Claim]) -> Result<(Duration, Vec<bool>)> {
    let start = Instant::now();
    let prepared = Prepared::new(trace, None);
    let mut decider = Decider::new(&prepared, model)?;
    let mut verdicts = Vec::with_capacity(claims.len());
    for claim in claims {
        verdicts.push(match decider.decide(claim, &Limits::none())? {
            Verdict::Feasible(_) => true,
            Verdict::Infeasible(_) => false,
            Verdict::Unknown(reason) => bail!("{claim:?} is unknown without a limit: {reason:?}"),
        });
    }
    Ok((start.elapsed(), verdicts))
}

/// Asks Z3 the same; none as soon as it takes longer than `bound`, which another setting needed.
fn ask(
    solver: &mut Z3,
    law: &Law<'_>,
    claims: &[Claim],
    verdicts: &[bool],
    bound: Option<Duration>,
) -> Result<Option<Tally>> {
    solver.load(&law.script())?;
    let mut tally = Tally::default();
    for (claim, &verdict) in claims.iter().zip(verdicts) {
        let asked = law.asked(claim);
        let start = Instant::now();
        let answer = solver.check(&asked)?;
        tally.time += start.elapsed();
        tally.gave_up += usize::from(answer.is_none());
        if answer.is_some_and(|answer| answer != verdict) {
            bail!("Z3 does not agree that {claim:?} is {verdict}");
        }
        if bound.is_some_and(|bound| tally.time > bound) {
            return Ok(None);
        }
    }
    Ok(Some(tally))
}
