//! Condition variables.

use std::fmt;
use std::mem::ManuallyDrop;
use std::sync::{self, LockResult, PoisonError};
use std::time::{Duration, Instant};

use super::MutexGuard;
use super::map;
use crate::told::{self, Mark};

/// `std::sync::Condvar`, told to the recorder.
#[derive(Default)]
pub struct Condvar {
    mark: Mark,
    inner: sync::Condvar,
}

/// Whether a wait ended because its time was up.
#[derive(Debug, PartialEq, Eq, Copy, Clone)]
pub struct WaitTimeoutResult(bool);

impl WaitTimeoutResult {
    /// Whether it did.
    #[must_use]
    pub fn timed_out(&self) -> bool {
        self.0
    }
}

impl Condvar {
    /// A condition variable that nobody waits for.
    pub const fn new() -> Condvar {
        Condvar { mark: Mark::new(), inner: sync::Condvar::new() }
    }

    /// Gives the lock up, waits until it is notified, and holds the lock again.
    pub fn wait<'a, T>(&self, guard: MutexGuard<'a, T>) -> LockResult<MutexGuard<'a, T>> {
        map(self.wait_for(guard, None), |(guard, _)| guard)
    }

    /// Waits as long as the condition holds.
    pub fn wait_while<'a, T, F>(
        &self,
        mut guard: MutexGuard<'a, T>,
        mut condition: F,
    ) -> LockResult<MutexGuard<'a, T>>
    where
        F: FnMut(&mut T) -> bool,
    {
        while condition(&mut *guard) {
            guard = self.wait(guard)?;
        }
        Ok(guard)
    }

    /// Waits, but not longer than so many milliseconds; whether it was notified.
    #[deprecated(since = "1.6.0", note = "replaced by `std::sync::Condvar::wait_timeout`")]
    pub fn wait_timeout_ms<'a, T>(
        &self,
        guard: MutexGuard<'a, T>,
        ms: u32,
    ) -> LockResult<(MutexGuard<'a, T>, bool)> {
        let result = self.wait_timeout(guard, Duration::from_millis(u64::from(ms)));
        map(result, |(guard, result)| (guard, !result.timed_out()))
    }

    /// Waits, but not longer than this.
    pub fn wait_timeout<'a, T>(
        &self,
        guard: MutexGuard<'a, T>,
        dur: Duration,
    ) -> LockResult<(MutexGuard<'a, T>, WaitTimeoutResult)> {
        map(self.wait_for(guard, Some(dur)), |(guard, timed_out)| (guard, WaitTimeoutResult(timed_out)))
    }

    /// Waits as long as the condition holds, but not longer than this.
    pub fn wait_timeout_while<'a, T, F>(
        &self,
        mut guard: MutexGuard<'a, T>,
        dur: Duration,
        mut condition: F,
    ) -> LockResult<(MutexGuard<'a, T>, WaitTimeoutResult)>
    where
        F: FnMut(&mut T) -> bool,
    {
        let start = Instant::now();
        loop {
            if !condition(&mut *guard) {
                return Ok((guard, WaitTimeoutResult(false)));
            }
            let Some(left) = dur.checked_sub(start.elapsed()) else {
                return Ok((guard, WaitTimeoutResult(true)));
            };
            guard = self.wait_timeout(guard, left)?.0;
        }
    }

    /// Wakes one who waits.
    pub fn notify_one(&self) {
        if !told::notify(&self.mark, false) {
            self.inner.notify_one();
        }
    }

    /// Wakes all who wait.
    pub fn notify_all(&self) {
        if !told::notify(&self.mark, true) {
            self.inner.notify_all();
        }
    }

    fn wait_for<'a, T>(
        &self,
        guard: MutexGuard<'a, T>,
        time: Option<Duration>,
    ) -> LockResult<(MutexGuard<'a, T>, bool)> {
        let lock = guard.lock;
        let mut guard = ManuallyDrop::new(guard);
        if told::begin() {
            // SAFETY: the guard around it is never dropped, nor used again.
            unsafe { ManuallyDrop::drop(&mut guard.inner) };
            let timed_out = told::wait(&self.mark, &lock.mark, time);
            let result = lock.inner.lock();
            told::end();
            return map(result, |inner| (lock.guard(inner), timed_out));
        }
        // SAFETY: as above.
        let inner = unsafe { ManuallyDrop::take(&mut guard.inner) };
        match time {
            None => map(self.inner.wait(inner), |inner| (lock.guard(inner), false)),
            Some(time) => match self.inner.wait_timeout(inner, time) {
                Ok((inner, result)) => Ok((lock.guard(inner), result.timed_out())),
                Err(poisoned) => {
                    let (inner, result) = poisoned.into_inner();
                    Err(PoisonError::new((lock.guard(inner), result.timed_out())))
                }
            },
        }
    }
}

impl fmt::Debug for Condvar {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Condvar").finish_non_exhaustive()
    }
}
