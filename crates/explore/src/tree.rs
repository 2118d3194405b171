//! The learned trees: for each history of a thread, its next step.
//!
//! A history is a node; its children are keyed by what the thread gets from its step. The first node of a thread is keyed by
//! the history of its creator at the spawn, for what a thread is given at its start is a function of that. Each node has the
//! *future* of its thread: all that it, and threads that it may yet create, are known to touch.

use hashbrown::HashMap;

use crate::footprint::{Footprints, SetId};
use crate::op::{Next, ObjectId, Op, Outcome, ThreadId};
use crate::state::Phase;
use crate::symmetry::Groups;

/// A history of a thread.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct NodeId(pub(crate) u32);

impl NodeId {
    pub(crate) fn index(self) -> usize {
        self.0 as usize
    }
}

/// How a node hangs below another.
#[derive(Clone, Copy, PartialEq, Eq, Hash)]
enum Edge {
    Outcome(Outcome),
    Start(ThreadId),
}

struct Node {
    thread: ThreadId,
    parent: Option<NodeId>,
    /// What the thread got at its parent; none at the first node of a thread.
    outcome: Option<Outcome>,
    next: Option<Next>,
    /// In how many runs a thread came to it, up to 2; of threads that are alike, each counts.
    met: u8,
    footprint: SetId,
    /// What the later parts of a wait touch.
    wait: Option<(SetId, SetId)>,
    /// Whether a loop that waits here was followed.
    followed: Followed,
    future: SetId,
}

/// A history met twice with different next steps: the program is not a function of what its threads observe.
#[derive(Clone, Debug)]
pub struct Differs {
    /// The history.
    pub node: NodeId,
    /// What it did first, and now.
    pub steps: Box<(Next, Next)>,
}

/// How a loop was followed that waits at a history.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Followed {
    No,
    /// It can be only where nothing changed that it saw.
    Later,
    Yes,
}

pub(crate) struct Tree {
    nodes: Vec<Node>,
    edges: HashMap<(NodeId, Edge), NodeId>,
    pub(crate) footprints: Footprints,
    /// The steps that start further threads with the tree of a first one.
    shared: HashMap<NodeId, Vec<NodeId>>,
    known: usize,
    /// How many histories wait in a loop that was not followed.
    unfollowed: usize,
    /// How often the future of a node grew that was known before.
    growths: u64,
}

impl Tree {
    pub(crate) const ROOT: NodeId = NodeId(0);

    pub(crate) fn new() -> Tree {
        let mut tree = Tree {
            nodes: Vec::new(),
            edges: HashMap::new(),
            footprints: Footprints::new(),
            shared: HashMap::new(),
            known: 0,
            unfollowed: 0,
            growths: 0,
        };
        tree.add(ThreadId::MAIN, None, None);
        tree
    }

    fn add(&mut self, thread: ThreadId, parent: Option<NodeId>, outcome: Option<Outcome>) -> NodeId {
        let id = NodeId(self.nodes.len() as u32);
        let (footprint, future) = (SetId::EMPTY, SetId::EMPTY);
        self.nodes.push(Node {
            thread,
            parent,
            outcome,
            next: None,
            met: 0,
            footprint,
            wait: None,
            followed: Followed::No,
            future,
        });
        id
    }

    /// The history that follows when the thread gets this.
    pub(crate) fn child(&mut self, node: NodeId, outcome: Outcome) -> NodeId {
        let key = (node, Edge::Outcome(outcome));
        if let Some(&known) = self.edges.get(&key) {
            return known;
        }
        let id = self.add(self.nodes[node.index()].thread, Some(node), Some(outcome));
        self.edges.insert(key, id);
        id
    }

    /// The first history of a thread that is started at this one of its creator.
    pub(crate) fn start(&mut self, node: NodeId, thread: ThreadId) -> NodeId {
        let key = (node, Edge::Start(thread));
        if let Some(&known) = self.edges.get(&key) {
            return known;
        }
        let id = self.add(thread, Some(node), None);
        self.edges.insert(key, id);
        id
    }

    pub(crate) fn next(&self, node: NodeId) -> Option<&Next> {
        self.nodes[node.index()].next.as_ref()
    }

    pub(crate) fn op(&self, node: NodeId) -> Option<&Op> {
        self.next(node).map(|next| &next.op)
    }

    /// How the loop was followed that waits at a history.
    pub(crate) fn followed(&self, node: NodeId) -> Followed {
        self.nodes[node.index()].followed
    }

    pub(crate) fn set_followed(&mut self, node: NodeId, followed: Followed) {
        let before = std::mem::replace(&mut self.nodes[node.index()].followed, followed);
        if followed == Followed::Yes && before != Followed::Yes {
            self.unfollowed -= 1;
        }
    }

    /// How many loops wait that were not followed.
    pub(crate) fn unfollowed(&self) -> usize {
        self.unfollowed
    }

    /// What the rest of the step after a history touches.
    pub(crate) fn footprint(&self, node: NodeId, phase: Phase) -> SetId {
        let node = &self.nodes[node.index()];
        match (phase, node.wait) {
            (Phase::Waiting, Some((leaving, _))) => leaving,
            (Phase::Woken, Some((_, again))) => again,
            _ => node.footprint,
        }
    }

    pub(crate) fn future(&self, node: NodeId) -> SetId {
        self.nodes[node.index()].future
    }

    pub(crate) fn thread(&self, node: NodeId) -> ThreadId {
        self.nodes[node.index()].thread
    }

    /// How many histories have a known next step.
    pub(crate) fn known(&self) -> usize {
        self.known
    }

    /// How many histories occurred twice or more in runs.
    pub(crate) fn met_twice(&self) -> usize {
        self.nodes.iter().filter(|node| node.met == 2).count()
    }

    pub(crate) fn growths(&self) -> u64 {
        self.growths
    }

    /// All histories whose next step is known.
    pub(crate) fn histories(&self) -> impl Iterator<Item = NodeId> {
        (0..self.nodes.len() as u32).map(NodeId).filter(|node| self.next(*node).is_some())
    }

    /// The steps of a history with what came of each.
    pub(crate) fn history(&self, node: NodeId) -> Vec<(&Op, Outcome)> {
        let mut steps = Vec::new();
        let mut at = node;
        while let (Some(parent), Some(outcome)) =
            (self.nodes[at.index()].parent, self.nodes[at.index()].outcome)
        {
            if let Some(op) = self.op(parent) {
                steps.push((op, outcome));
            }
            at = parent;
        }
        steps.reverse();
        steps
    }

    /// The next step after a history; whether it was new. `closed` is whether futures reach over spawns.
    pub(crate) fn learn(
        &mut self,
        node: NodeId,
        next: Next,
        closed: bool,
        class: impl Fn(ObjectId) -> u32,
        groups: &Groups,
    ) -> Result<bool, Differs> {
        let met = &mut self.nodes[node.index()].met;
        *met = met.saturating_add(1).min(2);
        if let Some(known) = &self.nodes[node.index()].next {
            if *known == next {
                return Ok(false);
            }
            return Err(Differs { node, steps: Box::new((known.clone(), next)) });
        }
        let thread = self.nodes[node.index()].thread;
        let footprint = self.footprints.of(&next.op, thread, class, groups);
        let wait = self.footprints.of_wait(&next.op);
        self.unfollowed += usize::from(matches!(next.op, Op::Await { .. }));
        let entry = &mut self.nodes[node.index()];
        entry.next = Some(next);
        entry.wait = wait;
        entry.footprint = footprint;
        self.known += 1;
        let before = self.growths;
        self.grow(node, footprint, closed);
        // The node itself was not known.
        self.growths = self.growths.saturating_sub(u64::from(self.growths > before));
        Ok(true)
    }

    /// A node's future has this, and so have those that lead to it.
    fn grow(&mut self, node: NodeId, by: SetId, closed: bool) {
        let mut todo = vec![node];
        while let Some(id) = todo.pop() {
            let old = self.nodes[id.index()].future;
            let new = self.footprints.union(old, by);
            if new == old {
                continue;
            }
            self.growths += 1;
            let entry = &mut self.nodes[id.index()];
            entry.future = new;
            todo.extend(entry.parent.filter(|_| closed || entry.outcome.is_some()));
            if let Some(starts) = self.shared.get(&id).filter(|_| closed) {
                todo.extend_from_slice(starts);
            }
        }
    }

    /// Something that was taken for granted is not so: what was searched has to be searched again.
    pub(crate) fn grew(&mut self) {
        self.growths += 1;
    }

    /// The first history of a thread that is like another, which was started just before: the other's.
    pub(crate) fn start_like(
        &mut self,
        node: NodeId,
        thread: ThreadId,
        like: ThreadId,
        closed: bool,
    ) -> NodeId {
        let mut at = node;
        loop {
            match self.op(at) {
                Some(Op::SpawnSame { thread, like: own }) if *own == like => {
                    if *thread == like {
                        break;
                    }
                }
                _ => return self.start(node, thread),
            }
            match self.nodes[at.index()].parent {
                Some(parent) => at = parent,
                None => return self.start(node, thread),
            }
        }
        let first = self.start(at, like);
        let starts = self.shared.entry(first).or_default();
        if at != node && !starts.contains(&node) {
            starts.push(node);
            let future = self.nodes[first.index()].future;
            self.grow(node, future, closed);
        }
        first
    }
}
