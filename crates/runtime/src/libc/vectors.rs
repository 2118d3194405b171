//! Memory that the kernel reads or fills for a call: one range, or several.

use crate::abi::access::load;
use crate::libc::outside::memory::{Recorder, is_programs};
use crate::record::recording::Inside;

/// What a call on a descriptor is given.
#[derive(Clone, Copy)]
pub(crate) enum Given {
    /// An address, and how many bytes there are.
    Bytes(usize, usize),
    /// The address of a list of ranges, and how many there are.
    Pieces(usize, usize),
    /// A `struct msghdr`.
    Message(usize),
}

/// The size of an entry of a list of ranges.
const ENTRY: usize = 16;

impl Given {
    /// Calls `each` with the ranges of the first `count` bytes.
    pub(crate) fn ranges(self, count: usize, mut each: impl FnMut(usize, usize)) {
        let (list, entries) = match self {
            Given::Bytes(at, length) => return each(at, length.min(count)),
            Given::Pieces(at, entries) => (at, entries),
            Given::Message(0) => return,
            Given::Message(at) => (load(at + 16, 8) as usize, load(at + 24, 8) as usize),
        };
        let mut left = count;
        for entry in (0..entries as u32 as usize).map(|place| list + place * ENTRY) {
            let length = (load(entry + 8, 8) as usize).min(left);
            each(load(entry, 8) as usize, length);
            left -= length;
        }
    }
}

impl Given {
    /// How many bytes there are.
    pub(crate) fn length(self) -> usize {
        let mut length = 0usize;
        self.ranges(usize::MAX, |_, bytes| length = length.saturating_add(bytes));
        length
    }
}

impl Inside {
    /// Records that the kernel reads what it is given.
    pub(crate) fn gives(&mut self, given: Given, code: usize) {
        if is_programs(code) {
            let mut recorder = Recorder::new(code);
            given.ranges(usize::MAX, |at, length| recorder.read(self, at, length, false));
        }
    }

    /// Records that the kernel has filled the first `count` bytes.
    pub(crate) fn filled(&mut self, given: Given, count: usize, code: usize) {
        let mut recorder = Recorder::new(code);
        given.ranges(count, |at, length| recorder.write(self, at, length));
    }
}

/// Records that the kernel reads what a call is given.
pub(crate) fn given(memory: Given, code: usize) {
    if let Some(mut inside) = Inside::enter() {
        inside.settle();
        inside.gives(memory, code);
    }
}

/// How many bytes a call that fills memory has filled.
pub(crate) fn count(result: usize) -> usize {
    if result > isize::MAX as usize { 0 } else { result }
}
/// Records that a call filled memory with so many bytes.
pub(crate) fn fills(given: Given, result: usize, code: usize) {
    if count(result) > 0
        && let Some(mut inside) = Inside::enter()
    {
        inside.settle();
        inside.filled(given, result, code);
    }
}

/// Records that libc wrote so many bytes for the program.
pub(crate) fn filled(at: usize, length: usize, code: usize) {
    fills(Given::Bytes(at, length), length, code);
}

/// What a call that reads a line has made of the address and the length that it was given, and the line itself.
pub(crate) fn made_line(line: usize, length: usize, result: usize, code: usize) -> usize {
    let read = count(result);
    if read > 0 {
        fills(Given::Bytes(line, 8), 8, code);
        fills(Given::Bytes(length, 8), 8, code);
        fills(Given::Bytes(load(line, 8) as usize, read + 1), read + 1, code);
    }
    result
}

#[cfg(test)]
mod tests {
    use std::vec::Vec;

    use super::*;

    #[test]
    fn ranges_end_where_the_kernel_did() {
        let list = [100usize, 10, 200, 0, 300, 10];
        let at = list.as_ptr() as usize;
        let message = [0, 0, at, 3];
        for given in [Given::Pieces(at, 3), Given::Message(message.as_ptr() as usize)] {
            let mut found = Vec::new();
            given.ranges(15, |at, length| found.push((at, length)));
            assert_eq!(found, [(100, 10), (200, 0), (300, 5)]);
            assert_eq!(given.length(), 20);
        }
        Given::Message(0).ranges(5, |_, _| panic!("there is none"));
    }
}
