//! Vector clocks and epochs.
//!
//! Epochs after Flanagan and Freund, "FastTrack: Efficient and Precise Dynamic Race Detection" (PLDI 2009),
//! section 3. A clock holds a time for each thread, 0 for those it does not mention.
//!
//! Invariant: the last time a clock stores is not 0, so that equal clocks are stored alike.
//!
//! Complexity: O(1) for a time or an epoch, O(threads mentioned) for the rest. A clock takes 24 bytes, and
//! others only once it mentions a thread beyond the first four.

use std::fmt;

use reweave_trace::ThreadId;
use smallvec::SmallVec;

/// How many times fit in the 24 bytes that a vector takes anyway.
const INLINE: usize = 4;

/// A time for each thread.
#[derive(Clone, PartialEq, Eq, Hash, Default)]
pub struct Clock {
    times: SmallVec<[u32; INLINE]>,
}

/// A time of one thread, in 8 bytes.
///
/// Epochs sort by thread, then by time. The least of all, time 0 of thread 0, is covered by every clock.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Default)]
pub struct Epoch(u64);

impl Clock {
    /// The clock that is 0 for every thread.
    pub fn new() -> Clock {
        Clock::default()
    }

    /// The time of `thread`.
    #[inline]
    pub fn get(&self, thread: ThreadId) -> u32 {
        self.times.get(thread.index()).copied().unwrap_or(0)
    }

    /// Sets the time of `thread`.
    pub fn set(&mut self, thread: ThreadId, time: u32) {
        match self.times.get_mut(thread.index()) {
            Some(old) => *old = time,
            None if time == 0 => {}
            None => {
                self.times.resize(thread.index(), 0);
                self.times.push(time);
            }
        }
        if time == 0 {
            let length = self.times.iter().rposition(|&time| time != 0).map_or(0, |last| last + 1);
            self.times.truncate(length);
        }
        self.check();
    }

    /// Advances the time of `thread` by one and answers the new one.
    pub fn increment(&mut self, thread: ThreadId) -> u32 {
        let time = self.get(thread).checked_add(1).expect("a thread has fewer than 2^32 events");
        self.set(thread, time);
        time
    }

    /// Takes the later of the two times for each thread.
    pub fn join(&mut self, other: &Clock) {
        let common = self.times.len().min(other.times.len());
        let (shared, rest) = other.times.split_at(common);
        for (time, &other) in self.times.iter_mut().zip(shared) {
            *time = other.max(*time);
        }
        self.times.extend_from_slice(rest);
        self.check();
    }

    /// Whether no thread's time is later here than in `other`.
    #[inline]
    pub fn le(&self, other: &Clock) -> bool {
        // A longer clock has a time that is not 0 where the other's is.
        self.times.len() <= other.times.len()
            && self.times.iter().zip(&other.times).all(|(time, other)| time <= other)
    }

    /// Whether `epoch` is at or before this clock's time of its thread.
    #[inline]
    pub fn covers(&self, epoch: Epoch) -> bool {
        epoch.time() <= self.get(epoch.thread())
    }

    /// The time of `thread` as an epoch.
    #[inline]
    pub fn epoch(&self, thread: ThreadId) -> Epoch {
        Epoch::new(thread, self.get(thread))
    }

    /// The epochs with a time other than 0, by thread.
    pub fn epochs(&self) -> impl Iterator<Item = Epoch> {
        let epochs = self.times.iter().enumerate().filter(|&(_, &time)| time != 0);
        epochs.map(|(thread, &time)| Epoch::new(ThreadId::from_index(thread), time))
    }

    fn check(&self) {
        debug_assert!(self.times.last() != Some(&0), "a clock ends with a time that is not 0");
    }
}

impl fmt::Debug for Clock {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_list().entries(&self.times).finish()
    }
}

impl Epoch {
    /// Time `time` of `thread`.
    #[inline]
    pub fn new(thread: ThreadId, time: u32) -> Epoch {
        Epoch(u64::from(thread.0) << 32 | u64::from(time))
    }

    /// The thread.
    #[inline]
    pub fn thread(self) -> ThreadId {
        ThreadId((self.0 >> 32) as u32)
    }

    /// The time.
    #[inline]
    pub fn time(self) -> u32 {
        self.0 as u32
    }
}

impl fmt::Debug for Epoch {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}@{}", self.time(), self.thread().0)
    }
}
