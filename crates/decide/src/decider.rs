//! The stages in order, cheapest first.

use std::sync::Arc;

use reweave_trace::{Core, EventId, Kind, LockId, Model, NotACore, Space, Trace};
use reweave_witness::{CheckedWitness, Checker, Checkpoints, Claim, Expander, Rejection, Witness};

use crate::Limits;
use crate::asked;
use crate::closure::{Closed, Order, close};
use crate::cone::Cone;
use crate::downset;
use crate::exact::{Exact, Found};
use crate::guess::{causally_precede, observed_order};
use crate::limits::{Meter, windows};
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
    /// Another bug of ours: too much of the trace was left out.
    #[error(transparent)]
    NotACore(#[from] NotACore),
}

/// Which stages may be used.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Stages {
    /// Must order, closure and guesses: quick, and often inconclusive.
    Fast,
    /// The same in small windows only: what [`Stages::All`] does before the exact stage.
    Quick,
    /// The exact stage where [`Stages::Quick`] ended: the rest of [`Stages::All`].
    Rest,
    /// Must order, closure and the guesses that follow from it, to test them.
    Closure,
    /// The exact stage alone, to test it.
    Exact,
    /// All of them, cheapest first.
    All,
}

impl Stages {
    /// The largest window that is closed: beyond a small one the exact stage, which looks only at what a proposal
    /// breaks, is quicker than a fixed point over everything. It starts with the next larger one.
    fn closure_limit(self) -> u32 {
        match self {
            Stages::Fast | Stages::Closure => u32::MAX,
            Stages::Exact => 0,
            Stages::Quick | Stages::Rest | Stages::All => 1 << 6,
        }
    }
}

impl Stages {
    /// Whether the exact stage is used, alone or after the others.
    fn exact(self) -> bool {
        matches!(self, Stages::Exact | Stages::Rest | Stages::All)
    }

    /// Whether the stages before it are used.
    fn quick(self) -> bool {
        !matches!(self, Stages::Exact | Stages::Rest)
    }
}

/// Decides queries on one trace in one model.
pub struct Decider<'p> {
    basis: Arc<Basis<'p>>,
    exact: Exact<'p>,
    tells: bool,
}

/// What does not change from query to query, and can be shared between threads.
pub struct Basis<'p> {
    prepared: &'p Prepared<'p>,
    model: Model,
    checker: Checker<'p>,
    checkpoints: Checkpoints<'p>,
    must: Must<'p>,
}

/// How many places of the observed run are kept for the checker at least, and how far apart they are at least.
const CHECKPOINTS: usize = 64;
const CHECKPOINT_STRIDE: usize = 1024;

/// How many bytes an event the checkpoints may take beyond that.
const CHECKPOINT_BYTES: usize = 8;

/// How many events before the earliest of a query the closure sees that comes before any guess.
const REFUTED_FIRST: u32 = 1 << 10;

impl<'p> Basis<'p> {
    /// A decider that has learnt nothing yet: its answers do not depend on what others were asked.
    pub fn decider(self: &Arc<Self>) -> Decider<'p> {
        Decider { basis: self.clone(), exact: Exact::new(self.prepared, self.model), tells: true }
    }
}

impl<'p> Decider<'p> {
    /// A decider for `model`, if that is sound on the trace.
    pub fn new(prepared: &'p Prepared<'p>, model: Model) -> Result<Decider<'p>, Error> {
        let mut checker = Checker::new(prepared.trace, &prepared.links, &prepared.order);
        if let Some(dependences) = prepared.dependences {
            checker = checker.with_dependences(dependences);
        }
        let stride = checkpoint_stride(prepared.trace);
        let checkpoints = checker.checkpoints(model, stride).map_err(Error::Model)?;
        let must = Must::new(prepared, model);
        Ok(Arc::new(Basis { prepared, model, checker, checkpoints, must }).decider())
    }

    /// The same decider, whose refutations are empty: to find out why not can take longer than to find out that.
    pub fn without_reasons(self) -> Decider<'p> {
        Decider { tells: false, ..self }
    }

    /// What deciders of the same trace and model share.
    pub fn basis(&self) -> &Arc<Basis<'p>> {
        &self.basis
    }

    /// What a witness of this decider's trace, the `core` of `whole`, comes to in the whole trace; checked again.
    pub fn expand(
        &self,
        whole: &'p Trace,
        core: &'p Core,
        checked: &CheckedWitness,
    ) -> Result<CheckedWitness, Error> {
        let expander = Expander::new(whole, core, self.basis.checker);
        expander.check(&self.basis.checkpoints, checked).map_err(|rejection| {
            let (witness, claim) = expander.expand(checked.witness(), checked.claim());
            Error::Unsound(Box::new(Unsound { claim, model: self.basis.model, witness, rejection }))
        })
    }

    /// The same for a witness that the checker has refused: a bug of ours, in terms of the whole trace.
    pub fn expand_error(&self, whole: &'p Trace, core: &'p Core, error: Error) -> Error {
        let Error::Unsound(mut unsound) = error else { return error };
        let expander = Expander::new(whole, core, self.basis.checker);
        (unsound.witness, unsound.claim) = expander.expand(&unsound.witness, &unsound.claim);
        Error::Unsound(unsound)
    }

    /// How much work the exact stage has done so far.
    pub fn work(&self) -> u64 {
        self.exact.work()
    }

    /// The trace, prepared.
    pub fn prepared(&self) -> &'p Prepared<'p> {
        self.basis.prepared
    }

    /// The must order, which refutes most candidates in constant time.
    pub fn must(&self) -> &Must<'p> {
        &self.basis.must
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
        let prepared = self.basis.prepared;
        let Some(earliest) = asked::earliest(prepared, claim) else { return Err(Error::Meaningless) };
        let weaker = asked::weaker(prepared, claim);
        let judged = weaker.as_ref().unwrap_or(claim);
        let mut cone = match Cone::new(prepared, &self.basis.must, judged) {
            Err(contradiction) if stages.quick() => {
                let steps = self.tells.then(|| contradiction.steps(&self.basis.must));
                return Ok(Verdict::Infeasible(Refutation::Cycle(steps.unwrap_or_default())));
            }
            cone => cone.ok(),
        };
        let mut meter = Meter::new(limits);
        meter.tells = self.tells;
        let limits = self.exact.limits_from_now(limits);
        if stages.quick()
            && self.basis.model.by_value()
            && let Some(cone) = &mut cone
            && let Some(verdict) = self.refute_first(judged, cone, earliest, &mut meter)
        {
            return Ok(verdict);
        }
        if stages.quick()
            && stages != Stages::Closure
            && weaker.is_none()
            && let Some(verdict) = self.guess_downset(claim, earliest, &mut meter)
        {
            return Ok(verdict);
        }
        if stages.quick()
            && let Some(cone) = &mut cone
        {
            for size in windows().filter(|&size| size <= stages.closure_limit()) {
                let guesses = weaker.is_none();
                if let Some(verdict) = self.close_and_guess(judged, guesses, cone, earliest, size, &mut meter)
                {
                    return Ok(verdict);
                }
            }
        }
        if stages.exact() {
            let goal = self.exact.goal(claim);
            for size in windows().filter(|&size| size > stages.closure_limit()) {
                if let Some(found) = self.exact.search(&goal, size, &meter.rest(&limits), self.tells) {
                    return self.conclude(claim, found);
                }
            }
        }
        Ok(Verdict::Unknown(Reason::Inconclusive))
    }

    fn conclude(&self, claim: &Claim, found: Found) -> Result<Verdict, Error> {
        match found {
            Found::Schedule(witness) => match self.check(&witness, claim) {
                Ok(checked) => Ok(Verdict::Feasible(checked)),
                Err(rejection) => Err(Error::Unsound(Box::new(Unsound {
                    claim: claim.clone(),
                    model: self.basis.model,
                    witness,
                    rejection,
                }))),
            },
            Found::Clash(demands) => Ok(Verdict::Infeasible(Refutation::Clash(demands))),
            Found::Nothing(reason) => Ok(Verdict::Unknown(reason)),
        }
    }

    fn check(&self, witness: &Witness, claim: &Claim) -> Result<CheckedWitness, Rejection> {
        self.basis.checker.check_from(&self.basis.checkpoints, witness.clone(), claim.clone())
    }

    /// The guess that needs no closure.
    fn guess_downset(&self, claim: &Claim, earliest: EventId, meter: &mut Meter<'_>) -> Option<Verdict> {
        let prefix = self.basis.prepared.prefix(self.basis.model, earliest, 0);
        match downset::guess(self.basis.prepared, claim, prefix, meter) {
            Ok(guessed) => self.check(&guessed?, claim).ok().map(Verdict::Feasible),
            Err(limit) => Some(Verdict::Unknown(limit)),
        }
    }

    /// The closure alone, in a window of a fair size. Where values are compared, nearly all candidates that get this far are
    /// infeasible, and a guess would be in vain.
    fn refute_first(
        &self,
        claim: &Claim,
        cone: &mut Cone,
        earliest: EventId,
        meter: &mut Meter<'_>,
    ) -> Option<Verdict> {
        let prefix = self.basis.prepared.prefix(self.basis.model, earliest, REFUTED_FIRST);
        match close(&self.basis.must, self.basis.prepared, cone, claim, prefix, meter) {
            Ok(Closed::Refuted(steps)) => Some(Verdict::Infeasible(Refutation::Cycle(steps))),
            Ok(Closed::Order(_)) => None,
            Err(limit) => Some(Verdict::Unknown(limit)),
        }
    }

    /// The closure and the guesses in one window; unknown where a limit was reached.
    fn close_and_guess(
        &self,
        claim: &Claim,
        guesses: bool,
        cone: &mut Cone,
        earliest: EventId,
        size: u32,
        meter: &mut Meter<'_>,
    ) -> Option<Verdict> {
        let mut settle = || {
            let prefix = self.basis.prepared.prefix(self.basis.model, earliest, size);
            let mut order = match close(&self.basis.must, self.basis.prepared, cone, claim, prefix, meter)? {
                Closed::Refuted(steps) => return Ok(Some(Verdict::Infeasible(Refutation::Cycle(steps)))),
                Closed::Order(_) if !guesses => return Ok(None),
                Closed::Order(order) => order,
            };
            if let Some(verdict) = self.guess(&order, claim, meter)? {
                return Ok(Some(verdict));
            }
            match causally_precede(self.basis.prepared, &mut order, meter)? {
                true => self.guess(&order, claim, meter),
                false => Ok(None),
            }
        };
        settle().unwrap_or_else(|limit| Some(Verdict::Unknown(limit)))
    }

    fn guess(&self, order: &Order, claim: &Claim, meter: &mut Meter<'_>) -> Result<Option<Verdict>, Reason> {
        let tail = observed_order(self.basis.prepared, &self.basis.must, order, meter)?;
        let witness = tail.map(|tail| Witness { prefix: order.prefix, tail });
        Ok(witness.and_then(|witness| self.check(&witness, claim).ok()).map(Verdict::Feasible))
    }

    fn well_posed(&self, claim: &Claim) -> Result<(), Error> {
        let places = match claim {
            Claim::Sequence { events, .. } => events.len().saturating_sub(1),
            Claim::Before { pairs, .. } => pairs.len(),
            _ => 0,
        };
        let adjacent = match claim {
            Claim::Sequence { adjacent, .. } | Claim::Before { adjacent, .. } => adjacent,
            _ => &[][..],
        };
        let events = asked::events(claim);
        if events.is_empty() || adjacent.iter().any(|&place| place >= places) {
            return Err(Error::Meaningless);
        }
        let trace = self.basis.prepared.trace;
        let missing = |event: &&EventId| event.index() >= trace.len() || trace.kind(**event) == Kind::Skip;
        events.iter().find(missing).map_or(Ok(()), |&event| Err(Error::NoEvent(event)))
    }

    /// A reason why no schedule shows `claim` that needs no search.
    fn contradiction(&self, claim: &Claim) -> Option<Impossible> {
        let trace = self.basis.prepared.trace;
        match claim {
            Claim::CoEnabled(events) => self.same_thread(events),
            Claim::Deadlock(acquires) => {
                let sleeps = |event| acquires.len() > 1 && self.basis.prepared.ends_only_when_notified(event);
                let blocks = |&event: &EventId| {
                    matches!(trace.kind(event), Kind::Acquire | Kind::SharedAcquire) || sleeps(event)
                };
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
            Claim::Asleep(wait) if !self.basis.prepared.ends_only_when_notified(*wait) => {
                Some(Impossible::NotASleep(*wait))
            }
            Claim::Asleep(_) => None,
            Claim::Ahead { first, then } => self.same_thread(&[*first, *then]),
            Claim::Unwritten(read) if !trace.kind(*read).reads() => Some(Impossible::NotARead(*read)),
            Claim::Unwritten(_) => self.backwards(asked::pairs(self.basis.prepared, claim).into_iter()),
        }
    }

    fn same_thread(&self, events: &[EventId]) -> Option<Impossible> {
        let trace = self.basis.prepared.trace;
        for (i, &a) in events.iter().enumerate() {
            if let Some(&b) = events[..i].iter().find(|&&b| trace.thread(a) == trace.thread(b)) {
                return Some(Impossible::SameThread(b, a));
            }
        }
        None
    }

    fn backwards(&self, mut pairs: impl Iterator<Item = (EventId, EventId)>) -> Option<Impossible> {
        let trace = self.basis.prepared.trace;
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

    /// Whether `acquire` is blocked by what the thread of `other` holds just before `other`; a wait, by what it does later.
    fn blocked(&self, acquire: EventId, other: EventId) -> bool {
        let trace = self.basis.prepared.trace;
        if let Some(link) = self.basis.prepared.links.wait(acquire) {
            return link
                .waker
                .is_some_and(|waker| trace.thread(waker) == trace.thread(other) && other <= waker);
        }
        let shared = trace.kind(acquire) == Kind::SharedAcquire;
        let lock = LockId(trace.op(acquire).target());
        let position = self.basis.prepared.position(other);
        let mut open = self.basis.prepared.open_sections(lock, trace.thread(other), position);
        open.any(|section| !(shared && section.shared))
    }
}

/// How many events lie between two places that are kept for the checker.
fn checkpoint_stride(trace: &Trace) -> u32 {
    // About what a machine takes: a few numbers for each thread, lock and variable.
    let spaces = [(Space::Thread, 24), (Space::Lock, 16), (Space::Variable, 8)];
    let machine: usize = spaces.map(|(space, bytes)| trace.count(space) * bytes).iter().sum();
    let affordable = (machine / CHECKPOINT_BYTES).max(CHECKPOINT_STRIDE);
    affordable.min((trace.len() / CHECKPOINTS).max(CHECKPOINT_STRIDE)) as u32
}
