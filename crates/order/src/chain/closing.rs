//! The insertion that keeps a chain order closed.
//!
//! After the incremental CSST of Tunç, Deshmukh, Çirisci, Enea and Pavlogiannis, "CSSTs: A Dynamic Data
//! Structure for Partial Orders in Concurrent Execution Analysis" (ASPLOS 2024), and the M2 graph that SeqCheck
//! uses. In a closed order, a path through the new edge starts at or before the latest predecessor of its tail
//! in some chain, and ends at or after the earliest successor of its head in another: one strengthened edge for
//! each such pair of chains closes the order again. Deviation: a chain whose latest predecessor reaches the head
//! already, or whose earliest successor the tail reaches already, gains nothing and is left out beforehand, so
//! an insertion touches only pairs of chains between which something may be new.
//!
//! Complexity: with p chains before the tail and s after the head, O(p + s) queries and at most p·s updates.

use super::{ChainOrder, Inserted, Node};

/// What an order must offer to be kept closed.
pub(super) trait Pairs: ChainOrder {
    /// Appends the latest predecessor of `node` in each other chain that has one.
    fn predecessors(&self, node: Node, found: &mut Vec<Node>);

    /// Appends the earliest successor of `node` in each other chain that has one.
    fn successors(&self, node: Node, found: &mut Vec<Node>);

    /// Orders all at or before `from` in its chain before all at or after `to` in its chain, another one.
    /// Whether that was news.
    fn strengthen(&mut self, from: Node, to: Node) -> bool;

    fn ends(&mut self) -> &mut Ends;
}

/// Buffers that live on between insertions for their capacity alone.
#[derive(Clone, Debug, Default)]
pub(super) struct Ends {
    sources: Vec<Node>,
    targets: Vec<Node>,
}

/// [`ChainOrder::insert`].
pub(super) fn insert(
    order: &mut impl Pairs,
    from: Node,
    to: Node,
    consequences: &mut Vec<(Node, Node)>,
) -> Inserted {
    if order.reaches(from, to) {
        return Inserted::Implied;
    }
    if order.reaches(to, from) {
        return Inserted::Cycle;
    }
    let Ends { mut sources, mut targets } = std::mem::take(order.ends());
    sources.clear();
    order.predecessors(from, &mut sources);
    sources.retain(|&source| !order.reaches(source, to));
    targets.clear();
    order.successors(to, &mut targets);
    targets.retain(|&target| !order.reaches(from, target));
    sources.insert(0, from);
    targets.insert(0, to);
    for &source in &sources {
        for &target in &targets {
            debug_assert!(!order.reaches(target, source), "the new edge closes a cycle");
            if source.chain != target.chain && order.strengthen(source, target) {
                consequences.push((source, target));
            }
        }
    }
    debug_assert!(order.reaches(from, to) && !order.reaches(to, from));
    *order.ends() = Ends { sources, targets };
    Inserted::New
}
