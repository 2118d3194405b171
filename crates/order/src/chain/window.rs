//! The part of a must order that lies in a window.

use std::ops::Range;

use super::Node;
use crate::must::MustOrder;

/// Calls `found` with edges between the chains of `window` that, with program order, imply the order of
/// `must` there; positions count from the start of each range.
///
/// No path is lost that leaves the window in between, since the must order is closed. Between two chains, the
/// edges come with heads that strictly increase and tails that never decrease.
pub(super) fn edges(must: &MustOrder, window: &[Range<u32>], mut found: impl FnMut(Node, Node)) {
    assert_eq!(window.len(), must.chains() as usize, "a window has a range for each chain");
    for (chain, range) in (0..).zip(window) {
        let joins = must.joins(chain);
        let joins = &joins[..joins.partition_point(|join| join.position < range.end)];
        // The last join at or before the start says what is before the first event in the window.
        let first = joins.partition_point(|join| join.position <= range.start).saturating_sub(1);
        let mut before = None;
        for &join in if range.is_empty() { &[] } else { &joins[first..] } {
            let to = Node::new(chain, join.position.saturating_sub(range.start));
            must.changes(before, join, &mut |source| {
                let Range { start, end } = window[source.chain as usize];
                if source.chain != chain && start < end && source.position >= start {
                    found(Node::new(source.chain, source.position.min(end - 1) - start), to);
                }
            });
            before = Some(join);
        }
    }
}
