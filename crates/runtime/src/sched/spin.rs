//! Threads that only repeat themselves, as one does that waits for a variable by reading it: they come last for a while.
//!
//! A thread whose rounds were all the same ([`crate::record::log::Log::repeats`]) rests: others are chosen before it for a
//! number of choices, which doubles each time that it is found so. Where only such threads can run, time passes for them in
//! larger pieces, in which none of them does anything: what they wait for comes from a thread that sleeps or is in a call. So
//! what a spin adds to the recording is bounded by how long it takes, at some 300 slots a millisecond, and not by how fast the
//! machine is. Nothing is left out of the recording: each round that ran is in it.
//!
//! A thread may also leave such a loop by itself, after so many rounds; it still gets its turns.

use core::sync::atomic::Ordering::{Relaxed, SeqCst};
use core::sync::atomic::{AtomicU32, AtomicU64};

use crate::record::recording::Inside;
use crate::sched::thread::{Thread, state, thread};
use crate::sched::{baton, clock};
use crate::sys;

/// How many choices a thread rests at most, as a power of two.
const LONGEST_REST: u32 = 6;
/// How often a thread must have been found so before time passes without it.
const PATIENCE: u32 = 4;
/// How much time passes at once: so many nanoseconds at first, which double as many times.
const PIECE: (u64, u32) = (1_000, 10);

/// How long it takes at most until a thread is seen that comes back.
const NAP: u64 = 50_000;

/// What is known of the rounds of a thread.
#[derive(Default)]
pub(crate) struct Spin {
    /// How often in a row it was found to repeat itself.
    found: AtomicU32,
    /// The choice up to which it rests.
    until: AtomicU64,
}

impl Spin {
    /// The thread was found to repeat itself, or not; which, once more.
    pub(crate) fn is_found(&self, repeats: bool) -> bool {
        if !repeats {
            self.is_over();
        }
        repeats
    }

    /// The thread has done something else.
    pub(crate) fn is_over(&self) {
        self.found.store(0, Relaxed);
        self.until.store(0, Relaxed);
    }
}

impl Inside {
    /// The running thread repeats itself. Where all that can run do, time passes.
    #[cold]
    pub(crate) fn rest(&mut self) {
        let choices = self.core().choices;
        let spin = &self.me.spin;
        let found = spin.found.load(Relaxed).saturating_add(1);
        spin.found.store(found, Relaxed);
        spin.until.store(choices + (1 << found.min(LONGEST_REST)), Relaxed);
        if let Some(least) = self.least_found().and_then(|found| found.checked_sub(PATIENCE)) {
            self.pass_time(PIECE.0 << least.min(PIECE.1));
        }
    }

    /// Puts the threads that can run, `but` one, where a choice is made among them, and says how many there are. Those that
    /// rest are among them only where all do.
    pub(crate) fn candidates(&mut self, but: Option<usize>) -> usize {
        let choices = self.core().choices;
        let is_awake = |thread: &Thread| thread.spin.until.load(Relaxed) <= choices;
        match self.list(|thread| Some(thread.index()) != but && is_awake(thread)) {
            0 => self.list(|thread| Some(thread.index()) != but),
            count => count,
        }
    }

    /// Lists the threads that can run and are wanted.
    fn list(&mut self, wanted: impl Fn(&Thread) -> bool) -> usize {
        let core = self.core();
        let mut count = 0;
        for &index in core.live.as_ref().iter().take(core.live_count) {
            let candidate = thread(index as usize);
            if candidate.state.load(SeqCst) == state::READY && wanted(candidate) {
                if let Some(room) = core.ready.as_mut().get_mut(count) {
                    *room = index;
                }
                count += 1;
            }
        }
        count
    }

    /// How often the thread was found to repeat itself that was least often; 0 where one does not rest.
    fn least_found(&mut self) -> Option<u32> {
        let core = self.core();
        let ready = core.live.as_ref().iter().take(core.live_count).map(|&index| thread(index as usize));
        let ready = ready.filter(|thread| thread.state.load(SeqCst) == state::READY);
        let found = |thread: &Thread| match thread.spin.until.load(Relaxed) > core.choices {
            true => thread.spin.found.load(Relaxed),
            false => 0,
        };
        ready.map(found).min()
    }

    /// Time passes, here and really, in which nobody runs but threads in calls, until one of them comes back.
    fn pass_time(&mut self, nanos: u64) {
        clock::pass(nanos);
        self.flush_stale();
        let (start, returned) = (sys::now(sys::MONOTONIC), baton::returned());
        while let left @ 1.. = nanos.saturating_sub(sys::now(sys::MONOTONIC) - start)
            && baton::returned() == returned
        {
            sys::sleep(left.min(NAP));
        }
        self.look_at_clock();
    }
}
