//! Columns there and back, against numbers read bit by bit.

extern crate std;

use std::vec;
use std::vec::Vec;

use super::*;
use crate::MIN_BUFFER_BYTES;

/// The column as the format's page draws it; nothing where it makes no sense.
fn naive(mut bytes: &[u8], count: usize) -> Option<Vec<u32>> {
    let mut take = |some: usize| {
        let (taken, rest) = bytes.split_at_checked(some)?;
        bytes = rest;
        Some(taken)
    };
    let first = take(1)?[0];
    // The base was written as a number of up to nine bytes.
    let base = match take(1)?[0] {
        byte @ 0..192 => u32::from(byte),
        byte @ 192..240 => 192 + (u32::from(byte) - 192) * 256 + u32::from(take(1)?[0]),
        byte => take(usize::from(byte) - 239)?.iter().rev().fold(0, |all, &byte| all << 8 | u32::from(byte)),
    };
    let width = usize::from(first & 63);
    let wide =
        if first & 128 == 0 { None } else { Some((usize::from(take(1)?[0]) + 1, usize::from(take(1)?[0]))) };
    let numbers = |bytes: &[u8], count: usize, width: usize| -> Vec<u64> {
        let bit = |at: usize| u64::from(bytes[at / 8] >> (at % 8) & 1);
        (0..count).map(|i| (0..width).fold(0, |all, place| all | bit(i * width + place) << place)).collect()
    };
    let mut entries = numbers(take((count * width).div_ceil(8))?, count, width);
    if let Some((wide, above)) = wide {
        let places = take(wide)?.to_vec();
        let above = numbers(take((wide * above).div_ceil(8))?, wide, above);
        places.iter().zip(above).for_each(|(&place, above)| entries[usize::from(place)] += above << width);
    }
    Some(entries.iter().map(|&entry| base.wrapping_add(entry as u32)).collect())
}

fn written(numbers: &[u32], related: u8) -> (Frame, Vec<u8>) {
    let mut lanes = Lanes::new(vec![0xA5; MIN_BUFFER_BYTES]);
    let frame = Frame::of(numbers);
    frame.write(numbers, related, &mut lanes, Lane::Sites);
    (frame, lanes.each()[Lane::Sites as usize].to_vec())
}

fn read(bytes: &[u8], count: usize) -> Option<(bool, Vec<u32>)> {
    let (mut input, mut out) = (Input::new(bytes), vec![7; count]);
    let related = ColumnReader::new().read(&mut input, &mut out)?;
    input.is_empty().then_some((related, out))
}

#[test]
fn numbers_survive_however_few_are_wide() {
    let (mut draw, mut some, mut none) = (3_u64, 0, 0);
    let mut below = |limit: u64| {
        draw = draw.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        (draw >> 33) % limit
    };
    for case in 0..3000_usize {
        let count = [1, 2, 7, 8, 9, 100, 255, 256][case % 8];
        let (usual, wide, base) = (below(20), below(33), below(1 << 32) as u32);
        let rare = 1 + below(60);
        let numbers: Vec<u32> = (0..count)
            .map(|_| {
                let width = if below(rare) == 0 { wide } else { usual };
                base.wrapping_add(below(1 << width) as u32)
            })
            .collect();
        let related = if case % 3 == 0 { RELATED } else { 0 };
        let (frame, bytes) = written(&numbers, related);
        assert!(bytes.len() <= frame.bytes + 8 && bytes.len() + 2 * PADDING <= COLUMN_BYTES);
        assert_eq!(naive(&bytes, count).as_ref(), Some(&numbers));
        assert_eq!(read(&bytes, count), Some((related > 0, numbers)));
        for cut in 0..bytes.len() {
            assert_eq!(read(&bytes[..cut], count), None);
        }
        (some, none) = (some + usize::from(frame.exceptions > 0), none + usize::from(frame.exceptions == 0));
    }
    assert!(some > 500 && none > 500, "{some} {none}");
}

#[test]
fn a_few_that_are_wide_cost_little() {
    let mut numbers = [5; ENTRIES];
    (numbers[0], numbers[100], numbers[255]) = (1 << 30, 9, 70_000);
    assert!(written(&numbers, 0).1.len() < 24);
}

#[test]
fn what_makes_no_sense_is_refused() {
    // Two entries of 0 bits, one of them with a bit above.
    let good = [EXCEPTIONS, 5, 0, 1, 1, 1];
    assert_eq!(read(&good, 2), Some((false, vec![5, 6])));
    for (at, byte) in [(4, 2), (3, 33), (3, 255), (0, EXCEPTIONS | 33), (0, 33), (0, RELATED - 1), (1, 248)] {
        let mut bad = good;
        bad[at] = byte;
        assert_eq!(read(&bad, 2), None, "{bad:?}");
    }
    // All 32 bits are taken already.
    let mut full = vec![EXCEPTIONS | 32, 0, 0, 1];
    full.extend([0; 8]);
    full.extend([0, 1]);
    assert_eq!(read(&full, 2), None);
}
