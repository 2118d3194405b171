//! What is left of the bug in the program after the fix.

mod claims;
mod steer;

use std::collections::{BTreeSet, VecDeque};

use reweave_detect::Kind;
use reweave_replay::{Order, Outcome, Schedule};
use reweave_session::interrupt;
use reweave_verify::port::Builds;
use reweave_verify::relation::relation;
use reweave_verify::{About, Ran, Relation, State, Verdict, seen, verdict};

use super::before::{Before, policy, seed};
use super::look::{Found, Looked, Opened, Rank, Search};
use super::runner::{Runner, Taken};
use crate::args::VerifyArgs;
use crate::commands::replay::finding::Context;
use claims::Known;
pub(super) use claims::{BugClaim, Settled};

/// How many runs without a schedule there are, once nothing else is left to run.
const ORDINARY: u32 = 3;
/// From so many traces a claim is tried.
const TRIES: u32 = 3;
/// How many bugs are steered at before the program runs as it likes; the others are afterwards.
const STEERED: usize = 6;

/// What is run next.
#[derive(Clone, Copy)]
enum Next {
    /// A bug's schedule.
    Steer(usize),
    /// A claim.
    Claim(usize),
    /// No schedule at all.
    Ordinary,
}

/// All that is known of the new program.
pub(super) struct After<'a, 'r> {
    new: &'a mut Runner<'r>,
    builds: Builds<'a>,
    before: &'a Before,
    args: &'a VerifyArgs,
    search: Search<'a>,
    bugs: Vec<About>,
    known: Vec<Known>,
    bug_claims: Vec<BugClaim>,
    queue: VecDeque<(Taken, u32)>,
    rans: Vec<Ran>,
    ordinary: u32,
    steered: usize,
    gaps: BTreeSet<String>,
    notes: Vec<String>,
    candidates: u64,
    excluded: u64,
    traces: u32,
}

/// What the new program came to.
pub(super) struct Outcomes {
    pub(super) verdict: Verdict,
    pub(super) bugs: Vec<BugClaim>,
    pub(super) claims: Vec<Settled>,
    /// Why nothing can be said.
    pub(super) gaps: Vec<String>,
    pub(super) notes: Vec<String>,
    pub(super) hints: Vec<String>,
    pub(super) candidates: u64,
    pub(super) excluded: u64,
    pub(super) traces: u32,
    pub(super) runs: u32,
    /// The schedule that shows it, with the number of its run, and how that ended.
    pub(super) shown: Option<Shown>,
    /// What was found in the new program and shown to be a bug, where it is that.
    pub(super) picture: Option<Found>,
}

/// A run that shows something.
#[derive(Clone)]
pub(super) struct Shown {
    pub(super) schedule: Schedule,
    pub(super) run: u32,
    pub(super) ended: String,
}

impl<'a, 'r> After<'a, 'r> {
    pub(super) fn new(
        new: &'a mut Runner<'r>,
        builds: Builds<'a>,
        before: &'a Before,
        args: &'a VerifyArgs,
        search: Search<'a>,
    ) -> After<'a, 'r> {
        let bugs: Vec<About> = before.bugs.iter().map(|bug| bug.found.about.clone()).collect();
        let bug_claims = before.bugs.iter().map(|_| BugClaim::default()).collect();
        After {
            new,
            builds,
            before,
            args,
            search,
            bugs,
            known: Vec::new(),
            bug_claims,
            queue: VecDeque::new(),
            rans: Vec::new(),
            ordinary: 0,
            steered: 0,
            gaps: BTreeSet::new(),
            notes: Vec::new(),
            candidates: 0,
            excluded: 0,
            traces: 0,
        }
    }

    /// Runs the new program until nothing is open, or the budget ends.
    pub(super) fn verify(mut self) -> anyhow::Result<Outcomes> {
        while !self.shows() {
            if let Some((taken, run)) = self.queue.pop_front() {
                self.look(&taken, run)?;
                continue;
            }
            let next = self.next_run();
            // A check or a run that the budget cut short says nothing: then not all was looked at,
            // whatever is left.
            if self.is_over(next.is_some()) {
                break;
            }
            let Some(next) = next else { break };
            self.say();
            match next {
                Next::Steer(bug) => self.steer(bug)?,
                Next::Claim(claim) => self.attempt(claim)?,
                Next::Ordinary => self.ordinary()?,
            }
        }
        // What was shown in a run that was not looked at yet still says which locks were held.
        while let Some((taken, run)) = self.queue.pop_front() {
            let opened = self.search.open(&taken.trace)?;
            self.traces += 1;
            self.note_trace(&opened, run, true)?;
        }
        Ok(self.finish())
    }

    /// What to run next, the most likely to show something first; none where nothing is left.
    fn next_run(&self) -> Option<Next> {
        let steer = (self.steered < self.before.bugs.len()).then_some(Next::Steer(self.steered));
        if self.steered == 0 {
            return steer;
        }
        let claim = |rank: Rank| self.next_claim(rank).map(Next::Claim);
        let ordinary = || (self.ordinary < ORDINARY).then_some(Next::Ordinary);
        claim(Rank::Sound)
            .or_else(|| claim(Rank::Likely))
            .or(steer.filter(|_| self.steered < STEERED))
            .or_else(ordinary)
            .or(steer)
            .or_else(|| claim(Rank::Every))
    }

    /// Whether no further run is allowed; why is noted.
    fn is_over(&mut self, has_next: bool) -> bool {
        let why = if interrupt::requested() {
            "it was interrupted".to_owned()
        } else if self.search.is_over() {
            format!("the time was up: --budget {:?}", self.args.budget)
        } else if has_next && self.new.runs >= self.args.runs {
            format!("the runs were used up: --runs {}", self.args.runs)
        } else {
            return false;
        };
        self.gaps.insert(why);
        true
    }

    /// Whether something was shown: then the verdict is known.
    fn shows(&self) -> bool {
        let claims = self.claims();
        matches!(verdict::decide(&claims, &[]), Verdict::Insufficient | Verdict::NewBug)
    }

    fn say(&self) {
        let open = self.known.iter().filter(|known| known.state == State::Open && known.counts()).count();
        self.search.progress.say(format!(
            "looking for it in the new program, run {} of {} at most, {open} open",
            self.new.runs + 1,
            self.args.runs
        ));
    }

    fn take(&mut self, taken: Taken) {
        self.rans.push(taken.ran.clone());
        self.queue.push_back((taken, self.new.runs));
    }

    /// A run that follows no schedule.
    fn ordinary(&mut self) -> anyhow::Result<()> {
        let taken = self.new.record(policy(self.ordinary), seed(self.args, self.ordinary))?;
        self.ordinary += 1;
        self.take(taken);
        Ok(())
    }

    /// Predicts on a recorded run, and looks what came in it.
    fn look(&mut self, taken: &Taken, run: u32) -> anyhow::Result<()> {
        let opened = self.search.open(&taken.trace)?;
        self.traces += 1;
        let failed = taken.failed.clone();
        for rank in [Rank::Sound, Rank::Likely, Rank::Every] {
            let looked = self.search.look(&opened, self.builds.new, rank)?;
            self.add(looked, rank);
        }
        self.note_trace(&opened, run, failed.is_some())?;
        if let Some(failed) = failed {
            self.failed_run(run, &failed);
        }
        Ok(())
    }

    /// What a run shows by itself: claims that came in it, and what keeps the bug away.
    fn note_trace(&mut self, opened: &Opened, run: u32, failed: bool) -> anyhow::Result<()> {
        let trace = &opened.loaded.trace;
        let context = Context::new(trace, &opened.path)?;
        let (steps, builds) = (context.steps(), self.builds);
        for (bug, claim) in self.before.bugs.iter().zip(&mut self.bug_claims) {
            let Some(shape) = &bug.found.shape else { continue };
            let wanted: Vec<Vec<usize>> = shape
                .operations
                .iter()
                .map(|&operation| builds.map.counterparts(builds.old, builds.new, operation))
                .collect();
            if claim.lock.is_none() {
                claim.lock = seen::excluded_by(&wanted, &shape.threads, trace, steps, builds.new);
            }
            if claim.hints.is_empty()
                && claim.state == State::Shown
                && let Some(events) = seen::instance(&wanted, &shape.threads, trace, steps, builds.new)
            {
                claim.hints = reweave_verify::held::hints(trace, &events);
            }
        }
        if failed {
            return Ok(());
        }
        for known in self.known.iter_mut().filter(|known| known.state == State::Open && !known.found.is_error)
        {
            let came = |shape: &seen::Shape| seen::came(shape, trace, steps, builds.new).is_some();
            if known.found.shape.as_ref().is_some_and(came) {
                known.state = State::Harmless;
                known.by = format!("came in run {run}, and did no harm");
            }
        }
        Ok(())
    }

    /// Adds what was found to the claims.
    fn add(&mut self, looked: Looked, rank: Rank) {
        let Looked { found, open, candidates, excluded, passed_over, partial } = looked;
        self.candidates += candidates;
        self.excluded += excluded;
        if partial {
            self.gaps.insert("a search was stopped before its end".to_owned());
        }
        // Which they are is not known: one of them may be what is left of the bug.
        if passed_over > 0 {
            self.gaps.insert("candidates were passed over, because there were too many alike".to_owned());
        }
        for one in open {
            if self.counts(&one.about, rank).is_some() {
                self.gaps.insert(format!("{} was not decided ({})", one.title, one.reason));
            }
        }
        for found in found {
            self.add_found(found, rank);
        }
    }

    /// What something found has to do with the bug, where it is to be looked into. What only locks do not exclude is so where
    /// it is near the bug, or a deadlock of the change.
    fn counts(&self, about: &About, rank: Rank) -> Option<Relation> {
        let relation = relation(about, &self.bugs, &self.before.known, self.builds);
        let counts = match rank {
            Rank::Sound => true,
            _ => relation <= Relation::Near || relation == Relation::Changed && about.kind == Kind::Deadlock,
        };
        counts.then_some(relation)
    }

    fn add_found(&mut self, found: Found, rank: Rank) {
        let Some(relation) = self.counts(&found.about, rank) else { return };
        let Some(known) = self.known.iter_mut().find(|known| known.found.fingerprint == found.fingerprint)
        else {
            self.known.push(Known::new(found, rank, relation));
            return;
        };
        if rank < known.rank {
            // It did not come, or was not tried; now it is known to be possible.
            if matches!(known.state, State::Open | State::Excluded) {
                *known = Known::new(found, rank, relation);
            } else {
                known.rank = rank;
            }
        } else if known.state == State::Open && known.tries > 0 && known.next.is_none() {
            // Another schedule for what did not come in the first one.
            known.next = Some((found.schedule, found.trace));
        }
    }

    /// The open claim of a rank to run next: what is a bug whatever comes of it first, and what is nearest to the bug.
    fn next_claim(&self, rank: Rank) -> Option<usize> {
        let open = self.known.iter().enumerate().filter(|(_, known)| {
            known.rank == rank
                && known.state == State::Open
                && known.relation != Relation::Other
                && known.tries < TRIES
                && (known.tries == 0 || known.next.is_some())
        });
        open.min_by_key(|(place, known)| (known.tries, !known.found.is_error, known.relation, *place))
            .map(|(place, _)| place)
    }

    /// Makes a claim happen.
    fn attempt(&mut self, place: usize) -> anyhow::Result<()> {
        let known = &mut self.known[place];
        known.tries += 1;
        let (schedule, from) = match known.next.take() {
            Some(next) => next,
            None => (known.found.schedule.clone(), known.found.trace.clone()),
        };
        let taken = self.new.force(&schedule, Order::Ab, Some(&from))?;
        let failed = taken.failed.clone();
        let outcome = taken.ended.report.outcome;
        let known = &mut self.known[place];
        let run = self.new.runs;
        let confirmed = outcome == Outcome::Confirmed;
        // Without a witness that says that nobody wakes them, threads that wait may go on.
        let waits = known.rank != Rank::Sound && known.found.about.kind == Kind::Deadlock;
        let by_order = confirmed && known.found.is_error && !waits;
        if by_order || failed.as_ref().is_some_and(|failed| failed.is_hard || confirmed) {
            known.state = State::Shown;
            known.by = failed.map_or_else(|| "it happened".to_owned(), |failed| failed.how);
            known.shown = Some(Shown { schedule, run, ended: taken.ended.ending() });
        } else if confirmed && !waits {
            known.state = State::Harmless;
            known.by = format!("was made to happen in run {run}, and did no harm");
        } else if known.rank == Rank::Sound {
            known.by = format!("could not be made to happen: run {run} {outcome}");
        } else {
            known.state = State::Excluded;
            known.by = format!("values exclude it on what was recorded, and it did not come in run {run}");
        }
        self.take(taken);
        Ok(())
    }
}
