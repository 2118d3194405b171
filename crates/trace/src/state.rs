//! What a run has done so far to locks and memory.
//!
//! The pieces that anything which executes events one after another needs: the check for well-formedness, the
//! links, the machine that checks witnesses.

use hashbrown::HashMap;

use crate::id::{NONE, some};
use crate::{EventId, LockId, Objects, ThreadId, VarId};

/// Which thread holds which lock, and how often.
#[derive(Clone, Default, Debug)]
pub struct Holds {
    locks: Vec<LockHolds>,
    /// How many shared acquires of a lock by a thread are open, where there is one.
    shared: HashMap<(ThreadId, LockId), u32>,
}

/// One thread at most holds a lock exclusively, so that this, which is what nearly all locks are used for, needs no map.
#[derive(Clone, Copy, Default, Debug)]
struct LockHolds {
    exclusive: Option<ThreadId>,
    /// How many of its exclusive acquires are open.
    depth: u32,
    /// How many threads hold it shared.
    sharers: u32,
}

impl Holds {
    /// No lock is held.
    pub fn new() -> Holds {
        Holds::default()
    }

    /// Whether another thread than `thread` holds `lock` exclusively.
    #[inline]
    pub fn exclusive_elsewhere(&self, thread: ThreadId, lock: LockId) -> bool {
        self.lock(lock).exclusive.is_some_and(|holder| holder != thread)
    }

    /// Whether another thread than `thread` holds `lock` in any way.
    #[inline]
    pub fn held_elsewhere(&self, thread: ThreadId, lock: LockId) -> bool {
        let own = u32::from(self.shared_depth(thread, lock) > 0);
        self.exclusive_elsewhere(thread, lock) || self.lock(lock).sharers > own
    }

    /// How many exclusive acquires of `lock` by `thread` are open.
    #[inline]
    pub fn exclusive_depth(&self, thread: ThreadId, lock: LockId) -> u32 {
        let holds = self.lock(lock);
        if holds.exclusive == Some(thread) { holds.depth } else { 0 }
    }

    /// How many shared acquires of `lock` by `thread` are open.
    #[inline]
    pub fn shared_depth(&self, thread: ThreadId, lock: LockId) -> u32 {
        match self.lock(lock).sharers {
            0 => 0,
            _ => self.shared.get(&(thread, lock)).copied().unwrap_or(0),
        }
    }

    /// Runs an exclusive acquire, which must be possible.
    #[inline]
    pub fn acquire(&mut self, thread: ThreadId, lock: LockId) {
        let holds = self.lock_mut(lock);
        holds.exclusive = Some(thread);
        holds.depth += 1;
    }

    /// Runs the release of an exclusive acquire, which must be open.
    #[inline]
    pub fn release(&mut self, _thread: ThreadId, lock: LockId) {
        let holds = self.lock_mut(lock);
        holds.depth -= 1;
        if holds.depth == 0 {
            holds.exclusive = None;
        }
    }

    /// Runs a shared acquire, which must be possible.
    pub fn acquire_shared(&mut self, thread: ThreadId, lock: LockId) {
        let depth = self.shared.entry((thread, lock)).or_default();
        *depth += 1;
        if *depth == 1 {
            self.lock_mut(lock).sharers += 1;
        }
    }

    /// Runs the release of a shared acquire, which must be open.
    pub fn release_shared(&mut self, thread: ThreadId, lock: LockId) {
        let depth = self.shared.entry((thread, lock)).or_default();
        *depth -= 1;
        if *depth == 0 {
            self.shared.remove(&(thread, lock));
            self.lock_mut(lock).sharers -= 1;
        }
    }

    #[inline]
    fn lock(&self, lock: LockId) -> LockHolds {
        self.locks.get(lock.index()).copied().unwrap_or_default()
    }

    #[inline]
    fn lock_mut(&mut self, lock: LockId) -> &mut LockHolds {
        if self.locks.len() <= lock.index() {
            self.locks.resize(lock.index() + 1, LockHolds::default());
        }
        &mut self.locks[lock.index()]
    }
}

/// The last write to each variable.
///
/// The birth and death of an object write every field of it in one step, however many there are: a variable's
/// last write is the latest of its own and of those of the objects around it.
#[derive(Clone, Default, Debug)]
pub struct Memory {
    /// How many writes have run.
    clock: u32,
    /// Per variable, its own last write.
    own: Vec<Cell>,
    /// Per object, its last birth or death; empty before the first.
    lifetime: Vec<Cell>,
}

#[derive(Clone, Copy, Debug)]
struct Cell {
    time: u32,
    event: u32,
}

const UNWRITTEN: Cell = Cell { time: 0, event: NONE };

impl Memory {
    /// Nothing is written.
    pub fn new() -> Memory {
        Memory::default()
    }

    /// Runs a write of `variable` by `event`.
    #[inline]
    pub fn write(&mut self, variable: VarId, event: EventId) {
        let cell = self.tick(event);
        put(&mut self.own, variable, cell);
    }

    /// Runs the birth or death of `object` by `event`.
    pub fn write_object(&mut self, object: VarId, event: EventId) {
        let cell = self.tick(event);
        put(&mut self.lifetime, object, cell);
    }

    /// The event that wrote `variable` last; none where it still has its initial value.
    #[inline]
    pub fn last_write(&self, objects: &Objects, variable: VarId) -> Option<EventId> {
        let mut last = get(&self.own, variable);
        if !self.lifetime.is_empty() {
            for object in objects.around(variable) {
                let cell = get(&self.lifetime, object);
                if cell.time > last.time {
                    last = cell;
                }
            }
        }
        some(last.event, EventId)
    }

    fn tick(&mut self, event: EventId) -> Cell {
        self.clock += 1;
        Cell { time: self.clock, event: event.0 }
    }
}

fn get(cells: &[Cell], variable: VarId) -> Cell {
    cells.get(variable.index()).copied().unwrap_or(UNWRITTEN)
}

fn put(cells: &mut Vec<Cell>, variable: VarId, cell: Cell) {
    if cells.len() <= variable.index() {
        cells.resize(variable.index() + 1, UNWRITTEN);
    }
    cells[variable.index()] = cell;
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Table;

    const A: ThreadId = ThreadId(0);
    const B: ThreadId = ThreadId(1);
    const L: LockId = LockId(0);

    #[test]
    fn only_the_outermost_pair_of_a_nest_counts() {
        let mut holds = Holds::new();
        holds.acquire(A, L);
        holds.acquire(A, L);
        holds.release(A, L);
        assert!(holds.exclusive_elsewhere(B, L) && !holds.held_elsewhere(A, L));
        holds.release(A, L);
        assert!(!holds.held_elsewhere(B, L));
    }

    #[test]
    fn a_downgrade_leaves_the_shared_hold() {
        let mut holds = Holds::new();
        holds.acquire(A, L);
        holds.acquire_shared(A, L);
        holds.release(A, L);
        assert!(!holds.exclusive_elsewhere(B, L) && holds.held_elsewhere(B, L));
        holds.acquire_shared(B, L);
        assert!(holds.held_elsewhere(A, L));
        holds.release_shared(A, L);
        assert!(!holds.held_elsewhere(B, L) && holds.held_elsewhere(A, L));
    }

    #[test]
    fn a_birth_or_death_writes_every_field() {
        let mut variables = Table::default();
        for name in ["p", "p.a", "p.b"] {
            variables.intern(name).unwrap();
        }
        let objects = Objects::new(&variables, [VarId(0)]).unwrap();
        let mut memory = Memory::new();
        let last = |memory: &Memory, v| memory.last_write(&objects, VarId(v)).map(|e| e.0);
        assert_eq!(last(&memory, 1), None);
        memory.write(VarId(1), EventId(5));
        memory.write_object(VarId(0), EventId(3));
        memory.write(VarId(2), EventId(4));
        assert_eq!([last(&memory, 0), last(&memory, 1), last(&memory, 2)], [Some(3), Some(3), Some(4)]);
    }
}
