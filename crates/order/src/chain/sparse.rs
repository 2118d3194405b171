//! A chain order for long chains.
//!
//! One staircase for each ordered pair of chains that are related; the chains related to a chain are listed, so
//! that neither memory nor an insertion depends on the number of chains as such. See `closing` for the paper.
//!
//! Invariant: the order is transitively closed, that is, each staircase alone answers for its two chains.
//!
//! Complexity: a query is O(log k + log n). An insertion makes one staircase update for each pair of chains of
//! which it may order more. Memory: 8 bytes for each step of each staircase, plus what may be undone.

use std::ops::Range;

use super::closing::{self, Ends, Pairs};
use super::staircase::{Staircase, Step};
use super::{ChainOrder, Inserted, Mark, Node, window};
use crate::must::MustOrder;

/// A [`ChainOrder`] whose memory follows the edges that matter, not the events.
#[derive(Clone, Debug, Default)]
pub struct SparseChains {
    /// For each chain, the chains after some of its nodes.
    after: Vec<Vec<Related>>,
    /// For each chain, the chains before some of its nodes.
    before: Vec<Vec<Related>>,
    staircases: Vec<Staircase>,
    undo: Option<UndoLog>,
    /// Takes what insertions remove while nothing is to be undone.
    discarded: Vec<Step>,
    ends: Ends,
}

/// A chain, and the staircase that relates it. Lists are sorted by chain.
#[derive(Clone, Copy, Debug)]
struct Related {
    chain: u32,
    staircase: u32,
}

#[derive(Clone, Debug, Default)]
struct UndoLog {
    entries: Vec<Entry>,
    /// The steps that the entries removed.
    removed: Vec<Step>,
}

#[derive(Clone, Copy, Debug)]
struct Entry {
    staircase: u32,
    step: Step,
    /// Where its removed steps start.
    removed: usize,
}

impl SparseChains {
    /// An order of `chains` chains of any length, without edges.
    pub fn new(chains: u32) -> SparseChains {
        let lists = vec![Vec::new(); chains as usize];
        SparseChains { after: lists.clone(), before: lists, ..SparseChains::default() }
    }

    /// The order that `must` has among the events of `window`, a range of positions for each chain, which is
    /// counted from its start here. Costs O(log) for each edge that matters.
    pub fn from_must(must: &MustOrder, window: &[Range<u32>]) -> SparseChains {
        let mut order = SparseChains::new(must.chains());
        window::edges(must, window, |from, to| {
            order.strengthen(from, to);
        });
        order
    }

    /// How many edges between chains the order keeps, implied ones left out.
    pub fn steps(&self) -> usize {
        self.staircases.iter().map(Staircase::len).sum()
    }

    #[inline]
    fn staircase(&self, from: u32, to: u32) -> Option<&Staircase> {
        let list = &self.after[from as usize];
        let place = list.binary_search_by_key(&to, |related| related.chain).ok()?;
        Some(&self.staircases[list[place].staircase as usize])
    }

    fn staircase_or_new(&mut self, from: u32, to: u32) -> u32 {
        let key = |related: &Related| related.chain;
        match self.after[from as usize].binary_search_by_key(&to, key) {
            Ok(place) => self.after[from as usize][place].staircase,
            Err(place) => {
                let staircase = self.staircases.len() as u32;
                self.staircases.push(Staircase::default());
                self.after[from as usize].insert(place, Related { chain: to, staircase });
                let place = self.before[to as usize].partition_point(|related| related.chain < from);
                self.before[to as usize].insert(place, Related { chain: from, staircase });
                staircase
            }
        }
    }
}

impl ChainOrder for SparseChains {
    fn chains(&self) -> u32 {
        self.after.len() as u32
    }

    #[inline]
    fn earliest_successor(&self, node: Node, chain: u32) -> Option<u32> {
        match node.chain == chain {
            true => Some(node.position),
            false => self.staircase(node.chain, chain)?.successor(node.position),
        }
    }

    #[inline]
    fn latest_predecessor(&self, node: Node, chain: u32) -> Option<u32> {
        match node.chain == chain {
            true => Some(node.position),
            false => self.staircase(chain, node.chain)?.predecessor(node.position),
        }
    }

    fn insert(&mut self, from: Node, to: Node, consequences: &mut Vec<(Node, Node)>) -> Inserted {
        closing::insert(self, from, to, consequences)
    }

    fn mark(&mut self) -> Mark {
        Mark(self.undo.get_or_insert_default().entries.len())
    }

    fn undo_to(&mut self, mark: Mark) {
        let undo = self.undo.get_or_insert_default();
        debug_assert!(mark.0 <= undo.entries.len(), "the mark is of a state already undone");
        for Entry { staircase, step, removed } in undo.entries.drain(mark.0..).rev() {
            self.staircases[staircase as usize].undo(step, &undo.removed[removed..]);
            undo.removed.truncate(removed);
        }
    }
}

impl Pairs for SparseChains {
    fn predecessors(&self, node: Node, found: &mut Vec<Node>) {
        found.extend(self.before[node.chain as usize].iter().filter_map(|related| {
            let position = self.staircases[related.staircase as usize].predecessor(node.position)?;
            Some(Node::new(related.chain, position))
        }));
    }

    fn successors(&self, node: Node, found: &mut Vec<Node>) {
        found.extend(self.after[node.chain as usize].iter().filter_map(|related| {
            let position = self.staircases[related.staircase as usize].successor(node.position)?;
            Some(Node::new(related.chain, position))
        }));
    }

    fn strengthen(&mut self, from: Node, to: Node) -> bool {
        let staircase = self.staircase_or_new(from.chain, to.chain);
        let step = Step { from: from.position, to: to.position };
        self.discarded.clear();
        let removed = self.undo.as_mut().map_or(&mut self.discarded, |undo| &mut undo.removed);
        let start = removed.len();
        let new = self.staircases[staircase as usize].insert(step, removed);
        if new && let Some(undo) = &mut self.undo {
            undo.entries.push(Entry { staircase, step, removed: start });
        }
        new
    }

    fn ends(&mut self) -> &mut Ends {
        &mut self.ends
    }
}
