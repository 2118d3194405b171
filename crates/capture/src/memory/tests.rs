//! Cuts, owners and values of a few words.

use super::*;
use crate::word::parts;

fn access(memory: &mut Memory, at: u64, length: u8, thread: u32) {
    parts(at, length).for_each(|part| memory.touch(part, thread, None, Some(0)));
}

fn variables(memory: &mut Memory, at: u64, length: u8) -> Vec<(u64, u8)> {
    let parts: Vec<Part> = parts(at, length).collect();
    parts.into_iter().flat_map(|part| memory.variables(part)).map(|part| (part.at, part.length)).collect()
}

#[test]
fn two_accesses_share_a_variable_exactly_when_they_share_a_byte() {
    let mut random = 7u64;
    let mut draw = |bound: u64| {
        random = random.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        (random >> 33) % bound
    };
    for _ in 0..300 {
        let accesses: Vec<(u64, u8)> = (0..6).map(|_| (4090 + draw(20), 1 + draw(8) as u8)).collect();
        let mut memory = Memory::new();
        accesses.iter().for_each(|&(at, length)| access(&mut memory, at, length, 0));
        for &(at, length) in &accesses {
            let found = variables(&mut memory, at, length);
            // Together they are the access.
            let mut next = at;
            for &(start, bytes) in &found {
                assert_eq!(start, next);
                next += u64::from(bytes);
            }
            assert_eq!(next, at + u64::from(length));
            for &(other, bytes) in &accesses {
                let overlap = at < other + u64::from(bytes) && other < at + u64::from(length);
                let others = variables(&mut memory, other, bytes);
                assert_eq!(overlap, found.iter().any(|variable| others.contains(variable)));
            }
        }
    }
}

#[test]
fn memory_of_one_thread_does_not_matter_and_any_second_thread_makes_it_matter() {
    let mut memory = Memory::new();
    access(&mut memory, 64, 4, 1);
    assert!(!memory.matters(64));
    access(&mut memory, 68, 4, 2);
    assert!(memory.matters(64), "the word is looked at as a whole");
    // Allocated by one thread, used by another, freed by the first.
    memory.born(4096, 64, 1, 0, false);
    access(&mut memory, 4096, 8, 2);
    access(&mut memory, 4104, 8, 1);
    assert!(memory.matters(4096) && !memory.matters(4104));
    memory.dies(4096, 3, 0);
    assert!(memory.matters(4104), "freed by a third thread");
    // All by one thread.
    memory.born(8192, 64, 1, 0, false);
    access(&mut memory, 8192, 8, 1);
    memory.dies(8192, 1, 0);
    assert!(!memory.matters(8192));
}

#[test]
fn a_thread_that_uses_a_lock_in_an_object_shares_the_object() {
    let mut memory = Memory::new();
    let own = memory.born(4096, 64, 1, 0, false);
    let others = memory.born(8192, 64, 1, 0, false);
    for (at, thread) in [(4104, 1), (8200, 1), (8200, 2), (64, 2)] {
        memory.used(at, thread);
    }
    let shared = |object: u32| memory.objects[object as usize].shared;
    assert!(!shared(own) && shared(others));
    access(&mut memory, 8216, 8, 1);
    assert!(!memory.matters(8216), "no other thread accessed this word");
}

#[test]
fn an_address_belongs_to_the_last_object_born_there() {
    let mut memory = Memory::new();
    let large = memory.born(4096, 3 * 4096, 0, 0, false);
    let small = memory.born(8192 + 16, 32, 0, 0, false);
    for (at, object) in [(4095, 0), (4096, large), (8200, large), (8208, small), (8239, small), (8240, large)]
    {
        assert_eq!(memory.object_at(at), object, "{at}");
    }
    memory.dies(4096, 0, 0);
    assert_eq!(memory.object_at(5000), large, "a use after the end is one of the same object");
    let again = memory.born(4096, 3 * 4096, 0, 0, false);
    assert_eq!(memory.object_at(8208), again);
    memory.rewind();
    assert_eq!(memory.object_at(5000), 0);
    assert_eq!(memory.born(4096, 3 * 4096, 0, 0, false), large);
    assert_eq!(memory.objects.len(), 4);
}

#[test]
fn a_value_that_nobody_wrote_is_noticed() {
    let mut memory = Memory::new();
    let part = |at, length| Part { at, length, offset: 0 };
    assert!(!memory.observe(part(8, 4), 7), "the initial value may be anything");
    assert!(!memory.observe(part(8, 4), 7));
    memory.store(part(10, 2), 0x0102);
    assert!(!memory.observe(part(8, 4), 0x0102_0007));
    assert!(memory.observe(part(8, 4), 0x0102_0008));
    assert!(!memory.observe(part(12, 4), 5));
    memory.store(part(8, 8), u64::MAX);
    assert!(memory.observe(part(15, 1), 0));
    memory.born(8, 8, 0, 0, false);
    assert!(!memory.observe(part(8, 8), 3), "new memory holds anything");
}
