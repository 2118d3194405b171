//! Names that are numbers, of which large traces are full.

use super::index::GROUP;
use crate::id::NONE;

/// An odd number with its bits well mixed: the golden ratio.
const SPREAD: u64 = 0x9e37_79b9_7f4a_7c15;

/// The longest names that count as numbers.
pub(super) const MAX_DIGITS: usize = 18;

/// The digits of `number`, from the place given on.
#[inline]
pub(super) fn decimal(mut number: u64) -> ([u8; 20], usize) {
    let (mut digits, mut at) = ([b'0'; 20], 20);
    // Two at a time: each division waits for the one before.
    while number > 9 {
        at -= 2;
        let pair = (number % 100) as u8;
        (digits[at], digits[at + 1]) = (b'0' + pair / 10, b'0' + pair % 10);
        number /= 100;
    }
    if number > 0 || at == 20 {
        at -= 1;
        digits[at] = b'0' + number as u8;
    }
    (digits, at)
}

/// The number that `name` is the canonical decimal form of, up to 18 digits.
#[inline]
pub(super) fn number(name: &str) -> Option<u64> {
    let digits = name.as_bytes();
    if digits.is_empty() || digits.len() > MAX_DIGITS || digits[0] == b'0' && digits.len() > 1 {
        return None;
    }
    let mut number = 0;
    for &digit in digits {
        let digit = digit.wrapping_sub(b'0');
        if digit > 9 {
            return None;
        }
        number = number * 10 + u64::from(digit);
    }
    Some(number)
}

/// The hash of a number; `seed` is random, as numbers come from untrusted files.
///
/// Numbers that are next to each other, as the fields of an object often are, differ in the lowest bits only, so that they
/// are found in the same cache line.
#[inline]
pub(super) fn hash(seed: u64, number: u64) -> u32 {
    let group = (number / GROUP as u64) ^ seed;
    let product = u128::from(group) * u128::from(SPREAD ^ seed.rotate_left(32) | 1);
    let mixed = (((product >> 64) as u64 ^ product as u64) >> 32) as u32;
    (mixed / GROUP as u32 * GROUP as u32) | (number as u32 % GROUP as u32)
}

/// The ids of numbers that are small, in a column; others are known by their hash.
#[derive(Clone, Default, Debug)]
pub(super) struct Dense {
    /// Entry n is the id of the number n; at most a few times as long as there are numbers.
    ids: Vec<u32>,
    /// The least number that is elsewhere, though it may be small by now.
    least_other: Option<u64>,
    /// How many numbers there are, here and elsewhere.
    count: u64,
    /// How many there will be, as far as is known.
    expected: u64,
}

impl Dense {
    /// There will be about `count` numbers.
    pub(super) fn expect(&mut self, count: usize) {
        self.expected = count as u64;
    }

    /// The id of `number`, if it is here.
    #[inline]
    pub(super) fn find(&self, number: u64) -> Option<u32> {
        let entry = self.ids.get(usize::try_from(number).ok()?)?;
        Some(*entry).filter(|&id| id != NONE)
    }

    /// The first number that is too large to be here.
    #[inline]
    pub(super) fn end(&self) -> u64 {
        self.ids.len() as u64
    }

    /// Whether `number`, which is not here, may be elsewhere.
    #[inline]
    pub(super) fn is_doubtful(&self, number: u64) -> bool {
        self.least_other.is_some_and(|least| least <= number)
    }

    /// Whether `number` is small enough to be here.
    #[inline]
    pub(super) fn takes(&self, number: u64) -> bool {
        number < (self.ids.len() as u64).max(2 * self.count + 66)
    }

    /// Puts `number` here, which must be small enough.
    #[inline]
    pub(super) fn insert(&mut self, number: u64, id: u32) {
        if number >= self.ids.len() as u64 {
            let likely = if number < self.expected { self.expected } else { 2 * number + 64 };
            self.ids.resize(likely as usize, NONE);
        }
        self.ids[number as usize] = id;
        self.count += 1;
    }

    /// The ids from `id` on stand for `count` numbers from `first` on, if they belong here and are new for certain.
    #[inline]
    pub(super) fn insert_run(&mut self, first: u64, count: u32, id: u32) -> bool {
        let end = first.saturating_add(u64::from(count));
        if end > (self.ids.len() as u64).max(2 * (self.count + u64::from(count)) + 66)
            || self.is_doubtful(end)
        {
            return false;
        }
        let (start, end) = (first as usize, end as usize);
        if end > self.ids.len() {
            self.ids.resize(end.max(self.expected as usize), NONE);
        }
        let run = &mut self.ids[start..end];
        if !run.iter().fold(true, |free, &id| free & (id == NONE)) {
            return false;
        }
        run.iter_mut().zip(id..).for_each(|(entry, id)| *entry = id);
        self.count += u64::from(count);
        true
    }

    /// Takes note that `count` numbers from `number` on are elsewhere.
    #[inline]
    pub(super) fn note_others(&mut self, number: u64, count: u32) {
        self.least_other = Some(self.least_other.map_or(number, |least| least.min(number)));
        self.count += u64::from(count);
    }

    /// How many numbers there are, here and elsewhere.
    #[inline]
    pub(super) fn count(&self) -> u64 {
        self.count
    }
}
