//! Which accesses of a thread are meant to be one step.

use reweave_trace::{Core, EventId, Kind, Op, RegionId, ThreadId, Trace};

use crate::locksets::{Hold, LocksetId, Locksets};

/// What each thread has open at one moment of the observed run: critical sections and regions.
pub(super) struct Steps<'a> {
    core: &'a Core,
    distance: u32,
    /// Whether the trace marks what is meant to be one step.
    marked: bool,
    threads: Vec<Open>,
}

#[derive(Clone, Default)]
struct Open {
    /// Each lock that is held, since which outermost acquire, with all that were taken before it.
    holds: Vec<(Hold, EventId, LocksetId)>,
    /// Each region that has been entered, and where.
    regions: Vec<(RegionId, EventId)>,
}

impl<'a> Steps<'a> {
    pub(super) fn new(core: &'a Core, threads: usize, distance: u32) -> Steps<'a> {
        let marked = has_regions(core.trace());
        Steps { core, distance, marked, threads: vec![Open::default(); threads] }
    }

    /// Runs an event; `outermost` is for acquires and releases.
    pub(super) fn run(
        &mut self,
        event: EventId,
        thread: ThreadId,
        op: Op,
        outermost: bool,
        locksets: &mut Locksets,
    ) {
        let open = &mut self.threads[thread.index()];
        match op {
            Op::Acquire(lock) | Op::TryAcquire(lock) if outermost => {
                open.take(Hold { lock, shared: false }, event, locksets);
            }
            Op::SharedAcquire(lock) if outermost => open.take(Hold { lock, shared: true }, event, locksets),
            Op::Release(lock) if outermost => open.leave(Hold { lock, shared: false }, locksets),
            Op::SharedRelease(lock) if outermost => open.leave(Hold { lock, shared: true }, locksets),
            Op::Enter(region) => open.regions.push((region, event)),
            Op::Exit(region) => {
                if let Some(place) = open.regions.iter().rposition(|&(entered, _)| entered == region) {
                    open.regions.remove(place);
                }
            }
            _ => {}
        }
    }

    /// The locks that `thread` has held without a break since `earlier`.
    pub(super) fn held_since(&self, thread: ThreadId, earlier: EventId) -> LocksetId {
        let holds = &self.threads[thread.index()].holds;
        let kept = holds.partition_point(|(_, since, _)| *since < earlier);
        holds[..kept].last().map_or(LocksetId::EMPTY, |(.., locks)| *locks)
    }

    /// Whether the author says, by a region or a critical section, that an earlier access of `thread` and one now
    /// are one step.
    pub(super) fn is_meant(&self, thread: ThreadId, earlier: EventId) -> bool {
        let open = &self.threads[thread.index()];
        match self.marked {
            true => open.regions.iter().any(|(_, entered)| *entered < earlier),
            false => open.holds.first().is_some_and(|(_, since, _)| *since < earlier),
        }
    }

    /// Whether an earlier access of a thread and one now are so near to each other that they may be one step.
    pub(super) fn is_near(&self, earlier: EventId, now: EventId) -> bool {
        !self.marked && self.core.step(now).abs_diff(self.core.step(earlier)) <= self.distance
    }
}

impl Open {
    fn take(&mut self, hold: Hold, event: EventId, locksets: &mut Locksets) {
        let outer = self.holds.last().map_or(LocksetId::EMPTY, |(.., locks)| *locks);
        self.holds.push((hold, event, locksets.changed(outer, hold, true)));
    }

    fn leave(&mut self, hold: Hold, locksets: &mut Locksets) {
        let Some(place) = self.holds.iter().rposition(|(held, ..)| *held == hold) else { return };
        let later = self.holds.split_off(place);
        for (hold, event, _) in later.into_iter().skip(1) {
            self.take(hold, event, locksets);
        }
    }
}

pub(super) fn has_regions(trace: &Trace) -> bool {
    trace.ids().any(|id| matches!(trace.kind(id), Kind::Enter | Kind::Exit))
}
