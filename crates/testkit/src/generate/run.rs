//! One run of the imaginary program that a random trace is recorded from.

use reweave_trace::{Builder, Capabilities, Event, EventValues, Kind, Op, Value};

use super::shape::{Shape, ValueMode};
use crate::Rng;
use crate::calls::{Object, Outcome, TYPES, random_call, text};

/// The variables of an object, by what follows its name; an object may be part of another.
const FIELDS: [&str; 4] = ["", ".f", ".n", ".n.v"];

/// How many clocks there are.
const CLOCKS: usize = 2;

/// Calls on one object, on another, and on both.
const CALLS: [&str; 4] = ["s.add(1)=true", "s.size()=1", "t.add(2)", "s.merge(t)=()"];

/// How often, in a hundred calls, a call is on the object with a type.
const TYPED: usize = 85;

/// How many turns in a row may find nothing to do before the run ends.
const PATIENCE: usize = 60;

pub(super) struct Run<'r> {
    shape: &'r Shape,
    rng: &'r mut Rng,
    builder: Builder,
    threads: Vec<Thread>,
    /// Per lock and thread, how often it is held: exclusively, and shared.
    holds: Vec<Vec<[usize; 2]>>,
    variables: Vec<Variable>,
    /// The variables that may be born and die, by index.
    objects: Vec<usize>,
    conditions: usize,
    limit: usize,
    /// The number of a type, and an object of it.
    typed: (usize, Object),
}

struct Thread {
    name: String,
    /// Whether it can run: it started freely or was forked, and has not ended.
    live: bool,
    /// Whether it can still be forked.
    forkable: bool,
    /// How many events it has run.
    ran: usize,
    regions: Vec<String>,
    /// What it is in the middle of: the rest of a wait or nest, last step first.
    pending: Vec<(Kind, usize)>,
}

struct Variable {
    name: String,
    value: usize,
    used: bool,
    freed: bool,
}

impl<'r> Run<'r> {
    pub(super) fn new(shape: &'r Shape, rng: &'r mut Rng) -> Run<'r> {
        let threads: Vec<Thread> = (0..rng.within(shape.threads))
            .map(|index| {
                let live = index == 0 || rng.chance(shape.free_starts);
                let (regions, pending) = (Vec::new(), Vec::new());
                Thread { name: format!("T{index}"), live, forkable: !live, ran: 0, regions, pending }
            })
            .collect();
        let holds = vec![vec![[0, 0]; threads.len()]; rng.within(shape.locks)];
        let mut names: Vec<String> = (0..rng.within(shape.variables)).map(|i| format!("x{i}")).collect();
        let mut objects = Vec::new();
        for object in 0..rng.within(shape.objects) {
            objects.extend([names.len(), names.len() + 2]);
            names.extend(FIELDS.map(|field| format!("p{object}{field}")));
        }
        let variables = names
            .into_iter()
            .map(|name| Variable { name, value: rng.below(shape.values), used: false, freed: false })
            .collect();
        let conditions = rng.within(shape.conditions);
        let limit = rng.within(shape.events);
        let builder = Builder::new();
        let of = rng.below(TYPES.len());
        let typed = (of, Object::new(of, rng));
        Run { shape, rng, builder, threads, holds, variables, objects, conditions, limit, typed }
    }

    /// Runs to the end.
    pub(super) fn finish(mut self) -> Builder {
        self.builder.claim(Capabilities {
            values: self.shape.value_mode == ValueMode::All,
            branches: self.shape.branches,
            dependences: self.shape.dependences,
            approximate: false,
        });
        let (mut idle, mut last) = (0, 0);
        while self.builder.len() < self.limit && idle < PATIENCE {
            let before = self.builder.len();
            let live: Vec<usize> = (0..self.threads.len()).filter(|&t| self.threads[t].live).collect();
            let Some(mut thread) = self.rng.pick(&live) else { break };
            let busy = live.contains(&last) && !self.threads[last].pending.is_empty();
            if busy && self.rng.chance(self.shape.burst) {
                thread = last;
            }
            self.turn(thread);
            last = thread;
            idle = if self.builder.len() == before { idle + 1 } else { 0 };
        }
        self.builder
    }

    fn turn(&mut self, thread: usize) {
        if let Some(&(kind, target)) = self.threads[thread].pending.last() {
            // Waits linger, so that others can notify meanwhile.
            let lingers = kind == Kind::Wait && self.rng.chance(75);
            if !lingers && self.possible(thread, kind, target) {
                self.threads[thread].pending.pop();
                self.emit(thread, kind, target);
            }
            return;
        }
        if self.threads[thread].ran == 0 && self.rng.chance(15) {
            return self.emit(thread, Kind::Begin, 0);
        }
        if self.holds.len() > 1 && self.rng.chance(self.shape.nests) {
            return self.start_nest(thread);
        }
        let kind = self.choose();
        self.attempt(thread, kind);
    }

    fn choose(&mut self) -> Kind {
        let w = &self.shape.weights;
        let weights = [
            (Kind::Read, w.read),
            (Kind::Write, w.write),
            (Kind::AtomicRead, w.atomic_read),
            (Kind::AtomicWrite, w.atomic_write),
            (Kind::Update, w.update),
            (Kind::Acquire, w.acquire),
            (Kind::TryAcquire, w.try_acquire),
            (Kind::Release, w.release),
            (Kind::Busy, w.busy),
            (Kind::SharedAcquire, w.shared_acquire),
            (Kind::SharedRelease, w.shared_release),
            (Kind::Fork, w.fork),
            (Kind::Join, w.join),
            (Kind::Wait, w.wait),
            (Kind::Notify, w.notify),
            (Kind::NotifyAll, w.notify_all),
            (Kind::Branch, w.branch),
            (Kind::Alloc, w.alloc),
            (Kind::Free, w.free),
            (Kind::Enter, w.region),
            (Kind::Exit, 12 * w.region),
            (Kind::End, w.end),
            (Kind::FailedAttempt, w.failed),
            (Kind::Look, w.look),
            (Kind::Unseen, w.unseen),
            (Kind::Call, w.call),
        ];
        let total: usize = weights.iter().map(|(_, weight)| weight).sum();
        let mut rest = self.rng.below(total.max(1));
        for (kind, weight) in weights {
            if rest < weight {
                return kind;
            }
            rest -= weight;
        }
        Kind::Branch
    }

    /// Does an operation of this kind, if one is possible.
    fn attempt(&mut self, thread: usize, kind: Kind) {
        let all = match kind {
            Kind::Read | Kind::Write | Kind::AtomicRead | Kind::AtomicWrite | Kind::Update => {
                self.variables.len()
            }
            Kind::Alloc | Kind::Free | Kind::FailedAttempt | Kind::Unseen => self.variables.len(),
            Kind::Look => CLOCKS,
            Kind::Call => CALLS.len(),
            Kind::Fork | Kind::Join => self.threads.len(),
            Kind::Wait => return self.start_wait(thread),
            Kind::Notify | Kind::NotifyAll => self.conditions,
            Kind::Branch | Kind::Enter | Kind::Exit | Kind::End => 1,
            _ => self.holds.len(),
        };
        let possible: Vec<usize> = (0..all).filter(|&target| self.possible(thread, kind, target)).collect();
        if let Some(target) = self.rng.pick(&possible) {
            self.emit(thread, kind, target);
        }
    }

    fn possible(&self, thread: usize, kind: Kind, target: usize) -> bool {
        match kind {
            Kind::Acquire | Kind::TryAcquire => !self.held_elsewhere(thread, target, false),
            Kind::SharedAcquire => !self.held_elsewhere(thread, target, true),
            Kind::Busy => self.held_elsewhere(thread, target, false),
            Kind::Release => self.holds[target][thread][0] > 0,
            Kind::SharedRelease => self.holds[target][thread][1] > 0,
            Kind::Fork => self.threads[target].forkable && target != thread,
            // A thread that is joined has run its last: let it do something first.
            Kind::Join => target != thread && (!self.threads[target].live || self.threads[target].ran > 2),
            Kind::Alloc => {
                self.objects.contains(&target) && !self.parts(target).any(|v| self.variables[v].used)
            }
            Kind::Free => self.objects.contains(&target) && !self.variables[target].freed,
            Kind::Exit => !self.threads[thread].regions.is_empty(),
            _ => true,
        }
    }

    /// Whether another thread holds the lock, exclusively or (unless only that counts) shared.
    fn held_elsewhere(&self, thread: usize, lock: usize, exclusively: bool) -> bool {
        let holds = |held: &[usize; 2]| held[0] > 0 || !exclusively && held[1] > 0;
        self.holds[lock].iter().enumerate().any(|(other, held)| other != thread && holds(held))
    }

    /// The variables that an object consists of.
    fn parts(&self, object: usize) -> impl Iterator<Item = usize> {
        let name = &self.variables[object].name;
        let part = move |other: &str| {
            other.strip_prefix(name.as_str()).is_some_and(|rest| !rest.starts_with(|c| c != '.'))
        };
        (0..self.variables.len()).filter(move |&v| part(&self.variables[v].name))
    }

    /// Plans one critical section inside another, perhaps with an access in it, perhaps left open.
    fn start_nest(&mut self, thread: usize) {
        let outer = self.rng.below(self.holds.len());
        // Mostly the next one round, so that nests of several threads close a ring.
        let further = if self.rng.chance(60) { 0 } else { self.rng.below(self.holds.len() - 1) };
        let inner = (outer + 1 + further) % self.holds.len();
        let mut side = || match self.rng.below(8) {
            0 | 1 => (Kind::SharedAcquire, Kind::SharedRelease),
            2 => (Kind::TryAcquire, Kind::Release),
            _ => (Kind::Acquire, Kind::Release),
        };
        let (first, second) = (side(), side());
        let mut steps = vec![(first.0, outer), (second.0, inner), (second.1, inner), (first.1, outer)];
        if !self.variables.is_empty() && self.rng.chance(30) {
            let kind = if self.rng.chance(50) { Kind::Read } else { Kind::Write };
            let variable = self.rng.below(self.variables.len());
            steps.insert(self.rng.within((1, 3)), (kind, variable));
        }
        if self.rng.chance(20) {
            steps.truncate(self.rng.within((2, 3)));
            // Whoever needs these locks now waits for the dead.
            steps.extend(self.rng.chance(50).then_some((Kind::End, 0)));
        }
        steps.reverse();
        self.threads[thread].pending = steps;
    }

    /// Plans a wait: release a lock that is held, wait, take it again as often.
    fn start_wait(&mut self, thread: usize) {
        if self.conditions == 0 {
            return;
        }
        let condition = self.rng.below(self.conditions);
        let held: Vec<usize> = (0..self.holds.len()).filter(|&l| self.holds[l][thread][0] > 0).collect();
        let mut steps = Vec::new();
        let lock = self.rng.pick(&held);
        if lock.is_none() && !self.rng.chance(60) {
            return;
        }
        let depth = lock.map_or(0, |lock| self.holds[lock][thread][0]);
        steps.extend(lock.into_iter().flat_map(|lock| vec![(Kind::Acquire, lock); depth]));
        steps.push((Kind::Wait, condition));
        steps.extend(lock.into_iter().flat_map(|lock| vec![(Kind::Release, lock); depth]));
        self.threads[thread].pending = steps;
    }

    /// Records an operation that is possible, and does it.
    fn emit(&mut self, thread: usize, kind: Kind, target: usize) {
        let name = self.target_name(thread, kind, target);
        let values = self.values(kind, target);
        self.apply(thread, kind, target, &name);
        let builder = &mut self.builder;
        let site = format!("{}", builder.len() + 1);
        let pushed = builder.thread(&self.threads[thread].name).and_then(|thread| {
            let op = Op::new(kind, builder.target(kind, &name)?);
            let site = builder.site(&site)?;
            builder.push(Event { thread, op, site }, values)
        });
        pushed.expect("small traces are within every limit");
    }

    fn target_name(&mut self, thread: usize, kind: Kind, target: usize) -> String {
        match kind {
            Kind::Fork | Kind::Join => self.threads[target].name.clone(),
            // Where there are objects, one lock and one condition variable lie in them.
            Kind::Wait | Kind::Notify | Kind::NotifyAll if self.is_inside(target) => "p0.n.c".to_owned(),
            Kind::Wait | Kind::Notify | Kind::NotifyAll => format!("c{target}"),
            Kind::Enter => format!("u{}", self.rng.below(2)),
            Kind::Exit => self.threads[thread].regions.last().cloned().unwrap_or_default(),
            Kind::Branch | Kind::Begin | Kind::End => String::new(),
            Kind::Look => format!("clock{target}"),
            Kind::Call => self.call(target),
            _ if kind.reads() || kind.writes() => self.variables[target].name.clone(),
            _ if self.is_inside(target) => "p0.l".to_owned(),
            _ => format!("l{target}"),
        }
    }

    fn is_inside(&self, thing: usize) -> bool {
        thing == 0 && !self.objects.is_empty()
    }

    /// The text of a call that is made now.
    fn call(&mut self, target: usize) -> String {
        let (of, object) = &mut self.typed;
        for _ in 0..4 {
            let call = random_call(*of, self.rng);
            let mut after = object.clone();
            if let Outcome::Done(result) = after.call(call.0, &call.1)
                && self.rng.chance(TYPED)
            {
                *object = after;
                return text(*of, "q", &call, result.as_deref());
            }
        }
        CALLS[target].to_owned()
    }

    /// What an access reads and writes; the new value is there afterwards.
    fn values(&mut self, kind: Kind, target: usize) -> EventValues {
        let lifetime = matches!(kind, Kind::Alloc | Kind::Free);
        if lifetime || !kind.reads() && !kind.writes() {
            return EventValues::NONE;
        }
        let old = self.variables[target].value;
        if kind.writes() {
            self.variables[target].value = self.rng.below(self.shape.values);
        }
        let new = self.variables[target].value;
        let mut carried = |there: bool, value: usize| {
            let carried = match self.shape.value_mode {
                ValueMode::Off => false,
                ValueMode::Some => self.rng.chance(75),
                ValueMode::All => true,
            };
            let value = Value::Number(value as u64);
            (there && carried).then(|| self.builder.value(value).expect("values are few"))
        };
        let read = carried(kind.reads(), old);
        if kind == Kind::FailedAttempt {
            // Now and then it failed at what it expected, or what that was is not known.
            let expected = self.rng.below(self.shape.values + 1);
            let known = read.is_some() && expected < self.shape.values;
            let expected = known.then(|| self.builder.value(Value::Number(expected as u64)));
            return EventValues { read, written: expected.map(|value| value.expect("values are few")) };
        }
        EventValues { read, written: carried(kind.writes(), new) }
    }

    fn apply(&mut self, thread: usize, kind: Kind, target: usize, name: &str) {
        self.threads[thread].ran += 1;
        match kind {
            Kind::Acquire | Kind::TryAcquire => self.holds[target][thread][0] += 1,
            Kind::Release => self.holds[target][thread][0] -= 1,
            Kind::SharedAcquire => self.holds[target][thread][1] += 1,
            Kind::SharedRelease => self.holds[target][thread][1] -= 1,
            Kind::Fork => {
                self.threads[target].forkable = false;
                // Some threads never get to run.
                self.threads[target].live = self.rng.chance(90);
            }
            Kind::Join => {
                self.threads[target].live = false;
                self.threads[target].forkable = false;
            }
            Kind::End => self.threads[thread].live = false,
            Kind::Enter => self.threads[thread].regions.push(name.to_owned()),
            Kind::Exit => drop(self.threads[thread].regions.pop()),
            Kind::Alloc | Kind::Free => {
                for part in self.parts(target).collect::<Vec<_>>() {
                    self.variables[part].value = self.rng.below(self.shape.values);
                }
                self.variables[target].freed |= kind == Kind::Free;
                self.variables[target].used = true;
            }
            _ if kind.reads() || kind.writes() => self.variables[target].used = true,
            _ => {}
        }
    }
}
