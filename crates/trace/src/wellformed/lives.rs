//! Threads that run before their fork or after their end, as a repair sees them.
//!
//! Some recorders write a thread's first events before its fork. To drop the fork would let the thread start at any time, which
//! it could not; so the events go. A fork that goes with them has started nobody: a thread with no other fork loses all its
//! events.
//!
//! Others write a thread's end before its last events, such as the ones by which it tells that it has ended. To drop those would
//! take the order away that they make, and leave locks held for ever; so the end goes.

use crate::{EventId, Kind, Op, Space, Trace};

/// The position from which a thread that was never forked may run.
const FROM_THE_START: usize = 0;
/// The same for a thread each of whose forks is dropped.
const NEVER: usize = usize::MAX;

/// The events of threads that have a fork and stand before it, in observed order.
pub(super) fn events_before_forks(trace: &Trace) -> Vec<EventId> {
    let starts = starts(trace);
    if starts.iter().all(|&start| start == FROM_THE_START) {
        return Vec::new();
    }
    let is_early = |id: &EventId| id.index() < starts[trace.thread(*id).index()];
    trace.ids().filter(|id| trace.op(*id) != Op::Skip).filter(is_early).collect()
}

/// The ends after which their threads run on, in observed order.
pub(super) fn ends_before_events(trace: &Trace) -> Vec<EventId> {
    let mut runs_on = vec![false; trace.count(Space::Thread)];
    let mut ends = Vec::new();
    for id in trace.ids().rev().filter(|id| trace.kind(*id) != Kind::Skip) {
        if std::mem::replace(&mut runs_on[trace.thread(id).index()], true) && trace.kind(id) == Kind::End {
            ends.push(id);
        }
    }
    ends.reverse();
    ends
}

/// From which position on each thread may run.
fn starts(trace: &Trace) -> Vec<usize> {
    let forks = || {
        trace.ids().filter_map(|id| match trace.op(id) {
            Op::Fork(child) if child != trace.thread(id) => Some((id, child)),
            _ => None,
        })
    };
    let mut starts = vec![FROM_THE_START; trace.count(Space::Thread)];
    for (_, child) in forks() {
        starts[child.index()] = NEVER;
    }
    for (id, child) in forks() {
        let is_kept = starts[trace.thread(id).index()] <= id.index();
        if is_kept && starts[child.index()] == NEVER {
            starts[child.index()] = id.index();
        }
    }
    starts
}
