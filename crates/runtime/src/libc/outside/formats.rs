//! What formats of `printf` and `scanf` say of the arguments after them: which texts are read, which memory is written.
//!
//! A conversion that this module does not understand (one that the program registered) ends the
//! walk: what comes after it is not recorded.

mod walk;

use crate::abi::access::load;
use crate::libc::outside::Arguments;
use crate::libc::outside::formats::walk::{Amount, Size, Takes, Walk};
use crate::libc::outside::memory::text;

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

/// The bytes of a wide character.
const WIDE: usize = 4;

/// Calls `each` with the texts that a format of `printf`, or of `wprintf`, has read, the format
/// first.
pub(crate) fn printed(format: usize, is_wide: bool, mut rest: Rest, mut each: impl FnMut(usize, usize)) {
    each(format, if is_wide { wide_text(format, usize::MAX) } else { text(format) });
    let mut walk = Walk { at: format, step: if is_wide { WIDE } else { 1 } };
    while walk.conversion() {
        let conversion = walk.printed();
        if conversion.of.is_some() {
            walk.at = format;
            return printed_by_number(walk, rest, each);
        }
        if conversion.width == Amount::Next {
            rest.word();
        }
        let most = match conversion.precision {
            Amount::Is(most) => most,
            Amount::Next => precision(rest.word()),
            _ => usize::MAX,
        };
        match conversion.takes() {
            Takes::Word => conversion.text(rest.word(), most, &mut each),
            Takes::Float { is_long } => rest.skip_float(is_long),
            Takes::None => {}
            Takes::Unknown => return,
        }
    }
}

/// One that is negative is none.
fn precision(word: usize) -> usize {
    usize::try_from(word as i32).unwrap_or(usize::MAX)
}

/// The most arguments that are told apart by number.
const MOST_NUMBERED: usize = 64;

/// The same for a format that says which argument each conversion takes. What all of them are has
/// to be known before the second one is found.
fn printed_by_number(mut walk: Walk, mut rest: Rest, mut each: impl FnMut(usize, usize)) {
    let start = walk.at;
    let mut takes = [Takes::None; MOST_NUMBERED];
    while walk.conversion() {
        let conversion = walk.printed();
        let mut note = |number: Option<usize>, what| {
            if let Some(room) = number.and_then(|number| takes.get_mut(number.wrapping_sub(1))) {
                *room = what;
            }
        };
        for amount in [conversion.width, conversion.precision] {
            if let Amount::Of(number) = amount {
                note(Some(number), Takes::Word);
            }
        }
        note(conversion.of, conversion.takes());
    }
    let count = takes.iter().rposition(|&takes| takes != Takes::None).map_or(0, |last| last + 1);
    let mut words = [0; MOST_NUMBERED];
    for (takes, word) in takes.iter().zip(&mut words).take(count) {
        match takes {
            // One that no conversion takes is as wide as a number.
            Takes::Word | Takes::None => *word = rest.word(),
            Takes::Float { is_long } => rest.skip_float(*is_long),
            Takes::Unknown => break,
        }
    }
    let word = |number: usize| words.get(number.wrapping_sub(1)).copied().unwrap_or(0);
    walk.at = start;
    while walk.conversion() {
        let conversion = walk.printed();
        let most = match conversion.precision {
            Amount::Is(most) => most,
            Amount::Of(number) => precision(word(number)),
            _ => usize::MAX,
        };
        if let (Some(number), Takes::Word) = (conversion.of, conversion.takes()) {
            conversion.text(word(number), most, &mut each);
        }
    }
}

/// The bytes of a text of wide characters, no more than so many characters of it.
pub(crate) fn wide_text(at: usize, most: usize) -> usize {
    let mut length = 0;
    while length < most && load(at + length * WIDE, WIDE) != 0 {
        length += 1;
    }
    length.saturating_add(1).min(most) * WIDE
}

/// Calls `each` with the memory that a format of `scanf` has written after `assigned` conversions.
pub(crate) fn scanned(format: usize, mut rest: Rest, assigned: usize, mut each: impl FnMut(usize, usize)) {
    let mut walk = Walk { at: format, step: 1 };
    let (all, mut done) = (rest, 0);
    while done < assigned && walk.conversion() {
        let of = walk.numbered();
        let suppressed = walk.skip(b"*");
        let width = walk.number();
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
        let mut at = match of {
            // All are addresses, whatever they lead to.
            Some(number) => {
                let mut rest = all;
                (1..number.min(MOST_NUMBERED)).for_each(|_| _ = rest.word());
                rest.word()
            }
            None => rest.word(),
        };
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
mod tests;
