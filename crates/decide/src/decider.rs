//! The stages in order, cheapest first.

use reweave_trace::{EventId, Kind, Model};
use reweave_witness::{CheckedWitness, Checker, Checkpoints, Claim, Rejection, Witness};

use crate::Limits;
use crate::closure::{Closed, Order, close};
use crate::cone::Cone;
use crate::exact::{Exact, Found};
use crate::guess::{causally_precede, observed_order};
use crate::limits::windows;
use crate::must::Must;
use crate::prepare::Prepared;
use crate::verdict::{Impossible, Reason, Refutation, Unsound, Verdict};

/// Why a query cannot be decided at all.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum Error {
    /// The trace has no event at this position.
    #[error("the trace has no event {}", .0.0)]
    NoEvent(EventId),
    /// The query names no event, or an adjacent place that it does not have.
    #[error("the query is empty, or names an adjacent place that it does not have")]
    Meaningless,
    /// The model is not sound on the trace.
    #[error(transparent)]
    Model(Rejection),
    /// A bug of ours.
    #[error(transparent)]
    Unsound(Box<Unsound>),
}

/// Which stages may be used.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Stages {
    /// Must order, closure and guess: quick, and often inconclusive.
    Fast,
    /// The exact stage alone, to test it.
    Exact,
    /// All of them, cheapest first.
    All,
}

/// Decides queries on one trace in one model.
pub struct Decider<'p> {
    prepared: &'p Prepared<'p>,
    model: Model,
    checker: Checker<'p>,
    checkpoints: Checkpoints<'p>,
    must: Must<'p>,
    exact: Exact<'p>,
}

/// How many places of the observed run are kept for the checker, and how far apart they are at least.
const CHECKPOINTS: u32 = 64;
const CHECKPOINT_STRIDE: u32 = 1024;

/// Windows beyond this many events are left to the exact stage.
const CLOSURE_LIMIT: u32 = 1 << 14;

impl<'p> Decider<'p> {
    /// A decider for `model`, if that is sound on the trace.
    pub fn new(prepared: &'p Prepared<'p>, model: Model) -> Result<Decider<'p>, Error> {
        let mut checker = Checker::new(prepared.trace, &prepared.links, &prepared.order);
        if let Some(dependences) = prepared.dependences {
            checker = checker.with_dependences(dependences);
        }
        let stride = (prepared.trace.len() as u32 / CHECKPOINTS).max(CHECKPOINT_STRIDE);
        let checkpoints = checker.checkpoints(model, stride).map_err(Error::Model)?;
        let must = Must::new(prepared, model);
        Ok(Decider { prepared, model, checker, checkpoints, must, exact: Exact::new(prepared, model) })
    }

    /// The must order, which refutes most candidates in constant time.
    pub fn must(&self) -> &Must<'p> {
        &self.must
    }

    /// Decides whether some schedule shows `claim`, with all stages.
    pub fn decide(&mut self, claim: &Claim, limits: &Limits) -> Result<Verdict, Error> {
        self.decide_with(claim, limits, Stages::All)
    }

    /// Decides whether some schedule shows `claim`, with some of the stages.
    pub fn decide_with(&mut self, claim: &Claim, limits: &Limits, stages: Stages) -> Result<Verdict, Error> {
        self.well_posed(claim)?;
        if let Some(impossible) = self.contradiction(claim) {
            return Ok(Verdict::Infeasible(Refutation::Static(impossible)));
        }
        if stages != Stages::Exact
            && let Some(verdict) = self.close_and_guess(claim)
        {
            return Ok(verdict);
        }
        if stages == Stages::Fast {
            return Ok(Verdict::Unknown(Reason::Inconclusive));
        }
        match self.exact.search(claim, limits) {
            Found::Schedule(witness) => match self.check(&witness, claim) {
                Ok(checked) => Ok(Verdict::Feasible(checked)),
                Err(rejection) => Err(Error::Unsound(Box::new(Unsound {
                    claim: claim.clone(),
                    model: self.model,
                    witness,
                    rejection,
                }))),
            },
            Found::Clash(demands) => Ok(Verdict::Infeasible(Refutation::Clash(demands))),
            Found::Nothing(reason) => Ok(Verdict::Unknown(reason)),
        }
    }

    fn check(&self, witness: &Witness, claim: &Claim) -> Result<CheckedWitness, Rejection> {
        self.checker.check_from(&self.checkpoints, witness.clone(), claim.clone())
    }

    /// The cheap stages, in windows that grow backwards from the query.
    fn close_and_guess(&self, claim: &Claim) -> Option<Verdict> {
        let refuted = |steps| Some(Verdict::Infeasible(Refutation::Cycle(steps)));
        let mut cone = match Cone::new(self.prepared, &self.must, claim) {
            Ok(cone) => cone,
            Err(steps) => return refuted(steps),
        };
        let events = events_of(claim);
        let earliest = events.iter().copied().min()?;
        for size in windows() {
            let prefix = self.prepared.prefix(self.model, earliest, size);
            let mut order = match close(&self.must, self.prepared, &mut cone, claim, prefix) {
                Closed::Refuted(steps) => return refuted(steps),
                Closed::Order(order) => order,
            };
            if let Some(verdict) = self.guess(&order, claim) {
                return Some(verdict);
            }
            if causally_precede(self.prepared, &mut order)
                && let Some(verdict) = self.guess(&order, claim)
            {
                return Some(verdict);
            }
            if prefix == 0 || size > CLOSURE_LIMIT {
                break;
            }
        }
        None
    }

    fn guess(&self, order: &Order, claim: &Claim) -> Option<Verdict> {
        let tail = observed_order(self.prepared, &self.must, order)?;
        let witness = Witness { prefix: order.prefix, tail };
        self.check(&witness, claim).ok().map(Verdict::Feasible)
    }

    fn well_posed(&self, claim: &Claim) -> Result<(), Error> {
        let places = match claim {
            Claim::CoEnabled(_) | Claim::Deadlock(_) => 0,
            Claim::Sequence { events, .. } => events.len().saturating_sub(1),
            Claim::Before { pairs, .. } => pairs.len(),
        };
        let adjacent = match claim {
            Claim::CoEnabled(_) | Claim::Deadlock(_) => &[][..],
            Claim::Sequence { adjacent, .. } | Claim::Before { adjacent, .. } => adjacent,
        };
        let events = events_of(claim);
        if events.is_empty() || adjacent.iter().any(|&place| place >= places) {
            return Err(Error::Meaningless);
        }
        let trace = self.prepared.trace;
        let missing = |event: &&EventId| event.index() >= trace.len() || trace.kind(**event) == Kind::Skip;
        events.iter().find(missing).map_or(Ok(()), |&event| Err(Error::NoEvent(event)))
    }

    /// A reason why no schedule shows `claim` that needs no search.
    fn contradiction(&self, claim: &Claim) -> Option<Impossible> {
        let trace = self.prepared.trace;
        match claim {
            Claim::CoEnabled(events) => self.same_thread(events),
            Claim::Deadlock(acquires) => {
                let blocks =
                    |&event: &EventId| matches!(trace.kind(event), Kind::Acquire | Kind::SharedAcquire);
                if let Some(&event) = acquires.iter().find(|&event| !blocks(event)) {
                    return Some(Impossible::NotAnAcquire(event));
                }
                self.same_thread(acquires)
                    .or_else(|| (!self.block_each_other(acquires)).then_some(Impossible::NoCycle))
            }
            Claim::Sequence { events, .. } => {
                self.backwards(events.windows(2).map(|pair| (pair[0], pair[1])))
            }
            Claim::Before { pairs, .. } => self.backwards(pairs.iter().copied()),
        }
    }

    fn same_thread(&self, events: &[EventId]) -> Option<Impossible> {
        let trace = self.prepared.trace;
        for (i, &a) in events.iter().enumerate() {
            if let Some(&b) = events[..i].iter().find(|&&b| trace.thread(a) == trace.thread(b)) {
                return Some(Impossible::SameThread(b, a));
            }
        }
        None
    }

    fn backwards(&self, mut pairs: impl Iterator<Item = (EventId, EventId)>) -> Option<Impossible> {
        let trace = self.prepared.trace;
        let (a, b) = pairs.find(|&(a, b)| a >= b && trace.thread(a) == trace.thread(b))?;
        Some(Impossible::Backwards(a, b))
    }

    /// Whether the acquires can be arranged so that each is blocked by what the next one's thread holds there.
    fn block_each_other(&self, acquires: &[EventId]) -> bool {
        if acquires.len() == 1 {
            return true;
        }
        let mut path = vec![0];
        self.extend_cycle(acquires, &mut path)
    }

    fn extend_cycle(&self, acquires: &[EventId], path: &mut Vec<usize>) -> bool {
        let last = path[path.len() - 1];
        if path.len() == acquires.len() {
            return self.blocked(acquires[last], acquires[0]);
        }
        for next in 1..acquires.len() {
            if !path.contains(&next) && self.blocked(acquires[last], acquires[next]) {
                path.push(next);
                if self.extend_cycle(acquires, path) {
                    return true;
                }
                path.pop();
            }
        }
        false
    }

    /// Whether `acquire` is blocked by what the thread of `other` holds just before `other`.
    fn blocked(&self, acquire: EventId, other: EventId) -> bool {
        let trace = self.prepared.trace;
        let shared = trace.kind(acquire) == Kind::SharedAcquire;
        let lock = reweave_trace::LockId(trace.op(acquire).target());
        self.prepared.sections(lock).any(|section| {
            section.thread == trace.thread(other)
                && section.acquire < other
                && section.release.is_none_or(|release| release >= other)
                && !(shared && section.shared)
        })
    }
}

fn events_of(claim: &Claim) -> Vec<EventId> {
    match claim {
        Claim::CoEnabled(events) | Claim::Deadlock(events) | Claim::Sequence { events, .. } => events.clone(),
        Claim::Before { pairs, .. } => pairs.iter().flat_map(|&(a, b)| [a, b]).collect(),
    }
}
