//! The brute-force oracle: every reachable state of the machine, by exhaustion.
//!
//! The law is the page on semantics. Where it is terse, this is how it is read here:
//!
//! - *Schedules.* A schedule consists of events that ran (positions without an event do not count) and follows each
//!   thread from its first event without gaps. A thread that some event forks starts after that fork; any other
//!   starts freely. A join needs that its thread has started (its fork, if any, has run), that all the thread's
//!   events in the trace have run, and that the thread is clean: untainted, or with `dep` every read that its end
//!   needs clean. With `sync` every thread is.
//! - *May run* is what the machine accepts as the next step, but for acquires (acq, tryacq, racq) whatever holds the
//!   lock. Events that are co-enabled are in different threads, as each is the next of its thread.
//! - *Locks.* The shared and the exclusive side of a lock nest separately, and one thread may have both. A busy
//!   attempt needs a hold of another thread, of either side.
//! - *Waits.* A wait starts at the event just before it in its thread, or at itself when there is none. It takes the
//!   earliest notification in between that is still free; a notifyall always is. A woken wait runs only if its waker
//!   ran after its start. The waker may well run before: that is a lost wake-up, and the wait never runs. A wait
//!   that nobody woke runs only if no notification of its condition ran between its start and itself (with `sync`:
//!   always). So a trace in which one wait took another's notification need not be a feasible reordering of itself.
//! - *Memory.* The birth and death of `p` write `p` and every variable whose name starts with `p.`; they have no
//!   value. A read is clean when it observes an untainted write that is the one it observed in the trace, or the
//!   initial value as in the trace; in the models by value also when both values are known and equal. Unknown equals
//!   nothing. An update runs only if it is clean in this sense (with `sync`: always).
//! - *Taint.* With `rf` and `value` a tainted thread does nothing more; with the branch models it runs only r, w,
//!   ar, aw, acq, tryacq, rel, racq and rrel. The dependence models have no tainted threads: an event runs when the
//!   reads it needs were clean, and what it writes is tainted when a read that feeds it was not.
//! - *Deadlocks.* All simple cycles among blocked acquires count, also those that contain the threads of a smaller
//!   one. With k = 1 the holder is another thread whose recorded `end` has run. A cycle with waits counts only where
//!   nobody can go on: every thread has ended and is clean, was never made, or is stuck.
//!
//! - *Conditional steps.* A failed attempt runs if it is clean, or if it failed at a value that is not the expected one and would
//!   observe an untainted, known value that is not either; then it is an unclean read. A look runs unless a later one (in
//!   the trace) at the same clock has run. An unseen write runs when all events before it in the trace have.
//! - *Calls.* A call runs when all calls before it in the trace on its objects that do not commute with it have run, and with `dep`
//!   no read that feeds it was unclean (with `sync`: always). It is on the object before its method's dot, and on those it
//!   mentions; which calls commute is in [`calls`](crate::calls). A call may go ahead of those that a rule puts before it: then no
//!   other call on its object runs after it, and its thread stops there unless it is void.
//!
//! A state is one number of at most 128 bits: cursors, taint, last writers with their taint, and wake-ups. Who holds
//! which lock follows from the cursors. Each state is visited once, so the cost is the number of states times that of
//! threads; [`Plain`](crate::Plain) checks the result without any of this.

mod deadlock;
mod explore;
mod facts;
mod machine;
mod precedence;
mod rest;
mod rules;

use reweave_trace::{Dependences, EventId, Model, Trace};

use explore::Graph;
pub use machine::Machine;

/// Why the oracle does not answer.
#[derive(Clone, Copy, PartialEq, Eq, Debug, thiserror::Error)]
#[non_exhaustive]
pub enum Refused {
    /// The trace or its states are too large for the oracle's numbers.
    #[error("the trace is too large for the oracle")]
    TooLarge,
    /// There are more reachable states than allowed.
    #[error("there are more than {0} states")]
    TooManyStates(usize),
    /// The model is one of the dependence models, and there is no table.
    #[error("the model needs a table of dependences")]
    NoDependences,
}

/// How many states [`Oracle::new`] is willing to visit.
const STATE_LIMIT: usize = 2_000_000;

/// All that feasible reorderings of one trace can do, under one model.
#[derive(Clone, Debug)]
pub struct Oracle {
    machine: Machine,
    graph: Graph,
}

impl Oracle {
    /// Explores every feasible reordering of `trace`.
    pub fn new(trace: &Trace, model: Model, dependences: Option<&Dependences>) -> Result<Oracle, Refused> {
        Oracle::with_limit(trace, model, dependences, STATE_LIMIT)
    }

    /// Explores every feasible reordering of `trace`, or gives up beyond `limit` states.
    pub fn with_limit(
        trace: &Trace,
        model: Model,
        dependences: Option<&Dependences>,
        limit: usize,
    ) -> Result<Oracle, Refused> {
        let machine = Machine::new(trace, model, dependences)?;
        let graph = Graph::explore(&machine, limit)?;
        Ok(Oracle { machine, graph })
    }

    /// Every pair of conflicting events that may both run in some state, sorted.
    pub fn races(&self) -> Vec<(EventId, EventId)> {
        let mut races = Vec::new();
        for (a, &partners) in self.graph.races.iter().enumerate() {
            races.extend(members(partners).filter(|&b| a < b).map(|b| (id(a), id(b))));
        }
        races
    }

    /// Every deadlock as the sorted set of its acquires, sorted.
    pub fn deadlocks(&self) -> Vec<Vec<EventId>> {
        let sets = self.graph.deadlocks.iter();
        let mut deadlocks: Vec<Vec<EventId>> = sets.map(|&set| members(set).map(id).collect()).collect();
        deadlocks.sort();
        deadlocks
    }

    /// Whether these acquires are a deadlock in some state.
    pub fn deadlock(&self, acquires: &[EventId]) -> bool {
        self.set(acquires).is_some_and(|set| self.graph.deadlocks.contains(&set))
    }

    /// The waits that can sleep for ever because their wakers came before they had started, in order.
    pub fn lost_wake_ups(&self) -> Vec<EventId> {
        rest::ids(self.graph.asleep)
    }

    /// The reads that can come before every write of what they read, births of objects aside, in order.
    pub fn unwritten_reads(&self) -> Vec<EventId> {
        rest::ids(self.graph.unwritten)
    }

    /// Whether some schedule has the call `first`, which may go ahead of others, and `then` may run after it, too late.
    pub fn ahead(
        trace: &Trace,
        model: Model,
        dependences: Option<&Dependences>,
        first: EventId,
        then: EventId,
    ) -> Result<bool, Refused> {
        let machine = Machine::with_ahead(trace, model, dependences, Some((first.index(), then.index())))?;
        let graph = Graph::explore(&machine, STATE_LIMIT)?;
        let late = |state: usize| graph.may_run[state] & bit(then.index()) != 0;
        let has_run = |state: usize| graph.ran[state] & bit(first.index()) != 0;
        Ok((0..graph.len()).any(|state| late(state) && has_run(state)))
    }

    /// Whether all these events may run in some one state.
    pub fn coenabled(&self, events: &[EventId]) -> bool {
        self.state_before(events).is_some()
    }

    /// A feasible schedule after which all these events may run.
    pub fn witness(&self, events: &[EventId]) -> Option<Vec<EventId>> {
        self.state_before(events).map(|state| self.graph.schedule_to(state))
    }

    /// Whether some feasible schedule contains all these events, the first of each pair before the second, with
    /// nothing in between for the pairs whose index is in `adjacent`.
    ///
    /// # Panics
    /// When an index in `adjacent` is out of range.
    pub fn before(&self, pairs: &[(EventId, EventId)], adjacent: &[usize]) -> bool {
        let events: Vec<EventId> = pairs.iter().flat_map(|&(a, b)| [a, b]).collect();
        self.contains_in_order(&events, pairs, adjacent)
    }

    /// Whether some feasible schedule contains these events in this order, with nothing between the i-th (from 0)
    /// and its successor for each i in `adjacent`.
    ///
    /// # Panics
    /// When an index in `adjacent` is out of range.
    pub fn sequence(&self, events: &[EventId], adjacent: &[usize]) -> bool {
        let pairs: Vec<(EventId, EventId)> = events.windows(2).map(|pair| (pair[0], pair[1])).collect();
        self.contains_in_order(events, &pairs, adjacent)
    }

    /// Runs one schedule; the error is the index of the first step that is refused.
    pub fn accepts(&self, schedule: &[EventId]) -> Result<(), usize> {
        self.machine.accepts(schedule)
    }

    /// The end of a random walk: a feasible schedule that stops somewhere or gets stuck.
    pub fn random_schedule(&self, rng: &mut crate::Rng) -> Vec<EventId> {
        self.machine.random_schedule(rng)
    }

    /// How many states are reachable.
    pub fn states(&self) -> usize {
        self.graph.len()
    }

    fn state_before(&self, events: &[EventId]) -> Option<usize> {
        // Two events of one thread, or one event twice, can never both be next.
        let set = self.set(events).filter(|set| set.count_ones() as usize == events.len())?;
        self.graph.may_run.iter().position(|may| may & set == set)
    }

    fn contains_in_order(
        &self,
        events: &[EventId],
        pairs: &[(EventId, EventId)],
        adjacent: &[usize],
    ) -> bool {
        let Some(wanted) = self.set(events) else { return false };
        let pairs: Vec<(usize, usize)> = pairs.iter().map(|&(a, b)| (a.index(), b.index())).collect();
        precedence::reachable(&self.graph, wanted, &pairs, adjacent)
    }

    /// The set of `events`, unless one is not in the trace at all.
    fn set(&self, events: &[EventId]) -> Option<u128> {
        let inside = events.iter().all(|event| event.index() < self.machine.len());
        inside.then(|| events.iter().fold(0, |set, event| set | bit(event.index())))
    }
}

fn id(event: usize) -> EventId {
    EventId::from_index(event)
}

fn bit(index: usize) -> u128 {
    1 << index
}

/// The numbers in a set.
fn members(mut set: u128) -> impl Iterator<Item = usize> {
    std::iter::from_fn(move || {
        let lowest = (set != 0).then(|| set.trailing_zeros() as usize)?;
        set &= set - 1;
        Some(lowest)
    })
}
