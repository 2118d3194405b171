//! Names that are spelled when somebody asks for one.
//!
//! A file in our format gives numbers as numbers. Most are never shown, and spelling them takes longer than reading them.

use std::sync::OnceLock;

use super::number::decimal;

/// Numbers in decimal, in order.
#[derive(Clone, Default, Debug)]
pub(super) struct Late {
    numbers: Vec<u64>,
    spelled: OnceLock<Spelled>,
}

/// The digits of all numbers, and where those of each end.
#[derive(Clone, Default, Debug)]
struct Spelled {
    text: String,
    ends: Vec<usize>,
}

impl Late {
    #[inline]
    pub(super) fn len(&self) -> usize {
        self.numbers.len()
    }

    /// Whether somebody has asked.
    #[inline]
    pub(super) fn is_spelled(&self) -> bool {
        self.spelled.get().is_some()
    }

    /// Adds a number; nobody must have asked yet.
    #[inline]
    pub(super) fn push(&mut self, number: u64) {
        self.numbers.push(number);
    }

    /// The name at `place`.
    ///
    /// # Panics
    /// When there is none.
    #[cold]
    pub(super) fn get(&self, place: usize) -> &str {
        let Spelled { text, ends } = self.spelled.get_or_init(|| {
            let mut spelled = Spelled::default();
            self.spell(|name| {
                spelled.text.push_str(name);
                spelled.ends.push(spelled.text.len());
            });
            spelled
        });
        let start = if place == 0 { 0 } else { ends[place - 1] };
        &text[start..ends[place]]
    }

    /// Gives away all names, after which there are none.
    pub(super) fn drain(&mut self, take: impl FnMut(&str)) {
        if !self.numbers.is_empty() {
            self.spell(take);
            *self = Late::default();
        }
    }

    fn spell(&self, mut take: impl FnMut(&str)) {
        for &number in &self.numbers {
            let (digits, start) = decimal(number);
            // Digits are text.
            take(std::str::from_utf8(&digits[start..]).unwrap_or_default());
        }
    }
}
