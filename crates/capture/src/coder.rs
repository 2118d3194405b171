//! Slots as few bytes, and back.
//!
//! A slot's first word, what it is and where in the code, is a *site*, and gets a number when it first comes. For each site
//! its *path* is remembered: the eight slots that came after it, with where in memory each went on. Mostly the same
//! sites come again, near the same places: such slots are *foreseen*, eight at a time, and take as many bytes as their
//! values have, and a few more for addresses that jump about ([`Octet`]). The first slot that is not foreseen stands in
//! full after those that were. Then the path goes on with it, and with what came after it the last time.
//!
//! The recorder must keep pace with the program: what is foreseen goes through a few instructions without a decision
//! among them.
//!
//! **Invariant:** encoder and decoder change sites and paths by the same functions, and nothing else does.

use std::sync::atomic::AtomicU64;
use std::sync::atomic::Ordering::Relaxed;

use reweave_wire::ring::{Slot, fetch, kind};
use reweave_wire::{OCTET, OCTET_ROOM, Octet, Op};

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
pub(crate) const SPARE: usize = 1 + OCTET_ROOM;
/// Targets that jump about are given another chance after so many slots.
const CHANCE: usize = 1 << 22;
/// Slots are fetched so long before they are encoded: another core wrote them, and waiting for each takes longer than
/// encoding it.
const AHEAD: usize = 160;

// The byte before foreseen slots has their number, at most eight, and what stands after them: nothing; a slot of a new site; one
// of another site than was foreseen, or of that site. The last two have another byte, the length of a distance.
const NOTHING: u8 = 0;
const NEW: u8 = 1 << 4;
const OTHER: u8 = 2 << 4;
const SAME: u8 = 3 << 4;

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
    full: usize,
}

/// What came with a first word when it was not foreseen.
#[derive(Clone, Copy)]
struct Site {
    word: u64,
    target: u64,
    /// By how many bytes its targets have been seen to jump about.
    jump: u8,
}

#[derive(Clone)]
struct Path {
    slots: Octet,
    /// The numbers of their sites; 0 where none is expected.
    numbers: [u16; OCTET],
}

const NOBODYS: Site = Site { word: 0, target: 0, jump: 0 };
const NOWHERE: Path = Path { slots: Octet::NOTHING, numbers: [0; OCTET] };

impl Default for Sites {
    fn default() -> Sites {
        Sites {
            sites: vec![NOBODYS],
            paths: vec![NOWHERE],
            places: vec![0; PLACES].into(),
            last: 0,
            since: 0,
            full: 0,
        }
    }
}

/// A slot that was not foreseen: where on the last site's path, and of which site.
struct Surprise {
    place: usize,
    number: u16,
    slot: Slot,
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
        let (mut rest, mut left_out) = (slots, 0);
        while !rest.is_empty() {
            // Two slots are less than a line.
            rest.get(AHEAD..).into_iter().flat_map(|later| later.iter().step_by(2).take(OCTET / 2)).for_each(fetch);
            let Some((first, room)) = bytes.get_mut(at..).and_then(<[_]>::split_first_mut) else { break };
            let (Some(path), Some(room)) =
                (self.paths.get_mut(usize::from(self.last)), room.first_chunk_mut())
            else {
                break;
            };
            let foreseen = path.slots.take(rest, room);
            *first = NOTHING | foreseen.slots as u8;
            at += 1 + foreseen.bytes;
            if foreseen.slots == OCTET {
                (self.last, rest) = (path.numbers[OCTET - 1], rest.get(OCTET..).unwrap_or_default());
                continue;
            }
            let before = foreseen.slots.checked_sub(1).and_then(|place| path.numbers.get(place));
            let Some((next, later)) = rest.get(foreseen.slots..).and_then(<[_]>::split_first) else {
                self.last = before.copied().unwrap_or(self.last);
                break;
            };
            rest = later;
            let slot = Slot(next.each_ref().map(|word| word.load(Relaxed)));
            let is_sound = is_sound(slot);
            if is_looked_at(slot) || !is_sound {
                other(slot);
            }
            if is_sound {
                let told = at - 1 - foreseen.bytes;
                at = self.encode_in_full(foreseen.slots, slot, bytes, (told, at));
            } else {
                self.last = before.copied().unwrap_or(self.last);
                left_out += 1;
            }
        }
        (at, (slots.len() - left_out) as u32)
    }

    /// Writes a slot that was not foreseen, at this place of a path: what it is to `told`, and all else from `at` on; where
    /// it ends.
    fn encode_in_full(&mut self, place: usize, slot: Slot, bytes: &mut [u8], (told, mut at): (usize, usize)) -> usize {
        let Slot([word, target, value]) = slot;
        self.full += 1;
        let number = self.number(word);
        let surprise = Surprise { place, number, slot };
        let what = if number == 0 {
            for number in slot.0 {
                put(bytes, at, number);
                at += 8;
            }
            NEW
        } else {
            let (what, before) = self.before(&surprise);
            let distance = folded(target.wrapping_sub(before));
            let length = length(distance);
            if let Some(room) = bytes.get_mut(at) {
                *room = length as u8;
            }
            at += 1;
            if what == OTHER {
                put(bytes, at, u64::from(number));
                at += 2;
            }
            put(bytes, at, distance);
            put(bytes, at + length, value);
            at += length + usize::from(size(word));
            what
        };
        if let Some(room) = bytes.get_mut(told) {
            *room |= what;
        }
        self.learn(surprise);
        at
    }

    /// Whether the site is the one that was foreseen, and from where the distance to the target counts.
    fn before(&self, surprise: &Surprise) -> (u8, u64) {
        let &Surprise { place, number, .. } = surprise;
        match self.paths.get(usize::from(self.last)) {
            Some(path) if path.numbers.get(place) == Some(&number) => (SAME, path.slots.target(place)),
            _ => (OTHER, self.sites.get(usize::from(number)).map_or(0, |site| site.target)),
        }
    }

    /// The number of the site with this first word; 0 where it is new.
    fn number(&self, word: u64) -> u16 {
        self.places.get(self.place(word)).copied().unwrap_or(0)
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

    /// What was not foreseen is from now on, and what came after it the last time. What the recorder looks at never is.
    fn learn(&mut self, surprise: Surprise) {
        let Surprise { place, mut number, slot } = surprise;
        let Slot([word, target, _]) = slot;
        let mut last = self.last;
        if number == 0 {
            if self.sites.len() >= SITES {
                self.forget();
                last = 0;
            }
            number = self.sites.len() as u16;
            let at = self.place(word);
            if let Some(room) = self.places.get_mut(at) {
                *room = number;
            }
            self.sites.push(Site { word, target, jump: 0 });
            self.paths.push(NOWHERE);
        }
        self.last = number;
        let Some(site) = self.sites.get_mut(usize::from(number)) else { return };
        site.target = target;
        if is_looked_at(slot) {
            return;
        }
        let (from, to) = (usize::from(number), usize::from(last));
        let Some(path) = self.paths.get_mut(to) else { return };
        if path.numbers.get(place) == Some(&number) {
            let distance = target.wrapping_sub(path.slots.target(place));
            match path.slots.way(place) {
                (0, 0) => path.slots.stride(place, target, distance),
                (jump, _) => {
                    let jump = jump.max(length(folded(distance)).clamp(1, 4) as u8);
                    path.slots.jump(place, target, jump);
                    site.jump = site.jump.max(jump);
                }
            }
            return;
        }
        path.slots.expect(place, word, target, site.jump, size(word));
        if let Some(room) = path.numbers.get_mut(place) {
            *room = number;
        }
        if from == to {
            let after = path.clone();
            path.go_on(place + 1, &after);
        } else if let Ok([path, after]) = self.paths.get_disjoint_mut([to, from]) {
            path.go_on(place + 1, after);
        }
    }

    /// A block of so many slots ends: now and then, targets that jumped about may have come to rest.
    pub(crate) fn end_block(&mut self, slots: u32) {
        self.since += slots as usize;
        if self.since >= CHANCE {
            self.since = 0;
            self.paths.iter_mut().for_each(|path| path.slots.rest());
            self.sites.iter_mut().for_each(|site| site.jump = 0);
        }
    }

    #[cold]
    fn forget(&mut self) {
        self.sites.truncate(1);
        self.paths.truncate(1);
        self.paths.fill(NOWHERE);
        self.places.fill(0);
        self.last = 0;
    }
}

impl Path {
    /// From a place on, the path is as `other` is from its start on.
    fn go_on(&mut self, place: usize, other: &Path) {
        self.slots.go_on(place, &other.slots);
        let rest = self.numbers.get_mut(place..).unwrap_or_default();
        rest.iter_mut().zip(other.numbers).for_each(|(room, number)| *room = number);
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
