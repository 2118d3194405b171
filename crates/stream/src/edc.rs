//! Weak-doesn't-commute with calls, and pairs of events that must not change places.
//!
//! After OVPredict: weak-doesn't-commute ([`wdc`](crate::wdc)) in which calls are ordered only where they do not commute, and which
//! looks for *order pairs*: a use of an object and its later free, a call that a specification puts before a later one (a send
//! and the closing of its channel), the use of a lock or condition variable and its later destruction. An order pair orders
//! nothing; every other conflict does, as in `wdc`, and calls on one object that do not commute are ordered wherever they are.
//!
//! A pair is reported when the order leaves it free. Where both events hold a lock, one of them exclusively, their sections have to change
//! places as a whole: so nothing of the first may come before the release of the second, which is known at that release. As
//! printed, the published algorithm joins the first section into the second at the very pair that it looks for, and finds
//! nothing; and it calls its pairs real, which they need not be.
//!
//! Where all methods of a type have access points, these say which calls commute; they may be stricter than its conditions.
//! A use is an access of a field (`p.f`), or of an object itself whose birth was observed; an operation on a lock or condition
//! variable that lies in the object (`p.m`); and the release with which a wait starts, known once the wait returns. Types, and which arguments are
//! objects, are taken from what came before (`reweave_spec::LiveCalls`).
//!
//! **Guarantee:** none: vindication tells (`reweave stream --vindicate`).
//! **Misses:** what `wdc` misses; pairs on an object with more than 64 different calls at once of a type without access points, where
//! the next call counts as one that conflicts with all.
//! **Cost:** as `wdc`; a call touches one or two access points, or is compared with the different calls on its object. Memory:
//! besides, a clock for each access point and thread, and the last use of each field and lock by a thread under the same locks.

mod calls;
mod uses;

use reweave_trace::LockId;

use crate::clock::{Shared, time};
use crate::detector::Detector;
use crate::front::{Facts, Objects, Thing};
use crate::frontier::Access;
use crate::run::{Analyse, Race, Sink};
use crate::step::{Cell, Code, Step, Touch, at};
use crate::wdc::Wdc;
use calls::Called;
use uses::{Held, RELEASE, Use, Uses, locks};

const READ: Touch = Touch { reads: true, writes: false, atomic: false, conditional: false };
const WRITE: Touch = Touch { reads: false, writes: true, atomic: false, conditional: false };

/// The analysis.
#[derive(Debug)]
pub(crate) struct Edc {
    detector: Detector<Wdc>,
    all: bool,
    variables: Vec<Uses>,
    locks: Vec<Uses>,
    conditions: Vec<Uses>,
    /// Per thread, its last release: where a wait may start.
    released: Vec<Option<Use>>,
    called: Called,
    /// Per thread, pairs whose later event is in a section that has not ended.
    pending: Vec<Vec<Pending>>,
}

/// An order pair with locks in common.
#[derive(Debug)]
struct Pending {
    earlier: Access,
    later: Access,
    /// The locks whose sections have not ended: how the later event holds each, and when the earlier one acquired it.
    open: Vec<Held>,
    lock: u32,
}

impl Edc {
    /// An analysis that finds every partner of an event, or some.
    pub(crate) fn new(all: bool) -> Edc {
        Edc {
            detector: Detector::new(all),
            all,
            variables: Vec::new(),
            locks: Vec::new(),
            conditions: Vec::new(),
            released: Vec::new(),
            called: Called::default(),
            pending: Vec::new(),
        }
    }

    /// The use that `step` is, with the locks that its thread holds.
    fn used(&mut self, step: &Step, kind: u32) -> Use {
        let now = self.detector.order.threads.of(step.thread).now;
        let access = Access::new(step, now, READ);
        Use { access, kind, call: 0, locks: locks(self.detector.order.sections.held(step.thread)) }
    }

    fn note_use(&mut self, step: &Step) {
        let used = self.used(step, 0);
        at(&mut self.variables, step.target).add(used, self.all);
    }

    fn note_lock(&mut self, step: &Step, kind: u32) {
        let used = self.used(step, kind);
        at(&mut self.locks, step.target).add(used, self.all);
    }

    /// A release uses what its lock lies in, and where a wait starts with it, the condition variable.
    fn note_release(&mut self, step: &Step, objects: &Objects) {
        if objects.may_have(step.target) {
            self.note_lock(step, RELEASE);
        }
        *at(&mut self.released, step.thread) = Some(self.used(step, 0));
    }

    /// A wait returns, whose start is known from now on.
    fn note_start(&mut self, step: &Step) {
        let released = at(&mut self.released, step.thread).take();
        if let Some(used) = released.filter(|used| used.access.event == step.event) {
            at(&mut self.conditions, step.target).add(used, self.all);
        }
    }

    #[inline]
    fn access(&mut self, step: &Step, touch: Touch, facts: &Facts, sink: &mut Sink<'_>) {
        if facts.objects.is_part(step.target) {
            self.note_use(step);
        }
        self.detector.access(step, touch, &facts.objects, sink);
    }

    /// The death of an object: against its birth and that of others as any access, against its uses as an order pair.
    fn free(&mut self, step: &Step, objects: &Objects, sink: &mut Sink<'_>) {
        let mut others = std::mem::take(&mut self.detector.others);
        others.clear();
        crate::detector::meets(Cell::of(step), objects, &mut others);
        let is_use = |cell: &Cell| !cell.split().0 && objects.is_part(cell.split().1 as u32);
        others.retain(|cell| !is_use(cell));
        self.detector.others = others;
        let mut told = false;
        self.detector.access_among(step, WRITE, &mut |race| {
            told = true;
            sink(race);
        });
        let below = objects.below(step.target);
        let parts = below.into_iter().filter(|&variable| objects.is_part(variable));
        let mut uses = Vec::new();
        for variable in parts {
            // They stay: an object inside of this one may die later.
            uses.extend_from_slice(&at(&mut self.variables, variable).list);
        }
        for thing in objects.things_in(step.target) {
            let lives = match thing {
                Thing::Lock(lock) => at(&mut self.locks, lock),
                Thing::Condition(condition) => at(&mut self.conditions, condition),
            };
            uses.extend(lives.of_all_lives().cloned());
        }
        uses.sort_unstable_by_key(|used| used.access.event);
        // A wait may start with the release of a lock that lies there, too.
        uses.dedup_by_key(|used| used.access.event);
        self.judge(step, &uses, told, sink);
    }

    /// Reports the order pairs of `uses` and a later event, or keeps them until its sections end. Of those that hold no lock in
    /// common one is enough, unless all are wanted.
    fn judge(&mut self, step: &Step, uses: &[Use], mut told: bool, sink: &mut Sink<'_>) {
        let thread = step.thread;
        let wdc = &mut self.detector.order;
        let now = wdc.threads.of(thread).now;
        let later = Access::new(step, now, WRITE);
        let clock = wdc.threads.clock(thread);
        let held = wdc.sections.held(thread);
        for used in uses.iter().filter(|used| used.access.thread() != thread) {
            let known = time(clock, used.access.thread());
            let open = used.in_common(held);
            let Some(first) = open.first() else {
                if known < used.access.time && (self.all || !told) {
                    told = true;
                    sink(Race { order: true, ..Race::new(&used.access, &later) });
                }
                continue;
            };
            if open.iter().all(|held| held.acquired > known) {
                let lock = first.lock;
                at(&mut self.pending, thread).push(Pending { earlier: used.access, later, open, lock });
            }
        }
    }

    /// A section of `thread` ends: its pairs are free unless something of the other section came before.
    fn settle(&mut self, thread: u32, lock: u32, shared: bool, sink: &mut Sink<'_>) {
        let Some(pending) = self.pending.get_mut(thread as usize).filter(|pending| !pending.is_empty())
        else {
            return;
        };
        let clock = self.detector.order.threads.clock(thread);
        pending.retain_mut(|pair| {
            let known = time(clock, pair.earlier.thread());
            let ends = |held: &Held| held.lock == lock && held.shared == shared;
            if pair.open.iter().any(|held| ends(held) && held.acquired <= known) {
                return false;
            }
            pair.open.retain(|held| !ends(held));
            if pair.open.is_empty() {
                sink(pair.race());
            }
            !pair.open.is_empty()
        });
    }

    fn call(&mut self, step: &Step, facts: &Facts, sink: &mut Sink<'_>) {
        let calls = &facts.calls;
        let resolved = calls.of(step.target);
        self.called.follow(&mut self.detector.order.threads, step, calls);
        let mut uses = self.called.overtaken(step, calls);
        if resolved.ends {
            // Whoever uses the name after this uses another object.
            let of_name = |lists: &mut Vec<Uses>, number: Option<u32>| {
                number.map(|number| at(lists, number).end()).unwrap_or_default()
            };
            uses.append(&mut of_name(&mut self.locks, resolved.lock));
            uses.append(&mut of_name(&mut self.conditions, resolved.condition));
            uses.sort_unstable_by_key(|used| used.access.event);
        }
        self.judge(step, &uses, false, sink);
        if resolved.overtaken {
            let used = Use { call: step.target, ..self.used(step, resolved.kind) };
            self.called.note(resolved, &used, self.all);
        }
        let state = self.detector.order.threads.of(step.thread);
        let stamp = Shared::new(step.thread, state.now, &state.clock);
        let clock = &state.clock;
        self.called.lead(step, calls, stamp, |other| time(clock, other));
        state.now += 1;
    }

    fn other(&mut self, step: &Step, facts: &Facts, sink: &mut Sink<'_>) {
        match step.code {
            Code::Acquire | Code::SharedAcquire => {
                self.detector.other(step);
                let mut used = self.used(step, 0);
                // The acquire itself is over by now.
                used.access.time = used.locks.last().map_or(used.access.time, |held| held.acquired);
                at(&mut self.locks, step.target).add(used, self.all);
            }
            Code::Release | Code::SharedRelease => {
                self.settle(step.thread, step.target, step.code == Code::SharedRelease, sink);
                self.note_release(step, &facts.objects);
                self.detector.other(step);
            }
            Code::Tried => self.note_lock(step, 0),
            Code::Started => self.note_start(step),
            Code::Signal => {
                let used = self.used(step, 0);
                at(&mut self.conditions, step.target).add(used, self.all);
            }
            Code::Call => self.call(step, facts, sink),
            Code::CallWake | Code::CallNotify => {}
            _ => self.detector.other(step),
        }
    }
}

impl Pending {
    fn race(&self) -> Race {
        Race { order: true, lock: Some(LockId(self.lock)), ..Race::new(&self.earlier, &self.later) }
    }
}

impl Analyse for Edc {
    fn steps(&mut self, steps: &[Step], facts: &Facts, sink: &mut Sink<'_>) {
        for step in steps {
            match step.code {
                Code::Read => self.access(step, READ, facts, sink),
                Code::Write => self.access(step, WRITE, facts, sink),
                Code::Free => self.free(step, &facts.objects, sink),
                Code::Lifetime => self.detector.rare_access(step, WRITE, &facts.objects, sink),
                code => match code.access() {
                    Some(touch) => self.access(step, touch, facts, sink),
                    None => self.other(step, facts, sink),
                },
            }
        }
    }

    fn finish(&mut self, sink: &mut Sink<'_>) {
        for (thread, pending) in std::mem::take(&mut self.pending).into_iter().enumerate() {
            let clock = self.detector.order.threads.clock(thread as u32);
            for pair in pending {
                let known = time(clock, pair.earlier.thread());
                if pair.open.iter().all(|held| held.acquired > known) {
                    sink(pair.race());
                }
            }
        }
    }
}
