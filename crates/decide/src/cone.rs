//! The cone of a query: what has to run, whatever the schedule.
//!
//! A thread with an event that is to be next is cut exactly there; every other thread runs at least as far as the
//! must order says that the query's events need. Critical sections add to it: where a thread is cut inside one, a
//! section on the same lock that another thread of the cone enters must be closed before.
//!
//! The cone is a lower bound: threads may have to run further, and which of them close their sections can be a
//! choice. That is for the later stages.

use reweave_trace::{EventId, ThreadId};
use reweave_witness::Claim;

use crate::asked;
use crate::must::Must;
use crate::prepare::{Prepared, Section};
use crate::verdict::{Step, Why};

/// How far each thread runs at least.
#[derive(Clone, Debug)]
pub(crate) struct Cone {
    /// Per thread, how many events.
    pub(crate) cuts: Vec<u32>,
    /// Per thread, the event that is to be next.
    pub(crate) next: Vec<Option<EventId>>,
    /// The events that made a thread run as far as it does, for explanations.
    roots: Vec<Root>,
}

/// An event that a thread has to run up to.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Root {
    event: EventId,
    /// Whether the event runs, or is only next.
    runs: bool,
    why: RootWhy,
}

#[derive(Clone, Copy, Debug)]
enum RootWhy {
    Asked,
    /// It closes a section that another thread, cut inside its own, keeps out.
    Closes(Section),
    /// It is the only write that this read can observe.
    Observed(EventId),
}

impl Cone {
    /// The cone of `claim`, or why it has none.
    pub(crate) fn new(
        prepared: &Prepared<'_>,
        must: &Must<'_>,
        claim: &Claim,
    ) -> Result<Cone, Contradiction> {
        let threads = prepared.order.threads();
        let mut cone = Cone { cuts: vec![0; threads], next: vec![None; threads], roots: Vec::new() };
        let (next, run) = asked::next_and_run(claim);
        for &event in &next {
            cone.next[prepared.trace.thread(event).index()] = Some(event);
        }
        for event in next {
            cone.add(prepared, must, Root { event, runs: false, why: RootWhy::Asked })?;
        }
        for event in run {
            cone.add(prepared, must, Root { event, runs: true, why: RootWhy::Asked })?;
        }
        cone.close_sections(prepared, must)?;
        Ok(cone)
    }

    /// Whether the event runs in every schedule that the query asks for.
    pub(crate) fn contains(&self, prepared: &Prepared<'_>, event: EventId) -> bool {
        prepared.position(event) < self.cuts[prepared.trace.thread(event).index()]
    }

    /// `event` has to run, because it closes a section that excludes `section`.
    pub(crate) fn add_release(
        &mut self,
        prepared: &Prepared<'_>,
        must: &Must<'_>,
        event: EventId,
        section: Section,
    ) -> Result<(), Contradiction> {
        self.add(prepared, must, Root { event, runs: true, why: RootWhy::Closes(section) })
    }

    /// `write` has to run, because `read` can observe nothing else.
    pub(crate) fn add_write(
        &mut self,
        prepared: &Prepared<'_>,
        must: &Must<'_>,
        write: EventId,
        read: EventId,
    ) -> Result<(), Contradiction> {
        self.add(prepared, must, Root { event: write, runs: true, why: RootWhy::Observed(read) })
    }

    fn add(&mut self, prepared: &Prepared<'_>, must: &Must<'_>, root: Root) -> Result<(), Contradiction> {
        self.roots.push(root);
        for thread in (0..self.cuts.len()).map(ThreadId::from_index) {
            let own = prepared.trace.thread(root.event) == thread;
            let needed = must.needed(root.event, thread) + u32::from(own && root.runs);
            if needed <= self.cuts[thread.index()] {
                continue;
            }
            if let Some(next) = self.next[thread.index()]
                && needed > prepared.position(next)
            {
                return Err(Contradiction::Needs { root, next });
            }
            self.cuts[thread.index()] = needed;
        }
        Ok(())
    }

    /// Closes what must be closed because another thread is cut inside a section on the same lock.
    fn close_sections(&mut self, prepared: &Prepared<'_>, must: &Must<'_>) -> Result<(), Contradiction> {
        let mut held: Vec<Section> = Vec::new();
        for &next in self.next.iter().flatten() {
            let thread = prepared.trace.thread(next);
            held.extend(prepared.open_at(next).into_iter().filter(|section| section.thread == thread));
        }
        loop {
            let before = self.roots.len();
            for section in &held {
                for thread in (0..self.cuts.len()).map(ThreadId::from_index) {
                    let open = prepared.open_sections(section.lock, thread, self.cuts[thread.index()]);
                    let open: Vec<Section> = open.filter(|other| section.excludes(other)).collect();
                    for other in open {
                        let Some(release) = other.release else {
                            return Err(Contradiction::BothOpen(*section, other));
                        };
                        self.add_release(prepared, must, release, *section)?;
                    }
                }
            }
            if self.roots.len() == before {
                return Ok(());
            }
        }
    }
}

/// Why a query has no cone.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Contradiction {
    /// The root needs `next` or something after it to run, but `next` is to be next.
    Needs {
        /// What needs it.
        root: Root,
        /// The event that is to be next.
        next: EventId,
    },
    /// Two sections that exclude each other would both stay open.
    BothOpen(Section, Section),
}

impl Contradiction {
    /// The cycle.
    pub(crate) fn steps(&self, must: &Must<'_>) -> Vec<Step> {
        let (root, next) = match self {
            Contradiction::Needs { root, next } => (root, *next),
            Contradiction::BothOpen(a, b) => {
                let why = Why::Mutex(a.lock);
                let one = |from: &Section, to: &Section| Step { from: from.acquire, to: to.acquire, why };
                return vec![one(a, b), one(b, a)];
            }
        };
        let mut steps = if root.event == next { Vec::new() } else { must.path(next, root.event) };
        match root.why {
            RootWhy::Asked => steps.push(Step { from: root.event, to: next, why: Why::Asked }),
            RootWhy::Closes(section) => {
                steps.push(Step { from: root.event, to: section.acquire, why: Why::Mutex(section.lock) });
                steps.push(Step { from: section.acquire, to: next, why: Why::Asked });
            }
            RootWhy::Observed(read) => {
                steps.push(Step { from: root.event, to: read, why: Why::OnlyOneLeft });
                steps.push(Step { from: read, to: next, why: Why::Asked });
            }
        }
        steps
    }
}
