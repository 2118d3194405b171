//! The threads of C11: libc's are pthreads under other names, and so are ours.

use crate::abi::export::export;
use crate::libc::condition;
use crate::libc::locks;
use crate::libc::threads;

const SUCCESS: usize = 0;
const BUSY: usize = 1;
const ERROR: usize = 2;
const NO_MEMORY: usize = 3;
const TIMED_OUT: usize = 4;

/// A pthreads error as one of C11.
fn result(error: usize) -> usize {
    match error {
        0 => SUCCESS,
        12 => NO_MEMORY,
        16 => BUSY,
        110 => TIMED_OUT,
        _ => ERROR,
    }
}

extern "C" fn create(thread: *mut usize, function: usize, argument: usize, code: usize) -> usize {
    // A function that returns an int leaves it in the register of a pointer.
    result(threads::create(thread, 0, function, argument, code))
}

extern "C" fn join(thread: usize, status: *mut i32, code: usize) -> usize {
    let mut value = 0usize;
    let error = threads::pthread_join(thread, &raw mut value as usize, code);
    // SAFETY: the program passes a null, or where it wants the result.
    if let Some(status) = unsafe { status.as_mut() } {
        *status = value as i32;
    }
    result(error)
}

extern "C" fn detach(thread: usize, code: usize) -> usize {
    result(threads::detach(thread, code))
}

/// Declares functions that differ in their results only.
macro_rules! same {
    ($($name:ident ($($argument:ident),*) $function:path;)*) => { $(
        extern "C" fn $name($($argument: usize,)* code: usize) -> usize {
            result($function($($argument,)* code))
        }
    )* };
}

same! {
    mtx_lock(mutex) locks::lock;
    mtx_trylock(mutex) locks::trylock;
    mtx_timedlock(mutex, time) locks::timedlock;
    mtx_unlock(mutex) locks::unlock;
    cnd_wait(condition, mutex) condition::cond_wait;
    cnd_timedwait(condition, mutex, time) condition::timedwait;
    cnd_signal(condition) condition::signal;
    cnd_broadcast(condition) condition::broadcast;
}

extern "C" fn cnd_init(condition: usize, code: usize) -> usize {
    result(condition::init(condition, 0, code))
}

extern "C" fn cnd_destroy(condition: usize, code: usize) {
    condition::destroy(condition, code);
}

extern "C" fn mtx_destroy(mutex: usize, code: usize) {
    locks::destroy(mutex, code);
}

export! {
    thrd_create(3) => create;
    thrd_join(2) => join;
    thrd_detach(1) => detach;
    mtx_lock(1) => mtx_lock;
    mtx_trylock(1) => mtx_trylock;
    mtx_timedlock(2) => mtx_timedlock;
    mtx_unlock(1) => mtx_unlock;
    mtx_destroy(1) => mtx_destroy;
    cnd_init(1) => cnd_init;
    cnd_destroy(1) => cnd_destroy;
    cnd_wait(2) => cnd_wait;
    cnd_timedwait(3) => cnd_timedwait;
    cnd_signal(1) => cnd_signal;
    cnd_broadcast(1) => cnd_broadcast;
}
