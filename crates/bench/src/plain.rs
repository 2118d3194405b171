//! The closure of one pair of events as one would first write it down: the whole cone, its order as clocks that are
//! computed anew in each round, and every rule for every two accesses and every two critical sections.

use std::collections::HashMap;

use reweave_decide::{Prepared, Section};
use reweave_trace::{EventId, LockId, Op, Space, ThreadId, VarId};

/// Whether what observations and locks force, in model rf, keeps two events from being next at once.
pub(crate) fn refuted(prepared: &Prepared<'_>, a: EventId, b: EventId) -> bool {
    let mut cone = Cone { prepared, cuts: vec![0; prepared.order.threads()], next: [a, b] };
    cone.run(vec![(a, 0), (b, 0)]);
    // Edges between events that have to run stay when it turns out that more have to.
    let mut edges = Vec::new();
    while !cone.contains(a) && !cone.contains(b) {
        let observed = cone.observed_edges();
        let all: Vec<_> = observed.into_iter().chain(edges.iter().copied()).collect();
        let Some(clocks) = cone.clocks(&all) else { return true };
        let Some(Forced { edges: more, releases }) = cone.forced(&clocks) else { return true };
        if more.is_empty() && releases.is_empty() {
            return false;
        }
        edges.extend(more);
        cone.run(releases.into_iter().map(|release| (release, 1)).collect());
    }
    true
}

/// What has to run at least.
struct Cone<'p> {
    prepared: &'p Prepared<'p>,
    /// Per thread, how many events.
    cuts: Vec<u32>,
    /// The events that are to be next: their threads run no further.
    next: [EventId; 2],
}

/// What a round of the rules asks for.
#[derive(Default)]
struct Forced {
    edges: Vec<(EventId, EventId)>,
    /// Releases that have to run.
    releases: Vec<EventId>,
}

/// For each event of the cone, how many events of each thread come before it or are it.
struct Clocks {
    places: HashMap<EventId, usize>,
    threads: usize,
    clocks: Vec<u32>,
}

impl<'p> Cone<'p> {
    /// Runs threads up to some events, or with them, and all that this needs.
    fn run(&mut self, mut todo: Vec<(EventId, u32)>) {
        while let Some((event, more)) = todo.pop() {
            let thread = self.prepared.trace.thread(event);
            let (from, to) = (self.cuts[thread.index()], self.prepared.position(event) + more);
            for position in from..to {
                let event = self.prepared.event_at(thread, position);
                todo.extend(self.needs(event).map(|needed| (needed, 1)));
            }
            self.cuts[thread.index()] = from.max(to);
        }
    }

    /// Whether a thread stops where the cone ends.
    fn is_cut(&self, thread: ThreadId) -> bool {
        self.next.iter().any(|&next| self.prepared.trace.thread(next) == thread)
    }

    fn contains(&self, event: EventId) -> bool {
        self.prepared.position(event) < self.cuts[self.prepared.trace.thread(event).index()]
    }

    /// The events of other threads that an event needs.
    fn needs(&self, event: EventId) -> impl Iterator<Item = EventId> + use<> {
        let (trace, links) = (self.prepared.trace, &self.prepared.links);
        let first = self.prepared.position(event) == 0;
        let fork = links.fork(trace.thread(event)).filter(|_| first);
        let other = match trace.op(event) {
            Op::Join(child) => self.prepared.last(child),
            Op::Wait(_) => links.wait(event).and_then(|link| link.waker),
            op if op.access().is_some_and(|access| access.reads) => links.observed(event),
            _ => None,
        };
        fork.into_iter().chain(other)
    }

    fn events(&self) -> impl Iterator<Item = EventId> {
        self.cuts.iter().enumerate().flat_map(|(thread, &cut)| {
            self.prepared.order.of(ThreadId::from_index(thread))[..cut as usize].iter().copied()
        })
    }

    fn observed_edges(&self) -> Vec<(EventId, EventId)> {
        let needs = |event: EventId| self.needs(event).map(move |needed| (needed, event));
        self.events().flat_map(needs).collect()
    }

    /// The order that program order and `edges` make; none where they go in a circle.
    fn clocks(&self, edges: &[(EventId, EventId)]) -> Option<Clocks> {
        let threads = self.cuts.len();
        let places: HashMap<EventId, usize> =
            self.events().enumerate().map(|(n, event)| (event, n)).collect();
        let mut clocks = vec![0; places.len() * threads];
        let mut after: HashMap<EventId, Vec<EventId>> = HashMap::new();
        let mut before = vec![0_u32; places.len()];
        let program = self.events().filter_map(|event| Some((self.prepared.previous(event)?, event)));
        for (from, to) in edges.iter().copied().chain(program) {
            after.entry(from).or_default().push(to);
            before[places[&to]] += 1;
        }
        let mut ready: Vec<EventId> = self.events().filter(|event| before[places[event]] == 0).collect();
        let mut done = 0;
        while let Some(event) = ready.pop() {
            done += 1;
            let place = places[&event];
            let thread = self.prepared.trace.thread(event).index();
            clocks[place * threads + thread] = self.prepared.position(event) + 1;
            for next in after.get(&event).into_iter().flatten() {
                let next_place = places[next];
                for thread in 0..threads {
                    let known = clocks[place * threads + thread];
                    let entry = &mut clocks[next_place * threads + thread];
                    *entry = known.max(*entry);
                }
                before[next_place] -= 1;
                if before[next_place] == 0 {
                    ready.push(*next);
                }
            }
        }
        (done == places.len()).then_some(Clocks { places, threads, clocks })
    }

    fn before(&self, clocks: &Clocks, a: EventId, b: EventId) -> bool {
        let thread = self.prepared.trace.thread(a).index();
        clocks.clocks[clocks.places[&b] * clocks.threads + thread] > self.prepared.position(a) && a != b
    }

    /// What the rules ask for and is not there; none where they ask for the impossible.
    fn forced(&self, clocks: &Clocks) -> Option<Forced> {
        let mut found = Forced::default();
        self.observations(clocks, &mut found.edges)?;
        for lock in (0..self.prepared.trace.count(Space::Lock)).map(LockId::from_index) {
            let sections = self.prepared.sections(lock).filter(|section| self.contains(section.acquire));
            let sections: Vec<Section> = sections.collect();
            for one in &sections {
                for other in sections.iter().filter(|other| one.excludes(other)) {
                    self.exclusion(clocks, one, other, &mut found)?;
                }
            }
        }
        found.edges.retain(|&(from, to)| !self.before(clocks, from, to));
        Some(found)
    }

    fn observations(&self, clocks: &Clocks, found: &mut Vec<(EventId, EventId)>) -> Option<()> {
        let mut writes: HashMap<VarId, Vec<EventId>> = HashMap::new();
        let access = |event: EventId| self.prepared.trace.op(event).access();
        for event in self.events() {
            if let Some(access) = access(event).filter(|access| access.writes) {
                writes.entry(access.variable).or_default().push(event);
            }
        }
        for read in self.events() {
            let Some(access) = access(read).filter(|access| access.reads) else { continue };
            let observed = self.prepared.links.observed(read);
            for &write in writes.get(&access.variable).into_iter().flatten() {
                if Some(write) == observed || write == read {
                    continue;
                }
                match observed {
                    Some(observed) if self.before(clocks, write, read) => found.push((write, observed)),
                    None if self.before(clocks, write, read) => return None,
                    Some(observed) if self.before(clocks, observed, write) => found.push((read, write)),
                    None => found.push((read, write)),
                    Some(_) => {}
                }
            }
        }
        Some(())
    }

    /// Where one section is entered before another is left, it is left before the other is entered.
    fn exclusion(&self, clocks: &Clocks, one: &Section, other: &Section, found: &mut Forced) -> Option<()> {
        let left = |section: &Section| section.release.filter(|&release| self.contains(release));
        let comes_first = match left(other) {
            Some(release) => self.before(clocks, one.acquire, release),
            // It stays open.
            None if self.is_cut(other.thread) => true,
            None => self.before(clocks, one.acquire, other.acquire),
        };
        match (left(one), one.release) {
            _ if !comes_first => {}
            (Some(release), _) => found.edges.push((release, other.acquire)),
            (None, Some(release)) if !self.is_cut(one.thread) => found.releases.push(release),
            (None, _) => return None,
        }
        Some(())
    }
}
