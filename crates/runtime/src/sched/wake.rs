//! Waking threads, and letting them wait on where what they were woken for is gone before they came to it.
//!
//! Whoever releases a lock wakes all that wait for it, so that the policy decides who gets it. One of them does, or somebody
//! else; the others would run only to find it taken and wait again, which for many threads is most of what they do. So who takes
//! the lock has them wait on: each switch is to a thread that can go on.

use core::sync::atomic::Ordering::{Relaxed, SeqCst};

use crate::record::recording::Inside;
use crate::sched::thread::{Thread, state, thread};

impl Inside {
    /// Lets threads that wait for `key` look again: all, or the one that the policy chooses; how many.
    pub(crate) fn wake(&mut self, key: u64, all: bool) -> usize {
        let core = self.core();
        let mut count = 0;
        for &index in core.live.as_mut().iter().take(core.live_count) {
            let thread = thread(index as usize);
            if thread.state.load(SeqCst) == state::BLOCKED && thread.key.load(Relaxed) == key {
                if let Some(room) = core.ready.as_mut().get_mut(count) {
                    *room = index;
                }
                count += 1;
            }
        }
        if count == 0 {
            return 0;
        }
        core.policy.woken();
        let ready = core.ready.as_ref();
        if all {
            for &index in ready.iter().take(count) {
                let thread = thread(index as usize);
                thread.roused.store(true, Relaxed);
                thread.state.store(state::READY, SeqCst);
            }
            core.roused += count;
            return count;
        }
        let index = |place: usize| ready.get(place).map_or(0, |&index| index as usize);
        let planned = core.forced.as_ref().filter(|forced| forced.active);
        let chosen = planned.and_then(|forced| forced.prefer(ready.get(..count)?));
        let chosen = chosen.unwrap_or_else(|| {
            core.policy.choose(count, |place| thread(index(place)).priority.load(Relaxed))
        });
        thread(index(chosen)).state.store(state::READY, SeqCst);
        1
    }

    /// Lets all threads that wait look again: what they wait for may have been done by a thread that is not recorded.
    pub(crate) fn rouse(&mut self) {
        let core = self.core();
        for &index in core.live.as_ref().iter().take(core.live_count) {
            let thread = thread(index as usize);
            if thread.state.load(SeqCst) == state::BLOCKED {
                core.roused += usize::from(!thread.roused.swap(true, Relaxed));
                thread.state.store(state::READY, SeqCst);
            }
        }
        core.policy.woken();
    }

    /// What threads wait for under `key` is gone: those that were woken for it and have not run since wait on, where `wants` says
    /// that they cannot do without.
    pub(crate) fn gone(&mut self, key: u64, wants: impl Fn(&Thread) -> bool) {
        let core = self.core();
        if core.roused == 0 {
            return;
        }
        for &index in core.live.as_ref().iter().take(core.live_count) {
            let thread = thread(index as usize);
            let is_one = thread.roused.load(Relaxed) && thread.key.load(Relaxed) == key && wants(thread);
            if is_one && thread.waits_on() {
                thread.roused.store(false, Relaxed);
                core.roused -= 1;
            }
        }
    }

    /// The calling thread runs again after it was blocked.
    pub(crate) fn has_run(&mut self) {
        if self.me.roused.swap(false, Relaxed) {
            self.core().roused -= 1;
        }
    }
}

impl Thread {
    /// Has the thread wait on, unless it has other reasons to run.
    fn waits_on(&self) -> bool {
        let runs =
            || self.timed_out.load(Relaxed) || self.cancelled.load(SeqCst) || self.signals.load(SeqCst) != 0;
        if runs() || self.state.compare_exchange(state::READY, state::BLOCKED, SeqCst, SeqCst).is_err() {
            return false;
        }
        // A signal that comes now has the thread say itself that it can run, before or after this.
        if runs() {
            self.state.store(state::READY, SeqCst);
            return false;
        }
        true
    }
}
