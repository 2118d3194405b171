//! Mutexes, reader/writer locks and spin locks.
//!
//! The real lock is taken too, always by trying: what it says decides, so that kinds of locks, errors and locks shared
//! with other processes stay as they are. A thread that does not get it is blocked by the scheduler instead.

use reweave_wire::Op;

use crate::export::export;
use crate::policy::Step;
use crate::real;
use crate::recording::{Inside, Lock};
use crate::sched::{Wake, key};
use crate::shared;
use crate::time::Deadline;

const EBUSY: usize = 16;
const EDEADLK: usize = 35;
const EOWNERDEAD: usize = 130;
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
            let named = crate::recording::Named { used: false, generation: lock.named.generation + 1 };
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
                Op::SharedAcquire
            }
        };
        self.lock_event(op, at, &mut lock, code);
        self.set_lock(at, lock);
    }

    /// Records that this thread gives the lock up, where it was seen to take it; how it held it.
    pub(crate) fn released(&mut self, at: usize, code: usize) {
        let mut lock = self.lock(at);
        if lock.holder == self.me.index() as u32 + 1 && lock.depth > 0 {
            lock.depth -= 1;
            if lock.depth == 0 {
                lock.holder = 0;
            }
            self.lock_event(Op::Release, at, &mut lock, code);
        } else if lock.shared > 0 {
            lock.shared -= 1;
            self.lock_event(Op::SharedRelease, at, &mut lock, code);
        }
        self.set_lock(at, lock);
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
        for _ in 0..depth {
            self.released(mutex, code);
        }
        real::pthread_mutex_unlock(mutex);
        self.wake(key::of(key::LOCK, mutex), true);
        depth
    }

    /// The second half.
    pub(crate) fn acquire_after_wait(&mut self, mutex: usize, depth: u32, code: usize) -> usize {
        let result = self.obtain(mutex, Deadline::Never, &MUTEX);
        if taken(result) {
            for _ in 0..depth {
                self.acquired(mutex, Hold::Exclusive, false, code);
            }
        }
        result
    }

    /// Tries until it has the real lock, an error comes, or the time is up.
    fn obtain(&mut self, at: usize, deadline: Deadline, real: &Real) -> usize {
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
            if self.block(key::of(key::LOCK, at), deadline.number()) == Wake::TimedOut {
                let result = (real.attempt)(at);
                return if result == EBUSY { ETIMEDOUT } else { result };
            }
        }
    }

    /// Records an attempt that failed because of another thread's hold.
    pub(crate) fn busy(&mut self, at: usize, hold: Hold, code: usize) {
        let mut lock = self.lock(at);
        let exclusive = lock.holder != 0 && lock.holder != self.me.index() as u32 + 1;
        let shared = hold == Hold::Exclusive && lock.holder == 0 && lock.shared > 0;
        // This thread's own shared holds are not told from others': with one only, it may be its own.
        if exclusive || shared && lock.shared > 1 {
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

const MUTEX: Real = Real {
    attempt: real::pthread_mutex_trylock,
    lock: real::pthread_mutex_lock,
    timed: real::pthread_mutex_timedlock,
};
const SHARED: Real = Real {
    attempt: real::pthread_rwlock_tryrdlock,
    lock: real::pthread_rwlock_rdlock,
    timed: real::pthread_rwlock_timedrdlock,
};
const EXCLUSIVE: Real = Real {
    attempt: real::pthread_rwlock_trywrlock,
    lock: real::pthread_rwlock_wrlock,
    timed: real::pthread_rwlock_timedwrlock,
};
/// Nobody waits for one with a deadline.
const SPIN: Real = Real {
    attempt: real::pthread_spin_trylock,
    lock: real::pthread_spin_lock,
    timed: |lock, _| real::pthread_spin_lock(lock),
};

/// Takes a lock, or fails as the real one does.
fn acquire(at: usize, hold: Hold, deadline: Deadline, code: usize, real: &Real) -> Option<usize> {
    let mut inside = Inside::enter()?;
    inside.settle();
    inside.point(Step::Sync, code);
    // A lock of the kind that checks tells an error where trying would only say that it is taken.
    if inside.depth(at) > 0 && deadline != Deadline::Now && checks(at, real.attempt) {
        return Some(EDEADLK);
    }
    let result = inside.obtain(at, deadline, real);
    if taken(result) {
        inside.acquired(at, hold, deadline != Deadline::Never, code);
    } else if result == EBUSY || result == ETIMEDOUT {
        inside.busy(at, hold, code);
    }
    Some(result)
}

/// Whether a mutex, which the calling thread holds, is of the kind that checks for errors.
fn checks(mutex: usize, try_lock: Function) -> bool {
    const KIND: usize = 16;
    const ERRORCHECK: u64 = 2;
    let is_mutex = try_lock as *const () == real::pthread_mutex_trylock as *const ();
    is_mutex && crate::access::load(mutex + KIND, 4) & 3 == ERRORCHECK
}

fn release(at: usize, code: usize, unlock: Function) -> usize {
    let Some(mut inside) = Inside::enter() else { return unlock(at) };
    inside.settle();
    inside.point(Step::Sync, code);
    let result = unlock(at);
    if result == 0 {
        inside.released(at, code);
        inside.wake(key::of(key::LOCK, at), true);
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

/// Declares functions that take a lock.
macro_rules! takes {
    ($($name:ident: $hold:ident $kind:ident,
       ($($argument:ident),*) $deadline:expr, $real:ident;)*) => { $(
        pub(crate) extern "C" fn $name(at: usize, $($argument: usize,)* code: usize) -> usize {
            acquire(at, Hold::$hold, $deadline, code, &$kind)
                .unwrap_or_else(|| real::$real(at, $($argument),*))
        }
    )* };
}

takes! {
    lock: Exclusive MUTEX, () Deadline::Never, pthread_mutex_lock;
    trylock: Exclusive MUTEX, () Deadline::Now, pthread_mutex_trylock;
    timedlock: Exclusive MUTEX, (time) Deadline::wall(time),
        pthread_mutex_timedlock;
    clocklock: Exclusive MUTEX, (clock, time) Deadline::of(clock, time),
        pthread_mutex_clocklock;
    rdlock: Shared SHARED, () Deadline::Never, pthread_rwlock_rdlock;
    tryrdlock: Shared SHARED, () Deadline::Now, pthread_rwlock_tryrdlock;
    timedrdlock: Shared SHARED, (time) Deadline::wall(time),
        pthread_rwlock_timedrdlock;
    clockrdlock: Shared SHARED, (clock, time) Deadline::of(clock, time),
        pthread_rwlock_clockrdlock;
    wrlock: Exclusive EXCLUSIVE, () Deadline::Never, pthread_rwlock_wrlock;
    trywrlock: Exclusive EXCLUSIVE, () Deadline::Now, pthread_rwlock_trywrlock;
    timedwrlock: Exclusive EXCLUSIVE, (time) Deadline::wall(time),
        pthread_rwlock_timedwrlock;
    clockwrlock: Exclusive EXCLUSIVE, (clock, time) Deadline::of(clock, time),
        pthread_rwlock_clockwrlock;
    spin_lock: Exclusive SPIN, () Deadline::Never, pthread_spin_lock;
    spin_trylock: Exclusive SPIN, () Deadline::Now, pthread_spin_trylock;
}

pub(crate) extern "C" fn unlock(at: usize, code: usize) -> usize {
    release(at, code, real::pthread_mutex_unlock)
}

extern "C" fn rwlock_unlock(at: usize, code: usize) -> usize {
    release(at, code, real::pthread_rwlock_unlock)
}

extern "C" fn spin_unlock(at: usize, code: usize) -> usize {
    release(at, code, real::pthread_spin_unlock)
}

/// Declares functions that begin or end a lock.
macro_rules! renews {
    ($($name:ident ($($argument:ident),*) $real:ident;)*) => { $(
        pub(crate) extern "C" fn $name(at: usize, $($argument: usize,)* _code: usize) -> usize {
            renewed(at);
            real::$real(at, $($argument),*)
        }
    )* };
}

renews! {
    init(attributes) pthread_mutex_init;
    destroy() pthread_mutex_destroy;
    rwlock_init(attributes) pthread_rwlock_init;
    rwlock_destroy() pthread_rwlock_destroy;
    spin_init(shared) pthread_spin_init;
    spin_destroy() pthread_spin_destroy;
}

export! {
    pthread_mutex_lock(1) => lock;
    pthread_mutex_trylock(1) => trylock;
    pthread_mutex_timedlock(2) => timedlock;
    pthread_mutex_clocklock(3) => clocklock;
    pthread_mutex_unlock(1) => unlock;
    pthread_mutex_init(2) => init;
    pthread_mutex_destroy(1) => destroy;
    pthread_rwlock_rdlock(1) => rdlock;
    pthread_rwlock_tryrdlock(1) => tryrdlock;
    pthread_rwlock_timedrdlock(2) => timedrdlock;
    pthread_rwlock_clockrdlock(3) => clockrdlock;
    pthread_rwlock_wrlock(1) => wrlock;
    pthread_rwlock_trywrlock(1) => trywrlock;
    pthread_rwlock_timedwrlock(2) => timedwrlock;
    pthread_rwlock_clockwrlock(3) => clockwrlock;
    pthread_rwlock_unlock(1) => rwlock_unlock;
    pthread_rwlock_init(2) => rwlock_init;
    pthread_rwlock_destroy(1) => rwlock_destroy;
    pthread_spin_lock(1) => spin_lock;
    pthread_spin_trylock(1) => spin_trylock;
    pthread_spin_unlock(1) => spin_unlock;
    pthread_spin_init(2) => spin_init;
    pthread_spin_destroy(1) => spin_destroy;
}
