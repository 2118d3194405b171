//! `std::sync`, told to the recorder.

mod barrier;
mod condvar;
pub mod mpsc;
mod mutex;
mod once;
mod once_lock;
mod rwlock;

pub use std::sync::{Arc, LockResult, OnceState, PoisonError, TryLockError, TryLockResult, Weak, atomic};

pub use barrier::{Barrier, BarrierWaitResult};
pub use condvar::{Condvar, WaitTimeoutResult};
pub use mutex::{Mutex, MutexGuard};
pub use once::Once;
pub use once_lock::{LazyLock, OnceLock};
pub use rwlock::{RwLock, RwLockReadGuard, RwLockWriteGuard};

/// A result of `std` with what it has inside changed.
fn map<A, B>(result: LockResult<A>, change: impl FnOnce(A) -> B) -> LockResult<B> {
    match result {
        Ok(inside) => Ok(change(inside)),
        Err(poisoned) => Err(PoisonError::new(change(poisoned.into_inner()))),
    }
}

/// The same for an attempt.
fn map_try<A, B>(result: TryLockResult<A>, change: impl FnOnce(A) -> B) -> TryLockResult<B> {
    match result {
        Ok(inside) => Ok(change(inside)),
        Err(TryLockError::WouldBlock) => Err(TryLockError::WouldBlock),
        Err(TryLockError::Poisoned(poisoned)) => {
            Err(TryLockError::Poisoned(PoisonError::new(change(poisoned.into_inner()))))
        }
    }
}

/// Whether an attempt got the lock.
fn got<T>(result: &TryLockResult<T>) -> bool {
    !matches!(result, Err(TryLockError::WouldBlock))
}
