//! The law as formulas: a trace, a model and a claim become a satisfiability problem over an integer order.
//!
//! | symbol | means |
//! | --- | --- |
//! | `r7` | event 7 runs |
//! | `p7` | its place in the schedule, if it runs |
//! | `k7` | its thread is clean just before it; `kT2` at the end of thread 2 |
//! | `c7` | the read or wait 7, when it ran, was clean |
//!
//! Places enter only as strict comparisons that have to hold, never as ones that have to fail; so events that share
//! a place can be put in any order, and a solution is a schedule. `k` and `c` are implied in one direction only:
//! that a clean thread is taken for a tainted one takes nothing away that could help.

use std::fmt::Write;

use reweave_trace::{Kind, Model, Op, Trace};
use reweave_witness::Claim;

use super::facts::{Facts, Section};

/// Where an event's conditions are looked at: where it runs, or after the schedule, when it is to be next.
#[derive(Clone, Copy)]
enum At {
    Run(usize),
    End(usize),
}

impl At {
    fn event(self) -> usize {
        match self {
            At::Run(event) | At::End(event) => event,
        }
    }
}

/// A trace in a model.
pub(crate) struct Law<'t> {
    trace: &'t Trace,
    facts: Facts,
    model: Model,
}

impl<'t> Law<'t> {
    pub(crate) fn new(trace: &'t Trace, model: Model) -> Law<'t> {
        assert!(!model.by_dependence(), "the dependence models are not encoded");
        Law { trace, facts: Facts::new(trace), model }
    }

    /// Declarations, and what holds of every feasible reordering.
    pub(crate) fn script(&self) -> String {
        let mut script = String::new();
        for (thread, events) in self.facts.threads.iter().enumerate() {
            for &e in events {
                writeln!(script, "(declare-const r{e} Bool)(declare-const p{e} Int)").expect(STRING);
                writeln!(script, "(declare-const k{e} Bool)(declare-const c{e} Bool)").expect(STRING);
            }
            writeln!(script, "(declare-const kT{thread} Bool)").expect(STRING);
        }
        let mut assert = |formula: String| writeln!(script, "(assert {formula})").expect(STRING);
        for (thread, events) in self.facts.threads.iter().enumerate() {
            for &e in events {
                if let Some(previous) = self.facts.previous[e] {
                    assert(format!("(< p{previous} p{e})"));
                    assert(format!("(=> r{e} r{previous})"));
                    assert(format!("(=> k{e} (and k{previous} c{previous}))"));
                }
                assert(implies(format!("r{e}"), self.may_run(At::Run(e))));
                if self.can_be_unclean(e) {
                    assert(implies(format!("c{e}"), self.is_clean(At::Run(e))));
                }
            }
            if let Some(last) = events.last() {
                assert(format!("(=> kT{thread} (and k{last} c{last}))"));
            }
        }
        for sections in &self.facts.sections {
            for (place, a) in sections.iter().enumerate() {
                for b in sections[..place].iter().filter(|b| excludes(a, b)) {
                    let both = format!("(and r{} r{})", a.acquire, b.acquire);
                    assert(implies(both, any([self.left_before(a, b), self.left_before(b, a)])));
                }
            }
        }
        script
    }

    /// What a schedule that shows the claim has besides.
    pub(crate) fn asked(&self, claim: &Claim) -> String {
        let formula = match claim {
            Claim::CoEnabled(events) => {
                let events: Vec<usize> = events.iter().map(|event| event.index()).collect();
                self.all_next(&events)
            }
            Claim::Deadlock(acquires) => {
                let acquires: Vec<usize> = acquires.iter().map(|event| event.index()).collect();
                let stuck = match acquires[..] {
                    [only] => self.blocked_by_the_dead(only),
                    _ => self.blocked_in_a_ring(&acquires),
                };
                all([self.all_next(&acquires), stuck])
            }
            Claim::Sequence { events, adjacent } => {
                let pairs: Vec<_> =
                    events.windows(2).map(|pair| (pair[0].index(), pair[1].index())).collect();
                let run = events.iter().map(|event| format!("r{}", event.index()));
                all(run.chain([self.ordered(&pairs, adjacent)]))
            }
            Claim::Before { pairs, adjacent } => {
                let pairs: Vec<_> = pairs.iter().map(|(a, b)| (a.index(), b.index())).collect();
                self.ordered(&pairs, adjacent)
            }
            Claim::Asleep(_) | Claim::Unwritten(_) | Claim::Ahead { .. } => {
                panic!("this encoding has no words for {claim:?}")
            }
        };
        format!("(assert {formula})")
    }

    /// The event may run there, locks aside.
    fn may_run(&self, at: At) -> String {
        let e = at.event();
        let thread = self.thread(e);
        let mut needs = Vec::new();
        if let (None, Some(fork)) = (self.facts.previous[e], self.facts.fork[thread]) {
            needs.push(self.ran_before(fork, at));
        }
        let restricted = match self.model {
            Model::Sync => false,
            Model::Branch | Model::BranchValue => !TRANSPARENT.contains(&self.trace.kind(super::id(e))),
            _ => true,
        };
        if restricted {
            needs.push(format!("k{e}"));
        }
        match self.trace.op(super::id(e)) {
            Op::Join(child) => {
                let child = child.index();
                needs.extend(self.facts.fork[child].map(|fork| self.ran_before(fork, at)));
                needs.extend(self.facts.threads[child].last().map(|&last| self.ran_before(last, at)));
                needs.extend((self.model != Model::Sync).then(|| format!("kT{child}")));
            }
            Op::Busy(lock) => {
                let others = self.facts.sections[lock.index()].iter().filter(|other| other.thread != thread);
                needs.push(any(others.map(|other| self.open_at(other, at))));
            }
            Op::Wait(_) => {
                if let (Some(waker), Some(start)) = (self.facts.waker[e], self.facts.previous[e]) {
                    needs.push(self.ran_before(waker, at));
                    needs.push(self.before(start, waker));
                }
                if self.facts.waker[e].is_none() && self.model != Model::Sync {
                    needs.push(self.is_clean(at));
                }
            }
            Op::Update(_) if self.model != Model::Sync => needs.push(self.is_clean(at)),
            Op::FailedAttempt(_) if self.model != Model::Sync => {
                let read = self.facts.reads[e].iter().filter(|_| self.model.by_value());
                let fails = read.flat_map(|read| {
                    read.failing.iter().map(|&write| self.observes(at, read.variable, write))
                });
                needs.push(any([self.is_clean(at)].into_iter().chain(fails)));
            }
            op @ Op::Look(_) => {
                let later = self.facts.threads.iter().flatten();
                let later = later.filter(|&&other| other > e && self.trace.op(super::id(other)) == op);
                needs.extend(later.map(|&other| any([format!("(not r{other})"), self.after(other, at)])));
            }
            Op::Unseen(_) => {
                let earlier = self.facts.threads.iter().flatten().filter(|&&other| other < e);
                needs.extend(earlier.map(|&other| self.ran_before(other, at)));
            }
            Op::Call(_) if self.model != Model::Sync => {
                needs.extend(self.facts.calls[e].iter().map(|&other| self.ran_before(other, at)));
            }
            _ => {}
        }
        all(needs)
    }

    fn can_be_unclean(&self, e: usize) -> bool {
        use Kind::*;
        self.model != Model::Sync
            && matches!(self.trace.kind(super::id(e)), Read | AtomicRead | FailedAttempt)
    }

    /// The read, update or unwoken wait observes nothing new there.
    fn is_clean(&self, at: At) -> String {
        let e = at.event();
        if let Op::Wait(condition) = self.trace.op(super::id(e)) {
            let Some(start) = self.facts.previous[e] else { return TRUE.to_owned() };
            let outside = |&notification: &usize| {
                let sides = [self.before(notification, start), self.after(notification, at)];
                any([format!("(not r{notification})")].into_iter().chain(sides))
            };
            let others = self.facts.notifications[condition.index()].iter().filter(|&&other| other != start);
            return all(others.map(outside));
        }
        let Some(read) = &self.facts.reads[e] else { return TRUE.to_owned() };
        let equal: &[Option<usize>] = if self.model.by_value() { &read.equal } else { &[] };
        any(std::iter::once(&read.observed)
            .chain(equal)
            .map(|&write| self.observes(at, read.variable, write)))
    }

    /// The last write to the variable before that place is this one, and it is not tainted.
    fn observes(&self, at: At, variable: usize, write: Option<usize>) -> String {
        let others = self.facts.writers[variable].iter();
        let others = others.filter(|&&other| Some(other) != write && other != at.event());
        let hidden = others.map(|&other| {
            let earlier = write.map_or(FALSE.to_owned(), |write| self.before(other, write));
            any([format!("(not r{other})"), earlier, self.after(other, at)])
        });
        let there = write.map(|write| all([self.ran_before(write, at), format!("k{write}")]));
        all(hidden.chain(there))
    }

    fn open_at(&self, section: &Section, at: At) -> String {
        let still =
            section.release.map(|release| any([format!("(not r{release})"), self.after(release, at)]));
        all([self.ran_before(section.acquire, at)].into_iter().chain(still))
    }

    fn left_before(&self, first: &Section, second: &Section) -> String {
        let left = |release: usize| self.ran_before(release, At::Run(second.acquire));
        first.release.map_or(FALSE.to_owned(), left)
    }

    fn all_next(&self, events: &[usize]) -> String {
        let alone = |(place, &e): (usize, &usize)| {
            events[..place].iter().all(|&other| self.thread(other) != self.thread(e))
        };
        if !events.iter().enumerate().all(alone) {
            return FALSE.to_owned();
        }
        all(events.iter().map(|&e| {
            let previous = self.facts.previous[e].map(|previous| format!("r{previous}"));
            all([format!("(not r{e})"), self.may_run(At::End(e))].into_iter().chain(previous))
        }))
    }

    /// Some arrangement of the acquires has each blocked by a section that the next one's thread is in.
    fn blocked_in_a_ring(&self, acquires: &[usize]) -> String {
        let arrangements = arrangements(acquires);
        let ring = |order: &Vec<usize>| {
            let next = order.iter().cycle().skip(1);
            all(order.iter().zip(next).map(|(&e, &other)| {
                let sections = self.blocking(e).filter(|section| section.thread == self.thread(other));
                any(sections.map(|section| self.open_at(section, At::End(e))))
            }))
        };
        any(arrangements.iter().map(ring))
    }

    fn blocked_by_the_dead(&self, acquire: usize) -> String {
        any(self.blocking(acquire).map(|section| {
            let events = self.facts.threads[section.thread].iter();
            let ends = events.filter(|&&e| self.trace.kind(super::id(e)) == Kind::End);
            all([self.open_at(section, At::End(acquire)), any(ends.map(|end| format!("r{end}")))])
        }))
    }

    /// The sections of other threads that block an acquire while they are open.
    fn blocking(&self, acquire: usize) -> impl Iterator<Item = &Section> {
        let (sections, shared): (&[Section], bool) = match self.trace.op(super::id(acquire)) {
            Op::Acquire(lock) => (&self.facts.sections[lock.index()], false),
            Op::SharedAcquire(lock) => (&self.facts.sections[lock.index()], true),
            _ => (&[], false),
        };
        let thread = self.thread(acquire);
        sections.iter().filter(move |section| section.thread != thread && !(shared && section.shared))
    }

    fn ordered(&self, pairs: &[(usize, usize)], adjacent: &[usize]) -> String {
        let mut needs = Vec::new();
        for (place, &(a, b)) in pairs.iter().enumerate() {
            needs.extend([format!("r{a}"), format!("r{b}"), self.before(a, b)]);
            if adjacent.contains(&place) {
                let others = self.facts.threads.iter().flatten().filter(|&&e| e != a && e != b);
                needs.extend(
                    others.map(|&e| any([format!("(not r{e})"), self.before(e, a), self.before(b, e)])),
                );
            }
        }
        all(needs)
    }

    fn thread(&self, event: usize) -> usize {
        self.trace.thread(super::id(event)).index()
    }

    fn ran_before(&self, event: usize, at: At) -> String {
        match at {
            At::Run(other) => all([format!("r{event}"), self.before(event, other)]),
            At::End(_) => format!("r{event}"),
        }
    }

    /// An event that runs does so only after that place.
    fn after(&self, event: usize, at: At) -> String {
        match at {
            At::Run(other) => self.before(other, event),
            At::End(_) => FALSE.to_owned(),
        }
    }

    fn before(&self, a: usize, b: usize) -> String {
        if self.thread(a) == self.thread(b) {
            return if a < b { TRUE.to_owned() } else { FALSE.to_owned() };
        }
        format!("(< p{a} p{b})")
    }
}

const TRUE: &str = "true";
const FALSE: &str = "false";
const STRING: &str = "a string takes all";

/// What a tainted thread may still run in the branch models.
const TRANSPARENT: [Kind; 9] = [
    Kind::Read,
    Kind::Write,
    Kind::AtomicRead,
    Kind::AtomicWrite,
    Kind::Acquire,
    Kind::TryAcquire,
    Kind::Release,
    Kind::SharedAcquire,
    Kind::SharedRelease,
];

fn excludes(a: &Section, b: &Section) -> bool {
    a.thread != b.thread && !(a.shared && b.shared)
}

fn implies(premise: String, conclusion: String) -> String {
    format!("(=> {premise} {conclusion})")
}

fn all(formulas: impl IntoIterator<Item = String>) -> String {
    join("and", TRUE, FALSE, formulas)
}

fn any(formulas: impl IntoIterator<Item = String>) -> String {
    join("or", FALSE, TRUE, formulas)
}

/// `neutral` parts are left out, and one `absorbing` part is the whole.
fn join(
    operator: &str,
    neutral: &str,
    absorbing: &str,
    formulas: impl IntoIterator<Item = String>,
) -> String {
    let parts: Vec<String> = formulas.into_iter().filter(|part| part != neutral).collect();
    match &parts[..] {
        [] => neutral.to_owned(),
        [only] => only.clone(),
        parts if parts.iter().any(|part| part == absorbing) => absorbing.to_owned(),
        parts => format!("({operator} {})", parts.join(" ")),
    }
}

/// Every cyclic arrangement.
fn arrangements(events: &[usize]) -> Vec<Vec<usize>> {
    let Some((&first, rest)) = events.split_first() else { return Vec::new() };
    let mut found = vec![vec![first]];
    for &event in rest {
        let insert = |order: &Vec<usize>| -> Vec<Vec<usize>> {
            let put = |place| [&order[..place], &[event], &order[place..]].concat();
            (1..=order.len()).map(put).collect()
        };
        found = found.iter().flat_map(insert).collect();
    }
    found
}
