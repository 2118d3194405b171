//! Which events of a trace belong together.
//!
//! One pass over the trace, in time linear in its length (but for a logarithm per wait), with one `u32` and one bit
//! an event: a read is linked to the write that it observed, an acquire to its release, a release to its acquire.

use fixedbitset::FixedBitSet;
use hashbrown::HashMap;

use crate::id::{NONE, some};
use crate::{
    CallId, CallObjects, CallRelation, EventId, Holds, Kind, LockId, Memory, NothingKnown, Op, Relation,
    Space, ThreadId, Trace, ValueId, VarId,
};

/// The links of a trace.
#[derive(Clone, Debug)]
pub struct Links {
    /// The write of a read, the release of an acquire, the acquire of a release.
    partner: Vec<u32>,
    /// The acquires and releases inside another pair of their thread on the same side of the same lock; the busy attempts at
    /// a lock that another thread held exclusively.
    inner: FixedBitSet,
    /// By wait, in observed order.
    waits: Vec<WaitLink>,
    /// By call, in observed order.
    calls: Vec<CallLink>,
    objects: CallObjects,
    /// Per thread, its fork.
    forks: Vec<u32>,
    /// Per variable, its initial value.
    initial: Vec<Option<ValueId>>,
}

/// What a call depends on.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct CallLink {
    /// The call.
    pub call: EventId,
    /// The calls before it on its objects that do not commute with it; of each thread the last.
    pub before: Vec<EventId>,
    /// Those of them that it cannot overtake, if these are fewer: of each thread the last.
    pub firm: Option<Vec<EventId>>,
    /// Whether nothing in its thread can depend on what it does.
    pub void: bool,
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
    /// The links of `trace`, of whose calls nothing is known: on each object they keep their order.
    pub fn new(trace: &Trace) -> Links {
        Links::with_calls(trace, &NothingKnown)
    }

    /// The links of `trace`, whose calls are related as `relation` says.
    pub fn with_calls(trace: &Trace, relation: &dyn CallRelation) -> Links {
        let mut pass = Pass::new(trace, relation);
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

    /// Whether a busy attempt failed because of an exclusive hold: it may have been one at the shared side, which fails of no
    /// other.
    #[inline]
    pub fn failed_exclusively(&self, busy: EventId) -> bool {
        self.inner.contains(busy.index())
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

    /// The calls before `call` on the objects that it touches that do not commute with it; of each thread the last.
    pub fn calls_before(&self, call: EventId) -> &[EventId] {
        self.call(call).map_or(&[], |link| &link.before)
    }

    /// Those of them that have to come before it even where it goes ahead.
    pub fn firmly_before(&self, call: EventId) -> &[EventId] {
        self.call(call).map_or(&[], |link| link.firm.as_ref().unwrap_or(&link.before))
    }

    /// What a call depends on.
    pub fn call(&self, call: EventId) -> Option<&CallLink> {
        let place = self.calls.binary_search_by_key(&call, |link| link.call).ok()?;
        Some(&self.calls[place])
    }

    /// The objects of calls.
    pub fn call_objects(&self) -> &CallObjects {
        &self.objects
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
    relation: &'t dyn CallRelation,
    /// Per object, its calls so far that a later one may have to come after.
    recent: Vec<Vec<Recent>>,
}

/// A call that a later one may have to come after: of one thread and one text the last.
#[derive(Clone, Copy)]
struct Recent {
    call: CallId,
    thread: ThreadId,
    event: EventId,
    /// Whether it counts as one that conflicts with all.
    alone: bool,
}

/// So many different calls of an object are told apart; the next one counts as one that conflicts with all, so that time and
/// memory stay linear.
const MOST_RECENT: usize = 1 << 10;

impl<'t> Pass<'t> {
    fn new(trace: &'t Trace, relation: &'t dyn CallRelation) -> Pass<'t> {
        let objects = CallObjects::new(trace.names());
        let recent = vec![Vec::new(); objects.count()];
        let threads = trace.count(Space::Thread);
        let initial = if trace.has_values() { vec![None; trace.count(Space::Variable)] } else { Vec::new() };
        let links = Links {
            partner: vec![NONE; trace.len()],
            inner: FixedBitSet::with_capacity(trace.len()),
            waits: Vec::new(),
            calls: Vec::new(),
            objects,
            forks: vec![NONE; threads],
            initial,
        };
        Pass {
            relation,
            recent,
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
            Op::Busy(lock) => {
                self.links.inner.set(id.index(), self.holds.exclusive_elsewhere(thread, lock));
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
            Op::Call(call) => self.visit_call(id, call),
            _ => self.visit_access(id, op),
        }
        self.previous[thread.index()] = id.0;
    }

    fn visit_call(&mut self, id: EventId, call: CallId) {
        let thread = self.trace.thread(id);
        let (mut before, mut firm) = (Vec::new(), Vec::new());
        for &object in self.links.objects.of(call) {
            let recent = &mut self.recent[object as usize];
            let alone = recent.len() >= MOST_RECENT || self.relation.stands_alone(call);
            for each in recent.iter() {
                let relation = match alone || each.alone {
                    true => Relation::Conflict,
                    false => self.relation.relation(each.call, call),
                };
                if relation != Relation::Commute {
                    before.push((each.thread, each.event));
                }
                if relation == Relation::Conflict {
                    firm.push((each.thread, each.event));
                }
            }
            // Whatever comes later conflicts with a call that stands alone, and so comes after all before it.
            match alone {
                true => recent.clear(),
                false => recent.retain(|each| each.thread != thread || each.call != call),
            }
            recent.push(Recent { call, thread, event: id, alone });
        }
        let (before, firm) = (last_of_each(before), last_of_each(firm));
        let firm = (firm != before).then_some(firm);
        self.links.calls.push(CallLink { call: id, before, firm, void: self.relation.is_void(call) });
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

/// Of each thread the last of its events, in observed order.
fn last_of_each(mut events: Vec<(ThreadId, EventId)>) -> Vec<EventId> {
    events.sort_unstable_by_key(|&(thread, event)| (thread.0, std::cmp::Reverse(event)));
    events.dedup_by_key(|(thread, _)| *thread);
    let mut last: Vec<EventId> = events.into_iter().map(|(_, event)| event).collect();
    last.sort_unstable();
    last
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
