//! Paths: the wide way against one slot after another, and back.

extern crate std;

use std::vec;
use std::vec::Vec;

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

/// A path, and slots of which most are as expected: words, targets and values each in their own way.
fn drawn(draw: &mut Draw) -> (Path, [[u64; 3]; STEPS]) {
    let mut path = Path::NOWHERE;
    let slots = core::array::from_fn(|place| {
        let (word, target) = (draw.bits(60), draw.bits(64));
        let (jump, size) = (draw.below(5) as u8, 1 + draw.below(8) as u8);
        let site = 1 + draw.below(30) as u16;
        if draw.below(40) != 0 {
            path.expect(Surprise { place, site, word, target, size }, jump, Some(&Path::NOWHERE));
            if jump == 0 && draw.below(2) == 0 {
                path.jump(place, target.wrapping_sub(48), 0);
                path.aim(place, target.wrapping_sub(24));
            }
        }
        let [over, under] = [8 * u32::from(jump), 1].map(|bits| draw.bits(bits));
        let half = if jump == 0 { 0 } else { 1 << (8 * jump - 1) };
        let distance = over.wrapping_sub(half).wrapping_add(if draw.below(40) == 0 { under } else { 0 });
        let word = if draw.below(40) == 0 { word ^ 1 << draw.below(60) } else { word };
        [word, target.wrapping_add(distance), draw.bits(8 * u32::from(size))]
    });
    (path, slots)
}

fn shared(slots: &[[u64; 3]]) -> Vec<[AtomicU64; 3]> {
    slots.iter().map(|slot| slot.map(AtomicU64::new)).collect()
}

/// What one path makes of slots: how many were taken, and the bytes that were kept.
fn take(path: &mut Path, slots: &[[u64; 3]]) -> (usize, Vec<u8>) {
    let mut room = [0xAA; PATH_ROOM - 1];
    let (taken, bytes) = path.take_one_by_one(&shared(slots), &mut room);
    (taken, room[..bytes].to_vec())
}

#[test]
fn both_ways_keep_the_same_and_leave_the_same_paths() {
    #[cfg(target_arch = "x86_64")]
    if wide::is_there() {
        let (mut draw, mut seen) = (Draw(7), [0; STEPS + 1]);
        for _ in 0..20_000 {
            let ((path, slots), mut room) = (drawn(&mut draw), vec![0; PATH_ROOM]);
            let (mut first, mut second) = (path.clone(), [path]);
            let (taken, bytes) = take(&mut first, &slots);
            let followed = wide::follow(&mut second, 0, &shared(&slots), &mut room);
            assert!((followed.slots, followed.bytes) == (taken, 1 + bytes.len()));
            assert!(usize::from(room[0]) == taken && room[1..followed.bytes] == bytes);
            let [mut second] = second;
            assert!(first == second);
            seen[taken] += 1;
            let ((other, _), place) = (drawn(&mut draw), draw.below(STEPS as u64 + 1) as usize);
            let other = (draw.below(4) != 0).then_some(&other);
            first.go_on_one_by_one(place, other);
            wide::go_on(&mut second, place, other);
            assert!(first == second);
        }
        assert!(seen.iter().all(|&times| times > 100), "{seen:?}");
        return;
    }
    std::eprintln!(
        "not compared: this processor has no registers of 64 bytes, or not all instructions for them"
    );
}

#[test]
fn what_was_kept_is_given_back() {
    let mut draw = Draw(3);
    for _ in 0..20_000 {
        let (path, slots) = drawn(&mut draw);
        let (mut taker, mut giver) = (path.clone(), path);
        let offered = draw.below(STEPS as u64 + 1) as usize;
        let (taken, bytes) = take(&mut taker, &slots[..offered]);
        assert!(taken <= offered && bytes.len() <= 12 * taken);
        // With a byte too few the last one is not there.
        if let Some((_, less)) = bytes.split_last() {
            assert!(giver.clone().give(taken, less, |_| ()).is_none());
        }
        let mut given = Vec::new();
        assert_eq!(giver.give(taken, &bytes, |slot| given.push(slot)), Some(bytes.len()));
        assert!(given == slots[..taken] && giver == taker);
    }
}

#[test]
fn paths_lead_on_to_the_paths_of_the_last_slots_sites() {
    let slot = |site: u16, lap: u64| [u64::from(site), 64 * u64::from(site), lap];
    // After each site comes the next one, and after the fifth the first.
    let next = |site: u16| site % 5 + 1;
    let mut paths: Vec<Path> = vec![Path::NOWHERE; 6];
    for site in 0..6 {
        let mut after = site;
        for place in 0..STEPS {
            after = next(after);
            let [word, target, _] = slot(after, 0);
            let surprise = Surprise { place, site: after, word, target, size: 2 };
            paths[usize::from(site)].expect(surprise, 0, Some(&Path::NOWHERE));
        }
    }
    for (count, stray) in [(43, None), (43, Some(20)), (16, None), (7, Some(0)), (3, None)] {
        let mut slots: Vec<[u64; 3]> = (0..count).map(|step| slot((step % 5) as u16 + 1, step)).collect();
        if let Some(stray) = stray {
            slots[stray][1] += 1;
        }
        let mut room = vec![0; 500];
        let followed = follow(&mut paths, 5, &shared(&slots), &mut room);
        let expected = stray.unwrap_or(slots.len());
        assert_eq!((followed.slots, followed.place), (expected, expected % STEPS));
        assert_eq!(followed.site, [5, 3, 1, 4, 2, 5][expected / STEPS]);
        assert_eq!(
            followed.bytes,
            2 * expected + expected / STEPS + usize::from(expected % STEPS > 0 || stray.is_some())
        );
        // Without room there is nothing to be kept.
        assert_eq!(follow(&mut paths, 5, &shared(&slots), &mut room[..PATH_ROOM - 1]).bytes, 0);
    }
}

#[test]
fn targets_are_expected_where_they_go_on_or_around_the_last() {
    let comes = |path: &mut Path, target| take(path, &[[5, target, 1]]).0 == 1;
    let mut path = Path::NOWHERE;
    assert!(!comes(&mut path, 0), "nothing is expected");
    path.expect(Surprise { place: 0, site: 1, word: 5, target: 100, size: 4 }, 0, Some(&Path::NOWHERE));
    assert!(comes(&mut path, 100) && !comes(&mut path, 108));
    // The first distance may be a stride; if not, targets jump about.
    assert_eq!(path.aim(0, 108), 0);
    assert!(comes(&mut path, 116) && comes(&mut path, 124) && !comes(&mut path, 124));
    assert_eq!((path.aim(0, 1000), path.target(0)), (2, 1000));
    assert!(comes(&mut path, 33_000) && comes(&mut path, 300) && !comes(&mut path, 300 + 32_768));
    path.rest();
    assert!(!comes(&mut path, 301) && comes(&mut path, 300));
}

#[test]
fn another_site_is_expected_when_it_comes_twice_with_what_comes_after_it() {
    let surprise = |place, site: u16| Surprise { place, site, word: u64::from(site), target: 64, size: 1 };
    let mut path = Path::NOWHERE;
    assert!(path.doubt(0, 1), "nothing was expected");
    path.expect(surprise(0, 1), 0, Some(&Path::NOWHERE));
    assert!(!path.doubt(0, 2), "for the first time");
    assert_eq!((path.site(0), path.other(0)), ((1, 1), 2));
    // The one that was expected came again.
    take(&mut path, &[[1, 64, 0]]);
    path.give(1, &[0], |_| ());
    assert!(!path.doubt(0, 2) && path.doubt(0, 2), "for the second time in a row");
    let mut after = Path::NOWHERE;
    after.expect(surprise(0, 7), 0, Some(&Path::NOWHERE));
    path.expect(surprise(0, 2), 0, Some(&after));
    assert_eq!((path.site(0), path.site(1), path.site(2).0, path.other(0)), ((2, 2), (7, 7), 0, 1));
    // A site that follows itself goes on as its own path does.
    path.expect(surprise(2, 9), 0, None);
    assert_eq!([0, 1, 2, 3, 4, 5].map(|place| path.site(place).0), [2, 7, 9, 2, 7, 0]);
}
