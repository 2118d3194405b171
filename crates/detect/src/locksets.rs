//! The locks that threads hold, as interned sets.

use hashbrown::HashMap;
use reweave_trace::{LockId, Op, ThreadId};

/// An interned set of holds.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub(crate) struct LocksetId(u32);

/// One lock that is held.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub(crate) struct Hold {
    pub(crate) lock: LockId,
    pub(crate) shared: bool,
}

impl Hold {
    /// Whether two threads cannot have the two holds at once.
    pub(crate) fn excludes(self, other: Hold) -> bool {
        self.lock == other.lock && !(self.shared && other.shared)
    }
}

/// The holds of every thread at one moment of the observed run, and all sets that occurred.
#[derive(Default)]
pub(crate) struct Locksets {
    sets: Vec<Vec<Hold>>,
    ids: HashMap<Vec<Hold>, u32>,
    /// Where an outermost acquire or release leads.
    changes: HashMap<(u32, Hold, bool), u32>,
    current: Vec<u32>,
}

impl Locksets {
    pub(crate) fn new(threads: usize) -> Locksets {
        let mut locksets = Locksets { current: vec![0; threads], ..Locksets::default() };
        locksets.intern(Vec::new());
        locksets
    }

    /// What `thread` holds now.
    pub(crate) fn current(&self, thread: ThreadId) -> LocksetId {
        LocksetId(self.current[thread.index()])
    }

    /// The holds of a set.
    pub(crate) fn holds(&self, set: LocksetId) -> &[Hold] {
        &self.sets[set.0 as usize]
    }

    /// Runs an operation; only outermost acquires and releases count.
    pub(crate) fn run(&mut self, thread: ThreadId, op: Op, outermost: bool) {
        let (lock, shared, enters) = match op {
            Op::Acquire(lock) | Op::TryAcquire(lock) => (lock, false, true),
            Op::SharedAcquire(lock) => (lock, true, true),
            Op::Release(lock) => (lock, false, false),
            Op::SharedRelease(lock) => (lock, true, false),
            _ => return,
        };
        if outermost {
            let (from, hold) = (self.current[thread.index()], Hold { lock, shared });
            self.current[thread.index()] = self.change(from, hold, enters);
        }
    }

    fn change(&mut self, from: u32, hold: Hold, enters: bool) -> u32 {
        if let Some(&to) = self.changes.get(&(from, hold, enters)) {
            return to;
        }
        let mut holds = self.sets[from as usize].clone();
        if enters {
            holds.push(hold);
            holds.sort_unstable();
        } else {
            holds.retain(|&other| other != hold);
        }
        let to = self.intern(holds);
        self.changes.insert((from, hold, enters), to);
        to
    }

    /// The set of these holds.
    pub(crate) fn intern_set(&mut self, mut holds: Vec<Hold>) -> LocksetId {
        holds.sort_unstable();
        LocksetId(self.intern(holds))
    }

    fn intern(&mut self, holds: Vec<Hold>) -> u32 {
        if let Some(&id) = self.ids.get(&holds) {
            return id;
        }
        let id = self.sets.len() as u32;
        self.sets.push(holds.clone());
        self.ids.insert(holds, id);
        id
    }

    /// Whether two threads can be inside both sets at once.
    pub(crate) fn compatible(&self, a: LocksetId, b: LocksetId) -> bool {
        let (a, b) = (self.holds(a), self.holds(b));
        // Both are in order of their locks, and nearly always of a handful.
        let mut rest = b;
        !a.iter().any(|hold| {
            let passed = rest.iter().take_while(|other| other.lock < hold.lock).count();
            rest = &rest[passed..];
            rest.iter().take_while(|other| other.lock == hold.lock).any(|other| hold.excludes(*other))
        })
    }
}
