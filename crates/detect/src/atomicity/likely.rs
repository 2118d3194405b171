//! Which interleavings are likely to be bugs.
//!
//! Most interleavings of two accesses with a third are harmless: another round of a loop, a wait for a condition, an atomic that is
//! tried again. A likely bug is one where a thread acts on something that it can no longer be sure of: it read a value under
//! a lock, let go, and wrote or went on without looking again; or it left two things that belong together half done.
//!
//! Judged twice: the two local accesses as soon as they are seen ([`Likely::is_local`]), so that nothing is spent on others, and
//! the accesses of the other thread when they meet them ([`Likely::is_intruded`]). An *instruction* is a site and the calls
//! that lead to it. Where the trace marks what is meant to be one step, all of that is likely.
//!
//! Where the trace has a table of dependences, a read that nothing uses any more is not acted on ([`Uses`]).
//!
//! The rule is in `docs/atomicity.md`.

use hashbrown::{HashMap, HashSet};
use reweave_decide::{Prepared, Section};
use reweave_trace::{ContextId, Core, EventId, Kind, Op, ProgramOrder, SiteId, ThreadId, Trace, VarId};

use super::Touch;
use super::local::has_regions;
use super::uses::Uses;
use crate::locksets::Locksets;

/// Accesses with more events of their thread between them are not looked at.
const FARTHEST: usize = 4096;

/// How many locks of an access are looked at.
const MOST_LOCKS: usize = 16;

type Instruction = (SiteId, ContextId);

/// What the rule needs to know about a trace.
pub(super) struct Likely<'a> {
    whole: &'a Trace,
    core: &'a Core,
    prepared: &'a Prepared<'a>,
    /// The program order of the whole trace, which has the branches and calls that the core lacks.
    order: ProgramOrder,
    marked: bool,
    /// When each instruction first ran in each thread, in the core.
    first: HashMap<(ThreadId, Instruction), EventId>,
    /// Where each thread is joined, in the core.
    joins: HashMap<ThreadId, Vec<EventId>>,
    /// The releases that start a wait, in the core.
    starts: HashSet<EventId>,
    /// Who uses what was read, where the trace has a table of dependences.
    uses: Option<Uses>,
}

/// What happens in a thread between two of its accesses.
#[derive(Default)]
struct Between {
    /// The waits, in the whole trace.
    waits: Vec<EventId>,
    /// The variables that are accessed.
    touched: Vec<VarId>,
}

/// Two accesses of a thread, and the section of the first that protects it.
struct Halves {
    events: [EventId; 2],
    protector: Option<Section>,
}

impl<'a> Likely<'a> {
    pub(super) fn new(whole: &'a Trace, core: &'a Core, prepared: &'a Prepared<'a>) -> Likely<'a> {
        let starts = prepared.links.waits().iter().map(|link| link.start).collect();
        let mut likely = Likely {
            whole,
            core,
            prepared,
            order: ProgramOrder::new(whole),
            marked: has_regions(prepared.trace),
            first: HashMap::new(),
            joins: HashMap::new(),
            starts,
            uses: Uses::new(whole),
        };
        for (event, one) in prepared.trace.events() {
            match one.op {
                Op::Join(thread) => likely.joins.entry(thread).or_default().push(event),
                op if op.access().is_some() => {
                    let key = (one.thread, likely.instruction(core.original(event)));
                    likely.first.entry(key).or_insert(event);
                }
                _ => {}
            }
        }
        likely
    }

    fn instruction(&self, event: EventId) -> Instruction {
        (self.whole.site(event), self.whole.context(event))
    }

    /// Whether two events of the whole trace are in one function that was called the same way.
    fn is_one_function(&self, a: EventId, b: EventId) -> bool {
        let function =
            |event| self.whole.site_name(self.whole.site(event)).split_once(' ').map(|(name, _)| name);
        self.whole.context(a) == self.whole.context(b) && function(a) == function(b)
    }

    /// The critical sections around an access.
    pub(super) fn sections(&self, touch: &Touch, locksets: &Locksets) -> Vec<Section> {
        let position = self.prepared.position(touch.event);
        let holds = locksets.holds(touch.locks).take(MOST_LOCKS);
        holds.flat_map(|hold| self.prepared.open_sections(hold.lock, touch.thread, position)).collect()
    }

    /// Whether two accesses of a thread may be the local half of a likely bug.
    pub(super) fn is_local(&self, pattern: &str, [i, k]: [&Touch; 2], sections: [&[Section]; 2]) -> bool {
        if self.marked {
            return true;
        }
        let kinds = [i, k].map(|touch| self.prepared.trace.kind(touch.event));
        let protector = protector(sections);
        let halves = Halves { events: [i.event, k.event], protector };
        if matches!(pattern, "RWW" | "RWR") && self.is_forgotten(&halves) {
            return false;
        }
        if kinds.iter().all(|kind| matches!(kind, Kind::Read | Kind::Write)) {
            return protector.is_some() && self.is_locked(pattern, &halves);
        }
        let retried = kinds[0] == Kind::AtomicRead && matches!(kinds[1], Kind::AtomicWrite | Kind::Update);
        pattern == "RWW" && retried && self.between(&halves).is_some()
    }

    /// The same for plain accesses in two sections.
    fn is_locked(&self, pattern: &str, halves: &Halves) -> bool {
        let [i, k] = halves.events.map(|event| self.core.original(event));
        let Some(between) = self.between(halves) else { return false };
        let (waits, one_function) = (!between.waits.is_empty(), self.is_one_function(i, k));
        match pattern {
            "RWW" => true,
            "RWR" if !waits => !self.decides_at_once(halves),
            "RWR" => one_function && self.waits_out(halves, &between),
            "WWR" | "WRW" | "WxRxRyWy" => !waits && one_function,
            "RxWxWyRy" => {
                let x = self.whole.op(i).access().map(|access| access.variable);
                !waits && x.is_some_and(|x| !between.touched.contains(&x))
            }
            _ => false,
        }
    }

    /// Whether nothing uses what the first access read once the other thread can have written: no event after the section that protects
    /// it, and nothing that the thread decided.
    fn is_forgotten(&self, halves: &Halves) -> bool {
        let Some(uses) = &self.uses else { return false };
        let i = self.core.original(halves.events[0]);
        // A section that was left open has no end that the other thread could have waited for.
        let end = halves.protector.and_then(|section| section.release);
        !uses.later(i, end.map_or(i, |release| self.core.original(release)))
    }

    /// Whether the thread branches at the first access itself while it is still protected: what it read was used there.
    fn decides_at_once(&self, halves: &Halves) -> bool {
        let i = self.core.original(halves.events[0]);
        let release = halves.protector.and_then(|section| section.release);
        let end = release.map_or(self.core.original(halves.events[1]), |release| self.core.original(release));
        let own = self.instruction(i);
        let mut inside = self.stretch(i, end).iter().copied();
        inside.any(|event| self.whole.kind(event) == Kind::Branch && self.instruction(event) == own)
    }

    /// Whether a wait of the same function ends the section of the first access.
    fn waits_out(&self, halves: &Halves, between: &Between) -> bool {
        let release = halves.protector.and_then(|section| section.release);
        let i = self.core.original(halves.events[0]);
        release.is_some_and(|release| self.starts.contains(&release))
            && between.waits.iter().all(|&wait| self.is_one_function(i, wait))
    }

    /// The events of a thread of the whole trace from one of its events, not included, to another, not included.
    fn stretch(&self, from: EventId, to: EventId) -> &[EventId] {
        let events = self.order.of(self.whole.thread(from));
        let start = events.partition_point(|&event| event <= from);
        let end = events.partition_point(|&event| event < to);
        &events[start..end.max(start)]
    }

    /// What happens between the two halves; none where they are of different rounds of a loop, or very far apart.
    fn between(&self, halves: &Halves) -> Option<Between> {
        let [i, k] = halves.events;
        let thread = self.prepared.trace.thread(i);
        let [start, end] = halves.events.map(|event| self.core.original(event));
        let own = [start, end].map(|event| self.instruction(event));
        let named = own.iter().all(|&(site, _)| !self.whole.site_name(site).is_empty());
        let first = |instruction| self.first.get(&(thread, instruction)).copied();
        let inside = self.stretch(start, end);
        if inside.len() > FARTHEST || named && (own[0] == own[1] || first(own[1]) < first(own[0])) || i >= k {
            return None;
        }
        let mut between = Between::default();
        for &event in inside {
            let op = self.whole.op(event);
            if op.kind() == Kind::Wait {
                between.waits.push(event);
            }
            if let Some(access) = op.access() {
                between.touched.push(access.variable);
                if named && own.contains(&self.instruction(event)) {
                    return None;
                }
            }
        }
        let since = halves.protector.map_or(i, |section| section.acquire);
        (!named || !self.acquires_again(self.core.original(since), end)).then_some(between)
    }

    /// Whether the thread runs an acquire twice from one event of the whole trace on, that included, to another.
    fn acquires_again(&self, since: EventId, end: EventId) -> bool {
        let inside = self.stretch(since, end);
        let mut seen: Vec<Instruction> = Vec::new();
        for event in std::iter::once(since).chain(inside.iter().copied().take(FARTHEST)) {
            if matches!(self.whole.kind(event), Kind::Acquire | Kind::TryAcquire | Kind::SharedAcquire) {
                let instruction = self.instruction(event);
                // A wait takes its lock again where it let go of it.
                let woken = self.order.of(self.whole.thread(event));
                let place = woken.partition_point(|&other| other < event);
                let after_wait = place > 0 && self.whole.kind(woken[place - 1]) == Kind::Wait;
                if seen.contains(&instruction) && !after_wait {
                    return true;
                }
                seen.push(instruction);
            }
        }
        inside.len() > FARTHEST
    }

    /// Whether accesses of another thread make a likely bug with two that [`Likely::is_local`] accepts: `events` is the
    /// pattern in its order.
    pub(super) fn is_intruded(&self, pattern: &str, events: &[EventId]) -> bool {
        let (Some(&first), Some(&last), Some(&j)) = (events.first(), events.last(), events.get(1)) else {
            return false;
        };
        if self.marked {
            return true;
        }
        let trace = self.prepared.trace;
        let intruder = trace.thread(j);
        let inside =
            |&event: &EventId| trace.thread(event) == trace.thread(first) && first < event && event < last;
        let joined = self.joins.get(&intruder).is_some_and(|joins| joins.iter().any(&inside));
        if joined || self.prepared.links.fork(intruder).is_some_and(|fork| inside(&fork)) {
            return false;
        }
        match pattern {
            "WRW" => !self.waits_after(j),
            "RxWxWyRy" | "WxRxRyWy" => self.is_one_section([first, last], [j, events[2]]),
            _ => true,
        }
    }

    /// Whether a section around an access ends in a wait.
    fn waits_after(&self, event: EventId) -> bool {
        let mut around = self.around(event);
        around.any(|section| section.release.is_some_and(|release| self.starts.contains(&release)))
    }

    fn around(&self, event: EventId) -> impl Iterator<Item = Section> {
        let thread = self.prepared.trace.thread(event);
        self.prepared.open_at(event).into_iter().filter(move |section| section.thread == thread)
    }

    /// Whether two accesses are in two sections on a lock on which two others are in one.
    fn is_one_section(&self, apart: [EventId; 2], together: [EventId; 2]) -> bool {
        let mut around = self.around(together[0]);
        let at = |event: EventId, section: &Section| {
            let position = self.prepared.position(event);
            let thread = self.prepared.trace.thread(event);
            self.prepared.open_sections(section.lock, thread, position).next()
        };
        around.any(|section| {
            let same = at(together[1], &section).is_some_and(|other| other.acquire == section.acquire);
            let first = at(apart[0], &section);
            let second = at(apart[1], &section);
            same && first.zip(second).is_some_and(|(a, b)| a.acquire != b.acquire)
        })
    }
}

/// The section of the first half that protects it, where both halves are protected but not by one section: on a lock that
/// protects both, or where there is no such lock the innermost.
fn protector([first, second]: [&[Section]; 2]) -> Option<Section> {
    let other = |section: &&Section| second.iter().find(|other| other.lock == section.lock);
    let common = first.iter().filter(|section| other(section).is_some()).count();
    let left =
        first.iter().find(|section| other(section).is_some_and(|other| other.acquire != section.acquire));
    let innermost = first.iter().max_by_key(|section| section.acquire);
    left.or(innermost.filter(|_| common == 0 && !second.is_empty())).copied()
}
