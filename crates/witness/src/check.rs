//! The checker: does the schedule run, and does the claim hold?

use hashbrown::HashMap;
use reweave_trace::{Dependences, EventId, Kind, Links, Model, ProgramOrder, ThreadId, Trace, VarId};

use crate::{Claim, Failure, Machine, Refusal, Witness};

/// A witness that the checker has accepted. Nothing else makes one.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct CheckedWitness {
    witness: Witness,
    claim: Claim,
    model: Model,
}

impl CheckedWitness {
    /// The schedule.
    pub fn witness(&self) -> &Witness {
        &self.witness
    }

    /// What it shows.
    pub fn claim(&self) -> &Claim {
        &self.claim
    }

    /// The model that it holds in.
    pub fn model(&self) -> Model {
        self.model
    }

    /// What an accepted witness of a core comes to in the whole trace.
    pub(crate) fn expanded(witness: Witness, claim: Claim, model: Model) -> CheckedWitness {
        CheckedWitness { witness, claim, model }
    }
}

/// Why a witness was not accepted.
#[derive(Clone, PartialEq, Eq, Debug, thiserror::Error)]
#[non_exhaustive]
pub enum Rejection {
    /// The trace does not carry what the model relies on.
    #[error("the model {model} is not sound on this trace, which does not state the capabilities it needs: {needs}", needs = .model.needs())]
    Unsound {
        /// The model.
        model: Model,
    },
    /// The prefix is longer than the trace.
    #[error("the prefix of {prefix} events is longer than the trace of {events}")]
    LongPrefix {
        /// Of the witness.
        prefix: u32,
        /// Of the trace.
        events: usize,
    },
    /// A step of the schedule fails.
    #[error("step {step}: event {} cannot run: {refusal}", .event.0)]
    Step {
        /// The place of the step in the schedule, from 0.
        step: usize,
        /// The event.
        event: EventId,
        /// Why it cannot run there.
        refusal: Refusal,
    },
    /// The schedule runs, but does not show what is claimed.
    #[error("the schedule runs, but {0}")]
    Claim(#[from] Failure),
}

/// Where the events that a claim orders have run.
type Steps = HashMap<EventId, Option<usize>>;

/// The observed run in one model, kept at some places: a witness with a long prefix need not run all of it again.
#[derive(Clone, Debug)]
pub struct Checkpoints<'t> {
    model: Model,
    /// How many positions have been passed, and the machine there; the first is the start.
    machines: Vec<(u32, Machine<'t>)>,
}

/// Checks witnesses of one trace.
#[derive(Clone, Copy, Debug)]
pub struct Checker<'t> {
    trace: &'t Trace,
    links: &'t Links,
    order: &'t ProgramOrder,
    dependences: Option<&'t Dependences>,
}

impl<'t> Checker<'t> {
    /// A checker for `trace`, whose `links` and program `order` are given, with its table of dependences if it has one.
    pub fn new(trace: &'t Trace, links: &'t Links, order: &'t ProgramOrder) -> Checker<'t> {
        Checker { trace, links, order, dependences: trace.dependences() }
    }

    /// The same with another table of dependences, for the `dep` models.
    pub fn with_dependences(self, dependences: &'t Dependences) -> Checker<'t> {
        Checker { dependences: Some(dependences), ..self }
    }

    /// The machine at the start of a schedule, if `model` is sound on the trace.
    pub fn machine(&self, model: Model) -> Result<Machine<'t>, Rejection> {
        let mut needs = model.needs();
        needs.dependences = false;
        let table = self.dependences.is_some() || !model.by_dependence();
        if !table || !self.trace.capabilities().include(needs) {
            return Err(Rejection::Unsound { model });
        }
        Ok(Machine::new(self.trace, self.links, self.order, model, self.dependences))
    }

    /// The observed run in `model`, kept after every `stride` events for as long as the machine accepts it.
    pub fn checkpoints(&self, model: Model, stride: u32) -> Result<Checkpoints<'t>, Rejection> {
        let mut machine = self.machine(model)?;
        let mut machines = vec![(0, machine.clone())];
        for id in self.trace.ids() {
            if id.0 > 0 && id.0.is_multiple_of(stride.max(1)) {
                machines.push((id.0, machine.clone()));
            }
            if self.trace.kind(id) != Kind::Skip && machine.step(id).is_err() {
                break;
            }
        }
        Ok(Checkpoints { model, machines })
    }

    /// Runs the schedule and looks whether the claim holds.
    pub fn check(&self, model: Model, witness: Witness, claim: Claim) -> Result<CheckedWitness, Rejection> {
        let start = Checkpoints { model, machines: vec![(0, self.machine(model)?)] };
        self.check_from(&start, witness, claim)
    }

    /// The same in the model of `checkpoints`, without running the part of the prefix that they have behind them.
    pub fn check_from(
        &self,
        checkpoints: &Checkpoints<'t>,
        witness: Witness,
        claim: Claim,
    ) -> Result<CheckedWitness, Rejection> {
        if witness.prefix as usize > self.trace.len() {
            return Err(Rejection::LongPrefix { prefix: witness.prefix, events: self.trace.len() });
        }
        let mut written = Written::new(self.trace, &claim);
        let mut steps: Steps = claim.ordered_events().map(|event| (event, None)).collect();
        // What the claim orders may be in the prefix: then the whole of it has to be looked at.
        let first = steps.keys().map(|event| event.0).min().unwrap_or(u32::MAX);
        let bound = if written.whole { 0 } else { witness.prefix.min(first) };
        let place = checkpoints.machines.partition_point(|&(passed, _)| passed <= bound) - 1;
        let (passed, mut machine) = checkpoints.machines[place].clone();
        if let Some(call) = claim.ahead() {
            machine.let_go_ahead(call);
        }
        let start = machine.steps();
        written.before |= written.read.is_some_and(|read| machine.last_write_of(read).is_some());
        for (step, event) in (start..).zip(witness.schedule_after(self.trace, passed)) {
            machine.step(event).map_err(|refusal| Rejection::Step { step, event, refusal })?;
            if let Some(place) = steps.get_mut(&event) {
                *place = Some(step);
            }
            written.run(self.trace, event);
        }
        self.claim_holds(&machine, &steps, &claim)?;
        if let Claim::Unwritten(read) = claim
            && !written.holds()
        {
            return Err(Failure::Written(read).into());
        }
        Ok(CheckedWitness { witness, claim, model: checkpoints.model })
    }

    /// The machine after the first `prefix` positions of the trace.
    pub(crate) fn machine_at(
        &self,
        checkpoints: &Checkpoints<'t>,
        prefix: u32,
    ) -> Result<Machine<'t>, Rejection> {
        let place = checkpoints.machines.partition_point(|&(passed, _)| passed <= prefix) - 1;
        let (passed, mut machine) = checkpoints.machines[place].clone();
        let start = machine.steps();
        let observed = Witness { prefix, tail: Vec::new() };
        for (step, event) in (start..).zip(observed.schedule_after(self.trace, passed)) {
            machine.step(event).map_err(|refusal| Rejection::Step { step, event, refusal })?;
        }
        Ok(machine)
    }

    /// The fork of a thread.
    pub(crate) fn fork(&self, thread: ThreadId) -> Option<EventId> {
        self.links.fork(thread)
    }

    fn claim_holds(&self, machine: &Machine<'_>, steps: &Steps, claim: &Claim) -> Result<(), Failure> {
        match claim {
            Claim::CoEnabled(events) => self.all_may_run(machine, events),
            Claim::Deadlock(events) => self.is_deadlock(machine, events),
            Claim::Asleep(wait) => {
                if wait.index() >= self.trace.len() || !machine.missed_its_waker(*wait) {
                    return Err(Failure::NotAsleep(*wait));
                }
                machine.is_at_rest()
            }
            Claim::Unwritten(read) => step_of(steps, *read).map(drop),
            Claim::Ahead { first, then } => {
                step_of(steps, *first)?;
                let event = *then;
                machine.may_run_too_late(event).map_err(|refusal| Failure::MayNotRun { event, refusal })
            }
            Claim::Sequence { events, adjacent } => {
                let pairs: Vec<_> = events.windows(2).map(|pair| (pair[0], pair[1])).collect();
                match events[..] {
                    [only] if adjacent.is_empty() => step_of(steps, only).map(drop),
                    _ => pairs_hold(steps, &pairs, adjacent),
                }
            }
            Claim::Before { pairs, adjacent } => pairs_hold(steps, pairs, adjacent),
        }
    }

    fn is_deadlock(&self, machine: &Machine<'_>, events: &[EventId]) -> Result<(), Failure> {
        let is_wait =
            |event: EventId| event.index() < self.trace.len() && self.trace.kind(event) == Kind::Wait;
        let (waits, acquires): (Vec<EventId>, Vec<EventId>) =
            events.iter().partition(|&&event| is_wait(event));
        if let Some(&awake) = waits.iter().find(|&&wait| !machine.sleeps(wait)) {
            return Err(Failure::NotAsleep(awake));
        }
        if waits.is_empty() || !acquires.is_empty() {
            self.all_may_run(machine, &acquires)?;
        }
        let threads: HashMap<ThreadId, EventId> =
            events.iter().map(|&event| (self.trace.thread(event), event)).collect();
        if let Some(&wait) = waits.iter().find(|&&wait| threads[&self.trace.thread(wait)] != wait) {
            return Err(Failure::SameThread(wait, threads[&self.trace.thread(wait)]));
        }
        let stuck = match events[..] {
            [acquire] => machine.ended_threads().any(|thread| machine.is_blocked_by(acquire, thread)),
            _ => threads.len() == events.len() && self.block_each_other(machine, events),
        };
        match stuck {
            true if waits.is_empty() => Ok(()),
            true => machine.is_at_rest(),
            false => Err(Failure::NoCycle),
        }
    }

    fn all_may_run(&self, machine: &Machine<'_>, events: &[EventId]) -> Result<(), Failure> {
        if events.is_empty() {
            return Err(Failure::Meaningless);
        }
        let mut threads: HashMap<ThreadId, EventId> = HashMap::new();
        for &event in events {
            machine.may_run(event).map_err(|refusal| Failure::MayNotRun { event, refusal })?;
            if let Some(other) = threads.insert(self.trace.thread(event), event) {
                return Err(Failure::SameThread(other, event));
            }
        }
        Ok(())
    }

    /// Whether the acquires and waits, all of different threads, can be arranged in a cycle where each is blocked by, or
    /// waits for a notification of, the next.
    fn block_each_other(&self, machine: &Machine<'_>, acquires: &[EventId]) -> bool {
        let blocked = |i: usize, j: usize| {
            let thread = self.trace.thread(acquires[j]);
            machine.is_blocked_by(acquires[i], thread) || machine.awaited_by_wait(acquires[i]) == Some(thread)
        };
        // Depth first from the first acquire; an exclusive lock has one holder, so there is seldom a choice.
        let mut path = vec![0];
        let mut candidate = 1;
        loop {
            let last = path[path.len() - 1];
            if path.len() == acquires.len() && blocked(last, 0) {
                return true;
            }
            match (candidate..acquires.len()).find(|&next| !path.contains(&next) && blocked(last, next)) {
                Some(next) => {
                    path.push(next);
                    candidate = 1;
                }
                None if path.len() == 1 => return false,
                None => {
                    candidate = last + 1;
                    path.pop();
                }
            }
        }
    }
}

impl Claim {
    /// The events whose place in the schedule matters.
    fn ordered_events(&self) -> impl Iterator<Item = EventId> {
        let (sequence, pairs): (&[EventId], &[(EventId, EventId)]) = match self {
            Claim::CoEnabled(_) | Claim::Deadlock(_) | Claim::Asleep(_) => (&[], &[]),
            Claim::Sequence { events, .. } => (events, &[]),
            Claim::Unwritten(read) => (std::slice::from_ref(read), &[]),
            Claim::Ahead { first, .. } => (std::slice::from_ref(first), &[]),
            Claim::Before { pairs, .. } => (&[], pairs),
        };
        sequence.iter().copied().chain(pairs.iter().flat_map(|&(a, b)| [a, b]))
    }
}

/// Whether what a claim says to be unwritten was written before it was read.
struct Written {
    read: Option<EventId>,
    variable: Option<VarId>,
    /// The variable is part of an object, whose birth hides whether it was written before: the whole schedule is run.
    whole: bool,
    before: bool,
    done: bool,
}

impl Written {
    fn new(trace: &Trace, claim: &Claim) -> Written {
        let read = match claim {
            Claim::Unwritten(read) if read.index() < trace.len() => Some(*read),
            _ => None,
        };
        let access = read.and_then(|read| trace.op(read).access()).filter(|access| access.reads);
        let variable = access.map(|access| access.variable);
        let whole = variable.is_some_and(|variable| trace.objects().around(variable).next().is_some());
        Written { read, variable, whole, before: false, done: false }
    }

    fn run(&mut self, trace: &Trace, event: EventId) {
        let Some(variable) = self.variable.filter(|_| !self.done) else { return };
        self.done = self.read == Some(event);
        let Some(access) = trace.op(event).access().filter(|access| access.writes && !self.done) else {
            return;
        };
        let covers = access.variable == variable
            || access.lifetime && trace.objects().covers(access.variable, variable);
        self.before |= covers && trace.kind(event) != Kind::Alloc;
    }

    fn holds(&self) -> bool {
        self.done && !self.before
    }
}

fn pairs_hold(steps: &Steps, pairs: &[(EventId, EventId)], adjacent: &[usize]) -> Result<(), Failure> {
    if pairs.is_empty() || adjacent.iter().any(|&place| place >= pairs.len()) {
        return Err(Failure::Meaningless);
    }
    for (place, &(a, b)) in pairs.iter().enumerate() {
        let (first, second) = (step_of(steps, a)?, step_of(steps, b)?);
        if first >= second {
            return Err(Failure::NotBefore(a, b));
        }
        if adjacent.contains(&place) && first + 1 != second {
            return Err(Failure::NotAdjacent(a, b));
        }
    }
    Ok(())
}

fn step_of(steps: &Steps, event: EventId) -> Result<usize, Failure> {
    steps.get(&event).copied().flatten().ok_or(Failure::Missing(event))
}
