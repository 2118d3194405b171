//! Deadlines: times of any clock as times of the even one.

use crate::sys::{self, MONOTONIC, Time};

const WALL: usize = 0;

/// How long a call may wait.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Deadline {
    Never,
    Now,
    /// Until this time of the even clock, in nanoseconds.
    At(u64),
}

impl Deadline {
    /// The time at an address, of a clock.
    pub(crate) fn of(clock: usize, time: usize) -> Deadline {
        // SAFETY: the program passes the address of a time.
        let Some(time) = (unsafe { (time as *const Time).as_ref() }) else { return Deadline::Never };
        let left = time.nanos().saturating_sub(sys::now(clock));
        Deadline::At(sys::now(MONOTONIC).saturating_add(left).max(1))
    }

    /// A time of the clock on the wall.
    pub(crate) fn wall(time: usize) -> Deadline {
        Deadline::of(WALL, time)
    }

    /// After so many nanoseconds.
    pub(crate) fn after(nanos: u64) -> Deadline {
        Deadline::At(sys::now(MONOTONIC).saturating_add(nanos).max(1))
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
