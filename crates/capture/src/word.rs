//! A word of the recorded program's memory: how it is cut, who touched it, what it held.

/// A part of an access that lies in one word: its address, its length, and where in the access it begins.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) struct Part {
    pub(crate) at: u64,
    pub(crate) length: u8,
    pub(crate) offset: u8,
}

/// The parts of an access of up to eight bytes.
#[inline]
pub(crate) fn parts(at: u64, length: u8) -> impl Iterator<Item = Part> {
    let first = length.min(8 - (at % 8) as u8);
    [
        Part { at, length: first, offset: 0 },
        Part { at: at.wrapping_add(u64::from(first)), length: length - first, offset: first },
    ]
    .into_iter()
    .filter(|part| part.length > 0)
}

/// The one part of an access that lies in one word.
#[inline]
pub(crate) fn only_part(at: u64, length: u8) -> Option<Part> {
    (at % 8 + u64::from(length) <= 8).then_some(Part { at, length, offset: 0 })
}

/// Several threads touched it.
const SEVERAL: u8 = 1;
/// Somebody changed it, recorded or not.
const CHANGED: u8 = 2;
/// Its object knows that the thread that touched it first touched it in this life.
const TOLD: u8 = 4;

/// Sixteen bytes, for most of the time of a survey goes into fetching them.
#[derive(Clone, Copy)]
pub(crate) struct Word {
    value: u64,
    /// The thread that touched it first, plus one.
    first: u32,
    /// A bit per byte: a variable starts there. A word's first byte always starts one.
    starts: u8,
    /// A bit per byte: its value is known.
    known: u8,
    flags: u8,
}

pub(crate) const FRESH: Word = Word { value: 0, first: 0, starts: 1, known: 0, flags: 0 };

impl Word {
    /// Notes that `thread` touched a part. Says whether the object that has it does not know that yet.
    #[inline]
    pub(crate) fn touch(&mut self, part: Part, thread: u32) -> bool {
        let start = (part.at % 8) as u8;
        // The end of the word is the end of all its variables.
        self.starts |= (1u16 << start | 1 << (start + part.length)) as u8;
        let thread = thread.wrapping_add(1);
        if self.first == thread {
            return self.flags & TOLD == 0;
        }
        if self.first == 0 {
            self.first = thread;
        } else {
            self.flags |= SEVERAL;
        }
        true
    }

    pub(crate) fn is_touched(self) -> bool {
        self.first != 0
    }

    /// Calls `each` with the thread that touched it first, and with another one where several did.
    pub(crate) fn touched_by(self, mut each: impl FnMut(u32)) {
        if self.first != 0 {
            each(self.first - 1);
        }
        if self.is_several() {
            each(self.first);
        }
    }

    /// The object knows of this touch by `thread`.
    pub(crate) fn told(&mut self, thread: u32) {
        if self.first == thread.wrapping_add(1) {
            self.flags |= TOLD;
        }
    }

    /// Another object is here, or none, and what was here is not known any more.
    pub(crate) fn renew(&mut self) {
        self.known = 0;
        self.flags &= !TOLD;
    }

    pub(crate) fn changed(&mut self) {
        self.flags |= CHANGED;
    }

    pub(crate) fn is_changed(self) -> bool {
        self.flags & CHANGED != 0
    }

    pub(crate) fn is_several(self) -> bool {
        self.flags & SEVERAL != 0
    }

    /// Whether any other thread than this one touched it first, or none.
    pub(crate) fn is_foreign_to(self, thread: u32) -> bool {
        self.first != thread.wrapping_add(1)
    }

    /// Whether a read that observed `value` shows a write that was not recorded.
    #[inline]
    pub(crate) fn observe(&mut self, part: Part, value: u64) -> bool {
        let shift = (part.at % 8) as u32;
        let known = self.known >> shift & ((1u16 << part.length) - 1) as u8;
        let differs = (self.value >> (8 * shift) ^ value) & BYTES[usize::from(known)] != 0;
        self.hold(part, value);
        differs
    }

    #[inline]
    pub(crate) fn store(&mut self, part: Part, value: u64) {
        self.flags |= CHANGED;
        self.hold(part, value);
    }

    #[inline]
    fn hold(&mut self, part: Part, value: u64) {
        let bytes = ((1u16 << part.length) - 1) as u8;
        let (shift, mask) = (8 * (part.at % 8) as u32, BYTES[usize::from(bytes)]);
        self.value = self.value & !(mask << shift) | (value & mask) << shift;
        self.known |= bytes << (part.at % 8);
    }

    /// How many variables lie before `at`, where one begins.
    #[inline]
    pub(crate) fn variables_before(self, at: u64) -> u32 {
        // The first bit, which is always set, stands for what begins at the start.
        (self.starts & (((2u16 << (at % 8)) - 1) as u8)).count_ones() - 1
    }

    /// The variables that make up a part.
    pub(crate) fn variables(self, part: Part) -> impl Iterator<Item = Part> + use<> {
        let starts = self.starts;
        let base = part.at / 8 * 8;
        let (first, end) = ((part.at % 8) as u8, (part.at % 8) as u8 + part.length);
        let mut at = first;
        std::iter::from_fn(move || {
            (at < end).then(|| {
                let start = at;
                at += 1;
                while at < end && starts >> at & 1 == 0 {
                    at += 1;
                }
                Part { at: base + u64::from(start), length: at - start, offset: part.offset + start - first }
            })
        })
    }
}

/// All bits of the bytes whose bit is set.
const BYTES: [u64; 256] = {
    let mut masks = [0; 256];
    let mut bits = 0;
    while bits < 256 {
        let mut byte = 0;
        while byte < 8 {
            if bits >> byte & 1 != 0 {
                masks[bits] |= 0xFF << (8 * byte);
            }
            byte += 1;
        }
        bits += 1;
    }
    masks
};
