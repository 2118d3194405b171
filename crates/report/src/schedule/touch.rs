//! What several threads of a schedule touch.

use std::collections::{BTreeMap, BTreeSet};

use reweave_trace::{EventId, Op, Space, ThreadId, Trace};

/// The things where threads of a schedule meet.
pub(super) struct Meetings {
    threads: BTreeSet<ThreadId>,
    /// The objects that are born or die in the schedule: whoever uses a field then uses the object.
    mortal: BTreeSet<u32>,
    uses: BTreeMap<(Space, u32), Use>,
}

struct Use {
    first: ThreadId,
    several: bool,
    /// Reads alone do not make a meeting.
    changes: bool,
}

impl Meetings {
    pub(super) fn new<'e>(trace: &Trace, events: impl Iterator<Item = &'e EventId> + Clone) -> Meetings {
        let mut meetings =
            Meetings { threads: BTreeSet::new(), mortal: BTreeSet::new(), uses: BTreeMap::new() };
        for &event in events.clone() {
            meetings.threads.insert(trace.thread(event));
            if let Op::Alloc(object) | Op::Free(object) = trace.op(event) {
                meetings.mortal.insert(object.0);
            }
        }
        for &event in events {
            let (thread, op) = (trace.thread(event), trace.op(event));
            let changes = op.access().is_none_or(|access| access.writes);
            for thing in meetings.things(trace, op) {
                let used =
                    meetings.uses.entry(thing).or_insert(Use { first: thread, several: false, changes });
                used.several |= used.first != thread;
                used.changes |= changes;
            }
        }
        meetings
    }

    /// Whether the event touches something that another thread of the schedule touches, too.
    pub(super) fn matters(&self, trace: &Trace, event: EventId) -> bool {
        match trace.op(event) {
            Op::Fork(child) | Op::Join(child) => self.threads.contains(&child),
            // Which object a call is on is for others to know.
            Op::Call(_) => true,
            op => self
                .things(trace, op)
                .iter()
                .any(|thing| self.uses.get(thing).is_some_and(|used| used.several && used.changes)),
        }
    }

    fn things(&self, trace: &Trace, op: Op) -> Vec<(Space, u32)> {
        let Some(space) = op.kind().space() else { return Vec::new() };
        let mut things = vec![(space, op.target())];
        if let Some(access) = op.access() {
            let around = trace.objects().around(access.variable).map(|object| object.0);
            let mortal =
                around.filter(|&object| self.mortal.contains(&object) && object != access.variable.0);
            things.extend(mortal.map(|object| (Space::Variable, object)));
        }
        things
    }
}
