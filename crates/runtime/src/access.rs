//! Accesses to memory, as the compiler tells of them.
//!
//! A hook runs before its access. What is read is what is there now: no other thread runs until the next hook. What is
//! written is known at the thread's next hook, so a write waits as [`Pending`] until then, and nothing is recorded in
//! between. gcc tells of a structure's copy as a write and then a read, both before it copies: see [`copies`].

use reweave_wire::{Op, Value};

use crate::policy::Step;
use crate::recording::{Inside, Pending};

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
    /// Records an access of up to eight bytes.
    #[inline(always)]
    pub(crate) fn access(&mut self, op: Op, at: usize, length: usize, code: usize, values: (u64, u64)) {
        let target = self.core().out.variable((at as u64) << 5 | length as u64);
        self.event(op, target, code, Value::Number(values.0), Value::Number(values.1));
    }

    /// Records the write that was announced last: it has happened by now.
    #[inline(always)]
    pub(crate) fn settle(&mut self) {
        if let Some(pending) = self.core().pending.take() {
            self.written(pending.at, pending.length, pending.code);
        }
    }

    /// Records a write of what is there now.
    #[inline]
    pub(crate) fn written(&mut self, at: usize, length: usize, code: usize) {
        pieces(at, length, |at, length| {
            let value = load(at, length);
            self.access(Op::Write, at, length, code, (0, value));
        });
    }

    /// Records a read of what is there now.
    #[inline]
    pub(crate) fn observed(&mut self, at: usize, length: usize, code: usize) {
        pieces(at, length, |at, length| {
            let value = load(at, length);
            self.access(Op::Read, at, length, code, (value, 0));
        });
    }
}

/// The program is about to read.
#[inline(always)]
pub(crate) fn read(at: usize, length: usize, code: usize) {
    if length == 0 {
        return;
    }
    let Some(mut inside) = Inside::enter() else { return };
    if let Some(pending) = inside.core().pending
        && pending.length == length
        && load(pending.at, length.min(8)) == pending.before
        && copies(pending.code, code)
    {
        // The write stays announced, and follows what it copies.
        inside.observed(at, length, code);
        return;
    }
    inside.settle();
    inside.point(Step::Access);
    inside.observed(at, length, code);
}

/// The program is about to write.
#[inline(always)]
pub(crate) fn write(at: usize, length: usize, code: usize) {
    if length == 0 {
        return;
    }
    let Some(mut inside) = Inside::enter() else { return };
    inside.settle();
    inside.point(Step::Access);
    let before = load(at, length.min(8));
    inside.core().pending = Some(Pending { at, length, code, before });
}

/// Whether no instruction between the two calls, from the return of the first to the second one's, can store to
/// memory: then what the first one told of has not happened yet.
#[cold]
fn copies(first: usize, second: usize) -> bool {
    let length = second.wrapping_sub(first);
    if length > 48 {
        return false;
    }
    // SAFETY: both are addresses of code that called us, in one function and close to each other.
    let code = unsafe { core::slice::from_raw_parts(first as *const u8, length) };
    only_prepares(code)
}

/// Whether `code` only moves between registers, loads, and calls at its end.
fn only_prepares(mut code: &[u8]) -> bool {
    loop {
        // A direct call, or one through a table.
        match *code {
            [0xE8, _, _, _, _] | [0xFF, 0x15, _, _, _, _] | [0x67, 0xE8, _, _, _, _] => return true,
            _ => {}
        }
        let rex = code.first().is_some_and(|byte| byte & 0xF0 == 0x40);
        let wide = rex && code.first().is_some_and(|byte| byte & 8 != 0);
        let rest = if rex { code.get(1..).unwrap_or_default() } else { code };
        let length = match *rest {
            // lea, and a load, to a register.
            [0x8D | 0x8B, mode, ..] => 1 + operand(mode, rest.get(2).copied()),
            // A move between registers; to memory it would be a store.
            [0x89, mode, ..] if mode >= 0xC0 => 2,
            // A constant to a register.
            [0xB8..=0xBF, ..] => {
                if wide {
                    9
                } else {
                    5
                }
            }
            // xor of two registers.
            [0x31, mode, ..] if mode >= 0xC0 => 2,
            _ => return false,
        };
        let Some(next) = code.get(length + usize::from(rex)..) else { return false };
        code = next;
    }
}

/// The length of an operand, its first byte included.
fn operand(mode: u8, scale: Option<u8>) -> usize {
    let (kind, register) = (mode >> 6, mode & 7);
    let scaled = usize::from(kind != 3 && register == 4);
    let offset = match kind {
        0 if register == 5 => 4,
        0 if scaled == 1 && scale.is_some_and(|scale| scale & 7 == 5) => 4,
        1 => 1,
        2 => 4,
        _ => 0,
    };
    1 + scaled + offset
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

    #[test]
    fn a_store_between_two_calls_is_noticed() {
        let call = [0xE8, 1, 2, 3, 4];
        let prepares: [&[u8]; 6] = [
            &[],
            &[0x48, 0x8D, 0x3D, 9, 9, 9, 9],       // lea rdi, [rip + …]
            &[0xBE, 32, 0, 0, 0],                  // mov esi, 32
            &[0x48, 0x8D, 0x7C, 0x24, 8],          // lea rdi, [rsp + 8]
            &[0x48, 0x89, 0xDF],                   // mov rdi, rbx
            &[0x48, 0x8B, 0x7D, 0xF0, 0x31, 0xC0], // mov rdi, [rbp - 16]; xor eax, eax
        ];
        for code in prepares {
            assert!(only_prepares(&[code, &call].concat()), "{code:x?}");
        }
        let stores: [&[u8]; 4] = [
            &[0x48, 0x89, 0x03],       // mov [rbx], rax
            &[0xC7, 0x03, 1, 0, 0, 0], // mov dword [rbx], 1
            &[0x89, 0x05, 1, 2, 3, 4], // mov [rip + …], eax
            &[0x0F, 0x29, 0x07],       // movaps [rdi], xmm0
        ];
        for code in stores {
            assert!(!only_prepares(&[code, &call].concat()), "{code:x?}");
            assert!(!only_prepares(&[prepares[1], code, &call].concat()));
        }
        assert!(!only_prepares(&[0xE8, 1, 2]));
    }
}
