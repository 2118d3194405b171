//! Groups decided in rounds: a little work for each before much for any.
//!
//! Where values are compared, a few candidates can take longer than all others together, and a group may have many that come to
//! nothing. So the quick stages see every candidate first. What they leave open goes to the exact search in rounds: in each, every
//! group that is still open has the same amount of work, which it spends on its candidates, those first whose events are
//! nearest to each other; what is left of one is the next one's. Each round has four times as much as the one
//! before. It ends when nothing is open, or when the work of all groups comes to [`TOTAL`] steps.
//!
//! Work is counted in steps and not by a clock, and a group spends only its own: the answers are the same on every machine
//! and for any number of jobs.

use std::collections::VecDeque;
use std::sync::Mutex;
use std::sync::atomic::Ordering;

use reweave_decide::{Error, Stages, Verdict};

use crate::groups::Group;
use crate::run::{Outcome, Search, limits};
use crate::{UndecidedReason, run};

/// The work of a group in the first round.
const FIRST: u64 = 1 << 14;

/// The work that may be begun in all rounds together: some ten seconds.
const TOTAL: u64 = 1 << 25;

/// A group and what became of it so far.
struct State {
    outcome: Outcome,
    /// The candidates that are not settled, by their places.
    open: VecDeque<usize>,
}

impl Search<'_> {
    /// Whether the groups are decided in rounds: not where the user says how much work a candidate is worth, or wants all of them.
    pub(crate) fn in_rounds(&self) -> bool {
        let options = self.options;
        self.decider.must().model().by_value()
            && options.stages == Stages::All
            && options.limits.work.is_none()
            && !options.all
    }

    /// Decides the groups, the quick stages first and then in rounds.
    pub(crate) fn decide_in_rounds(&self, list: &[Group]) -> Result<Vec<Outcome>, Error> {
        let quick = self.each(list.len(), true, |place| self.quick(&list[place]))?;
        let states: Vec<Mutex<State>> = quick.into_iter().map(Mutex::new).collect();
        let (mut work, mut begun) = (FIRST, 0);
        loop {
            let is_open = |&place: &usize| run::locked(&states[place]).open.front().is_some();
            let open: Vec<usize> = (0..states.len()).filter(is_open).collect();
            begun += work * open.len() as u64;
            if open.is_empty() || begun > TOTAL || self.stopped() {
                break;
            }
            self.each(open.len(), false, |n| {
                self.round(&list[open[n]], &mut run::locked(&states[open[n]]), work)
            })?;
            work *= 4;
        }
        let states = states.into_iter().map(run::unlocked);
        Ok(list.iter().zip(states).map(|(group, state)| self.closed(group, state)).collect())
    }

    /// The quick stages for all candidates of a group, up to the first that is feasible.
    fn quick(&self, group: &Group) -> Result<State, Error> {
        let mut state = State { outcome: Outcome::default(), open: VecDeque::new() };
        for place in 0..group.candidates.len() {
            if self.stopped() {
                state.open.extend(place..group.candidates.len());
                break;
            }
            let (verdict, _) = self.ask(&group.candidates[place], &limits(self.options), Stages::Quick)?;
            if self.settle(group, place, verdict, &mut state)? {
                break;
            }
        }
        Ok(state)
    }

    /// So much work of the exact search on the candidates of a group.
    fn round(&self, group: &Group, state: &mut State, work: u64) -> Result<(), Error> {
        let mut left = work;
        for _ in 0..state.open.len() {
            if left == 0 || self.stopped() {
                break;
            }
            let Some(place) = state.open.pop_front() else { break };
            let limits = reweave_decide::Limits { work: Some(left), ..limits(self.options) };
            let (verdict, spent) = self.ask(&group.candidates[place], &limits, Stages::Rest)?;
            left = left.saturating_sub(spent.max(1));
            if self.settle(group, place, verdict, state)? {
                break;
            }
        }
        Ok(())
    }

    /// Takes note of a verdict; whether the group is done with it.
    fn settle(
        &self,
        group: &Group,
        place: usize,
        verdict: Verdict,
        state: &mut State,
    ) -> Result<bool, Error> {
        let counts = &mut state.outcome.counts;
        match verdict {
            Verdict::Feasible(witness) => {
                counts.candidates += 1;
                counts.feasible += 1;
                state.open.clear();
                state.outcome.findings.push(self.finding(group, &group.candidates[place], &witness)?);
                return Ok(true);
            }
            Verdict::Infeasible(_) => {
                counts.candidates += 1;
                counts.infeasible += 1;
            }
            Verdict::Unknown(_) => state.open.push_back(place),
        }
        Ok(false)
    }

    /// What a group came to when there are no more rounds.
    fn closed(&self, group: &Group, state: State) -> Outcome {
        let State { mut outcome, open } = state;
        if !outcome.findings.is_empty() {
            return outcome;
        }
        let unknown = open.len() as u64 + group.untried();
        outcome.counts.candidates += unknown;
        outcome.counts.unknown += unknown;
        let nearest = open.iter().min().map(|&place| &group.candidates[place]);
        let reason = match nearest {
            _ if self.options.stop.load(Ordering::Relaxed) => UndecidedReason::Stopped,
            Some(_) => UndecidedReason::Budget,
            None => UndecidedReason::Tries,
        };
        let shown = nearest.or(group.candidates.last()).filter(|_| unknown > 0);
        outcome.undecided.extend(shown.map(|candidate| self.undecided(group, candidate, reason)));
        outcome
    }
}
