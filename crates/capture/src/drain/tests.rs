//! The recorder's side of the ring, with a test that plays the program.

use std::os::unix::fs::FileExt;

use reweave_wire::Op;
use reweave_wire::ring::AWAITED;

use super::*;

/// Where the program would have the ring mapped.
const BASE: u64 = 0x7000_0000_0000;

struct Program {
    ring: File,
    position: u64,
}

impl Program {
    fn start(drain: &Drain) -> Program {
        let ring = File::options().read(true).write(true).open(drain.ring()).unwrap();
        let program = Program { ring, position: 0 };
        program.set(field::BASE, BASE);
        program.set(field::STATE, state::RUNS);
        program
    }

    fn set(&self, at: usize, value: u64) {
        self.ring.write_all_at(&value.to_le_bytes(), at as u64).unwrap();
    }

    fn get(&self, at: usize) -> u64 {
        let mut bytes = [0; 8];
        self.ring.read_exact_at(&mut bytes, at as u64).unwrap();
        u64::from_le_bytes(bytes)
    }

    /// Writes a slot and moves the cursor, but publishes nothing.
    fn put(&mut self, slot: Slot) {
        let place = self.position % CAPACITY as u64;
        let bytes: Vec<u8> = slot.0.iter().flat_map(|word| word.to_le_bytes()).collect();
        self.ring.write_all_at(&bytes, SLOTS_AT as u64 + place * SLOT_BYTES as u64).unwrap();
        self.position += 1;
        let cursor = BASE + (place + 1) * SLOT_BYTES as u64;
        let anchor = self.position - place - 1;
        for (at, value) in [(field::ANCHOR, anchor), (field::ANCHOR_CURSOR, BASE), (field::CURSOR, cursor)] {
            self.set(at, value);
        }
    }

    fn publish(&self) {
        self.set(field::PUBLISHED, self.position);
    }
}

fn access(number: u64) -> Slot {
    Slot::new(kind::READ + 4, 0, 0x40_0000 + number % 7, 0x1000 + 4 * number, number % 1000)
}

/// What a raw recording has.
fn slots(raw: &Path) -> Vec<Slot> {
    let mut found = Vec::new();
    crate::raw::decode(raw, &mut |batch| {
        found.extend(batch);
        true
    })
    .unwrap();
    found
}

fn raw(folder: &tempfile::TempDir) -> PathBuf {
    folder.path().join("raw")
}

#[test]
fn what_is_published_comes_out_in_order_also_where_the_ring_begins_anew() {
    let folder = tempfile::tempdir().unwrap();
    let mut drain = Drain::create(&raw(&folder), u64::MAX, u64::MAX).unwrap();
    let mut program = Program::start(&drain);
    let total = CAPACITY as u64 + 20_000;
    assert_eq!(drain.take(), Taken::Nothing);
    for number in 0..total {
        program.put(access(number));
        if number % 7_919 == 0 {
            program.publish();
            while drain.take() == Taken::Some {}
            assert_eq!(program.get(field::CONSUMED), program.position);
        }
    }
    program.publish();
    drain.finish();
    assert!(drain.stopped().is_none());
    assert_eq!(slots(&raw(&folder)), (0..total).map(access).collect::<Vec<_>>());
}

#[test]
fn of_a_program_that_was_killed_comes_what_it_wrote_but_a_value_that_was_not_known() {
    for pending in [false, true] {
        let folder = tempfile::tempdir().unwrap();
        let mut drain = Drain::create(&raw(&folder), u64::MAX, u64::MAX).unwrap();
        let mut program = Program::start(&drain);
        (0..10).for_each(|number| program.put(access(number)));
        program.publish();
        (10..19).for_each(|number| program.put(access(number)));
        let Slot([word, target, value]) = access(19);
        let detail = if pending { u64::from(AWAITED) << 48 } else { 0 };
        program.put(Slot([word | detail, target, value]));
        drain.finish();
        assert!(drain.has_begun() && !drain.is_whole());
        let expected = if pending { 19 } else { 20 };
        assert_eq!(slots(&raw(&folder)), (0..expected).map(access).collect::<Vec<_>>());
    }
}

#[test]
fn limits_stop_the_recording_and_tell_the_program() {
    let folder = tempfile::tempdir().unwrap();
    let mut drain = Drain::create(&raw(&folder), 5, u64::MAX).unwrap();
    let mut program = Program::start(&drain);
    // A switch is no event.
    program.put(Slot::new(kind::SWITCH, 0, 0, 0, 0));
    (0..9).for_each(|number| program.put(access(number)));
    program.publish();
    while drain.take() == Taken::Some {}
    drain.finish();
    assert!(matches!(drain.stopped(), Some(Stop::Events)));
    assert_eq!(program.get(field::STOP), 1);
    assert_eq!(slots(&raw(&folder)).len(), 6);

    let folder = tempfile::tempdir().unwrap();
    let mut drain = Drain::create(&raw(&folder), u64::MAX, 100_000).unwrap();
    let mut program = Program::start(&drain);
    for number in 0..100_000 {
        program.put(access(number));
    }
    program.publish();
    while drain.take() == Taken::Some {}
    drain.finish();
    assert!(matches!(drain.stopped(), Some(Stop::Bytes)));
    let bytes = std::fs::metadata(raw(&folder)).unwrap().len();
    assert!((100_000..200_000).contains(&bytes), "{bytes}");
}

#[test]
fn a_program_that_overwrites_the_ring_gives_a_recording_that_can_be_read() {
    let folder = tempfile::tempdir().unwrap();
    let mut drain = Drain::create(&raw(&folder), u64::MAX, u64::MAX).unwrap();
    let program = Program::start(&drain);
    let mut random = 3u64;
    let garbage: Vec<u8> = (0..CAPACITY * SLOT_BYTES)
        .map(|_| {
            random = random.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
            (random >> 56) as u8
        })
        .collect();
    program.ring.write_all_at(&garbage, SLOTS_AT as u64).unwrap();
    for at in [field::PUBLISHED, field::CURSOR, field::ANCHOR] {
        program.set(at, u64::MAX);
    }
    assert_eq!(drain.take(), Taken::Some);
    for at in [field::PUBLISHED, field::ANCHOR_CURSOR] {
        program.set(at, 100_000);
    }
    drain.finish();
    assert!(!slots(&raw(&folder)).is_empty());
}

#[test]
fn the_last_events_come_with_what_held_before_and_the_calls_that_begin_among_them() {
    let folder = tempfile::tempdir().unwrap();
    let mut drain =
        Drain::create(&raw(&folder), u64::MAX, u64::MAX).unwrap().keep_last(&raw(&folder), 40_000);
    let mut program = Program::start(&drain);
    let op = |op, code, target| Slot::operation(op, code, target, 0);
    program.put(Slot::new(kind::SWITCH, 0, 0, 0, 0));
    program.put(op(Op::Begin, 0, 0));
    program.put(op(Op::Acquire, 7, 64));
    let mut all = Vec::new();
    for number in 0..150_000 {
        // A function is entered, touches something and is left.
        for slot in [op(Op::Enter, 9, 0), access(number), op(Op::Exit, 0, 0)] {
            program.put(slot);
            all.push(slot);
        }
        if number % 1_000 == 0 {
            program.publish();
            while drain.take() == Taken::Some {}
        }
    }
    program.publish();
    drain.finish();
    assert!(drain.stopped().is_none());
    let found = slots(&raw(&folder));
    let before = found.len() - 40_000;
    assert_eq!(found[before..], all[all.len() - 40_000..]);
    assert!(found[..before].contains(&op(Op::Acquire, 0, 64)), "the lock that is held");
    assert!(found[..before].iter().all(|slot| slot.kind() >= kind::OTHERS));
}

#[test]
fn however_much_a_program_writes_that_is_no_slot_the_rest_comes_out() {
    let folder = tempfile::tempdir().unwrap();
    let mut drain = Drain::create(&raw(&folder), u64::MAX, u64::MAX).unwrap();
    let mut program = Program::start(&drain);
    let nothing = Slot::new(kind::READ + 9, 0, 0x40, 0x40, 0);
    for number in 0..800_000 {
        program.put(if number % 1_000 == 0 { access(number) } else { nothing });
        if number % 100_000 == 99_999 {
            program.publish();
            while drain.take() == Taken::Some {}
        }
    }
    drain.finish();
    let expected: Vec<Slot> = (0..800).map(|number| access(1_000 * number)).collect();
    assert_eq!(slots(&raw(&folder)), expected);
}

#[test]
fn rings_that_were_left_behind_are_removed_and_others_are_not() {
    let folder = tempfile::tempdir().unwrap();
    let first = Drain::create(&raw(&folder), u64::MAX, u64::MAX).unwrap();
    let rings = first.ring().parent().and_then(Path::parent).unwrap();
    let left = rings.join(format!("reweave-{}-left.ring", std::process::id()));
    let other = left.with_extension("other");
    for path in [&left, &other] {
        std::fs::create_dir(path).unwrap();
        std::fs::write(path.join("ring"), "ring").unwrap();
    }
    // A recorder may be killed before it makes the ring in its folder.
    let empty = rings.join(format!("reweave-{}-empty.ring", std::process::id()));
    std::fs::create_dir(&empty).unwrap();
    let second = Drain::create(&folder.path().join("second"), u64::MAX, u64::MAX).unwrap();
    assert!(!empty.exists(), "its recorder was killed early");
    assert!(first.ring().exists() && second.ring().exists() && other.exists());
    assert!(!left.exists(), "its recorder was killed");
    let path = first.ring().to_owned();
    drop(first);
    assert!(!path.exists());
    std::fs::remove_dir_all(other).unwrap();
}

#[test]
fn recorders_that_start_together_do_not_take_each_others_rings_for_leftovers() {
    std::thread::scope(|scope| {
        for _ in 0..4 {
            scope.spawn(|| {
                let folder = tempfile::tempdir().unwrap();
                for number in 0..12 {
                    let raw = folder.path().join(number.to_string());
                    let drain = Drain::create(&raw, u64::MAX, u64::MAX).unwrap();
                    assert!(drain.ring().exists());
                    assert!(drain.ring().starts_with("/dev/shm") || !Path::new("/dev/shm").exists());
                }
            });
        }
    });
}

#[test]
fn a_ring_has_no_name_once_the_program_has_it() {
    let folder = tempfile::tempdir().unwrap();
    let mut drain = Drain::create(&raw(&folder), u64::MAX, u64::MAX).unwrap();
    let mut program = Program::start(&drain);
    let folder_of_ring = drain.ring().parent().unwrap().to_owned();
    program.put(access(0));
    program.publish();
    assert!(folder_of_ring.exists());
    assert_eq!(drain.take(), Taken::Some);
    assert!(!folder_of_ring.exists());
    program.put(access(1));
    drain.finish();
    assert_eq!(slots(&raw(&folder)), [access(0), access(1)]);
}
