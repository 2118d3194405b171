//! What deciding needs to know about a trace, computed once.

mod equal;

use hashbrown::HashMap;
use reweave_spec::Calls;
use reweave_trace::{
    ConditionId, Dependences, EventId, EventValues, Kind, Links, LockId, Model, Op, ProgramOrder, Space,
    ThreadId, Trace, VarId,
};

pub(crate) use equal::EqualWrites;

/// How many events lie between two places where the open sections are kept.
const OPEN_STRIDE: usize = 4096;

/// A critical section: an outermost acquire and, where the trace has it, its release.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Section {
    /// The lock.
    pub lock: LockId,
    /// The thread.
    pub thread: ThreadId,
    /// The acquire.
    pub acquire: EventId,
    /// The release; none where the section stays open.
    pub release: Option<EventId>,
    /// Whether it is the shared side.
    pub shared: bool,
}

impl Section {
    /// Whether the two cannot be open at the same time.
    pub fn excludes(&self, other: &Section) -> bool {
        self.lock == other.lock && self.thread != other.thread && !(self.shared && other.shared)
    }
}

/// A trace with its links, program order and indexes.
#[derive(Debug)]
pub struct Prepared<'t> {
    /// The trace.
    pub trace: &'t Trace,
    /// Its links.
    pub links: Links,
    /// What is known of its calls.
    pub calls: Calls,
    /// Its program order.
    pub order: ProgramOrder,
    /// The dependence table, for the `dep` models.
    pub dependences: Option<&'t Dependences>,
    /// Per event, its place in its thread.
    positions: Vec<u32>,
    /// The acquires that start critical sections, in observed order: the links tell the rest.
    acquires: Vec<EventId>,
    /// The same per lock.
    acquires_of: Vec<Vec<EventId>>,
    /// The same per lock and thread.
    acquires_by: HashMap<(LockId, ThreadId), Vec<EventId>>,
    /// Per variable, what writes it, lifetimes of the objects around it included, in observed order.
    writers: Vec<Vec<EventId>>,
    /// Per condition variable, its notifications in observed order.
    notifications: Vec<Vec<EventId>>,
    /// Every so many events, the acquires of the sections that are open there.
    open: Vec<Vec<EventId>>,
    /// The first wait that nothing woke although there was a notification: in the observed run itself it cannot run.
    disturbed_wait: Option<EventId>,
}

impl<'t> Prepared<'t> {
    /// Prepares `trace`.
    pub fn new(trace: &'t Trace, dependences: Option<&'t Dependences>) -> Prepared<'t> {
        let calls = Calls::new(trace);
        let links = Links::with_calls(trace, &calls);
        let order = ProgramOrder::new(trace);
        let mut positions = vec![0; trace.len()];
        for thread in 0..order.threads() {
            for (place, event) in order.of(ThreadId::from_index(thread)).iter().enumerate() {
                positions[event.index()] = place as u32;
            }
        }
        let acquires = acquires(trace, &links);
        let writers = writers(trace);
        let disturbed_wait = disturbed_wait(trace, &links);
        let open = open_sections(&acquires, &links, trace.len());
        Prepared {
            trace,
            links,
            calls,
            order,
            dependences,
            positions,
            acquires_of: acquires_of(trace, &acquires),
            acquires_by: acquires_by(trace, &acquires),
            acquires,
            writers,
            notifications: notifications(trace),
            open,
            disturbed_wait,
        }
    }

    /// The place of an event in its thread.
    #[inline]
    pub fn position(&self, event: EventId) -> u32 {
        self.positions[event.index()]
    }

    /// The event of `thread` at `position`.
    #[inline]
    pub fn event_at(&self, thread: ThreadId, position: u32) -> EventId {
        self.order.of(thread)[position as usize]
    }

    /// The event before `event` in its thread.
    pub fn previous(&self, event: EventId) -> Option<EventId> {
        let before = self.position(event).checked_sub(1)?;
        Some(self.event_at(self.trace.thread(event), before))
    }

    /// The last event of a thread.
    pub fn last(&self, thread: ThreadId) -> Option<EventId> {
        self.order.of(thread).last().copied()
    }

    /// The critical sections on `lock`, in observed order.
    pub fn sections(&self, lock: LockId) -> impl DoubleEndedIterator<Item = Section> {
        self.acquires_of[lock.index()].iter().map(move |&acquire| self.section_at(lock, acquire))
    }

    /// The critical sections of `thread` on `lock`, in observed order.
    pub fn sections_by(&self, lock: LockId, thread: ThreadId) -> impl DoubleEndedIterator<Item = Section> {
        let acquires = self.acquires_by.get(&(lock, thread)).map_or(&[][..], Vec::as_slice);
        acquires.iter().map(move |&acquire| self.section_at(lock, acquire))
    }

    /// The sections of `thread` on `lock` that are open just before its event at `position`: at most one a side.
    pub fn open_sections(
        &self,
        lock: LockId,
        thread: ThreadId,
        position: u32,
    ) -> impl Iterator<Item = Section> {
        let acquires = self.acquires_by.get(&(lock, thread)).map_or(&[][..], Vec::as_slice);
        let section = |&acquire: &EventId| self.section_at(lock, acquire);
        let before = acquires.partition_point(|&acquire| self.position(acquire) < position);
        let is_open =
            move |section: &Section| section.release.is_none_or(|release| self.position(release) >= position);
        // Sections of one side follow one another, so of each side only the last can be open.
        let last = |shared: bool| acquires[..before].iter().rev().map(section).find(|s| s.shared == shared);
        [last(false), last(true)].into_iter().flatten().filter(is_open)
    }

    /// The critical section on `lock` that starts with `acquire`; none where that is not outermost.
    #[inline]
    pub fn section(&self, lock: LockId, acquire: EventId) -> Option<Section> {
        self.links.is_outermost(acquire).then(|| self.section_at(lock, acquire))
    }

    /// The critical section that starts with an outermost acquire. Nested acquires close from the inside out, so this
    /// one is linked to the outermost release.
    #[inline]
    fn section_at(&self, lock: LockId, acquire: EventId) -> Section {
        Section {
            lock,
            thread: self.trace.thread(acquire),
            acquire,
            release: self.links.partner(acquire),
            shared: self.trace.kind(acquire) == Kind::SharedAcquire,
        }
    }

    /// The releases of the sections that were left last before `acquire` was entered: of each other thread that its
    /// own section excludes, the last.
    pub(crate) fn left_before(&self, lock: LockId, acquire: EventId) -> Vec<EventId> {
        let Some(own) = self.section(lock, acquire) else { return Vec::new() };
        let acquires = &self.acquires_of[lock.index()];
        let before = acquires.partition_point(|&other| other < acquire);
        let others = acquires[..before].iter().rev().map(|&other| self.section_at(lock, other));
        let mut found: Vec<EventId> = Vec::new();
        for other in others.filter(|other| own.excludes(other)) {
            found.extend(other.release.filter(|&release| release < acquire));
            if !other.shared {
                // Whatever came before this one had been left when it was entered.
                break;
            }
        }
        found
    }

    /// What writes `variable`, in observed order.
    pub fn writers(&self, variable: VarId) -> &[EventId] {
        &self.writers[variable.index()]
    }

    /// The last event before `end` that writes `variable`.
    pub fn last_write_before(&self, variable: VarId, end: EventId) -> Option<EventId> {
        let writers = self.writers(variable);
        writers[..writers.partition_point(|&write| write < end)].last().copied()
    }

    /// The notifications of `condition` after `start` and before `end`.
    pub fn notifications_between(&self, condition: ConditionId, start: EventId, end: EventId) -> &[EventId] {
        let all = &self.notifications[condition.index()];
        let (from, to) = (all.partition_point(|&n| n <= start), all.partition_point(|&n| n < end));
        &all[from..to.max(from)]
    }

    /// Whether the event is a wait that was woken and that no deadline ends: it started at a release.
    pub fn ends_only_when_notified(&self, wait: EventId) -> bool {
        self.links.wait(wait).is_some_and(|link| {
            let start = self.trace.kind(link.start);
            link.waker.is_some() && matches!(start, Kind::Release | Kind::SharedRelease)
        })
    }

    /// The critical sections that are open just before the event at `end`, in observed order.
    pub fn open_at(&self, end: EventId) -> Vec<Section> {
        let known = (end.index() / OPEN_STRIDE).min(self.open.len().saturating_sub(1));
        let Some(open) = self.open.get(known) else { return Vec::new() };
        let since = EventId::from_index(known * OPEN_STRIDE);
        let later = self.acquires.partition_point(|&acquire| acquire < since);
        let is_open = |acquire: &&EventId| self.links.partner(**acquire).is_none_or(|release| release >= end);
        let later = self.acquires[later..].iter().take_while(|&&acquire| acquire < end);
        let lock = |acquire: EventId| LockId(self.trace.op(acquire).target());
        let open = open.iter().chain(later).filter(is_open);
        open.map(|&acquire| self.section_at(lock(acquire), acquire)).collect()
    }

    /// How many of the trace's first positions run as observed in a window that starts `size` events before
    /// `earliest`: never so many that the machine refuses the observed run itself.
    pub(crate) fn prefix(&self, model: Model, earliest: EventId, size: u32) -> u32 {
        let prefix = earliest.0.saturating_sub(size);
        match self.disturbed_wait.filter(|_| model != Model::Sync) {
            Some(wait) => prefix.min(wait.0),
            None => prefix,
        }
    }

    /// The last event before `event` of each thread that has one, its own thread aside.
    pub(crate) fn last_before(&self, event: EventId) -> impl Iterator<Item = EventId> {
        let others = (0..self.order.threads()).map(ThreadId::from_index);
        let others = others.filter(move |&thread| thread != self.trace.thread(event));
        others.filter_map(move |thread| {
            let events = self.order.of(thread);
            events[..events.partition_point(|&other| other < event)].last().copied()
        })
    }

    /// Whether a failed attempt can also run unclean in `model`, when the value that it observes makes it fail again.
    pub(crate) fn can_fail_otherwise(&self, model: Model, attempt: EventId) -> bool {
        let EventValues { read, written: expected } = self.trace.values(attempt);
        self.trace.kind(attempt) == Kind::FailedAttempt
            && model.by_value()
            && read.is_some()
            && expected.is_some()
            && read != expected
    }
}

fn acquires(trace: &Trace, links: &Links) -> Vec<EventId> {
    let acquires = trace.ids().filter(|&id| {
        matches!(trace.kind(id), Kind::Acquire | Kind::TryAcquire | Kind::SharedAcquire)
            && links.is_outermost(id)
    });
    let mut acquires: Vec<EventId> = acquires.collect();
    acquires.shrink_to_fit();
    acquires
}

fn acquires_of(trace: &Trace, acquires: &[EventId]) -> Vec<Vec<EventId>> {
    let mut of = vec![Vec::new(); trace.count(Space::Lock)];
    for &acquire in acquires {
        of[trace.op(acquire).target() as usize].push(acquire);
    }
    of
}

fn acquires_by(trace: &Trace, acquires: &[EventId]) -> HashMap<(LockId, ThreadId), Vec<EventId>> {
    let mut by: HashMap<(LockId, ThreadId), Vec<EventId>> = HashMap::new();
    for &acquire in acquires {
        let lock = LockId(trace.op(acquire).target());
        by.entry((lock, trace.thread(acquire))).or_default().push(acquire);
    }
    by
}

/// The acquires of the sections that are open at each multiple of the stride.
fn open_sections(acquires: &[EventId], links: &Links, events: usize) -> Vec<Vec<EventId>> {
    let mut open: Vec<EventId> = Vec::new();
    let mut next = 0;
    let mut kept = Vec::with_capacity(events / OPEN_STRIDE + 1);
    for at in (0..=events).step_by(OPEN_STRIDE).map(EventId::from_index) {
        while acquires.get(next).is_some_and(|&acquire| acquire < at) {
            open.push(acquires[next]);
            next += 1;
        }
        open.retain(|&acquire| links.partner(acquire).is_none_or(|release| release >= at));
        kept.push(open.clone());
    }
    kept
}

fn notifications(trace: &Trace) -> Vec<Vec<EventId>> {
    let mut found = vec![Vec::new(); trace.count(Space::Condition)];
    for (id, event) in trace.events() {
        if let Op::Notify(condition) | Op::NotifyAll(condition) = event.op {
            found[condition.index()].push(id);
        }
    }
    found
}

fn writers(trace: &Trace) -> Vec<Vec<EventId>> {
    let mut fields: HashMap<VarId, Vec<VarId>> = HashMap::new();
    if !trace.objects().is_empty() {
        for variable in (0..trace.count(Space::Variable)).map(VarId::from_index) {
            for object in trace.objects().around(variable) {
                fields.entry(object).or_default().push(variable);
            }
        }
    }
    let mut writers = vec![Vec::new(); trace.count(Space::Variable)];
    for (id, event) in trace.events() {
        match event.op {
            Op::Alloc(object) | Op::Free(object) => {
                for field in fields.get(&object).into_iter().flatten() {
                    writers[field.index()].push(id);
                }
            }
            op if op.kind().writes() => writers[op.target() as usize].push(id),
            _ => {}
        }
    }
    writers
}

fn disturbed_wait(trace: &Trace, links: &Links) -> Option<EventId> {
    let mut last_notification: HashMap<u32, EventId> = HashMap::new();
    let mut quiet = links.waits().iter().filter(|link| link.waker.is_none()).peekable();
    for (id, event) in trace.events() {
        let link = **quiet.peek()?;
        match event.op.kind() {
            Kind::Notify | Kind::NotifyAll => {
                last_notification.insert(event.op.target(), id);
            }
            Kind::Wait if link.wait == id => {
                quiet.next();
                if last_notification.get(&event.op.target()).is_some_and(|&last| last > link.start) {
                    return Some(id);
                }
            }
            _ => {}
        }
    }
    None
}

#[cfg(test)]
mod tests;
