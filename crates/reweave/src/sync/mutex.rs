//! Mutual exclusion.

use std::fmt;
use std::mem::ManuallyDrop;
use std::ops::{Deref, DerefMut};
use std::sync::{self, LockResult, TryLockResult};

use super::{got, map, map_try};
use crate::told::{self, Mark};

/// `std::sync::Mutex`, told to the recorder.
#[derive(Default)]
pub struct Mutex<T: ?Sized> {
    pub(super) mark: Mark,
    pub(super) inner: sync::Mutex<T>,
}

/// `std::sync::MutexGuard`, told to the recorder.
#[must_use = "if unused the Mutex will immediately unlock"]
pub struct MutexGuard<'a, T: ?Sized> {
    pub(super) inner: ManuallyDrop<sync::MutexGuard<'a, T>>,
    pub(super) lock: &'a Mutex<T>,
}

// SAFETY: as of std's guard: what it gives to other threads is a reference to the data. The lock is not reachable through it.
unsafe impl<T: ?Sized + Sync> Sync for MutexGuard<'_, T> {}

impl<T> Mutex<T> {
    /// A mutex that nobody holds.
    pub const fn new(value: T) -> Mutex<T> {
        Mutex { mark: Mark::new(), inner: sync::Mutex::new(value) }
    }

    /// What is inside.
    pub fn into_inner(self) -> LockResult<T> {
        self.inner.into_inner()
    }
}

impl<T: ?Sized> Mutex<T> {
    /// Waits until nobody holds the mutex, and holds it.
    pub fn lock(&self) -> LockResult<MutexGuard<'_, T>> {
        let told = told::lock(&self.mark, false);
        let result = self.inner.lock();
        if told {
            told::end();
        }
        map(result, |inner| self.guard(inner))
    }

    /// Holds the mutex if nobody does.
    pub fn try_lock(&self) -> TryLockResult<MutexGuard<'_, T>> {
        let told = told::begin();
        let result = self.inner.try_lock();
        if told {
            told::tried(&self.mark, false, got(&result));
        }
        map_try(result, |inner| self.guard(inner))
    }

    /// Whether somebody panicked who held it.
    pub fn is_poisoned(&self) -> bool {
        self.inner.is_poisoned()
    }

    /// Forgets that somebody panicked who held it.
    pub fn clear_poison(&self) {
        self.inner.clear_poison();
    }

    /// What is inside, which nobody else can reach.
    pub fn get_mut(&mut self) -> LockResult<&mut T> {
        self.inner.get_mut()
    }

    pub(super) fn guard<'a>(&'a self, inner: sync::MutexGuard<'a, T>) -> MutexGuard<'a, T> {
        MutexGuard { inner: ManuallyDrop::new(inner), lock: self }
    }
}

impl<T> From<T> for Mutex<T> {
    fn from(value: T) -> Mutex<T> {
        Mutex::new(value)
    }
}

impl<T: ?Sized + fmt::Debug> fmt::Debug for Mutex<T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.inner.fmt(f)
    }
}

impl<T: ?Sized> Deref for MutexGuard<'_, T> {
    type Target = T;

    fn deref(&self) -> &T {
        &self.inner
    }
}

impl<T: ?Sized> DerefMut for MutexGuard<'_, T> {
    fn deref_mut(&mut self) -> &mut T {
        &mut self.inner
    }
}

impl<T: ?Sized> Drop for MutexGuard<'_, T> {
    fn drop(&mut self) {
        let told = told::begin();
        // SAFETY: nobody uses it afterwards.
        unsafe { ManuallyDrop::drop(&mut self.inner) };
        if told {
            told::unlocked(&self.lock.mark);
        }
    }
}

impl<T: ?Sized + fmt::Debug> fmt::Debug for MutexGuard<'_, T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        (**self).fmt(f)
    }
}

impl<T: ?Sized + fmt::Display> fmt::Display for MutexGuard<'_, T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        (**self).fmt(f)
    }
}
