//! The bug, in the program before the fix.

use std::collections::{BTreeSet, VecDeque};
use std::path::PathBuf;

use reweave_replay::{Order, Outcome, Shape};
use reweave_session::interrupt;
use reweave_verify::About;
use reweave_verify::port::Builds;

use super::look::{Found, Opened, Rank, Search};
use super::runner::Runner;
use crate::args::VerifyArgs;
use crate::commands::replay::check;

/// So many runs under schedules are looked at, where no bug was found otherwise.
const DEEPER: usize = 8;

/// A bug that was made to happen.
pub(super) struct Bug {
    pub(super) found: Found,
    /// The order that it failed in, where it did.
    pub(super) order: Order,
    /// How the run ended that shows that it is one.
    pub(super) failed: Option<String>,
    /// Whether it is a bug, as far as can be seen, rather than an order of events without harm.
    pub(super) is_bug: bool,
}

/// What the old program came to.
#[derive(Default)]
pub(super) struct Before {
    /// What the fix is for.
    pub(super) bugs: Vec<Bug>,
    /// What else came: bugs in code that did not change, and what did no harm.
    pub(super) beside: Vec<Bug>,
    /// All that was found, whatever came of it.
    pub(super) known: Vec<About>,
    /// How runs ended that failed by themselves.
    pub(super) failed: BTreeSet<String>,
    /// How many of the runs without a schedule did.
    pub(super) failed_runs: u32,
    /// Whether the budget ended before all was looked at.
    pub(super) cut: bool,
}

/// Looks for the bug: in a trace that was given, else in runs of the old program. Where none of them has a bug, the runs that
/// were made of their findings are looked at as well, for they took other paths.
pub(super) fn hunt(
    mut old: Option<&mut Runner<'_>>,
    given: Option<&Opened>,
    builds: Builds<'_>,
    args: &VerifyArgs,
    search: Search<'_>,
) -> anyhow::Result<Before> {
    let mut hunt =
        Hunt { before: Before::default(), tried: BTreeSet::new(), bugs: Vec::new(), deeper: VecDeque::new() };
    if let Some(opened) = given {
        hunt.look(opened, old.as_deref_mut(), builds, args, search)?;
    } else if let Some(old) = old.as_deref_mut() {
        for number in 0..args.before_runs {
            if search.is_over() || interrupt::requested() {
                break;
            }
            search.progress.say(format!(
                "looking for the bug in the old program, run {} of {}",
                number + 1,
                args.before_runs
            ));
            let taken = old.record(policy(number), seed(args, number))?;
            if let Some(failed) = taken.failed {
                hunt.before.failed.insert(failed.how);
                hunt.before.failed_runs += 1;
            }
            hunt.look(&search.open(&taken.trace)?, Some(&mut *old), builds, args, search)?;
        }
    }
    for _ in 0..DEEPER {
        let found = hunt.bugs.iter().any(|bug| bug.is_bug) || search.is_over() || interrupt::requested();
        let Some(trace) = hunt.deeper.pop_front().filter(|_| !found) else { break };
        hunt.look(&search.open(&trace)?, old.as_deref_mut(), builds, args, search)?;
    }
    let Hunt { mut before, mut bugs, .. } = hunt;
    before.cut = search.is_over();
    // What is known to fail is the bug before all else.
    bugs.sort_by_key(|bug| bug.failed.is_none());
    (before.bugs, before.beside) = choose(bugs, builds, args);
    Ok(before)
}

/// A hunt under way.
struct Hunt {
    before: Before,
    tried: BTreeSet<String>,
    bugs: Vec<Bug>,
    /// Traces of runs under schedules.
    deeper: VecDeque<PathBuf>,
}

impl Hunt {
    /// Makes each finding of a trace happen, where the old program is there.
    fn look(
        &mut self,
        opened: &Opened,
        mut old: Option<&mut Runner<'_>>,
        builds: Builds<'_>,
        args: &VerifyArgs,
        search: Search<'_>,
    ) -> anyhow::Result<()> {
        for found in search.look(opened, builds.old, Rank::Sound)?.found {
            if search.is_over() || interrupt::requested() || !self.tried.insert(found.fingerprint.clone()) {
                continue;
            }
            self.before.known.push(found.about.clone());
            match old.as_deref_mut() {
                Some(old) => {
                    check(&old.program, &found.schedule)?;
                    self.bugs.extend(replay(old, found, args, &mut self.deeper)?);
                }
                // What is predicted is possible; that it does harm has to be said by who names it.
                None => {
                    let is_bug = found.is_error || is_named(&found, args);
                    self.bugs.push(Bug { found, order: Order::Ab, failed: None, is_bug });
                }
            }
        }
        Ok(())
    }
}

fn is_named(found: &Found, args: &VerifyArgs) -> bool {
    args.finding.as_ref().is_some_and(|name| found.fingerprint.starts_with(name.as_str()))
}

/// The first run lets each thread run as long as it can, the others have seeds.
pub(super) fn policy(number: u32) -> &'static str {
    if number == 0 { "plain" } else { "random" }
}

pub(super) fn seed(args: &VerifyArgs, number: u32) -> u64 {
    args.seed.wrapping_add(u64::from(number.saturating_sub(1)))
}

/// Makes a finding happen; none where it did not.
fn replay(
    old: &mut Runner<'_>,
    found: Found,
    args: &VerifyArgs,
    deeper: &mut VecDeque<PathBuf>,
) -> anyhow::Result<Option<Bug>> {
    let orders: &[Order] =
        if found.schedule.shape == Shape::Race { &[Order::Ab, Order::Ba] } else { &[Order::Ab] };
    let (mut confirmed, mut failed) = (false, None);
    for &order in orders {
        let taken = old.force(&found.schedule, order, Some(&found.trace))?;
        confirmed |= taken.ended.report.outcome == Outcome::Confirmed;
        failed = taken.failed.map(|failed| (order, failed.how));
        deeper.push_back(taken.trace);
        if failed.is_some() {
            break;
        }
    }
    let is_bug = failed.is_some() || confirmed && (found.is_error || is_named(&found, args));
    let (order, failed) = failed.map_or((Order::Ab, None), |(order, how)| (order, Some(how)));
    Ok((confirmed || is_bug).then_some(Bug { found, order, failed, is_bug }))
}

/// The bugs that the fix is for, and the others.
fn choose(bugs: Vec<Bug>, builds: Builds<'_>, args: &VerifyArgs) -> (Vec<Bug>, Vec<Bug>) {
    let (bugs, mut harmless): (Vec<Bug>, Vec<Bug>) = bugs.into_iter().partition(|bug| bug.is_bug);
    let (chosen, mut others) = chosen(bugs, builds, args);
    others.append(&mut harmless);
    (chosen, others)
}

fn chosen(bugs: Vec<Bug>, builds: Builds<'_>, args: &VerifyArgs) -> (Vec<Bug>, Vec<Bug>) {
    if let Some(name) = &args.finding {
        return bugs.into_iter().partition(|bug| bug.found.fingerprint.starts_with(name.as_str()));
    }
    if bugs.iter().any(|bug| bug.found.about.was_changed(builds)) {
        return bugs.into_iter().partition(|bug| bug.found.about.was_changed(builds));
    }
    (bugs, Vec::new())
}
