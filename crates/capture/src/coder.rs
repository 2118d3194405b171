//! Slots as few bytes, and back.
//!
//! A slot's first word, what it is and where in the code, is a *site*, and gets a number when it first comes. Mostly the site is
//! the one that followed the last one before, and the address is where that site's accesses go on: such a slot is
//! *foreseen*, and takes as many bytes as its value has, and a few more for addresses that jump about. What is not foreseen
//! stands between runs of such slots in full. The recorder must keep pace with the program: what is foreseen goes through
//! a few instructions without a decision among them.
//!
//! **Invariant:** encoder and decoder change the sites in the same way, and nothing else does.

use reweave_wire::Op;
use reweave_wire::ring::{Slot, fetch, kind};

mod read;

/// How many sites there can be; then all are forgotten.
const SITES: usize = 1 << 16;
/// Places of a table with which sites are found again.
const PLACES: usize = 1 << 17;
/// The most slots that are encoded at once.
pub(crate) const MAX_PART: usize = 1 << 14;
/// The bytes of a slot of a new site.
const MAX_FULL: usize = 1 + 3 * 8;
/// The most bytes of a slot: in full, with the length of the run that follows, and what begins and ends a part.
pub(crate) const MAX_BYTES: usize = MAX_FULL + 2 + 3;
/// What must be free behind the last slot: bytes are written in words.
pub(crate) const SPARE: usize = 32;
/// A site that jumps about is given another chance after so many slots.
const CHANCE: usize = 1 << 18;
/// The first word of no slot.
const NOBODY: u64 = 0;

// What stands after a run of foreseen slots: a slot with this byte, in its lowest bits the length of the distance; or one of
// a new site; or nothing, at the end or where a slot was left out.
const END: u8 = 0;
const SKIP: u8 = 1;
const NEW: u8 = 1 << 4;
const KNOWN: u8 = 1 << 5;
const TOLD: u8 = 1 << 6;

/// What encoder and decoder remember.
pub(crate) struct Sites {
    sites: Box<[Site]>,
    /// By a hash of the first word, the number of a site, or 0.
    places: Box<[u16]>,
    /// How many there are; number 0 is nobody's.
    count: usize,
    last: u16,
    /// Those that jump about.
    jumping: Vec<u16>,
    since: usize,
}

/// What came with a first word before, and is expected next. Half a line of the cache: some hundred are in use at a time.
#[derive(Clone, Copy)]
#[repr(align(32))]
struct Site {
    word: u64,
    target: u64,
    /// Where the next target is expected, as a distance.
    stride: i32,
    /// A slot is foreseen whose target is less far from there, folded; none where this is 0.
    reach: u32,
    /// The number of the site that followed.
    next: u16,
    /// How many bytes tell how far it is from there, and how many bytes the value has.
    jump: u8,
    size: u8,
    missed: bool,
}

/// Foreseen slots one after another: how many, and where their bytes end.
struct Run {
    length: usize,
    end: usize,
}

/// The site of nobody.
const NOBODYS: Site =
    Site { word: NOBODY, target: 0, stride: 0, reach: 0, next: 0, jump: 0, size: 0, missed: false };

impl Default for Sites {
    fn default() -> Sites {
        Sites {
            sites: vec![NOBODYS; SITES].into(),
            places: vec![0; PLACES].into(),
            count: 0,
            last: 0,
            jumping: Vec::new(),
            since: 0,
        }
    }
}

#[inline(always)]
fn folded(difference: u64) -> u64 {
    difference << 1 ^ ((difference as i64) >> 63) as u64
}

/// How many bytes a number takes.
fn length(number: u64) -> usize {
    (64 - number.leading_zeros() as usize).div_ceil(8)
}

/// How many bytes the value of a slot can have.
fn size(word: u64) -> u8 {
    let kind = (word >> 56) as u8;
    if kind < kind::OTHERS { (kind & 15).clamp(1, 8) } else { 8 }
}

#[inline(always)]
fn put(bytes: &mut [u8], at: usize, number: u64) {
    if let Some(room) = bytes.get_mut(at..at + 8) {
        room.copy_from_slice(&number.to_le_bytes());
    }
}

/// The lowest bytes of a number.
#[inline(always)]
fn mask(bytes: usize) -> u64 {
    const MASKS: [u64; 16] = {
        let mut masks = [u64::MAX; 16];
        let mut bytes = 0;
        while bytes < 8 {
            masks[bytes] = (1 << (8 * bytes)) - 1;
            bytes += 1;
        }
        masks
    };
    MASKS[bytes & 15]
}

impl Sites {
    /// Writes at most [`MAX_PART`] slots, of whose values only the bytes of their size count, to `bytes` from `at` on, where there
    /// must be room for [`MAX_BYTES`] each and [`SPARE`] more; where they end, and how many there are. Those that no recorder
    /// writes are left out, and `other` gets those that are neither accesses nor branches and calls. As many are fetched that
    /// come `later`.
    #[inline]
    pub(crate) fn encode<T>(
        &mut self,
        slots: &[[T; 3]],
        later: &[[T; 3]],
        read: impl Fn(&T) -> u64,
        bytes: &mut [u8],
        mut at: usize,
        mut other: impl FnMut(Slot),
    ) -> (usize, u32) {
        debug_assert!(slots.len() <= MAX_PART, "runs have a length of two bytes");
        self.begin_part();
        let (mut slots, mut later, mut count) = (slots, later, 0);
        loop {
            let run = self.encode_run((slots, later), &read, bytes, at + 2);
            put_short(bytes, at, run.length as u16);
            (at, count) = (run.end, count + run.length);
            let Some(([word, target, value], rest)) = slots.get(run.length..).and_then(<[_]>::split_first)
            else {
                break;
            };
            (slots, later) = (rest, later.get(run.length + 1..).unwrap_or_default());
            let slot = Slot([read(word), read(target), read(value)]);
            let is_sound = is_sound(slot);
            if is_looked_at(slot) || !is_sound {
                other(slot);
            }
            if is_sound {
                at = self.encode_in_full(slot, bytes, at);
                count += 1;
            } else if let Some(room) = bytes.get_mut(at) {
                *room = SKIP;
                at += 1;
            }
        }
        if let Some(room) = bytes.get_mut(at) {
            *room = END;
        }
        self.since += count;
        (at + 1, count as u32)
    }

    /// Writes slots as long as they are foreseen.
    #[inline(always)]
    fn encode_run<T>(
        &mut self,
        (slots, later): (&[[T; 3]], &[[T; 3]]),
        read: impl Fn(&T) -> u64,
        bytes: &mut [u8],
        at: usize,
    ) -> Run {
        let (mut length, mut end, mut last) = (0, at, self.last);
        let Some(sites) = self.sites.first_chunk_mut::<SITES>() else { return Run { length, end } };
        for ([word, target, value], later) in slots.iter().zip(later) {
            fetch(later);
            let (word, target, value) = (read(word), read(target), read(value));
            let next = sites[usize::from(last)].next;
            let site = &mut sites[usize::from(next)];
            let distance = folded(target.wrapping_sub(site.expected()));
            if word != site.word || distance >= u64::from(site.reach) {
                break;
            }
            let Some(room) = bytes.get_mut(end..end + 16).and_then(|room| room.first_chunk_mut::<16>())
            else {
                break;
            };
            site.target = target;
            let jump = usize::from(site.jump & 7);
            room[..8].copy_from_slice(&distance.to_le_bytes());
            room[jump..jump + 8].copy_from_slice(&value.to_le_bytes());
            end += jump + usize::from(site.size);
            (length, last) = (length + 1, next);
        }
        self.last = last;
        Run { length, end }
    }

    /// Writes a slot that was not foreseen; where it ends.
    #[inline(never)]
    fn encode_in_full(&mut self, slot: Slot, bytes: &mut [u8], mut at: usize) -> usize {
        let Slot([word, target, value]) = slot;
        let (number, is_new) = self.number(word);
        let Some(first) = bytes.get_mut(at) else { return at };
        if is_new {
            *first = NEW;
            for (place, number) in slot.0.into_iter().enumerate() {
                put(bytes, at + 1 + 8 * place, number);
            }
            self.learn(slot);
            return at + MAX_FULL;
        }
        let expected = self.sites.get(usize::from(self.last)).is_some_and(|last| last.next == number);
        let Some(site) = self.follow(number) else { return at };
        let distance = folded(target.wrapping_sub(site.expected()));
        let length = length(distance);
        *first = KNOWN | length as u8 | if expected { 0 } else { TOLD };
        put(bytes, at + 1, u64::from(number));
        at += if expected { 1 } else { 3 };
        put(bytes, at, distance);
        put(bytes, at + length, value);
        at += length + usize::from(site.size);
        self.adapt(number, target);
        at
    }

    /// The number of the site with this first word, and whether it is new.
    fn number(&mut self, word: u64) -> (u16, bool) {
        if self.count + 1 >= SITES {
            self.forget();
        }
        let mut place = (word.wrapping_mul(0x9E37_79B9_7F4A_7C15) >> (64 - PLACES.trailing_zeros())) as usize;
        // There are twice as many places as sites, so one is empty.
        while let Some(found) = self.places.get_mut(place) {
            if *found == 0 {
                *found = (self.count + 1) as u16;
                return (*found, true);
            }
            if self.sites.get(usize::from(*found)).is_some_and(|site| site.word == word) {
                return (*found, false);
            }
            place = (place + 1) % PLACES;
        }
        (0, true)
    }

    /// The next number is that of the slot's site, and follows the last one.
    fn learn(&mut self, slot: Slot) {
        let [word, target, _] = slot.0;
        self.count += 1;
        let number = self.count as u16;
        // What the recorder looks at is never foreseen.
        let reach = u32::from(!is_looked_at(slot));
        if let Some(site) = self.sites.get_mut(usize::from(number)) {
            *site = Site { word, target, reach, size: size(word), ..NOBODYS };
        }
        self.follow(number);
    }

    /// A site, which from now on follows the last one.
    fn follow(&mut self, number: u16) -> Option<&mut Site> {
        self.sites.get_mut(usize::from(self.last))?.next = number;
        self.last = number;
        self.sites.get_mut(usize::from(number))
    }

    /// A slot of the site was told in full: expects others from now on where it was not where it was expected.
    fn adapt(&mut self, number: u16, target: u64) {
        let Some(site) = self.sites.get_mut(usize::from(number)) else { return };
        let distance = target.wrapping_sub(site.target);
        if site.reach != 0 && folded(target.wrapping_sub(site.expected())) >= u64::from(site.reach) {
            match i32::try_from(distance as i64) {
                Ok(stride) if site.jump == 0 && !site.missed => (site.stride, site.missed) = (stride, true),
                _ => {
                    if site.jump == 0 {
                        self.jumping.push(number);
                    }
                    let needed = length(folded(distance)).clamp(1, 4) as u8;
                    site.jump = site.jump.max(needed);
                    (site.stride, site.reach) = (0, mask(usize::from(site.jump)) as u32);
                }
            }
        }
        site.target = target;
    }

    /// Before slots are encoded or decoded together: sites that jumped about may have come to rest.
    fn begin_part(&mut self) {
        if self.since >= CHANCE {
            self.since = 0;
            for number in self.jumping.drain(..) {
                if let Some(site) = self.sites.get_mut(usize::from(number)) {
                    (site.jump, site.reach, site.missed) = (0, 1, false);
                }
            }
        }
    }

    #[cold]
    fn forget(&mut self) {
        self.sites.fill(NOBODYS);
        self.places.fill(0);
        self.jumping.clear();
        (self.count, self.last) = (0, 0);
    }
}

impl Site {
    /// Where the next access is expected.
    #[inline(always)]
    fn expected(&self) -> u64 {
        self.target.wrapping_add_signed(i64::from(self.stride))
    }
}

fn put_short(bytes: &mut [u8], at: usize, number: u16) {
    if let Some(room) = bytes.get_mut(at..at + 2) {
        room.copy_from_slice(&number.to_le_bytes());
    }
}

/// Whether a slot says more than that its thread went on.
fn is_looked_at(slot: Slot) -> bool {
    const PASSED_OVER: [u8; 3] = [
        kind::OPERATION + Op::Branch as u8,
        kind::OPERATION + Op::Enter as u8,
        kind::OPERATION + Op::Exit as u8,
    ];
    slot.kind() >= kind::OTHERS && !PASSED_OVER.contains(&slot.kind())
}

/// Whether a slot is one that a recorder can write.
fn is_sound(slot: Slot) -> bool {
    let (kind, size) = (slot.kind(), slot.kind() & 15);
    if kind < kind::OTHERS { kind < kind::UPDATE + 16 && (1..=8).contains(&size) } else { true }
}

#[cfg(test)]
mod tests;
