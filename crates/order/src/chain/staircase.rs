//! The order between two chains, as a staircase.
//!
//! A step `(from, to)` says that position `from` of the first chain, and all before it, is before position `to`
//! of the second, and all after it. Only steps that no other implies are kept.
//!
//! CSST keeps the same minima in a sparse segment tree. Edges here only become stronger (or are undone), which
//! leaves them a sorted array: it answers for successors and predecessors alike, and takes 8 bytes a step.
//! The array is cut in blocks, so that a step in the middle of a long staircase does not move all that follow.
//!
//! Invariant: both columns strictly increase along the steps; no block is empty.
//!
//! Complexity: a query is O(log n); an insertion O(log n + block + removed). Blocks that have become small are
//! not merged: their number is bounded by the greatest length so far.

/// The most steps in a block: 1 KiB. Few under test, so that short staircases have many blocks.
const BLOCK: usize = if cfg!(test) { 4 } else { 128 };

/// An edge from position `from` of one chain to position `to` of another.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) struct Step {
    pub(super) from: u32,
    pub(super) to: u32,
}

/// The edges that matter from one chain to another.
#[derive(Clone, Debug, Default)]
pub(super) struct Staircase {
    blocks: Vec<Block>,
}

#[derive(Clone, Debug)]
struct Block {
    /// Beside the steps, so that the search for a block reads one array.
    last: Step,
    steps: Vec<Step>,
}

impl Staircase {
    /// The first position of the second chain after position `from` of the first.
    #[inline]
    pub(super) fn successor(&self, from: u32) -> Option<u32> {
        let block = self.blocks.get(self.blocks.partition_point(|block| block.last.from < from))?;
        Some(block.steps[block.steps.partition_point(|step| step.from < from)].to)
    }

    /// The last position of the first chain before position `to` of the second.
    #[inline]
    pub(super) fn predecessor(&self, to: u32) -> Option<u32> {
        // The last step at or below `to` is the one before the first above it, perhaps in the block before.
        let index = self.blocks.partition_point(|block| block.last.to <= to);
        let inside = self.blocks.get(index).and_then(|block| {
            let above = block.steps.partition_point(|step| step.to <= to);
            above.checked_sub(1).map(|below| block.steps[below])
        });
        let step = inside.or_else(|| index.checked_sub(1).map(|index| self.blocks[index].last))?;
        Some(step.from)
    }

    /// Adds `step`, unless it is implied, and moves the steps that it implies to the end of `removed`.
    pub(super) fn insert(&mut self, step: Step, removed: &mut Vec<Step>) -> bool {
        if self.successor(step.from).is_some_and(|to| to <= step.to) {
            return false;
        }
        let first = self.blocks.partition_point(|block| block.last.to < step.to);
        if first == self.blocks.len() {
            self.push(step);
            return true;
        }
        let block = &mut self.blocks[first];
        let low = block.steps.partition_point(|old| old.to < step.to);
        let high = block.steps.partition_point(|old| old.from <= step.from);
        let to_the_end = high == block.steps.len();
        removed.extend_from_slice(&block.steps[low..high]);
        block.steps.splice(low..high, [step]);
        if to_the_end {
            self.remove_front(first + 1, step.from, removed);
        }
        self.tidy(first);
        true
    }

    /// Takes back an insertion of `step` that removed the steps `removed`.
    pub(super) fn undo(&mut self, step: Step, removed: &[Step]) {
        let index = self.blocks.partition_point(|block| block.last.from < step.from);
        let block = &mut self.blocks[index];
        let place = block.steps.partition_point(|old| old.from < step.from);
        debug_assert_eq!(block.steps[place], step, "undone out of order");
        block.steps.splice(place..=place, removed.iter().copied());
        if block.steps.is_empty() {
            self.blocks.remove(index);
        } else {
            self.tidy(index);
        }
    }

    /// How many steps there are.
    pub(super) fn len(&self) -> usize {
        self.blocks.iter().map(|block| block.steps.len()).sum()
    }

    /// Adds a step beyond all others.
    fn push(&mut self, step: Step) {
        debug_assert!(
            self.blocks.last().is_none_or(|block| block.last.from < step.from && block.last.to < step.to)
        );
        match self.blocks.last_mut() {
            Some(block) if block.steps.len() < BLOCK => {
                block.steps.push(step);
                block.last = step;
            }
            _ => self.blocks.push(Block { last: step, steps: vec![step] }),
        }
    }

    /// Removes the steps up to position `from` of the first chain from block `index` on.
    fn remove_front(&mut self, index: usize, from: u32, removed: &mut Vec<Step>) {
        let whole = index + self.blocks[index..].partition_point(|block| block.last.from <= from);
        for block in self.blocks.drain(index..whole) {
            removed.extend(block.steps);
        }
        if let Some(block) = self.blocks.get_mut(index) {
            let high = block.steps.partition_point(|old| old.from <= from);
            removed.extend(block.steps.drain(..high));
        }
    }

    /// Restores what a change to block `index` may have broken: its last step and its size.
    fn tidy(&mut self, index: usize) {
        let block = &mut self.blocks[index];
        debug_assert!(block.steps.is_sorted_by(|a, b| a.from < b.from && a.to < b.to));
        if block.steps.len() > BLOCK {
            let steps = std::mem::take(&mut block.steps);
            let halves = steps
                .chunks(BLOCK / 2)
                .map(|steps| Block { last: steps[steps.len() - 1], steps: steps.into() });
            self.blocks.splice(index..=index, halves);
        } else {
            block.last = block.steps[block.steps.len() - 1];
        }
    }
}

#[cfg(test)]
mod tests {
    use reweave_testkit::Rng;

    use super::*;

    /// The naive twin: every step ever inserted.
    #[derive(Clone, Default)]
    struct Twin(Vec<Step>);

    impl Twin {
        fn successor(&self, from: u32) -> Option<u32> {
            self.0.iter().filter(|step| step.from >= from).map(|step| step.to).min()
        }

        fn predecessor(&self, to: u32) -> Option<u32> {
            self.0.iter().filter(|step| step.to <= to).map(|step| step.from).max()
        }
    }

    #[test]
    fn agrees_with_a_list_of_steps() {
        let mut rng = Rng::new(1);
        let mut below = |bound: usize| rng.below(bound) as u32;
        for round in 0..300 {
            let (mut staircase, mut twin) = (Staircase::default(), Twin::default());
            let mut undo: Vec<(Step, Vec<Step>, Twin)> = Vec::new();
            // From few steps far apart, which remove many, to many along the diagonal.
            let spread = 1 + round % 60;
            for _ in 0..120 {
                if below(4) == 0 {
                    for _ in 0..below(10) {
                        let Some((step, removed, old)) = undo.pop() else { break };
                        staircase.undo(step, &removed);
                        twin = old;
                    }
                } else {
                    let from = below(60);
                    let step = Step { from, to: (from + below(spread)).saturating_sub(below(spread)) };
                    let implied = twin.successor(step.from).is_some_and(|to| to <= step.to);
                    let mut removed = Vec::new();
                    assert_eq!(staircase.insert(step, &mut removed), !implied);
                    if !implied {
                        undo.push((step, removed, twin.clone()));
                        twin.0.push(step);
                    }
                }
                for position in 0..125 {
                    assert_eq!(staircase.successor(position), twin.successor(position));
                    assert_eq!(staircase.predecessor(position), twin.predecessor(position));
                }
                let steps: Vec<Step> =
                    staircase.blocks.iter().flat_map(|block| block.steps.clone()).collect();
                assert!(steps.is_sorted_by(|a, b| a.from < b.from && a.to < b.to));
                assert_eq!(staircase.len(), steps.len());
                assert!(staircase.blocks.iter().all(|block| block.steps.last() == Some(&block.last)));
            }
        }
    }
}
