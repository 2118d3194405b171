//! The lock graph: a path from each lock that is held to the lock that its holder waits for.
//!
//! The path leads through the set of all that is held, which sets that are alike share: a nest of n locks has n²/2 pairs of a lock
//! that is held and one that is awaited, but only some n log n edges.

use std::hash::Hash;

use hashbrown::HashMap;

/// The strongly connected component of each vertex, by a number. Only locks of one component can be on a cycle.
///
/// Kosaraju's two passes, without recursion: a graph may have a path through a million locks.
pub(super) fn components<V: Copy + Ord + Hash>(edges: &[[V; 2]]) -> HashMap<V, u32> {
    let (mut forward, mut backward) = (Neighbours::new(), Neighbours::new());
    let mut distinct = edges.to_vec();
    distinct.sort_unstable();
    distinct.dedup();
    for &[from, to] in &distinct {
        forward.entry(from).or_default().push(to);
        backward.entry(to).or_default().push(from);
    }
    let mut vertices: Vec<V> = distinct.iter().flatten().copied().collect();
    vertices.sort_unstable();
    vertices.dedup();
    let mut seen: HashMap<V, u32> = HashMap::new();
    let mut order = Vec::new();
    for &vertex in &vertices {
        visit(vertex, &forward, 0, &mut seen, &mut order);
    }
    let mut found = HashMap::new();
    for (number, &vertex) in (0..).zip(order.iter().rev()) {
        visit(vertex, &backward, number, &mut found, &mut Vec::new());
    }
    found
}

type Neighbours<V> = HashMap<V, Vec<V>>;

/// Marks all that can be reached from `start` and is not marked yet; `left` gets it in the order in which it is left.
fn visit<V: Copy + Eq + Hash>(
    start: V,
    neighbours: &Neighbours<V>,
    mark: u32,
    marks: &mut HashMap<V, u32>,
    left: &mut Vec<V>,
) {
    if marks.contains_key(&start) {
        return;
    }
    marks.insert(start, mark);
    let mut path = vec![(start, 0)];
    while let Some((vertex, next)) = path.last_mut() {
        match neighbours.get(vertex).and_then(|list| list.get(*next)) {
            Some(&neighbour) => {
                *next += 1;
                if !marks.contains_key(&neighbour) {
                    marks.insert(neighbour, mark);
                    path.push((neighbour, 0));
                }
            }
            None => {
                left.push(*vertex);
                path.pop();
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use reweave_trace::LockId;

    use super::*;

    #[test]
    fn locks_are_in_one_component_exactly_when_each_reaches_the_other() {
        let mut seed = 7_u32;
        let mut random = move |below: u32| {
            seed = seed.wrapping_mul(1_664_525).wrapping_add(1_013_904_223);
            (seed >> 16) % below
        };
        for _ in 0..500 {
            let edges: Vec<[LockId; 2]> =
                (0..random(14)).map(|_| [LockId(random(8)), LockId(random(8))]).collect();
            let mut reach = [[false; 8]; 8];
            edges.iter().for_each(|[a, b]| reach[a.index()][b.index()] = true);
            for via in 0..8 {
                for a in 0..8 {
                    for b in 0..8 {
                        reach[a][b] |= reach[a][via] && reach[via][b];
                    }
                }
            }
            let found = components(&edges);
            for (a, x) in &found {
                for (b, y) in &found {
                    let both = reach[a.index()][b.index()] && reach[b.index()][a.index()];
                    assert_eq!(x == y, a == b || both, "{edges:?}");
                }
            }
        }
    }
}
