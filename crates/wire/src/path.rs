//! What came after a slot, and how little has to be kept where the same comes again.
//!
//! A slot's first word, what it is and where in the code, is a *site*. The path of a site is what came after it the last
//! times: eight slots, with their sites and where in memory each went on. Slots are as expected whose first words are those,
//! and whose targets are where they should be, or not far behind. Then only their values are kept, as many bytes as each has,
//! and the distances of targets that jump about; and the path of the last slot's site says what comes next ([`follow`]).
//!
//! A processor with wide registers treats the eight slots of a path at a time, without a decision among them; elsewhere
//! the same is done for one slot after another. Eight slots are three registers of eight words, and the first words of all lie in
//! lanes of their own, whichever register they are in; so do the targets, and so do the values. Thus one
//! register gets all of a sort without a word being moved to another lane, and a path has its words where the slots have theirs
//! ([`lane`]).
//!
//! **Invariant:** both ways leave the same bytes and the same paths.

use core::sync::atomic::AtomicU64;
use core::sync::atomic::Ordering::Relaxed;

use crate::ring::fetch;
use crate::varint::zigzag;

/// How many slots a path has.
pub const STEPS: usize = 8;
/// There must be so much room for what is kept of a path's slots: bytes are written in large pieces.
pub const PATH_ROOM: usize = 1 + 2 * 8 * STEPS;

/// The first word of no slot.
const NOBODY: u64 = (1 << 56) - 1;
/// Slots are fetched so long before they are looked at: another core wrote them, and waiting for each takes longer than all
/// the rest.
const AHEAD: usize = 320;

/// The words of a slot.
const WORD: usize = 0;
const TARGET: usize = 1;
const VALUE: usize = 2;

/// Where the word of a sort is that the slot at a place has.
#[inline(always)]
const fn lane(sort: usize, place: usize) -> usize {
    (3 * place + sort) % STEPS
}

/// At which place the slot is whose word of a sort is there.
#[inline(always)]
const fn place(sort: usize, lane: usize) -> usize {
    // Three times three is one more than all lanes.
    3 * (lane + STEPS - sort) % STEPS
}

/// The slots that are expected after one: what there is of each is in the lane of the word that it belongs to.
#[derive(Clone, Debug, PartialEq, Eq)]
#[repr(C, align(64))]
pub struct Path {
    words: [u64; STEPS],
    targets: [u64; STEPS],
    /// How far behind that each target may be.
    most: [u64; STEPS],
    /// How far from each target the next one is expected.
    step: [u64; STEPS],
    /// Which bytes are kept of a target's distance, a bit each: from the lowest on.
    jumps: [u8; STEPS],
    /// The same for values.
    sizes: [u8; STEPS],
    /// The numbers of the sites; 0 where nothing is expected.
    sites: Numbers,
    /// The numbers of those that came instead the last time.
    others: Numbers,
    /// Where another site came than was expected, and not yet that one again, a bit each.
    doubts: u8,
}

/// The numbers of sites, by their places.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[repr(align(16))]
struct Numbers([u16; STEPS]);

impl Numbers {
    const NOBODYS: Numbers = Numbers([0; STEPS]);

    #[inline(always)]
    fn at(self, place: usize) -> u16 {
        self.0[place % STEPS]
    }

    /// At a place comes this number, and then `later` ones.
    #[inline(always)]
    fn go_on(&mut self, place: usize, number: u16, later: Numbers) {
        // Room for all that are moved, also those that go beyond the last place: their number is always the same.
        let mut all = [0; 2 * STEPS];
        all[..STEPS].copy_from_slice(&self.0);
        all[place % STEPS] = number;
        all[place % STEPS + 1..][..STEPS].copy_from_slice(&later.0);
        self.0.copy_from_slice(&all[..STEPS]);
    }

    #[inline(always)]
    fn set(&mut self, place: usize, number: u16) {
        self.0[place % STEPS] = number;
    }
}

/// What was expected of slots, up to the first that was not.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Followed {
    /// How many.
    pub slots: usize,
    /// How many bytes tell of them.
    pub bytes: usize,
    /// The number of the site whose path was followed last.
    pub site: u16,
    /// How many slots of that path came.
    pub place: usize,
    /// Where the byte is that says so.
    pub told: usize,
}

/// Keeps what is other than expected of `slots` from the start of `room` on, until one is not as expected or there are no more.
/// Begins after the site with this number; the paths of all sites are given by their numbers. Before the slots of each path
/// stands a byte with how many there are.
///
/// There must be room for [`PATH_ROOM`] bytes more than are kept; where there is not, that is the end, too.
#[inline]
pub fn follow(paths: &mut [Path], site: u16, slots: &[[AtomicU64; 3]], room: &mut [u8]) -> Followed {
    #[cfg(target_arch = "x86_64")]
    if wide::is_there() {
        return wide::follow(paths, site, slots, room);
    }
    follow_with(paths, site, slots, room, |path, slots, room| path.take_one_by_one(slots, room))
}

/// How many slots were taken, and how many bytes were kept of them.
type Taken = (usize, usize);
/// Room for what is kept of the slots of a path.
type Room = [u8; PATH_ROOM - 1];

/// See [`follow`]; `take` is [`Path::take_one_by_one`], or does the same.
#[inline(always)]
fn follow_with(
    paths: &mut [Path],
    site: u16,
    slots: &[[AtomicU64; 3]],
    room: &mut [u8],
    take: impl Fn(&mut Path, &[[AtomicU64; 3]], &mut Room) -> Taken,
) -> Followed {
    let (mut site, mut place, mut told, mut bytes) = (site, 0, 0, 0);
    let (mut rest, mut room) = (slots, room);
    loop {
        // Eight slots are three lines of the cache.
        if let Some([[a, ..], _, [.., b], _, _, [_, c, _], _, _]) =
            rest.get(AHEAD..).and_then(<[_]>::first_chunk)
        {
            [a, b, c].into_iter().for_each(fetch);
        }
        let Some(path) = paths.get_mut(usize::from(site)) else { break };
        let Some((first, kept)) = room.split_first_mut() else { break };
        let Some(into) = kept.first_chunk_mut() else { break };
        let (taken, used) = take(path, rest, into);
        (told, bytes) = (bytes, bytes + 1 + used);
        path.doubts &= doubts_after(taken);
        *first = taken as u8;
        let (Some(later), Some(free)) = (rest.get(taken..), kept.get_mut(used..)) else { break };
        (rest, room) = (later, free);
        if taken < STEPS {
            place = taken;
            break;
        }
        site = path.sites.at(STEPS - 1);
        if rest.is_empty() {
            break;
        }
    }
    Followed { slots: slots.len() - rest.len(), bytes, site, place, told }
}

/// The doubts that are left after so many slots were as expected, a bit each.
#[inline(always)]
fn doubts_after(slots: usize) -> u8 {
    (0xFF_u32 << slots) as u8
}

/// A slot that was not as expected.
#[derive(Clone, Copy, Debug)]
pub struct Surprise {
    /// Where on the path it came.
    pub place: usize,
    /// The number of its site.
    pub site: u16,
    /// Its first two words.
    pub word: u64,
    /// See `word`.
    pub target: u64,
    /// How many bytes its value has.
    pub size: u8,
}

impl Path {
    /// Expects nothing.
    pub const NOWHERE: Path = Path {
        words: [NOBODY; STEPS],
        targets: [0; STEPS],
        most: [0; STEPS],
        step: [0; STEPS],
        jumps: [0; STEPS],
        sizes: [0; STEPS],
        sites: Numbers::NOBODYS,
        others: Numbers::NOBODYS,
        doubts: 0,
    };

    /// The number of the site that is expected at a place, or 0, and its first word.
    #[inline(always)]
    pub fn site(&self, place: usize) -> (u16, u64) {
        (self.sites.at(place), self.words[lane(WORD, place)])
    }

    /// The number of the site that came at a place instead of another one, the last time, or 0.
    #[inline(always)]
    pub fn other(&self, place: usize) -> u16 {
        self.others.at(place)
    }

    /// The last target at a place.
    #[inline(always)]
    pub fn target(&self, place: usize) -> u64 {
        let at = lane(TARGET, place);
        self.targets[at].wrapping_sub(self.step[at])
    }

    /// The site that was expected came, with a target that was not: expects others from now on. How many bytes their
    /// distances have now.
    pub fn aim(&mut self, place: usize, target: u64) -> u8 {
        let at = lane(TARGET, place);
        let distance = target.wrapping_sub(self.target(place));
        let jump = self.jumps[at].count_ones() as u8;
        if jump == 0 && self.step[at] == 0 {
            (self.step[at], self.targets[at]) = (distance, target.wrapping_add(distance));
            return 0;
        }
        let needed = (64 - zigzag(distance as i64).leading_zeros()).div_ceil(8).clamp(1, 4) as u8;
        self.jump(place, target, jump.max(needed));
        jump.max(needed)
    }

    /// Expects targets around this one, so far that distances have so many bytes, at most 4.
    fn jump(&mut self, place: usize, target: u64, jump: u8) {
        let at = lane(TARGET, place);
        let (reach, before) = match u32::from(jump) {
            0 => (1, 0),
            bytes => (1u64 << (8 * bytes), 1 << (8 * bytes - 1)),
        };
        (self.most[at], self.step[at]) = (reach - 1, 0u64.wrapping_sub(before));
        self.targets[at] = target.wrapping_sub(before);
        self.jumps[at] = low_bits(jump);
    }

    /// Expects targets that jump about to be where they were the last time.
    pub fn rest(&mut self) {
        for place in 0..STEPS {
            if self.jumps[lane(TARGET, place)] != 0 {
                self.jump(place, self.target(place), 0);
            }
        }
    }

    /// Another site came than was expected. Whether that is a reason to expect it from now on: once is not.
    #[inline(always)]
    pub fn doubt(&mut self, place: usize, site: u16) -> bool {
        let known = self.sites.at(place) != 0;
        if known && self.doubts >> place & 1 == 0 {
            self.doubts |= 1 << place;
            self.others.set(place, site);
            return false;
        }
        true
    }

    /// Expects the slot from now on, with distances of so many bytes, at most 4; and what comes on its site's own path, which
    /// without another is this one, after it.
    pub fn expect(&mut self, surprise: Surprise, jump: u8, after: Option<&Path>) {
        let Surprise { place, site, word, target, size } = surprise;
        let (sites, others) = after.map_or((self.sites, self.others), |path| (path.sites, path.others));
        self.others.go_on(place, self.sites.at(place), others);
        self.sites.go_on(place, site, sites);
        self.doubts &= !doubts_after(place);
        self.go_on(place + 1, after);
        self.words[lane(WORD, place)] = word;
        self.sizes[lane(VALUE, place)] = low_bits(size);
        self.jump(place, target, jump);
    }

    /// Has from a place on what another path, or this one, has from the first on.
    fn go_on(&mut self, place: usize, other: Option<&Path>) {
        #[cfg(target_arch = "x86_64")]
        if wide::is_there() {
            return wide::go_on(self, place, other);
        }
        self.go_on_one_by_one(place, other);
    }

    fn go_on_one_by_one(&mut self, place: usize, other: Option<&Path>) {
        let Path { words, targets, most, step, jumps, sizes, .. } = other.unwrap_or(self).clone();
        for (from, to) in (place..STEPS).enumerate() {
            self.words[lane(WORD, to)] = words[lane(WORD, from)];
            self.sizes[lane(VALUE, to)] = sizes[lane(VALUE, from)];
            let [from, to] = [from, to].map(|place| lane(TARGET, place));
            (self.targets[to], self.most[to], self.step[to]) = (targets[from], most[from], step[from]);
            self.jumps[to] = jumps[from];
        }
    }

    /// Keeps what is other than expected of slots, up to the first that is not as expected.
    fn take_one_by_one(&mut self, slots: &[[AtomicU64; 3]], room: &mut Room) -> Taken {
        let (mut taken, mut far, mut values) = (0, [0; STEPS], [0; STEPS]);
        for (place, slot) in slots.iter().take(STEPS).enumerate() {
            let [word, target, value] = slot.each_ref().map(|word| word.load(Relaxed));
            let at = lane(TARGET, place);
            far[at] = target.wrapping_sub(self.targets[at]);
            if word != self.words[lane(WORD, place)] || far[at] > self.most[at] {
                break;
            }
            self.targets[at] = target.wrapping_add(self.step[at]);
            values[lane(VALUE, place)] = value;
            taken += 1;
        }
        let jumps = keep(room, 0, (TARGET, taken), (&self.jumps, &far));
        (taken, keep(room, jumps, (VALUE, taken), (&self.sizes, &values)))
    }

    /// The slots of which `bytes` begin with what was kept, at so many places from the first on: gives them to `each`, and
    /// says how many bytes that were. None where they are too few, or nothing was expected.
    pub fn give(&mut self, places: usize, bytes: &[u8], mut each: impl FnMut([u64; 3])) -> Option<usize> {
        if places > STEPS || (0..places).any(|place| self.words[lane(WORD, place)] == NOBODY) {
            return None;
        }
        let (mut used, mut numbers) = (0, [[0; STEPS]; 2]);
        let [far, values] = &mut numbers;
        for (sort, kept, numbers) in [(TARGET, &self.jumps, far), (VALUE, &self.sizes, values)] {
            for at in (0..STEPS).filter(|&at| place(sort, at) < places) {
                let size = kept[at].count_ones() as usize;
                numbers[at] = load(bytes, used, size)?;
                used += size;
            }
        }
        let [far, values] = numbers;
        for place in 0..places {
            let at = lane(TARGET, place);
            let target = self.targets[at].wrapping_add(far[at]);
            self.targets[at] = target.wrapping_add(self.step[at]);
            each([self.words[lane(WORD, place)], target, values[lane(VALUE, place)]]);
        }
        self.doubts &= doubts_after(places);
        Some(used)
    }
}

/// Writes the bytes of numbers that are kept, of a sort and of so many slots, from `at` on; where they end.
#[inline(always)]
fn keep(
    room: &mut Room,
    mut at: usize,
    (sort, slots): (usize, usize),
    (kept, numbers): (&[u8; STEPS], &[u64; STEPS]),
) -> usize {
    // Mostly targets are where they should be.
    if *kept == [0; STEPS] {
        return at;
    }
    let mut put = |lane: usize| {
        if let Some(room) = room.get_mut(at..at + 8) {
            room.copy_from_slice(&numbers[lane].to_le_bytes());
        }
        at += kept[lane].trailing_ones() as usize;
    };
    if slots == STEPS {
        (0..STEPS).for_each(put);
    } else {
        (0..STEPS).filter(|&lane| place(sort, lane) < slots).for_each(&mut put);
    }
    at
}

/// So many bits, from the lowest on.
fn low_bits(count: u8) -> u8 {
    ((1u16 << count.min(8)) - 1) as u8
}

/// All bits of so many bytes, at most 8.
#[inline(always)]
fn low_bytes(count: usize) -> u64 {
    if count < 8 { (1 << (8 * count)) - 1 } else { u64::MAX }
}

/// The number of so many bytes, at most 8.
#[inline(always)]
fn load(bytes: &[u8], at: usize, count: usize) -> Option<u64> {
    if let Some(word) = bytes.get(at..at + 8).and_then(<[u8]>::first_chunk) {
        let all = u64::from_le_bytes(*word);
        return Some(all & low_bytes(count));
    }
    let bytes = bytes.get(at..at + count)?;
    Some(bytes.iter().rev().fold(0, |number, &byte| number << 8 | u64::from(byte)))
}

/// The same with registers of 64 bytes.
#[cfg(target_arch = "x86_64")]
mod wide;

#[cfg(test)]
mod tests;
