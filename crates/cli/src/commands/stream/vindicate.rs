//! Only those pairs that a checked schedule shows to be a race.

use reweave_decide::{Decider, Error, Limits, Prepared, Stages, Verdict};
use reweave_format::Loaded;
use reweave_report::json;
use reweave_stream::{Analysis, Race, Stream};
use reweave_trace::{Op, Trace};
use reweave_witness::Claim;

use super::super::query::clock::Clock;
use super::super::{bug_report, model};
use super::tally::{self, Tally};
use crate::args::StreamArgs;
use crate::console::Console;
use crate::exit::Exit;
use crate::progress::{Progress, Unit};

/// How it ended.
pub(super) enum Outcome {
    /// So many pairs were left undecided.
    Decided { undecided: u64 },
    /// By a bug of ours.
    Bug(Exit),
}

/// Counts the vindicated races in `tallies`: of a racy event the first partner with a schedule, or every one.
pub(super) fn run(
    args: &StreamArgs,
    loaded: &Loaded,
    tallies: &mut [Tally],
    console: &Console,
) -> anyhow::Result<Outcome> {
    let trace = &loaded.trace;
    let model = model::choose(args.model, &args.trace, loaded, console)?;
    let progress = Progress::new("vindicating", Unit::Pairs, console);
    let races = candidates(args, loaded)?;
    let prepared = Prepared::new(trace, trace.dependences());
    let mut decider = Decider::new(&prepared, model)?;
    let mut undecided = 0;
    let mut done: Option<(Analysis, Race)> = None;
    // Several analyses may have a pair in common.
    let mut verdicts = std::collections::HashMap::new();
    for (place, &(analysis, race)) in races.iter().enumerate() {
        progress.update(place as u64, Some(races.len() as u64));
        let found = done.is_some_and(|(which, last)| which == analysis && last.later == race.later);
        if found && !args.all {
            continue;
        }
        let verdict = match verdicts.get(&(race.earlier, race.later)) {
            Some(&verdict) => verdict,
            None => match decide(args, trace, &mut decider, race) {
                Ok(verdict) => verdict,
                Err(Error::Unsound(unsound)) => {
                    let head = json::Head::new(trace, &args.trace.display().to_string(), model);
                    let bug = json::Bug::new(head, &unsound);
                    return Ok(Outcome::Bug(bug_report::file(&bug, &bug_report::folders(), console)));
                }
                Err(error) => return Err(error.into()),
            },
        };
        verdicts.insert((race.earlier, race.later), verdict);
        match verdict {
            Some(true) => {
                done = Some((analysis, race));
                tally::add(tallies, analysis, race);
            }
            Some(false) => {}
            None => undecided += 1,
        }
    }
    Ok(Outcome::Decided { undecided })
}

/// Every racy pair, by analysis and then by racy event.
fn candidates(args: &StreamArgs, loaded: &Loaded) -> anyhow::Result<Vec<(Analysis, Race)>> {
    let mut races = Vec::new();
    let trace = &loaded.trace;
    let mut stream = Stream::new(&args.analyses(), true);
    stream.block(trace.names(), &trace.rows(), &mut |analysis, race| races.push((analysis, race)))?;
    stream.finish(&mut |analysis, race| races.push((analysis, race)));
    races.sort_by_key(|(analysis, race)| (*analysis, race.later, race.earlier));
    Ok(races)
}

/// Whether both events of a race can be next at once, or those of an order pair in the other order; nothing where a limit came first.
fn decide(
    args: &StreamArgs,
    trace: &Trace,
    decider: &mut Decider<'_>,
    race: Race,
) -> Result<Option<bool>, Error> {
    let clock = Clock::start(args.budget);
    let limits = Limits { work: args.work, stop: Some(clock.stop()) };
    let claim = match (race.order, trace.op(race.later)) {
        (true, Op::Call(_)) => Claim::Ahead { first: race.later, then: race.earlier },
        (true, _) => Claim::Sequence { events: vec![race.later, race.earlier], adjacent: Vec::new() },
        _ => Claim::CoEnabled(vec![race.earlier, race.later]),
    };
    Ok(match decider.decide_with(&claim, &limits, Stages::All)? {
        Verdict::Feasible(_) => Some(true),
        Verdict::Infeasible(_) => Some(false),
        Verdict::Unknown(_) => None,
    })
}
