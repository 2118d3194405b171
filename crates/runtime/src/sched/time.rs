//! Deadlines: times of any clock as the scheduler counts, and the threads that wait for them.

use core::sync::atomic::Ordering::{Relaxed, SeqCst};

use crate::libc::signals;
use crate::record::end;
use crate::record::recording::Inside;
use crate::sched::clock;
use crate::sched::thread::{Thread, state, thread};
use crate::sys::{self, Time};

/// How many steps lie between two looks at the clock.
pub(crate) const CLOCK_STEPS: u64 = 1 << 12;
/// How long a thread whose time is up waits before it looks again whether the baton is free.
const PATIENCE: u64 = 5_000_000;
/// How long the thread with the baton sleeps at once.
const LONGEST_NAP: u64 = 10_000_000;
/// A block that is older is written when there is nothing else to do.
const STALE: u64 = 2_000_000;

const WALL: usize = 0;

/// How long a call may wait.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Deadline {
    Never,
    Now,
    /// Until this time, as [`clock::now`] counts.
    At(u64),
}

impl Deadline {
    /// The time at an address, of a clock.
    pub(crate) fn of(clock: usize, time: usize) -> Deadline {
        // SAFETY: the program passes the address of a time.
        let Some(time) = (unsafe { (time as *const Time).as_ref() }) else { return Deadline::Never };
        Deadline::At(clock::at(clock, time.nanos()).max(1))
    }

    /// A time of the clock on the wall.
    pub(crate) fn wall(time: usize) -> Deadline {
        Deadline::of(WALL, time)
    }

    /// After so many nanoseconds.
    pub(crate) fn after(nanos: u64) -> Deadline {
        Deadline::At(clock::now().saturating_add(nanos).max(1))
    }

    /// As the scheduler counts: 0 is never.
    pub(crate) fn number(self) -> u64 {
        match self {
            Deadline::Never => 0,
            Deadline::Now => 1,
            Deadline::At(time) => time,
        }
    }
}

impl Inside {
    /// The thread that waits with the earliest deadline; of several, the one that was made first.
    fn first_deadline(&mut self) -> Option<&'static Thread> {
        let core = self.core();
        let waiting = core.live.as_ref().iter().take(core.live_count).map(|&index| thread(index as usize));
        waiting
            .filter(|thread| {
                thread.state.load(SeqCst) == state::BLOCKED && thread.deadline.load(Relaxed) != 0
            })
            .min_by_key(|thread| thread.deadline.load(Relaxed))
    }

    fn time_is_up(&mut self, thread: &Thread) {
        clock::reach(thread.deadline.load(Relaxed));
        thread.timed_out.store(true, Relaxed);
        self.core().policy.woken();
        thread.state.store(state::READY, SeqCst);
    }

    /// Nobody can run: time jumps to the earliest deadline, once that thread has really waited for so long.
    pub(crate) fn expire(&mut self) {
        let first = self.first_deadline();
        if let Some(first) = first.filter(|first| first.due.load(Relaxed) <= sys::now(sys::MONOTONIC)) {
            self.time_is_up(first);
        }
    }

    /// Wakes the threads whose time is up while others run.
    fn wake_passed(&mut self) {
        // A forced schedule decides whose time is up.
        if self.core().forced.as_ref().is_some_and(|forced| forced.active) {
            return;
        }
        clock::keep_up();
        while let Some(first) = self.first_deadline()
            && first.deadline.load(Relaxed) <= clock::now()
        {
            // Time passes faster here than it does: the thread must not have waited for less than it asked.
            while let left @ 1.. = first.due.load(Relaxed).saturating_sub(sys::now(sys::MONOTONIC)) {
                self.end_in_time();
                if signals::ending() {
                    return;
                }
                sys::sleep(left.min(LONGEST_NAP));
            }
            self.time_is_up(first);
        }
    }

    #[cold]
    pub(crate) fn look_at_clock(&mut self) {
        let core = self.core();
        core.looks = core.steps + CLOCK_STEPS;
        self.end_in_time();
        self.wake_passed();
        if signals::ending() {
            end::by_signal(self);
        }
    }

    fn end_in_time(&mut self) {
        let timeout = self.core().timeout;
        if timeout != 0 && sys::now(sys::MONOTONIC) >= timeout {
            end::timeout(self);
        }
    }

    pub(crate) fn flush_stale(&mut self) {
        let now = sys::now(sys::MONOTONIC);
        let core = self.core();
        if now.saturating_sub(core.flushed) > STALE {
            core.flushed = now;
            core.log.publish();
        }
    }
}

/// How long a thread may sleep; [`PATIENCE`] once its time is up.
pub(crate) fn until_deadline(me: &Thread) -> Option<u64> {
    match me.due.load(Relaxed) {
        0 => None,
        due => match due.saturating_sub(sys::now(sys::MONOTONIC)) {
            0 => Some(PATIENCE),
            left => Some(left),
        },
    }
}

/// Whether its time is up.
pub(crate) fn is_due(me: &Thread) -> bool {
    until_deadline(me) == Some(PATIENCE)
}
