//! Locks that many readers share.

use std::cell::{Cell, UnsafeCell};
use std::fmt;
use std::mem::ManuallyDrop;
use std::ops::{Deref, DerefMut};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{self, LockResult, PoisonError, TryLockError, TryLockResult};

use reweave_explore::{Data, Init, Op, Outcome, Watch, tag};

use super::super::{data, host, spin};
use super::{Id, given_up};

/// `std::sync::RwLock`, explored. A reader may have to wait for a waiting writer, or not: std leaves it open.
pub struct RwLock<T: ?Sized> {
    id: Id,
    real: sync::RwLock<()>,
    poisoned: AtomicBool,
    data: UnsafeCell<T>,
}

// SAFETY: as std's: a writer has the data alone, and readers only look at it.
unsafe impl<T: ?Sized + Send> Send for RwLock<T> {}
// SAFETY: the same.
unsafe impl<T: ?Sized + Send + Sync> Sync for RwLock<T> {}

/// `std::sync::RwLockReadGuard`, explored.
#[must_use = "if unused the RwLock will immediately unlock"]
pub struct RwLockReadGuard<'a, T: ?Sized> {
    lock: &'a RwLock<T>,
    _real: Option<sync::RwLockReadGuard<'a, ()>>,
}

/// `std::sync::RwLockWriteGuard`, explored.
#[must_use = "if unused the RwLock will immediately unlock"]
pub struct RwLockWriteGuard<'a, T: ?Sized> {
    lock: &'a RwLock<T>,
    _real: Option<sync::RwLockWriteGuard<'a, ()>>,
    unwinding: bool,
    changed: Cell<bool>,
    observed: u64,
}

// SAFETY: as of std's guards.
unsafe impl<T: ?Sized + Sync> Sync for RwLockReadGuard<'_, T> {}
// SAFETY: as of std's guards.
unsafe impl<T: ?Sized + Sync> Sync for RwLockWriteGuard<'_, T> {}

impl<T> RwLock<T> {
    /// A lock that nobody holds.
    pub fn new(value: T) -> RwLock<T> {
        let id = Id::new("rwlock", Init::RwLock(data::of(&value)));
        RwLock {
            id,
            real: sync::RwLock::new(()),
            poisoned: AtomicBool::new(false),
            data: UnsafeCell::new(value),
        }
    }

    /// What is inside.
    #[track_caller]
    pub fn into_inner(self) -> LockResult<T> {
        let poisoned = self.observe();
        result(self.data.into_inner(), poisoned)
    }
}
fn result<A>(inside: A, poisoned: bool) -> LockResult<A> {
    if poisoned { Err(PoisonError::new(inside)) } else { Ok(inside) }
}
fn failed(outcome: Outcome) -> bool {
    outcome.tag & tag::FAILED != 0
}

impl<T: ?Sized> RwLock<T> {
    /// Waits until nobody writes, and reads.
    #[track_caller]
    pub fn read(&self) -> LockResult<RwLockReadGuard<'_, T>> {
        if let Some(lock) = self.id.get() {
            spin::stop();
            return self.shared(host::step(Op::ReadLock { lock }));
        }
        let real = self.real.read().unwrap_or_else(PoisonError::into_inner);
        result(RwLockReadGuard { lock: self, _real: Some(real) }, self.poisoned.load(Ordering::Relaxed))
    }

    /// Reads if nobody writes.
    #[track_caller]
    pub fn try_read(&self) -> TryLockResult<RwLockReadGuard<'_, T>> {
        if let Some(lock) = self.id.get() {
            let outcome = host::step(Op::TryReadLock { lock });
            if failed(outcome) {
                spin::saw(Watch::Held(lock));
                return Err(TryLockError::WouldBlock);
            }
            spin::stop();
            return Ok(self.shared(outcome)?);
        }
        let real = match self.real.try_read() {
            Ok(real) => real,
            Err(TryLockError::Poisoned(poisoned)) => poisoned.into_inner(),
            Err(TryLockError::WouldBlock) => return Err(TryLockError::WouldBlock),
        };
        Ok(result(RwLockReadGuard { lock: self, _real: Some(real) }, self.poisoned.load(Ordering::Relaxed))?)
    }

    /// Waits until nobody reads or writes, and writes.
    #[track_caller]
    pub fn write(&self) -> LockResult<RwLockWriteGuard<'_, T>> {
        if let Some(lock) = self.id.get() {
            spin::stop();
            return self.alone(host::step(Op::WriteLock { lock }));
        }
        let real = self.real.write().unwrap_or_else(PoisonError::into_inner);
        result(self.writer(Some(real), 0), self.poisoned.load(Ordering::Relaxed))
    }

    /// Writes if nobody reads or writes.
    #[track_caller]
    pub fn try_write(&self) -> TryLockResult<RwLockWriteGuard<'_, T>> {
        if let Some(lock) = self.id.get() {
            let outcome = host::step(Op::TryWriteLock { lock });
            if failed(outcome) {
                spin::saw(Watch::Held(lock));
                return Err(TryLockError::WouldBlock);
            }
            spin::stop();
            return Ok(self.alone(outcome)?);
        }
        let real = match self.real.try_write() {
            Ok(real) => real,
            Err(TryLockError::Poisoned(poisoned)) => poisoned.into_inner(),
            Err(TryLockError::WouldBlock) => return Err(TryLockError::WouldBlock),
        };
        Ok(result(self.writer(Some(real), 0), self.poisoned.load(Ordering::Relaxed))?)
    }

    /// Whether somebody panicked who wrote.
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
        let outcome = host::step(Op::TryWriteLock { lock });
        if outcome.tag & tag::FAILED == 0 {
            host::step(Op::WriteUnlock { lock, data: Data::Version, poison: false });
        }
        outcome.tag & tag::POISONED != 0
    }

    /// Forgets that somebody panicked who wrote.
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
        result(self.data.get_mut(), poisoned)
    }
    fn shared(&self, outcome: Outcome) -> LockResult<RwLockReadGuard<'_, T>> {
        result(RwLockReadGuard { lock: self, _real: None }, outcome.tag & tag::POISONED != 0)
    }
    fn alone(&self, outcome: Outcome) -> LockResult<RwLockWriteGuard<'_, T>> {
        result(self.writer(None, outcome.value), outcome.tag & tag::POISONED != 0)
    }
    fn writer<'a>(
        &'a self,
        real: Option<sync::RwLockWriteGuard<'a, ()>>,
        observed: u64,
    ) -> RwLockWriteGuard<'a, T> {
        let unwinding = host::panicking();
        RwLockWriteGuard { lock: self, _real: real, unwinding, changed: Cell::new(false), observed }
    }
}

impl<'a, T: ?Sized> RwLockWriteGuard<'a, T> {
    /// Goes on as a reader, with no other writer in between.
    #[track_caller]
    pub fn downgrade(guard: RwLockWriteGuard<'a, T>) -> RwLockReadGuard<'a, T> {
        let lock = guard.lock;
        if let Some(id) = lock.id.get() {
            spin::stop();
            let data = given_up(&*guard, guard.changed.get(), guard.observed);
            // Its end would give the lock up.
            std::mem::forget(guard);
            host::step(Op::Downgrade { lock: id, data });
            return RwLockReadGuard { lock, _real: None };
        }
        let mut guard = ManuallyDrop::new(guard);
        let real = guard._real.take();
        RwLockReadGuard { lock, _real: real.map(sync::RwLockWriteGuard::downgrade) }
    }
}

impl<T: ?Sized> Drop for RwLockReadGuard<'_, T> {
    fn drop(&mut self) {
        if let Some(lock) = self.lock.id.get() {
            spin::stop();
            host::step(Op::ReadUnlock { lock });
        }
    }
}

impl<T: ?Sized> Drop for RwLockWriteGuard<'_, T> {
    fn drop(&mut self) {
        let poison = !self.unwinding && host::panicking();
        if poison {
            self.lock.poisoned.store(true, Ordering::Relaxed);
        }
        if let Some(lock) = self.lock.id.get() {
            spin::stop();
            let data = given_up(&**self, self.changed.get(), self.observed);
            host::step(Op::WriteUnlock { lock, data, poison });
        }
    }
}

impl<T: ?Sized> Deref for RwLockReadGuard<'_, T> {
    type Target = T;

    fn deref(&self) -> &T {
        // SAFETY: nobody writes while the guard is there.
        unsafe { &*self.lock.data.get() }
    }
}

impl<T: ?Sized> Deref for RwLockWriteGuard<'_, T> {
    type Target = T;

    fn deref(&self) -> &T {
        // SAFETY: the guard has the data alone.
        unsafe { &*self.lock.data.get() }
    }
}

impl<T: ?Sized> DerefMut for RwLockWriteGuard<'_, T> {
    fn deref_mut(&mut self) -> &mut T {
        self.changed.set(true);
        // SAFETY: the guard has the data alone.
        unsafe { &mut *self.lock.data.get() }
    }
}

impl<T: Default> Default for RwLock<T> {
    fn default() -> RwLock<T> {
        RwLock::new(T::default())
    }
}

impl<T> From<T> for RwLock<T> {
    fn from(value: T) -> RwLock<T> {
        RwLock::new(value)
    }
}

impl<T: ?Sized> fmt::Debug for RwLock<T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("RwLock").finish_non_exhaustive()
    }
}

impl<T: ?Sized + fmt::Debug> fmt::Debug for RwLockReadGuard<'_, T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        (**self).fmt(f)
    }
}

impl<T: ?Sized + fmt::Debug> fmt::Debug for RwLockWriteGuard<'_, T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        (**self).fmt(f)
    }
}
