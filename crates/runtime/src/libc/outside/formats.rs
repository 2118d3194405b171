//! What formats of `printf` and `scanf` say of the arguments after them: which texts are read, which memory is written.
//!
//! A format that this module does not understand (arguments by number, conversions that the program registered) ends the walk: what
//! comes after it is not recorded.

use crate::abi::access::load;
use crate::libc::outside::Arguments;
use crate::libc::outside::memory::{text, text_to};

/// Arguments that a function takes as they come: those in registers that are left, and those on the stack.
#[derive(Clone, Copy)]
pub(crate) struct Rest {
    register: usize,
    registers_end: usize,
    floats: usize,
    stack: usize,
}

/// The words that the code before libc's functions keeps between the arguments and its caller's stack: three registers and
/// the address to return to.
const KEPT_WORDS: usize = 4;
const REGISTERS: usize = 6;
const FLOATS: usize = 8;

impl Rest {
    /// The arguments of a call after the first `fixed`, where registers were kept as `reweave_outside` does.
    pub(crate) fn of_call(arguments: &Arguments, fixed: usize) -> Rest {
        let at = arguments.as_ptr() as usize;
        let end = at + REGISTERS * 8;
        Rest {
            register: at + fixed.min(REGISTERS) * 8,
            registers_end: end,
            floats: FLOATS,
            stack: end + KEPT_WORDS * 8,
        }
    }

    /// Those of a `va_list`.
    pub(crate) fn of_list(list: usize) -> Rest {
        let (integers, floats) = (load(list, 4) as usize, load(list + 4, 4) as usize);
        let (stack, registers) = (load(list + 8, 8) as usize, load(list + 16, 8) as usize);
        let used = floats.saturating_sub(REGISTERS * 8) / 16;
        Rest {
            register: registers.wrapping_add(integers),
            registers_end: registers.wrapping_add(REGISTERS * 8),
            floats: FLOATS.saturating_sub(used),
            stack,
        }
    }

    fn word(&mut self) -> usize {
        let next = if self.register < self.registers_end { &mut self.register } else { &mut self.stack };
        let word = load(*next, 8) as usize;
        *next += 8;
        word
    }

    fn skip_float(&mut self, is_long: bool) {
        if is_long {
            self.stack = self.stack.next_multiple_of(16) + 16;
        } else if self.floats > 0 {
            self.floats -= 1;
        } else {
            self.stack += 8;
        }
    }
}

/// Goes through a format byte by byte.
struct Walk {
    at: usize,
}

impl Walk {
    fn peek(&self) -> u8 {
        load(self.at, 1) as u8
    }

    fn next(&mut self) -> u8 {
        let byte = self.peek();
        self.at += usize::from(byte != 0);
        byte
    }

    fn skip(&mut self, bytes: &[u8]) -> bool {
        let found = self.peek() != 0 && bytes.contains(&self.peek());
        self.at += usize::from(found);
        found
    }

    /// Goes on behind the next `%`; false where there is none.
    fn conversion(&mut self) -> bool {
        loop {
            match self.next() {
                0 => return false,
                b'%' => return true,
                _ => {}
            }
        }
    }

    fn number(&mut self) -> Option<usize> {
        let mut number = None;
        while self.peek().is_ascii_digit() {
            let digit = usize::from(self.next() - b'0');
            number = Some(number.unwrap_or(0usize).saturating_mul(10).saturating_add(digit));
        }
        number
    }

    /// The size that letters before a conversion give it.
    fn size(&mut self) -> Size {
        let mut size = Size::Int;
        loop {
            size = match (self.peek(), size) {
                (b'h', Size::Short) => Size::Char,
                (b'h', _) => Size::Short,
                (b'L', _) => Size::LongDouble,
                (b'l' | b'q' | b'j' | b'z' | b'Z' | b't', _) => Size::Long,
                _ => return size,
            };
            self.at += 1;
        }
    }
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum Size {
    Char,
    Short,
    Int,
    Long,
    LongDouble,
}

/// Calls `each` with the texts that a format of `printf` has read, the format first.
pub(crate) fn printed(format: usize, mut rest: Rest, mut each: impl FnMut(usize, usize)) {
    each(format, text(format));
    let mut walk = Walk { at: format };
    while walk.conversion() {
        while walk.skip(b"-+ #0'I") {}
        if walk.skip(b"*") {
            rest.word();
        } else if walk.number().is_some() && walk.peek() == b'$' {
            return;
        }
        let most = if walk.skip(b".") { precision(&mut walk, &mut rest) } else { usize::MAX };
        let size = walk.size();
        match walk.next() {
            b'd' | b'i' | b'o' | b'u' | b'x' | b'X' | b'c' | b'C' | b'p' | b'n' => _ = rest.word(),
            b'e' | b'E' | b'f' | b'F' | b'g' | b'G' | b'a' | b'A' => {
                rest.skip_float(size == Size::LongDouble)
            }
            b's' if size != Size::Long => {
                let at = rest.word();
                each(at, if at == 0 { 0 } else { text_to(at, most) });
            }
            b's' | b'S' => {
                let at = rest.word();
                each(at, if at == 0 { 0 } else { wide_text(at, most) });
            }
            b'm' | b'%' => {}
            _ => return,
        }
    }
}

fn precision(walk: &mut Walk, rest: &mut Rest) -> usize {
    if walk.skip(b"*") {
        // One that is negative is none.
        return usize::try_from(rest.word() as i32).unwrap_or(usize::MAX);
    }
    walk.number().unwrap_or(0)
}

/// The bytes of a text of wide characters, no more than so many characters of it.
pub(crate) fn wide_text(at: usize, most: usize) -> usize {
    const WIDE: usize = 4;
    let mut length = 0;
    while length < most && load(at + length * WIDE, WIDE) != 0 {
        length += 1;
    }
    length.saturating_add(1).min(most) * WIDE
}

/// Calls `each` with the memory that a format of `scanf` has written after `assigned` conversions.
pub(crate) fn scanned(format: usize, mut rest: Rest, assigned: usize, mut each: impl FnMut(usize, usize)) {
    let mut walk = Walk { at: format };
    let mut done = 0;
    while done < assigned && walk.conversion() {
        let suppressed = walk.skip(b"*");
        let width = walk.number();
        if walk.peek() == b'$' {
            return;
        }
        while walk.skip(b"'I") {}
        let made = walk.skip(b"m");
        let size = walk.size();
        let kind = walk.next();
        if kind == b'[' {
            skip_set(&mut walk);
        }
        if suppressed || kind == b'%' {
            continue;
        }
        let mut at = rest.word();
        if made {
            each(at, 8);
            at = load(at, 8) as usize;
        }
        let Some(length) = written(kind, size, width, at) else { return };
        each(at, length);
        // It is no assignment; what comes after it was assigned, so it was reached.
        done += usize::from(kind != b'n');
    }
}

/// How many bytes a conversion of `scanf` has written at `at`.
fn written(kind: u8, size: Size, width: Option<usize>, at: usize) -> Option<usize> {
    let integer = match size {
        Size::Char => 1,
        Size::Short => 2,
        Size::Int => 4,
        Size::Long | Size::LongDouble => 8,
    };
    Some(match kind {
        b'd' | b'i' | b'u' | b'o' | b'x' | b'X' | b'n' => integer,
        b'p' => 8,
        b'e' | b'E' | b'f' | b'F' | b'g' | b'G' | b'a' | b'A' => match size {
            Size::Long => 8,
            Size::LongDouble => 10,
            _ => 4,
        },
        b'c' if size == Size::Int => width.unwrap_or(1),
        b's' | b'[' if size == Size::Int => text(at),
        _ => return None,
    })
}

/// Goes on behind the set of characters that was just begun.
fn skip_set(walk: &mut Walk) {
    walk.skip(b"^");
    walk.skip(b"]");
    while !matches!(walk.next(), 0 | b']') {}
}

#[cfg(test)]
mod tests {
    use core::ffi::CStr;
    use std::vec::Vec;

    use super::*;

    /// A list of arguments whose registers are used up.
    fn on_stack(words: &[usize]) -> Rest {
        Rest { register: 0, registers_end: 0, floats: FLOATS, stack: words.as_ptr() as usize }
    }

    fn texts(format: &CStr, words: &[usize]) -> Vec<usize> {
        let mut found = Vec::new();
        printed(format.as_ptr() as usize, on_stack(words), |_, length| found.push(length));
        found.remove(0);
        found
    }

    #[test]
    fn a_format_says_which_texts_are_read() {
        let (a, b) = (c"hello".as_ptr() as usize, c"x".as_ptr() as usize);
        assert_eq!(texts(c"%s %d %s", &[a, 1, b]), [6, 2]);
        assert_eq!(texts(c"%.3s|%.*s|%-*s%%", &[a, 2, a, 9, a]), [3, 2, 6]);
        assert_eq!(texts(c"%f %5.2lf %s %Lg", &[a]), [6]);
        assert_eq!(texts(c"%s%m%ld%hhx%zu%p", &[0, 1, 2, 3, 4]), [0]);
        assert_eq!(texts(c"%1$s", &[a]), [] as [usize; 0]);
        assert_eq!(texts(c"100%", &[]), [] as [usize; 0]);
    }

    #[test]
    fn a_format_says_what_was_written() {
        let word = c"ab".as_ptr() as usize;
        let cases: [(&CStr, usize, &[usize]); 6] = [
            (c"%d %ld %hhd", 3, &[4, 8, 1]),
            (c"%d %ld %hhd", 1, &[4]),
            (c"%*d%n%lf", 1, &[4, 8]),
            (c"%[^]x]%5c", 2, &[3, 5]),
            (c"%s %d", 1, &[3]),
            (c"%d%n", 1, &[4]),
        ];
        for (format, assigned, expected) in cases {
            let mut found = Vec::new();
            scanned(format.as_ptr() as usize, on_stack(&[word; 4]), assigned, |_, length| found.push(length));
            assert_eq!(found, expected, "{format:?}");
        }
    }
}
