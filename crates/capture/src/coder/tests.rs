//! The coder: round trips of made-up and of loop-like slots, and damage.

use super::read::unfolded;
use super::*;
use crate::Damaged;

fn encode_one(encoder: &mut Sites, slot: Slot, bytes: &mut [u8], at: usize) -> (usize, u32) {
    encoder.encode(&shared(&[slot]), bytes, at, |_| ())
}

/// As they lie in the ring.
fn shared(slots: &[Slot]) -> Vec<[AtomicU64; 3]> {
    slots.iter().map(|slot| slot.0.map(AtomicU64::new)).collect()
}

fn slots(count: usize) -> Vec<Slot> {
    let mut random = 5u64;
    let mut draw = |bits: u32| {
        random = random.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1);
        random >> (64 - bits)
    };
    (0..count)
        .map(|_| {
            let bits = 1 + draw(6) as u32 % 63;
            let kind = [1, 2, 4, 8, 0x11, 0x14, 0x28, 0x85, 0xF1][draw(8) as usize % 9];
            let code = if draw(3) == 0 { draw(40) } else { draw(4) };
            let value = if draw(2) == 0 { 0 } else { draw(64 - bits) };
            Slot([
                kind << 56 | code,
                draw(bits),
                value & (u64::MAX >> (64 - 8 * u32::from(size(kind << 56)))),
            ])
        })
        .collect()
}

fn decode(bytes: &[u8], count: usize) -> Result<Vec<Slot>, Damaged> {
    Sites::default().decode(bytes, count)
}

/// Slots in parts of several sizes.
fn encode(slots: &[Slot]) -> Vec<u8> {
    let (mut encoder, mut at, mut rest, mut part) = (Sites::default(), 0, slots, 1);
    let mut bytes = vec![0; slots.len() * MAX_BYTES + SPARE];
    while !rest.is_empty() {
        let (some, others) = rest.split_at(part.min(rest.len()));
        let (end, count) = encoder.encode(&shared(some), &mut bytes, at, |_| ());
        assert!(count as usize == some.len() && end - at <= some.len() * MAX_BYTES);
        rest = others;
        (at, part) = (end, part * 3 % 1000 + 1);
    }
    bytes.truncate(at);
    bytes
}

/// Loops over arrays with a jump now and then, as programs have them.
fn loops(count: usize) -> Vec<Slot> {
    let laps = (0..count as u64).map(|step| {
        let (site, lap) = (step % 5, step / 5);
        let far = if site == 3 { lap.wrapping_mul(0x9E37_79B9) % (1 << (lap / 4000 * 8).min(40)) } else { 0 };
        let target = 4096 * site + 4 * (lap % 1000) + far;
        Slot([[1, 2, 4, 8, 0x14][site as usize] << 56 | site, target, lap % 200])
    });
    laps.collect()
}

#[test]
fn what_is_decoded_is_what_was_encoded() {
    for slots in [slots(20_000), loops(100_000)] {
        let bytes = encode(&slots);
        assert!(decode(&bytes, slots.len()).is_ok_and(|found| found == slots));
        // Cut off anywhere, it is damaged.
        for cut in [1, 2, 3, 9, bytes.len() / 2, bytes.len() - 1] {
            assert!(decode(&bytes[..bytes.len() - cut], slots.len()).is_err());
        }
    }
}

#[test]
fn what_is_foreseen_takes_few_bytes() {
    // Values of 1, 2, 4, 8 and 4 bytes, a distance of one byte, a byte for eight slots, and little else.
    let mut bytes = vec![0; 5_000 * MAX_BYTES + SPARE];
    let (end, _) = Sites::default().encode(&shared(&loops(5_000)), &mut bytes, 0, |_| ());
    assert!(end < 5_000 * (19 + 5) / 5 + 5_000 / 8 + 1_000);
    // All jump back sometimes, by less than two bytes say.
    assert!(encode(&loops(20_000)).len() < 20_000 * (19 + 5 * 2) / 5);
}

#[test]
fn branches_and_calls_are_foreseen_and_other_operations_are_looked_at() {
    let operation = |op, step: u64| Slot::operation(op, 0x40, 0, step % 2);
    let slots: Vec<Slot> = (0..3_000)
        .map(|step| operation([Op::Branch, Op::Enter, Op::Acquire][step as usize % 3], step))
        .collect();
    let (mut encoder, mut looked_at) = (Sites::default(), Vec::new());
    let mut bytes = vec![0; slots.len() * MAX_BYTES + SPARE];
    let (end, _) = encoder.encode(&shared(&slots), &mut bytes, 0, |slot| looked_at.push(slot));
    assert!(looked_at.len() == 1_000 && looked_at.iter().all(|slot| slot.kind() == slots[2].kind()));
    bytes.truncate(end);
    assert!(decode(&bytes, slots.len()).is_ok_and(|found| found == slots));
    // Eight bytes for what is foreseen.
    assert!(end < 2_000 * 8 + 1_000 * 16);
}

#[test]
fn more_sites_than_there_is_room_for() {
    let slots: Vec<Slot> = (0..3 * SITES as u64).map(|step| Slot([(1 << 56) | (step / 2), 64, 7])).collect();
    let found = decode(&encode(&slots), slots.len());
    assert!(found.is_ok_and(|found| found == slots));
}

#[test]
fn damage_is_no_panic() {
    let slots = slots(300);
    let bytes = encode(&slots);
    for at in 0..bytes.len() {
        for flip in [1, 0x10, 0x80, 0xFF] {
            let mut bytes = bytes.clone();
            bytes[at] ^= flip;
            // It may go unnoticed here: blocks have a sum.
            let _ = decode(&bytes, slots.len());
        }
    }
}

#[test]
fn of_a_value_only_its_own_bytes_count_and_what_nobody_writes_is_left_out() {
    let mut bytes = vec![0; 4 * MAX_BYTES + SPARE];
    let (mut encoder, mut at) = (Sites::default(), 0);
    for value in [0xAABB_CCDD_EEFF_1122, 0x9900_0000_0000_1122, 0x1_0002] {
        let slot = Slot([0x0200_0000_0000_0040, 64, value]);
        (at, _) = encode_one(&mut encoder, slot, &mut bytes, at);
    }
    for kind in [0x00, 0x09, 0x60, 0x7F] {
        let slot = Slot([kind << 56, 1, 1]);
        assert_eq!(encode_one(&mut encoder, slot, &mut bytes, at).1, 0, "{kind:#x}");
    }
    bytes.truncate(at);
    let found = decode(&bytes, 3).unwrap_or_default();
    assert_eq!(found, [0x1122, 0x1122, 2].map(|value| Slot([0x0200_0000_0000_0040, 64, value])));
}

#[test]
fn numbers_take_as_many_bytes_as_they_need() {
    for bits in 0..64 {
        for number in [1u64 << bits, (1 << bits) - 1, u64::MAX >> bits] {
            assert!(length(number) == 8 || number >> (8 * length(number)) == 0, "{number:#x}");
            assert_eq!(unfolded(folded(number)), number);
        }
    }
    assert_eq!([0, 255, 256, 65_536, 1 << 32].map(length), [0, 1, 2, 3, 5]);
}
