//! Machine code between two announcements of accesses.
//!
//! gcc announces the write and then the read of a structure's copy, both before it copies. Only the code between the two
//! calls tells such a pair from a write that has happened when the read is announced. gcc puts there whatever can be done
//! meanwhile, so most instructions of x86-64 are known here that change registers and nothing else.

/// The calls that announce a copy return at most so many bytes from each other.
pub const MAX_BETWEEN: usize = 64;

/// Whether `code` calls at its end, and before that computes in registers, loads, and stores less than the `announced` bytes:
/// registers that it needs for something else. What was announced is stored as a whole or not yet at all, since the call may
/// look at it.
pub fn only_prepares(mut code: &[u8], announced: usize) -> bool {
    let mut stored = 0;
    loop {
        // A direct call, or one through a table.
        match *code {
            [0xE8, _, _, _, _] | [0xFF, 0x15, _, _, _, _] | [0x67, 0xE8, _, _, _, _] => return true,
            _ => {}
        }
        let Some(instruction) = decode(code) else { return false };
        let Some(rest) = code.get(instruction.length..) else { return false };
        stored += instruction.stored;
        if stored >= announced && stored > 0 {
            return false;
        }
        code = rest;
    }
}

/// Whether `code`, whole instructions that have run since a write of so many bytes was announced, may have done it. One that
/// is not known may have.
pub fn may_have_stored(mut code: &[u8], announced: usize) -> bool {
    let mut stored = 0;
    while !code.is_empty() {
        let Some(instruction) = decode(code) else { return true };
        let Some(rest) = code.get(instruction.length..) else { return true };
        stored += instruction.stored;
        if stored >= announced {
            return true;
        }
        code = rest;
    }
    false
}

/// What is known of an instruction: its length, and how many bytes it stores.
struct Instruction {
    length: usize,
    stored: usize,
}

/// What an instruction does with the operand that may be memory.
enum Operand {
    /// There is none.
    Absent,
    /// It reads it.
    Read,
    /// It changes it: nothing is known of that where it is memory.
    Changed,
    /// It writes a register, or a constant, of so many bytes there.
    Stored(usize),
}

/// The first instruction, where it is one of those that are known.
fn decode(code: &[u8]) -> Option<Instruction> {
    let prefixes = code.iter().take_while(|byte| matches!(byte, 0x66 | 0xF2 | 0xF3)).count();
    let (before, mut rest) = code.split_at_checked(prefixes)?;
    let rex = rest.first().copied().filter(|byte| byte & 0xF0 == 0x40);
    if rex.is_some() {
        rest = rest.get(1..)?;
    }
    let bytes = match rex {
        Some(byte) if byte & 8 != 0 => 8,
        _ if before.contains(&0x66) => 2,
        _ => 4,
    };
    let (&opcode, after) = rest.split_first()?;
    let ((operand, constant), opcodes, after) = if opcode == 0x0F {
        let (&opcode, after) = after.split_first()?;
        (long(opcode, before.contains(&0xF3))?, 2, after)
    } else {
        (short(opcode, after.first().copied(), bytes)?, 1, after)
    };
    let mode = after.first().copied();
    let is_memory = mode.is_some_and(|mode| mode < 0xC0);
    let (operands, stored) = match operand {
        Operand::Absent => (0, 0),
        Operand::Changed if is_memory => return None,
        Operand::Stored(bytes) if is_memory => (length(mode?, after.get(1).copied()), bytes),
        _ => (length(mode?, after.get(1).copied()), 0),
    };
    let length = prefixes + usize::from(rex.is_some()) + opcodes + operands + constant;
    Some(Instruction { length, stored })
}

/// What an opcode of one byte does with its operand of so many bytes, which `mode` describes, and the bytes of its constant.
fn short(opcode: u8, mode: Option<u8>, bytes: usize) -> Option<(Operand, usize)> {
    use Operand::{Absent, Changed, Read, Stored};
    let word = bytes.min(4);
    let which = mode.map_or(0, |mode| mode >> 3 & 7);
    Some(match opcode {
        // add, or, adc, sbb, and, sub, xor; cmp writes nothing.
        0x00..=0x3F => match opcode & 7 {
            0 | 1 => (if opcode >= 0x38 { Read } else { Changed }, 0),
            2 | 3 => (Read, 0),
            4 => (Absent, 1),
            5 => (Absent, word),
            _ => return None,
        },
        // movslq, test, loads and lea.
        0x63 | 0x84 | 0x85 | 0x8A | 0x8B | 0x8D => (Read, 0),
        0x69 => (Read, word),
        0x6B => (Read, 1),
        // The same again, with a constant.
        0x80 | 0x83 => (if which == 7 { Read } else { Changed }, 1),
        0x81 => (if which == 7 { Read } else { Changed }, word),
        // Moves to where the operand says.
        0x88 => (Stored(1), 0),
        0x89 => (Stored(bytes), 0),
        0xC6 if which == 0 => (Stored(1), 1),
        0xC7 if which == 0 => (Stored(bytes), word),
        // Shifts.
        0xC0 | 0xC1 => (Changed, 1),
        0xD0..=0xD3 => (Changed, 0),
        // nop and the extensions of rax; constants.
        0x90 | 0x98 | 0x99 => (Absent, 0),
        0xA8 | 0xB0..=0xB7 => (Absent, 1),
        0xA9 => (Absent, word),
        0xB8..=0xBF => (Absent, bytes),
        // test with a constant; not and neg; products and quotients.
        0xF6 | 0xF7 => match which {
            0 | 1 => (Read, if opcode == 0xF6 { 1 } else { word }),
            2 | 3 => (Changed, 0),
            _ => (Read, 0),
        },
        // inc and dec.
        0xFE | 0xFF if which <= 1 => (Changed, 0),
        _ => return None,
    })
}

/// The same of an opcode after 0F.
fn long(opcode: u8, repeated: bool) -> Option<(Operand, usize)> {
    use Operand::{Absent, Changed, Read};
    Some(match opcode {
        // Moves of vectors to where the operand says, and their numbers; bytes by a condition.
        0x11 | 0x29 | 0x7F | 0x90..=0x9F => (Changed, 0),
        0x7E if !repeated => (Changed, 0),
        // Loads and computations of vectors, prefetches, nops, moves by a condition.
        0x10
        | 0x12
        | 0x14..=0x16
        | 0x18
        | 0x1E
        | 0x1F
        | 0x28
        | 0x2A
        | 0x2C..=0x2F
        | 0x40..=0x4F
        | 0x51..=0x6F => (Read, 0),
        0x70 | 0xC2 | 0xC4..=0xC6 => (Read, 1),
        0x71..=0x73 => (Changed, 1),
        0x74..=0x76 | 0x7E => (Read, 0),
        // bt, imul, movzx, movsx, bsf, bsr, popcnt.
        0xA3 | 0xAF | 0xB6..=0xB8 | 0xBC..=0xBF => (Read, 0),
        0xC8..=0xCF => (Absent, 0),
        0xD0..=0xD5 | 0xD7..=0xE6 | 0xE8..=0xF6 | 0xF8..=0xFE => (Read, 0),
        _ => return None,
    })
}

/// The length of an operand, its first byte included.
fn length(mode: u8, scale: Option<u8>) -> usize {
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
    extern crate std;

    use std::vec::Vec;

    use super::*;

    const CALL: [u8; 5] = [0xE8, 1, 2, 3, 4];

    /// Instructions that change registers and nothing else.
    const PREPARES: &[&[u8]] = &[
        &[],
        &[0x48, 0x8D, 0x3D, 9, 9, 9, 9],       // lea rdi, [rip + …]
        &[0xBE, 32, 0, 0, 0],                  // mov esi, 32
        &[0x48, 0xBE, 1, 2, 3, 4, 5, 6, 7, 8], // movabs rsi, …
        &[0x66, 0xB8, 1, 2],                   // mov ax, …
        &[0x48, 0x8D, 0x7C, 0x24, 8],          // lea rdi, [rsp + 8]
        &[0x48, 0x89, 0xDF],                   // mov rdi, rbx
        &[0x48, 0x8B, 0x7D, 0xF0, 0x31, 0xC0], // mov rdi, [rbp - 16]; xor eax, eax
        &[0x49, 0x83, 0xEE, 8],                // sub r14, 8
        &[0x48, 0x81, 0xC3, 0, 1, 0, 0],       // add rbx, 256
        &[0x66, 0x81, 0xC3, 0, 1],             // add bx, 256
        &[0x4C, 0x01, 0xE8],                   // add rax, r13
        &[0x48, 0x03, 0x43, 8],                // add rax, [rbx + 8]
        &[0x48, 0x39, 0x43, 8],                // cmp [rbx + 8], rax
        &[0x80, 0x7B, 8, 0],                   // cmp byte [rbx + 8], 0
        &[0x48, 0x63, 0xDB],                   // movslq rbx, ebx
        &[0x0F, 0xB6, 0x45, 6],                // movzx eax, byte [rbp + 6]
        &[0x48, 0xC1, 0xE0, 3],                // shl rax, 3
        &[0x48, 0xC7, 0xC0, 1, 0, 0, 0],       // mov rax, 1
        &[0xF7, 0x45, 4, 1, 0, 0, 0],          // test dword [rbp + 4], 1
        &[0x48, 0xF7, 0xD8],                   // neg rax
        &[0xFF, 0xC3],                         // inc ebx
        &[0x0F, 0x94, 0xC2],                   // sete dl
        &[0x48, 0x0F, 0x44, 0xC2],             // cmove rax, rdx
        &[0x66, 0x0F, 0x6F, 0x04, 0x24],       // movdqa xmm0, [rsp]
        &[0xF3, 0x0F, 0x7E, 0x45, 0],          // movq xmm0, [rbp]
        &[0x66, 0x48, 0x0F, 0x7E, 0xC0],       // movq rax, xmm0
        &[0x66, 0x0F, 0xEF, 0xC0],             // pxor xmm0, xmm0
        &[0x0F, 0x1F, 0x84, 0, 0, 0, 0, 0],    // a long nop
        &[0x48, 0x8B, 0x04, 0x25, 1, 2, 3, 4], // mov rax, [an address]
    ];

    const STORES: &[&[u8]] = &[
        &[0x48, 0x89, 0x03],       // mov [rbx], rax
        &[0xC7, 0x03, 1, 0, 0, 0], // mov dword [rbx], 1
        &[0x89, 0x05, 1, 2, 3, 4], // mov [rip + …], eax
        &[0x88, 0x44, 0x24, 2],    // mov [rsp + 2], al
        &[0x48, 0x83, 0x43, 8, 1], // add qword [rbx + 8], 1
        &[0x48, 0x01, 0x43, 8],    // add [rbx + 8], rax
        &[0xFF, 0x03],             // inc dword [rbx]
        &[0x48, 0xF7, 0x1B],       // neg qword [rbx]
        &[0x48, 0xD1, 0x23],       // shl qword [rbx], 1
        &[0x0F, 0x94, 0x03],       // sete [rbx]
        &[0x48, 0x87, 0x03],       // xchg [rbx], rax
        &[0x0F, 0x29, 0x07],       // movaps [rdi], xmm0
        &[0x0F, 0x11, 0x45, 0],    // movups [rbp], xmm0
        &[0xF3, 0x0F, 0x7F, 0x07], // movdqu [rdi], xmm0
        &[0x66, 0x0F, 0xD6, 0x07], // movq [rdi], xmm0
        &[0x66, 0x0F, 0x7E, 0x07], // movd [rdi], xmm0
        &[0x0F, 0x13, 0x07],       // movlps [rdi], xmm0
        &[0x66, 0x0F, 0xE7, 0x07], // movntdq [rdi], xmm0
        &[0xC5, 0xFE, 0x7F, 0x07], // vmovdqu [rdi], ymm0
        &[0x48, 0xA5],             // movsq
        &[0xF3, 0x48, 0xAB],       // rep stosq
    ];

    #[test]
    fn a_store_between_two_calls_is_noticed() {
        for code in PREPARES {
            assert!(only_prepares(&joined(&[code, &CALL]), 1), "{code:x?}");
            for more in PREPARES {
                assert!(only_prepares(&joined(&[code, more, &CALL]), 1), "{code:x?} {more:x?}");
            }
            for store in STORES {
                assert!(!only_prepares(&joined(&[code, store, &CALL]), 1), "{code:x?} {store:x?}");
                assert!(!only_prepares(&joined(&[store, code, &CALL]), 1), "{store:x?} {code:x?}");
            }
        }
    }

    #[test]
    fn what_has_run_since_an_announcement_may_be_its_store() {
        for code in PREPARES {
            assert!(!may_have_stored(code, 1), "{code:x?}");
            for store in STORES {
                assert!(may_have_stored(&joined(&[code, store]), 1), "{code:x?} {store:x?}");
                assert!(may_have_stored(&joined(&[store, code]), 1), "{store:x?} {code:x?}");
            }
        }
        // A register that is put aside is smaller than what was announced.
        assert!(!may_have_stored(&[0x48, 0x89, 0x45, 0xF0], 16));
    }

    #[test]
    fn a_smaller_store_is_not_what_was_announced() {
        let spills: [(&[u8], usize); 5] = [
            (&[0x48, 0x89, 0x45, 0xF0], 8),             // mov [rbp - 16], rax
            (&[0x89, 0x44, 0x24, 8], 4),                // mov [rsp + 8], eax
            (&[0x66, 0x89, 0x44, 0x24, 8], 2),          // mov [rsp + 8], ax
            (&[0x88, 0x44, 0x24, 8], 1),                // mov [rsp + 8], al
            (&[0x48, 0xC7, 0x45, 0xF0, 1, 0, 0, 0], 8), // mov qword [rbp - 16], 1
        ];
        for (code, bytes) in spills {
            for announced in [1, 2, 4, 8, 16, 24] {
                let once = joined(&[code, &CALL]);
                assert_eq!(only_prepares(&once, announced), bytes < announced, "{code:x?} {announced}");
                let twice = joined(&[code, code, &CALL]);
                assert_eq!(only_prepares(&twice, announced), 2 * bytes < announced, "{code:x?} {announced}");
            }
        }
    }

    #[test]
    fn what_jumps_is_not_followed() {
        for code in [&[0x74u8, 0][..], &[0xEB, 0], &[0x0F, 0x84, 0, 0, 0, 0], &[0xC3], &[0xFF, 0xD0]] {
            assert!(!only_prepares(&joined(&[code, &CALL]), 1), "{code:x?}");
        }
    }

    #[test]
    fn code_that_ends_within_an_instruction_is_refused() {
        for code in PREPARES {
            for cut in 0..code.len() + CALL.len() {
                let whole = joined(&[code, &CALL]);
                assert!(!only_prepares(whole.get(..cut).unwrap_or_default(), 1), "{code:x?} {cut}");
            }
        }
    }

    fn joined(parts: &[&[u8]]) -> Vec<u8> {
        parts.concat()
    }
}
