//! Memory that functions of libc read, and write, on the program's behalf.
//!
//! A function of a table says which of its arguments lead to what. What does not depend on the function's result is recorded before
//! the call, the rest after it; nothing of another thread runs in between. Those bytes are recorded that the function
//! looks at: a byte more could be another thread's. Where versions of libc differ (how far a number or a search is looked
//! ahead), it is what the C standard lets the function read of a text, as for `memcmp`.

use crate::abi::access::load;
use crate::abi::rust;
use crate::libc::libraries::{self, Code};
use crate::libc::outside::Arguments;
use crate::libc::outside::formats::{self, Rest};
use crate::libc::vectors::Given;
use crate::record::recording::Inside;
use crate::sched::forced::{IN_TURN, PART};

/// What a use is: state, or memory.
pub(crate) const MEMORY: u32 = 2;

/// What is read or written. `a`, `b` and `c` are arguments, counted from 1.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
#[repr(u8)]
pub(crate) enum What {
    /// Reads the text at `a`, with the zero at its end.
    Text,
    /// Reads the text at `a`, but no more than `b` bytes.
    TextTo,
    /// Reads `b` bytes at `a`.
    Bytes,
    /// Reads `b` things of `c` bytes at `a`.
    Items,
    /// Reads four times `b` bytes at `a`, unless that is null.
    Words,
    /// Reads the number that the text at `a` begins with.
    Number,
    /// Reads the text of wide characters at `a`, and no more than `b` of them where `b` is given.
    Wide,
    /// Reads the texts at `a` and `b` until they differ other than by case, and no more than `c` bytes where `c` is given.
    Alike,
    /// Reads what the format at `a` says of the arguments after it.
    Format,
    /// Reads what the format at `a` says of the list of arguments at `b`.
    FormatList,
    /// The same, of wide characters.
    WideFormat,
    /// The same, of wide characters.
    WideFormatList,
    /// Reads the text that the address at `a` leads to.
    TextAt,
    /// Reads as many bytes as `b` leads to the number of, where the address at `a` leads to.
    BytesAt,
    /// Reads `b` ranges, and where each is, at `a`.
    Pieces,
    /// Gives the whole block at `a` away, see [`crate::libc::outside::given`].
    Given,
    /// Gives four times `b` bytes at `a` away.
    GivenWords,
    /// Gives `b` bytes at `a` away.
    GivenBytes,
    /// Gives `b` things away at `a`; `c` is how many bytes each has.
    GivenSized,
    /// Gives the text at `a` away.
    GivenText,
    /// Gives away as many bytes as `b` leads to the number of, where the address at `a` leads to.
    GivenAt,
    /// Gives `b` ranges, which are told at `a`, away.
    GivenPieces,
    /// Reads the text at `a` as far as the result, which is where something was found, or up to its end.
    Found,
    /// Reads the text at `a` as far as the text at `b` was found in it, or up to its end.
    FoundText,
    /// Reads as many bytes at `a` as the result says, and the one after them.
    Span,
    /// Writes `b` things of `c` bytes at `a`.
    WritesItems,
    /// Writes four times `b` bytes at `a`, unless that is null.
    WritesWords,
    /// Writes the text at `a`.
    WritesText,
    /// Writes the text of wide characters at `a`.
    WritesWide,
    /// Writes as many bytes at `a` as the result says, and a zero after them, unless the result is 0.
    WritesSpan,
    /// Writes a text whose length is the result at `a`, and no more than `b` bytes where `b` is given.
    Prints,
    /// Writes at `a` the address of a text that it makes and whose length is the result.
    PrintsNew,
    /// Writes what the format at `a` says of the list of arguments at `b`, as far as the result says.
    Scans,
    /// Writes the text that is the result, unless that is null.
    Makes,
    /// Copies bytes from `b` to `a` as far as the result, or `c` of them.
    CopiesTo,
    /// Maps `a` bytes of the file `b` from `c` on.
    Maps,
    /// Gives a descriptor, which is the result.
    Opens,
}

const ALL: [What; 37] = [
    What::Text,
    What::TextTo,
    What::Bytes,
    What::Items,
    What::Words,
    What::Number,
    What::Wide,
    What::Alike,
    What::Format,
    What::FormatList,
    What::WideFormat,
    What::WideFormatList,
    What::TextAt,
    What::BytesAt,
    What::Pieces,
    What::Given,
    What::GivenWords,
    What::GivenBytes,
    What::GivenSized,
    What::GivenText,
    What::GivenAt,
    What::GivenPieces,
    What::Found,
    What::FoundText,
    What::Span,
    What::WritesItems,
    What::WritesWords,
    What::WritesText,
    What::WritesWide,
    What::WritesSpan,
    What::Prints,
    What::PrintsNew,
    What::Scans,
    What::Makes,
    What::CopiesTo,
    What::Maps,
    What::Opens,
];

/// One use of memory by a function.
pub(crate) const fn memory(what: What, a: u32, b: u32, c: u32) -> u32 {
    MEMORY << 24 | (what as u32) << 16 | a << 8 | b << 4 | c
}

/// One use of a number of words of four bytes.
pub(crate) const fn memory_words(what: What, a: u32, count: u32) -> u32 {
    assert!(count < 1 << 8);
    memory(what, a, count >> 4, count & 15)
}

/// A use of memory, with its arguments.
#[derive(Clone, Copy)]
pub(crate) struct Use {
    pub(crate) what: What,
    pub(crate) a: usize,
    pub(crate) b: usize,
    pub(crate) c: usize,
    /// The number that `b` and `c` are themselves, where they are none of arguments.
    pub(crate) number: usize,
    /// Which argument `a` is.
    first: usize,
}

impl Use {
    /// The one that a number of a table stands for.
    pub(crate) fn of(part: u32, arguments: &Arguments) -> Option<Use> {
        if part >> 24 != MEMORY {
            return None;
        }
        let argument = |place: u32| {
            let place = (place as usize & 15).checked_sub(1);
            place.and_then(|place| arguments.get(place)).copied().unwrap_or(0)
        };
        Some(Use {
            what: *ALL.get((part >> 16 & 0xFF) as usize)?,
            a: argument(part >> 8),
            b: argument(part >> 4),
            c: argument(part),
            number: (part & 0xFF) as usize,
            first: (part >> 8 & 15) as usize,
        })
    }

    /// Whether it depends on the function's result.
    fn is_after(self) -> bool {
        self.what as u8 >= What::Found as u8
    }
}

/// Whether what a caller has libc do to memory is the program's: neither compiled code of Rust's library, nor the system's own.
pub(crate) fn is_programs(code: usize) -> bool {
    !rust::is_program() && libraries::code_at(code) != Code::System
}

/// What a call has recorded so far: its first event is the call, the others are parts of it.
pub(crate) struct Recorder {
    pub(crate) code: usize,
}

/// The bytes that tell of a range.
pub(crate) const PIECE: usize = 16;

/// How many ranges there are, or none where libc takes no such number.
pub(crate) fn pieces(count: usize) -> usize {
    if count > 1 << 10 { 0 } else { count }
}

impl Recorder {
    pub(crate) fn new(code: usize) -> Recorder {
        Recorder { code }
    }

    pub(crate) fn read(&mut self, inside: &mut Inside, at: usize, length: usize, in_turn: bool) {
        if at != 0 && length != 0 && length <= isize::MAX as usize {
            inside.observed(at, length, self.code | if in_turn { IN_TURN } else { 0 });
            self.code |= PART;
        }
    }

    pub(crate) fn write(&mut self, inside: &mut Inside, at: usize, length: usize) {
        if at != 0 && length != 0 && length <= isize::MAX as usize {
            inside.written(at, length, self.code);
            self.code |= PART;
        }
    }

    /// Records what is read before the call.
    pub(crate) fn before(&mut self, inside: &mut Inside, part: Use, arguments: &Arguments) {
        if part.is_after() || part.a == 0 {
            return;
        }
        let Use { what, a, b, c, number, .. } = part;
        match what {
            What::Text => self.read(inside, a, text(a), true),
            What::TextTo => self.read(inside, a, text_to(a, b), true),
            What::Bytes => self.read(inside, a, b, false),
            What::Items => self.read(inside, a, b.saturating_mul(c), false),
            What::Words => self.read(inside, a, number * 4, false),
            What::Number => self.read(inside, a, number_length(a), true),
            What::Wide => {
                let most = if number == 0 { usize::MAX } else { b };
                self.read(inside, a, formats::wide_text(a, most), true);
            }
            What::Alike => {
                let length = alike(a, b, if c == 0 { usize::MAX } else { c });
                self.read(inside, a, length, true);
                self.read(inside, b, length, true);
            }
            What::Format | What::WideFormat => {
                let rest = Rest::of_call(arguments, part.first);
                let is_wide = what == What::WideFormat;
                formats::printed(a, is_wide, rest, |at, length| self.read(inside, at, length, true));
            }
            What::FormatList | What::WideFormatList => {
                let (rest, is_wide) = (Rest::of_list(b), what == What::WideFormatList);
                formats::printed(a, is_wide, rest, |at, length| self.read(inside, at, length, true));
            }
            What::TextAt => {
                let at = load(a, 8) as usize;
                self.read(inside, at, if at == 0 { 0 } else { text(at) }, true);
            }
            What::BytesAt if b != 0 => self.read(inside, load(a, 8) as usize, load(b, 8) as usize, false),
            What::Pieces => {
                self.read(inside, a, pieces(b) * PIECE, false);
                Given::Pieces(a, b).ranges(usize::MAX, |at, length| self.read(inside, at, length, false));
            }
            _ => self.gives(inside, part),
        }
    }

    /// Records what is read and written, once the function has given `result`.
    pub(crate) fn after(&mut self, inside: &mut Inside, part: Use, arguments: &Arguments, result: usize) {
        let Use { what, a, b, c, number, .. } = part;
        if !part.is_after() || a == 0 && !matches!(what, What::Makes | What::Opens) {
            return;
        }
        match what {
            What::Found => {
                let length = if result == 0 { text(a) } else { result.wrapping_sub(a).wrapping_add(1) };
                self.read(inside, a, length, true);
            }
            What::FoundText => {
                let wanted = text(b);
                let length = if result == 0 { text(a) } else { result.wrapping_sub(a) + wanted - 1 };
                self.read(inside, a, length, true);
                self.read(inside, b, wanted, true);
            }
            What::Span => self.read(inside, a, result.wrapping_add(1), true),
            What::WritesItems => self.write(inside, a, b.saturating_mul(c)),
            What::WritesWords => self.write(inside, a, number * 4),
            What::WritesText => self.write(inside, a, if result == 0 { 0 } else { text(a) }),
            What::WritesWide => self.write(inside, a, formats::wide_text(a, usize::MAX)),
            What::WritesSpan => {
                self.write(inside, a, if result == 0 { 0 } else { result.wrapping_add(1) });
            }
            What::Prints => {
                let length = usize::try_from(result as i32).map_or(0, |length| length + 1);
                self.write(inside, a, if number == 0 { length } else { length.min(b) });
            }
            What::PrintsNew => {
                let length = usize::try_from(result as i32).map_or(0, |length| length + 1);
                self.write(inside, a, if length == 0 { 0 } else { 8 });
                let made = if length == 0 { 0 } else { load(a, 8) as usize };
                self.write(inside, made, length);
            }
            What::Scans => {
                let assigned = usize::try_from(result as i32).unwrap_or(0);
                formats::scanned(a, Rest::of_list(b), assigned, |at, length| self.write(inside, at, length));
            }
            What::Makes => self.write(inside, result, if result == 0 { 0 } else { text(result) }),
            What::CopiesTo => {
                let length = if result == 0 { c } else { result.wrapping_sub(a) };
                self.read(inside, b, length, true);
                self.write(inside, a, length);
            }
            What::Opens => inside.leads(result, self.code),
            What::Maps => inside.has_mapped(result, [a, arguments[3], b, c], self.code),
            _ => {}
        }
    }
}

/// The length of a text with the zero at its end.
pub(crate) fn text(at: usize) -> usize {
    text_to(at, usize::MAX)
}

/// How much of a text is read by who stops after `most` bytes.
pub(crate) fn text_to(at: usize, most: usize) -> usize {
    let mut length = 0;
    while length < most && load(at + length, 1) != 0 {
        length += 1;
    }
    length.saturating_add(1).min(most)
}

/// How far two texts are read by who compares them without regard to case.
fn alike(a: usize, b: usize, most: usize) -> usize {
    let lower = |at: usize| (load(at, 1) as u8).to_ascii_lowercase();
    let mut length = 0;
    while length < most {
        let (left, right) = (lower(a + length), lower(b + length));
        length += 1;
        if left != right || left == 0 {
            break;
        }
    }
    length
}

/// How far a text is read by who looks for a number at its start: white space, everything that may be in a number, of any base, and
/// the first byte that may not.
fn number_length(at: usize) -> usize {
    let byte = |length: usize| load(at + length, 1) as u8;
    let mut length = 0;
    while byte(length).is_ascii_whitespace() || byte(length) == 0x0B {
        length += 1;
    }
    if matches!(byte(length), b'+' | b'-') {
        length += 1;
    }
    let mut last = 0;
    loop {
        let next = byte(length);
        let is_sign = matches!(next, b'+' | b'-') && matches!(last | 0x20, b'e' | b'p');
        if !(next.is_ascii_alphanumeric() || is_sign || next == b'.') {
            return length + 1;
        }
        last = next;
        length += 1;
    }
}

#[cfg(test)]
mod tests;
