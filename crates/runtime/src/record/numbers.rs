//! Numbers that are kept about things: how often something was done to them, or what is known of
//! them.

use reweave_wire::Life;

use crate::map::Map;

/// What a number is about; the thing itself is an address or a number of its own.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum About {
    /// How often a Rust object of this kind has changed, by its address or thread: the kind is
    /// below 32.
    Rust(usize),
    /// How many things of this kind ended, by address or variable.
    Lives(Life),
    /// Whether a thread may go on where it next parks, by its number.
    ParkToken,
    /// Which thread runs a one-time initialisation, plus one.
    Runner,
    /// The phase of a one-time initialisation and how often it changed.
    Once,
    /// How often what became of a robust mutex's owner has changed.
    Owner,
    /// Whether the owner of a robust mutex died and that is still to be mended.
    Unmended,
    /// Which clock a condition variable waits by.
    ConditionClock,
    /// How many threads have arrived at a barrier.
    Arrivals,
    /// How many threads a barrier is for.
    BarrierSize,
    Semaphore,
    Futex,
    /// The size of a block that is there, plus one.
    BlockSize,
    /// How often something was sent through a channel.
    Sent,
    /// The number of a pipe, by its inode.
    Pipe,
    /// How many pipes there are, under 0.
    Pipes,
    /// That a channel is in an epoll set.
    InSet,
    /// That a descriptor was closed.
    Closed,
    /// Which thread is in a call on a stream, plus one.
    StreamCaller,
    /// The number of a state, by a hash of what tells it apart.
    StateNumber,
    /// How many states of a kind have a number.
    States,
    /// How often a state outside of memory has changed, by its variable.
    State,
}

/// How many bits of a key say what the number is about.
const BITS: u32 = 6;
/// Where the kinds begin that have no number of their own, after those of Rust objects.
const LIVES: u64 = 32;
const OTHERS: u64 = LIVES + Life::ALL.len() as u64;

impl About {
    #[inline(always)]
    const fn code(self) -> u64 {
        let other = match self {
            About::Rust(kind) => return kind as u64 % LIVES,
            About::Lives(life) => return LIVES + life as u64,
            About::ParkToken => 0,
            About::Runner => 1,
            About::Once => 2,
            About::Owner => 3,
            About::Unmended => 4,
            About::ConditionClock => 5,
            About::Arrivals => 6,
            About::BarrierSize => 7,
            About::Semaphore => 8,
            About::Futex => 9,
            About::BlockSize => 10,
            About::Sent => 11,
            About::Pipe => 12,
            About::Pipes => 13,
            About::InSet => 14,
            About::Closed => 15,
            About::StreamCaller => 16,
            About::StateNumber => 17,
            About::States => 18,
            About::State => 19,
        };
        OTHERS + other
    }
}

/// The numbers.
pub(crate) struct Numbers(Map<u64>);

impl Numbers {
    pub(crate) fn new() -> Numbers {
        Numbers(Map::new())
    }

    /// The number of a thing, 0 where there was none; none only where there is no memory.
    #[inline]
    pub(crate) fn entry(&mut self, about: About, of: impl Into<Thing>) -> Option<&mut u64> {
        self.0.entry(of.into().0 << BITS | about.code())
    }

    /// The number of a thing, where there is one.
    #[inline]
    pub(crate) fn get(&mut self, about: About, of: impl Into<Thing>) -> Option<&mut u64> {
        self.0.get(of.into().0 << BITS | about.code())
    }
}

/// An address, or a number below 2^58.
pub(crate) struct Thing(u64);

impl From<usize> for Thing {
    #[inline(always)]
    fn from(at: usize) -> Thing {
        Thing(at as u64)
    }
}

impl From<u64> for Thing {
    #[inline(always)]
    fn from(number: u64) -> Thing {
        Thing(number)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const OTHER: [About; 20] = [
        About::ParkToken,
        About::Runner,
        About::Once,
        About::Owner,
        About::Unmended,
        About::ConditionClock,
        About::Arrivals,
        About::BarrierSize,
        About::Semaphore,
        About::Futex,
        About::BlockSize,
        About::Sent,
        About::Pipe,
        About::Pipes,
        About::InSet,
        About::Closed,
        About::StreamCaller,
        About::StateNumber,
        About::States,
        About::State,
    ];

    #[test]
    fn no_two_kinds_share_a_number() {
        let mut numbers = Numbers::new();
        let all = || {
            let lives = Life::ALL.into_iter().map(About::Lives);
            (0..32).map(About::Rust).chain(lives).chain(OTHER)
        };
        let things = [1, 64, 0x7fff_ffff_f000_usize];
        for (count, (about, thing)) in (1..).zip(all().flat_map(|about| things.map(|at| (about, at)))) {
            let number = numbers.entry(about, thing).unwrap();
            assert_eq!(*number, 0, "{about:?} of {thing} has the number of another");
            *number = count;
        }
        for (count, (about, thing)) in (1..).zip(all().flat_map(|about| things.map(|at| (about, at)))) {
            assert_eq!(numbers.get(about, thing), Some(&mut count.clone()));
            assert!(numbers.get(about, thing + 1).is_none());
        }
    }

    #[test]
    fn kinds_fit_their_bits() {
        assert!(OTHER.iter().all(|about| about.code() < 1 << BITS));
    }
}
