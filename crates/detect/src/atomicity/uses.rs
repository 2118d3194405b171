//! Who uses what was read, by the table of dependences.
//!
//! A read is used by the events that need it and by those that it feeds. A write that it feeds carries it on to reads of the same thread
//! that observe that write. What a thread decided because of a read it keeps to, so a need counts whenever it comes; a
//! write counts when it comes late.

use hashbrown::{HashMap, HashSet};
use reweave_trace::{Dependent, EventId, Trace};

/// Per read, who uses it.
#[derive(Debug)]
pub(super) struct Uses {
    /// The reads that some event, or the end of a thread, needs.
    needed: HashSet<EventId>,
    /// Per read, the events that it feeds.
    fed: HashMap<EventId, Vec<EventId>>,
    /// Per write that is fed, the reads of its own thread that observe it.
    carried: HashMap<EventId, Vec<EventId>>,
}

impl Uses {
    /// Those in `trace`; none where it has no table.
    pub(super) fn new(trace: &Trace) -> Option<Uses> {
        let table = trace.dependences()?;
        let mut uses = Uses { needed: HashSet::new(), fed: HashMap::new(), carried: HashMap::new() };
        for (who, reads) in table.entries() {
            match who {
                Dependent::Needs(_) | Dependent::End(_) => uses.needed.extend(reads.iter().copied()),
                Dependent::Feeds(event) => {
                    for &read in reads {
                        uses.fed.entry(read).or_default().push(event);
                    }
                }
            }
        }
        let links = reweave_spec::links(trace);
        let writes: HashSet<EventId> = uses.fed.values().flatten().copied().collect();
        for (read, event) in trace.events().filter(|(_, event)| event.op.kind().reads()) {
            let observed = links.observed(read).filter(|write| writes.contains(write));
            if let Some(write) = observed.filter(|&write| trace.thread(write) == event.thread) {
                uses.carried.entry(write).or_default().push(read);
            }
        }
        Some(uses)
    }

    /// Whether anything after `end` uses what `read` read, or the thread decided something by it.
    pub(super) fn later(&self, read: EventId, end: EventId) -> bool {
        let (mut open, mut seen) = (vec![read], HashSet::new());
        seen.insert(read);
        while let Some(read) = open.pop() {
            if self.needed.contains(&read) {
                return true;
            }
            for write in self.fed.get(&read).into_iter().flatten() {
                if *write > end {
                    return true;
                }
                let carried = self.carried.get(write).into_iter().flatten();
                open.extend(carried.filter(|&&read| seen.insert(read)));
            }
        }
        false
    }
}
