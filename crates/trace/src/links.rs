//! Which events of a trace belong together.
//!
//! One pass over the trace, in time linear in its length (but for a logarithm per wait), with one `u32` and one bit
//! an event: a read is linked to the write that it observed, an acquire to its release, a release to its acquire.

use fixedbitset::FixedBitSet;
use hashbrown::HashMap;

use crate::id::{NONE, some};
use crate::{EventId, Holds, Kind, LockId, Memory, Op, Space, ThreadId, Trace, ValueId, VarId};

/// The links of a trace.
#[derive(Clone, Debug)]
pub struct Links {
    /// The write of a read, the release of an acquire, the acquire of a release.
    partner: Vec<u32>,
    /// The acquires and releases inside another pair of their thread on the same side of the same lock.
    inner: FixedBitSet,
    /// By wait, in observed order.
    waits: Vec<WaitLink>,
    /// Per thread, its fork.
    forks: Vec<u32>,
    /// Per variable, its initial value.
    initial: Vec<Option<ValueId>>,
}

/// When a wait started and what woke it.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct WaitLink {
    /// The wait.
    pub wait: EventId,
    /// Where it started: the event just before it in its thread, a release of its lock. A wait that is the first
    /// event of its thread starts at itself.
    pub start: EventId,
    /// The notification that woke it; none where it was spurious or timed out.
    pub waker: Option<EventId>,
}

impl Links {
    /// The links of `trace`.
    pub fn new(trace: &Trace) -> Links {
        let mut pass = Pass::new(trace);
        for id in trace.ids() {
            pass.visit(id);
        }
        pass.links
    }

    /// The write that a read or update observed; none where it observed the initial value.
    #[inline]
    pub fn observed(&self, read: EventId) -> Option<EventId> {
        self.partner(read)
    }

    /// The release of an acquire (none where it stays open), or the acquire of a release.
    #[inline]
    pub fn partner(&self, event: EventId) -> Option<EventId> {
        some(self.partner[event.index()], EventId)
    }

    /// Whether an acquire or release is the outermost of its nest, the only one that counts.
    #[inline]
    pub fn is_outermost(&self, event: EventId) -> bool {
        !self.inner.contains(event.index())
    }

    /// The start and the waker of a wait.
    pub fn wait(&self, wait: EventId) -> Option<&WaitLink> {
        let place = self.waits.binary_search_by_key(&wait, |link| link.wait).ok()?;
        Some(&self.waits[place])
    }

    /// Every wait, in observed order.
    pub fn waits(&self) -> &[WaitLink] {
        &self.waits
    }

    /// The fork of a thread; none where the trace does not have it.
    #[inline]
    pub fn fork(&self, thread: ThreadId) -> Option<EventId> {
        some(self.forks[thread.index()], EventId)
    }

    /// The initial value of a variable, where a read observed it.
    pub fn initial_value(&self, variable: VarId) -> Option<ValueId> {
        self.initial.get(variable.index()).copied().flatten()
    }
}

struct Pass<'t> {
    trace: &'t Trace,
    links: Links,
    memory: Memory,
    holds: Holds,
    /// Per thread and side of a lock, the open acquires.
    open: HashMap<(ThreadId, LockId, bool), Vec<EventId>>,
    /// Per thread, its event before the current one.
    previous: Vec<u32>,
    /// Per condition variable, its notifications so far.
    notifications: Vec<Notifications>,
}

impl<'t> Pass<'t> {
    fn new(trace: &'t Trace) -> Pass<'t> {
        let threads = trace.count(Space::Thread);
        let initial = if trace.has_values() { vec![None; trace.count(Space::Variable)] } else { Vec::new() };
        let links = Links {
            partner: vec![NONE; trace.len()],
            inner: FixedBitSet::with_capacity(trace.len()),
            waits: Vec::new(),
            forks: vec![NONE; threads],
            initial,
        };
        Pass {
            trace,
            links,
            memory: Memory::new(),
            holds: Holds::new(),
            open: HashMap::new(),
            previous: vec![NONE; threads],
            notifications: vec![Notifications::default(); trace.count(Space::Condition)],
        }
    }

    fn visit(&mut self, id: EventId) {
        let (thread, op) = (self.trace.thread(id), self.trace.op(id));
        match op {
            Op::Skip => return,
            Op::Acquire(lock) | Op::TryAcquire(lock) => {
                self.open(id, thread, lock, false, self.holds.exclusive_depth(thread, lock));
                self.holds.acquire(thread, lock);
            }
            Op::SharedAcquire(lock) => {
                self.open(id, thread, lock, true, self.holds.shared_depth(thread, lock));
                self.holds.acquire_shared(thread, lock);
            }
            Op::Release(lock) => {
                self.holds.release(thread, lock);
                self.close(id, thread, lock, false);
            }
            Op::SharedRelease(lock) => {
                self.holds.release_shared(thread, lock);
                self.close(id, thread, lock, true);
            }
            Op::Fork(child) => self.links.forks[child.index()] = id.0,
            Op::Wait(condition) => {
                let start = some(self.previous[thread.index()], EventId).unwrap_or(id);
                let waker = self.notifications[condition.index()].take_after(start);
                self.links.waits.push(WaitLink { wait: id, start, waker });
            }
            Op::Notify(condition) | Op::NotifyAll(condition) => {
                self.notifications[condition.index()].push(id, op.kind() == Kind::NotifyAll);
            }
            _ => self.visit_access(id, op),
        }
        self.previous[thread.index()] = id.0;
    }

    fn visit_access(&mut self, id: EventId, op: Op) {
        let Some(access) = op.access() else { return };
        if access.reads {
            let writer = self.memory.last_write(self.trace.objects(), access.variable);
            self.links.partner[id.index()] = writer.map_or(NONE, |w| w.0);
            if writer.is_none()
                && let Some(value) = self.trace.values(id).read
            {
                self.links.initial[access.variable.index()] = Some(value);
            }
        }
        if access.lifetime {
            self.memory.write_object(access.variable, id);
        } else if access.writes {
            self.memory.write(access.variable, id);
        }
    }

    fn open(&mut self, id: EventId, thread: ThreadId, lock: LockId, shared: bool, depth: u32) {
        self.links.inner.set(id.index(), depth > 0);
        self.open.entry((thread, lock, shared)).or_default().push(id);
    }

    fn close(&mut self, id: EventId, thread: ThreadId, lock: LockId, shared: bool) {
        let acquire = self.open.get_mut(&(thread, lock, shared)).and_then(Vec::pop);
        if let Some(acquire) = acquire {
            self.links.partner[id.index()] = acquire.0;
            self.links.partner[acquire.index()] = id.0;
            self.links.inner.set(id.index(), self.links.inner.contains(acquire.index()));
        }
    }
}

/// The notifications of one condition variable, and which of them can still wake a wait.
#[derive(Clone, Default)]
struct Notifications {
    events: Vec<EventId>,
    /// A forest: the root above entry i is the first entry from i on that is still free; one more at the end.
    next_free: Vec<usize>,
    all: Vec<bool>,
}

impl Notifications {
    fn push(&mut self, event: EventId, all: bool) {
        if self.events.is_empty() {
            self.next_free.push(0);
        }
        self.events.push(event);
        self.all.push(all);
        self.next_free.push(self.events.len());
    }

    /// Takes the earliest free notification after `start`: a notification of one waiter is free once.
    fn take_after(&mut self, start: EventId) -> Option<EventId> {
        if self.events.is_empty() {
            return None;
        }
        let from = self.events.partition_point(|&event| event <= start);
        let found = self.find(from);
        if found == self.events.len() {
            return None;
        }
        if !self.all[found] {
            self.next_free[found] = found + 1;
        }
        Some(self.events[found])
    }

    fn find(&mut self, from: usize) -> usize {
        let mut root = from;
        while self.next_free[root] != root {
            root = self.next_free[root];
        }
        let mut at = from;
        while self.next_free[at] != root {
            at = std::mem::replace(&mut self.next_free[at], root);
        }
        root
    }
}
