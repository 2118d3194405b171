//! Precedence: a search for a schedule that keeps given orders.
//!
//! That `a` has run before `b` needs no memory beyond the state, which tells whether `a` has run when `b` comes. An
//! adjacent pair is one step of two events.

use super::explore::Graph;
use super::{bit, members};

/// The orders to keep, per event.
struct Orders {
    /// The events that must have run before it.
    earlier: Vec<u128>,
    /// The event that must come right after it.
    successor: Vec<u128>,
    /// The events that come right after another.
    successors: u128,
}

/// Whether some schedule contains all events of `wanted`, the first before the second of each pair, and with
/// nothing in between for the pairs whose index is in `adjacent`.
pub(super) fn reachable(graph: &Graph, wanted: u128, pairs: &[(usize, usize)], adjacent: &[usize]) -> bool {
    if let ([(a, b)], []) = (pairs, adjacent) {
        return graph.earlier[*b] & bit(*a) != 0;
    }
    let events = graph.earlier.len();
    let mut orders = Orders { earlier: vec![0; events], successor: vec![0; events], successors: 0 };
    for &(a, b) in pairs {
        orders.earlier[b] |= bit(a);
    }
    for &index in adjacent {
        let (a, b) = pairs[index];
        orders.successor[a] |= bit(b);
        orders.successors |= bit(b);
    }
    // Two different events cannot both come right after one.
    if orders.successor.iter().any(|successors| successors.count_ones() > 1) {
        return false;
    }
    search(graph, wanted, &orders)
}

fn search(graph: &Graph, wanted: u128, orders: &Orders) -> bool {
    let mut seen = vec![false; graph.len()];
    seen[0] = true;
    let mut stack = vec![0];
    while let Some(state) = stack.pop() {
        if graph.ran[state] & wanted == wanted {
            return true;
        }
        for (event, _) in graph.steps(state) {
            if orders.successors & bit(event) != 0 {
                continue;
            }
            if let Some(to) = follow(graph, orders, state, event)
                && !std::mem::replace(&mut seen[to], true)
            {
                stack.push(to);
            }
        }
    }
    false
}

/// Where `event` and the chain of its adjacent successors lead.
fn follow(graph: &Graph, orders: &Orders, mut state: usize, mut event: usize) -> Option<usize> {
    loop {
        if graph.ran[state] & orders.earlier[event] != orders.earlier[event] {
            return None;
        }
        state = graph.steps(state).find(|&(step, _)| step == event)?.1;
        match members(orders.successor[event]).next() {
            Some(successor) => event = successor,
            None => return Some(state),
        }
    }
}
