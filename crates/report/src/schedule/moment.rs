//! What a schedule was made for: the events that can run after it, or wait for each other.

use std::collections::BTreeSet;

use reweave_trace::{EventId, Holds, Op, ThreadId, Trace};
use reweave_witness::{CheckedWitness, Claim};

use super::rows::Row;
use crate::claim::and;
use crate::event;

pub(super) fn rows(trace: &Trace, checked: &CheckedWitness) -> Vec<Row> {
    match checked.claim() {
        Claim::CoEnabled(events) => {
            let title = match events.len() {
                1 => "it can run now",
                2 => "both can run now",
                _ => "all of them can run now",
            };
            let steps = events.iter().map(|&event| Row::Step { event, marked: true });
            [Row::Moment(title.to_owned())].into_iter().chain(steps).collect()
        }
        Claim::Deadlock(acquires) => deadlock(trace, checked, acquires),
        Claim::Sequence { .. } | Claim::Before { .. } => Vec::new(),
    }
}

fn deadlock(trace: &Trace, checked: &CheckedWitness, acquires: &[EventId]) -> Vec<Row> {
    let end = End::of(trace, checked);
    let title = if acquires.len() == 1 { "it waits for ever" } else { "they wait for each other for ever" };
    let mut rows = vec![Row::Moment(title.to_owned())];
    for &acquire in acquires {
        rows.push(Row::Step { event: acquire, marked: true });
        let others: Vec<ThreadId> = match acquires.len() {
            1 => end.ended.iter().copied().collect(),
            _ => acquires.iter().map(|&other| trace.thread(other)).collect(),
        };
        let ended = if acquires.len() == 1 { ", which has ended" } else { "" };
        let names: Vec<String> = others
            .into_iter()
            .filter(|&thread| end.blocks(trace, acquire, thread))
            .map(|thread| event::clean(trace.thread_name(thread)).into_owned())
            .collect();
        let text = format!("waits for {}, held by {}{ended}", event::target(trace, acquire), and(&names));
        rows.push(Row::Remark { thread: trace.thread(acquire), text });
    }
    rows
}

/// The locks after a schedule.
struct End {
    holds: Holds,
    ended: BTreeSet<ThreadId>,
}

impl End {
    fn of(trace: &Trace, checked: &CheckedWitness) -> End {
        let mut end = End { holds: Holds::new(), ended: BTreeSet::new() };
        for event in checked.witness().schedule(trace) {
            let thread = trace.thread(event);
            match trace.op(event) {
                Op::Acquire(lock) | Op::TryAcquire(lock) => end.holds.acquire(thread, lock),
                Op::SharedAcquire(lock) => end.holds.acquire_shared(thread, lock),
                Op::Release(lock) => end.holds.release(thread, lock),
                Op::SharedRelease(lock) => end.holds.release_shared(thread, lock),
                Op::End => drop(end.ended.insert(thread)),
                _ => {}
            }
        }
        end
    }

    fn blocks(&self, trace: &Trace, acquire: EventId, thread: ThreadId) -> bool {
        let exclusive = |lock| self.holds.exclusive_depth(thread, lock) > 0;
        thread != trace.thread(acquire)
            && match trace.op(acquire) {
                Op::Acquire(lock) => exclusive(lock) || self.holds.shared_depth(thread, lock) > 0,
                Op::SharedAcquire(lock) => exclusive(lock),
                _ => false,
            }
    }
}
