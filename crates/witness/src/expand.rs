//! Witnesses of a whole trace, from witnesses of its core.
//!
//! A witness of the core says when the events of the core run. Each event that was left out runs as late as it can:
//! right before the next event of its thread, or before the join that waits for its thread. The machine has accepted
//! the events of the core, and no event that was left out writes what they read ([`Core`]); so the whole schedule
//! runs if each event that was left out
//!
//! - is a recorded access or a branch: nothing that another thread could wait for, or be kept out by;
//! - comes when its thread has started, and when the model lets it run;
//! - observes, if it reads, what it observed, unless its thread is tainted anyway.
//!
//! A write that nobody recorded comes after all that came before it, what was left out included; so that is looked at too.
//!
//! All that is looked at here, event by event. What a read observed is found in the window after the prefix: either a
//! write in it, or whatever the observed prefix left, and then no write of the schedule may have come before it.

use hashbrown::{HashMap, HashSet};
use reweave_trace::{Core, EventId, Kind, Model, Op, Space, ThreadId, Trace, VarId};

use crate::{CheckedWitness, Checker, Checkpoints, Claim, Failure, Refusal, Rejection, Witness};

/// Makes witnesses of a whole trace.
#[derive(Clone, Copy, Debug)]
pub struct Expander<'t> {
    whole: &'t Trace,
    core: &'t Core,
    /// The checker of the core.
    checker: Checker<'t>,
}

/// A step of an expanded schedule: an event of the whole trace and, if it is in the core, its number there.
#[derive(Clone, Copy, Debug)]
struct Step {
    event: EventId,
    in_core: Option<EventId>,
}

impl<'t> Expander<'t> {
    /// For witnesses of `core`, which is of `whole`, that `checker` accepted.
    pub fn new(whole: &'t Trace, core: &'t Core, checker: Checker<'t>) -> Expander<'t> {
        Expander { whole, core, checker }
    }

    /// The witness of the whole trace that a witness of the core stands for, and what it shows; unchecked.
    pub fn expand(&self, witness: &Witness, claim: &Claim) -> (Witness, Claim) {
        let (prefix, steps) = self.steps(witness, claim);
        let tail = steps.iter().map(|step| step.event).collect();
        (Witness { prefix, tail }, claim.map(|event| self.core.original(event)))
    }

    /// The same for a witness that was accepted, with every step looked at that was not.
    pub fn check(
        &self,
        checkpoints: &Checkpoints<'t>,
        checked: &CheckedWitness,
    ) -> Result<CheckedWitness, Rejection> {
        let (witness, claim, model) = (checked.witness(), checked.claim(), checked.model());
        let (prefix, steps) = self.steps(witness, claim);
        let end = steps.iter().map(|step| step.event.0 + 1).max().unwrap_or(prefix);
        let mut window = Window::new(self.whole, model, prefix, end);
        // Only where a tainted thread runs on does it matter who is tainted.
        let mut machine = match model {
            Model::Branch | Model::BranchValue => Some(self.checker.machine_at(checkpoints, witness.prefix)?),
            _ => None,
        };
        if let (Some(machine), Some(call)) = (&mut machine, claim.ahead()) {
            machine.let_go_ahead(call);
        }
        let mut ran: HashSet<EventId> = HashSet::new();
        for (number, step) in (prefix as usize..).zip(&steps) {
            let reject = |refusal| Rejection::Step { step: number, event: step.event, refusal };
            let tainted = machine.as_ref().and_then(|m| m.taint(self.whole.thread(step.event)));
            if step.in_core.is_none() {
                self.has_started(prefix, &ran, step.event).map_err(reject)?;
                window.admit(step.event, tainted).map_err(reject)?;
            }
            if self.whole.kind(step.event) == Kind::Unseen {
                self.all_before_have_run(prefix, &ran, step.event).map_err(reject)?;
            }
            if let (Some(machine), Some(event)) = (&mut machine, step.in_core) {
                machine.step(event).map_err(reject)?;
            }
            window.run(step.event, tainted.is_some());
            ran.insert(step.event);
        }
        self.next_is_next(prefix, &ran, claim)?;
        // What was left out may have come in between.
        if let Some(&(a, b)) = claim.adjacent_pairs().first() {
            return Err(Failure::NotAdjacent(self.core.original(a), self.core.original(b)).into());
        }
        let (witness, claim) = self.expand(witness, claim);
        Ok(CheckedWitness::expanded(witness, claim, model))
    }

    /// How many positions of the whole trace come first, and what follows.
    fn steps(&self, witness: &Witness, claim: &Claim) -> (u32, Vec<Step>) {
        let length = self.core.trace().len();
        let prefix = match (witness.prefix as usize) < length {
            true => self.core.original(EventId(witness.prefix)).0,
            false => self.whole.len() as u32,
        };
        let at_rest = claim.is_at_rest(|event| self.core.trace().kind(event) == Kind::Wait);
        let named = witness.tail.iter().copied().chain(claim.next_events().iter().copied());
        let end = match at_rest {
            true => self.whole.len() as u32,
            false => named.map(|event| self.core.original(event).0 + 1).max().unwrap_or(prefix),
        };
        let mut left = Left::new(self.whole, prefix, end);
        let mut steps = Vec::new();
        for &event in &witness.tail {
            self.lead_up(event, &mut left, &mut steps);
            steps
                .push(Step { event: left.take(self.core.original(event), self.whole), in_core: Some(event) });
        }
        for &event in claim.next_events() {
            self.lead_up(event, &mut left, &mut steps);
        }
        if at_rest {
            self.lead_on(prefix, &mut left, &mut steps);
        }
        (prefix, steps)
    }

    /// Runs what was left out and has to come before an event of the core.
    fn lead_up(&self, event: EventId, left: &mut Left, steps: &mut Vec<Step>) {
        let original = self.core.original(event);
        let mut run = |thread: ThreadId, end: EventId| {
            while let Some(event) = left.next_before(thread, end) {
                if self.core.find(event).is_some() {
                    break;
                }
                left.skip(thread);
                steps.push(Step { event, in_core: None });
            }
        };
        run(self.whole.thread(original), original);
        if let Op::Join(child) = self.whole.op(original) {
            run(child, original);
        }
    }

    /// Runs what was left out of each thread that was made, up to its next event of the core or its end.
    fn lead_on(&self, prefix: u32, left: &mut Left, steps: &mut Vec<Step>) {
        let ran: HashSet<EventId> = steps.iter().map(|step| step.event).collect();
        let end = EventId(self.whole.len() as u32);
        for thread in (0..self.whole.count(Space::Thread)).map(ThreadId::from_index) {
            while let Some(event) = left.next_before(thread, end)
                && self.core.find(event).is_none()
                && self.has_started(prefix, &ran, event).is_ok()
            {
                left.skip(thread);
                steps.push(Step { event, in_core: None });
            }
        }
    }

    fn has_started(&self, prefix: u32, ran: &HashSet<EventId>, event: EventId) -> Result<(), Refusal> {
        let Some(fork) = self.checker.fork(self.whole.thread(event)) else { return Ok(()) };
        let fork = self.core.original(fork);
        let forked = fork.0 < prefix || ran.contains(&fork);
        if forked { Ok(()) } else { Err(Refusal::NotForked { fork }) }
    }

    /// All that came before a write that nobody recorded has run, what was left out of the core included.
    fn all_before_have_run(
        &self,
        prefix: u32,
        ran: &HashSet<EventId>,
        event: EventId,
    ) -> Result<(), Refusal> {
        let mut before = (prefix..event.0).map(EventId).filter(|&e| self.whole.kind(e) != Kind::Skip);
        let missing = before.find(|e| !ran.contains(e));
        missing.map_or(Ok(()), |missing| Err(Refusal::UnseenTooEarly { missing }))
    }

    /// The events that the claim wants to be next are next in the whole trace too.
    fn next_is_next(&self, prefix: u32, ran: &HashSet<EventId>, claim: &Claim) -> Result<(), Rejection> {
        for &event in claim.next_events() {
            let event = self.core.original(event);
            let thread = self.whole.thread(event);
            let earlier = |&e: &EventId| self.whole.kind(e) != Kind::Skip && self.whole.thread(e) == thread;
            let mut before = (prefix..event.0).map(EventId).filter(earlier);
            let refused = |refusal| Rejection::from(Failure::MayNotRun { event, refusal });
            if let Some(next) = before.find(|e| !ran.contains(e)) {
                return Err(refused(Refusal::NotNext { next }));
            }
            if self.whole.kind(event) == Kind::Unseen {
                self.all_before_have_run(prefix, ran, event).map_err(refused)?;
            }
        }
        Ok(())
    }
}

/// Per thread, the events of a window that have not run, in order.
struct Left {
    threads: HashMap<ThreadId, (usize, Vec<EventId>)>,
}

impl Left {
    fn new(whole: &Trace, start: u32, end: u32) -> Left {
        let mut threads: HashMap<ThreadId, (usize, Vec<EventId>)> = HashMap::new();
        for event in (start..end).map(EventId).filter(|&e| whole.kind(e) != Kind::Skip) {
            threads.entry(whole.thread(event)).or_default().1.push(event);
        }
        Left { threads }
    }

    fn next_before(&self, thread: ThreadId, end: EventId) -> Option<EventId> {
        let (next, events) = self.threads.get(&thread)?;
        events.get(*next).copied().filter(|&event| event < end)
    }

    fn skip(&mut self, thread: ThreadId) {
        if let Some((next, _)) = self.threads.get_mut(&thread) {
            *next += 1;
        }
    }

    /// Runs `event`, which the machine has found to be next.
    fn take(&mut self, event: EventId, whole: &Trace) -> EventId {
        let thread = whole.thread(event);
        if self.next_before(thread, EventId(event.0 + 1)) == Some(event) {
            self.skip(thread);
        }
        event
    }
}

/// Memory in a window: what each read observed, and what it observes now.
struct Window<'t> {
    trace: &'t Trace,
    model: Model,
    observed: HashMap<EventId, Option<EventId>>,
    now: Writes,
    tainted: HashSet<EventId>,
}

impl<'t> Window<'t> {
    fn new(trace: &'t Trace, model: Model, start: u32, end: u32) -> Window<'t> {
        let (mut observed, mut writes) = (HashMap::new(), Writes::default());
        for event in (start..end).map(EventId) {
            let Some(access) = trace.op(event).access() else { continue };
            if access.reads {
                observed.insert(event, writes.last(trace, access.variable));
            }
            writes.run(trace, event);
        }
        Window { trace, model, observed, now: Writes::default(), tainted: HashSet::new() }
    }

    /// Whether an event that was left out may be the next step.
    fn admit(&self, event: EventId, tainted: Option<EventId>) -> Result<(), Refusal> {
        let kind = self.trace.kind(event);
        let access = self.trace.op(event).access();
        if access.is_none() && kind != Kind::Branch || kind == Kind::Unseen {
            return Err(Refusal::NoEvent);
        }
        if let Some(read) = tainted.filter(|_| !kind.is_transparent()) {
            return Err(Refusal::Tainted { read });
        }
        let Some(access) = access.filter(|access| access.reads) else { return Ok(()) };
        let seen = self.now.last(self.trace, access.variable);
        let clean = self.observed.get(&event) == Some(&seen)
            && seen.is_none_or(|write| !self.tainted.contains(&write));
        match clean || tainted.is_some() || self.model == Model::Sync {
            true => Ok(()),
            false => Err(Refusal::Tainted { read: event }),
        }
    }

    fn run(&mut self, event: EventId, tainted: bool) {
        self.now.run(self.trace, event);
        if tainted {
            self.tainted.insert(event);
        }
    }
}

/// The last writes of a window.
#[derive(Default)]
struct Writes {
    clock: u32,
    variables: HashMap<VarId, (u32, EventId)>,
    objects: HashMap<VarId, (u32, EventId)>,
}

impl Writes {
    fn run(&mut self, trace: &Trace, event: EventId) {
        let Some(access) = trace.op(event).access().filter(|access| access.writes) else { return };
        self.clock += 1;
        let cells = if access.lifetime { &mut self.objects } else { &mut self.variables };
        cells.insert(access.variable, (self.clock, event));
    }

    /// The last write of `variable`; none where there was none in the window.
    fn last(&self, trace: &Trace, variable: VarId) -> Option<EventId> {
        let own = self.variables.get(&variable);
        let around = trace.objects().around(variable).filter_map(|object| self.objects.get(&object));
        own.into_iter().chain(around).max().map(|&(_, event)| event)
    }
}
