//! Slots as few bytes, and back.
//!
//! A slot's first word, what it is and where in the code, is a *site*, and gets a number when it first comes. For each site
//! its [`Path`] is remembered: what came after it. Mostly the same comes again: such slots are *foreseen*, and take as
//! many bytes as their values have, and a few more for addresses that jump about. The first slot that is not foreseen
//! stands in full after those that were. Where this is so for the second time, the path goes on with that slot from then on,
//! and with what came after it the last time.
//!
//! The recorder must keep pace with the program: what is foreseen goes through a few instructions, eight slots at a time.
//!
//! **Invariant:** encoder and decoder change sites and paths by the same functions, and nothing else does.

use std::sync::atomic::AtomicU64;
use std::sync::atomic::Ordering::Relaxed;

use reweave_wire::ring::{Slot, kind};
use reweave_wire::{Op, PATH_ROOM, Path, Surprise, follow};

mod read;

/// How many sites there can be; then all are forgotten.
const SITES: usize = 1 << 16;
/// Places of a table with which sites are found again.
const PLACES: usize = 1 << 17;
/// The bytes of a slot of a new site.
const MAX_FULL: usize = 3 * 8;
/// The most bytes of a slot: in full, with the bytes that say so.
pub(crate) const MAX_BYTES: usize = 2 + MAX_FULL;
/// What must be free behind the last slot: bytes are written in large pieces.
pub(crate) const SPARE: usize = PATH_ROOM;
/// Targets that jump about are given another chance after so many slots.
const CHANCE: usize = 1 << 22;

// The byte before foreseen slots has their number, at most eight, and what stands after them: nothing; a slot of a new site; or
// one of a site that is known: of any, of the one that was foreseen, or of the one that came instead the last time. Then
// follows a byte with the length of a distance.
const NOTHING: u8 = 0;
const NEW: u8 = 1 << 4;
const ANY: u8 = 2 << 4;
const SAME: u8 = 3 << 4;
const OTHER: u8 = 4 << 4;

/// What encoder and decoder remember.
pub(crate) struct Sites {
    /// Number 0 is nobody's.
    sites: Vec<Site>,
    /// What came after each.
    paths: Vec<Path>,
    /// By a hash of the first word, the number of a site, or 0.
    places: Box<[u16]>,
    last: u16,
    since: usize,
}

/// What came with a first word when it was not foreseen.
#[derive(Clone, Copy)]
struct Site {
    word: u64,
    target: u64,
    /// By how many bytes its targets have been seen to jump about.
    jump: u8,
}

const NOBODYS: Site = Site { word: 0, target: 0, jump: 0 };

impl Default for Sites {
    fn default() -> Sites {
        Sites {
            sites: vec![NOBODYS],
            paths: vec![Path::NOWHERE],
            places: vec![0; PLACES].into(),
            last: 0,
            since: 0,
        }
    }
}

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

fn put(bytes: &mut [u8], at: usize, number: u64) {
    if let Some(room) = bytes.get_mut(at..at + 8) {
        room.copy_from_slice(&number.to_le_bytes());
    }
}

impl Sites {
    /// Writes slots, of whose values only the bytes of their size count, to `bytes` from `at` on, where there must be room
    /// for [`MAX_BYTES`] each and [`SPARE`] more; where they end, and how many there are. Those that no recorder writes are
    /// left out, and `other` gets those that are neither accesses nor branches and calls.
    pub(crate) fn encode(
        &mut self,
        slots: &[[AtomicU64; 3]],
        bytes: &mut [u8],
        mut at: usize,
        mut other: impl FnMut(Slot),
    ) -> (usize, u32) {
        debug_assert!(bytes.len() >= at + slots.len() * MAX_BYTES + SPARE, "there must be room");
        let (mut rest, mut left_out) = (slots, 0);
        while !rest.is_empty() {
            let Some(room) = bytes.get_mut(at..) else { break };
            let followed = follow(&mut self.paths, self.last, rest, room);
            let (told, place) = (at + followed.told, followed.place);
            (self.last, at) = (followed.site, at + followed.bytes);
            let Some((next, later)) = rest.get(followed.slots..).and_then(<[_]>::split_first) else {
                self.pass(place);
                break;
            };
            rest = later;
            let [word, target, value] = next.each_ref().map(|word| word.load(Relaxed));
            let is_sound = is_sound(word);
            if is_looked_at(word) || !is_sound {
                other(Slot([word, target, value]));
            }
            if is_sound {
                let (what, site) = self.find(place, word);
                let surprise = Surprise { place, site, word, target, size: size(word) };
                at = self.encode_in_full(what, surprise, value, bytes, at);
                if let Some(room) = bytes.get_mut(told) {
                    *room |= what;
                }
                continue;
            }
            self.pass(place);
            left_out += 1;
            if place == 0 {
                at = told;
            }
        }
        (at, (slots.len() - left_out) as u32)
    }

    /// Is at the last of so many slots of the last path.
    fn pass(&mut self, slots: usize) {
        if let (Some(path), Some(place)) = (self.paths.get(usize::from(self.last)), slots.checked_sub(1)) {
            self.last = path.site(place).0;
        }
    }

    /// The site with this first word, which came at a place of the last path, and how it is told; number 0 where it is new.
    #[inline(always)]
    fn find(&self, place: usize, word: u64) -> (u8, u16) {
        let Some(path) = self.paths.get(usize::from(self.last)) else { return (NEW, 0) };
        let ((expected, expected_word), other) = (path.site(place), path.other(place));
        if expected_word == word {
            return (SAME, expected);
        }
        // Mostly there are two ways to go on.
        if other != 0 && self.sites.get(usize::from(other)).is_some_and(|site| site.word == word) {
            return (OTHER, other);
        }
        match self.places.get(self.place(word)) {
            Some(&number) if number != 0 => (ANY, number),
            _ => (NEW, 0),
        }
    }

    /// From where the distance to the target of a known site counts.
    #[inline(always)]
    fn before(&self, what: u8, place: usize, site: u16) -> u64 {
        if what == SAME {
            self.paths.get(usize::from(self.last)).map_or(0, |path| path.target(place))
        } else {
            self.sites.get(usize::from(site)).map_or(0, |site| site.target)
        }
    }

    /// Writes a slot that was not foreseen from `at` on; where it ends.
    #[inline(always)]
    fn encode_in_full(
        &mut self,
        what: u8,
        surprise: Surprise,
        value: u64,
        bytes: &mut [u8],
        at: usize,
    ) -> usize {
        let Surprise { place, site, word, target, size } = surprise;
        let Some(room) = bytes.get_mut(at..at + MAX_FULL + 8) else { return at };
        let used = if what == NEW {
            for (place, number) in [word, target, value].into_iter().enumerate() {
                put(room, 8 * place, number);
            }
            MAX_FULL
        } else {
            let distance = folded(target.wrapping_sub(self.before(what, place, site)));
            let length = length(distance);
            put(room, 0, length as u64 | u64::from(site) << 8);
            let start = if what == ANY { 3 } else { 1 };
            put(room, start, distance);
            put(room, start + length, value);
            start + length + usize::from(size)
        };
        self.learn(surprise);
        at + used
    }

    /// Where in the table the number of a site is, or would be.
    fn place(&self, word: u64) -> usize {
        let mut place = (word.wrapping_mul(0x9E37_79B9_7F4A_7C15) >> (64 - PLACES.trailing_zeros())) as usize;
        // There are twice as many places as sites, so one is empty.
        while let Some(&found) = self.places.get(place).filter(|&&found| found != 0) {
            if self.sites.get(usize::from(found)).is_some_and(|site| site.word == word) {
                break;
            }
            place = (place + 1) % PLACES;
        }
        place
    }

    /// A slot came that was not foreseen. What the recorder looks at never is.
    #[inline(always)]
    fn learn(&mut self, mut surprise: Surprise) {
        let Surprise { place, word, target, .. } = surprise;
        if surprise.site == 0 {
            surprise.site = self.add(word);
        }
        let (last, next) = (usize::from(self.last), usize::from(surprise.site));
        self.last = surprise.site;
        let Some(site) = self.sites.get_mut(next) else { return };
        site.target = target;
        let Some(path) = self.paths.get_mut(last).filter(|_| !is_looked_at(word)) else { return };
        if path.site(place).0 == surprise.site {
            site.jump = site.jump.max(path.aim(place, target));
        } else if path.doubt(place, surprise.site) {
            if last == next {
                path.expect(surprise, site.jump, None);
            } else if let Ok([path, after]) = self.paths.get_disjoint_mut([last, next]) {
                path.expect(surprise, site.jump, Some(after));
            }
        }
    }

    /// A new site's number.
    #[cold]
    fn add(&mut self, word: u64) -> u16 {
        if self.sites.len() >= SITES {
            self.forget();
        }
        let (at, number) = (self.place(word), self.sites.len() as u16);
        if let Some(room) = self.places.get_mut(at) {
            *room = number;
        }
        self.sites.push(Site { word, ..NOBODYS });
        self.paths.push(Path::NOWHERE);
        number
    }

    /// A block of so many slots ends: now and then, targets that jumped about may have come to rest.
    pub(crate) fn end_block(&mut self, slots: u32) {
        self.since += slots as usize;
        if self.since >= CHANCE {
            self.since = 0;
            self.paths.iter_mut().for_each(Path::rest);
            self.sites.iter_mut().for_each(|site| site.jump = 0);
        }
    }

    #[cold]
    fn forget(&mut self) {
        self.sites.truncate(1);
        self.paths.truncate(1);
        self.paths.fill(Path::NOWHERE);
        self.places.fill(0);
        self.last = 0;
    }
}

/// Whether a slot says more than that its thread went on.
fn is_looked_at(word: u64) -> bool {
    const PASSED_OVER: [u8; 3] = [
        kind::OPERATION + Op::Branch as u8,
        kind::OPERATION + Op::Enter as u8,
        kind::OPERATION + Op::Exit as u8,
    ];
    let kind = (word >> 56) as u8;
    kind >= kind::OTHERS && !PASSED_OVER.contains(&kind)
}

/// Whether a slot is one that a recorder can write.
fn is_sound(word: u64) -> bool {
    let kind = (word >> 56) as u8;
    let size = kind & 15;
    kind >= kind::OTHERS || (1..=8).contains(&size)
}

#[cfg(test)]
mod tests;
