//! The machine: from a state, which events may run, who blocks them, and what state they lead to.

use reweave_trace::{Dependences, EventId, Kind, Model, Op, ThreadId, Trace};

use super::facts::{self, Facts};
use super::rest::Rest;
use super::rules::{Compiler, Field, Rule};
use super::{Refused, bit, id};
use crate::Rng;

/// The machine of the law for one trace and model, ready to run schedules.
#[derive(Clone, Debug)]
pub struct Machine {
    rules: Vec<Rule>,
    locking: Vec<Locking>,
    /// Updates and failed attempts, which run under a condition.
    updates: u128,
    cursors: Vec<Field>,
    /// Per thread, its events.
    threads: Vec<Vec<usize>>,
    /// Per thread and cursor, the locks held exclusively and shared.
    holds: Vec<Vec<[u64; 2]>>,
    /// Per thread, its recorded end as a set.
    pub(super) ends: Vec<u128>,
    /// Per event, those that it conflicts with.
    pub(super) conflicts: Vec<u128>,
    pub(super) rest: Rest,
}

/// What an event asks of a lock.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum Locking {
    None,
    Exclusive {
        lock: u64,
        blocks: bool,
    },
    Shared {
        lock: u64,
    },
    /// The attempt needs another's exclusive or shared hold of these.
    Busy {
        exclusive: u64,
        shared: u64,
    },
}

/// A state: what the future depends on, and which events have run (which the first implies).
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) struct State {
    pub(super) key: u128,
    pub(super) ran: u128,
}

impl State {
    pub(super) const INITIAL: State = State { key: 0, ran: 0 };
}

/// The next event of a thread, in some state.
#[derive(Clone, Copy, Debug)]
pub(super) struct Next {
    pub(super) event: usize,
    pub(super) thread: usize,
    /// Whether it may run, locks aside for acquires.
    pub(super) may_run: bool,
    /// For an acquire, the threads whose holds block it.
    pub(super) blocked_by: u64,
    /// Whether it waits for its lock, so that it can be part of a deadlock.
    pub(super) waits: bool,
}

impl Next {
    pub(super) fn enabled(&self) -> bool {
        self.may_run && self.blocked_by == 0
    }
}

impl Machine {
    /// The machine for `trace` under `model`.
    pub fn new(trace: &Trace, model: Model, dependences: Option<&Dependences>) -> Result<Machine, Refused> {
        Machine::with_ahead(trace, model, dependences, None)
    }

    /// The same where a call may go ahead and an event may come too late.
    pub(super) fn with_ahead(
        trace: &Trace,
        model: Model,
        dependences: Option<&Dependences>,
        ahead: Option<(usize, usize)>,
    ) -> Result<Machine, Refused> {
        if model.by_dependence() && dependences.is_none() {
            return Err(Refused::NoDependences);
        }
        let facts = Facts::new(trace);
        let locks = trace.count(reweave_trace::Space::Lock);
        if trace.len() > u128::BITS as usize || facts.threads.len() > 64 || locks > 64 {
            return Err(Refused::TooLarge);
        }
        let Compiler { rules, cursors, .. } = Compiler::run(trace, &facts, model, dependences, ahead)?;
        let events = 0..trace.len();
        let conditional = |kind| matches!(kind, Kind::Update | Kind::FailedAttempt);
        let updates = events.clone().filter(|&e| conditional(trace.kind(id(e))));
        let with = |a: usize, b: usize| if facts::conflict(trace, &facts, a, b) { bit(b) } else { 0 };
        let rest = Rest::new(trace, &facts, &rules, model, dependences);
        let holds: Vec<Vec<[u64; 2]>> = (0..facts.threads.len())
            .map(|thread| facts::holds(trace, &facts, ThreadId::from_index(thread)))
            .collect();
        let locking = events.clone().map(|e| match locking(trace.op(id(e))) {
            Locking::Busy { exclusive, .. } if held_then(trace, &facts, &holds, e) & exclusive != 0 => {
                Locking::Busy { exclusive, shared: 0 }
            }
            other => other,
        });
        Ok(Machine {
            rest,
            rules,
            locking: locking.collect(),
            updates: updates.fold(0, |set, e| set | bit(e)),
            cursors,
            holds,
            ends: facts.threads.iter().map(|events| end_of(trace, events)).collect(),
            conflicts: events.clone().map(|a| events.clone().fold(0, |set, b| set | with(a, b))).collect(),
            threads: facts.threads,
        })
    }

    /// How many positions the trace has.
    pub(super) fn len(&self) -> usize {
        self.rules.len()
    }

    /// The next event of each thread that has one.
    pub(super) fn next(&self, state: State, out: &mut Vec<Next>) {
        out.clear();
        for (thread, events) in self.threads.iter().enumerate() {
            let position = self.cursors[thread].get(state.key) as usize;
            if let Some(&event) = events.get(position) {
                out.push(self.look(state, thread, event));
            }
        }
    }

    fn look(&self, state: State, thread: usize, event: usize) -> Next {
        let rule = &self.rules[event];
        let mut may_run = state.ran & rule.ran == rule.ran
            && state.key & rule.demands == rule.demands
            && state.ran & rule.unless == 0
            && state.key & rule.forbids == 0
            && (self.updates & bit(event) == 0 || self.clean(state.key, rule) || self.fails(state.key, rule));
        let (mut blocked_by, mut waits) = (0, false);
        match self.locking[event] {
            Locking::None => {}
            Locking::Exclusive { lock, blocks } => {
                blocked_by = self.holders(state, thread, [lock, lock]);
                waits = blocks;
            }
            Locking::Shared { lock } => {
                blocked_by = self.holders(state, thread, [lock, 0]);
                waits = true;
            }
            Locking::Busy { exclusive, shared } => {
                may_run &= self.holders(state, thread, [exclusive, shared]) != 0;
            }
        }
        Next { event, thread, may_run, blocked_by, waits }
    }

    /// The other threads that hold one of these locks exclusively, or one of those shared.
    fn holders(&self, state: State, thread: usize, [exclusive, shared]: [u64; 2]) -> u64 {
        let mut holders = 0;
        for (other, holds) in self.holds.iter().enumerate() {
            let held = holds[self.cursors[other].get(state.key) as usize];
            if other != thread && (held[0] & exclusive != 0 || held[1] & shared != 0) {
                holders |= 1 << other;
            }
        }
        holders
    }

    /// Whether the rule's event would be a clean read.
    fn clean(&self, key: u128, rule: &Rule) -> bool {
        rule.read.is_none_or(|(field, clean)| {
            let writer = field.get(key);
            writer & 1 == 0 && clean >> (writer >> 1) & 1 == 1
        })
    }

    /// Whether the rule's event, an attempt that failed, would fail again.
    fn fails(&self, key: u128, rule: &Rule) -> bool {
        rule.read.is_some_and(|(field, _)| {
            let writer = field.get(key);
            writer & 1 == 0 && rule.fails >> (writer >> 1) & 1 == 1
        })
    }

    /// The state after `event`, which is enabled.
    pub(super) fn run(&self, state: State, event: usize) -> State {
        let State { mut key, ran } = state;
        let rule = &self.rules[event];
        let taint = u128::from(key & rule.fed_by != 0);
        if !self.clean(key, rule) {
            key |= rule.taints;
        }
        for &(field, writer) in &rule.writes {
            key = field.put(key, writer | taint);
        }
        for notice in &rule.notifies {
            if ran & notice.start != 0 && ran & notice.wait == 0 {
                key |= notice.bit;
            }
        }
        State { key: (key & !rule.forgets) + rule.step, ran: ran | bit(event) }
    }

    /// Runs one schedule; the error is the index of the first step that is refused.
    pub fn accepts(&self, schedule: &[EventId]) -> Result<(), usize> {
        let (mut state, mut next) = (State::INITIAL, Vec::new());
        for (step, event) in schedule.iter().enumerate() {
            self.next(state, &mut next);
            if !next.iter().any(|next| next.event == event.index() && next.enabled()) {
                return Err(step);
            }
            state = self.run(state, event.index());
        }
        Ok(())
    }

    /// The end of a random walk: a feasible schedule that stops somewhere or gets stuck.
    pub fn random_schedule(&self, rng: &mut Rng) -> Vec<EventId> {
        let (mut state, mut next) = (State::INITIAL, Vec::new());
        // Half of the walks go on as long as they can.
        let length = if rng.chance(50) { self.len() } else { rng.below(self.len() + 1) };
        let mut schedule = Vec::new();
        while schedule.len() < length {
            self.next(state, &mut next);
            next.retain(Next::enabled);
            let Some(next) = rng.pick(&next) else { break };
            state = self.run(state, next.event);
            schedule.push(id(next.event));
        }
        schedule
    }
}

fn locking(op: Op) -> Locking {
    match op {
        Op::Acquire(lock) => Locking::Exclusive { lock: 1 << lock.0, blocks: true },
        Op::TryAcquire(lock) => Locking::Exclusive { lock: 1 << lock.0, blocks: false },
        Op::SharedAcquire(lock) => Locking::Shared { lock: 1 << lock.0 },
        Op::Busy(lock) => Locking::Busy { exclusive: 1 << lock.0, shared: 1 << lock.0 },
        _ => Locking::None,
    }
}

/// The locks that threads other than the event's held exclusively when it happened.
fn held_then(trace: &Trace, facts: &Facts, holds: &[Vec<[u64; 2]>], event: usize) -> u64 {
    let mine = trace.thread(id(event)).index();
    let others = facts.threads.iter().zip(holds).enumerate().filter(|(thread, _)| *thread != mine);
    others.fold(0, |held, (_, (events, holds))| {
        held | holds[events.iter().filter(|&&other| other < event).count()][0]
    })
}

fn end_of(trace: &Trace, events: &[usize]) -> u128 {
    let end = events.iter().find(|&&event| trace.kind(id(event)) == Kind::End);
    end.map_or(0, |&event| bit(event))
}
