//! The events of a cone from some position of the trace on, and what the rules ask about them.

use std::ops::Range;

use hashbrown::{HashMap, HashSet};
use reweave_order::chain::Node;
use reweave_trace::{EventId, LockId, Op, ThreadId, VarId};

use crate::cone::Cone;
use crate::limits::Meter;
use crate::must::Must;
use crate::prepare::{Prepared, Section};
use crate::verdict::Reason;

/// Things of a thread, in order, for each thread that has some.
pub(super) type ByThread<T> = Vec<(u32, Vec<T>)>;

/// A window on a cone.
pub(super) struct Window {
    /// Per thread, the positions that it has.
    spans: Vec<Range<u32>>,
    /// The reads that have to be clean and bind to one write or to the initial value.
    pub(super) reads: Vec<BoundRead>,
    /// The reads that have to be clean and have a choice.
    pub(super) choices: Vec<BoundRead>,
    /// Per variable that such a read reads and per thread, its writes in order.
    pub(super) writes: HashMap<VarId, ByThread<EventId>>,
    /// The sections entered, per lock and thread, in order.
    pub(super) sections: Vec<(LockId, ByThread<Section>)>,
    /// The waits that nothing woke.
    pub(super) quiet_waits: Vec<EventId>,
    /// The waits that were woken.
    pub(super) woken_waits: Vec<EventId>,
    /// The looks at clocks, sorted by clock and then in observed order.
    pub(super) looks: Vec<(VarId, EventId)>,
}

/// A read that has to observe this.
#[derive(Clone, Copy, Debug)]
pub(super) struct BoundRead {
    pub(super) read: EventId,
    pub(super) variable: VarId,
    /// None is the initial value.
    pub(super) write: Option<EventId>,
}

impl Window {
    pub(super) fn new(
        prepared: &Prepared<'_>,
        must: &Must<'_>,
        cone: &Cone,
        prefix: u32,
        meter: &mut Meter<'_>,
    ) -> Result<Window, Reason> {
        let spans: Vec<Range<u32>> = cone
            .cuts
            .iter()
            .enumerate()
            .map(|(thread, &cut)| {
                let events = prepared.order.of(ThreadId::from_index(thread));
                let start = events.partition_point(|event| event.0 < prefix) as u32;
                start.min(cut)..cut
            })
            .collect();
        let events = spans.iter().map(|span| span.len()).sum();
        let mut window = Window {
            spans,
            reads: Vec::new(),
            choices: Vec::new(),
            writes: HashMap::new(),
            sections: Vec::new(),
            quiet_waits: Vec::new(),
            woken_waits: Vec::new(),
            looks: Vec::new(),
        };
        // Each is a pass over the events, and counted as one.
        meter.spend(events)?;
        window.find_reads(prepared, must, cone);
        window.find_waits_and_looks(prepared, must);
        meter.spend(events)?;
        window.find_writes(prepared);
        meter.spend(events)?;
        window.find_sections(prepared);
        Ok(window)
    }

    /// The span of each chain of the must order; the clean chains have none.
    pub(super) fn ranges(&self) -> Vec<Range<u32>> {
        let clean = std::iter::repeat_n(0..0, self.spans.len());
        self.spans.iter().cloned().chain(clean).collect()
    }

    /// The position in its thread of the first event of a chain.
    pub(super) fn start(&self, chain: u32) -> u32 {
        self.spans[chain as usize].start
    }

    /// How many events of a thread the window has.
    pub(super) fn length(&self, thread: u32) -> u32 {
        self.spans[thread as usize].len() as u32
    }

    pub(super) fn threads(&self) -> u32 {
        self.spans.len() as u32
    }

    /// The node of an event, if it is in the window.
    pub(super) fn node(&self, prepared: &Prepared<'_>, event: EventId) -> Option<Node> {
        let (thread, position) = (prepared.trace.thread(event), prepared.position(event));
        let span = &self.spans[thread.index()];
        span.contains(&position).then(|| Node::new(thread.0, position - span.start))
    }

    pub(super) fn event(&self, prepared: &Prepared<'_>, node: Node) -> EventId {
        let start = self.spans[node.chain as usize].start;
        prepared.event_at(ThreadId(node.chain), start + node.position)
    }

    fn events<'a>(&'a self, prepared: &'a Prepared<'_>) -> impl Iterator<Item = EventId> + 'a {
        self.spans.iter().enumerate().flat_map(|(thread, span)| {
            let events = prepared.order.of(ThreadId::from_index(thread));
            events[span.start as usize..span.end as usize].iter().copied()
        })
    }

    /// Finds what has to be clean: up to the last event that a tainted thread may not run and, from a read that has
    /// to be clean, on to the reads that the write it observes may depend on.
    fn find_reads(&mut self, prepared: &Prepared<'_>, must: &Must<'_>, cone: &Cone) {
        let mut found: Vec<EventId> = Vec::new();
        if must.model().by_dependence() {
            self.find_needed_reads(prepared, must, cone, &mut found);
        } else {
            self.find_reads_before(prepared, must, cone, &mut found);
        }
        found.sort_unstable();
        found.dedup();
        for event in found {
            let Some(access) = prepared.trace.op(event).access() else { continue };
            let write = must.binding_write(event);
            if write.is_some() || must.binds_to_initial(event) {
                self.reads.push(BoundRead { read: event, variable: access.variable, write });
            } else if must.values().all(access.variable).is_some() {
                self.choices.push(BoundRead { read: event, variable: access.variable, write: None });
            }
        }
    }

    /// Finds the waits and the looks.
    fn find_waits_and_looks(&mut self, prepared: &Prepared<'_>, must: &Must<'_>) {
        let (mut woken, mut quiet, mut looks) = (Vec::new(), Vec::new(), Vec::new());
        for event in self.events(prepared) {
            match prepared.trace.op(event) {
                Op::Wait(_) => {
                    let is_woken = prepared.links.wait(event).is_some_and(|link| link.waker.is_some());
                    if is_woken { woken.push(event) } else { quiet.push(event) }
                }
                Op::Look(clock) => looks.push((clock, event)),
                _ => {}
            }
        }
        if must.model() == reweave_trace::Model::Sync {
            quiet.clear();
        }
        looks.sort_unstable();
        (self.woken_waits, self.quiet_waits, self.looks) = (woken, quiet, looks);
    }

    fn find_reads_before(
        &self,
        prepared: &Prepared<'_>,
        must: &Must<'_>,
        cone: &Cone,
        found: &mut Vec<EventId>,
    ) {
        let mut clean_up_to: Vec<u32> = self.spans.iter().map(|span| span.start).collect();
        let mut todo: Vec<(usize, u32)> = Vec::new();
        for (thread, span) in self.spans.iter().enumerate() {
            let events = prepared.order.of(ThreadId::from_index(thread));
            let next = cone.next[thread].filter(|&event| must.restricts(prepared.trace.op(event)));
            let last = events[span.start as usize..span.end as usize]
                .iter()
                .rposition(|&event| must.restricts(prepared.trace.op(event)));
            let bound = match next {
                Some(_) => span.end,
                None => last.map_or(span.start, |last| span.start + last as u32),
            };
            todo.push((thread, bound));
        }
        while let Some((thread, bound)) = todo.pop() {
            let events = prepared.order.of(ThreadId::from_index(thread));
            let from = clean_up_to[thread];
            for position in from..bound.min(self.spans[thread].end) {
                let event = events[position as usize];
                let kind = prepared.trace.kind(event);
                if !kind.reads() {
                    continue;
                }
                found.push(event);
                if let Some(write) = must.binding_write(event) {
                    todo.push((prepared.trace.thread(write).index(), prepared.position(write)));
                }
            }
            clean_up_to[thread] = from.max(bound.min(self.spans[thread].end));
        }
        found.extend(self.events(prepared).filter(|&event| must.runs_clean_only(event)));
    }

    /// Finds the reads that events need, those that the ends of joined threads and the arguments of
    /// calls do, and from each of them on, through the write that it observes, those that this one
    /// was computed from: a tainted write makes no clean read.
    fn find_needed_reads(
        &self,
        prepared: &Prepared<'_>,
        must: &Must<'_>,
        cone: &Cone,
        found: &mut Vec<EventId>,
    ) {
        let Some(table) = prepared.dependences else { return };
        let inside = |event: EventId| self.node(prepared, event).is_some();
        // The must order has the writes that needed reads observe; of other reads they may come
        // after the window.
        let runs =
            |event: EventId| prepared.position(event) < self.spans[prepared.trace.thread(event).index()].end;
        let bound_inside = |read: EventId| {
            let write = must.binding_write(read);
            inside(read) && write.map_or_else(|| must.binds_to_initial(read), runs)
        };
        let mut todo: Vec<EventId> = Vec::new();
        for event in self.events(prepared) {
            todo.extend(table.needs(event).iter().copied().filter(|&read| inside(read)));
            match prepared.trace.op(event) {
                Op::Call(_) => {
                    todo.extend(table.feeds(event).iter().copied().filter(|&read| bound_inside(read)))
                }
                Op::Join(child) => {
                    todo.extend(table.end_needs(child).iter().copied().filter(|&read| bound_inside(read)));
                }
                _ if must.runs_clean_only(event) => todo.push(event),
                _ => {}
            }
        }
        for &next in cone.next.iter().flatten() {
            todo.extend(table.needs(next).iter().copied().filter(|&read| bound_inside(read)));
        }
        let mut seen: HashSet<EventId> = HashSet::new();
        while let Some(read) = todo.pop() {
            if !seen.insert(read) {
                continue;
            }
            found.push(read);
            if let Some(write) = must.binding_write(read).filter(|&write| inside(write)) {
                todo.extend(table.feeds(write).iter().copied().filter(|&read| bound_inside(read)));
            }
        }
    }

    fn find_writes(&mut self, prepared: &Prepared<'_>) {
        for read in self.reads.iter().chain(&self.choices) {
            self.writes.entry(read.variable).or_default();
        }
        let all: Vec<EventId> = self.events(prepared).filter(|&e| prepared.trace.kind(e).writes()).collect();
        let mut fields: HashMap<VarId, Vec<VarId>> = HashMap::new();
        let mut variables: Vec<VarId> =
            self.reads.iter().chain(&self.choices).map(|read| read.variable).collect();
        variables.sort_unstable();
        variables.dedup();
        for variable in variables {
            for object in prepared.trace.objects().around(variable) {
                fields.entry(object).or_default().push(variable);
            }
        }
        for event in all {
            let Some(access) = prepared.trace.op(event).access() else { continue };
            let thread = prepared.trace.thread(event).0;
            if access.lifetime {
                for &field in fields.get(&access.variable).into_iter().flatten() {
                    push(self.writes.entry(field).or_default(), thread, event);
                }
            } else if let Some(writes) = self.writes.get_mut(&access.variable) {
                push(writes, thread, event);
            }
        }
    }

    fn find_sections(&mut self, prepared: &Prepared<'_>) {
        let mut places: HashMap<LockId, usize> = HashMap::new();
        let mut found: Vec<(LockId, ByThread<Section>)> = Vec::new();
        for event in self.events(prepared) {
            let (Op::Acquire(lock) | Op::TryAcquire(lock) | Op::SharedAcquire(lock)) =
                prepared.trace.op(event)
            else {
                continue;
            };
            let Some(section) = prepared.section(lock, event) else { continue };
            let place = *places.entry(lock).or_insert_with(|| {
                found.push((lock, Vec::new()));
                found.len() - 1
            });
            push(&mut found[place].1, section.thread.0, section);
        }
        found.retain(|(_, threads)| threads.len() > 1);
        self.sections = found;
    }
}

fn push<T>(lists: &mut ByThread<T>, thread: u32, item: T) {
    match lists.last_mut() {
        Some((last, items)) if *last == thread => items.push(item),
        _ => lists.push((thread, vec![item])),
    }
}
