//! What a name is: a text, or a number that is spelled when somebody asks for it.
//!
//! Large traces are full of names that are numbers. Most are never shown, and spelling them takes longer than reading them.

use std::ops::Range;
use std::sync::OnceLock;

use super::number::decimal;

/// A number, or where a text is: its length above [`LENGTH`] and its start below, with the top bit set.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) struct Entry(u64);

const TEXT: u64 = 1 << 63;
/// Lengths have 17 bits, as the longest name has 2^16 bytes; starts have 46, which is more memory than there is.
const LENGTH: u32 = 46;

impl Entry {
    /// A number below 2^63.
    #[inline]
    pub(super) fn number(number: u64) -> Entry {
        Entry(number & !TEXT)
    }

    /// The text that is about to be added to `text`.
    #[inline]
    pub(super) fn next(text: &str, length: usize) -> Entry {
        Entry(TEXT | (length as u64) << LENGTH | text.len() as u64)
    }

    /// The number; else where the text is.
    #[inline]
    pub(super) fn get(self) -> Result<u64, Range<usize>> {
        if self.0 & TEXT == 0 {
            return Ok(self.0);
        }
        let start = (self.0 & ((1 << LENGTH) - 1)) as usize;
        Err(start..start + ((self.0 & !TEXT) >> LENGTH) as usize)
    }
}

/// The digits of all numbers among some entries, once somebody has asked.
#[derive(Clone, Default, Debug)]
pub(super) struct Spelled(OnceLock<Digits>);

#[derive(Clone, Default, Debug)]
struct Digits {
    text: String,
    /// By id, where the digits are; the text itself for what is no number.
    entries: Vec<Entry>,
}

impl Spelled {
    /// Whether somebody has asked.
    #[inline]
    pub(super) fn is_there(&self) -> bool {
        self.0.get().is_some()
    }

    /// The digits of the number that `id` stands for in `entries`, which have only grown since the first call.
    ///
    /// # Panics
    /// When there were numbers among what was added since.
    #[cold]
    pub(super) fn get(&self, entries: &[Entry], id: u32) -> &str {
        let digits = self.0.get_or_init(|| {
            let mut digits = Digits::default();
            digits.entries = entries.iter().map(|&entry| spell(entry, &mut digits.text)).collect();
            digits
        });
        digits.entries[id as usize].get().map_or_else(|range| &digits.text[range], |_| "")
    }

    /// Puts the digits with the texts of `entries`, so that each number is spelled once, whoever asks when.
    #[cold]
    pub(super) fn settle(&mut self, entries: &mut [Entry], text: &mut String) {
        for entry in entries {
            *entry = spell(*entry, text);
        }
        *self = Spelled::default();
    }
}

/// Adds the digits of a number to `text`; what is a text already stays where it is.
fn spell(entry: Entry, text: &mut String) -> Entry {
    let Ok(number) = entry.get() else { return entry };
    let (digits, start) = decimal(number);
    // Digits are text.
    let digits = std::str::from_utf8(&digits[start..]).unwrap_or_default();
    let spelled = Entry::next(text, digits.len());
    text.push_str(digits);
    spelled
}
