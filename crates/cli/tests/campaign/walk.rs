//! Random schedules that the machine of a model accepts.

use std::collections::BTreeSet;

use reweave_testkit::Rng;
use reweave_trace::{EventId, Kind, Links, Model, ProgramOrder, Space, ThreadId, Trace};
use reweave_witness::{CheckedWitness, Checker, Claim, Witness};

/// A trace with what the checker needs.
pub(crate) struct Walker<'t> {
    trace: &'t Trace,
    links: Links,
    order: ProgramOrder,
}

/// A schedule, and those of its events whose thread was clean after them.
pub(crate) struct Walk {
    pub(crate) checked: CheckedWitness,
    pub(crate) events: Vec<EventId>,
    pub(crate) clean: BTreeSet<EventId>,
}

impl<'t> Walker<'t> {
    pub(crate) fn new(trace: &'t Trace) -> Walker<'t> {
        Walker { trace, links: Links::new(trace), order: ProgramOrder::new(trace) }
    }

    pub(crate) fn checker(&self) -> Checker<'_> {
        Checker::new(self.trace, &self.links, &self.order)
    }

    /// A schedule: at each step a thread that may go on, until none may or it is enough. None where it has no step that can
    /// be named.
    pub(crate) fn walk(&self, model: Model, rng: &mut Rng) -> Option<Walk> {
        let checker = self.checker();
        let mut machine = checker.machine(model).ok()?;
        let count = self.trace.count(Space::Thread);
        let threads: Vec<&[EventId]> = (0..count).map(|at| self.order.of(ThreadId::from_index(at))).collect();
        let (mut next, mut events, mut clean) = (vec![0; count], Vec::new(), BTreeSet::new());
        let enough = rng.within((self.trace.len() / 3, self.trace.len()));
        let stay = [0, 50, 80, 95][rng.below(4)];
        let mut current = 0;
        while events.len() < enough {
            if !rng.chance(stay) {
                current = rng.below(count);
            }
            let runs = (0..count).map(|at| (current + at) % count).find(|&thread| {
                threads[thread].get(next[thread]).is_some_and(|&event| machine.step(event).is_ok())
            });
            let Some(thread) = runs else { break };
            let event = threads[thread][next[thread]];
            (current, next[thread]) = (thread, next[thread] + 1);
            events.push(event);
            if machine.taint(ThreadId::from_index(thread)).is_none() {
                clean.insert(event);
            }
        }
        let is_step = |&event: &EventId| !matches!(self.trace.kind(event), Kind::Branch | Kind::Unseen);
        let last = events.iter().rposition(is_step)?;
        events.truncate(last + 1);
        let witness = Witness { prefix: 0, tail: events.clone() };
        let claim = Claim::Sequence { events: vec![events[last]], adjacent: Vec::new() };
        let checked = checker.check(model, witness, claim).expect("the machine accepted it");
        Some(Walk { checked, events, clean })
    }
}
