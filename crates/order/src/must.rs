//! The order that no schedule can escape, over a whole trace.
//!
//! Vector clocks (Mattern, "Virtual Time and Global States of Distributed Systems", 1989) computed in one pass
//! over the observed order, whose edges all go forward. Deviation: a clock per event would be events times
//! chains. An event without edges from other chains has the clock of the event before it, so only the others,
//! the *joins*, have one; and a clock is a persistent row that shares what it did not change with the rows it
//! came from. A thread that starts, or leaves a barrier, takes over a row whole.
//!
//! Invariant: along a chain, joins are at increasing positions and each row is at least the one before.
//!
//! Complexity: for an event without incoming edges O(1); for each edge that adds something, the cells in which
//! the two rows differ. A query is O(log joins of the chain + levels of a row). Memory: 8 bytes a join and,
//! where one entry changed, one node on each level: with 4 chains 16 bytes, with 20 chains 40, with 100 chains
//! 80, with 10,000 chains 160. Events without incoming edges take none. At worst, when a join brings news of all
//! chains that is nobody else's, it costs a whole row, a little over 4 bytes a chain: thousands of chains that
//! keep mixing at random are beyond this structure. Exact: nothing is missed.

mod rows;

use crate::chain::Node;
use rows::{EMPTY, Rows};

/// The must order of a trace that is being read.
#[derive(Clone, Debug)]
pub struct MustOrderBuilder {
    order: MustOrder,
}

/// A partial order over the events of some chains.
#[derive(Clone, Debug)]
pub struct MustOrder {
    rows: Rows,
    chains: Vec<Chain>,
}

#[derive(Clone, Debug, Default)]
struct Chain {
    length: u32,
    joins: Vec<Join>,
}

/// From `position` to the next join, what is before an event of the chain in other chains is in `row`.
///
/// A row has, for each chain, one more than the position of the latest predecessor there, or 0.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Join {
    pub(crate) position: u32,
    row: u32,
}

impl MustOrderBuilder {
    /// An order of `chains` chains without events.
    pub fn new(chains: u32) -> MustOrderBuilder {
        let order = MustOrder { rows: Rows::new(chains), chains: vec![Chain::default(); chains as usize] };
        MustOrderBuilder { order }
    }

    /// Adds the next event of the observed order, in `chain`, after all `incoming` events, which must have been
    /// added before.
    pub fn event(&mut self, chain: u32, incoming: &[Node]) -> Node {
        let node = Node::new(chain, self.order.chains[chain as usize].length);
        self.order.chains[chain as usize].length += 1;
        if !incoming.is_empty() {
            self.join(node, incoming);
        }
        node
    }

    /// The order of the events added so far.
    pub fn so_far(&self) -> &MustOrder {
        &self.order
    }

    /// What comes after one of some `alternatives`, nobody knows after which, comes after this: the latest event of each chain
    /// that is at or before every alternative, and not at or before `known`. An alternative is two events that both come before.
    pub fn common(&mut self, known: Node, alternatives: &[[Node; 2]]) -> Vec<Node> {
        let order = &mut self.order;
        order.rows.begin();
        let mut met = None;
        for nodes in alternatives {
            let mut row = EMPTY;
            for &node in nodes {
                row = order.rows.join(row, order.row(node));
                row = order.rows.raise(row, node.chain, node.position + 1);
            }
            met = Some(met.map_or(row, |met| order.rows.meet(met, row)));
        }
        let (before, after) = (order.row(known), met.unwrap_or(EMPTY));
        let mut found = Vec::new();
        order.rows.changes(before, after, &mut |chain, entry| {
            if entry > order.rows.get(before, chain) && chain != known.chain {
                found.push(Node::new(chain, entry - 1));
            }
        });
        order.rows.forget_private();
        found
    }

    /// The order of all events added.
    pub fn finish(mut self) -> MustOrder {
        self.order.rows.shrink();
        for chain in &mut self.order.chains {
            chain.joins.shrink_to_fit();
        }
        self.order
    }

    fn join(&mut self, node: Node, incoming: &[Node]) {
        let order = &mut self.order;
        let old = order.row(node);
        let mut row = old;
        order.rows.begin();
        for &source in incoming {
            debug_assert!(
                source.position < order.chains[source.chain as usize].length,
                "an edge from the future"
            );
            // What is known about the source's chain up to here brought all that is before the source with it.
            if source.chain != node.chain && order.rows.get(row, source.chain) <= source.position {
                row = order.rows.join(row, order.row(source));
                row = order.rows.raise(row, source.chain, source.position + 1);
            }
        }
        if row != old {
            let joins = &mut order.chains[node.chain as usize].joins;
            debug_assert!(joins.last().is_none_or(|join| join.position < node.position));
            joins.push(Join { position: node.position, row });
        }
    }
}

impl MustOrder {
    /// How many chains there are.
    pub fn chains(&self) -> u32 {
        self.chains.len() as u32
    }

    /// How many events `chain` has.
    pub fn length(&self, chain: u32) -> u32 {
        self.chains[chain as usize].length
    }

    /// Whether `a` is before `b`, and not `b` itself.
    #[inline]
    pub fn before(&self, a: Node, b: Node) -> bool {
        match a.chain == b.chain {
            true => a.position < b.position,
            false => self.rows.get(self.row(b), a.chain) > a.position,
        }
    }

    /// The last position in `chain` at or before `node`.
    #[inline]
    pub fn latest_predecessor(&self, node: Node, chain: u32) -> Option<u32> {
        match node.chain == chain {
            true => Some(node.position),
            false => self.rows.get(self.row(node), chain).checked_sub(1),
        }
    }

    /// How many bytes the order takes, spare capacity left out.
    pub fn bytes(&self) -> usize {
        let joins: usize = self.chains.iter().map(|chain| chain.joins.len()).sum();
        self.rows.bytes() + joins * size_of::<Join>() + self.chains.len() * size_of::<Chain>()
    }

    /// The joins of `chain`, by position.
    pub(crate) fn joins(&self, chain: u32) -> &[Join] {
        &self.chains[chain as usize].joins
    }

    /// Calls `found` with each chain, in order, in which `after` has later predecessors than `before`, and the
    /// latest. No join has none.
    pub(crate) fn changes(&self, before: Option<Join>, after: Join, found: &mut impl FnMut(Node)) {
        let before = before.map_or(EMPTY, |join| join.row);
        self.rows.changes(before, after.row, &mut |chain, entry| found(Node::new(chain, entry - 1)));
    }

    #[inline]
    fn row(&self, node: Node) -> u32 {
        let joins = &self.chains[node.chain as usize].joins;
        match joins.last() {
            // While a trace is read, most questions are about the end of a chain.
            Some(join) if join.position <= node.position => join.row,
            _ => {
                let after = joins.partition_point(|join| join.position <= node.position);
                after.checked_sub(1).map_or(EMPTY, |place| joins[place].row)
            }
        }
    }
}
