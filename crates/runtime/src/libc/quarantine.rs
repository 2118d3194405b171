//! Freed blocks that are kept from the allocator, so that no address is handed out twice.
//!
//! A program may compare addresses, and a value that is an address means another object once its block was freed and the
//! memory allocated again. As long as the budget lasts, no such memory is: the oldest blocks go back to libc first. Of a
//! large block only the addresses are kept, and its pages are given to the kernel.

use crate::map::Array;
use crate::sys;

/// The most bytes of memory that freed blocks take, and the share of the machine's memory that they may take.
const MOST_BYTES: usize = 256 << 20;
const SHARE: usize = 8;
/// The most blocks, and the most bytes of addresses.
const MOST_BLOCKS: usize = 1 << 21;
const MOST_ADDRESSES: usize = 1 << 40;
const PAGE: usize = 4096;
/// From this size on, a block's pages go to the kernel.
const LARGE: usize = 64 << 10;
/// What a block takes besides its bytes: libc's head, our own entry, and room in the map of blocks' sizes.
const OVERHEAD: usize = 88;

/// Blocks in the order in which they were freed.
pub(crate) struct Quarantine {
    blocks: Array<Block>,
    first: usize,
    count: usize,
    bytes: usize,
    addresses: usize,
    budget: usize,
}

#[derive(Clone, Copy, PartialEq, Eq, Debug)]
struct Block {
    at: usize,
    size: usize,
}

impl Quarantine {
    /// An empty one with a budget of so many megabytes, or else one for this machine.
    pub(crate) fn new(megabytes: Option<u64>) -> Quarantine {
        let budget = match megabytes {
            Some(megabytes) => usize::try_from(megabytes).unwrap_or(usize::MAX).saturating_mul(1 << 20),
            None => MOST_BYTES.min(machine_memory() / SHARE),
        };
        Quarantine::with_budget(budget, MOST_BLOCKS)
    }

    fn with_budget(budget: usize, blocks: usize) -> Quarantine {
        Quarantine { blocks: Array::zeroed(blocks), first: 0, count: 0, bytes: 0, addresses: 0, budget }
    }

    /// Keeps a block of `size` bytes.
    pub(crate) fn keep(&mut self, at: usize, size: usize) {
        let place = (self.first + self.count) % self.blocks.as_ref().len().max(1);
        if let Some(room) = self.blocks.as_mut().get_mut(place) {
            *room = Block { at, size };
            self.count += 1;
            self.bytes += taken(size);
            self.addresses += size;
            if size >= LARGE {
                let (start, end) = (at.next_multiple_of(PAGE), (at + size) / PAGE * PAGE);
                discard(start, end.saturating_sub(start));
            }
        }
    }

    /// Whether there is room for another block of `size` bytes.
    pub(crate) fn has_room(&self, size: usize) -> bool {
        self.bytes + taken(size) <= self.budget
            && self.addresses + size <= MOST_ADDRESSES
            && self.count < self.blocks.as_ref().len()
    }

    /// The oldest block, which is not kept any longer.
    pub(crate) fn oldest(&mut self) -> Option<usize> {
        if self.count == 0 {
            return None;
        }
        let Block { at, size } = *self.blocks.as_ref().get(self.first)?;
        self.first = (self.first + 1) % self.blocks.as_ref().len();
        self.count -= 1;
        self.bytes -= taken(size);
        self.addresses -= size;
        Some(at)
    }
}

/// The bytes of memory that a kept block takes.
fn taken(size: usize) -> usize {
    OVERHEAD + if size >= LARGE { 2 * PAGE } else { size }
}

/// How many bytes of memory the machine has.
fn machine_memory() -> usize {
    const SYSINFO: usize = 99;
    // The kernel's structure: the fifth word is the memory, the last one its unit, in four bytes.
    let mut known = [0u64; 14];
    sys::call6(SYSINFO, [&raw mut known as usize, 0, 0, 0, 0, 0]);
    let unit = (known[13] & 0xFFFF_FFFF).max(1);
    usize::try_from(known[4].saturating_mul(unit)).unwrap_or(usize::MAX)
}

/// Gives pages to the kernel: what they held is gone, the addresses stay.
fn discard(at: usize, bytes: usize) {
    const MADVISE: usize = 28;
    const DONTNEED: usize = 4;
    if bytes > 0 {
        sys::call6(MADVISE, [at, bytes, DONTNEED, 0, 0, 0]);
    }
}

#[cfg(test)]
mod tests {
    use std::collections::VecDeque;

    use super::*;

    #[test]
    fn blocks_leave_in_order_and_never_take_more_than_the_budget() {
        let mut kept = Quarantine::with_budget(10_000, 50);
        let mut expected = VecDeque::new();
        let mut random = 1u64;
        for number in 0..5_000 {
            random = random.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1);
            let size = 8 + (random >> 40) as usize % 900;
            while !kept.has_room(size) {
                assert_eq!(kept.oldest().zip(expected.pop_front()).map(|(a, (b, _))| a == b), Some(true));
            }
            kept.keep(number, size);
            expected.push_back((number, size));
            let bytes: usize = expected.iter().map(|(_, size)| taken(*size)).sum();
            assert!(bytes == kept.bytes && bytes <= 10_000 && expected.len() <= 50);
        }
        assert!(expected.len() > 5);
        while let Some((at, _)) = expected.pop_front() {
            assert_eq!(kept.oldest(), Some(at));
        }
        assert_eq!((kept.oldest(), kept.bytes, kept.addresses), (None, 0, 0));
    }

    #[test]
    fn the_pages_of_a_large_block_are_given_to_the_kernel_and_its_edges_stay() {
        let at = sys::map(64 * PAGE);
        // SAFETY: mapped above, and large enough.
        let bytes = unsafe { core::slice::from_raw_parts_mut(at as *mut u8, 64 * PAGE) };
        bytes.fill(7);
        let mut kept = Quarantine::with_budget(1 << 20, 4);
        kept.keep(at + 16, 32 * PAGE);
        let seven = bytes.iter().filter(|&&byte| byte == 7).count();
        assert_eq!(seven, 33 * PAGE, "the first page and those from the last on");
        assert!(kept.bytes < 3 * PAGE);
    }
}
