//! Which accesses of a thread are meant to be one step.

use hashbrown::HashMap;
use reweave_decide::{Prepared, Section};
use reweave_trace::{EventId, Kind, LockId, Op, Space, ThreadId};

use super::Touch;
use crate::locksets::{Hold, Locksets};

/// The regions or critical sections of each thread, and the distance.
pub(crate) struct Units {
    distance: u32,
    /// Per event inside regions, the innermost to the outermost region, by their first events; none where the trace
    /// has no regions.
    regions: Option<HashMap<EventId, Vec<EventId>>>,
    /// Per thread and lock, its sections in order.
    sections: HashMap<(ThreadId, LockId), Vec<Section>>,
}

impl Units {
    pub(super) fn new(prepared: &Prepared<'_>, distance: u32) -> Units {
        let mut sections: HashMap<(ThreadId, LockId), Vec<Section>> = HashMap::new();
        for lock in (0..prepared.trace.count(Space::Lock)).map(LockId::from_index) {
            for section in prepared.sections(lock) {
                sections.entry((section.thread, lock)).or_default().push(*section);
            }
        }
        Units { distance, regions: regions(prepared), sections }
    }

    /// Whether two accesses of one thread are meant to be one step; `locked` says whether they are in one critical
    /// section.
    pub(super) fn together(&self, prepared: &Prepared<'_>, a: EventId, b: EventId, locked: bool) -> bool {
        if let Some(regions) = &self.regions {
            let (Some(of_a), Some(of_b)) = (regions.get(&a), regions.get(&b)) else { return false };
            return of_a.iter().any(|region| of_b.contains(region));
        }
        locked || prepared.position(b).abs_diff(prepared.position(a)) <= self.distance
    }

    /// The locks that are held from the one access to the other without being given back.
    pub(super) fn held_between(&self, locksets: &Locksets, i: &Touch, k: &Touch) -> Vec<Hold> {
        let at_both = locksets.holds(i.locks).iter().filter(|hold| locksets.holds(k.locks).contains(hold));
        let kept = at_both.filter(|hold| {
            let sections = self.sections.get(&(i.thread, hold.lock)).map_or(&[][..], Vec::as_slice);
            let before = sections.partition_point(|section| section.acquire < i.event);
            let section = sections[..before].iter().rev().find(|section| {
                section.shared == hold.shared && section.release.is_none_or(|release| i.event < release)
            });
            section.is_some_and(|section| section.release.is_none_or(|release| k.event < release))
        });
        kept.copied().collect()
    }
}

/// For each event inside a region, the regions that it is in, named by their first events.
fn regions(prepared: &Prepared<'_>) -> Option<HashMap<EventId, Vec<EventId>>> {
    let trace = prepared.trace;
    if trace.count(Space::Region) == 0 {
        return None;
    }
    let mut inside: HashMap<EventId, Vec<EventId>> = HashMap::new();
    let mut open: Vec<Vec<EventId>> = vec![Vec::new(); prepared.order.threads()];
    for (id, event) in trace.events() {
        let stack = &mut open[event.thread.index()];
        match event.op {
            Op::Enter(_) => stack.push(id),
            Op::Exit(region) => {
                let matching = |&enter: &EventId| trace.op(enter) == Op::Enter(region);
                if let Some(place) = stack.iter().rposition(matching) {
                    stack.remove(place);
                }
            }
            op if op.access().is_some() && !stack.is_empty() => {
                inside.insert(id, stack.clone());
            }
            _ => {}
        }
    }
    let any = trace.ids().any(|id| matches!(trace.kind(id), Kind::Enter | Kind::Exit));
    any.then_some(inside)
}
