//! Clocks with an entry a thread, and stamps: what an event knows, for others to take over.
//!
//! A clock that belongs to a thread leaves out the thread's own time, which changes much more often than the rest: so it
//! is as long as the last other thread that it knows of, and a thread that knows of none has an empty one.
//!
//! **Invariant:** a thread's own time advances after each event whose stamp was taken. So a clock that has the time of a
//! stamp, or a later one, knows all that the stamp knows, and need not be joined with it.

use std::rc::Rc;

/// A time for each thread; 0 for those beyond its end.
pub(crate) type Clock = Vec<u32>;

/// The time of `thread`.
#[inline]
pub(crate) fn time(clock: &[u32], thread: u32) -> u32 {
    clock.get(thread as usize).copied().unwrap_or(0)
}

/// Takes the later of the two times for each thread.
#[inline]
pub(crate) fn join(clock: &mut Clock, other: &[u32]) {
    if clock.len() < other.len() {
        clock.resize(other.len(), 0);
    }
    for (time, &other) in clock.iter_mut().zip(other) {
        *time = other.max(*time);
    }
}

/// Sets the time of `thread` unless it is later.
#[inline]
pub(crate) fn raise(clock: &mut Clock, thread: u32, to: u32) {
    let index = thread as usize;
    if clock.len() <= index {
        clock.resize(index + 1, 0);
    }
    clock[index] = clock[index].max(to);
}

/// What an event knows: its own time, and the clock of its thread.
#[derive(Clone, Default, Debug)]
pub(crate) struct Stamp {
    pub(crate) thread: u32,
    /// 0 where there was no event.
    pub(crate) time: u32,
    pub(crate) clock: Clock,
}

impl Stamp {
    /// Copies what `thread` knows at `time`.
    #[inline]
    pub(crate) fn set(&mut self, thread: u32, time: u32, clock: &[u32]) {
        self.thread = thread;
        self.time = time;
        self.clock.clear();
        self.clock.extend_from_slice(clock);
    }

    /// Adds what it knows to the clock of `thread`, unless that knows it.
    #[inline]
    pub(crate) fn join_into(&self, thread: u32, clock: &mut Clock) {
        if self.thread != thread && time(clock, self.thread) < self.time {
            join(clock, &self.clock);
            raise(clock, self.thread, self.time);
        }
    }
}

/// A stamp that several places share.
#[derive(Clone, Debug)]
pub(crate) struct Shared {
    pub(crate) thread: u32,
    pub(crate) time: u32,
    pub(crate) clock: Rc<[u32]>,
}

impl Shared {
    pub(crate) fn new(thread: u32, time: u32, clock: &[u32]) -> Shared {
        Shared { thread, time, clock: clock.into() }
    }

    /// Adds what it knows to the clock of `thread`, unless that knows it; says whether it did.
    #[inline]
    pub(crate) fn join_into(&self, thread: u32, clock: &mut Clock) -> bool {
        let new = self.thread != thread && time(clock, self.thread) < self.time;
        if new {
            join(clock, &self.clock);
            raise(clock, self.thread, self.time);
        }
        new
    }
}

/// What the events that passed something on to an object know together.
#[derive(Clone, Default, Debug)]
pub(crate) struct Merged {
    clock: Clock,
}

impl Merged {
    pub(crate) fn add(&mut self, thread: u32, time: u32, clock: &[u32]) {
        join(&mut self.clock, clock);
        raise(&mut self.clock, thread, time);
    }

    pub(crate) fn clear(&mut self) {
        self.clock.clear();
    }

    /// Adds what they know to `clock`.
    #[inline]
    pub(crate) fn join_into(&self, clock: &mut Clock) {
        if !self.clock.is_empty() {
            join(clock, &self.clock);
        }
    }
}
