//! Incremental topological order of a growing and shrinking graph.
//!
//! After Pearce and Kelly, "A Dynamic Topological Sort Algorithm for Directed Acyclic Graphs" (JEA 11, 2006),
//! section 3. Deviations:
//!
//! - The two searches share one set of generation-stamped marks and sort plain integers, and nothing is cleared
//!   between calls.
//! - Ranks have gaps: a node may come with the rank that its neighbours expect, so that its edges cost nothing.
//! - Edges leave in the reverse order of their arrival, as a solver that backtracks removes them. The ranks
//!   stay: an order of a graph is an order of each of its subgraphs.
//! - An edge that would close a cycle is not added. A second search then finds the path that explains it with
//!   the fewest edges that are not [`ALWAYS`] there: that is what a conflict clause pays for.
//!
//! Invariant: every edge goes from a lower to a higher rank, and no two nodes have the same.
//!
//! Complexity: an edge that agrees with the present order costs O(1), so rank the nodes in the order you
//! expect. Any other costs O(m + d log d) for the d nodes, with m edges, that lie between its ends in rank and
//! are after its head or before its tail. Removing an edge costs O(1). Exact: nothing is missed.

mod graph;
mod lightest;

use graph::Graph;
use lightest::Lightest;

pub use graph::Edge;

/// The tag of an edge that is there in every state, such as program order: it costs an explanation nothing.
pub const ALWAYS: u32 = u32::MAX;

/// The reason that an edge `from -> to` was refused.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Cycle {
    /// A path from `to` back to `from`; empty if they are the same node. Of all such paths it has the fewest
    /// edges with a tag other than [`ALWAYS`].
    pub path: Vec<Edge>,
}

/// A state of an [`Acyclic`] to return to.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug)]
pub struct Mark(usize);

/// A directed acyclic multigraph over the nodes `0..n`, and a topological order of it.
#[derive(Clone, Debug, Default)]
pub struct Acyclic {
    graph: Graph,
    /// Node to rank.
    rank: Vec<u32>,
    /// Above all ranks.
    next: u32,
    seen: Vec<u32>,
    generation: u32,
    scratch: Scratch,
    lightest: Lightest,
}

/// Buffers that live on between calls for their capacity alone.
#[derive(Clone, Debug, Default)]
struct Scratch {
    /// Nodes to visit.
    stack: Vec<u32>,
    /// What is after the head of the new edge: rank in the high half, node in the low one.
    after: Vec<u64>,
    /// What is before its tail.
    before: Vec<u64>,
    /// The nodes of both, in their new order.
    nodes: Vec<u32>,
}

/// A node that sorts by its rank.
fn ranked(rank: u32, node: u32) -> u64 {
    u64::from(rank) << 32 | u64::from(node)
}

impl Acyclic {
    /// A graph of `nodes` nodes without edges, ordered by number.
    pub fn new(nodes: u32) -> Acyclic {
        let mut order = Acyclic::default();
        for _ in 0..nodes {
            order.add_node();
        }
        order
    }

    /// How many nodes there are.
    pub fn nodes(&self) -> u32 {
        self.rank.len() as u32
    }

    /// How many edges there are.
    pub fn edges(&self) -> usize {
        self.graph.edges()
    }

    /// Adds a node, last in the order. Nodes stay when edges are undone.
    pub fn add_node(&mut self) -> u32 {
        self.add_node_at(self.next)
    }

    /// Adds a node with a rank that no other node came with, less than the greatest number.
    pub fn add_node_at(&mut self, rank: u32) -> u32 {
        let node =
            u32::try_from(self.rank.len()).ok().filter(|&node| node != u32::MAX).expect("too many nodes");
        debug_assert!(rank < u32::MAX, "there is a rank above all");
        self.next = self.next.max(rank.saturating_add(1));
        self.graph.add_node();
        self.rank.push(rank);
        self.seen.push(0);
        node
    }

    /// Adds the edge `from -> to` for the reason `tag`, unless it closes a cycle: then nothing changes.
    pub fn add_edge(&mut self, from: u32, to: u32, tag: u32) -> Result<(), Cycle> {
        let (low, high) = (self.rank[to as usize], self.rank[from as usize]);
        if low <= high {
            if low == high || self.search_after(to, high) {
                let path = self.path(to, from).expect("the search reached the tail");
                return Err(Cycle { path });
            }
            self.search_before(from, low);
            self.reorder();
        }
        self.graph.push(Edge { from, to, tag });
        debug_assert!(self.rank[from as usize] < self.rank[to as usize]);
        Ok(())
    }

    /// The present state.
    #[inline]
    pub fn mark(&self) -> Mark {
        Mark(self.graph.edges())
    }

    /// Removes every edge added since `mark`.
    pub fn undo_to(&mut self, mark: Mark) {
        debug_assert!(mark.0 <= self.graph.edges(), "the mark is of a state already undone");
        self.graph.truncate(mark.0);
    }

    /// Whether a path of zero or more edges leads from `from` to `to`.
    pub fn reaches(&mut self, from: u32, to: u32) -> bool {
        let (low, high) = (self.rank[from as usize], self.rank[to as usize]);
        low == high || (low < high && self.search_after(from, high))
    }

    /// The path from `from` to `to` with the fewest edges that are not [`ALWAYS`] there; empty if they are the
    /// same node.
    pub fn path(&mut self, from: u32, to: u32) -> Option<Vec<Edge>> {
        self.lightest.path(&self.graph, &self.rank, from, to)
    }

    /// Every node, in an order that all edges agree with.
    pub fn order(&self) -> Vec<u32> {
        let mut nodes: Vec<u32> = (0..self.nodes()).collect();
        nodes.sort_unstable_by_key(|&node| self.rank(node));
        nodes
    }

    /// What `node` has in the order: greater numbers come later.
    #[inline]
    pub fn rank(&self, node: u32) -> u32 {
        self.rank[node as usize]
    }

    /// Collects what is ranked below `high` after node `from`; stops and says so if it meets rank `high`.
    fn search_after(&mut self, from: u32, high: u32) -> bool {
        let generation = self.next_generation();
        let Scratch { stack, after, .. } = &mut self.scratch;
        stack.clear();
        after.clear();
        stack.push(from);
        self.seen[from as usize] = generation;
        while let Some(node) = stack.pop() {
            after.push(ranked(self.rank[node as usize], node));
            for next in self.graph.successors(node) {
                let rank = self.rank[next as usize];
                if rank == high {
                    return true;
                }
                if rank < high && self.seen[next as usize] != generation {
                    self.seen[next as usize] = generation;
                    stack.push(next);
                }
            }
        }
        false
    }

    /// Collects what is ranked above `low` before node `from`.
    fn search_before(&mut self, from: u32, low: u32) {
        let generation = self.next_generation();
        let Scratch { stack, before, .. } = &mut self.scratch;
        before.clear();
        stack.push(from);
        self.seen[from as usize] = generation;
        while let Some(node) = stack.pop() {
            before.push(ranked(self.rank[node as usize], node));
            for next in self.graph.predecessors(node) {
                if self.rank[next as usize] > low && self.seen[next as usize] != generation {
                    self.seen[next as usize] = generation;
                    stack.push(next);
                }
            }
        }
    }

    /// Deals the ranks of what the searches collected out anew: first to what must be before, then to the rest.
    fn reorder(&mut self) {
        let Scratch { after, before, nodes, .. } = &mut self.scratch;
        after.sort_unstable();
        before.sort_unstable();
        nodes.clear();
        nodes.extend(before.iter().chain(&*after).map(|&ranked| ranked as u32));
        let (mut early, mut late) = (before.iter().peekable(), after.iter().peekable());
        for &node in &*nodes {
            let from_early = match (early.peek(), late.peek()) {
                (Some(early), Some(late)) => early < late,
                (early, _) => early.is_some(),
            };
            let next = if from_early { early.next() } else { late.next() };
            let &ranked = next.expect("as many ranks as nodes");
            self.rank[node as usize] = (ranked >> 32) as u32;
        }
        debug_assert!(nodes.iter().all(|&node| {
            let rank = |node: u32| self.rank[node as usize];
            self.graph.successors(node).all(|next| rank(node) < rank(next))
                && self.graph.predecessors(node).all(|next| rank(next) < rank(node))
        }));
    }

    fn next_generation(&mut self) -> u32 {
        if self.generation == u32::MAX {
            self.seen.fill(0);
            self.generation = 0;
        }
        self.generation += 1;
        self.generation
    }
}
