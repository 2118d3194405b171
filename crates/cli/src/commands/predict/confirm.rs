//! Findings that are replayed on the program.

use std::cell::{Cell, RefCell};
use std::collections::BTreeMap;
use std::ffi::OsString;
use std::fs;
use std::path::{Path, PathBuf};

use anyhow::Context as _;
use reweave_detect::Pattern;
use reweave_replay::{Ended, Order, Outcome, Reference, Schedule, Shape, text};
use reweave_report::json::predict::{Finding, Replay, ReplayRun};
use reweave_report::view::{Harm, Severity};
use reweave_session::{adopt, interrupt};
use reweave_trace::Trace;

use crate::args::PredictArgs;
use crate::commands::clock::{Clock, Phase};
use crate::commands::hunt::driven::{self, Started};
use crate::commands::record;
use crate::commands::replay::finding::{Context, title};
use crate::commands::replay::{self, Replayer};
use crate::console::Console;
use crate::plural;
use crate::progress::{Progress, Unit};

/// So many characters of a program's output are kept.
const OUTPUT: usize = 4_000;

/// Replays the findings of traces, each fingerprint until it is confirmed and does harm.
pub(super) struct Confirm<'a> {
    args: &'a PredictArgs,
    /// Where schedules are kept.
    keep: Option<&'a Path>,
    clock: Clock,
    known: RefCell<BTreeMap<String, Tried>>,
    /// How many findings there was no time for.
    skipped: Cell<u64>,
}

impl<'a> Confirm<'a> {
    /// None where nothing is to be replayed.
    pub(super) fn new(
        args: &'a PredictArgs,
        keep: Option<&'a Path>,
        clock: Clock,
    ) -> anyhow::Result<Option<Confirm<'a>>> {
        if !args.confirm {
            return Ok(None);
        }
        let confirm = Confirm { args, keep, clock, known: RefCell::default(), skipped: Cell::new(0) };
        if args.traces.iter().all(|trace| driven::of_trace(trace).is_none()) {
            confirm.program()?;
        }
        Ok(Some(confirm))
    }

    /// What there was no time for.
    pub(super) fn cut(&self) -> Option<String> {
        let skipped = self.skipped.get();
        (skipped > 0).then(|| format!("{} not replayed", plural::count(skipped, "finding")))
    }

    /// The program that the user named.
    fn program(&self) -> anyhow::Result<Program> {
        let (name, arguments) = replay::program(&self.args.program)?;
        Ok(Program { path: record::find(name)?, arguments: arguments.to_vec(), folder: None })
    }

    /// The program that a trace is of: the one that a driver started, or the one that the user named.
    fn program_of(&self, trace: &Path) -> anyhow::Result<Program> {
        match driven::of_trace(trace) {
            Some(Started { program, arguments, folder, .. }) => {
                Ok(Program { path: program, arguments, folder: Some(folder) })
            }
            None => self.program(),
        }
    }

    /// The words of the program that a trace is of.
    pub(super) fn words(&self, trace: &Path) -> Vec<String> {
        let driven = driven::of_trace(trace).map(|started| started.words());
        let words = driven.unwrap_or_else(|| self.args.program.clone());
        words.iter().map(|word| word.to_string_lossy().into_owned()).collect()
    }

    /// What came of each of these findings, in their order.
    pub(super) fn all(
        &self,
        trace: &Trace,
        path: &Path,
        findings: &[reweave_detect::Finding],
        console: &Console,
    ) -> anyhow::Result<Vec<Tried>> {
        if findings.is_empty() {
            return Ok(Vec::new());
        }
        interrupt::watch()?;
        adopt()?;
        let context = Context::new(trace, path)?;
        let program = self.program_of(path)?;
        let mut replayer = Replayer::new(&program.path, &program.arguments, &self.args.replaying, Some(path));
        replayer.set_folder(program.folder.as_deref());
        let mut reference = None;
        let mut tried = Vec::new();
        let progress = Progress::new("replaying", Unit::Findings, console);
        for (place, finding) in findings.iter().enumerate() {
            progress.update(place as u64, Some(findings.len() as u64));
            let name = finding.fingerprint();
            let known = self.known.borrow().get(name).cloned().unwrap_or_default();
            if known.is_harmful() || interrupt::requested() {
                tried.push(known);
                continue;
            }
            if self.clock.is_over(Phase::Last) {
                self.skipped.set(self.skipped.get() + 1);
                tried.push(known);
                continue;
            }
            let schedule = match context.schedule(finding.witness(), title(trace, finding)) {
                Ok(schedule) => schedule,
                Err(error) => {
                    console.warn(format_args!("finding {name} cannot be replayed: {error}"));
                    tried.push(known);
                    continue;
                }
            };
            replayer.check(&schedule)?;
            if let Some(folder) = self.keep {
                let file = folder.join(format!("{name}.schedule"));
                fs::write(&file, text::write(&schedule)).with_context(|| file.display().to_string())?;
            }
            let recorded = reference.get_or_insert_with(|| self.recorded(&context, &replayer));
            let recorded = match recorded {
                Known::Run(reference) => Some(&*reference),
                Known::Nothing => None,
                Known::Waits if program.folder.is_some() => {
                    console.warn(format_args!(
                        "{}: {} waits for its driver when it runs by itself: its findings are not replayed",
                        path.display(),
                        program.path.display()
                    ));
                    tried.resize_with(findings.len(), Tried::default);
                    return Ok(tried);
                }
                Known::Waits => None,
            };
            let one = self.one(&replayer, &schedule, recorded)?;
            if one.outcome.is_none() && !interrupt::requested() {
                self.skipped.set(self.skipped.get() + 1);
            }
            tried.push(self.noted(name, known.or(one)));
        }
        Ok(tried)
    }

    /// Remembers what came of a fingerprint so far.
    fn noted(&self, name: &str, tried: Tried) -> Tried {
        self.known.borrow_mut().insert(name.to_owned(), tried.clone());
        tried
    }

    /// What the program does under the recorded schedule.
    fn recorded(&self, context: &Context<'_>, replayer: &Replayer<'_>) -> Known {
        let Some(schedule) = context.recorded() else { return Known::Nothing };
        let run = || self.replay(replayer, &schedule, Order::Ab).ok().flatten();
        let Some(first) = run() else { return Known::Nothing };
        if first.report.timed_out && first.report.outcome != Outcome::Confirmed {
            return Known::Waits;
        }
        run().and_then(|second| Reference::new(&first, &second)).map_or(Known::Nothing, Known::Run)
    }

    /// One replay; none where there was no time for it: what a program does until then is not what it would have done.
    fn replay(
        &self,
        replayer: &Replayer<'_>,
        schedule: &Schedule,
        order: Order,
    ) -> anyhow::Result<Option<Ended>> {
        match self.clock.left(Phase::Last).filter(|&left| left < self.args.replaying.replay_timeout) {
            None => replayer.replay(schedule, order).map(Some),
            Some(left) if left.is_zero() => Ok(None),
            Some(left) => {
                let ended = replayer.replay_within(schedule, order, left)?;
                Ok(Some(ended).filter(|ended| !ended.report.timed_out))
            }
        }
    }

    fn one(
        &self,
        replayer: &Replayer<'_>,
        schedule: &Schedule,
        recorded: Option<&Reference>,
    ) -> anyhow::Result<Tried> {
        let orders: &[Order] =
            if schedule.shape == Shape::Race { &[Order::Ab, Order::Ba] } else { &[Order::Ab] };
        let mut tried = Tried::default();
        for &order in orders {
            let mut worst: Option<Ended> = None;
            for _ in 0..self.args.replaying.times {
                let ended = match self.replay(replayer, schedule, order) {
                    Ok(Some(ended)) => ended,
                    Ok(None) => break,
                    // What was found is shown all the same.
                    Err(_) if interrupt::requested() => return Ok(tried),
                    Err(error) => return Err(error),
                };
                if worst.as_ref().is_none_or(|worst| worst.report.outcome < ended.report.outcome) {
                    worst = Some(ended);
                }
            }
            if let Some(ended) = worst {
                tried.add(order, &ended, recorded);
            }
        }
        Ok(tried)
    }
}

/// A program, and how it was started.
struct Program {
    path: PathBuf,
    arguments: Vec<OsString>,
    /// Where it ran, if not here.
    folder: Option<PathBuf>,
}

/// What is known of the recorded schedule on the program.
enum Known {
    /// What the program does under it.
    Run(Reference),
    /// The program waited for something that did not come.
    Waits,
    /// It does not follow the schedule.
    Nothing,
}

/// What came of a finding in its replays.
#[derive(Clone, Default)]
pub(super) struct Tried {
    outcome: Option<Replay>,
    runs: Vec<ReplayRun>,
}

impl Tried {
    fn add(&mut self, order: Order, ended: &Ended, recorded: Option<&Reference>) {
        let outcome = match ended.report.outcome {
            Outcome::Confirmed => Replay::Confirmed,
            Outcome::Diverged => Replay::Diverged,
            Outcome::Hung => Replay::Hung,
            Outcome::Finished => Replay::Finished,
        };
        // A race is there when both accesses stand next to each other, in whichever order they then come.
        self.outcome = self.outcome.into_iter().chain([outcome]).max();
        self.runs.push(ReplayRun {
            order: if order == Order::Ab { "ab" } else { "ba" }.to_owned(),
            outcome,
            harm: match ended.harm(recorded) {
                reweave_replay::Harm::Crash => Harm::Crash,
                reweave_replay::Harm::Assertion => Harm::Assertion,
                reweave_replay::Harm::Hang => Harm::Hang,
                reweave_replay::Harm::Difference => Harm::Difference,
                reweave_replay::Harm::None => Harm::None,
            },
            ended: ended.ending(),
            output: ended.lines().join("\n").chars().take(OUTPUT).collect(),
        });
    }

    /// Whether it happened and did harm: there is no more to be seen. What did no harm in one trace
    /// may do some in another.
    fn is_harmful(&self) -> bool {
        self.outcome == Some(Replay::Confirmed) && self.runs.iter().any(|run| run.harm != Harm::None)
    }

    /// The one of the two that shows more: the worse harm, and then that it happens at all.
    fn or(self, other: Tried) -> Tried {
        let rank = |tried: &Tried| {
            let worst = tried.runs.iter().map(|run| run.harm).min().unwrap_or(Harm::None);
            (worst, tried.outcome.map_or(u8::MAX, |outcome| outcome as u8))
        };
        if rank(&other) < rank(&self) { other } else { self }
    }

    /// Notes it on the finding.
    pub(super) fn store(self, finding: &mut Finding) {
        let confirmed = self.outcome == Some(Replay::Confirmed);
        let worst = self.runs.iter().map(|run| run.harm).min();
        // That nothing was to be seen means something only where the finding was there.
        let harm = worst.filter(|&harm| confirmed || harm != Harm::None);
        finding.severity = Some(Severity::new(finding.kind, Pattern::from_name(&finding.pattern), harm));
        finding.replay = self.outcome;
        finding.replays = self.runs;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn tried(outcome: Replay, harm: Harm) -> Tried {
        let [order, ended, output] = [const { String::new() }; 3];
        Tried { outcome: Some(outcome), runs: vec![ReplayRun { order, outcome, harm, ended, output }] }
    }

    #[test]
    fn what_shows_more_is_kept_and_only_harm_is_enough() {
        let crash = tried(Replay::Confirmed, Harm::Crash);
        let harmless = tried(Replay::Confirmed, Harm::None);
        let diverged = tried(Replay::Diverged, Harm::None);
        assert!(crash.is_harmful() && !harmless.is_harmful() && !diverged.is_harmful());
        assert!(!tried(Replay::Diverged, Harm::Crash).is_harmful());
        let kept = |first: &Tried, second: &Tried| {
            let kept = first.clone().or(second.clone());
            (kept.outcome, kept.runs.first().map(|run| run.harm))
        };
        let confirmed = Some(Replay::Confirmed);
        for (first, second, expected) in [
            (&harmless, &crash, (confirmed, Some(Harm::Crash))),
            (&crash, &harmless, (confirmed, Some(Harm::Crash))),
            (&harmless, &diverged, (confirmed, Some(Harm::None))),
            (&diverged, &harmless, (confirmed, Some(Harm::None))),
            (&Tried::default(), &diverged, (Some(Replay::Diverged), Some(Harm::None))),
        ] {
            assert_eq!(kept(first, second), expected);
        }
    }
}
