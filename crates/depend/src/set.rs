//! Sets of reads of one thread.

use std::collections::BTreeSet;

/// How many reads a set names before it becomes "all before the last of them".
const MOST: usize = 16;

/// Reads of one thread, by the numbers of their events. It may stand for more reads than were meant, never for fewer.
#[derive(Clone, PartialEq, Eq, Default, Debug)]
pub struct Set {
    /// Every read before this event belongs to it.
    before: u32,
    /// These do too; sorted, and none of them before `before`.
    reads: Vec<u32>,
}

impl Set {
    /// No read.
    pub const EMPTY: Set = Set { before: 0, reads: Vec::new() };

    /// One read.
    pub fn one(read: u32) -> Set {
        Set { before: 0, reads: vec![read] }
    }

    /// Every read before an event.
    pub fn all_before(event: u32) -> Set {
        Set { before: event, reads: Vec::new() }
    }

    /// Whether it has no read.
    pub fn is_empty(&self) -> bool {
        self.before == 0 && self.reads.is_empty()
    }

    /// Whether it has a read.
    pub fn has(&self, read: u32) -> bool {
        read < self.before || self.reads.binary_search(&read).is_ok()
    }

    /// Adds another set.
    pub fn add(&mut self, other: &Set) {
        if other.is_empty() || self == other {
            return;
        }
        if self.is_empty() {
            self.clone_from(other);
            return;
        }
        if other.before > self.before {
            self.before = other.before;
        }
        self.reads.extend(other.reads.iter().copied());
        self.tidy();
    }

    /// Leaves out the reads from an event on.
    pub fn cut(&mut self, event: u32) {
        self.before = self.before.min(event);
        self.reads.retain(|&read| read < event);
    }

    /// Leaves out the reads that are not among `open`.
    pub fn prune(&mut self, open: &BTreeSet<u32>) {
        if self.before > 0 && open.first().is_none_or(|&first| first >= self.before) {
            self.before = 0;
        }
        if !self.reads.is_empty() {
            self.reads.retain(|read| open.contains(read));
        }
    }

    /// The members among `open`, sorted.
    pub fn among(&self, open: &BTreeSet<u32>) -> Vec<u32> {
        let mut members: Vec<u32> = open.range(..self.before).copied().collect();
        let named = self.reads.iter().copied().filter(|read| open.contains(read));
        members.extend(named.filter(|&read| read >= self.before));
        members
    }

    fn tidy(&mut self) {
        let before = self.before;
        self.reads.retain(|&read| read >= before);
        self.reads.sort_unstable();
        self.reads.dedup();
        if self.reads.len() > MOST {
            self.before = self.reads.last().map_or(before, |&last| last.saturating_add(1));
            self.reads.clear();
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_set_never_loses_a_member() {
        let mut random = 7u64;
        let mut draw = |bound: u64| {
            random = random.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
            ((random >> 33) % bound) as u32
        };
        for _ in 0..2_000 {
            let (mut set, mut naive) = (Set::EMPTY, vec![false; 64]);
            for _ in 0..draw(40) {
                if draw(12) == 0 {
                    let before = draw(20);
                    set.add(&Set::all_before(before));
                    naive[..before as usize].fill(true);
                } else {
                    let read = draw(64);
                    set.add(&Set::one(read));
                    naive[read as usize] = true;
                }
            }
            let open: BTreeSet<u32> = (0..64).filter(|_| draw(2) == 0).collect();
            let exact: Vec<u32> = open.iter().copied().filter(|&read| naive[read as usize]).collect();
            let found = set.among(&open);
            assert!(exact.iter().all(|read| found.contains(read)));
            assert!(found.is_sorted() && found.iter().all(|&read| set.has(read)));
            let mut pruned = set.clone();
            pruned.prune(&open);
            assert_eq!(pruned.among(&open), found);
            assert_eq!(pruned.is_empty(), found.is_empty());
        }
    }
}
