//! A run of the machine along an order, with what it shows on the way.

use std::collections::{BTreeMap, BTreeSet};

use reweave_trace::{EventId, Kind, LockId, Op, ThreadId, Trace};
use reweave_witness::Machine;

use super::keep::Kept;
use super::maker::{Lists, Maker};
use super::news::News;
use super::{Next, Reads, State, ThreadState, VariableState};
use crate::event;

/// How many events of a thread before the machine's start are searched for locks that it may hold.
const BACK: usize = 20_000;

/// The machine, and the state that was shown last.
pub(super) struct Run<'r, 't> {
    maker: &'r Maker<'t>,
    kept: &'r Kept,
    machine: Option<Machine<'r>>,
    /// How many positions had passed when it started.
    passed: u32,
    /// How many steps it may take.
    left: u64,
    /// The locks that involved threads may hold.
    locks: BTreeSet<LockId>,
    threads: BTreeMap<ThreadId, ThreadState>,
    values: BTreeMap<u32, VariableState>,
    /// The reads that observed something new.
    pub(super) news: News,
}

impl<'r, 't> Run<'r, 't> {
    pub(super) fn new(maker: &'r Maker<'t>, kept: &'r Kept, machine: Option<Machine<'r>>, left: u64) -> Self {
        let trace = maker.trace();
        let mut locks = BTreeSet::new();
        for &id in &kept.events {
            locks.extend(lock_of(trace, id));
        }
        // What was taken before the machine's start may still be held there.
        for &thread in &kept.threads {
            let all = maker.order.of(thread);
            let at = all.partition_point(|id| id.0 < kept.near);
            locks.extend(all[at.saturating_sub(BACK)..at].iter().filter_map(|&id| lock_of(trace, id)));
        }
        let (threads, values) = (BTreeMap::new(), BTreeMap::new());
        Run { maker, kept, machine, passed: kept.near, left, locks, threads, values, news: News::default() }
    }

    /// How many steps are left.
    pub(super) fn left(&self) -> u64 {
        self.left
    }

    /// Runs an event of the order, which a prefix of so many positions begins; what it observes, if it reads.
    pub(super) fn step(&mut self, id: EventId, prefix: u32) -> Option<Reads> {
        let in_start = id.0 < prefix && id.0 < self.passed;
        if in_start || self.machine.is_none() {
            return None;
        }
        let (reads, observed) = (self.reads(id), self.observed(id));
        let trace = self.maker.trace();
        if self.kept.threads.contains(&trace.thread(id)) {
            self.locks.extend(lock_of(trace, id));
        }
        let ran = self.left > 0 && self.machine.as_mut().is_some_and(|machine| machine.step(id).is_ok());
        self.left = self.left.saturating_sub(1);
        if !ran {
            // Better no state than a wrong one.
            self.machine = None;
            return None;
        }
        if let Some(machine) = &self.machine {
            self.news.ran(machine, id, observed);
        }
        reads
    }

    /// Of a read: what it would observe now, and what it observed in the recorded run.
    fn observed(&self, id: EventId) -> Option<[Option<EventId>; 2]> {
        let access = self.maker.trace().op(id).access().filter(|access| access.reads)?;
        let machine = self.machine.as_ref()?;
        Some([machine.last_write(access.variable), self.maker.links.observed(id)])
    }

    fn reads(&self, id: EventId) -> Option<Reads> {
        let (trace, machine) = (self.maker.trace(), self.machine.as_ref()?);
        let access = trace.op(id).access().filter(|access| access.reads)?;
        let writer = machine.last_write(access.variable);
        let changed = writer != self.maker.links.observed(id);
        let value = if changed { machine.value(access.variable) } else { trace.values(id).read };
        let freed = writer.is_some_and(|writer| trace.kind(writer) == Kind::Free);
        let value = value.filter(|_| !freed).map(|value| trace.value(value).to_string());
        Some(Reads { writer: writer.map(|writer| writer.0), value, changed, freed })
    }

    /// The state, as far as it differs from the one that was shown last.
    pub(super) fn state(&mut self, lists: &mut Lists<'_, '_>) -> State {
        let mut state = State::default();
        if self.machine.is_none() {
            return state;
        }
        for &thread in &self.kept.threads {
            let Some(now) = self.thread(thread, lists) else { continue };
            if self.threads.get(&thread) != Some(&now) {
                self.threads.insert(thread, now.clone());
                state.threads.push(now);
            }
        }
        for place in 0..self.kept.variables.len() {
            let Some(now) = self.variable(place, lists) else { continue };
            if self.values.get(&now.target) != Some(&now) {
                self.values.insert(now.target, now.clone());
                state.values.push(now);
            }
        }
        state
    }

    fn thread(&self, thread: ThreadId, lists: &mut Lists<'_, '_>) -> Option<ThreadState> {
        let (trace, machine) = (self.maker.trace(), self.machine.as_ref()?);
        let held: Vec<LockId> =
            self.locks.iter().copied().filter(|&lock| machine.holds(thread, lock)).collect();
        let next = machine.next(thread);
        let blockers: Vec<ThreadId> = match next {
            Some(next) => {
                self.kept.threads.iter().copied().filter(|&by| machine.is_blocked_by(next, by)).collect()
            }
            None => Vec::new(),
        };
        Some(ThreadState {
            thread: lists.thread(thread),
            held: held.into_iter().filter_map(|lock| lists.target(Op::Acquire(lock))).collect(),
            next: next.map(|id| Next {
                event: id.0,
                op: event::word(trace.kind(id)).to_owned(),
                target: lists.target(trace.op(id)),
                site: Some(lists.site(id)),
            }),
            blocked_by: blockers.into_iter().map(|by| lists.thread(by)).collect(),
        })
    }

    fn variable(&self, place: usize, lists: &mut Lists<'_, '_>) -> Option<VariableState> {
        let (trace, machine) = (self.maker.trace(), self.machine.as_ref()?);
        let variable = *self.kept.variables.get(place)?;
        let writer = machine.last_write(variable);
        let freed = writer.is_some_and(|writer| trace.kind(writer) == Kind::Free);
        let value = machine.value(variable).filter(|_| !freed).map(|value| trace.value(value).to_string());
        let target = lists.target(Op::Read(variable))?;
        Some(VariableState { target, value, writer: writer.map(|writer| writer.0), freed })
    }
}

/// The lock that an event acquires.
fn lock_of(trace: &Trace, id: EventId) -> Option<LockId> {
    match trace.op(id) {
        Op::Acquire(lock) | Op::TryAcquire(lock) | Op::SharedAcquire(lock) => Some(lock),
        _ => None,
    }
}
