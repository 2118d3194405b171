//! Random dependence tables.

use reweave_trace::{DependenceBuilder, Dependences, EventId, Kind, Space, ThreadId, Trace};

use crate::Rng;

/// A random dependence table for `trace`: each set is of earlier reads, updates or waits of the same thread, and
/// an update feeds itself.
pub fn dependences(trace: &Trace, rng: &mut Rng) -> Dependences {
    let mut table = DependenceBuilder::new();
    let mut reads: Vec<Vec<EventId>> = vec![Vec::new(); trace.count(Space::Thread)];
    let density = [10, 30, 60][rng.below(3)];
    for (id, event) in trace.events() {
        let earlier = &mut reads[event.thread.index()];
        table.needs(id, &some_of(earlier, density, rng));
        let kind = event.op.kind();
        if kind.writes() || kind == Kind::Call {
            let mut feeds = some_of(earlier, density + 20, rng);
            feeds.extend((kind == Kind::Update).then_some(id));
            table.feeds(id, &feeds);
        }
        if kind.reads() || kind == Kind::Wait {
            earlier.push(id);
        }
    }
    for (thread, earlier) in reads.iter().enumerate() {
        table.end_needs(ThreadId::from_index(thread), &some_of(earlier, density, rng));
    }
    table.finish()
}

fn some_of(reads: &[EventId], percent: usize, rng: &mut Rng) -> Vec<EventId> {
    reads.iter().copied().filter(|_| rng.chance(percent)).collect()
}
