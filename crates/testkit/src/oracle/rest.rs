//! States in which nobody can go on, and the waits that sleep in them.
//!
//! Everything is looked up in the events that have run, but for two things that the order decides: taint, and whether a
//! wait was notified since its start.

use std::collections::BTreeSet;

use reweave_trace::{Dependences, Kind, Model, Op, ThreadId, Trace};

use super::facts::Facts;
use super::machine::{Next, State};
use super::rules::Rule;
use super::{bit, id, members};

/// What is asked of a state, per event or thread.
#[derive(Clone, Debug, Default)]
pub(super) struct Rest {
    /// Per event, the bits of which none may be set for its thread to stand there.
    forbids: Vec<u128>,
    /// Per event, what it can be stuck at.
    stops: Vec<Stop>,
    /// Per thread, its fork.
    forks: Vec<u128>,
    /// Per thread, all its events, and the bits that tell that it went another way.
    all: Vec<(u128, u128)>,
    /// Per thread, whether its end is certain when all its events have run.
    ends: Vec<bool>,
    /// Per read, the writes that must not have come before it for it to find what nobody wrote.
    pub(super) spoilt: Vec<Option<u128>>,
}

/// What an event can be stuck at.
#[derive(Clone, Copy, Debug)]
enum Stop {
    Nothing,
    Lock,
    /// A thread's end.
    End(usize),
    /// A notification: the bit that tells of one since the start, the waker, and the waker's thread.
    Notification {
        heard: u128,
        waker: usize,
        thread: usize,
    },
}

impl Rest {
    pub(super) fn new(
        trace: &Trace,
        facts: &Facts,
        rules: &[Rule],
        model: Model,
        table: Option<&Dependences>,
    ) -> Rest {
        let taint =
            |reads: &[reweave_trace::EventId]| reads.iter().fold(0, |set, r| set | rules[r.index()].taints);
        let by_read = table.filter(|_| model.by_dependence());
        let forbids = |e: usize| match by_read {
            Some(table) => taint(table.needs(id(e))),
            None if matches!(model, Model::Branch | Model::BranchValue)
                && super::rules::transparent(trace.kind(id(e))) =>
            {
                0
            }
            None => rules[e].taints,
        };
        let all = facts.threads.iter().enumerate().map(|(thread, events)| {
            let ran = events.iter().fold(0, |set, &e| set | bit(e));
            let tainted = match by_read {
                Some(table) => taint(table.end_needs(ThreadId::from_index(thread))),
                None => events.first().map_or(0, |&first| rules[first].taints),
            };
            (ran, tainted)
        });
        let last_is_end =
            |events: &Vec<usize>| events.last().is_some_and(|&last| trace.kind(id(last)) == Kind::End);
        let recorded = facts.threads.iter().any(last_is_end);
        let certain = |events: &Vec<usize>| events.is_empty() || !recorded || last_is_end(events);
        let fork = |fork: &Option<usize>| fork.map_or(0, bit);
        Rest {
            forbids: (0..trace.len()).map(forbids).collect(),
            stops: (0..trace.len()).map(|e| stop(trace, facts, rules, e)).collect(),
            forks: facts.fork.iter().map(fork).collect(),
            all: all.collect(),
            ends: facts.threads.iter().map(certain).collect(),
            spoilt: (0..trace.len()).map(|e| spoilt(trace, facts, e)).collect(),
        }
    }

    /// The waits that have missed their wakers, and the deadlocks with waits, of a state; `next` is what comes next in
    /// each thread that has something left.
    pub(super) fn note(
        &self,
        state: State,
        next: &[Next],
        asleep: &mut u128,
        deadlocks: &mut BTreeSet<u128>,
    ) {
        if !next.iter().any(|next| self.sleeps(state, next)) || !self.at_rest(state, next) {
            return;
        }
        for wait in next.iter().filter(|next| self.sleeps(state, next)) {
            let Stop::Notification { waker, .. } = self.stops[wait.event] else { continue };
            if state.ran & bit(waker) != 0 {
                *asleep |= bit(wait.event);
            }
            self.cycles(state, next, wait, wait, bit(wait.event), deadlocks);
        }
    }

    /// Every cycle with `first`, a wait, that goes on from `last`.
    fn cycles(
        &self,
        state: State,
        next: &[Next],
        first: &Next,
        last: &Next,
        path: u128,
        found: &mut BTreeSet<u128>,
    ) {
        for other in next.iter().filter(|other| self.awaits(state, last, other.thread)) {
            if other.event == first.event {
                found.insert(path);
            } else if path & bit(other.event) == 0
                && (self.sleeps(state, other) || self.is_locked_out(state, other))
            {
                self.cycles(state, next, first, other, path | bit(other.event), found);
            }
        }
    }

    /// Whether `next`, which is stuck, needs something of `thread`.
    fn awaits(&self, state: State, next: &Next, thread: usize) -> bool {
        match self.stops[next.event] {
            Stop::Notification { waker, thread: by, .. } => by == thread && state.ran & bit(waker) == 0,
            Stop::Lock => next.blocked_by >> thread & 1 == 1,
            _ => false,
        }
    }

    fn stands(&self, state: State, next: &Next) -> bool {
        state.key & self.forbids[next.event] == 0 && self.was_made(state, next.thread)
    }

    fn was_made(&self, state: State, thread: usize) -> bool {
        state.ran & self.forks[thread] == self.forks[thread]
    }

    fn sleeps(&self, state: State, next: &Next) -> bool {
        match self.stops[next.event] {
            Stop::Notification { heard, .. } => state.key & heard == 0 && self.stands(state, next),
            _ => false,
        }
    }

    fn is_locked_out(&self, state: State, next: &Next) -> bool {
        matches!(self.stops[next.event], Stop::Lock) && next.blocked_by != 0 && self.stands(state, next)
    }

    fn has_run_all(&self, state: State, thread: usize) -> bool {
        state.ran & self.all[thread].0 == self.all[thread].0
    }

    fn at_rest(&self, state: State, next: &[Next]) -> bool {
        let stuck = |next: &Next| match self.stops[next.event] {
            Stop::Nothing => false,
            Stop::Lock => self.is_locked_out(state, next),
            Stop::End(child) => {
                let ended = self.was_made(state, child) && self.has_run_all(state, child);
                !ended && self.stands(state, next)
            }
            Stop::Notification { .. } => self.sleeps(state, next),
        };
        (0..self.all.len()).filter(|&thread| self.was_made(state, thread)).all(|thread| {
            match next.iter().find(|next| next.thread == thread) {
                Some(next) => stuck(next),
                None => self.ends[thread] && state.key & self.all[thread].1 == 0,
            }
        })
    }
}

fn stop(trace: &Trace, facts: &Facts, rules: &[Rule], event: usize) -> Stop {
    match trace.op(id(event)) {
        Op::Acquire(_) | Op::SharedAcquire(_) => Stop::Lock,
        Op::Join(child) => Stop::End(child.index()),
        Op::Wait(_) => {
            let (Some(start), Some(waker)) = (facts.start[event], facts.waker[event]) else {
                return Stop::Nothing;
            };
            // What is right before a wait that a deadline ends is no release.
            if !matches!(trace.kind(id(start)), Kind::Release | Kind::SharedRelease) {
                return Stop::Nothing;
            }
            let thread = trace.thread(id(waker)).index();
            Stop::Notification { heard: rules[event].heard, waker, thread }
        }
        _ => Stop::Nothing,
    }
}

/// For a read, the writes of its variable; births of objects write nothing.
fn spoilt(trace: &Trace, facts: &Facts, event: usize) -> Option<u128> {
    let variable = facts.reads[event]?;
    let writes = (0..trace.len()).filter(|&w| w != event && facts.writes[w].contains(&variable));
    Some(writes.filter(|&w| trace.kind(id(w)) != Kind::Alloc).fold(0, |set, w| set | bit(w)))
}

/// The events of a set.
pub(super) fn ids(set: u128) -> Vec<reweave_trace::EventId> {
    members(set).map(id).collect()
}
