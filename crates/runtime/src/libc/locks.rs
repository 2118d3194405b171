//! Mutexes, reader/writer locks and spin locks.
//!
//! The real lock is taken too, always by trying: what it says decides, so that kinds of locks, errors and locks shared
//! with other processes stay as they are. A thread that does not get it is blocked by the scheduler instead.

use core::sync::atomic::Ordering::Relaxed;

use reweave_wire::{Life, Op};

use crate::libc::real;
use crate::libc::robust;
use crate::libc::shared;
use crate::record::recording::{Inside, Lock};
use crate::sched::baton::{Wake, key};
use crate::sched::policy::Step;
use crate::sched::time::Deadline;

mod entries;

use entries::MUTEX;
pub(crate) use entries::{destroy, lock, timedlock, trylock, unlock};

const EBUSY: usize = 16;
const EDEADLK: usize = 35;
const EOWNERDEAD: usize = 130;
const ENOTRECOVERABLE: usize = 131;
const ETIMEDOUT: usize = 110;

/// How a lock is held.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(crate) enum Hold {
    Exclusive,
    Shared,
}

/// Whether the program has the lock after a call with this result.
fn taken(result: usize) -> bool {
    result == 0 || result == EOWNERDEAD
}

impl Inside {
    fn lock(&mut self, at: usize) -> Lock {
        self.core().locks.entry(at as u64).copied().unwrap_or_default()
    }

    fn set_lock(&mut self, at: usize, lock: Lock) {
        if let Some(room) = self.core().locks.entry(at as u64) {
            *room = lock;
        }
    }

    fn lock_event(&mut self, op: Op, at: usize, lock: &mut Lock, code: usize) {
        lock.named.used = true;
        let index = self.me.index();
        if let Some(forced) = &mut self.core().forced {
            forced.lock(index, op, at, code);
        }
        self.operation(op, at, u64::from(lock.named.generation), code);
    }

    /// Notes and records that this thread has the lock.
    pub(crate) fn acquired(&mut self, at: usize, hold: Hold, tried: bool, code: usize) {
        let mut lock = self.lock(at);
        let mine = self.me.index() as u32 + 1;
        if lock.holder != 0 && lock.holder != mine || hold == Hold::Exclusive && lock.shared > 0 {
            // The real lock is free: the one that was held here is gone, with the memory that it was in.
            let named =
                crate::record::recording::Named { used: false, generation: lock.named.generation + 1 };
            lock = Lock { named, ..Lock::default() };
        }
        let op = match hold {
            Hold::Exclusive => {
                lock.holder = mine;
                lock.depth += 1;
                if tried { Op::TryAcquire } else { Op::Acquire }
            }
            Hold::Shared => {
                lock.shared += 1;
                self.shares(at, 1);
                Op::SharedAcquire
            }
        };
        self.lock_event(op, at, &mut lock, code);
        self.set_lock(at, lock);
        self.gone(key::of(key::LOCK, at), |thread| hold == Hold::Exclusive || !thread.shares.load(Relaxed));
    }

    /// Records that this thread gives the lock up, where it was seen to take it, and lets those run that may have it now.
    pub(crate) fn released(&mut self, at: usize, code: usize) {
        if !self.still_held(at, code) {
            self.wake(key::of(key::LOCK, at), true);
        }
    }

    /// Records that this thread gives the lock up, where it was seen to take it; whether it, or others that share it, have it still.
    fn still_held(&mut self, at: usize, code: usize) -> bool {
        let mut lock = self.lock(at);
        let mut held = false;
        if lock.holder == self.me.index() as u32 + 1 && lock.depth > 0 {
            lock.depth -= 1;
            if lock.depth == 0 {
                lock.holder = 0;
            }
            held = lock.depth > 0;
            self.lock_event(Op::Release, at, &mut lock, code);
        } else if lock.shared > 0 {
            lock.shared -= 1;
            self.shares(at, -1);
            held = lock.shared > 0;
            self.lock_event(Op::SharedRelease, at, &mut lock, code);
        }
        self.set_lock(at, lock);
        held
    }

    /// Waits until somebody gives the lock up.
    pub(crate) fn block_for(&mut self, at: usize, hold: Hold, deadline: u64) -> Wake {
        self.me.shares.store(hold == Hold::Shared, Relaxed);
        self.block(key::of(key::LOCK, at), deadline)
    }

    /// How often this thread holds a lock shared, once that has changed.
    fn shares(&mut self, at: usize, change: i32) -> u32 {
        let key = at as u64 | (self.me.index() as u64) << 48;
        self.core().sharers.entry(key).map_or(0, |shares| {
            *shares = shares.saturating_add_signed(change);
            *shares
        })
    }

    /// Notes whether a mutex is one that is still to be released when its owner ends.
    pub(crate) fn is_owned(&mut self, at: usize, robust: bool) {
        let lock = self.lock(at);
        self.set_lock(at, Lock { robust, ..lock });
    }

    /// Whether nobody holds the lock in a way that this hold would have to wait for.
    pub(crate) fn is_free(&mut self, at: usize, hold: Hold) -> bool {
        let lock = self.lock(at);
        lock.holder == 0 && (hold == Hold::Shared || lock.shared == 0)
    }

    /// How often this thread holds the lock exclusively.
    pub(crate) fn depth(&mut self, at: usize) -> u32 {
        let lock = self.lock(at);
        if lock.holder == self.me.index() as u32 + 1 { lock.depth } else { 0 }
    }

    /// Releases, waits, and acquires again around a wait for a condition variable: the first half.
    pub(crate) fn release_for_wait(&mut self, mutex: usize, code: usize) -> u32 {
        // A lock that nests is given up by one level only, as libc does.
        let depth = self.depth(mutex).min(1);
        // Whoever gives the lock up without having been seen to take it lets others look as well.
        let held = depth > 0 && self.still_held(mutex, code);
        real::pthread_mutex_unlock(mutex);
        if !held {
            self.wake(key::of(key::LOCK, mutex), true);
        }
        depth
    }

    /// The second half.
    pub(crate) fn acquire_after_wait(&mut self, mutex: usize, depth: u32, code: usize) -> usize {
        let result = self.obtain(mutex, Hold::Exclusive, Deadline::Never, &MUTEX);
        if taken(result) {
            for _ in 0..depth {
                self.acquired(mutex, Hold::Exclusive, false, code);
            }
        }
        result
    }

    /// Tries until it has the real lock, an error comes, or the time is up.
    fn obtain(&mut self, at: usize, hold: Hold, deadline: Deadline, real: &Real) -> usize {
        loop {
            let result = (real.attempt)(at);
            if result != EBUSY || deadline == Deadline::Now {
                return result;
            }
            let lock = self.lock(at);
            if lock.holder == 0 && lock.shared == 0 {
                // Somebody who is not recorded has it, such as another process.
                return if deadline == Deadline::Never {
                    self.elsewhere(|| (real.lock)(at))
                } else {
                    let time = shared::real_time(0, deadline);
                    self.elsewhere(|| (real.timed)(at, &raw const time as usize))
                };
            }
            if self.block_for(at, hold, deadline.number()) == Wake::TimedOut {
                let result = (real.attempt)(at);
                return if result == EBUSY { ETIMEDOUT } else { result };
            }
        }
    }

    /// Records an attempt that failed because of another thread's hold.
    pub(crate) fn busy(&mut self, at: usize, hold: Hold, code: usize) {
        let mut lock = self.lock(at);
        let exclusive = lock.holder != 0 && lock.holder != self.me.index() as u32 + 1;
        let shared = hold == Hold::Exclusive && lock.shared > self.shares(at, 0);
        if exclusive || shared {
            self.lock_event(Op::Busy, at, &mut lock, code);
            self.set_lock(at, lock);
        }
    }
}

type Function = fn(usize) -> usize;

/// The functions of libc that take a lock.
pub(crate) struct Real {
    attempt: Function,
    lock: Function,
    /// Until a time of the clock on the wall.
    timed: fn(usize, usize) -> usize,
}

/// Takes a lock, or fails as the real one does.
fn acquire(at: usize, hold: Hold, deadline: Deadline, code: usize, real: &Real) -> Option<usize> {
    let mut inside = Inside::enter()?;
    inside.settle();
    inside.point(Step::Sync, code);
    // A lock of the kind that checks tells an error where trying would only say that it is taken.
    if inside.depth(at) > 0 && deadline != Deadline::Now && checks(at, real.attempt) {
        return Some(EDEADLK);
    }
    let result = inside.obtain(at, hold, deadline, real);
    if taken(result) {
        inside.acquired(at, hold, deadline != Deadline::Never, code);
        if is_robust(at, real.attempt) {
            inside.is_owned(at, true);
            inside.finds_owner(at, code);
        }
    } else if result == ENOTRECOVERABLE {
        inside.finds_owner(at, code);
    } else if result == EBUSY || result == ETIMEDOUT {
        if result == ETIMEDOUT {
            inside.deadline_passed(code);
        }
        inside.busy(at, hold, code);
    }
    Some(result)
}

fn is_robust(at: usize, try_lock: Function) -> bool {
    let is_mutex = try_lock as *const () == real::pthread_mutex_trylock as *const ();
    is_mutex && robust::is_robust(at)
}

/// Whether a mutex, which the calling thread holds, is of the kind that checks for errors.
fn checks(mutex: usize, try_lock: Function) -> bool {
    const KIND: usize = 16;
    const ERRORCHECK: u64 = 2;
    let is_mutex = try_lock as *const () == real::pthread_mutex_trylock as *const ();
    is_mutex && crate::abi::access::load(mutex + KIND, 4) & 3 == ERRORCHECK
}

fn release(at: usize, code: usize, unlock: Function) -> usize {
    let Some(mut inside) = Inside::enter() else { return unlock(at) };
    inside.settle();
    inside.point(Step::Sync, code);
    if inside.lock(at).robust && inside.depth(at) == 1 {
        inside.leaves_unmended(at, code);
    }
    let result = unlock(at);
    if result == 0 {
        inside.released(at, code);
    }
    result
}

/// A lock begins or ends: what is at this address later is another one.
pub(crate) fn renewed(at: usize) {
    if let Some(mut inside) = Inside::enter() {
        inside.settle();
        let mut lock = inside.lock(at);
        if lock.named.used {
            lock.named.used = false;
            lock.named.generation += 1;
            inside.set_lock(at, Lock { named: lock.named, ..Lock::default() });
        }
    }
}

/// A lock was ended, and is recorded as such if it was ever used.
fn ended(at: usize, code: usize) {
    if let Some(mut inside) = Inside::enter() {
        inside.settle();
        let mut lock = inside.lock(at);
        if lock.named.used {
            // One that is held cannot be ended: the end has it, as an attempt that succeeded.
            let free = inside.is_free(at, Hold::Exclusive);
            if free {
                inside.lock_event(Op::TryAcquire, at, &mut lock, code);
            }
            inside.ends_lock(Life::Mutex, at, lock.named.generation, code);
            if free {
                inside.lock_event(Op::Release, at, &mut lock, code);
            }
        }
    }
    renewed(at);
}
