//! Chain orders against a closed matrix of nodes.

mod common;

use common::Random;
use reweave_order::chain::{ChainOrder, DenseChains, Inserted, Mark, Node, SparseChains};

/// The naive twin: every pair of nodes, closed by trying all pairs around a new edge.
#[derive(Clone)]
struct Twin {
    lengths: Vec<u32>,
    nodes: Vec<Node>,
    before: Vec<Vec<bool>>,
}

impl Twin {
    fn new(lengths: &[u32]) -> Twin {
        let nodes: Vec<Node> = (0..lengths.len() as u32)
            .flat_map(|chain| (0..lengths[chain as usize]).map(move |position| Node::new(chain, position)))
            .collect();
        let po = |a: &Node, b: &Node| a.chain == b.chain && a.position <= b.position;
        let before = nodes.iter().map(|a| nodes.iter().map(|b| po(a, b)).collect()).collect();
        Twin { lengths: lengths.to_vec(), nodes, before }
    }

    fn index(&self, node: Node) -> usize {
        let earlier: u32 = self.lengths[..node.chain as usize].iter().sum();
        (earlier + node.position) as usize
    }

    fn reaches(&self, a: Node, b: Node) -> bool {
        self.before[self.index(a)][self.index(b)]
    }

    fn insert(&mut self, from: Node, to: Node) -> Inserted {
        if self.reaches(from, to) {
            return Inserted::Implied;
        }
        if self.reaches(to, from) {
            return Inserted::Cycle;
        }
        let (from, to) = (self.index(from), self.index(to));
        let after: Vec<bool> = self.before[to].clone();
        for row in self.before.iter_mut().filter(|row| row[from]) {
            for (cell, &after) in row.iter_mut().zip(&after) {
                *cell |= after;
            }
        }
        Inserted::New
    }

    fn successor(&self, node: Node, chain: u32) -> Option<u32> {
        (0..self.lengths[chain as usize]).find(|&position| self.reaches(node, Node::new(chain, position)))
    }

    fn predecessor(&self, node: Node, chain: u32) -> Option<u32> {
        (0..self.lengths[chain as usize])
            .rev()
            .find(|&position| self.reaches(Node::new(chain, position), node))
    }

    fn check(&self, order: &impl ChainOrder) {
        for &node in &self.nodes {
            for chain in 0..self.lengths.len() as u32 {
                assert_eq!(order.earliest_successor(node, chain), self.successor(node, chain));
                assert_eq!(order.latest_predecessor(node, chain), self.predecessor(node, chain));
            }
            for &other in &self.nodes {
                assert_eq!(order.reaches(node, other), self.reaches(node, other));
            }
        }
    }

    /// That `consequences` say exactly what changed from `self` to `after`, with one edge for a pair of chains.
    fn check_consequences(&self, after: &Twin, consequences: &[(Node, Node)]) {
        let covers = |&(from, to): &(Node, Node), a: Node, b: Node| {
            (a.chain, b.chain) == (from.chain, to.chain)
                && a.position <= from.position
                && b.position >= to.position
        };
        for &a in &self.nodes {
            for &b in &self.nodes {
                let covered = consequences.iter().filter(|edge| covers(edge, a, b)).count();
                assert!(covered <= 1, "one edge for a pair of chains");
                assert_eq!(after.reaches(a, b), self.reaches(a, b) || covered == 1);
            }
        }
        assert!(consequences.iter().all(|&(from, to)| !self.reaches(from, to)));
    }
}

fn random_lengths(random: &mut Random) -> Vec<u32> {
    let not_empty = 1 + random.below(5);
    (0..1 + random.below(5)).map(|_| random.below(7)).chain([not_empty]).collect()
}

fn run<O: ChainOrder>(seed: u64, make: impl Fn(&[u32]) -> O) -> Vec<(Node, Node)> {
    let mut random = Random::new(seed);
    let lengths = random_lengths(&mut random);
    let mut order = make(&lengths);
    assert_eq!(order.chains() as usize, lengths.len());
    let mut twin = Twin::new(&lengths);
    let mut marks: Vec<(Mark, Twin)> = Vec::new();
    let mut all = Vec::new();
    for _ in 0..30 {
        let any = |random: &mut Random| twin.nodes[random.below(twin.nodes.len() as u32) as usize];
        let (from, to) = (any(&mut random), any(&mut random));
        if random.once_in(5) {
            marks.push((order.mark(), twin.clone()));
        } else if random.once_in(8) && !marks.is_empty() {
            let depth = random.below(marks.len() as u32) as usize;
            order.undo_to(marks[depth].0);
            twin = marks[depth].1.clone();
            marks.truncate(depth);
        } else {
            let mut consequences = Vec::new();
            let before = twin.clone();
            let inserted = order.insert(from, to, &mut consequences);
            assert_eq!(inserted, twin.insert(from, to));
            assert_eq!(inserted == Inserted::New, consequences.first() == Some(&(from, to)));
            before.check_consequences(&twin, &consequences);
            all.extend(consequences);
        }
        twin.check(&order);
    }
    all
}

#[test]
fn sparse_and_dense_agree_with_the_matrix() {
    for seed in 0..1500 {
        let sparse = run(seed, |lengths| SparseChains::new(lengths.len() as u32));
        let dense = run(seed, DenseChains::new);
        assert_eq!(sparse, dense);
    }
}

#[test]
fn sparse_keeps_only_edges_that_matter() {
    let mut order = SparseChains::new(2);
    for (from, to) in [(3, 9), (5, 8), (1, 8), (7, 9)] {
        let _ = order.insert(Node::new(0, from), Node::new(1, to), &mut Vec::new());
    }
    assert_eq!(order.steps(), 2);
}

/// Long chains, so that staircases have several blocks; dense is the twin here.
#[test]
fn long_staircases_agree_with_dense() {
    for seed in 0..6 {
        let mut random = Random::new(seed);
        let (chains, length) = (3, 6000);
        let mut sparse = SparseChains::new(chains);
        let mut dense = DenseChains::new(&vec![length; chains as usize]);
        let mut marks = Vec::new();
        let spread = [3, 40, 600][seed as usize % 3];
        for step in 0..20_000 {
            let position = random.below(length - spread);
            let from = Node::new(random.below(chains), position + random.below(spread / 3));
            let to = Node::new(random.below(chains), position + random.below(spread));
            let (mut by_sparse, mut by_dense) = (Vec::new(), Vec::new());
            let inserted = sparse.insert(from, to, &mut by_sparse);
            assert_eq!(inserted, dense.insert(from, to, &mut by_dense));
            assert_eq!(by_sparse, by_dense);
            if step % 1500 == 700 {
                marks.push((sparse.mark(), dense.mark()));
            }
            if step % 4000 == 3999 {
                let depth = random.below(marks.len() as u32) as usize;
                sparse.undo_to(marks[depth].0);
                dense.undo_to(marks[depth].1);
                marks.truncate(depth);
            }
            if step % 2000 == 1999 {
                agree(&sparse, &dense, chains, length);
            }
        }
        agree(&sparse, &dense, chains, length);
    }
}

fn agree(sparse: &SparseChains, dense: &DenseChains, chains: u32, length: u32) {
    for node in (0..chains).flat_map(|chain| (0..length).map(move |position| Node::new(chain, position))) {
        for chain in 0..chains {
            assert_eq!(sparse.earliest_successor(node, chain), dense.earliest_successor(node, chain));
            assert_eq!(sparse.latest_predecessor(node, chain), dense.latest_predecessor(node, chain));
        }
    }
}
