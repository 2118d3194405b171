//! The closure: what the observations and locks of a cone force, to a fixed point.
//!
//! After SeqCheck ("Sound and Efficient Concurrency Bug Prediction", ESEC/FSE 2021, algorithms 1 to 4) and rules 1
//! and 2 of the polygraph paper. Over the events of the [`Cone`] in a window, starting from the must order:
//!
//! - *Observation.* Where a read r has to observe w: another write to the variable that is before r must be before
//!   w; one that is after w must be after r.
//! - *Choice.* Where a read may observe several writes, those that the order leaves: none is a refutation, one binds.
//! - *Locks.* Where one section is entered before another that excludes it is left, the first must be left before
//!   the second is entered. If its release is not in the cone, the cone grows.
//! - *Waits.* A wait that was woken started before its waker; one that nothing woke must not see a notification.
//! - *Looks.* Looks at one clock keep their observed order.
//! - *Adjacency.* What is before the second of two adjacent events is before the first, and the other way round.
//!
//! A cycle refutes the query, whatever the window: it uses only events that have to run, and only constraints that
//! hold among them. No cycle proves nothing: choices remain, such as which of two unordered sections comes first.
//!
//! Deviations: taint is as in `docs/semantics.md`, so a read has to be clean also where a write that another read
//! has to observe may depend on it; and how far threads run is a lower bound here, where SeqCheck takes it as given.
//!
//! Limits: each question to the order and each pass over the window is counted on the [`Meter`], which ends the closure
//! when there is no more to spend. What was inserted until then is forced, but nobody asks for it.
//!
//! Invariant: every edge inserted is forced. Cost: per round one chain query for each read and thread, and for each
//! section and thread; the number of rounds is bounded by the edges that can be inserted, and is small in practice.

mod choices;
mod rules;
mod story;
mod window;

use reweave_order::chain::{ChainOrder, DenseChains, Inserted, Node, SparseChains};
use reweave_trace::{EventId, ThreadId};
use reweave_witness::Claim;

use crate::asked;
use crate::cone::Cone;
use crate::limits::Meter;
use crate::must::Must;
use crate::prepare::{Prepared, Section};
use crate::verdict::{Reason, Step, Why};
use window::{BoundRead, Window};

/// What the closure of a cone in a window came to.
pub(crate) enum Closed {
    /// The query is infeasible.
    Refuted(Vec<Step>),
    /// This order is forced.
    Order(Box<Order>),
}

/// The order that is forced among the events of a cone in a window.
pub(crate) struct Order {
    pub(crate) chains: Box<dyn ChainOrder>,
    window: Window,
    /// How many positions of the trace come before the window.
    pub(crate) prefix: u32,
    /// Per thread, how many events run at least.
    pub(crate) cuts: Vec<u32>,
    cut: Vec<bool>,
}

impl Order {
    /// The node of an event, if it is in the window.
    pub(crate) fn node(&self, prepared: &Prepared<'_>, event: EventId) -> Option<Node> {
        self.window.node(prepared, event)
    }

    /// The position in its thread of the first event of a chain.
    pub(crate) fn start(&self, chain: u32) -> u32 {
        self.window.start(chain)
    }

    /// Whether the thread must stop where its cone ends.
    pub(crate) fn is_cut(&self, thread: ThreadId) -> bool {
        self.cut[thread.index()]
    }

    /// The sections of each lock that several threads enter in the window, in observed order.
    pub(crate) fn sections_by_lock(&self) -> Vec<Vec<Section>> {
        let all = self.window.sections.iter();
        all.map(|(_, threads)| {
            let mut sections: Vec<Section> =
                threads.iter().flat_map(|(_, sections)| sections).copied().collect();
            sections.sort_unstable_by_key(|section| section.acquire);
            sections
        })
        .collect()
    }
}

/// Beyond this many table cells, the sparse structure is used.
const DENSE_CELLS: usize = 1 << 20;

/// Closes the cone over its events from position `prefix` of the trace on. The cone may grow. An error is the limit
/// that was reached.
pub(crate) fn close(
    must: &Must<'_>,
    prepared: &Prepared<'_>,
    cone: &mut Cone,
    claim: &Claim,
    prefix: u32,
    meter: &mut Meter<'_>,
) -> Result<Closed, Reason> {
    loop {
        let window = Window::new(prepared, must, cone, prefix, meter)?;
        let ranges = window.ranges();
        let events: usize = ranges.iter().map(|range| range.len()).sum();
        meter.spend(events)?;
        let mut chains: Box<dyn ChainOrder> = if events * ranges.len() <= DENSE_CELLS {
            Box::new(DenseChains::from_must(must.order(), &ranges))
        } else {
            Box::new(SparseChains::from_must(must.order(), &ranges))
        };
        let order = &mut *chains;
        let mut closure = Closure {
            must,
            prepared,
            window: &window,
            claim,
            order,
            edges: Vec::new(),
            bound: Vec::new(),
            settled: vec![false; window.choices.len()],
            cone_grew: false,
            meter: &mut *meter,
        };
        match closure.saturate(cone) {
            Ok(()) => {
                let cut = cone.next.iter().map(Option::is_some).collect();
                let order = Order { chains, window, prefix, cuts: cone.cuts.clone(), cut };
                return Ok(Closed::Order(Box::new(order)));
            }
            Err(Stop::Refuted(steps)) => return Ok(Closed::Refuted(steps)),
            Err(Stop::Limit(reason)) => return Err(reason),
            Err(Stop::ConeGrew) => {}
        }
    }
}

/// Why a saturation ends before its fixed point.
enum Stop {
    Refuted(Vec<Step>),
    ConeGrew,
    Limit(Reason),
}

impl From<Reason> for Stop {
    fn from(reason: Reason) -> Stop {
        Stop::Limit(reason)
    }
}

struct Closure<'a, 'l> {
    must: &'a Must<'a>,
    prepared: &'a Prepared<'a>,
    window: &'a Window,
    claim: &'a Claim,
    order: &'a mut dyn ChainOrder,
    /// The edges inserted, with their reasons.
    edges: Vec<Step>,
    /// The reads with a choice of which one write was left.
    bound: Vec<BoundRead>,
    /// Per read with a choice, whether it is bound.
    settled: Vec<bool>,
    /// Whether the cone has more events now than the window is made for.
    cone_grew: bool,
    meter: &'a mut Meter<'l>,
}

impl Closure<'_, '_> {
    fn saturate(&mut self, cone: &mut Cone) -> Result<(), Stop> {
        self.ask()?;
        self.looks()?;
        self.held_sections(cone)?;
        loop {
            let before = (self.edges.len(), self.bound.len());
            self.observations()?;
            self.choices(cone)?;
            self.locks(cone)?;
            if self.cone_grew {
                return Err(Stop::ConeGrew);
            }
            self.waits()?;
            self.adjacency()?;
            if (self.edges.len(), self.bound.len()) == before {
                return Ok(());
            }
        }
    }

    /// Inserts what the query asks for, and the starts of woken waits.
    fn ask(&mut self) -> Result<(), Stop> {
        for (a, b) in asked::pairs(self.prepared, self.claim) {
            self.insert(a, b, Why::Asked)?;
        }
        Ok(())
    }

    /// Inserts an edge between two events; one that is not in the window says nothing.
    fn insert(&mut self, from: EventId, to: EventId, why: Why) -> Result<(), Stop> {
        self.meter.spend(1)?;
        let (Some(a), Some(b)) = (self.window.node(self.prepared, from), self.window.node(self.prepared, to))
        else {
            return Ok(());
        };
        if a.chain == b.chain {
            return if from < to { Ok(()) } else { Err(self.refute(from, to, why)) };
        }
        match self.order.insert(a, b, &mut Vec::new()) {
            Inserted::Implied => {}
            Inserted::New => {
                self.edges.push(Step { from, to, why });
                // What follows from it was inserted with it.
                self.meter.spend(self.window.threads() as usize)?;
            }
            Inserted::Cycle => return Err(self.refute(from, to, why)),
        }
        Ok(())
    }

    /// The position in the trace's thread of a node of the window.
    fn event(&self, node: Node) -> EventId {
        self.window.event(self.prepared, node)
    }
}
