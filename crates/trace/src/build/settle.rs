//! What a foreign log tells too early, put where it happened.
//!
//! Some recorders log an acquire when it is asked for, and a wait when its thread goes to sleep; here both stand where they are
//! done. They are moved to just before the next event of their thread, so that a thread's own order stays.

use hashbrown::{HashMap, HashSet};

use super::Builder;
use crate::context::Calling;
use crate::wellformed::Repairs;
use crate::{ConditionId, Defect, Error, EventId, Holds, Kind, LockId, Op, Space, ThreadId};

/// An event, and the event of its thread that it goes right before.
type Move = (usize, usize);

impl Builder {
    /// Moves waits that were logged when their thread went to sleep to where it woke up; how many.
    ///
    /// Such a wait follows a release, nothing woke it, and before its thread's next event, an acquire, there is a notification.
    /// (What a deadline may end has a look between the release and the wait.)
    pub fn settle_waits(&mut self) -> u64 {
        let any = self.columns.kinds.iter().fold(false, |any, &kind| any | (kind == Kind::Wait));
        if !any {
            return 0;
        }
        let moves = self.early_waits();
        self.rearrange(&moves);
        moves.len() as u64
    }

    fn op(&self, index: usize) -> Op {
        Op::new(self.columns.kinds[index], self.columns.targets[index])
    }

    fn early_waits(&self) -> Vec<Move> {
        let threads = self.names.space(Space::Thread).len();
        // Per thread its last event, and whether a notification of the condition came since the release before its wait.
        let mut last: Vec<Option<usize>> = vec![None; threads];
        let mut asleep: HashMap<ThreadId, (usize, ConditionId, bool)> = HashMap::new();
        let mut notified: HashMap<ConditionId, usize> = HashMap::new();
        let mut moves = Vec::new();
        for index in 0..self.len() {
            let (thread, op) = (self.columns.threads.get(index), self.op(index));
            if op == Op::Skip {
                continue;
            }
            if let Some((wait, _, true)) = asleep.remove(&thread)
                && matches!(op, Op::Acquire(_))
            {
                moves.push((wait, index));
            }
            match op {
                Op::Wait(condition) => {
                    let start =
                        last[thread.index()].filter(|&start| matches!(self.op(start), Op::Release(_)));
                    let is_woken = |start| notified.get(&condition).is_some_and(|&at| at > start);
                    if let Some(start) = start
                        && !is_woken(start)
                    {
                        asleep.insert(thread, (index, condition, false));
                    }
                }
                Op::Notify(condition) | Op::NotifyAll(condition) => {
                    notified.insert(condition, index);
                    let waits = asleep.values_mut().filter(|(_, of, _)| *of == condition);
                    waits.for_each(|(_, _, woken)| *woken = true);
                }
                _ => {}
            }
            last[thread.index()] = Some(index);
        }
        moves
    }

    /// Moves acquires that were logged before they were granted. Where one cannot be moved, nothing that shares its lock in the
    /// file may be found: the uses of such a lock keep their order, and what is inside of its sections neither races with what is
    /// inside of another one nor ends an object.
    pub(super) fn settle_acquires(&mut self, repairs: &mut Repairs) -> Result<(), Error> {
        let early = self.early_acquires();
        let note = |repairs: &mut Repairs, defect, events: &[usize]| {
            events.iter().for_each(|&event| repairs.note(defect, EventId::from_index(event)));
        };
        let moved: Vec<usize> = early.moves.iter().map(|&(from, _)| from).collect();
        note(repairs, Defect::EarlyAcquire, &moved);
        note(repairs, Defect::NeverGranted, &early.never);
        note(repairs, Defect::HeldByAnother, &early.doubtful);
        for &event in &early.never {
            if let Some((lock, _)) = use_of(self.op(event)) {
                self.requests.ask(event, self.columns.threads.get(event), lock);
            }
            self.drop_event(event);
        }
        if !early.locks.is_empty() {
            self.keep_order_of(early.locks)?;
        }
        self.rearrange(&early.moves);
        Ok(())
    }

    fn early_acquires(&self) -> Early {
        let (mut early, mut holds) = (Early::default(), Holds::new());
        let mut asked: HashMap<ThreadId, (usize, LockId, bool)> = HashMap::new();
        for index in 0..self.len() {
            let (thread, op) = (self.columns.threads.get(index), self.op(index));
            if op == Op::Skip {
                continue;
            }
            if let Some((event, lock, shared)) = asked.remove(&thread)
                && !early.locks.contains(&lock)
            {
                if grant(&mut holds, thread, lock, shared) {
                    early.moves.push((event, index));
                } else {
                    early.locks.insert(lock);
                    early.doubtful.push(event);
                }
            }
            match op {
                Op::Acquire(lock) | Op::TryAcquire(lock) if !grant(&mut holds, thread, lock, false) => {
                    asked.insert(thread, (index, lock, false));
                }
                Op::SharedAcquire(lock) if !grant(&mut holds, thread, lock, true) => {
                    asked.insert(thread, (index, lock, true));
                }
                Op::Release(lock) if holds.exclusive_depth(thread, lock) > 0 => holds.release(thread, lock),
                Op::SharedRelease(lock) if holds.shared_depth(thread, lock) > 0 => {
                    holds.release_shared(thread, lock);
                }
                _ => {}
            }
        }
        let left = asked.into_values().filter(|(_, lock, _)| !early.locks.contains(lock));
        early.never = left.map(|(event, ..)| event).collect();
        early.never.sort_unstable();
        early
    }

    /// Makes updates of all uses of these locks, and of those that are acquired inside of their sections.
    fn keep_order_of(&mut self, mut locks: HashSet<LockId>) -> Result<(), Error> {
        while self.add_inner_locks(&mut locks) {}
        let mut variables: HashMap<LockId, u32> = HashMap::new();
        let mut sorted: Vec<LockId> = locks.iter().copied().collect();
        sorted.sort_unstable();
        for lock in sorted {
            let name = format!("owner of {}", self.names.space(Space::Lock).get(lock.0));
            variables.insert(lock, self.names.space_mut(Space::Variable).intern(&name)?);
        }
        let mut open: HashMap<ThreadId, HashMap<LockId, u32>> = HashMap::new();
        for index in 0..self.len() {
            let (thread, op) = (self.columns.threads.get(index), self.op(index));
            let open = open.entry(thread).or_default();
            if let Some((lock, change)) = use_of(op)
                && let Some(&variable) = variables.get(&lock)
            {
                count(open, lock, change);
                self.columns.kinds[index] = Kind::Update;
                self.columns.targets[index] = variable;
                self.values.remove(index);
            } else if !open.is_empty() {
                match op {
                    Op::Read(_) => self.columns.kinds[index] = Kind::AtomicRead,
                    Op::Write(_) => self.columns.kinds[index] = Kind::AtomicWrite,
                    Op::Free(_) => self.drop_event(index),
                    _ => {}
                }
            }
        }
        Ok(())
    }

    /// Adds the locks that are acquired inside of sections of `locks`; whether there are new ones.
    fn add_inner_locks(&self, locks: &mut HashSet<LockId>) -> bool {
        let (before, mut inner) = (locks.len(), Vec::new());
        let mut open: HashMap<ThreadId, HashMap<LockId, u32>> = HashMap::new();
        for index in 0..self.len() {
            let Some((lock, change)) = use_of(self.op(index)) else { continue };
            let open = open.entry(self.columns.threads.get(index)).or_default();
            if locks.contains(&lock) {
                count(open, lock, change);
            } else if !open.is_empty() {
                inner.push(lock);
            }
        }
        locks.extend(inner);
        locks.len() > before
    }

    fn drop_event(&mut self, index: usize) {
        self.columns.kinds[index] = Kind::Skip;
        self.columns.targets[index] = 0;
        self.values.remove(index);
    }

    /// Puts each moved event right before the other; a thread's own order stays.
    fn rearrange(&mut self, moves: &[Move]) {
        if moves.is_empty() {
            return;
        }
        let moved: HashSet<usize> = moves.iter().map(|&(from, _)| from).collect();
        let mut before: HashMap<usize, Vec<usize>> = HashMap::new();
        for &(from, to) in moves {
            before.entry(to).or_default().push(from);
        }
        let order: Vec<usize> = (0..self.len())
            .flat_map(|index| {
                let first = before.remove(&index).unwrap_or_default();
                first.into_iter().chain((!moved.contains(&index)).then_some(index))
            })
            .collect();
        self.requests.rearrange(&order);
        let mut columns = super::Columns::with_capacity(order.len());
        let mut values = self.values.empty_like();
        let mut calling = Calling::default();
        for (place, &index) in order.iter().enumerate() {
            let (kind, thread) = (self.columns.kinds[index], self.columns.threads.get(index));
            calling.change(place, thread, self.calling.get(EventId::from_index(index), thread));
            values.push(
                place,
                kind.has_two_values(),
                self.values.get(index, kind.has_two_values(), kind.reads()),
            );
            columns.kinds.push(kind);
            columns.threads.push(thread);
            columns.targets.push(self.columns.targets[index]);
            columns.sites.push(self.columns.sites[index]);
        }
        (self.columns, self.values, self.calling) = (columns, values, calling);
    }
}

/// Acquires that were logged before they were granted.
#[derive(Default)]
struct Early {
    /// Those that are granted at the next event of their thread.
    moves: Vec<Move>,
    /// Those after which their thread has no event.
    never: Vec<usize>,
    /// Those after which their thread went on while another held the lock, and the locks.
    doubtful: Vec<usize>,
    locks: HashSet<LockId>,
}

/// Acquires a lock if it is free for the thread.
fn grant(holds: &mut Holds, thread: ThreadId, lock: LockId, shared: bool) -> bool {
    let is_free = match shared {
        true => !holds.exclusive_elsewhere(thread, lock),
        false => !holds.held_elsewhere(thread, lock),
    };
    match (is_free, shared) {
        (false, _) => {}
        (true, true) => holds.acquire_shared(thread, lock),
        (true, false) => holds.acquire(thread, lock),
    }
    is_free
}

/// The lock that an operation uses, and by how much it changes the depth of its sections.
fn use_of(op: Op) -> Option<(LockId, i32)> {
    match op {
        Op::Acquire(lock) | Op::TryAcquire(lock) | Op::SharedAcquire(lock) => Some((lock, 1)),
        Op::Release(lock) | Op::SharedRelease(lock) => Some((lock, -1)),
        Op::Busy(lock) => Some((lock, 0)),
        _ => None,
    }
}

fn count(open: &mut HashMap<LockId, u32>, lock: LockId, change: i32) {
    let depth = open.get(&lock).copied().unwrap_or(0).saturating_add_signed(change);
    match depth {
        0 => _ = open.remove(&lock),
        _ => _ = open.insert(lock, depth),
    }
}
