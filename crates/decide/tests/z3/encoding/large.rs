//! Random traces of hundreds of events, and questions about them that are not settled at a glance.

use reweave_decide::{Decider, Limits, Must, Stages, Verdict};
use reweave_testkit::{Rng, Shape, ValueMode, Weights, generate};
use reweave_trace::{EventId, Kind, Model, Trace};
use reweave_witness::Claim;

/// A trace of this many events whose threads keep getting in each other's way.
pub(crate) fn trace(events: usize, model: Model, seed: u64) -> Trace {
    // Nothing ends or is joined early: a run of hundreds of events would soon have no thread left.
    let weights = Weights {
        read: 30,
        write: 18,
        acquire: 12,
        try_acquire: 2,
        shared_acquire: 3,
        release: 40,
        shared_release: 20,
        busy: 1,
        fork: 20,
        join: 0,
        wait: 1,
        notify: 1,
        notify_all: 1,
        branch: 3,
        region: 0,
        end: 0,
        ..Weights::rare()
    };
    let shape = Shape {
        threads: (3, 8),
        events: (events, events),
        variables: (events / 20, events / 12),
        locks: (events / 60, events / 40),
        conditions: (1, 2),
        objects: (0, 2),
        values: 12,
        value_mode: if model.by_value() { ValueMode::All } else { ValueMode::Off },
        branches: true,
        dependences: false,
        free_starts: 50,
        burst: 50,
        nests: 0,
        weights,
    };
    generate(&shape, seed)
}

/// Some questions as they come, and of many more those that need the exact stage.
pub(crate) fn claims(decider: &mut Decider<'_>, seed: u64, questions: usize) -> Vec<Claim> {
    let trace = decider.prepared().trace;
    let mut claims: Vec<Claim> = {
        let mut drawn = Questions::new(trace, decider.must(), seed);
        (0..questions * 20).map(|number| drawn.draw(number)).collect()
    };
    let mut rest = claims.split_off(questions / 2);
    rest.retain(|claim| {
        matches!(decider.decide_with(claim, &Limits::none(), Stages::Fast), Ok(Verdict::Unknown(_)))
    });
    claims.extend(rest.into_iter().take(questions / 2));
    claims
}

/// How many tries a question gets before it is taken as it is.
const TRIES: usize = 200;

/// Draws questions that the must order alone does not answer.
struct Questions<'t> {
    trace: &'t Trace,
    must: &'t Must<'t>,
    events: Vec<EventId>,
    rng: Rng,
}

impl<'t> Questions<'t> {
    fn new(trace: &'t Trace, must: &'t Must<'t>, seed: u64) -> Questions<'t> {
        Questions { trace, must, events: trace.events().map(|(id, _)| id).collect(), rng: Rng::new(seed) }
    }

    /// The question with this number: kinds take turns.
    fn draw(&mut self, number: usize) -> Claim {
        match number % 5 {
            0 => {
                let (a, b) = self.pair(|trace, a, b| trace.conflict(a, b));
                Claim::CoEnabled(vec![a, b])
            }
            1 => Claim::Deadlock(self.deadlock()),
            2 => {
                let reversed = |rng: &mut Self| {
                    let (a, b) = rng.pair(|trace, a, b| trace.conflict(a, b));
                    (a.max(b), a.min(b))
                };
                let pairs = vec![reversed(self), self.pair(|_, _, _| true)];
                Claim::Before { pairs, adjacent: Vec::new() }
            }
            3 => {
                let (a, b) = self.pair(|trace, a, b| trace.conflict(a, b));
                Claim::Sequence { events: vec![a.max(b), a.min(b)], adjacent: vec![0] }
            }
            _ => {
                let (a, b) = self.pair(|trace, a, b| trace.conflict(a, b));
                let (_, c) = self.pair(|trace, _, c| trace.thread(c) == trace.thread(a));
                let adjacent = if self.rng.chance(50) { vec![1] } else { Vec::new() };
                Claim::Sequence { events: vec![a.min(c), b, a.max(c)], adjacent }
            }
        }
    }

    /// Two events of different threads that the must order leaves open, mostly near each other.
    fn pair(&mut self, good: impl Fn(&Trace, EventId, EventId) -> bool) -> (EventId, EventId) {
        let mut last = (self.events[0], self.events[0]);
        for _ in 0..TRIES {
            let place = self.rng.below(self.events.len());
            let reach = if self.rng.chance(80) { 60 } else { self.events.len() };
            let other = (place + 1 + self.rng.below(reach)).min(self.events.len() - 1);
            let (a, b) = (self.events[place], self.events[other]);
            last = (a, b);
            if self.trace.thread(a) != self.trace.thread(b)
                && good(self.trace, a, b)
                && !self.must.before(a, b)
            {
                break;
            }
        }
        if self.rng.chance(50) { last } else { (last.1, last.0) }
    }

    /// Acquires of which each wants what the other's thread holds, if there are any.
    fn deadlock(&mut self) -> Vec<EventId> {
        let blocks = |&e: &EventId| matches!(self.trace.kind(e), Kind::Acquire | Kind::SharedAcquire);
        let acquires: Vec<EventId> = self.events.iter().copied().filter(blocks).collect();
        let held: Vec<Vec<u32>> = acquires.iter().map(|&acquire| self.held_at(acquire)).collect();
        let wants = |place: usize| self.trace.op(acquires[place]).target();
        let mut best = vec![acquires[0]];
        for _ in 0..TRIES * 50 {
            let (i, j) = (self.rng.below(acquires.len()), self.rng.below(acquires.len()));
            let (a, b) = (acquires[i], acquires[j]);
            let ring = held[j].contains(&wants(i)) && held[i].contains(&wants(j));
            if self.trace.thread(a) != self.trace.thread(b) && ring {
                best = vec![a, b];
                if !self.must.before(a, b) && !self.must.before(b, a) {
                    break;
                }
            }
        }
        best
    }

    /// The locks that an event's thread holds exclusively before it.
    fn held_at(&self, event: EventId) -> Vec<u32> {
        let mut held = Vec::new();
        let own = |&&e: &&EventId| e < event && self.trace.thread(e) == self.trace.thread(event);
        for &e in self.events.iter().filter(own) {
            let lock = self.trace.op(e).target();
            match self.trace.kind(e) {
                Kind::Acquire | Kind::TryAcquire => held.push(lock),
                Kind::Release => {
                    if let Some(place) = held.iter().rposition(|&other| other == lock) {
                        held.remove(place);
                    }
                }
                _ => {}
            }
        }
        held
    }
}
