//! Octets: the wide way against one slot after another, and back.

use super::*;

/// Numbers that look random.
struct Draw(u64);

impl Draw {
    fn bits(&mut self, bits: u32) -> u64 {
        self.0 = self.0.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1);
        if bits == 0 { 0 } else { self.0 >> (64 - bits) }
    }

    fn below(&mut self, bound: u64) -> u64 {
        self.bits(32) % bound
    }
}

/// Expectations, and slots of which most are as expected: words, targets and values each in their own way.
fn drawn(draw: &mut Draw) -> (Octet, [[u64; 3]; OCTET]) {
    let mut octet = Octet::NOTHING;
    let slots = core::array::from_fn(|place| {
        let (word, target) = (draw.bits(60), draw.bits(64));
        let (jump, size) = (draw.below(5) as u8, 1 + draw.below(8) as u8);
        if draw.below(40) != 0 {
            octet.expect(place, word, target, jump, size);
            if jump == 0 && draw.below(2) == 0 {
                octet.stride(place, target.wrapping_sub(24), 24);
            }
        }
        let [over, under] = [8 * u32::from(jump), 1].map(|bits| draw.bits(bits));
        let half = if jump == 0 { 0 } else { 1 << (8 * jump - 1) };
        let distance = over.wrapping_sub(half).wrapping_add(if draw.below(40) == 0 { under } else { 0 });
        let word = if draw.below(40) == 0 { word ^ 1 << draw.below(60) } else { word };
        [word, target.wrapping_add(distance), draw.bits(8 * u32::from(size))]
    });
    (octet, slots)
}

fn shared(slots: &[[u64; 3]]) -> [[AtomicU64; 3]; OCTET] {
    core::array::from_fn(|place| slots.get(place).copied().unwrap_or_default().map(AtomicU64::new))
}

#[test]
fn both_ways_keep_the_same_and_expect_the_same_afterwards() {
    #[cfg(target_arch = "x86_64")]
    if wide::is_there() {
        let (mut draw, mut seen) = (Draw(7), [0; OCTET + 1]);
        for _ in 0..20_000 {
            let (octet, slots) = drawn(&mut draw);
            let (mut first, mut second, slots) = (octet.clone(), octet, shared(&slots));
            let mut rooms = [[0xAA; OCTET_ROOM], [0x55; OCTET_ROOM]];
            let expected = first.take_one_by_one(&slots, &mut rooms[0]);
            assert_eq!(wide::take(&mut second, &slots, &mut rooms[1]), expected);
            assert!(first == second && rooms[0][..expected.bytes] == rooms[1][..expected.bytes]);
            seen[expected.slots] += 1;
        }
        assert!(seen.iter().all(|&times| times > 100), "{seen:?}");
        return;
    }
    panic!("this machine has no wide registers: run this test on one that has");
}

#[test]
fn what_was_kept_is_given_back() {
    let mut draw = Draw(3);
    for _ in 0..20_000 {
        let (octet, slots) = drawn(&mut draw);
        let (mut taker, mut giver, mut room) = (octet.clone(), octet, [0; OCTET_ROOM]);
        let offered = draw.below(OCTET as u64 + 1) as usize;
        let expected = taker.take(&shared(&slots)[..offered], &mut room);
        assert!(expected.slots <= offered && expected.bytes <= 12 * expected.slots);
        let mut at = 0;
        for (place, slot) in slots.iter().enumerate().take(expected.slots) {
            let given = giver.give(place, &room[at..expected.bytes]);
            assert_eq!(given.map(|(slot, _)| slot), Some(*slot));
            at += given.map_or(0, |(_, bytes)| bytes);
        }
        assert!(at == expected.bytes && giver == taker);
        // With a byte too few the last one is not there.
        if let Some(last) = expected.slots.checked_sub(1) {
            let (_, bytes) = taker.clone().give(last, &room).unwrap_or_default();
            assert!(giver.give(last, &room[..bytes - 1]).is_none());
        }
    }
}

#[test]
fn targets_are_expected_where_they_go_on_or_around_the_last() {
    let mut octet = Octet::NOTHING;
    let mut taken = |octet: &mut Octet, target| {
        octet.take(&shared(&[[5, target, 1]])[..1], &mut [0; OCTET_ROOM]).slots == 1
    };
    assert!(!taken(&mut octet, 0), "nothing is expected");
    octet.expect(0, 5, 100, 0, 4);
    assert!(taken(&mut octet, 100) && !taken(&mut octet, 101));
    octet.stride(0, 100, 8);
    assert!(taken(&mut octet, 108) && taken(&mut octet, 116) && !taken(&mut octet, 116));
    assert_eq!((octet.target(0), octet.way(0)), (116, (0, 8)));
    octet.jump(0, 1000, 1);
    assert!(taken(&mut octet, 872) && taken(&mut octet, 872 + 127) && !taken(&mut octet, 872 + 127 + 128));
    assert_eq!((octet.target(0), octet.way(0)), (999, (1, 0)));
    let other = octet.clone();
    octet.go_on(3, &other);
    assert!(octet.target(3) == 999 && octet.target(2) == 0 && octet.target(0) == 999);
}
