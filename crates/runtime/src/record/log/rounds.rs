//! Rounds of a thread that are all the same: the same accesses of the same addresses with the same values, again and again.
//!
//! What such a thread does next depends on what it reads, or on how often it has read it: until somebody else writes, or time
//! passes, or it has had enough, it only repeats itself.

use reweave_wire::Op;
use reweave_wire::ring::{SLOT_BYTES, SLOTS_AT, Slot, kind};

use super::Log;

/// The most slots of a round.
const LONGEST: usize = 64;
/// So many slots must be those of a round before, and at least two rounds of them.
const WINDOW: usize = 48;

impl Log {
    /// Whether the last slots are rounds that are all the same.
    #[cold]
    pub(crate) fn repeats(&self) -> bool {
        let there = (self.cursor() - (self.at + SLOTS_AT) as u64) as usize / SLOT_BYTES;
        let slot = |back: usize| {
            let slot = (self.cursor() as usize - back * SLOT_BYTES) as *const u64;
            // SAFETY: a slot of the ring that was written before.
            unsafe { Slot([slot.read_volatile(), slot.add(1).read_volatile(), slot.add(2).read_volatile()]) }
        };
        repeats(there, slot)
    }
}

/// Whether the last of so many slots, counted backwards from 1, are rounds.
fn repeats(there: usize, slot: impl Fn(usize) -> Slot) -> bool {
    // The value of the last one may still be awaited.
    let first = 2;
    let is_round = |length: usize| {
        let window = WINDOW.max(2 * length);
        first + window + length <= there
            && (first..first + window).all(|back| is_same(slot(back), slot(back + length)))
    };
    let Some(length) = (1..=LONGEST).find(|&length| is_round(length)) else { return false };
    (first..first + length).all(|back| is_passive(slot(back).kind()))
}

fn is_same(a: Slot, b: Slot) -> bool {
    let counts = match a.kind() {
        // Of a value only the bytes of the access's size count.
        kind @ ..kind::OTHERS if kind & 15 < 8 => (1 << (8 * u64::from(kind & 15))) - 1,
        _ => u64::MAX,
    };
    let ([code, target, value], [other_code, other_target, other_value]) = (a.0, b.0);
    code == other_code && target == other_target && (value ^ other_value) & counts == 0
}

/// Whether nobody waits for a step of this kind, nor does it give anybody anything: an access, or a part of one, or a branch.
fn is_passive(of: u8) -> bool {
    of < kind::OTHERS || of == kind::MORE || of == kind::OPERATION + Op::Branch as u8
}

#[cfg(test)]
mod tests {
    use super::*;

    fn read(target: u64, value: u64) -> Slot {
        Slot::new(kind::READ + 4, 0, 7, target, value)
    }

    fn of(slots: &[Slot]) -> bool {
        repeats(slots.len(), |back| slots[slots.len() - back])
    }

    #[test]
    fn rounds_are_found_whatever_their_length() {
        for length in [1, 2, 3, 17, LONGEST] {
            let round: Vec<Slot> = (0..length).map(|place| read(place as u64 * 8, 1)).collect();
            assert!(of(&round.repeat(200 / length + 4)), "{length}");
            assert!(!of(&round.repeat(2)), "{length}");
        }
    }

    #[test]
    fn what_makes_progress_does_not_repeat_itself() {
        let counts: Vec<Slot> = (0..400).map(|number| read(8, number)).collect();
        assert!(!of(&counts));
        let walks: Vec<Slot> = (0..400).map(|number| read(8 * number, 1)).collect();
        assert!(!of(&walks));
        // Who takes a lock and gives it back lets others have it.
        let locks = [Op::Acquire, Op::Release].map(|op| Slot::operation(op, 7, 8, 0));
        assert!(!of(&locks.repeat(200)));
    }

    #[test]
    fn bytes_that_do_not_count_do_not_count() {
        let slots: Vec<Slot> = (0..400).map(|number| read(8, number << 32 | 5)).collect();
        assert!(of(&slots));
    }
}
