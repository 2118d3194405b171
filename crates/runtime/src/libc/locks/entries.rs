//! The functions of libc on locks, and what a program is given in their place.

use super::{Hold, Real, acquire, ended, release, renewed};
use crate::abi::export::export;
use crate::libc::outside::given;
use crate::libc::real;
use crate::sched::time::Deadline;

pub(super) const MUTEX: Real = Real {
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

/// Declares functions that begin a lock.
macro_rules! renews {
    ($($name:ident ($argument:ident) $length:expr, $real:ident;)*) => { $(
        pub(crate) extern "C" fn $name(at: usize, $argument: usize, code: usize) -> usize {
            given::gives_attributes($argument, $length, code);
            renewed(at);
            real::$real(at, $argument)
        }
    )* };
}

renews! {
    init(attributes) given::LOCK, pthread_mutex_init;
    rwlock_init(attributes) given::READERS, pthread_rwlock_init;
    // Its argument is a number.
    spin_init(shared) given::LOCK, pthread_spin_init;
}

/// Declares functions that end a lock. One that is held is not ended: the real function says so.
macro_rules! ends {
    ($($name:ident $real:ident;)*) => { $(
        pub(crate) extern "C" fn $name(at: usize, code: usize) -> usize {
            let result = real::$real(at);
            if result == 0 {
                ended(at, code);
            }
            result
        }
    )* };
}

ends! {
    destroy pthread_mutex_destroy;
    rwlock_destroy pthread_rwlock_destroy;
    spin_destroy pthread_spin_destroy;
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
