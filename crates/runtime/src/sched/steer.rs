//! The scheduler's side of a forced schedule: the baton goes where the plan wants it.

use core::sync::atomic::Ordering::{Relaxed, SeqCst};

use crate::record::recording::Inside;
use crate::sched::baton::key;
use crate::sched::forced::Why;
use crate::sched::thread::{state, thread};

impl Inside {
    /// A point of the running thread while a schedule is forced; whether the plan decides who runs.
    #[cold]
    pub(crate) fn steered(&mut self, code: usize) -> bool {
        let me = self.me.index();
        loop {
            let Some(forced) = &mut self.core().forced else { return false };
            forced.arrives(me, code);
            match forced.wanted() {
                None => return false,
                Some(planned) if forced.index_of(planned) == Some(me) => return true,
                Some(_) if self.me.pinned.load(Relaxed) != 0 => return true,
                Some(_) => self.give_way(),
            }
        }
    }

    /// A point where there is none otherwise, for a place that the plan names.
    #[inline]
    pub(crate) fn point_if_named(&mut self, code: usize) {
        if let Some(forced) = &mut self.core().forced
            && forced.names(code)
            && self.me.pinned.load(Relaxed) == 0
        {
            self.steered(code);
        }
    }

    /// The thread is about to wait for something outside of the program.
    #[inline]
    pub(crate) fn passes(&mut self, code: usize) {
        let me = self.me.index();
        if let Some(forced) = &mut self.core().forced {
            forced.arrives(me, code);
        }
    }

    /// The thread came back from a call, with the baton: the plan may want another one.
    pub(crate) fn comes_back(&mut self) {
        let me = self.me.index();
        while self.me.pinned.load(Relaxed) == 0
            && let Some(forced) = &mut self.core().forced
            && let Some(planned) = forced.wanted()
            && forced.index_of(planned) != Some(me)
        {
            self.give_way();
        }
    }

    /// Between two events of one call: the plan may want another thread there. Only what is done after this may show in the
    /// second event.
    #[inline]
    pub(crate) fn between_events(&mut self) {
        if self.core().forced.is_some() {
            self.comes_back();
        }
    }

    /// The same where the second event is one that the plan may want the thread to stand before.
    #[inline]
    pub(crate) fn between_events_at(&mut self, code: usize) {
        if self.core().forced.is_some() && self.me.pinned.load(Relaxed) == 0 {
            self.steered(code);
        }
    }

    /// A thread was told a time in the recorded run that is over by now.
    pub(crate) fn clock_goes_back(&mut self) {
        let me = self.me.index();
        if let Some(forced) = self.core().forced.as_mut().filter(|forced| forced.active) {
            forced.spoil(Why::ClockBack, me);
        }
    }

    /// Lets the thread run that the plan wants, and waits until it wants this one.
    fn give_way(&mut self) {
        self.settle();
        match self.choose(None) {
            Some(next) if next == self.me.index() => {}
            Some(next) => self.give_to(next),
            // It is in a call, and takes the baton when it comes back.
            None => {
                if !self.let_go() {
                    self.park();
                }
            }
        }
    }

    /// The thread that the plan wants, where it decides: none in it where that one is in a call.
    pub(crate) fn steer(&mut self) -> Option<Option<usize>> {
        loop {
            let forced = self.core().forced.as_mut()?;
            let planned = forced.wanted()?;
            let Some(index) = forced.index_of(planned) else {
                forced.give_up(Why::NotCreated, 0, 0);
                continue;
            };
            let code = forced.last.as_ref().get(index).copied().unwrap_or(0);
            let wanted = thread(index);
            match wanted.state.load(SeqCst) {
                state::READY => return Some(Some(index)),
                state::AWAY => return Some(None),
                state::BLOCKED if wanted.deadline.load(Relaxed) != 0 => {
                    // Nobody else runs: its time passes at once.
                    crate::sched::clock::reach(wanted.deadline.load(Relaxed));
                    wanted.timed_out.store(true, Relaxed);
                    wanted.state.store(state::READY, SeqCst);
                    return Some(Some(index));
                }
                state::BLOCKED => forced.give_up(Why::Blocked, index, code),
                _ => forced.give_up(Why::Ended, index, code),
            }
        }
    }
}

/// Whether a thread waits for a lock.
pub(crate) fn waits_for_lock(index: usize) -> bool {
    let thread = thread(index);
    thread.state.load(SeqCst) == state::BLOCKED && thread.key.load(Relaxed) & 15 == key::LOCK
}

/// Whether a thread waits for a condition variable, without a deadline.
pub(crate) fn sleeps(index: usize) -> bool {
    let thread = thread(index);
    thread.state.load(SeqCst) == state::BLOCKED
        && thread.key.load(Relaxed) & 15 == key::CONDITION
        && thread.deadline.load(Relaxed) == 0
}
