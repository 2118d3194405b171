//! The incremental topological order against breadth-first search on a list of edges.

mod common;

use std::collections::VecDeque;

use common::Random;
use reweave_order::acyclic::{ALWAYS, Acyclic, Cycle, Edge, Mark};

/// The naive twin: a list of edges.
#[derive(Default)]
struct Twin(Vec<Edge>);

impl Twin {
    /// The least number of edges with a reason on a path.
    fn weight(&self, nodes: u32, from: u32, to: u32) -> Option<usize> {
        let mut weight = vec![None; nodes as usize];
        weight[from as usize] = Some(0);
        let mut queue = VecDeque::from([from]);
        while let Some(node) = queue.pop_front() {
            for edge in self.0.iter().filter(|edge| edge.from == node) {
                let new = weight[node as usize].map(|old| old + usize::from(edge.tag != ALWAYS));
                let old = &mut weight[edge.to as usize];
                if old.is_none() || new < *old {
                    *old = new;
                    queue.push_back(edge.to);
                }
            }
        }
        weight[to as usize]
    }

    /// That `path` is made of present edges, joins the ends, and weighs no more than it must.
    fn check_path(&self, nodes: u32, path: &[Edge], from: u32, to: u32) {
        let mut node = from;
        for edge in path {
            assert_eq!(edge.from, node);
            assert!(self.0.contains(edge));
            node = edge.to;
        }
        assert_eq!(node, to);
        let weight = path.iter().filter(|edge| edge.tag != ALWAYS).count();
        assert_eq!(Some(weight), self.weight(nodes, from, to));
    }

    fn check_order(&self, order: &Acyclic) {
        let nodes = order.order();
        assert_eq!(nodes.len(), order.nodes() as usize);
        assert!(nodes.is_sorted_by(|&a, &b| order.rank(a) < order.rank(b)));
        for edge in &self.0 {
            assert!(order.rank(edge.from) < order.rank(edge.to));
        }
    }
}

fn run(seed: u64) -> Vec<u32> {
    let mut random = Random::new(seed);
    let mut order = Acyclic::default();
    let mut free: Vec<u32> = Vec::new();
    for node in 0..1 + random.below(14) {
        order.add_node_at(3 * node);
        free.push(3 * node + 1);
    }
    let mut twin = Twin::default();
    let mut marks: Vec<Mark> = Vec::new();
    let undo_once_in = 3 + random.below(20);
    for step in 0..80 {
        let nodes = order.nodes();
        let (u, v) = (random.below(nodes), random.below(nodes));
        if random.once_in(undo_once_in) {
            if !marks.is_empty() {
                let depth = random.below(marks.len() as u32) as usize;
                let mark = marks[depth];
                marks.truncate(depth);
                order.undo_to(mark);
                twin.0.truncate(order.edges());
            }
        } else if random.once_in(6) {
            marks.push(order.mark());
        } else if random.once_in(10) {
            assert_eq!(order.reaches(u, v), twin.weight(nodes, u, v).is_some());
            match order.path(u, v) {
                Some(path) => twin.check_path(nodes, &path, u, v),
                None => assert_eq!(twin.weight(nodes, u, v), None),
            }
        } else if random.once_in(25) {
            // Somewhere among the others, or last.
            match free.pop() {
                Some(rank) if random.once_in(2) => order.add_node_at(rank),
                _ => order.add_node(),
            };
        } else {
            let tag = if random.once_in(3) { ALWAYS } else { step };
            match order.add_edge(u, v, tag) {
                Ok(()) => {
                    assert_eq!(twin.weight(nodes, v, u), None);
                    twin.0.push(Edge { from: u, to: v, tag });
                }
                Err(Cycle { path }) => twin.check_path(nodes, &path, v, u),
            }
        }
        assert_eq!(order.edges(), twin.0.len());
        twin.check_order(&order);
    }
    order.order()
}

#[test]
fn agrees_with_breadth_first_search() {
    for seed in 0..4000 {
        run(seed);
    }
}

#[test]
fn is_deterministic() {
    for seed in 0..50 {
        assert_eq!(run(seed), run(seed));
    }
}

#[test]
fn a_loop_needs_no_path() {
    let mut order = Acyclic::new(2);
    assert_eq!(order.add_edge(1, 1, 7), Err(Cycle { path: Vec::new() }));
    assert_eq!(order.edges(), 0);
}

#[test]
fn parallel_edges_are_removed_one_by_one() {
    let mut order = Acyclic::new(2);
    order.add_edge(0, 1, 1).unwrap();
    let mark = order.mark();
    order.add_edge(0, 1, 2).unwrap();
    order.undo_to(mark);
    assert_eq!(order.add_edge(1, 0, 3), Err(Cycle { path: vec![Edge { from: 0, to: 1, tag: 1 }] }));
}

#[test]
fn an_explanation_prefers_edges_that_are_always_there() {
    let mut order = Acyclic::new(4);
    order.add_edge(0, 3, 9).unwrap();
    for node in 0..3 {
        order.add_edge(node, node + 1, ALWAYS).unwrap();
    }
    let cycle = order.add_edge(3, 0, 5).unwrap_err();
    assert!(cycle.path.iter().all(|edge| edge.tag == ALWAYS));
}
