//! Memory that is given away: to a function of which it is not recorded what it reads and writes
//! there.
//!
//! It is one that was not reviewed, or one that writes a structure as a whole. The call is an
//! update of a variable that stands for that memory, and `reweave record` puts every other access
//! to it between two events of that variable. So each call finds there, and leaves there, what it
//! did in the recorded run. Where it is not known how much the function may touch, it is the whole
//! block.

use reweave_wire::Op;

use crate::abi::access::load;
use crate::libc::outside::Arguments;
use crate::libc::outside::memory::{Recorder, Use, What, is_programs, pieces, text};
use crate::libc::vectors::Given;
use crate::record::recording::{Inside, stands_for};
use crate::sched::forced::PART;

/// Numbers below are no addresses.
const LOWEST: usize = 1 << 16;
/// Nor are those from here on.
const HIGHEST: usize = 1 << 47;
/// The bytes of `pthread_attr_t`.
pub(crate) const THREAD: usize = 56;
/// The most bytes of what locks, condition variables and barriers are made with.
pub(crate) const LOCK: usize = 4;
/// The same for locks of readers and writers.
pub(crate) const READERS: usize = 8;
/// How much is given away that is not known how much it is.
pub(crate) const WHOLE: usize = 0;

impl Inside {
    /// The thread gives `length` bytes at `at` away, or [`WHOLE`] blocks.
    pub(crate) fn gives_away(&mut self, at: usize, length: usize, code: usize) {
        if (LOWEST..HIGHEST).contains(&at) && length < HIGHEST {
            self.stand_in(Op::Update, at, stands_for::GIVEN, code, (length as u64, 0));
        }
    }

    /// The thread calls a function of which nothing is known: whatever its arguments lead to is
    /// its.
    pub(crate) fn gives_arguments(&mut self, arguments: &Arguments, code: usize) {
        for &argument in arguments {
            self.gives_away(argument, WHOLE, code | PART);
        }
    }
}

/// The thread has libc read `length` bytes of attributes.
pub(crate) fn gives_attributes(attributes: usize, length: usize, code: usize) {
    if attributes != 0
        && is_programs(code)
        && let Some(mut inside) = Inside::enter()
    {
        inside.settle();
        inside.gives_away(attributes, length, code | PART);
    }
}

impl Recorder {
    fn give(&mut self, inside: &mut Inside, at: usize, length: usize) {
        if length != 0 {
            inside.gives_away(at, length, self.code);
            self.code |= PART;
        }
    }

    /// Records what is given away before the call.
    pub(crate) fn gives(&mut self, inside: &mut Inside, part: Use) {
        let Use { what, a, b, number, .. } = part;
        match what {
            What::Given => {
                inside.gives_away(a, WHOLE, self.code);
                self.code |= PART;
            }
            What::GivenWords => self.give(inside, a, number * 4),
            What::GivenBytes => self.give(inside, a, b),
            What::GivenSized => self.give(inside, a, b.saturating_mul(number & 15)),
            What::GivenText => self.give(inside, a, text(a)),
            What::GivenAt if b != 0 => self.give(inside, load(a, 8) as usize, load(b, 8) as usize),
            What::GivenPieces if pieces(b) != 0 => {
                Given::Pieces(a, b).ranges(usize::MAX, |at, length| self.give(inside, at, length));
            }
            _ => {}
        }
    }
}
