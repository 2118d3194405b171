//! How far back the accesses to come can still reach.
//!
//! What must come before everything that other threads will still do is no partner for any of it, and those who gather
//! partners in observed order may forget it. Memory then follows what is open at a time and not the length of the trace.

use reweave_decide::{Must, Prepared};
use reweave_trace::{EventId, Kind, ThreadId};

/// Where each thread is at one moment of the observed run.
pub(crate) struct Horizon<'a> {
    prepared: &'a Prepared<'a>,
    must: &'a Must<'a>,
    /// Per thread, its last event so far.
    latest: Vec<Option<EventId>>,
    /// Per thread, its last event that matters here: an access, or a fork of a thread that may access.
    last: Vec<Option<EventId>>,
    now: EventId,
}

impl<'a> Horizon<'a> {
    pub(crate) fn new(prepared: &'a Prepared<'a>, must: &'a Must<'a>) -> Horizon<'a> {
        let threads = prepared.order.threads();
        let matters = |event: &EventId| {
            let op = prepared.trace.op(*event);
            op.kind() == Kind::Fork || op.access().is_some()
        };
        let last = |thread| prepared.order.of(thread).iter().copied().rfind(matters);
        let last = (0..threads).map(ThreadId::from_index).map(last).collect();
        Horizon { prepared, must, latest: vec![None; threads], last, now: EventId(0) }
    }

    /// Runs the next event.
    pub(crate) fn run(&mut self, thread: ThreadId, event: EventId) {
        self.latest[thread.index()] = Some(event);
        self.now = event;
    }

    /// How many threads there are to ask about.
    pub(crate) fn threads(&self) -> usize {
        self.latest.len()
    }

    /// How many events of `thread` must come before whatever others will still ask about. A thread asks about nothing
    /// before its event `since`, or where that is none, before where it is.
    pub(crate) fn passed(&self, thread: ThreadId, since: impl Fn(ThreadId) -> Option<EventId>) -> u32 {
        let others = (0..self.latest.len()).map(ThreadId::from_index).filter(|&other| other != thread);
        let needed = |other: ThreadId| {
            self.last[other.index()].filter(|&last| last >= self.now)?;
            let place =
                since(other).or(self.latest[other.index()]).or_else(|| self.prepared.links.fork(other));
            match place {
                // What its parent knows by then is more than what the parent knows now.
                Some(fork) if fork > self.now => None,
                Some(place) => Some(self.must.needed(place, thread)),
                None => Some(0),
            }
        };
        let mut passed = u32::MAX;
        for needed in others.filter_map(needed) {
            passed = passed.min(needed);
            if passed == 0 {
                break;
            }
        }
        passed
    }
}
