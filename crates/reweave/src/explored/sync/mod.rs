//! `std::sync`, explored. Outside of an exploration each type does as std's does.

pub mod atomic;
mod barrier;
mod condvar;
pub mod counted;
pub mod mpsc;
mod mutex;
mod once;
mod rwlock;

pub use std::sync::{Arc, LockResult, PoisonError, TryLockError, TryLockResult, Weak};

pub use barrier::{Barrier, BarrierWaitResult};
pub use condvar::{Condvar, WaitTimeoutResult};
pub use mutex::{Mutex, MutexGuard};
pub use once::{LazyLock, Once, OnceLock};
pub use rwlock::{RwLock, RwLockReadGuard, RwLockWriteGuard};

use reweave_explore::{Data, Init, ObjectId};

use super::{data, foreign, host};

/// What an object is to the search, if it was made in an exploration.
#[derive(Clone, Copy, Debug)]
pub(super) struct Id(Option<Made>);

/// An object with the number of its exploration.
#[derive(Clone, Copy, Debug)]
struct Made {
    object: ObjectId,
    exploration: u32,
}

impl Id {
    pub(super) fn new(kind: &'static str, init: Init) -> Id {
        let exploration = host::host(|host| host.watched.number()).unwrap_or(0);
        Id(host::object(kind, init).map(|object| Made { object, exploration }))
    }

    /// The object, if the calling thread is explored.
    #[inline(never)]
    pub(super) fn get(self) -> Option<ObjectId> {
        if let Some(made) = self.0
            && host::host(|host| host.touches(made.object)).is_none()
        {
            foreign::used_outside(made.exploration);
        }
        if !host::explored() {
            return None;
        }
        assert!(
            self.0.is_some(),
            "made outside of the explored closure: make it inside, so that every run has a new one"
        );
        self.0.map(|made| made.object)
    }
}

/// What the data of a lock is when it is given up. Data that was only read is what it was.
fn given_up<T: ?Sized>(value: &T, changed: bool, observed: u64) -> Data {
    match data::of(value) {
        Data::Version if !changed => {
            host::host(|host| host.relies.data.set(true));
            Data::Value(observed)
        }
        data => data,
    }
}
