//! The must order, and chain orders made from it, against full vector clocks.

mod common;

use std::ops::Range;

use common::Random;
use reweave_order::chain::{ChainOrder, DenseChains, Node, SparseChains};
use reweave_order::must::{MustOrder, MustOrderBuilder};

/// The naive twin: for each event, how many events of each chain are before it.
#[derive(Default)]
struct Twin {
    chains: usize,
    clocks: Vec<Vec<Vec<u32>>>,
}

impl Twin {
    fn new(chains: u32) -> Twin {
        Twin { chains: chains as usize, clocks: vec![Vec::new(); chains as usize] }
    }

    fn event(&mut self, chain: u32, incoming: &[Node]) -> Node {
        let own = &self.clocks[chain as usize];
        let node = Node::new(chain, own.len() as u32);
        let mut clock = own.last().cloned().unwrap_or_else(|| vec![0; self.chains]);
        for source in incoming {
            let other = &self.clocks[source.chain as usize][source.position as usize];
            clock.iter_mut().zip(other).for_each(|(entry, &other)| *entry = other.max(*entry));
        }
        clock[chain as usize] = node.position + 1;
        self.clocks[chain as usize].push(clock);
        node
    }

    fn reaches(&self, a: Node, b: Node) -> bool {
        self.clocks[b.chain as usize][b.position as usize][a.chain as usize] > a.position
    }

    fn nodes(&self) -> Vec<Node> {
        let nodes =
            |chain: usize| (0..self.clocks[chain].len() as u32).map(move |p| Node::new(chain as u32, p));
        (0..self.chains).flat_map(nodes).collect()
    }
}

fn random(random: &mut Random, chains: u32, events: u32) -> (MustOrder, Twin) {
    let (builder, twin) = random_builder(random, chains, events);
    (builder.finish(), twin)
}

fn random_builder(random: &mut Random, chains: u32, events: u32) -> (MustOrderBuilder, Twin) {
    let (mut builder, mut twin) = (MustOrderBuilder::new(chains), Twin::new(chains));
    let mut all = Vec::new();
    let (join_once_in, reach_back) = (1 + random.below(6), 1 + random.below(60));
    for _ in 0..events {
        let chain = random.below(chains);
        let mut incoming = Vec::new();
        if random.once_in(join_once_in) && !all.is_empty() {
            let any = |_| all[all.len() - 1 - random.below(reach_back.min(all.len() as u32)) as usize];
            incoming.extend((0..3).map(any));
            incoming.truncate(1 + random.below(3) as usize);
        }
        let node = builder.event(chain, &incoming);
        assert_eq!(node, twin.event(chain, &incoming));
        all.push(node);
    }
    (builder, twin)
}

#[test]
fn what_alternatives_have_in_common_is_before_each_of_them() {
    for seed in 0..400 {
        let mut numbers = Random::new(seed);
        let chains = [1, 2, 5, 17, 40, 300][seed as usize % 6];
        let (mut builder, twin) = random_builder(&mut numbers, chains, 80);
        let nodes = twin.nodes();
        let mut any = || nodes[numbers.below(nodes.len() as u32) as usize];
        for count in 1..4 {
            let known = any();
            let alternatives: Vec<[Node; 2]> = (0..count).map(|_| [any(), any()]).collect();
            let size = builder.so_far().bytes();
            let found = builder.common(known, &alternatives);
            assert_eq!(builder.so_far().bytes(), size, "what was made on the way is forgotten");
            let entry = |node: Node, chain: u32| {
                twin.clocks[node.chain as usize][node.position as usize][chain as usize]
            };
            let mut expected = Vec::new();
            for chain in (0..chains).filter(|&chain| chain != known.chain) {
                let common = alternatives.iter().map(|pair| entry(pair[0], chain).max(entry(pair[1], chain)));
                let common = common.min().unwrap_or(0);
                if common > entry(known, chain) {
                    expected.push(Node::new(chain, common - 1));
                }
            }
            assert_eq!(found, expected, "seed {seed} {known:?} {alternatives:?}");
        }
    }
}

#[test]
fn must_order_agrees_with_full_clocks() {
    for seed in 0..600 {
        let mut numbers = Random::new(seed);
        let chains = [1, 2, 5, 16, 17, 40, 300, 5000][seed as usize % 8];
        let (order, twin) = random(&mut numbers, chains, 80);
        let nodes = twin.nodes();
        for &b in &nodes {
            assert!(b.position < order.length(b.chain));
            for &a in &nodes {
                assert_eq!(order.before(a, b), a != b && twin.reaches(a, b));
            }
            for chain in 0..chains.min(50) {
                let expected =
                    twin.clocks[b.chain as usize][b.position as usize][chain as usize].checked_sub(1);
                assert_eq!(order.latest_predecessor(b, chain), expected);
            }
        }
    }
}

fn check_window(order: &impl ChainOrder, twin: &Twin, window: &[Range<u32>]) {
    let nodes = twin.nodes();
    let inside: Vec<Node> =
        nodes.into_iter().filter(|node| window[node.chain as usize].contains(&node.position)).collect();
    let shift = |node: Node| Node::new(node.chain, node.position - window[node.chain as usize].start);
    for &a in &inside {
        for &b in &inside {
            assert_eq!(order.reaches(shift(a), shift(b)), twin.reaches(a, b));
        }
        for (chain, range) in (0..).zip(window) {
            let mut others = range.clone().map(|position| Node::new(chain, position));
            let last = others.clone().rev().find(|&b| twin.reaches(b, a));
            let first = others.find(|&b| twin.reaches(a, b));
            let position = |node: Option<Node>| node.map(|node| shift(node).position);
            assert_eq!(order.earliest_successor(shift(a), chain), position(first));
            assert_eq!(order.latest_predecessor(shift(a), chain), position(last));
        }
    }
}

#[test]
fn chain_orders_of_a_window_agree_with_full_clocks() {
    for seed in 0..600 {
        let mut numbers = Random::new(seed);
        let chains = 1 + numbers.below(6);
        let (must, twin) = random(&mut numbers, chains, 60);
        let window: Vec<Range<u32>> = (0..chains)
            .map(|chain| {
                let length = must.length(chain);
                let start = if numbers.once_in(2) { 0 } else { numbers.below(length + 1) };
                let end = if numbers.once_in(2) { length } else { numbers.below(length + 1) };
                start..end.max(start)
            })
            .collect();
        check_window(&SparseChains::from_must(&must, &window), &twin, &window);
        check_window(&DenseChains::from_must(&must, &window), &twin, &window);
    }
}

/// Each of many threads leaves a barrier with all of them before it, for the price of a path.
#[test]
fn barriers_share_their_row() {
    let (threads, rounds) = (1000, 5);
    let mut builder = MustOrderBuilder::new(threads + 1);
    for _ in 0..rounds {
        let arrivals: Vec<Node> = (0..threads).map(|thread| builder.event(thread, &[])).collect();
        let barrier = builder.event(threads, &arrivals);
        for thread in 0..threads {
            builder.event(thread, &[barrier]);
        }
    }
    let order = builder.finish();
    let last = 2 * rounds - 1;
    assert!(order.before(Node::new(7, last - 1), Node::new(900, last)));
    assert!(!order.before(Node::new(7, last), Node::new(900, last)));
    let full_clocks = (threads * threads * rounds * 4) as usize;
    assert!(order.bytes() * 20 < full_clocks, "{} bytes", order.bytes());
}
