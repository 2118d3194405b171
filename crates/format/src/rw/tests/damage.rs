//! Files that were cut off or damaged: never a panic, never a wrong event.

use reweave_wire::{CHUNK_BYTES, Chunk, ChunkKind, END_BYTES, HEADER_BYTES, crc};

use super::sample::Sample;
use super::*;
use crate::rw::scan::scan;

/// Where each block of a file, or its contexts, starts and how many events come before it; at last, where the footer starts.
fn starts(bytes: &[u8]) -> Vec<(usize, usize)> {
    let scan = scan(bytes).unwrap();
    let blocks = scan.blocks;
    let start = |first| scan.contexts.iter().find(|contexts| contexts.head.first_event == first);
    let mut starts: Vec<_> = blocks
        .iter()
        .map(|block| {
            let first = block.head.first_event;
            (start(first).map_or(block.at, |contexts| contexts.at), first as usize)
        })
        .collect();
    let last = blocks.last().unwrap();
    let end = last.at + CHUNK_BYTES + last.head.payload as usize;
    starts.push((end, (last.head.first_event + u64::from(last.head.events)) as usize));
    starts
}

#[test]
fn a_file_cut_off_anywhere_has_its_whole_blocks() {
    CODECS.into_iter().for_each(cut_off_anywhere);
}

fn cut_off_anywhere(codec: Codec) {
    let trace = Sample::new(3).trace(60, true);
    let bytes = write(&trace, 20, codec);
    let starts = starts(&bytes);
    let footer = starts[starts.len() - 1].0;
    for length in 0..bytes.len() {
        let cut = read(&bytes[..length], 1 + length % 2);
        if length < HEADER_BYTES {
            assert!(cut.is_err());
            continue;
        }
        let cut = cut.unwrap();
        assert_eq!(cut.notices.len(), 1, "{length}");
        let (_, whole) = starts.iter().rfind(|(at, _)| *at <= length).unwrap_or(&(0, 0));
        let has_footer = length >= bytes.len() - END_BYTES;
        assert_eq!(cut.notices[0].starts_with(&format!("cut off after {whole} events")), !has_footer);
        let cut = finish(cut);
        assert_eq!(listing(&cut, cut.len()), listing(&trace, *whole));
        assert_eq!(cut.capabilities().dependences, has_footer, "{footer}");
        assert!(cut.capabilities().branches);
    }
}

#[test]
fn zeros_where_blocks_should_follow_are_a_cut() {
    let trace = Sample::new(4).trace(60, false);
    let bytes = write(&trace, 20, Codec::Packed);
    let (at, whole) = starts(&bytes)[2];
    let mut zeros = bytes[..at].to_vec();
    zeros.resize(at + 5000, 0);
    let cut = read(&zeros, 1).unwrap();
    assert_eq!(
        cut.notices,
        [format!(
            "cut off after {whole} events: the last whole block ends at byte {at}; what follows was ignored"
        )]
    );
    assert_eq!(finish(cut).len(), whole);
    zeros[at + 4000] = 1;
    assert!(read(&zeros, 1).is_err());
}

#[test]
fn every_flipped_bit_is_noticed() {
    for codec in CODECS {
        flip_every_bit(&write(&Sample::new(6).trace(60, true), 20, codec));
    }
}

fn flip_every_bit(bytes: &[u8]) {
    for bit in 0..bytes.len() * 8 {
        let mut flipped = bytes.to_vec();
        flipped[bit / 8] ^= 1 << (bit % 8);
        let defect = read(&flipped, 1).expect_err("a flipped bit");
        let crate::error::Place::Byte(at) = defect.at else { panic!("no byte") };
        assert!(at as usize <= bit / 8, "bit {bit} reported at byte {at}");
    }
}

#[test]
fn every_random_damage_is_noticed() {
    CODECS.into_iter().for_each(damage_at_random);
}

fn damage_at_random(codec: Codec) {
    let mut random = Sample::new(7);
    let trace = random.trace(4000, true);
    let bytes = write(&trace, 700, codec);
    let whole = listing(&trace, trace.len());
    for _ in 0..3000 {
        let mut damaged = bytes.clone();
        match random.below(4) {
            0 => {
                let (at, other) = (random.below(bytes.len()), random.below(bytes.len()));
                damaged.copy_within(at..bytes.len().min(at + 64), other.min(bytes.len() - 64));
            }
            1 => drop(damaged.drain(random.below(bytes.len())..).take(1 + random.below(100)).count()),
            2 => damaged.insert(random.below(bytes.len()), random.below(256) as u8),
            _ => {
                for _ in 0..1 + random.below(16) {
                    damaged[random.below(bytes.len())] = random.below(256) as u8;
                }
            }
        }
        if let Ok(read) = read(&damaged, 1 + random.below(2)) {
            let (unchanged, cut) = (damaged == bytes, !read.notices.is_empty());
            assert!(unchanged || cut);
            let read = finish(read);
            assert!(listing(&read, read.len()) == whole[..read.len()]);
        }
    }
}

#[test]
fn blocks_that_are_lost_or_swapped_are_noticed() {
    let bytes = write(&Sample::new(8).trace(80, false), 20, Codec::Predicted);
    let starts = starts(&bytes);
    let block = |i: usize| &bytes[starts[i].0..starts[i + 1].0];
    let footer = &bytes[starts[4].0..];
    for order in [&[0, 2, 3][..], &[0, 1, 1, 2, 3], &[0, 2, 1, 3], &[0, 1, 2], &[]] {
        let mut other = bytes[..HEADER_BYTES].to_vec();
        order.iter().for_each(|&i| other.extend_from_slice(block(i)));
        other.extend_from_slice(footer);
        assert!(read(&other, 1).is_err());
    }
}

#[test]
fn contexts_that_are_lost_or_moved_are_noticed() {
    let bytes = write(&Sample::new(8).trace(80, false), 20, Codec::Predicted);
    let scan = scan(&bytes).unwrap();
    assert_eq!((scan.blocks.len(), scan.contexts.len()), (4, 4));
    for contexts in &scan.contexts {
        let chunk = contexts.at..contexts.at + CHUNK_BYTES + contexts.head.payload as usize;
        let mut lost = bytes.clone();
        let taken: Vec<u8> = lost.drain(chunk.clone()).collect();
        assert!(read(&lost, 1).is_err(), "lost at {}", contexts.at);
        let mut doubled = bytes.clone();
        doubled.splice(chunk.end..chunk.end, taken.iter().copied());
        assert!(read(&doubled, 1).is_err(), "doubled at {}", contexts.at);
        for block in scan.blocks.iter().filter(|block| block.at > chunk.end + CHUNK_BYTES) {
            let mut moved = bytes.clone();
            moved.splice(block.at..block.at, taken.iter().copied());
            moved.drain(chunk.clone());
            assert!(read(&moved, 1).is_err(), "moved from {} to {}", contexts.at, block.at);
        }
    }
}

/// Damage whose checksums are right comes from a broken writer, or from someone who means ill.
#[test]
fn wrong_payloads_with_right_checksums_do_no_harm() {
    CODECS.into_iter().for_each(wrong_payloads);
}

fn wrong_payloads(codec: Codec) {
    let mut random = Sample::new(9);
    let bytes = write(&random.trace(300, true), 100, codec);
    let starts = starts(&bytes);
    let (mut accepted, mut refused) = (0, 0);
    for _ in 0..2000 {
        let mut other = bytes.clone();
        let mut at = starts[random.below(3)].0;
        let mut head = Chunk::decode(bytes[at..].first_chunk().unwrap()).unwrap();
        assert_eq!(head.kind, ChunkKind::Contexts);
        if random.below(2) == 0 {
            at += CHUNK_BYTES + head.payload as usize;
            head = Chunk::decode(bytes[at..].first_chunk().unwrap()).unwrap();
        }
        let payload = at + CHUNK_BYTES..at + CHUNK_BYTES + head.payload as usize;
        for _ in 0..1 + random.below(3) {
            other[payload.start + random.below(payload.len())] = random.below(256) as u8;
        }
        match random.below(8) {
            0 => head.events = random.below(70_000) as u32,
            1 => head.names = random.below(1 << 20) as u32,
            2 => head.codec = random.below(3) as u8,
            _ => {}
        }
        head.payload_crc = crc(&other[payload]);
        other[at..at + CHUNK_BYTES].copy_from_slice(&head.encode());
        match read(&other, 1) {
            // What it says may not be well formed, but it must be a trace that can be looked at.
            Ok(read) => {
                accepted += 1;
                let _ = read.builder.repair();
            }
            Err(_) => refused += 1,
        }
    }
    assert!(accepted > 100 && refused > 100, "{accepted} accepted, {refused} refused");
}
