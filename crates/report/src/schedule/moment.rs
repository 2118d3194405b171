//! What a schedule was made for: the events that can run after it, or wait for each other.

use std::collections::BTreeSet;

use reweave_trace::{EventId, Holds, Links, Op, ThreadId, Trace};
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
        Claim::Asleep(wait) => asleep(trace, *wait),
        Claim::Ahead { then, .. } => {
            let title = "it can run now: too late".to_owned();
            vec![Row::Moment(title), Row::Step { event: *then, marked: true }]
        }
        Claim::Sequence { .. } | Claim::Before { .. } | Claim::Unwritten(_) => Vec::new(),
    }
}

fn asleep(trace: &Trace, wait: EventId) -> Vec<Row> {
    let text = format!("waits for {}; every other thread has ended, or waits", event::target(trace, wait));
    vec![
        Row::Moment("nobody is left to wake it".to_owned()),
        Row::Step { event: wait, marked: true },
        Row::Remark { thread: trace.thread(wait), text },
    ]
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
        if let Op::Wait(_) = trace.op(acquire) {
            let waker = Links::new(trace).wait(acquire).and_then(|link| link.waker);
            let by = waker.map(|waker| event::clean(trace.thread_name(trace.thread(waker))).into_owned());
            let target = event::target(trace, acquire);
            let text = format!("waits for {target}, to be notified by {}", by.unwrap_or_default());
            rows.push(Row::Remark { thread: trace.thread(acquire), text });
            continue;
        }
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
pub(crate) struct End {
    holds: Holds,
    ended: BTreeSet<ThreadId>,
}

impl End {
    pub(crate) fn of(trace: &Trace, checked: &CheckedWitness) -> End {
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

    /// The ended threads that keep `acquire` waiting.
    pub(crate) fn holders(&self, trace: &Trace, acquire: EventId) -> Vec<ThreadId> {
        self.ended.iter().copied().filter(|&thread| self.blocks(trace, acquire, thread)).collect()
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
