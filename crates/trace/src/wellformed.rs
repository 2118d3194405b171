//! The check for well-formedness, and the repair.
//!
//! One pass in observed order. Each event is judged by what ran before it; a join that turns out to have come too
//! early is found when its thread runs again. A repair drops or renames and never invents, so that what it leaves
//! is a part of what was observed. What takes freedom away, as a fork does, is not dropped but where nothing else helps.

mod lives;
mod names;
mod values;

use crate::error::{Defect, IllFormed};
use crate::{Error, EventId, Holds, Kind, Op, Space, ThreadId, Trace};

use names::ObjectNames;
use values::ValueCheck;

/// What a repair did: for each defect, how often, and where first.
#[derive(Clone, Default, PartialEq, Eq, Debug)]
pub struct Repairs {
    counts: [Option<(u64, EventId)>; Defect::ALL.len()],
}

impl Repairs {
    /// Each defect that was mended, with how often and the first event of it.
    pub fn iter(&self) -> impl Iterator<Item = (Defect, u64, EventId)> {
        Defect::ALL
            .into_iter()
            .zip(self.counts)
            .filter_map(|(defect, count)| count.map(|(count, first)| (defect, count, first)))
    }

    /// Whether there was nothing to mend.
    pub fn is_empty(&self) -> bool {
        self.counts.iter().all(Option::is_none)
    }

    pub(crate) fn note(&mut self, defect: Defect, event: EventId) {
        let (count, first) = self.counts[defect as usize].get_or_insert((0, event));
        *count += 1;
        *first = event.min(*first);
    }
}

/// Refuses `trace` at its first defect or, given `repairs`, mends it.
pub(crate) fn check(trace: &mut Trace, repairs: Option<&mut Repairs>) -> Result<(), Error> {
    let mut pass = Pass::new(trace, repairs);
    pass.rename_threads()?;
    pass.mend_lives()?;
    for id in pass.trace.ids() {
        if !pass.visit_access(id)? {
            pass.visit(id)?;
        }
    }
    if pass.values.failed() {
        trace.values.clear();
        trace.capabilities.values = false;
    }
    Ok(())
}

#[derive(Clone, Default)]
struct ThreadState {
    runs: bool,
    ended: bool,
    forked: Option<EventId>,
    /// The joins of it since its last event.
    joins: Vec<EventId>,
}

struct Pass<'t> {
    trace: &'t mut Trace,
    repairs: Option<&'t mut Repairs>,
    threads: Vec<ThreadState>,
    holds: Holds,
    objects: ObjectNames,
    has_objects: bool,
    values: ValueCheck,
}

/// A defect found, with the other event that it clashes with.
type Found = (Defect, Option<EventId>);

impl<'t> Pass<'t> {
    fn new(trace: &'t mut Trace, repairs: Option<&'t mut Repairs>) -> Pass<'t> {
        let threads = vec![ThreadState::default(); trace.count(Space::Thread)];
        let values = ValueCheck::new(trace);
        let objects = ObjectNames::new(trace);
        let has_objects = !trace.objects().is_empty();
        Pass { trace, repairs, threads, holds: Holds::new(), objects, has_objects, values }
    }

    /// The same as [`Pass::visit`] for an access in a trace without objects, which most events are; else it answers
    /// `false` and does nothing.
    #[inline]
    fn visit_access(&mut self, id: EventId) -> Result<bool, Error> {
        let kind = self.trace.kind(id);
        let state = &mut self.threads[self.trace.thread(id).index()];
        if kind > Kind::Update || self.has_objects || !state.joins.is_empty() || state.ended {
            return Ok(false);
        }
        state.runs = true;
        if let Some((defect, other)) = self.values.access(self.trace, id, kind) {
            self.report(id, defect, other)?;
        }
        Ok(true)
    }

    fn visit(&mut self, id: EventId) -> Result<(), Error> {
        let thread = self.trace.thread(id);
        let in_file = self.objects.rename(self.trace, id)?;
        let op = self.trace.op(id);
        if op == Op::Skip {
            return Ok(());
        }
        if let Some((defect, other)) = self.defect(thread, op) {
            self.report(id, defect, other)?;
            match (defect, in_file) {
                (Defect::SecondAlloc, Some(object)) => self.objects.renew(self.trace, id, object)?,
                _ => {
                    self.drop_event(id);
                    return Ok(());
                }
            }
        }
        self.refuse_early_joins(thread, id)?;
        if let Op::Fork(child) = op {
            self.refuse_early_joins(child, id)?;
        }
        self.run(id, thread, self.trace.op(id))
    }

    /// What is wrong with running `op` now.
    fn defect(&self, thread: ThreadId, op: Op) -> Option<Found> {
        let found = |wrong: bool, defect| wrong.then_some((defect, None));
        if self.threads[thread.index()].ended {
            return Some((Defect::AfterEnd, None));
        }
        match op {
            Op::Acquire(lock) | Op::TryAcquire(lock) => {
                found(self.holds.held_elsewhere(thread, lock), Defect::HeldByAnother)
            }
            Op::SharedAcquire(lock) => {
                found(self.holds.exclusive_elsewhere(thread, lock), Defect::HeldByAnother)
            }
            Op::Release(lock) => {
                found(self.holds.exclusive_depth(thread, lock) == 0, Defect::ReleaseWithoutAcquire)
            }
            Op::SharedRelease(lock) => {
                found(self.holds.shared_depth(thread, lock) == 0, Defect::ReleaseWithoutAcquire)
            }
            Op::Busy(lock) => found(!self.holds.held_elsewhere(thread, lock), Defect::BusyWithoutHolder),
            Op::Fork(child) => {
                let state = &self.threads[child.index()];
                if let Some(first) = state.forked {
                    return Some((Defect::SecondFork, Some(first)));
                }
                found(state.runs || child == thread, Defect::ForkAfterEvents)
            }
            Op::Join(child) => found(child == thread, Defect::EarlyJoin),
            _ => self.objects.defect(op),
        }
    }

    fn run(&mut self, id: EventId, thread: ThreadId, op: Op) -> Result<(), Error> {
        self.threads[thread.index()].runs = true;
        match op {
            Op::Acquire(lock) | Op::TryAcquire(lock) => self.holds.acquire(thread, lock),
            Op::SharedAcquire(lock) => self.holds.acquire_shared(thread, lock),
            Op::Release(lock) => self.holds.release(thread, lock),
            Op::SharedRelease(lock) => self.holds.release_shared(thread, lock),
            Op::Fork(child) => self.threads[child.index()].forked = Some(id),
            Op::Join(child) => self.threads[child.index()].joins.push(id),
            Op::End => self.threads[thread.index()].ended = true,
            _ => {
                self.objects.run(self.trace, op);
                if let Some((defect, other)) = self.values.run(self.trace, id, op) {
                    self.report(id, defect, other)?;
                }
            }
        }
        Ok(())
    }

    /// `event` shows that `thread` had not ended yet: its joins so far came too early.
    #[inline]
    fn refuse_early_joins(&mut self, thread: ThreadId, event: EventId) -> Result<(), Error> {
        if self.threads[thread.index()].joins.is_empty() {
            return Ok(());
        }
        for join in std::mem::take(&mut self.threads[thread.index()].joins) {
            self.report(join, Defect::EarlyJoin, Some(event))?;
            self.drop_event(join);
        }
        Ok(())
    }

    /// `fork(151)` where no thread is called `151` but one is called `T151` means the latter.
    fn rename_threads(&mut self) -> Result<(), Error> {
        let names = self.trace.names.space(Space::Thread);
        let mut meant: Vec<Option<u32>> = (0..names.len() as u32)
            .map(|id| {
                let name = names.get(id);
                let number = !name.is_empty() && name.bytes().all(|byte| byte.is_ascii_digit());
                number.then(|| names.find(&format!("T{name}"))).flatten()
            })
            .collect();
        if meant.iter().all(Option::is_none) {
            return Ok(());
        }
        // A skipped position still shows what its thread is called.
        let mut runs = vec![false; self.threads.len()];
        for thread in self.trace.columns.threads.iter() {
            runs[thread.index()] = true;
        }
        for (id, meant) in meant.iter_mut().enumerate() {
            *meant = meant.filter(|&meant| !runs[id] && runs[meant as usize]);
        }
        if meant.iter().all(Option::is_none) {
            return Ok(());
        }
        for id in self.trace.ids() {
            if let Op::Fork(child) | Op::Join(child) = self.trace.op(id)
                && let Some(meant) = meant[child.index()]
            {
                self.report(id, Defect::MisnamedThread, None)?;
                self.trace.columns.targets[id.index()] = meant;
            }
        }
        Ok(())
    }

    /// In a repair, what runs before its own fork goes, and an end after which its thread runs on. A trace that is to be right
    /// as it is gets refused at the fork, or after the end.
    fn mend_lives(&mut self) -> Result<(), Error> {
        if self.repairs.is_none() {
            return Ok(());
        }
        self.drop_all(lives::events_before_forks(self.trace), Defect::BeforeFork)?;
        self.drop_all(lives::ends_before_events(self.trace), Defect::AfterEnd)
    }

    fn drop_all(&mut self, events: Vec<EventId>, defect: Defect) -> Result<(), Error> {
        for id in events {
            self.report(id, defect, None)?;
            self.drop_event(id);
        }
        Ok(())
    }

    fn drop_event(&mut self, id: EventId) {
        self.trace.columns.kinds[id.index()] = Kind::Skip;
        self.trace.columns.targets[id.index()] = 0;
        self.trace.values.remove(id.index());
    }

    /// Counts a defect that can be mended, or refuses the trace for it.
    fn report(&mut self, event: EventId, defect: Defect, other: Option<EventId>) -> Result<(), Error> {
        match &mut self.repairs {
            Some(repairs) => {
                repairs.note(defect, event);
                Ok(())
            }
            None => {
                let message = self.message(event, defect);
                Err(Error::IllFormed(IllFormed { event, other, defect, message }))
            }
        }
    }

    fn message(&self, event: EventId, defect: Defect) -> String {
        let thread = self.trace.thread_name(self.trace.thread(event));
        let target = self.trace.target_name(self.trace.op(event)).unwrap_or_default();
        match defect {
            Defect::MisnamedThread => {
                format!("fork or join of `{target}`, but that thread is called `T{target}`")
            }
            Defect::SecondFork => format!("second fork of thread `{target}`"),
            Defect::ForkAfterEvents => format!("fork of thread `{target}`, which has run already"),
            Defect::BeforeFork => format!("`{thread}` runs before its fork"),
            Defect::EarlyJoin => format!("join of thread `{target}`, which still runs afterwards"),
            Defect::AfterEnd => format!("`{thread}` runs on after its `end`"),
            Defect::EarlyAcquire | Defect::NeverGranted | Defect::HeldByAnother => {
                format!("`{thread}` acquires lock `{target}`, which another thread holds")
            }
            Defect::ReleaseWithoutAcquire => {
                format!("`{thread}` releases lock `{target}` without holding it")
            }
            Defect::BusyWithoutHolder => format!("lock `{target}` is busy, but no other thread holds it"),
            Defect::SecondAlloc => format!("second alloc of `{target}`: each allocation is a new object"),
            Defect::UseBeforeAlloc => format!("alloc of `{target}`, which was used before"),
            Defect::SecondFree => format!("second free of `{target}`"),
            Defect::ValueDisagrees => self.values.disagreement(self.trace, event),
            Defect::MissingValue => {
                format!("the trace claims to have all values, but this access of `{target}` has none")
            }
        }
    }
}
