//! Condition variables.

use std::fmt;
use std::sync::{self, LockResult, PoisonError};
use std::time::Duration;

use reweave_explore::{Init, Op, Outcome, Watch, tag};

use super::super::{host, spin};
use super::{Id, MutexGuard};

/// `std::sync::Condvar`, explored.
pub struct Condvar {
    id: Id,
    real: sync::Condvar,
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
    pub fn new() -> Condvar {
        Condvar { id: Id::new("condvar", Init::Condition), real: sync::Condvar::new() }
    }

    /// Gives the lock up, waits until it is notified, and holds the lock again.
    #[inline(always)]
    #[track_caller]
    pub fn wait<'a, T: ?Sized>(&self, guard: MutexGuard<'a, T>) -> LockResult<MutexGuard<'a, T>> {
        let round = self.round();
        match self.wait_for(guard, None, round) {
            Ok((guard, _)) => Ok(guard),
            Err(poisoned) => Err(PoisonError::new(poisoned.into_inner().0)),
        }
    }

    /// Waits as long as the condition holds.
    #[inline(always)]
    #[track_caller]
    pub fn wait_while<'a, T: ?Sized, F>(
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

    /// Waits, but not longer than this. In an exploration the time may be up at once, or never.
    #[inline(always)]
    #[track_caller]
    pub fn wait_timeout<'a, T: ?Sized>(
        &self,
        guard: MutexGuard<'a, T>,
        time: Duration,
    ) -> LockResult<(MutexGuard<'a, T>, WaitTimeoutResult)> {
        let round = self.round();
        self.wait_for(guard, Some(time), round)
    }

    /// Waits as long as the condition holds, but not longer than this.
    #[inline(always)]
    #[track_caller]
    pub fn wait_timeout_while<'a, T: ?Sized, F>(
        &self,
        mut guard: MutexGuard<'a, T>,
        time: Duration,
        mut condition: F,
    ) -> LockResult<(MutexGuard<'a, T>, WaitTimeoutResult)>
    where
        F: FnMut(&mut T) -> bool,
    {
        let start = std::time::Instant::now();
        loop {
            if !condition(&mut *guard) {
                return Ok((guard, WaitTimeoutResult(false)));
            }
            let left = if host::explored() { Some(time) } else { time.checked_sub(start.elapsed()) };
            let Some(left) = left else { return Ok((guard, WaitTimeoutResult(true))) };
            let (again, result) = self.wait_timeout(guard, left)?;
            guard = again;
            if host::explored() && result.timed_out() {
                let over = condition(&mut *guard);
                return Ok((guard, WaitTimeoutResult(over)));
            }
        }
    }

    /// Wakes one who waits.
    #[track_caller]
    pub fn notify_one(&self) {
        self.notify(false);
    }

    /// Wakes all who wait.
    #[track_caller]
    pub fn notify_all(&self) {
        self.notify(true);
    }

    #[track_caller]
    fn notify(&self, all: bool) {
        match self.id.get() {
            Some(condition) => {
                spin::stop();
                host::step(Op::Notify { condition, all });
            }
            None if all => self.real.notify_all(),
            None => self.real.notify_one(),
        }
    }

    /// Whether the caller waited here before, knowing as much.
    #[inline(always)]
    #[track_caller]
    fn round(&self) -> bool {
        self.id.get().is_some_and(|condition| spin::round(u64::from(condition.0), 0))
    }

    #[inline(never)]
    #[track_caller]
    fn wait_for<'a, T: ?Sized>(
        &self,
        guard: MutexGuard<'a, T>,
        time: Option<Duration>,
        round: bool,
    ) -> LockResult<(MutexGuard<'a, T>, WaitTimeoutResult)> {
        let (lock, object, real) = guard.wait();
        if let (Some(condition), Some((object, data))) = (self.id.get(), object) {
            let early = spin::early(round);
            let timed = time.is_some();
            let outcome = host::step(Op::Wait { condition, lock: object, data, timed, early });
            spin::saw(Watch::Value(object, outcome.value));
            let late = WaitTimeoutResult(outcome.tag & tag::TIMEOUT != 0);
            return pair(lock.locked(Outcome { tag: outcome.tag & !tag::TIMEOUT, ..outcome }), late);
        }
        assert!(!host::scoped_now(), "a call on an object with a specification waits for a condition");
        let Some(real) = real else { return pair(lock.lock(), WaitTimeoutResult(false)) };
        let (real, late) = match time {
            None => (self.real.wait(real).unwrap_or_else(PoisonError::into_inner), false),
            Some(time) => {
                let (real, late) = self.real.wait_timeout(real, time).unwrap_or_else(PoisonError::into_inner);
                (real, late.timed_out())
            }
        };
        pair(MutexGuard::again(lock, real), WaitTimeoutResult(late))
    }
}

fn pair<A, B>(result: LockResult<A>, with: B) -> LockResult<(A, B)> {
    match result {
        Ok(inside) => Ok((inside, with)),
        Err(poisoned) => Err(PoisonError::new((poisoned.into_inner(), with))),
    }
}

impl Default for Condvar {
    fn default() -> Condvar {
        Condvar::new()
    }
}

impl fmt::Debug for Condvar {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Condvar").finish_non_exhaustive()
    }
}
