//! Paths with the fewest edges that need a reason.
//!
//! A breadth-first search whose queue takes [`ALWAYS`] edges, which weigh nothing, at the front. It enters only
//! nodes ranked between the two ends: every path between them is there.

use std::collections::VecDeque;

use super::ALWAYS;
use super::graph::{Edge, Graph};

/// Search state that lives on between calls for its capacity alone.
#[derive(Clone, Debug, Default)]
pub(super) struct Lightest {
    /// For each node, the generation that reached it, at what weight, and by which edge.
    reached: Vec<Reached>,
    generation: u32,
    queue: VecDeque<(u32, u32)>,
}

#[derive(Clone, Copy, Debug, Default)]
struct Reached {
    generation: u32,
    weight: u32,
    by: u32,
}

impl Lightest {
    /// The lightest path from `from` to `to`; `rank` orders the graph.
    pub(super) fn path(&mut self, graph: &Graph, rank: &[u32], from: u32, to: u32) -> Option<Vec<Edge>> {
        self.begin(rank.len());
        let generation = self.generation;
        let high = rank[to as usize];
        self.reached[from as usize] = Reached { generation, weight: 0, by: 0 };
        self.queue.push_back((from, 0));
        while let Some((node, weight)) = self.queue.pop_front() {
            if node == to {
                return Some(self.trace(graph, from, to));
            }
            if weight > self.reached[node as usize].weight {
                continue; // a lighter way was found after this one was queued
            }
            for by in graph.outgoing(node) {
                let Edge { to: next, tag, .. } = graph.edge(by);
                let weight = weight + u32::from(tag != ALWAYS);
                let old = &mut self.reached[next as usize];
                if rank[next as usize] > high || (old.generation == generation && old.weight <= weight) {
                    continue;
                }
                *old = Reached { generation, weight, by };
                match tag {
                    ALWAYS => self.queue.push_front((next, weight)),
                    _ => self.queue.push_back((next, weight)),
                }
            }
        }
        None
    }

    fn trace(&self, graph: &Graph, from: u32, to: u32) -> Vec<Edge> {
        let mut path = Vec::new();
        let mut node = to;
        while node != from {
            let edge = graph.edge(self.reached[node as usize].by);
            path.push(edge);
            node = edge.from;
        }
        path.reverse();
        path
    }

    fn begin(&mut self, nodes: usize) {
        if self.generation == u32::MAX {
            self.reached.clear();
            self.generation = 0;
        }
        self.generation += 1;
        self.reached.resize(nodes, Reached::default());
        self.queue.clear();
    }
}
