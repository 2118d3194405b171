//! Closed orders over events in chains.
//!
//! A chain is a sequence of events that is ordered by itself, such as a thread; its events are the nodes
//! `(chain, position)`. A [`ChainOrder`] holds the order that program order and the inserted edges imply, and
//! answers from it directly: it closes itself at each insertion, because a saturation asks far more than it
//! inserts. [`SparseChains`] is for long chains with few edges that matter, [`DenseChains`] for small windows.

mod closing;
mod dense;
mod sparse;
mod staircase;
mod window;

pub use dense::DenseChains;
pub use sparse::SparseChains;

/// An event, by its place in its chain.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub struct Node {
    /// The chain.
    pub chain: u32,
    /// How many events of the chain are before it.
    pub position: u32,
}

impl Node {
    /// The node at `position` of `chain`.
    #[inline]
    pub fn new(chain: u32, position: u32) -> Node {
        Node { chain, position }
    }
}

/// What became of an edge.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
#[must_use]
pub enum Inserted {
    /// The order changed.
    New,
    /// The order had it already; nothing changed.
    Implied,
    /// The order has the opposite; nothing changed.
    Cycle,
}

/// A state of a [`ChainOrder`] to return to.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug)]
pub struct Mark(usize);

/// A partial order over the nodes of some chains that grows by edges and shrinks by undoing them.
pub trait ChainOrder {
    /// How many chains there are.
    fn chains(&self) -> u32;

    /// The first position in `chain` at or after `node`.
    fn earliest_successor(&self, node: Node, chain: u32) -> Option<u32>;

    /// The last position in `chain` at or before `node`.
    fn latest_predecessor(&self, node: Node, chain: u32) -> Option<u32>;

    /// Adds the edge `from -> to` and all it implies.
    ///
    /// If the answer is [`Inserted::New`], appends the consequences, `(from, to)` first: for each ordered pair of
    /// chains that changed, the one edge such that exactly the pairs of nodes at or before its tail and at or
    /// after its head, so far as they were not ordered before, are now.
    fn insert(&mut self, from: Node, to: Node, consequences: &mut Vec<(Node, Node)>) -> Inserted;

    /// The present state. What was inserted before the first mark can never be undone, and costs no memory
    /// for the possibility.
    fn mark(&mut self) -> Mark;

    /// Takes back every insertion since `mark`.
    fn undo_to(&mut self, mark: Mark);

    /// Whether `from` is `to` or before it.
    #[inline]
    fn reaches(&self, from: Node, to: Node) -> bool {
        self.earliest_successor(from, to.chain).is_some_and(|position| position <= to.position)
    }
}
