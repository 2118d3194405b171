//! Adjacency that grows and shrinks like a stack.

/// A directed edge, and the reason for it.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub struct Edge {
    /// The tail.
    pub from: u32,
    /// The head.
    pub to: u32,
    /// The caller's name for the reason.
    pub tag: u32,
}

/// No edge.
const END: u32 = u32::MAX;

/// A directed multigraph: 20 bytes an edge, 8 a node.
///
/// Each node heads two linked lists through the edges, newest first. The last edge of all heads both of its
/// lists, which is why removing it costs O(1).
#[derive(Clone, Debug, Default)]
pub(super) struct Graph {
    edges: Vec<Linked>,
    heads: Vec<Heads>,
}

#[derive(Clone, Copy, Debug)]
struct Linked {
    edge: Edge,
    /// The next older edge with the same tail.
    next_out: u32,
    /// The next older edge with the same head.
    next_in: u32,
}

#[derive(Clone, Copy, Debug)]
struct Heads {
    outgoing: u32,
    incoming: u32,
}

impl Graph {
    #[inline]
    pub(super) fn edges(&self) -> usize {
        self.edges.len()
    }

    #[inline]
    pub(super) fn edge(&self, id: u32) -> Edge {
        self.edges[id as usize].edge
    }

    pub(super) fn add_node(&mut self) {
        self.heads.push(Heads { outgoing: END, incoming: END });
    }

    #[inline]
    pub(super) fn push(&mut self, edge: Edge) {
        let id = u32::try_from(self.edges.len()).ok().filter(|&id| id != END).expect("too many edges");
        let next_out = std::mem::replace(&mut self.heads[edge.from as usize].outgoing, id);
        let next_in = std::mem::replace(&mut self.heads[edge.to as usize].incoming, id);
        self.edges.push(Linked { edge, next_out, next_in });
    }

    /// Removes the newest edges until `length` are left.
    pub(super) fn truncate(&mut self, length: usize) {
        while self.edges.len() > length {
            let Some(Linked { edge, next_out, next_in }) = self.edges.pop() else { return };
            self.heads[edge.from as usize].outgoing = next_out;
            self.heads[edge.to as usize].incoming = next_in;
        }
    }

    /// The heads of the edges out of `node`, newest first.
    #[inline]
    pub(super) fn successors(&self, node: u32) -> impl Iterator<Item = u32> {
        self.outgoing(node).map(|id| self.edge(id).to)
    }

    /// The tails of the edges into `node`, newest first.
    #[inline]
    pub(super) fn predecessors(&self, node: u32) -> impl Iterator<Item = u32> {
        let first = self.heads[node as usize].incoming;
        self.list(first, |edge| edge.next_in).map(|id| self.edge(id).from)
    }

    /// The edges out of `node`, newest first.
    #[inline]
    pub(super) fn outgoing(&self, node: u32) -> impl Iterator<Item = u32> {
        self.list(self.heads[node as usize].outgoing, |edge| edge.next_out)
    }

    #[inline]
    fn list(&self, first: u32, next: impl Fn(&Linked) -> u32) -> impl Iterator<Item = u32> {
        let present = |id: u32| (id != END).then_some(id);
        std::iter::successors(present(first), move |&id| present(next(&self.edges[id as usize])))
    }
}
