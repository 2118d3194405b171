//! The figures, taken in one pass.
//!
//! Memory is proportional to threads, locks (with the threads that use each) and variables. A trace with waits costs
//! four more bytes an event: which notification woke which wait is [`Links`]' to say.

use std::collections::HashSet;

use reweave_trace::{Access, EventId, Holds, Kind, Links, LockId, Op, Space, ThreadId, Trace, VarId};

/// The figures of one trace.
pub(super) struct Stats {
    /// How many events ran.
    pub(super) events: u64,
    /// How many events have a value.
    pub(super) with_value: u64,
    /// Per kind, how many events.
    pub(super) kinds: Vec<u64>,
    pub(super) threads: Threads,
    pub(super) locks: Locks,
    pub(super) variables: Variables,
    pub(super) objects: Objects,
    pub(super) conditions: Conditions,
}

pub(super) struct Threads {
    /// Those that have an event.
    pub(super) running: u64,
    pub(super) forked: u64,
    pub(super) joined: u64,
    /// The events of those that have one: fewest, median and most.
    pub(super) events: [u64; 3],
}

#[derive(Default)]
pub(super) struct Locks {
    pub(super) used: u64,
    /// Those that more than one thread acquires.
    pub(super) contended: u64,
    /// Acquires of all sorts, nested ones included.
    pub(super) acquires: u64,
    /// Acquires of a lock that another thread had last.
    pub(super) handovers: u64,
    /// Outermost acquires.
    pub(super) sections: u64,
    /// How many locks one thread held at once.
    pub(super) deepest: u64,
    /// How many critical sections the trace leaves open.
    pub(super) open: u64,
    pub(super) most_used: Vec<LockUse>,
}

#[derive(Clone, Default)]
pub(super) struct LockUse {
    pub(super) lock: usize,
    pub(super) acquires: u64,
    pub(super) threads: u64,
}

/// Variables with how often they are accessed.
#[derive(Clone, Copy, Default)]
pub(super) struct Class {
    pub(super) variables: u64,
    pub(super) accesses: u64,
}

#[derive(Default)]
pub(super) struct Variables {
    /// Of several threads, and written.
    pub(super) shared: Class,
    /// Of several threads, but never written.
    pub(super) read_only: Class,
    /// Of one thread.
    pub(super) thread_local: Class,
}

#[derive(Default)]
pub(super) struct Objects {
    pub(super) count: u64,
    /// Those that are freed.
    pub(super) freed: u64,
}

#[derive(Default)]
pub(super) struct Conditions {
    pub(super) count: u64,
    pub(super) woken: u64,
    pub(super) not_woken: u64,
}

/// How many of the most used locks are listed.
const LISTED: usize = 5;

/// Takes the figures of `trace`.
pub(super) fn measure(trace: &Trace) -> Stats {
    let mut pass = Pass::new(trace);
    for id in trace.ids() {
        pass.visit(id);
    }
    pass.finish()
}

/// The threads that something is used by, as far as it matters.
#[derive(Clone, Copy, PartialEq, Eq, Default)]
enum Users {
    #[default]
    None,
    One(ThreadId),
    Several,
}

impl Users {
    fn add(&mut self, thread: ThreadId) {
        *self = match *self {
            Users::None => Users::One(thread),
            Users::One(other) if other == thread => return,
            _ => Users::Several,
        }
    }

    fn merge(&mut self, other: Users) {
        match other {
            Users::None => {}
            Users::One(thread) => self.add(thread),
            Users::Several => *self = Users::Several,
        }
    }
}

#[derive(Clone, Copy, Default)]
struct Variable {
    users: Users,
    /// Who allocated and freed it, which touches its fields too.
    lifetime: Users,
    written: bool,
    freed: bool,
    accesses: u64,
}

#[derive(Clone, Default)]
struct Lock {
    acquires: u64,
    threads: u64,
    last: Option<ThreadId>,
}

struct Pass<'t> {
    trace: &'t Trace,
    kinds: Vec<u64>,
    with_value: u64,
    per_thread: Vec<u64>,
    joined: Vec<bool>,
    holds: Holds,
    /// Per thread, how many locks it holds.
    depth: Vec<u64>,
    locks: Vec<Lock>,
    lock_users: HashSet<(LockId, ThreadId)>,
    totals: Locks,
    variables: Vec<Variable>,
}

impl<'t> Pass<'t> {
    fn new(trace: &'t Trace) -> Pass<'t> {
        let threads = trace.count(Space::Thread);
        Pass {
            trace,
            kinds: vec![0; Kind::ALL.len()],
            with_value: 0,
            per_thread: vec![0; threads],
            joined: vec![false; threads],
            holds: Holds::new(),
            depth: vec![0; threads],
            locks: vec![Lock::default(); trace.count(Space::Lock)],
            lock_users: HashSet::new(),
            totals: Locks::default(),
            variables: vec![Variable::default(); trace.count(Space::Variable)],
        }
    }

    fn visit(&mut self, id: EventId) {
        let (op, thread) = (self.trace.op(id), self.trace.thread(id));
        self.kinds[op.kind() as usize] += 1;
        if op == Op::Skip {
            return;
        }
        self.per_thread[thread.index()] += 1;
        if let Some(access) = op.access() {
            return self.visit_access(id, thread, op, access);
        }
        match op {
            Op::Acquire(lock) | Op::TryAcquire(lock) | Op::SharedAcquire(lock) => {
                self.acquire(thread, lock, op.kind() == Kind::SharedAcquire);
            }
            Op::Release(lock) => {
                self.holds.release(thread, lock);
                self.leave(thread, lock);
            }
            Op::SharedRelease(lock) => {
                self.holds.release_shared(thread, lock);
                self.leave(thread, lock);
            }
            Op::Join(child) => self.joined[child.index()] = true,
            _ => {}
        }
    }

    fn visit_access(&mut self, id: EventId, thread: ThreadId, op: Op, access: Access) {
        if self.trace.has_values() {
            let values = self.trace.values(id);
            self.with_value += u64::from(values.read.is_some() || values.written.is_some());
        }
        let variable = &mut self.variables[access.variable.index()];
        variable.users.add(thread);
        variable.written |= access.writes;
        variable.accesses += 1;
        if access.lifetime {
            variable.lifetime.add(thread);
            variable.freed |= op.kind() == Kind::Free;
        }
    }

    /// How many times `thread` holds `lock`, on either side.
    fn held(&self, thread: ThreadId, lock: LockId) -> u32 {
        self.holds.exclusive_depth(thread, lock) + self.holds.shared_depth(thread, lock)
    }

    fn acquire(&mut self, thread: ThreadId, lock: LockId, shared: bool) {
        if self.held(thread, lock) == 0 {
            self.totals.sections += 1;
            self.depth[thread.index()] += 1;
            self.totals.deepest = self.totals.deepest.max(self.depth[thread.index()]);
        }
        if shared {
            self.holds.acquire_shared(thread, lock)
        } else {
            self.holds.acquire(thread, lock)
        }
        let state = &mut self.locks[lock.index()];
        state.acquires += 1;
        if state.last != Some(thread) {
            self.totals.handovers += u64::from(state.last.is_some());
            state.last = Some(thread);
            state.threads += u64::from(self.lock_users.insert((lock, thread)));
        }
    }

    fn leave(&mut self, thread: ThreadId, lock: LockId) {
        if self.held(thread, lock) == 0 {
            self.depth[thread.index()] -= 1;
        }
    }

    fn finish(mut self) -> Stats {
        let objects = self.objects();
        Stats {
            events: self.per_thread.iter().sum(),
            with_value: self.with_value,
            threads: self.threads(),
            variables: self.variables(),
            objects,
            conditions: self.conditions(),
            locks: self.locks(),
            kinds: self.kinds,
        }
    }

    fn count(&self, kind: Kind) -> u64 {
        self.kinds[kind as usize]
    }

    fn threads(&self) -> Threads {
        let mut events: Vec<u64> = self.per_thread.iter().copied().filter(|&events| events > 0).collect();
        events.sort_unstable();
        let at = |place: usize| events.get(place).copied().unwrap_or(0);
        let last = events.len().saturating_sub(1);
        Threads {
            running: events.len() as u64,
            // A thread is forked at most once in a well-formed trace.
            forked: self.count(Kind::Fork),
            joined: self.joined.iter().filter(|&&joined| joined).count() as u64,
            events: [at(0), at(last / 2), at(last)],
        }
    }

    fn locks(&mut self) -> Locks {
        let mut totals = std::mem::take(&mut self.totals);
        totals.open = self.depth.iter().sum();
        let mut used: Vec<LockUse> = self
            .locks
            .iter()
            .enumerate()
            .filter(|(_, state)| state.acquires > 0)
            .map(|(lock, state)| LockUse { lock, acquires: state.acquires, threads: state.threads })
            .collect();
        totals.used = used.len() as u64;
        totals.contended = used.iter().filter(|lock| lock.threads > 1).count() as u64;
        totals.acquires = used.iter().map(|lock| lock.acquires).sum();
        used.sort_by_key(|lock| (std::cmp::Reverse(lock.acquires), lock.lock));
        used.truncate(LISTED);
        totals.most_used = used;
        totals
    }

    fn variables(&self) -> Variables {
        let mut classes = Variables::default();
        for (index, variable) in self.variables.iter().enumerate() {
            let (mut users, mut written) = (variable.users, variable.written);
            if variable.users == Users::None {
                continue;
            }
            for object in self.trace.objects().around(VarId::from_index(index)) {
                let lifetime = self.variables[object.index()].lifetime;
                users.merge(lifetime);
                written |= lifetime != Users::None;
            }
            let class = match users {
                Users::Several if written => &mut classes.shared,
                Users::Several => &mut classes.read_only,
                _ => &mut classes.thread_local,
            };
            class.variables += 1;
            class.accesses += variable.accesses;
        }
        classes
    }

    fn objects(&self) -> Objects {
        let born_or_dead = || self.variables.iter().filter(|variable| variable.lifetime != Users::None);
        Objects {
            count: born_or_dead().count() as u64,
            freed: born_or_dead().filter(|object| object.freed).count() as u64,
        }
    }

    fn conditions(&self) -> Conditions {
        let count = self.trace.count(Space::Condition) as u64;
        let waits = self.count(Kind::Wait);
        if waits == 0 {
            return Conditions { count, ..Conditions::default() };
        }
        let links = Links::new(self.trace);
        let woken = links.waits().iter().filter(|wait| wait.waker.is_some()).count() as u64;
        Conditions { count, woken, not_woken: waits - woken }
    }
}

#[cfg(test)]
mod tests {
    use reweave_format::{LoadOptions, load_bytes};

    use super::*;

    fn of(text: &str) -> Stats {
        measure(&load_bytes("t.std", text.as_bytes(), &LoadOptions::default()).expect("a trace").trace)
    }

    #[test]
    fn variables_are_told_apart_by_who_uses_them() {
        let stats = of("A|w(x)|1\nB|r(x)|2\nA|w(y)|3\nA|r(y)|4\nA|r(z)|5\nB|r(z)|6\nB|r(z)|7\n");
        let classes = [stats.variables.shared, stats.variables.thread_local, stats.variables.read_only];
        assert_eq!(classes.map(|class| (class.variables, class.accesses)), [(1, 2), (1, 2), (1, 3)]);
    }

    #[test]
    fn a_field_is_shared_with_who_frees_its_object() {
        let stats = of("A|alloc(p)|1\nA|w(p.a)|2\nB|free(p)|3\nA|alloc(q)|4\nA|w(q.a)|5\n");
        assert_eq!((stats.variables.shared.variables, stats.variables.thread_local.variables), (2, 2));
        assert_eq!((stats.objects.count, stats.objects.freed), (2, 1));
    }

    #[test]
    fn only_the_outermost_acquire_of_a_lock_starts_a_section() {
        let stats =
            of("A|acq(l)|1\nA|acq(l)|1\nA|acq(m)|1\nA|rel(m)|1\nA|rel(l)|1\nA|rel(l)|1\nB|racq(l)|1\n");
        let locks = stats.locks;
        assert_eq!((locks.used, locks.contended, locks.acquires), (2, 1, 4));
        assert_eq!((locks.sections, locks.deepest, locks.open, locks.handovers), (3, 2, 1, 1));
        assert_eq!((locks.most_used[0].lock, locks.most_used[0].threads), (0, 2));
    }

    #[test]
    fn waits_are_woken_or_not() {
        let wait = |thread: &str| format!("{thread}|acq(l)|1\n{thread}|rel(l)|1\n");
        let text = format!(
            "{}B|notify(c)|2\nA|wait(c)|1\nA|acq(l)|1\nA|rel(l)|1\n{}B|wait(c)|3\nB|acq(l)|3\n",
            wait("A"),
            wait("B")
        );
        let conditions = of(&text).conditions;
        assert_eq!((conditions.count, conditions.woken, conditions.not_woken), (1, 1, 1));
    }

    #[test]
    fn threads_are_counted_by_their_events() {
        let stats = of("A|fork(B)|1\nA|fork(C)|1\nB|begin|1\nB|w(x)|1\nB|end|1\nC|br|1\nA|join(B)|1\n");
        let threads = stats.threads;
        assert_eq!((threads.running, threads.forked, threads.joined, threads.events), (3, 2, 1, [1, 3, 3]));
        assert_eq!((stats.events, of("").threads.events), (7, [0, 0, 0]));
    }
}
