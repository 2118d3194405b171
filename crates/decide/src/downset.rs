//! The quickest guess for events that are to be next: what schedulable happens-before puts before them.
//!
//! A pair that the order of shb leaves free is a race (Mathur, Kini, Viswanathan, "What Happens-After the First Race?",
//! OOPSLA 2018): all that is before the two in that order, as it was observed, leads up to them. So the trace is swept
//! backwards from the last event asked for to the first, gathering what is needed: program order, forks and joins,
//! wakers, the writes that reads observed, and the critical sections that were left before one was entered.
//!
//! One pass over the stretch between the events, whatever its threads. A guess proves nothing by itself; what the checker
//! says of it does. It misses whatever needs critical sections, or anything else, in another order than observed.

use reweave_trace::{EventId, Kind, Op, ThreadId};
use reweave_witness::{Claim, Witness};

use crate::limits::Meter;
use crate::prepare::Prepared;
use crate::verdict::Reason;

/// Beyond this many events between the first and the last that are asked for, other stages are quicker.
const LONGEST: u32 = 1 << 14;

/// The guess; none where the order puts one of the events before another.
pub(crate) fn guess(
    prepared: &Prepared<'_>,
    claim: &Claim,
    start: u32,
    meter: &mut Meter<'_>,
) -> Result<Option<Witness>, Reason> {
    let Claim::CoEnabled(events) = claim else { return Ok(None) };
    let Some(last) = events.iter().max() else { return Ok(None) };
    if last.0.saturating_sub(start) > LONGEST {
        return Ok(None);
    }
    let mut sweep = Sweep { prepared, start, asked: events, needed: Vec::new() };
    for &event in events {
        if !sweep.need_thread(event) || !sweep.before(event, true) {
            return Ok(None);
        }
    }
    let mut tail = Vec::new();
    for event in (start..last.0).rev().map(EventId) {
        meter.spend(1)?;
        if prepared.trace.kind(event) == Kind::Skip || !sweep.is_needed(event) {
            continue;
        }
        if !sweep.before(event, false) {
            return Ok(None);
        }
        tail.push(event);
    }
    tail.reverse();
    Ok(Some(Witness { prefix: start, tail }))
}

struct Sweep<'a> {
    prepared: &'a Prepared<'a>,
    /// What is before this position runs as observed.
    start: u32,
    asked: &'a [EventId],
    /// For the threads that have to run on from the start, the first event that need not.
    needed: Vec<(ThreadId, EventId)>,
}

impl Sweep<'_> {
    fn is_needed(&self, event: EventId) -> bool {
        let thread = self.prepared.trace.thread(event);
        self.needed.iter().any(|&(other, end)| other == thread && event < end)
    }

    /// What is before `event` in its thread has to run.
    fn need_thread(&mut self, event: EventId) -> bool {
        self.need(self.prepared.trace.thread(event), event)
    }

    /// `event` has to run.
    fn need_event(&mut self, event: Option<EventId>) -> bool {
        let Some(event) = event.filter(|event| event.0 >= self.start) else { return true };
        self.need(self.prepared.trace.thread(event), EventId(event.0 + 1))
    }

    /// The thread has to run up to `end`; false where that is beyond an event that is to be next.
    fn need(&mut self, thread: ThreadId, end: EventId) -> bool {
        let stands = |&&event: &&EventId| self.prepared.trace.thread(event) == thread;
        if self.asked.iter().find(stands).is_some_and(|&event| event < end) {
            return false;
        }
        match self.needed.iter_mut().find(|(other, _)| *other == thread) {
            Some((_, known)) => *known = (*known).max(end),
            None => self.needed.push((thread, end)),
        }
        true
    }

    /// Needs what comes before `event`; where it is only to be next, neither its observation nor its lock counts.
    fn before(&mut self, event: EventId, only_next: bool) -> bool {
        let (trace, links) = (self.prepared.trace, &self.prepared.links);
        let thread = trace.thread(event);
        let forked = links.fork(thread);
        let own = match trace.op(event) {
            Op::Join(child) => self.need_event(self.prepared.last(child)),
            Op::Wait(_) => self.need_event(links.wait(event).and_then(|link| link.waker)),
            Op::Update(_) | Op::FailedAttempt(_) => self.need_event(links.observed(event)),
            Op::Unseen(_) => {
                let before: Vec<EventId> = self.prepared.last_before(event).collect();
                before.into_iter().all(|earlier| self.need_event(Some(earlier)))
            }
            Op::Call(_) => links.calls_before(event).iter().all(|&earlier| self.need_event(Some(earlier))),
            Op::Read(_) | Op::AtomicRead(_) if !only_next => self.need_event(links.observed(event)),
            Op::Acquire(lock) | Op::TryAcquire(lock) | Op::SharedAcquire(lock) if !only_next => {
                let left = self.prepared.left_before(lock, event);
                left.into_iter().all(|release| self.need_event(Some(release)))
            }
            _ => true,
        };
        own && self.need_event(forked)
    }
}
