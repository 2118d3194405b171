//! Names that are numbers, of which large traces are full.

use hashbrown::HashTable;
use hashbrown::hash_table::Entry;

use crate::id::NONE;

/// An odd number with its bits well mixed: the golden ratio.
pub(super) const SPREAD: u64 = 0x9e37_79b9_7f4a_7c15;

/// The most numbers that memory is set aside for in advance: how many there will be is told by untrusted files.
const MOST_EXPECTED: usize = 1 << 20;

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

/// The ids of names that are numbers: of small ones in a column, of others by hash. Neither needs a look at the text.
#[derive(Clone, Default, Debug)]
pub(super) struct Numbers {
    /// Entry n is the id of the number n; at most a few times as long as there are numbers.
    small: Vec<u32>,
    large: HashTable<(u64, u32)>,
    /// The least number that is in `large`, though it may be small by now.
    least_large: Option<u64>,
    count: u64,
    /// How many there will be, as far as is known.
    expected: usize,
    /// Random, as the numbers come from untrusted files.
    seed: u64,
}

impl Numbers {
    #[inline]
    fn place(seed: u64, number: u64) -> u64 {
        let product = u128::from(number ^ seed) * u128::from(SPREAD ^ seed.rotate_left(32) | 1);
        (product >> 64) as u64 ^ product as u64
    }

    #[inline]
    pub(super) fn find(&self, number: u64) -> Option<u32> {
        if let Some(&id) = self.small.get(number as usize)
            && id != NONE
        {
            return Some(id);
        }
        if self.least_large.is_none_or(|least| number < least) {
            return None;
        }
        let place = Numbers::place(self.seed, number);
        self.large.find(place, |&(other, _)| other == number).map(|&(_, id)| id)
    }

    /// There will be about `count` numbers.
    pub(super) fn expect(&mut self, count: usize) {
        self.expected = count.min(MOST_EXPECTED);
    }

    /// The id of `number`, which is `id` if it is not there yet. The first one brings the seed.
    #[inline]
    pub(super) fn find_or_insert(&mut self, number: u64, id: u32, seed: impl FnOnce() -> u64) -> u32 {
        if self.count == 0 {
            self.seed = seed();
        }
        match self.small.get_mut(number as usize) {
            Some(known) if *known != NONE => *known,
            Some(entry) if self.least_large.is_none_or(|least| number < least) => {
                *entry = id;
                self.count += 1;
                id
            }
            _ => self.find_or_insert_large(number, id),
        }
    }

    fn find_or_insert_large(&mut self, number: u64, id: u32) -> u32 {
        if number < 2 * self.count + 66 {
            if let Some(known) = self.find(number) {
                return known;
            }
            self.count += 1;
            if number >= self.small.len() as u64 {
                self.small.resize((2 * number + 64) as usize, NONE);
            }
            self.small[number as usize] = id;
            return id;
        }
        if self.large.len() == self.large.capacity() {
            let more = self.expected.saturating_sub(self.count as usize);
            self.large.reserve(more, |&(number, _)| Numbers::place(self.seed, number));
        }
        let place = Numbers::place(self.seed, number);
        let same = |&(other, _): &(u64, u32)| other == number;
        match self.large.entry(place, same, |&(number, _)| Numbers::place(self.seed, number)) {
            Entry::Occupied(known) => known.get().1,
            Entry::Vacant(room) => {
                room.insert((number, id));
                self.count += 1;
                self.least_large = Some(self.least_large.map_or(number, |least| least.min(number)));
                id
            }
        }
    }
}
