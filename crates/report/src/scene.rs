//! What reports tell about the surroundings of events: the locks held there, and where their threads come from.

use std::collections::{BTreeMap, BTreeSet};

use reweave_trace::{EventId, LockId, Op, Space, ThreadId, Trace};

/// A trace with the surroundings of some of its events.
#[derive(Debug)]
pub struct Scene<'t> {
    /// The trace.
    pub trace: &'t Trace,
    /// Per thread, its fork.
    forks: Vec<Option<EventId>>,
    held: BTreeMap<EventId, Vec<Hold>>,
}

/// A lock that a thread holds.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Hold {
    /// The lock.
    pub lock: LockId,
    /// The outermost acquire.
    pub acquire: EventId,
    /// Whether it is the shared side.
    pub shared: bool,
    depth: u32,
}

impl<'t> Scene<'t> {
    /// The surroundings of `events`; those that the trace does not have are left out. One pass over the trace.
    pub fn new(trace: &'t Trace, events: impl IntoIterator<Item = EventId>) -> Scene<'t> {
        let threads = trace.count(Space::Thread);
        let mut scene = Scene { trace, forks: vec![None; threads], held: BTreeMap::new() };
        let mut wanted: BTreeSet<EventId> = events.into_iter().collect();
        let mut held: Vec<Vec<Hold>> = vec![Vec::new(); threads];
        for (id, event) in trace.events() {
            let thread = event.thread.index();
            if wanted.first().is_some_and(|&next| next <= id) {
                wanted = wanted.split_off(&id);
                if wanted.remove(&id) {
                    scene.held.insert(id, held[thread].clone());
                }
            }
            match event.op {
                Op::Fork(child) => scene.forks[child.index()] = Some(id),
                Op::Acquire(lock) | Op::TryAcquire(lock) => take(&mut held[thread], lock, id, false),
                Op::SharedAcquire(lock) => take(&mut held[thread], lock, id, true),
                Op::Release(lock) => give_back(&mut held[thread], lock, false),
                Op::SharedRelease(lock) => give_back(&mut held[thread], lock, true),
                _ => {}
            }
        }
        scene
    }

    /// The fork of a thread; none for one that nobody forked.
    pub fn fork(&self, thread: ThreadId) -> Option<EventId> {
        self.forks[thread.index()]
    }

    /// What the thread of `event` holds just before it, in the order of acquires.
    pub fn held(&self, event: EventId) -> &[Hold] {
        self.held.get(&event).map_or(&[], Vec::as_slice)
    }
}

fn take(held: &mut Vec<Hold>, lock: LockId, acquire: EventId, shared: bool) {
    match held.iter_mut().find(|hold| hold.lock == lock && hold.shared == shared) {
        Some(hold) => hold.depth += 1,
        None => held.push(Hold { lock, acquire, shared, depth: 1 }),
    }
}

fn give_back(held: &mut Vec<Hold>, lock: LockId, shared: bool) {
    if let Some(place) = held.iter().position(|hold| hold.lock == lock && hold.shared == shared) {
        held[place].depth -= 1;
        if held[place].depth == 0 {
            held.remove(place);
        }
    }
}
