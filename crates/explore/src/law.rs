//! The law of steps: what a thread can do in a state.

use crate::model::Model;
use crate::op::{Early, ObjectId, Op, ThreadId, Watch};
use crate::state::{Phase, State};

/// The word of an initialisation that is done.
pub(crate) const DONE: u64 = u64::MAX;
/// The flag of a channel whose receiver is there; below it is the number of senders.
pub(crate) const RECEIVER: u64 = 1 << 32;
/// The flag of a poisoned lock; below it is the holder, and how often it holds the lock.
pub(crate) const POISON: u64 = 1 << 63;
pub(crate) const HOLDER: u64 = 0xFFFF_FFFF;

/// A step that no correct program takes.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Misuse {
    /// A lock is given up, or waited with, by a thread that does not hold it.
    NotHeld(ObjectId),
    /// An initialisation ends that its thread did not begin.
    NotInitialising(ObjectId),
    /// A thread is started twice.
    Restarted(ThreadId),
}

/// Who holds a lock.
pub(crate) fn holder(model: &Model, state: &State, lock: ObjectId) -> Option<ThreadId> {
    (model.word(state, lock, 0) & HOLDER).checked_sub(1).map(|thread| ThreadId(thread as u32))
}

pub(crate) fn free(model: &Model, state: &State, lock: ObjectId) -> bool {
    model.word(state, lock, 0) & HOLDER == 0
}

/// Whether a reader/writer lock has neither writer nor readers.
pub(crate) fn unshared(model: &Model, state: &State, lock: ObjectId) -> bool {
    free(model, state, lock) && model.word(state, lock, 1) & HOLDER == 0
}

fn pending(model: &Model, state: &State, lock: ObjectId) -> u64 {
    model.word(state, lock, 1) >> 32
}

fn changed(model: &Model, state: &State, watched: &[Watch]) -> bool {
    watched.iter().any(|&watch| match watch {
        Watch::Value(object, seen) => model.content(state, object) != seen,
        Watch::Held(lock) => unshared(model, state, lock),
        Watch::Empty(channel) => {
            model.word(state, channel, 0) != 0 || model.word(state, channel, 2) & HOLDER == 0
        }
    })
}

fn early(model: &Model, state: &State, early: &Early) -> bool {
    match early {
        Early::Always => true,
        Early::Changed(watched) => changed(model, state, watched),
    }
}

/// Calls `found` with each possibility of a thread.
pub(crate) fn moves(model: &Model, state: &State, thread: ThreadId, mut found: impl FnMut(u32)) {
    let Some(op) = model.op(state, thread) else { return };
    let word = model.thread(state, thread);
    match word.phase() {
        Phase::At => begin(model, state, thread, op, &mut found),
        Phase::Waiting => {
            if let Op::Wait { timed, early: when, .. } = op
                && early(model, state, when)
            {
                if *timed && model.policy.timeouts {
                    found(1);
                }
                if model.policy.spurious {
                    found(2);
                }
            }
        }
        Phase::Woken => {
            if let Op::Wait { lock, .. } = op
                && free(model, state, *lock)
            {
                found(0);
            }
        }
        Phase::Announced => {
            if let Op::WriteLock { lock } = op
                && unshared(model, state, *lock)
            {
                found(0);
            }
        }
        Phase::Queued => {
            if let Op::ReadLock { lock } = op
                && free(model, state, *lock)
                && pending(model, state, *lock) == 0
            {
                found(0);
            }
        }
        Phase::Absent | Phase::Arrived | Phase::Ended | Phase::Gone => {}
    }
}

/// The possibilities of a step that has not begun.
fn begin(model: &Model, state: &State, thread: ThreadId, op: &Op, found: &mut dyn FnMut(u32)) {
    let policy = model.policy;
    let mut when = |condition: bool, choice: u32| {
        if condition {
            found(choice);
        }
    };
    match op {
        Op::Exchange { cell, expected, weak, .. } => {
            when(true, 0);
            when(*weak && policy.weak && model.word(state, *cell, 0) == *expected, 1);
        }
        Op::Await { watched } => when(changed(model, state, watched), 0),
        Op::Lock { lock, recursive } => {
            let mine = *recursive && holder(model, state, *lock) == Some(thread);
            when(mine || free(model, state, *lock), 0);
        }
        Op::TryLock { lock, may_fail, .. } => {
            when(true, 0);
            when(*may_fail && policy.weak && free(model, state, *lock), 1);
        }
        Op::ReadLock { lock } => {
            let open = free(model, state, *lock);
            when(open, 0);
            when(open && pending(model, state, *lock) > 0, 1);
        }
        Op::TryReadLock { lock } => {
            when(true, 0);
            when(free(model, state, *lock) && pending(model, state, *lock) > 0, 1);
        }
        Op::WriteLock { lock } => when(policy.fair_writers || unshared(model, state, *lock), 0),
        Op::Notify { condition, all: false } => {
            let mut none = true;
            for &waiter in model.layout.threads() {
                if waits(model, state, waiter, *condition) {
                    none = false;
                    when(true, waiter.0 + 1);
                }
            }
            when(none, 0);
        }
        Op::Acquire { semaphore } => when(model.word(state, *semaphore, 0) > 0, 0),
        Op::Initialise { once } => {
            let word = model.word(state, *once, 0);
            when(word == 0 || word == DONE, 0);
        }
        Op::Send { channel, .. } => when(!full(model, state, *channel) || closed(model, state, *channel), 0),
        Op::Receive { channel, timed, early: how } => {
            let empty = model.word(state, *channel, 0) == 0;
            let over = model.word(state, *channel, 2) & HOLDER == 0;
            when(!empty || over, 0);
            when(empty && !over && *timed && policy.timeouts && early(model, state, how), 1);
        }
        Op::Park { timed, early: how } => {
            let token = model.thread(state, thread).token();
            when(token, 0);
            let unasked = (*timed && policy.timeouts) || policy.spurious;
            when(!token && unasked && early(model, state, how), 1);
        }
        Op::Join { thread } => when(model.thread(state, *thread).phase() == Phase::Ended, 0),
        Op::JoinAll { threads } => {
            let ended = |thread: &ThreadId| model.thread(state, *thread).phase() == Phase::Ended;
            when(threads.iter().all(ended), 0);
        }
        Op::Choose { among } => (0..*among).for_each(|choice| when(true, choice)),
        Op::Call { object, call } => {
            let class = model.layout.class(*object);
            let outcomes = model.objects.call(class, model.word(state, *object, 0), *call);
            (0..outcomes.len() as u32).for_each(|choice| when(true, choice));
        }
        Op::Fail { .. } => {}
        _ => when(true, 0),
    }
}

/// Whether a thread waits for a condition variable.
pub(crate) fn waits(model: &Model, state: &State, thread: ThreadId, condition: ObjectId) -> bool {
    model.thread(state, thread).phase() == Phase::Waiting
        && matches!(model.op(state, thread), Some(Op::Wait { condition: own, .. }) if *own == condition)
}

pub(crate) fn full(model: &Model, state: &State, channel: ObjectId) -> bool {
    let capacity = model.word(state, channel, 1);
    capacity > 0 && model.queues.get(model.word(state, channel, 0)).len() as u64 >= capacity - 1
}

/// Whether nobody can receive from a channel.
pub(crate) fn closed(model: &Model, state: &State, channel: ObjectId) -> bool {
    model.word(state, channel, 2) & RECEIVER == 0
}
