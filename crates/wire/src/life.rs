//! Things that a program uses and ends, such as semaphores and open files: what a recorder and whoever reads a recording say of
//! their lives.
//!
//! A use, and the end, is a call on the thing. Its value in the ring is a number with the highest bit set, where that of another
//! call says where its text is.

/// What has a life.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
#[repr(u8)]
pub enum Life {
    /// A mutex, spin lock or reader/writer lock. Its uses are recorded as what they are.
    Mutex = 0,
    /// A condition variable, likewise.
    Condition = 1,
    /// A semaphore.
    Semaphore = 2,
    /// A barrier.
    Barrier = 3,
    /// A descriptor, by its number.
    Descriptor = 4,
    /// A stream of stdio, by the variable that stands for it.
    File = 5,
    /// A directory that is being read, by the variable that stands for it.
    Directory = 6,
}

const IS_LIFE: u64 = 1 << 63;
const IS_END: u64 = 1 << 62;
const KIND_AT: u32 = 32;

impl Life {
    /// All of them, in order of their codes.
    pub const ALL: [Life; 7] = [
        Life::Mutex,
        Life::Condition,
        Life::Semaphore,
        Life::Barrier,
        Life::Descriptor,
        Life::File,
        Life::Directory,
    ];

    /// The name of its type.
    pub fn name(self) -> &'static str {
        match self {
            Life::Mutex => "mutex",
            Life::Condition => "condition",
            Life::Semaphore => "semaphore",
            Life::Barrier => "barrier",
            Life::Descriptor => "descriptor",
            Life::File => "file",
            Life::Directory => "directory",
        }
    }

    /// The method that ends it.
    pub fn end(self) -> &'static str {
        match self {
            Life::Mutex | Life::Condition | Life::Semaphore | Life::Barrier => "destroy",
            Life::Descriptor | Life::File | Life::Directory => "close",
        }
    }

    /// The method that stands for its uses.
    pub fn used(self) -> &'static str {
        if self == Life::Barrier { "arrive" } else { "use" }
    }

    /// Whether its uses are recorded as calls.
    pub fn has_uses(self) -> bool {
        !matches!(self, Life::Mutex | Life::Condition)
    }

    /// The value of a use, or of the end, of the thing that has had so many lives before.
    #[inline]
    pub fn value(self, ends: bool, generation: u32) -> u64 {
        IS_LIFE | if ends { IS_END } else { 0 } | (self as u64) << KIND_AT | u64::from(generation)
    }

    /// What a value says: what it is, whether it ends, and how many lives it had before. None where it is that of another call.
    pub fn of(value: u64) -> Option<(Life, bool, u32)> {
        let kind = Life::ALL.get(usize::from((value >> KIND_AT) as u8))?;
        (value & IS_LIFE != 0).then_some((*kind, value & IS_END != 0, value as u32))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_life_is_read_as_it_was_written() {
        for (place, &life) in Life::ALL.iter().enumerate() {
            assert_eq!(life as usize, place);
            for ends in [false, true] {
                assert_eq!(Life::of(life.value(ends, u32::MAX - 1)), Some((life, ends, u32::MAX - 1)));
            }
        }
        assert_eq!(Life::of(123 << 16 | 7), None);
        assert_eq!(Life::of(1 << 63 | 99 << 32), None);
    }
}
