//! Machine code between two announcements of accesses.
//!
//! gcc announces the write and then the read of a structure's copy, both before it copies. Only the code between the two
//! calls tells such a pair from a write that has happened when the read is announced.

/// Whether `code` only moves between registers, loads, and calls at its end.
pub fn only_prepares(mut code: &[u8]) -> bool {
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
    extern crate std;

    use std::vec::Vec;

    use super::*;

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
            assert!(only_prepares(&joined(&[code, &call])), "{code:x?}");
        }
        let stores: [&[u8]; 4] = [
            &[0x48, 0x89, 0x03],       // mov [rbx], rax
            &[0xC7, 0x03, 1, 0, 0, 0], // mov dword [rbx], 1
            &[0x89, 0x05, 1, 2, 3, 4], // mov [rip + …], eax
            &[0x0F, 0x29, 0x07],       // movaps [rdi], xmm0
        ];
        for code in stores {
            assert!(!only_prepares(&joined(&[code, &call])), "{code:x?}");
            assert!(!only_prepares(&joined(&[prepares[1], code, &call])));
        }
        assert!(!only_prepares(&[0xE8, 1, 2]));
    }

    fn joined(parts: &[&[u8]]) -> Vec<u8> {
        parts.concat()
    }
}
