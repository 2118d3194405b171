//! A chain order for small windows.
//!
//! Every earliest successor and latest predecessor, written out. See `closing` for how it stays closed.
//!
//! Invariant: the order is transitively closed; within a column, which holds the answers of one chain's nodes
//! about another chain, entries never decrease.
//!
//! Complexity: a query is O(1). An insertion writes each entry that it changes, and finds them by binary search.
//! Memory: 8 bytes for each node and chain that has nodes, plus what may be undone.

use std::ops::Range;

use super::closing::{self, Ends, Pairs};
use super::{ChainOrder, Inserted, Mark, Node, window};
use crate::must::MustOrder;

/// A [`ChainOrder`] that answers by table lookup.
#[derive(Clone, Debug, Default)]
pub struct DenseChains {
    chains: u32,
    /// The chains that have nodes: windows leave most without.
    inhabited: Vec<u32>,
    /// Per chain, its place among those.
    places: Vec<u32>,
    /// For each chain, how many nodes are in the chains before it; one more entry at the end.
    starts: Vec<usize>,
    /// Per chain, per other chain with nodes, per position: the earliest successor, or [`NEVER`].
    successors: Vec<u32>,
    /// Likewise, one more than the latest predecessor, or 0.
    predecessors: Vec<u32>,
    undo: Option<UndoLog>,
    ends: Ends,
}

/// No successor: later than all.
const NEVER: u32 = u32::MAX;

#[derive(Clone, Debug, Default)]
struct UndoLog {
    runs: Vec<Run>,
    /// The entries that the runs overwrote.
    old: Vec<u32>,
}

/// The entries that one strengthened edge overwrote: a stretch of a column in each table.
#[derive(Clone, Copy, Debug)]
struct Run {
    /// Where the successors start in their table.
    successor: usize,
    /// Where the predecessors start in theirs.
    predecessor: usize,
    /// Where the successors start among the old entries; they end where the predecessors start.
    old: usize,
    old_predecessors: usize,
}

impl DenseChains {
    /// An order of chains of the given lengths, without edges.
    pub fn new(lengths: &[u32]) -> DenseChains {
        let mut starts = vec![0];
        let (mut inhabited, mut places) = (Vec::new(), Vec::with_capacity(lengths.len()));
        for (chain, &length) in lengths.iter().enumerate() {
            starts.push(starts[chain] + length as usize);
            places.push(inhabited.len() as u32);
            if length > 0 {
                inhabited.push(chain as u32);
            }
        }
        let cells = starts[lengths.len()] * inhabited.len();
        let (successors, predecessors) = (vec![NEVER; cells], vec![0; cells]);
        DenseChains {
            chains: lengths.len() as u32,
            inhabited,
            places,
            starts,
            successors,
            predecessors,
            ..DenseChains::default()
        }
    }

    /// The order that `must` has among the events of `window`, a range of positions for each chain, which is
    /// counted from its start here. Costs O(1) for each entry of the tables.
    pub fn from_must(must: &MustOrder, window: &[Range<u32>]) -> DenseChains {
        let lengths: Vec<u32> = window.iter().map(|range| range.len() as u32).collect();
        let mut order = DenseChains::new(&lengths);
        window::edges(must, window, |from, to| {
            let (successor, predecessor) = (order.cell(from, to.chain), order.cell(to, from.chain));
            order.successors[successor] = order.successors[successor].min(to.position);
            order.predecessors[predecessor] = from.position + 1;
        });
        for &chain in &order.inhabited {
            for &other in &order.inhabited {
                let start = order.column(chain, other);
                let column = start..start + lengths[chain as usize] as usize;
                let mut least = NEVER;
                for entry in order.successors[column.clone()].iter_mut().rev() {
                    least = least.min(*entry);
                    *entry = least;
                }
                let mut greatest = 0;
                for entry in &mut order.predecessors[column] {
                    greatest = greatest.max(*entry);
                    *entry = greatest;
                }
            }
        }
        order
    }

    /// Where the column of `chain` about `other` starts.
    #[inline]
    fn column(&self, chain: u32, other: u32) -> usize {
        let (chain, place) = (chain as usize, self.places[other as usize] as usize);
        self.starts[chain] * self.inhabited.len() + place * (self.starts[chain + 1] - self.starts[chain])
    }

    #[inline]
    fn cell(&self, node: Node, other: u32) -> usize {
        debug_assert!(node.position < self.length(node.chain), "the node is beyond its chain");
        self.column(node.chain, other) + node.position as usize
    }

    #[inline]
    fn length(&self, chain: u32) -> u32 {
        (self.starts[chain as usize + 1] - self.starts[chain as usize]) as u32
    }
}

impl ChainOrder for DenseChains {
    fn chains(&self) -> u32 {
        self.chains
    }

    #[inline]
    fn earliest_successor(&self, node: Node, chain: u32) -> Option<u32> {
        if node.chain == chain {
            return Some(node.position);
        }
        if self.length(chain) == 0 {
            return None;
        }
        Some(self.successors[self.cell(node, chain)]).filter(|&position| position != NEVER)
    }

    #[inline]
    fn latest_predecessor(&self, node: Node, chain: u32) -> Option<u32> {
        if node.chain == chain {
            return Some(node.position);
        }
        if self.length(chain) == 0 {
            return None;
        }
        self.predecessors[self.cell(node, chain)].checked_sub(1)
    }

    fn insert(&mut self, from: Node, to: Node, consequences: &mut Vec<(Node, Node)>) -> Inserted {
        closing::insert(self, from, to, consequences)
    }

    fn mark(&mut self) -> Mark {
        Mark(self.undo.get_or_insert_default().runs.len())
    }

    fn undo_to(&mut self, mark: Mark) {
        let UndoLog { runs, old } = self.undo.get_or_insert_default();
        debug_assert!(mark.0 <= runs.len(), "the mark is of a state already undone");
        for run in runs.drain(mark.0..).rev() {
            let (successors, predecessors) = old[run.old..].split_at(run.old_predecessors - run.old);
            self.successors[run.successor..][..successors.len()].copy_from_slice(successors);
            self.predecessors[run.predecessor..][..predecessors.len()].copy_from_slice(predecessors);
            old.truncate(run.old);
        }
    }
}

impl Pairs for DenseChains {
    fn predecessors(&self, node: Node, found: &mut Vec<Node>) {
        found.extend(self.inhabited.iter().copied().filter(|&chain| chain != node.chain).filter_map(
            |chain| {
                let position = self.latest_predecessor(node, chain)?;
                Some(Node::new(chain, position))
            },
        ));
    }

    fn successors(&self, node: Node, found: &mut Vec<Node>) {
        found.extend(self.inhabited.iter().copied().filter(|&chain| chain != node.chain).filter_map(
            |chain| {
                let position = self.earliest_successor(node, chain)?;
                Some(Node::new(chain, position))
            },
        ));
    }

    fn strengthen(&mut self, from: Node, to: Node) -> bool {
        if self.reaches(from, to) {
            return false;
        }
        let forward = self.column(from.chain, to.chain);
        let forward_end = self.cell(from, to.chain) + 1;
        let backward = self.cell(to, from.chain);
        let backward_end = self.column(to.chain, from.chain) + self.length(to.chain) as usize;

        // Along a column entries never decrease, so those to change are a stretch that ends or starts at the edge.
        let earlier = self.successors[forward..forward_end].partition_point(|&old| old <= to.position);
        let successors = &mut self.successors[forward + earlier..forward_end];
        let later = self.predecessors[backward..backward_end].partition_point(|&old| old <= from.position);
        let predecessors = &mut self.predecessors[backward..backward + later];
        if let Some(UndoLog { runs, old }) = &mut self.undo {
            let start = old.len();
            old.extend_from_slice(successors);
            let old_predecessors = old.len();
            old.extend_from_slice(predecessors);
            runs.push(Run {
                successor: forward + earlier,
                predecessor: backward,
                old: start,
                old_predecessors,
            });
        }
        successors.fill(to.position);
        predecessors.fill(from.position + 1);
        true
    }

    fn ends(&mut self) -> &mut Ends {
        &mut self.ends
    }
}
