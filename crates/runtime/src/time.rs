//! Deadlines: times of any clock as the scheduler counts.

use crate::clock;
use crate::sys::Time;

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
