//! The pairs of accesses of two source lines that conflict.

use std::collections::BTreeMap;

use reweave_trace::{EventId, ThreadId, Trace, VarId};

/// More pairs than this are counted, but not listed.
const LISTED: usize = 1_000_000;

/// The pairs of two lines.
pub(super) struct Pairs {
    /// How many there are.
    pub(super) count: u64,
    /// The nearest ones, the nearest first.
    pub(super) nearest: Vec<(EventId, EventId)>,
}

/// What decides whether an access conflicts with another.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
struct Sort {
    variable: VarId,
    thread: ThreadId,
    writes: bool,
    atomic: bool,
    lifetime: bool,
}

type Sorts = BTreeMap<Sort, Vec<EventId>>;

impl Pairs {
    /// Those of an access of `first` and one of `second`, which are both in the order of the trace; up to `most` of them
    /// are listed.
    pub(super) fn new(trace: &Trace, first: &[EventId], second: &[EventId], most: usize) -> Pairs {
        let (ours, theirs) = (sorts(trace, first), sorts(trace, second));
        let same = first == second;
        let mut meeting: Vec<(&[EventId], &[EventId])> = Vec::new();
        let index = by_object(trace, &theirs);
        for (sort, events) in &ours {
            for other in met(trace, *sort, &index) {
                let others = &theirs[&other];
                // The accesses of one line are paired with each other once.
                if (!same || *sort < other) && trace.conflict(events[0], others[0]) {
                    meeting.push((events, others));
                }
            }
        }
        let count = meeting.iter().map(|(a, b)| a.len() as u64 * b.len() as u64).sum();
        let rows: usize = meeting.iter().map(|(a, _)| a.len()).sum();
        let each = most.min((LISTED / rows.max(1)).max(1));
        let rows = meeting.iter().flat_map(|(events, others)| events.iter().map(move |&a| (a, *others)));
        let mut all: Vec<_> =
            rows.flat_map(|(a, others)| around(others, a, each).into_iter().map(move |b| (a, b))).collect();
        all.sort_unstable_by_key(|&(a, b)| (a.0.abs_diff(b.0), a, b));
        all.truncate(most);
        Pairs { count, nearest: all }
    }
}

fn sorts(trace: &Trace, events: &[EventId]) -> Sorts {
    let mut all = Sorts::new();
    for &id in events {
        let Some(access) = trace.op(id).access() else { continue };
        let sort = Sort {
            variable: access.variable,
            thread: trace.thread(id),
            writes: access.writes,
            atomic: access.atomic,
            lifetime: access.lifetime,
        };
        all.entry(sort).or_default().push(id);
    }
    all
}

/// The sorts that touch a variable, or a part of it where it is an object.
fn by_object(trace: &Trace, sorts: &Sorts) -> BTreeMap<VarId, Vec<Sort>> {
    let mut index: BTreeMap<VarId, Vec<Sort>> = BTreeMap::new();
    for &sort in sorts.keys() {
        let objects = trace.objects().around(sort.variable).filter(|&object| object != sort.variable);
        for variable in objects.chain([sort.variable]) {
            index.entry(variable).or_default().push(sort);
        }
    }
    index
}

/// The sorts that may touch what `sort` does: a free or an allocation meets the parts of its object, and an access the
/// object that it is a part of.
fn met(trace: &Trace, sort: Sort, index: &BTreeMap<VarId, Vec<Sort>>) -> Vec<Sort> {
    let objects = trace.objects().around(sort.variable).filter(|&object| object != sort.variable);
    let own = index.get(&sort.variable).into_iter().flatten();
    let outer = objects.filter_map(|object| index.get(&object)).flatten().filter(|other| other.lifetime);
    let mut all: Vec<Sort> = own.chain(outer).copied().collect();
    all.sort_unstable();
    all.dedup();
    all
}

/// The events nearest to `to`, as many as are wanted.
fn around(events: &[EventId], to: EventId, most: usize) -> Vec<EventId> {
    let at = events.partition_point(|&id| id < to);
    let (mut before, mut after) = (events[..at].iter().rev().peekable(), events[at..].iter().peekable());
    let mut all = Vec::new();
    while all.len() < most {
        let next = match (before.peek(), after.peek()) {
            (Some(low), Some(high)) if to.0 - low.0 <= high.0 - to.0 => before.next(),
            (Some(_), None) => before.next(),
            _ => after.next(),
        };
        match next {
            Some(&id) => all.push(id),
            None => break,
        }
    }
    all
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_nearest_events_come_first() {
        let ids = |all: &[u32]| all.iter().copied().map(EventId).collect::<Vec<_>>();
        let events = ids(&[1, 5, 8, 20]);
        assert_eq!(around(&events, EventId(7), 3), ids(&[8, 5, 1]));
        assert_eq!(around(&events, EventId(0), 9), ids(&[1, 5, 8, 20]));
        assert_eq!(around(&events, EventId(30), 1), ids(&[20]));
        assert_eq!(around(&[], EventId(30), 1), ids(&[]));
    }

    /// Every pair, looked at one by one.
    fn naive(trace: &Trace, first: &[EventId], second: &[EventId]) -> Vec<(EventId, EventId)> {
        let all = first.iter().flat_map(|&a| second.iter().map(move |&b| (a, b)));
        let mut all: Vec<_> =
            all.filter(|&(a, b)| (first != second || a < b) && trace.conflict(a, b)).collect();
        all.sort_unstable_by_key(|&(a, b)| (a.0.abs_diff(b.0), a, b));
        all
    }

    #[test]
    fn the_pairs_are_those_that_conflict() {
        let mut text = String::from("t0|alloc(p)|0\nt0|fork(t1)|0\nt0|fork(t2)|0\n");
        let ops = ["r(x)", "w(x)", "r(p.a)", "w(p.a.b)", "aw(x)", "ar(x)", "w(p)", "r(y)"];
        for step in 0_usize..60 {
            let (thread, op) = (step * 7 % 3, ops[step * step % 61 % ops.len()]);
            text += &format!("t{thread}|{op}|{}\n", step % 4);
        }
        text += "t1|free(p)|1\n";
        let folder = tempfile::tempdir().expect("a folder");
        let path = folder.path().join("t.std");
        std::fs::write(&path, text).expect("it is written");
        let options = reweave_format::LoadOptions { format: None, repair: false, jobs: 1, progress: None };
        let trace = reweave_format::load(&path, &options).expect("it is well formed").trace;
        let accesses: Vec<EventId> =
            trace.events().filter(|(_, event)| event.op.access().is_some()).map(|(id, _)| id).collect();
        let parts: Vec<Vec<EventId>> =
            (0..4).map(|part| accesses.iter().copied().filter(|id| id.0 % 4 == part).collect()).collect();
        let mut seen = 0;
        for (first, second) in parts.iter().flat_map(|a| parts.iter().map(move |b| (a, b))) {
            let (expected, pairs) = (naive(&trace, first, second), Pairs::new(&trace, first, second, 1000));
            // A pair of one line is the same whichever of its events is named first.
            let sorted = |pairs: &[(EventId, EventId)]| {
                let mut all: Vec<_> = pairs.iter().map(|&(a, b)| (a.min(b), a.max(b))).collect();
                all.sort_unstable();
                all
            };
            assert_eq!(sorted(&pairs.nearest), sorted(&expected));
            assert_eq!(pairs.count, expected.len() as u64);
            let two = Pairs::new(&trace, first, second, 2);
            assert_eq!((two.count, two.nearest.len()), (pairs.count, expected.len().min(2)));
            seen += expected.len();
        }
        assert!(seen > 100, "{seen}");
    }
}
