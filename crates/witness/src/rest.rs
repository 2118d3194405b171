//! The state at rest: nobody can go on, so whoever sleeps sleeps for ever.
//!
//! A lock is given back by who holds it, but any thread may notify. So a wait that nothing woke yet is stuck for certain only
//! where every other thread has ended as it did, or is stuck itself, or was never made.

use reweave_trace::{EventId, Kind, Op, ThreadId};

use crate::{Failure, Machine, Refusal};

impl Machine<'_> {
    /// Whether `event` is what its thread does next, whatever it then has to wait for.
    pub fn stands_at(&self, event: EventId) -> Result<(), Refusal> {
        self.is_next(event)?;
        self.model_permits(event)
    }

    /// Whether `event` is a wait that sleeps: it has started, nothing has notified it since, and it does not end by itself.
    pub fn sleeps(&self, event: EventId) -> bool {
        let Op::Wait(condition) = self.trace().op(event) else { return false };
        self.ends_only_when_notified(event)
            && self.stands_at(event).is_ok()
            && !self.notified_since_start(event, condition)
    }

    /// Whether the wait sleeps, and the notification that woke it came before it had started.
    pub(crate) fn missed_its_waker(&self, wait: EventId) -> bool {
        self.sleeps(wait) && matches!(self.has_been_woken(wait), Err(Refusal::WokenTooEarly { .. }))
    }

    /// The thread whose notification woke the wait, if that is still to come.
    pub(crate) fn awaited_by_wait(&self, wait: EventId) -> Option<ThreadId> {
        let waker = self.links().wait(wait)?.waker.filter(|&waker| !self.has_run(waker))?;
        Some(self.trace().thread(waker))
    }

    /// Whether no thread can go on, or the first that can, may, or is not known to have ended.
    pub(crate) fn is_at_rest(&self) -> Result<(), Failure> {
        let threads = || (0..self.order().threads()).map(ThreadId::from_index);
        let ends_are_recorded = threads().any(|thread| self.has_recorded_end(thread));
        for thread in threads().filter(|&thread| self.has_started(thread).is_ok()) {
            let rests = match self.next(thread) {
                Some(event) => self.is_stuck(event),
                None => {
                    let known = !ends_are_recorded || self.has_recorded_end(thread);
                    let empty = self.order().of(thread).is_empty();
                    empty || known && self.has_ended(thread).is_ok()
                }
            };
            if !rests {
                return Err(Failure::NotAtRest { thread, next: self.next(thread) });
            }
        }
        Ok(())
    }

    fn has_recorded_end(&self, thread: ThreadId) -> bool {
        self.order().of(thread).last().is_some_and(|&last| self.trace().kind(last) == Kind::End)
    }

    /// Whether the next event of a thread waits for what only another thread can give.
    fn is_stuck(&self, event: EventId) -> bool {
        if self.stands_at(event).is_err() {
            return false;
        }
        match self.trace().op(event) {
            Op::Acquire(_) | Op::SharedAcquire(_) => self.lock_permits(event).is_err(),
            Op::Join(child) => matches!(self.has_ended(child), Err(Refusal::NotEnded)),
            Op::Wait(_) => self.sleeps(event),
            _ => false,
        }
    }

    /// Whether the wait was woken, and is not one that a deadline ends: those look at the clock when they start, so that
    /// what is right before them is no release.
    fn ends_only_when_notified(&self, wait: EventId) -> bool {
        self.links().wait(wait).is_some_and(|link| {
            let start = self.trace().kind(link.start);
            link.waker.is_some() && matches!(start, Kind::Release | Kind::SharedRelease)
        })
    }
}
