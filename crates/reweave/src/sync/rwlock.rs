//! Many readers or one writer.

use std::fmt;
use std::mem::ManuallyDrop;
use std::ops::{Deref, DerefMut};
use std::sync::{self, LockResult, TryLockResult};

use super::{got, map, map_try};
use crate::told::{self, Mark};

/// `std::sync::RwLock`, told to the recorder.
#[derive(Default)]
pub struct RwLock<T: ?Sized> {
    mark: Mark,
    inner: sync::RwLock<T>,
}

/// `std::sync::RwLockReadGuard`, told to the recorder.
#[must_use = "if unused the RwLock will immediately unlock"]
pub struct RwLockReadGuard<'a, T: ?Sized> {
    inner: ManuallyDrop<sync::RwLockReadGuard<'a, T>>,
    mark: &'a Mark,
}

/// `std::sync::RwLockWriteGuard`, told to the recorder.
#[must_use = "if unused the RwLock will immediately unlock"]
pub struct RwLockWriteGuard<'a, T: ?Sized> {
    inner: ManuallyDrop<sync::RwLockWriteGuard<'a, T>>,
    mark: &'a Mark,
}

impl<T> RwLock<T> {
    /// A lock that nobody holds.
    pub const fn new(value: T) -> RwLock<T> {
        RwLock { mark: Mark::new(), inner: sync::RwLock::new(value) }
    }

    /// What is inside.
    pub fn into_inner(self) -> LockResult<T> {
        self.inner.into_inner()
    }
}

impl<T: ?Sized> RwLock<T> {
    /// Waits until nobody writes, and holds the lock for reading.
    pub fn read(&self) -> LockResult<RwLockReadGuard<'_, T>> {
        let told = told::lock(&self.mark, true);
        let result = self.inner.read();
        if told {
            told::end();
        }
        map(result, |inner| self.reader(inner))
    }

    /// Waits until nobody holds the lock, and holds it for writing.
    pub fn write(&self) -> LockResult<RwLockWriteGuard<'_, T>> {
        let told = told::lock(&self.mark, false);
        let result = self.inner.write();
        if told {
            told::end();
        }
        map(result, |inner| self.writer(inner))
    }

    /// Holds the lock for reading, if nobody writes.
    pub fn try_read(&self) -> TryLockResult<RwLockReadGuard<'_, T>> {
        let told = told::begin();
        let result = self.inner.try_read();
        if told {
            told::tried(&self.mark, true, got(&result));
        }
        map_try(result, |inner| self.reader(inner))
    }

    /// Holds the lock for writing, if nobody holds it.
    pub fn try_write(&self) -> TryLockResult<RwLockWriteGuard<'_, T>> {
        let told = told::begin();
        let result = self.inner.try_write();
        if told {
            told::tried(&self.mark, false, got(&result));
        }
        map_try(result, |inner| self.writer(inner))
    }

    /// Whether somebody panicked who wrote.
    pub fn is_poisoned(&self) -> bool {
        self.inner.is_poisoned()
    }

    /// Forgets that somebody panicked who wrote.
    pub fn clear_poison(&self) {
        self.inner.clear_poison();
    }

    /// What is inside, which nobody else can reach.
    pub fn get_mut(&mut self) -> LockResult<&mut T> {
        self.inner.get_mut()
    }

    fn reader<'a>(&'a self, inner: sync::RwLockReadGuard<'a, T>) -> RwLockReadGuard<'a, T> {
        RwLockReadGuard { inner: ManuallyDrop::new(inner), mark: &self.mark }
    }

    fn writer<'a>(&'a self, inner: sync::RwLockWriteGuard<'a, T>) -> RwLockWriteGuard<'a, T> {
        RwLockWriteGuard { inner: ManuallyDrop::new(inner), mark: &self.mark }
    }
}

impl<T> From<T> for RwLock<T> {
    fn from(value: T) -> RwLock<T> {
        RwLock::new(value)
    }
}

impl<T: ?Sized + fmt::Debug> fmt::Debug for RwLock<T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.inner.fmt(f)
    }
}

/// What both guards are alike in.
macro_rules! guard {
    ($guard:ident) => {
        impl<T: ?Sized> Deref for $guard<'_, T> {
            type Target = T;

            fn deref(&self) -> &T {
                &self.inner
            }
        }

        impl<T: ?Sized> Drop for $guard<'_, T> {
            fn drop(&mut self) {
                let told = told::begin();
                // SAFETY: nobody uses it afterwards.
                unsafe { ManuallyDrop::drop(&mut self.inner) };
                if told {
                    told::unlocked(self.mark);
                }
            }
        }

        impl<T: ?Sized + fmt::Debug> fmt::Debug for $guard<'_, T> {
            fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                (**self).fmt(f)
            }
        }

        impl<T: ?Sized + fmt::Display> fmt::Display for $guard<'_, T> {
            fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                (**self).fmt(f)
            }
        }
    };
}

guard!(RwLockReadGuard);
guard!(RwLockWriteGuard);

impl<T: ?Sized> DerefMut for RwLockWriteGuard<'_, T> {
    fn deref_mut(&mut self) -> &mut T {
        &mut self.inner
    }
}
