//! The conversions of a format, one after another.

use crate::abi::access::load;
use crate::libc::outside::formats::wide_text;
use crate::libc::outside::memory::text_to;

/// Goes through a format character by character.
pub(super) struct Walk {
    pub(super) at: usize,
    /// The bytes of a character.
    pub(super) step: usize,
}

impl Walk {
    pub(super) fn peek(&self) -> u8 {
        match load(self.at, self.step) {
            plain @ 0..=0x7F => plain as u8,
            _ => 0x7F,
        }
    }

    pub(super) fn next(&mut self) -> u8 {
        let byte = self.peek();
        self.at += if byte == 0 { 0 } else { self.step };
        byte
    }

    pub(super) fn skip(&mut self, bytes: &[u8]) -> bool {
        let found = self.peek() != 0 && bytes.contains(&self.peek());
        self.at += if found { self.step } else { 0 };
        found
    }

    /// Goes on behind the next `%`; false where there is none.
    pub(super) fn conversion(&mut self) -> bool {
        loop {
            match self.next() {
                0 => return false,
                b'%' => return true,
                _ => {}
            }
        }
    }

    pub(super) fn number(&mut self) -> Option<usize> {
        let mut number = None;
        while self.peek().is_ascii_digit() {
            let digit = usize::from(self.next() - b'0');
            number = Some(number.unwrap_or(0usize).saturating_mul(10).saturating_add(digit));
        }
        number
    }

    /// The number of the argument that is meant, where one is: `1$`.
    pub(super) fn numbered(&mut self) -> Option<usize> {
        let before = self.at;
        let number = self.number().filter(|_| self.skip(b"$"));
        if number.is_none() {
            self.at = before;
        }
        number
    }

    /// A width or a precision.
    pub(super) fn amount(&mut self) -> Amount {
        if self.skip(b"*") {
            return self.numbered().map_or(Amount::Next, Amount::Of);
        }
        self.number().map_or(Amount::None, Amount::Is)
    }

    /// The size that letters before a conversion give it.
    pub(super) fn size(&mut self) -> Size {
        let mut size = Size::Int;
        loop {
            size = match (self.peek(), size) {
                (b'h', Size::Short) => Size::Char,
                (b'h', _) => Size::Short,
                (b'L', _) => Size::LongDouble,
                (b'l' | b'q' | b'j' | b'z' | b'Z' | b't', _) => Size::Long,
                _ => return size,
            };
            self.at += self.step;
        }
    }

    /// A conversion of `printf`, behind its `%`.
    pub(super) fn printed(&mut self) -> Conversion {
        let of = self.numbered();
        while self.skip(b"-+ #0'I") {}
        let width = self.amount();
        let precision = match self.skip(b".") {
            true => match self.amount() {
                Amount::None => Amount::Is(0),
                amount => amount,
            },
            false => Amount::None,
        };
        let size = self.size();
        Conversion { of, width, precision, size, kind: self.next() }
    }
}

/// How wide, or how long at most.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum Amount {
    None,
    Is(usize),
    /// The next argument says it.
    Next,
    /// The argument of this number says it.
    Of(usize),
}

/// What an argument of `printf` is.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum Takes {
    Word,
    Float {
        is_long: bool,
    },
    None,
    /// Not known, nor what comes after it.
    Unknown,
}

/// One conversion of `printf`.
pub(super) struct Conversion {
    /// The number of its argument, where it has one.
    pub(super) of: Option<usize>,
    pub(super) width: Amount,
    pub(super) precision: Amount,
    pub(super) size: Size,
    pub(super) kind: u8,
}

impl Conversion {
    pub(super) fn takes(&self) -> Takes {
        match self.kind {
            b'd' | b'i' | b'o' | b'u' | b'x' | b'X' | b'c' | b'C' | b'p' | b'n' | b's' | b'S' => Takes::Word,
            b'e' | b'E' | b'f' | b'F' | b'g' | b'G' | b'a' | b'A' => {
                Takes::Float { is_long: self.size == Size::LongDouble }
            }
            b'm' | b'%' => Takes::None,
            _ => Takes::Unknown,
        }
    }

    /// Calls `each` with the text at `at`, where it reads one.
    pub(super) fn text(&self, at: usize, most: usize, mut each: impl FnMut(usize, usize)) {
        match self.kind {
            b's' | b'S' if at == 0 => each(at, 0),
            b's' if self.size != Size::Long => each(at, text_to(at, most)),
            b's' | b'S' => each(at, wide_text(at, most)),
            _ => {}
        }
    }
}

#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum Size {
    Char,
    Short,
    Int,
    Long,
    LongDouble,
}
