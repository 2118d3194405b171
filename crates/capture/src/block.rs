//! Blocks of slots, of which a raw recording is made.

use std::fs::File;
use std::io::{self, Write};
use std::path::Path;
use std::sync::atomic::AtomicU64;

use reweave_wire::ring::Slot;

use crate::coder::{MAX_BYTES, SPARE, Sites};

/// What a raw recording begins with.
pub(crate) const RAW_MAGIC: [u8; 8] = *b"rwraw 5\n";
/// The head of a block: how many bytes and slots it has, and a sum over its bytes.
pub(crate) const BLOCK_HEAD: usize = 16;
/// At most so many slots make a block.
pub(crate) const BLOCK_SLOTS: usize = 1 << 13;

/// Writes slots as a raw recording, as [`Drain`](crate::Drain) does with those that it takes out.
pub fn write_raw(path: &Path, slots: &[Slot]) -> io::Result<()> {
    let mut file = File::create(path)?;
    file.write_all(&RAW_MAGIC)?;
    let mut writer = RawWriter::new(&mut file);
    slots.iter().try_for_each(|&slot| writer.put(slot))?;
    writer.end()?;
    Ok(())
}

/// Writes blocks of slots.
pub(crate) struct RawWriter<'f> {
    file: &'f mut File,
    sites: Sites,
    batch: Vec<Slot>,
}

impl RawWriter<'_> {
    pub(crate) fn new(file: &mut File) -> RawWriter<'_> {
        RawWriter { file, sites: Sites::default(), batch: Vec::new() }
    }

    pub(crate) fn put(&mut self, slot: Slot) -> io::Result<()> {
        self.batch.push(slot);
        if self.batch.len() >= BLOCK_SLOTS { self.write() } else { Ok(()) }
    }

    fn write(&mut self) -> io::Result<()> {
        let mut bytes = vec![0; self.batch.len() * MAX_BYTES + SPARE];
        let slots: Vec<_> = self.batch.iter().map(|slot| slot.0.map(AtomicU64::new)).collect();
        let (used, slots) = self.sites.encode(&slots, &mut bytes, 0, |_| ());
        self.sites.end_block(slots);
        bytes.truncate(used);
        self.file.write_all(&head(&bytes, slots))?;
        self.batch.clear();
        self.file.write_all(&bytes)
    }

    /// Writes the rest; what the blocks that follow are to be encoded with.
    pub(crate) fn end(mut self) -> io::Result<Sites> {
        if !self.batch.is_empty() {
            self.write()?;
        }
        Ok(self.sites)
    }
}

/// The head of a block.
pub(crate) fn head(payload: &[u8], slots: u32) -> [u8; BLOCK_HEAD] {
    let mut head = [0; BLOCK_HEAD];
    let fields = [(payload.len() as u32).to_le_bytes(), slots.to_le_bytes()];
    for (room, byte) in head.iter_mut().zip(fields.as_flattened().iter().chain(&sum(payload).to_le_bytes())) {
        *room = *byte;
    }
    head
}

/// A sum that notices what a torn or foreign file has instead: it guards against accidents only. Each of four sums adds every
/// fourth word, and another one adds that sum after each, so that the order counts, too: all of these side by side.
pub(crate) fn sum(bytes: &[u8]) -> u64 {
    const SIDES: usize = 4;
    let (groups, rest) = bytes.as_chunks::<{ 8 * SIDES }>();
    let (mut sums, mut sums_of_sums) = ([0u64; SIDES], [0u64; SIDES]);
    let add = |sum: u64, more: u64| sum.wrapping_add(more);
    for group in groups {
        let words = group.as_chunks::<8>().0;
        sums = std::array::from_fn(|side| add(sums[side], u64::from_le_bytes(words[side])));
        sums_of_sums = std::array::from_fn(|side| add(sums_of_sums[side], sums[side]));
    }
    let step = |sum: u64, word: u64| (sum ^ word).wrapping_mul(0x9E37_79B9_7F4A_7C15).rotate_left(29);
    let sum = sums.into_iter().chain(sums_of_sums).fold(bytes.len() as u64, step);
    rest.iter().fold(sum, |sum, &byte| step(sum, u64::from(byte)))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_sum_notices_a_bit_an_order_and_a_length() {
        let bytes: Vec<u8> = (0..211u64).map(|at| ((at * at * 37) >> 3) as u8).collect();
        let all = sum(&bytes);
        for bit in 0..8 * bytes.len() {
            let mut changed = bytes.clone();
            changed[bit / 8] ^= 1 << (bit % 8);
            assert_ne!(sum(&changed), all, "bit {bit}");
        }
        for (first, second) in (0..26).flat_map(|first| (0..first).map(move |second| (first, second))) {
            let mut changed = bytes.clone();
            (0..8).for_each(|byte| changed.swap(8 * first + byte, 8 * second + byte));
            assert_ne!(sum(&changed), all, "words {first} and {second}");
        }
        for length in 0..bytes.len() {
            assert_ne!(sum(&bytes[..length]), all, "{length} bytes");
        }
        let zeroes = [0; 100];
        assert!((0..100).all(|length| sum(&zeroes[..length]) != sum(&zeroes)));
    }
}
