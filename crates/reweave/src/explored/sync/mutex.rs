//! Mutual exclusion.

use std::cell::{Cell, UnsafeCell};
use std::fmt;
use std::mem::ManuallyDrop;
use std::ops::{Deref, DerefMut};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{self, LockResult, PoisonError, TryLockError, TryLockResult};

use reweave_explore::{Data, Init, ObjectId, Op, Outcome, Watch, tag};

use super::super::{data, host, spin};
use super::{Id, given_up};

/// `std::sync::Mutex`, explored.
pub struct Mutex<T: ?Sized> {
    pub(super) id: Id,
    /// Holds others off where nothing is explored.
    real: sync::Mutex<()>,
    poisoned: AtomicBool,
    data: UnsafeCell<T>,
}

// SAFETY: as std's: whoever holds it has the data alone, by the law of steps or by the real lock.
unsafe impl<T: ?Sized + Send> Send for Mutex<T> {}
// SAFETY: the same.
unsafe impl<T: ?Sized + Send> Sync for Mutex<T> {}

/// The guard of the real lock, where nothing is explored.
type Real<'a> = Option<sync::MutexGuard<'a, ()>>;

/// `std::sync::MutexGuard`, explored.
#[must_use = "if unused the Mutex will immediately unlock"]
pub struct MutexGuard<'a, T: ?Sized> {
    pub(super) lock: &'a Mutex<T>,
    _real: Real<'a>,
    /// Whether the thread was unwinding when it got the lock.
    unwinding: bool,
    changed: Cell<bool>,
    observed: u64,
}

// SAFETY: as of std's guard: what it gives to other threads is a reference to the data.
unsafe impl<T: ?Sized + Sync> Sync for MutexGuard<'_, T> {}

impl<T> Mutex<T> {
    /// A mutex that nobody holds.
    pub fn new(value: T) -> Mutex<T> {
        let id = Id::new("mutex", Init::Lock(data::of(&value)));
        Mutex {
            id,
            real: sync::Mutex::new(()),
            poisoned: AtomicBool::new(false),
            data: UnsafeCell::new(value),
        }
    }

    /// What is inside.
    #[track_caller]
    pub fn into_inner(self) -> LockResult<T> {
        let poisoned = self.observe();
        let value = self.data.into_inner();
        if poisoned { Err(PoisonError::new(value)) } else { Ok(value) }
    }
}

impl<T: ?Sized> Mutex<T> {
    /// Waits until nobody holds the mutex, and holds it.
    #[track_caller]
    pub fn lock(&self) -> LockResult<MutexGuard<'_, T>> {
        if let Some(lock) = self.id.get() {
            spin::stop();
            return self.locked(host::step(Op::Lock { lock, recursive: false }));
        }
        assert!(
            !host::scoped_now() || !matches!(self.real.try_lock(), Err(TryLockError::WouldBlock)),
            "a call on an object with a specification waits for a lock"
        );
        let real = self.real.lock().unwrap_or_else(PoisonError::into_inner);
        self.had(real)
    }

    /// Holds the mutex if nobody does.
    #[track_caller]
    pub fn try_lock(&self) -> TryLockResult<MutexGuard<'_, T>> {
        if let Some(lock) = self.id.get() {
            let outcome = host::step(Op::TryLock { lock, recursive: false, may_fail: false });
            if outcome.tag & tag::FAILED != 0 {
                spin::saw(Watch::Held(lock));
                return Err(TryLockError::WouldBlock);
            }
            spin::stop();
            return Ok(self.locked(outcome)?);
        }
        match self.real.try_lock() {
            Ok(real) => Ok(self.had(real)?),
            Err(TryLockError::Poisoned(poisoned)) => Ok(self.had(poisoned.into_inner())?),
            Err(TryLockError::WouldBlock) => Err(TryLockError::WouldBlock),
        }
    }

    /// Whether somebody panicked who held it.
    #[track_caller]
    pub fn is_poisoned(&self) -> bool {
        if let Some(lock) = self.id.get() {
            spin::stop();
            return host::step(Op::IsPoisoned { lock }).tag & tag::POISONED != 0;
        }
        self.poisoned.load(Ordering::Relaxed)
    }

    /// Makes a step of looking at data that nobody else can reach: what it is depends on who had it before.
    #[track_caller]
    fn observe(&self) -> bool {
        let Some(lock) = self.id.get() else { return self.poisoned.load(Ordering::Relaxed) };
        spin::stop();
        let outcome = host::step(Op::TryLock { lock, recursive: false, may_fail: false });
        if outcome.tag & tag::FAILED == 0 {
            host::step(Op::Unlock { lock, data: Data::Version, poison: false });
        }
        outcome.tag & tag::POISONED != 0
    }

    /// Forgets that somebody panicked who held it.
    #[track_caller]
    pub fn clear_poison(&self) {
        if let Some(lock) = self.id.get() {
            spin::stop();
            host::step(Op::ClearPoison { lock });
        }
        self.poisoned.store(false, Ordering::Relaxed);
    }

    /// What is inside, which nobody else can reach.
    #[track_caller]
    pub fn get_mut(&mut self) -> LockResult<&mut T> {
        let poisoned = self.observe();
        let value = self.data.get_mut();
        if poisoned { Err(PoisonError::new(value)) } else { Ok(value) }
    }

    fn guard<'a>(&'a self, real: Real<'a>, observed: u64) -> MutexGuard<'a, T> {
        let unwinding = host::panicking();
        MutexGuard { lock: self, _real: real, unwinding, changed: Cell::new(false), observed }
    }

    /// The guard of a lock that the search gave.
    pub(super) fn locked(&self, outcome: Outcome) -> LockResult<MutexGuard<'_, T>> {
        let guard = self.guard(None, outcome.value);
        if outcome.tag & tag::POISONED != 0 { Err(PoisonError::new(guard)) } else { Ok(guard) }
    }

    fn had<'a>(&'a self, real: sync::MutexGuard<'a, ()>) -> LockResult<MutexGuard<'a, T>> {
        let guard = self.guard(Some(real), 0);
        if self.poisoned.load(Ordering::Relaxed) { Err(PoisonError::new(guard)) } else { Ok(guard) }
    }
}

impl<T: ?Sized> MutexGuard<'_, T> {
    fn poisons(&self) -> bool {
        let poisons = !self.unwinding && host::panicking();
        if poisons {
            self.lock.poisoned.store(true, Ordering::Relaxed);
        }
        poisons
    }

    fn data(&self) -> Data {
        given_up(&**self, self.changed.get(), self.observed)
    }
}

impl<'a, T: ?Sized> MutexGuard<'a, T> {
    /// Takes the guard apart for a wait, which gives the lock up: the lock, its object and data, and the real guard.
    pub(super) fn wait(self) -> (&'a Mutex<T>, Option<(ObjectId, Data)>, Real<'a>) {
        let object = self.lock.id.get().map(|lock| (lock, self.data()));
        let mut guard = ManuallyDrop::new(self);
        let real = guard._real.take();
        (guard.lock, object, real)
    }

    /// The guard after a wait on the real lock.
    pub(super) fn again(lock: &'a Mutex<T>, real: sync::MutexGuard<'a, ()>) -> LockResult<MutexGuard<'a, T>> {
        lock.had(real)
    }
}

impl<T: ?Sized> Drop for MutexGuard<'_, T> {
    fn drop(&mut self) {
        let poison = self.poisons();
        if let Some(lock) = self.lock.id.get() {
            spin::stop();
            host::step(Op::Unlock { lock, data: self.data(), poison });
        }
    }
}

impl<T: ?Sized> Deref for MutexGuard<'_, T> {
    type Target = T;

    fn deref(&self) -> &T {
        // SAFETY: the guard holds the lock.
        unsafe { &*self.lock.data.get() }
    }
}

impl<T: ?Sized> DerefMut for MutexGuard<'_, T> {
    fn deref_mut(&mut self) -> &mut T {
        self.changed.set(true);
        // SAFETY: the guard holds the lock.
        unsafe { &mut *self.lock.data.get() }
    }
}

impl<T: Default> Default for Mutex<T> {
    fn default() -> Mutex<T> {
        Mutex::new(T::default())
    }
}

impl<T> From<T> for Mutex<T> {
    fn from(value: T) -> Mutex<T> {
        Mutex::new(value)
    }
}

impl<T: ?Sized> fmt::Debug for Mutex<T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Mutex").finish_non_exhaustive()
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
