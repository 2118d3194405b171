//! The law of steps: what comes of a step.

use crate::law::{DONE, HOLDER, Misuse, POISON, free, holder, unshared, waits};
use crate::model::{Effect, Model, version};
use crate::op::{Data, Move, ObjectId, Op, Outcome, ThreadId, tag};
use crate::state::{Phase, State};

/// A step in the making.
pub(crate) struct Doing<'a> {
    pub(crate) model: &'a mut Model,
    pub(crate) state: &'a mut State,
    pub(crate) thread: ThreadId,
    pub(crate) choice: u32,
    pub(crate) effect: &'a mut Effect,
}

/// Does one possibility of a thread.
pub(crate) fn step(model: &mut Model, state: &mut State, step: Move, effect: &mut Effect) {
    let Some(op) = model.op(state, step.thread).cloned() else { return };
    let phase = model.thread(state, step.thread).phase();
    let mut doing = Doing { model, state, thread: step.thread, choice: step.choice, effect };
    match (phase, &op) {
        (Phase::Waiting, _) => doing.wake(step.thread, step.choice == 1),
        (Phase::Woken, Op::Wait { lock, .. }) => {
            let timeout = doing.model.thread(doing.state, step.thread).timeout();
            doing.hold(*lock);
            doing.locked(*lock, 1, if timeout { tag::TIMEOUT } else { 0 });
        }
        (Phase::Announced, Op::WriteLock { lock }) => {
            doing.add(*lock, 1, -(1 << 32));
            doing.hold(*lock);
            doing.locked(*lock, 2, 0);
        }
        (Phase::Queued, Op::ReadLock { lock }) => doing.share(*lock),
        _ => doing.begin(&op),
    }
}

impl Doing<'_> {
    fn begin(&mut self, op: &Op) {
        match op {
            Op::Read { .. }
            | Op::Write { .. }
            | Op::Touch { .. }
            | Op::Count { .. }
            | Op::Update { .. }
            | Op::Exchange { .. } => self.memory(op),
            Op::Lock { .. }
            | Op::TryLock { .. }
            | Op::Unlock { .. }
            | Op::ClearPoison { .. }
            | Op::IsPoisoned { .. }
            | Op::Wait { .. } => {
                self.lock(op);
            }
            Op::ReadLock { .. }
            | Op::TryReadLock { .. }
            | Op::ReadUnlock { .. }
            | Op::WriteLock { .. }
            | Op::TryWriteLock { .. }
            | Op::WriteUnlock { .. }
            | Op::Downgrade { .. } => self.shared_lock(op),
            Op::Send { .. }
            | Op::TrySend { .. }
            | Op::Receive { .. }
            | Op::TryReceive { .. }
            | Op::AddSender { .. }
            | Op::DropSender { .. }
            | Op::DropReceiver { .. } => self.channel(op),
            Op::Notify { .. }
            | Op::Acquire { .. }
            | Op::TryAcquire { .. }
            | Op::Release { .. }
            | Op::Barrier { .. }
            | Op::Initialise { .. }
            | Op::Initialised { .. }
            | Op::IsInitialised { .. } => self.meeting(op),
            _ => self.life(op),
        }
    }

    /// The thread goes on with this.
    pub(crate) fn got(&mut self, tag: u32, value: u64) {
        self.effect.advanced.push((self.thread, Outcome { tag, value }));
    }

    pub(crate) fn get(&self, object: ObjectId, at: usize) -> u64 {
        self.model.word(self.state, object, at)
    }

    pub(crate) fn put(&mut self, object: ObjectId, at: usize, word: u64) {
        self.model.set_word(self.state, object, at, word);
    }

    pub(crate) fn add(&mut self, object: ObjectId, at: usize, count: i64) {
        let word = self.get(object, at).wrapping_add_signed(count);
        self.put(object, at, word);
    }

    pub(crate) fn resolve(&self, data: Data) -> u64 {
        match data {
            Data::Value(value) => value,
            Data::Version => version(self.model.thread(self.state, self.thread).node()),
        }
    }

    pub(crate) fn phase(&mut self, phase: Phase) {
        let word = self.model.thread(self.state, self.thread).in_phase(phase);
        self.model.set_thread(self.state, self.thread, word);
    }

    pub(crate) fn misuse(&mut self, misuse: Misuse) {
        self.effect.misuse = Some(misuse);
        self.phase(Phase::Gone);
    }

    fn memory(&mut self, op: &Op) {
        match *op {
            Op::Read { cell, .. } => self.got(0, self.get(cell, 0)),
            Op::Write { cell, value, .. } => {
                self.put(cell, 0, value);
                self.got(0, 0);
            }
            Op::Touch { cell } => {
                // What is there now is a function of what the thread knows after it has seen what was there.
                let seen = Outcome { tag: 0, value: self.get(cell, 0) };
                let node = self.model.thread(self.state, self.thread).node();
                let after = self.model.tree.child(node, seen);
                self.put(cell, 0, version(after));
                self.got(0, seen.value);
            }
            Op::Count { cell, up } => {
                let count = self.get(cell, 0);
                if count == 0 {
                    return self.got(tag::FAILED, 0);
                }
                self.put(cell, 0, if up { count + 1 } else { count - 1 });
                self.got(if !up && count == 1 { tag::CHOSEN } else { 0 }, 0);
            }
            Op::Update { cell, update } => {
                let old = self.get(cell, 0);
                self.put(cell, 0, update.apply(old));
                self.got(0, old);
            }
            Op::Exchange { cell, expected, new, .. } => {
                let old = self.get(cell, 0);
                if self.choice == 0 && old == expected {
                    self.put(cell, 0, new);
                    self.got(0, old);
                } else {
                    self.got(tag::FAILED, old);
                }
            }
            _ => {}
        }
    }

    /// The thread holds a lock, once more if it does already.
    fn hold(&mut self, lock: ObjectId) {
        let word = self.get(lock, 0);
        let depth = word >> 32 & 0xFFFF;
        self.put(lock, 0, word & POISON | (depth + 1) << 32 | (u64::from(self.thread.0) + 1));
    }

    /// The thread goes on holding a lock whose data is in that word.
    fn locked(&mut self, lock: ObjectId, data: usize, tag: u32) {
        let poison = if self.get(lock, 0) & POISON != 0 { tag::POISONED } else { 0 };
        let value = self.get(lock, data);
        self.got(tag | poison, value);
    }

    /// Gives a lock up; false if the thread does not hold it.
    fn release(&mut self, lock: ObjectId, data: (usize, Data), poison: bool) -> bool {
        if holder(self.model, self.state, lock) != Some(self.thread) {
            self.misuse(Misuse::NotHeld(lock));
            return false;
        }
        let word = self.get(lock, 0);
        let depth = word >> 32 & 0xFFFF;
        let poison = word & POISON | if poison { POISON } else { 0 };
        let left = if depth > 1 { (depth - 1) << 32 | word & HOLDER } else { 0 };
        self.put(lock, 0, poison | left);
        let value = self.resolve(data.1);
        self.put(lock, data.0, value);
        true
    }

    fn lock(&mut self, op: &Op) {
        match op {
            Op::Lock { lock, .. } => {
                self.hold(*lock);
                self.locked(*lock, 1, 0);
            }
            Op::TryLock { lock, recursive, .. } => {
                let owner = holder(self.model, self.state, *lock);
                let open = owner.is_none() || *recursive && owner == Some(self.thread);
                if self.choice == 0 && open {
                    self.hold(*lock);
                    self.locked(*lock, 1, 0);
                } else {
                    self.got(tag::FAILED, 0);
                }
            }
            Op::Unlock { lock, data, poison } => {
                let released = self.release(*lock, (1, *data), *poison);
                if released {
                    self.got(0, 0);
                }
            }
            Op::IsPoisoned { lock } => {
                let poisoned = self.get(*lock, 0) & POISON != 0;
                self.got(if poisoned { tag::POISONED } else { 0 }, 0);
            }
            Op::ClearPoison { lock } => {
                let word = self.get(*lock, 0);
                self.put(*lock, 0, word & !POISON);
                self.got(0, 0);
            }
            Op::Wait { lock, data, .. } => {
                let released = self.release(*lock, (1, *data), false);
                if released {
                    self.phase(Phase::Waiting);
                }
            }
            _ => {}
        }
    }

    fn share(&mut self, lock: ObjectId) {
        self.add(lock, 1, 1);
        self.locked(lock, 2, 0);
    }

    fn shared_lock(&mut self, op: &Op) {
        match *op {
            Op::ReadLock { .. } if self.choice == 1 => self.phase(Phase::Queued),
            Op::ReadLock { lock } => self.share(lock),
            Op::TryReadLock { lock } => {
                if self.choice == 0 && free(self.model, self.state, lock) {
                    self.share(lock);
                } else {
                    self.got(tag::FAILED, 0);
                }
            }
            Op::ReadUnlock { lock } => {
                if self.get(lock, 1) & HOLDER == 0 {
                    return self.misuse(Misuse::NotHeld(lock));
                }
                self.add(lock, 1, -1);
                self.got(0, 0);
            }
            Op::WriteLock { lock } if unshared(self.model, self.state, lock) => {
                self.hold(lock);
                self.locked(lock, 2, 0);
            }
            Op::WriteLock { lock } => {
                self.add(lock, 1, 1 << 32);
                self.phase(Phase::Announced);
            }
            Op::TryWriteLock { lock } => {
                if unshared(self.model, self.state, lock) {
                    self.hold(lock);
                    self.locked(lock, 2, 0);
                } else {
                    self.got(tag::FAILED, 0);
                }
            }
            Op::WriteUnlock { lock, data, poison } => {
                let released = self.release(lock, (2, data), poison);
                if released {
                    self.got(0, 0);
                }
            }
            Op::Downgrade { lock, data } => {
                let released = self.release(lock, (2, data), false);
                if released {
                    self.add(lock, 1, 1);
                    self.got(0, 0);
                }
            }
            _ => {}
        }
    }

    /// A waiting thread is woken, and has to get its lock again.
    fn wake(&mut self, thread: ThreadId, timeout: bool) {
        let word = self.model.thread(self.state, thread).in_phase(Phase::Woken).with_timeout(timeout);
        self.model.set_thread(self.state, thread, word);
    }

    fn meeting(&mut self, op: &Op) {
        match *op {
            Op::Notify { condition, all } => {
                if all {
                    for thread in self.model.layout.threads().to_vec() {
                        if waits(self.model, self.state, thread, condition) {
                            self.wake(thread, false);
                        }
                    }
                } else if self.choice > 0 {
                    self.wake(ThreadId(self.choice - 1), false);
                }
                self.got(0, 0);
            }
            Op::Acquire { semaphore } => {
                self.add(semaphore, 0, -1);
                self.got(0, 0);
            }
            Op::TryAcquire { semaphore } if self.get(semaphore, 0) == 0 => self.got(tag::FAILED, 0),
            Op::TryAcquire { semaphore } => {
                self.add(semaphore, 0, -1);
                self.got(0, 0);
            }
            Op::Release { semaphore, count } => {
                self.add(semaphore, 0, count as i64);
                self.got(0, 0);
            }
            Op::Barrier { barrier, size } => self.barrier(barrier, size),
            Op::Initialise { once } if self.get(once, 0) == DONE => self.got(0, self.get(once, 1)),
            Op::Initialise { once } => {
                self.put(once, 0, u64::from(self.thread.0) + 1);
                self.got(tag::CHOSEN, 0);
            }
            Op::Initialised { once, done, data } => {
                if self.get(once, 0) != u64::from(self.thread.0) + 1 {
                    return self.misuse(Misuse::NotInitialising(once));
                }
                self.put(once, 0, if done { DONE } else { 0 });
                if done {
                    let value = self.resolve(data);
                    self.put(once, 1, value);
                }
                self.got(0, 0);
            }
            Op::IsInitialised { once } if self.get(once, 0) == DONE => self.got(0, self.get(once, 1)),
            Op::IsInitialised { .. } => self.got(tag::FAILED, 0),
            _ => {}
        }
    }

    fn barrier(&mut self, barrier: ObjectId, size: u32) {
        let here = |doing: &Self, thread| {
            doing.model.thread(doing.state, thread).phase() == Phase::Arrived
                && matches!(doing.model.op(doing.state, thread), Some(Op::Barrier { barrier: own, .. }) if *own == barrier)
        };
        let others: Vec<ThreadId> =
            self.model.layout.threads().iter().copied().filter(|&thread| here(self, thread)).collect();
        if others.len() as u32 + 1 < size {
            self.phase(Phase::Arrived);
            return;
        }
        self.got(tag::CHOSEN, 0);
        self.effect.advanced.extend(others.into_iter().map(|thread| (thread, Outcome::default())));
    }
}
