//! The deadlocks of one state: simple cycles of blocked acquires.

use std::collections::BTreeSet;

use super::bit;
use super::machine::{Machine, Next, State};

/// Adds every deadlock of `state`, whose threads' next events are `next`, to `found`.
pub(super) fn collect(machine: &Machine, state: State, next: &[Next], found: &mut BTreeSet<u128>) {
    let blocked: Vec<&Next> =
        next.iter().filter(|next| next.may_run && next.waits && next.blocked_by != 0).collect();
    for (place, first) in blocked.iter().enumerate() {
        let dead = |thread: usize| state.ran & machine.ends[thread] != 0;
        if (0..machine.ends.len()).any(|thread| first.blocked_by >> thread & 1 == 1 && dead(thread)) {
            found.insert(bit(first.event));
        }
        // Each cycle is found from its first member in `blocked`.
        cycles(&blocked[place..], first, first, bit(first.event), found);
    }
}

fn cycles(blocked: &[&Next], first: &Next, last: &Next, path: u128, found: &mut BTreeSet<u128>) {
    for next in blocked.iter().filter(|next| last.blocked_by >> next.thread & 1 == 1) {
        if next.event == first.event {
            found.insert(path);
        } else if path & bit(next.event) == 0 {
            cycles(blocked, first, next, path | bit(next.event), found);
        }
    }
}
