//! Accesses to memory, as the compiler tells of them.
//!
//! A hook runs before its access. What is read is what is there now: no other thread runs until the next hook. What is
//! written is known at the thread's next hook, so a write waits as [`Pending`] until then, and nothing is recorded in
//! between. gcc tells of a structure's copy as a write and then a read, both before it copies: see [`copies`].

use reweave_wire::{MAX_BETWEEN, Op, only_prepares};

use crate::record::recording::Inside;
use crate::sched::forced::PART;
use crate::sched::policy::Step;
use crate::sched::thread::Pending;

/// The bytes at `at`, at most eight, as a number.
#[inline(always)]
pub(crate) fn load(at: usize, length: usize) -> u64 {
    // SAFETY: the program reads or writes these bytes itself next, or did so last; where it may not, it gets the
    // signal here instead of there. Sizes of the power of two are read in one piece.
    unsafe {
        match length {
            1 => u64::from((at as *const u8).read_volatile()),
            2 => u64::from((at as *const u16).read_unaligned()),
            4 => u64::from((at as *const u32).read_unaligned()),
            8 => (at as *const u64).read_unaligned(),
            _ => {
                let mut bytes = [0; 8];
                for (place, byte) in bytes.iter_mut().enumerate().take(length) {
                    *byte = (at as *const u8).add(place).read_volatile();
                }
                u64::from_le_bytes(bytes)
            }
        }
    }
}

/// Calls `each` with pieces of up to eight bytes that do not cross a multiple of eight, but for one that is whole.
#[inline(always)]
pub(crate) fn pieces(at: usize, length: usize, mut each: impl FnMut(usize, usize)) {
    if length <= 8 {
        return each(at, length);
    }
    let (mut at, end) = (at, at.saturating_add(length));
    while at < end {
        let next = (at / 8 + 1).saturating_mul(8).min(end);
        each(at, next - at);
        at = next;
    }
}

impl Inside {
    /// Records the write that was announced last: it has happened by now.
    #[inline(always)]
    pub(crate) fn settle(&mut self) {
        self.core().log.settle();
        if let Some(pending) = self.me.pending.take() {
            self.written(pending.at, pending.length, pending.code);
        }
        self.core().log.publish_much();
        // Only now: the write belongs to the calls that were under way when it was announced.
        self.tell_calls();
    }

    /// Records a write of what is there now.
    #[inline]
    pub(crate) fn written(&mut self, at: usize, length: usize, mut code: usize) {
        pieces(at, length, |at, length| {
            let value = load(at, length);
            self.access(Op::Write, at, length, code, (0, value));
            code |= PART;
        });
    }

    /// Records a read of what is there now.
    #[inline]
    pub(crate) fn observed(&mut self, at: usize, length: usize, mut code: usize) {
        pieces(at, length, |at, length| {
            let value = load(at, length);
            self.access(Op::Read, at, length, code, (value, 0));
            code |= PART;
        });
    }

    /// Whether the program has not done yet what it announced last, but copies to there what it reads now.
    fn copies(&mut self, length: usize, code: usize) -> bool {
        let (bytes, first) = match (self.me.pending.get(), self.core().log.pending()) {
            (Some(pending), _) => (pending.length, pending.code),
            (None, Some(slot)) => (usize::from(slot.kind() & 15), slot.code() as usize),
            (None, None) => return false,
        };
        bytes == length && copies(first, code, length)
    }
}

/// The program is about to read.
#[inline(always)]
pub(crate) fn read(at: usize, length: usize, code: usize) {
    if length == 0 {
        return;
    }
    let Some(mut inside) = Inside::enter() else { return };
    if inside.copies(length, code) {
        // The write stays announced, and follows what it copies.
        if let Some(pending) = inside.me.pending.take() {
            inside.point_if_named(code);
            inside.me.pending.set(Some(pending));
        }
        inside.observed(at, length, code);
        return;
    }
    inside.settle();
    inside.point(Step::Access, code);
    inside.observed(at, length, code);
}

/// The program is about to write.
#[inline(always)]
pub(crate) fn write(at: usize, length: usize, code: usize, stack: usize) {
    if length == 0 {
        return;
    }
    let Some(mut inside) = Inside::enter() else { return };
    inside.settle();
    inside.point(Step::Access, code);
    inside.me.pending.set(Some(Pending { at, length, code }));
    inside.me.announced.set(code, stack);
}

/// Whether no instruction between the two calls, from the return of the first to the second one's, can be the write of
/// so many bytes that the first one told of.
#[cold]
fn copies(first: usize, second: usize, bytes: usize) -> bool {
    let length = second.wrapping_sub(first);
    if length > MAX_BETWEEN {
        return false;
    }
    // SAFETY: both are addresses of code that called us, in one function and close to each other.
    let code = unsafe { core::slice::from_raw_parts(first as *const u8, length) };
    only_prepares(code, bytes)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_piece_is_small_and_together_they_are_the_whole() {
        for at in 64..80 {
            for length in 0..70 {
                let mut expected = at;
                pieces(at, length, |piece, size| {
                    assert_eq!(piece, expected);
                    assert!(length <= 8 || size <= 8 && piece / 8 == (piece + size - 1) / 8);
                    expected += size;
                });
                assert_eq!(expected, at + length);
            }
        }
    }

    #[test]
    fn loads_take_exactly_their_bytes() {
        let bytes = [1, 2, 3, 4, 5, 6, 7, 8, 9u8];
        for length in 1..=8 {
            let value = load(bytes.as_ptr() as usize, length);
            assert_eq!(value.to_le_bytes()[..length], bytes[..length]);
            assert!(value.to_le_bytes()[length..].iter().all(|&byte| byte == 0));
        }
    }
}
