//! The events of interest: what a view shows one by one, while all else is folded.
//!
//! Kept are the finding's own events; the critical sections that are open at them, with their ends; what its reads
//! observe, then and now; creation and end of its threads; the allocation of its objects; and other accesses of its
//! threads to its variables, the nearest ones before and after.

use std::collections::BTreeSet;

use reweave_trace::{EventId, Op, ThreadId, Trace, VarId};
use reweave_witness::Claim;

use super::maker::{Maker, Subject};
use crate::event;
use crate::schedule::End;

/// How many of the innermost open sections of an event are kept.
const SECTIONS: usize = 8;
/// How many accesses to a variable are kept before and after a thread's own event.
const ACCESSES: usize = 3;
/// How far from it they are looked for.
const REACH: usize = 2_000;
/// How many steps the machine takes to have states at creations, too.
const FAR: u32 = 20_000;
/// How many threads have their creation and end kept.
const THREADS: usize = 5;

/// What a view shows of a trace.
pub(super) struct Kept {
    pub(super) events: BTreeSet<EventId>,
    /// The threads of the finding's events, and those that block them, in order of their first event there.
    pub(super) threads: Vec<ThreadId>,
    /// The variables of the finding.
    pub(super) variables: Vec<VarId>,
    /// How many positions may pass before states are of interest.
    pub(super) near: u32,
}

impl Kept {
    pub(super) fn new(maker: &Maker<'_>, subject: &Subject<'_>) -> Kept {
        let trace = maker.trace();
        let mut kept = Kept { events: BTreeSet::new(), threads: Vec::new(), variables: Vec::new(), near: 0 };
        let own: Vec<EventId> =
            subject.events.iter().copied().filter(|&id| event::op(trace, id).is_some()).collect();
        for &id in &own {
            kept.events.insert(id);
            kept.involve(trace.thread(id));
            if let Some(access) = trace.op(id).access()
                && !kept.variables.contains(&access.variable)
            {
                kept.variables.push(access.variable);
            }
            kept.sections(maker, id);
            if trace.op(id).access().is_some_and(|access| access.reads) {
                kept.events.extend(maker.links.observed(id));
                kept.events.extend(observed_now(trace, &subject.checked.witness().tail, id));
            }
        }
        if let (Claim::Deadlock(_), &[acquire]) = (subject.checked.claim(), &own[..]) {
            for thread in End::of(trace, subject.checked).holders(trace, acquire) {
                kept.involve(thread);
            }
        }
        for &id in &own {
            kept.accesses(maker, id);
        }
        let first = |kept: &Kept| kept.events.first().map_or(0, |first| first.0);
        let near = first(&kept);
        kept.lives(maker);
        // Creations are often far away: then states start later.
        let all = first(&kept);
        let near = if near.saturating_sub(all) <= FAR { all } else { near };
        kept.near = near.min(subject.checked.witness().prefix);
        kept
    }

    fn involve(&mut self, thread: ThreadId) {
        if !self.threads.contains(&thread) {
            self.threads.push(thread);
        }
    }

    fn sections(&mut self, maker: &Maker<'_>, id: EventId) {
        let held = maker.scene.held(id);
        for hold in &held[held.len().saturating_sub(SECTIONS)..] {
            self.events.insert(hold.acquire);
            self.events.extend(maker.links.partner(hold.acquire));
        }
    }

    /// Other accesses of the thread of `id` to the finding's variables.
    fn accesses(&mut self, maker: &Maker<'_>, id: EventId) {
        let trace = maker.trace();
        let all = maker.order.of(trace.thread(id));
        let at = all.partition_point(|&other| other < id);
        let touches = |&&other: &&EventId| {
            let access = trace.op(other).access();
            access.is_some_and(|access| self.variables.contains(&access.variable))
        };
        let before = all[at.saturating_sub(REACH)..at].iter().rev().filter(touches).take(ACCESSES);
        let after = all[at..(at + REACH).min(all.len())].iter().skip(1).filter(touches).take(ACCESSES);
        let found: Vec<EventId> = before.chain(after).copied().collect();
        self.events.extend(found);
    }

    /// Creation and end of threads, and of objects.
    fn lives(&mut self, maker: &Maker<'_>) {
        for &thread in self.threads.iter().take(THREADS) {
            self.events.extend(maker.links.fork(thread));
            self.events.extend(maker.joins.get(&thread));
        }
        let objects = maker.trace().objects();
        for &variable in &self.variables {
            self.events.extend(maker.births.get(&variable));
            self.events.extend(objects.around(variable).filter_map(|object| maker.births.get(&object)));
        }
    }
}

/// The last write of what `read` reads in the part of a schedule before it.
fn observed_now(trace: &Trace, tail: &[EventId], read: EventId) -> Option<EventId> {
    let variable = trace.op(read).access()?.variable;
    let at = tail.iter().position(|&id| id == read)?;
    tail[..at].iter().rev().copied().find(|&id| match trace.op(id) {
        Op::Alloc(object) | Op::Free(object) => {
            object == variable || trace.objects().covers(object, variable)
        }
        op => op.access().is_some_and(|access| access.writes && access.variable == variable),
    })
}
