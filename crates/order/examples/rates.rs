//! Rates of the order structures on random input, for a first impression.
//!
//! `cargo run --release -p reweave-order --example rates [acyclic|chain|must]`

#[path = "../tests/common/mod.rs"]
mod common;

use std::hint::black_box;
use std::time::Instant;

use common::Random;
use reweave_order::acyclic::{ALWAYS, Acyclic};
use reweave_order::chain::{ChainOrder, DenseChains, Inserted, Node, SparseChains};
use reweave_order::must::{MustOrder, MustOrderBuilder};

fn main() {
    let only = std::env::args().nth(1);
    let wanted = |what: &str| only.as_deref().is_none_or(|only| only == what);
    if wanted("acyclic") {
        for (chains, length) in [(4, 500), (20, 100), (20, 5000)] {
            for locality in [20, 200, 2000] {
                acyclic(chains, length, locality);
            }
        }
    }
    if wanted("chain") {
        for locality in [30, 200, 2000] {
            let (chains, events) = (20, 100_000);
            chain("sparse", SparseChains::new(chains), events, locality);
            chain("dense", DenseChains::new(&vec![events / chains; chains as usize]), events, locality);
        }
        chain("sparse", SparseChains::new(2), 2_000_000, 30);
        chain("sparse", SparseChains::new(100), 30_000, 2000);
    }
    if wanted("must") {
        for (chains, alive) in [(4, 4), (20, 20), (100, 100), (10_000, 100)] {
            must(chains, alive, 10_000_000, 20);
        }
    }
}

fn report(what: &str, count: u32, start: Instant) {
    let seconds = start.elapsed().as_secs_f64();
    println!("{:9.3} M/s  {what}", f64::from(count) / seconds / 1e6);
}

/// A solver's pattern: levels of a few edges each, mostly along the observed order; a conflict goes back some
/// levels.
fn acyclic(chains: u32, length: u32, locality: u32) {
    let mut random = Random::new(1);
    let nodes = chains * length;
    let mut order = Acyclic::new(nodes);
    for node in 0..nodes - chains {
        order.add_edge(node, node + chains, ALWAYS).expect("program order");
    }
    let mut marks = vec![order.mark()];
    let (mut conflicts, mut reasons) = (0, 0);
    let edges = 1_000_000;
    let start = Instant::now();
    for tag in 0..edges {
        let from = random.below(nodes);
        let to = (from + 1 + random.below(locality)).min(nodes - 1);
        let (from, to) = if random.once_in(8) { (to, from) } else { (from, to) };
        if random.once_in(4) {
            marks.push(order.mark());
        }
        if let Err(cycle) = order.add_edge(from, to, tag) {
            conflicts += 1;
            reasons += cycle.path.iter().filter(|edge| edge.tag != ALWAYS).count();
            let keep = marks.len().saturating_sub(1 + random.below(40) as usize).max(1);
            order.undo_to(marks[keep - 1]);
            marks.truncate(keep);
        }
    }
    black_box(order.order());
    let what = format!("acyclic, {chains} x {length} nodes, locality {locality}, add_edge, undo included");
    report(&format!("{what}; {conflicts} conflicts, {reasons} reasons"), edges, start);
}

/// A node of a round-robin run over `chains` chains, by its time.
fn node(time: u32, chains: u32) -> Node {
    Node::new(time % chains, time / chains)
}

/// Edges forward in time inserted in random order, then queries; then the same under marks, undone.
fn chain<O: ChainOrder>(name: &str, mut order: O, events: u32, locality: u32) {
    let chains = order.chains();
    let what = format!("{name}, {chains} chains, {events} events, locality {locality}");
    let mut random = Random::new(2);
    let mut edge = |within: u32| {
        let from = random.below(events - within);
        (node(from, chains), node(from + 1 + random.below(within - 1), chains))
    };
    let (mut consequences, mut new, mut closed) = (Vec::new(), 0, 0);
    let inserts = events.min(500_000);
    let start = Instant::now();
    for _ in 0..inserts {
        consequences.clear();
        let (from, to) = edge(locality);
        new += usize::from(order.insert(from, to, &mut consequences) == Inserted::New);
        closed += consequences.len();
    }
    report(&format!("{what}, insert; {new} new, {closed} consequences"), inserts, start);

    let queries = 2_000_000;
    let start = Instant::now();
    for _ in 0..queries {
        let (from, to) = edge(4 * locality);
        black_box(order.reaches(from, to));
    }
    report(&format!("{what}, reaches"), queries, start);

    let start = Instant::now();
    for _ in 0..inserts / 10 {
        let mark = order.mark();
        for _ in 0..10 {
            let (from, to) = edge(locality);
            let _ = order.insert(from, to, &mut consequences);
        }
        order.undo_to(mark);
        consequences.clear();
    }
    report(&format!("{what}, insert and undo by tens"), inserts, start);
}

/// A run of chains of which `alive` are active at a time; one event in `join_once_in` has an edge from a recent
/// one.
fn must(chains: u32, alive: u32, events: u32, join_once_in: u32) {
    let mut random = Random::new(3);
    let what = format!("must, {chains} chains, {alive} alive, {events} events, 1 join in {join_once_in}");
    let mut builder = MustOrderBuilder::new(chains);
    let mut recent = vec![Node::new(0, 0); 1 << 12];
    recent[0] = builder.event(0, &[]);
    let start = Instant::now();
    for time in 1..events {
        let source = recent[((time - 1).saturating_sub(random.below(1000)) & 0xfff) as usize];
        let incoming = if random.once_in(join_once_in) { &[source][..] } else { &[] };
        let oldest = u64::from(time) * u64::from(chains - alive) / u64::from(events);
        recent[(time & 0xfff) as usize] = builder.event(oldest as u32 + random.below(alive), incoming);
    }
    let order = builder.finish();
    let bytes = order.bytes() as f64 / f64::from(events);
    report(&format!("{what}, event; {bytes:.2} bytes each"), events, start);

    let any = |random: &mut Random, order: &MustOrder| {
        let chain = random.below(chains);
        Node::new(chain, random.below(order.length(chain).max(1)))
    };
    let queries = 2_000_000;
    let start = Instant::now();
    for _ in 0..queries {
        let (a, b) = (any(&mut random, &order), any(&mut random, &order));
        black_box(order.before(a, b));
    }
    report(&format!("{what}, before"), queries, start);
}
