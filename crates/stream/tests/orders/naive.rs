//! The orders and races by their definitions: relations as sets of pairs, closed step by step.
//!
//! Written from the papers and `docs/semantics.md`. Nothing here comes from the analyses under test.

use reweave_stream::Analysis;
use reweave_trace::{ConditionId, EventId, LockId, Op, ThreadId, Trace};

use super::relation::{Relation, add, closed, compose, has, union};

/// A critical section: the outermost acquire of a nest, and its release.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Section {
    pub(crate) thread: ThreadId,
    pub(crate) lock: LockId,
    pub(crate) shared: bool,
    pub(crate) acquire: usize,
    pub(crate) release: Option<usize>,
}

/// A trace with what its definitions speak of.
pub(crate) struct Naive<'t> {
    pub(crate) trace: &'t Trace,
    pub(crate) ids: Vec<EventId>,
    pub(crate) sections: Vec<Section>,
    /// Whether calls that commute may change places.
    commuting: bool,
}

impl<'t> Naive<'t> {
    pub(crate) fn new(trace: &'t Trace) -> Naive<'t> {
        let ids: Vec<EventId> = trace.ids().filter(|&id| trace.op(id) != Op::Skip).collect();
        assert!(ids.len() <= 64, "a row has 64 bits");
        let mut naive = Naive { trace, ids, sections: Vec::new(), commuting: false };
        naive.sections = naive.find_sections();
        naive
    }

    /// The same, for an analysis that knows which calls commute.
    pub(crate) fn commuting(trace: &'t Trace) -> Naive<'t> {
        Naive { commuting: true, ..Naive::new(trace) }
    }

    /// Every racy pair of an analysis, earlier event first.
    pub(crate) fn races(&self, analysis: Analysis) -> Vec<(EventId, EventId)> {
        let unordered: Box<dyn Fn(usize, usize) -> bool> = match analysis {
            Analysis::Hb => {
                let order = self.hb();
                Box::new(move |a, b| !has(&order, a, b))
            }
            Analysis::Shb => {
                let orders: Vec<Relation> = self.events().map(|b| self.shb_before_observing(b)).collect();
                Box::new(move |a, b| !has(&orders[b], a, b))
            }
            Analysis::Wdc => {
                let order = self.wdc();
                Box::new(move |a, b| !has(&order, a, b))
            }
            Analysis::Wcp => {
                let order = self.wcp();
                Box::new(move |a, b| !has(&order, a, b))
            }
            Analysis::SyncP => Box::new(|a, b| self.syncp(a, b)),
            Analysis::Edc => unreachable!("it has two kinds of pairs"),
        };
        let mut found = Vec::new();
        for b in 0..self.ids.len() {
            for a in 0..b {
                if self.trace.conflict(self.ids[a], self.ids[b]) && unordered(a, b) {
                    found.push((self.ids[a], self.ids[b]));
                }
            }
        }
        found
    }

    pub(crate) fn op(&self, e: usize) -> Op {
        self.trace.op(self.ids[e])
    }

    pub(crate) fn thread(&self, e: usize) -> ThreadId {
        self.trace.thread(self.ids[e])
    }

    pub(crate) fn events(&self) -> std::ops::Range<usize> {
        0..self.ids.len()
    }

    fn find_sections(&self) -> Vec<Section> {
        let mut sections: Vec<Section> = Vec::new();
        let mut depth = std::collections::HashMap::new();
        for e in self.events() {
            let (lock, shared, opens) = match self.op(e) {
                Op::Acquire(lock) | Op::TryAcquire(lock) => (lock, false, true),
                Op::Release(lock) => (lock, false, false),
                Op::SharedAcquire(lock) => (lock, true, true),
                Op::SharedRelease(lock) => (lock, true, false),
                _ => continue,
            };
            let thread = self.thread(e);
            let depth = depth.entry((thread, lock, shared)).or_insert(0);
            if opens {
                *depth += 1;
                if *depth == 1 {
                    sections.push(Section { thread, lock, shared, acquire: e, release: None });
                }
            } else {
                *depth -= 1;
                if *depth == 0 {
                    let same = |s: &&mut Section| (s.thread, s.lock, s.shared) == (thread, lock, shared);
                    sections.iter_mut().rev().find(same).expect("an acquire").release = Some(e);
                }
            }
        }
        sections
    }

    pub(crate) fn inside(&self, section: &Section, e: usize) -> bool {
        self.thread(e) == section.thread
            && section.acquire <= e
            && section.release.is_none_or(|release| e <= release)
    }

    /// Pairs of sections of one lock that exclude each other, of different threads, with the release of the first.
    pub(crate) fn successive(&self) -> Vec<(Section, usize, Section)> {
        let mut found = Vec::new();
        for &first in &self.sections {
            for &second in &self.sections {
                if let Some(release) = first.release
                    && first.lock == second.lock
                    && first.thread != second.thread
                    && !(first.shared && second.shared)
                    && release < second.acquire
                {
                    found.push((first, release, second));
                }
            }
        }
        found
    }

    /// Whether two events touch the same memory and one writes it, atomic or not.
    pub(crate) fn clash(&self, a: usize, b: usize) -> bool {
        let (Some(x), Some(y)) = (self.op(a).access(), self.op(b).access()) else { return false };
        (x.writes || y.writes) && self.same_memory(a, b)
    }

    fn same_memory(&self, a: usize, b: usize) -> bool {
        let (Some(x), Some(y)) = (self.op(a).access(), self.op(b).access()) else { return false };
        let objects = self.trace.objects();
        x.variable == y.variable
            || x.lifetime && objects.covers(x.variable, y.variable)
            || y.lifetime && objects.covers(y.variable, x.variable)
    }

    fn observed(&self, e: usize) -> Option<usize> {
        if !self.op(e).access()?.reads {
            return None;
        }
        (0..e).rev().find(|&w| self.op(w).access().is_some_and(|a| a.writes) && self.same_memory(w, e))
    }

    fn start(&self, wait: usize) -> usize {
        (0..wait).rev().find(|&e| self.thread(e) == self.thread(wait)).unwrap_or(wait)
    }

    fn waker(&self, wait: usize, condition: ConditionId) -> Option<usize> {
        let earlier = (0..wait).filter(|&e| self.op(e) == Op::Wait(condition));
        let taken: Vec<Option<usize>> = earlier.map(|e| self.waker(e, condition)).collect();
        (self.start(wait) + 1..wait).find(|&e| {
            self.op(e) == Op::NotifyAll(condition)
                || self.op(e) == Op::Notify(condition) && !taken.contains(&Some(e))
        })
    }

    /// Whether a wait returned though others had taken the notifications since its start.
    fn missed(&self, e: usize) -> bool {
        let Op::Wait(condition) = self.op(e) else { return false };
        let notifies = |n| self.op(n) == Op::Notify(condition) || self.op(n) == Op::NotifyAll(condition);
        self.waker(e, condition).is_none() && (self.start(e) + 1..e).any(notifies)
    }

    /// Whether both are calls, and a name of an object, an argument or a result is in both.
    fn share_a_word(&self, a: usize, b: usize) -> bool {
        let words = |e: usize| match self.op(e) {
            op @ Op::Call(_) => {
                let text = self.trace.target_name(op).unwrap_or_default();
                let head = text.split(['(', '=']).next().unwrap_or_default();
                let object = head.rsplit_once('.').map_or("", |(object, _)| object);
                let rest = text.split(['(', ')', ',', '=']).skip(1).filter(|word| !word.is_empty());
                // A word before the object's name is its type, or part of the name.
                let name = object.split_once(' ').map_or(object, |(_, name)| name);
                [object, name].into_iter().chain(rest).collect()
            }
            _ => Vec::new(),
        };
        let (a, b): (Vec<&str>, Vec<&str>) = (words(a), words(b));
        a.iter().any(|word| b.contains(word))
    }

    /// The acquire that made an attempt fail: the exclusive one or, of shared ones, the first.
    fn blocker(&self, e: usize) -> Option<usize> {
        let Op::Busy(lock) = self.op(e) else { return None };
        let holds = |s: &&Section| {
            s.lock == lock
                && s.thread != self.thread(e)
                && s.acquire < e
                && s.release.is_none_or(|release| release > e)
        };
        let found = self.sections.iter().filter(holds).min_by_key(|s| (s.shared, s.acquire));
        found.map(|section| section.acquire)
    }

    /// What each event needs at once besides those before it in its thread: the edges that every order has, without
    /// those of atomic accesses.
    fn needs(&self, e: usize) -> Vec<usize> {
        let mut needs: Vec<usize> =
            self.events().filter(|&f| self.op(f) == Op::Fork(self.thread(e))).collect();
        let others = |&f: &usize| self.thread(f) != self.thread(e);
        match self.op(e) {
            // Also a thread that does nothing is there to be joined only once it was forked.
            Op::Join(child) => needs
                .extend(self.events().filter(|&f| self.thread(f) == child || self.op(f) == Op::Fork(child))),
            Op::Wait(condition) => needs.extend(self.waker(e, condition)),
            Op::Unseen(_) => needs.extend((0..e).filter(others)),
            Op::Look(_) => needs.extend((0..e).filter(others).filter(|&f| self.op(f) == self.op(e))),
            Op::Call(_) if self.commuting => {}
            Op::Call(_) => needs.extend((0..e).filter(others).filter(|&f| self.share_a_word(f, e))),
            _ => needs.extend(self.blocker(e)),
        }
        needs
    }

    pub(crate) fn hard(&self) -> Relation {
        let mut order = vec![0; self.ids.len()];
        for e in self.events() {
            for f in self.needs(e) {
                add(&mut order, f, e);
            }
            for f in 0..e {
                let atomic = |e: usize| self.op(e).access().is_some_and(|access| access.atomic);
                if atomic(e) && atomic(f) && self.thread(e) != self.thread(f) && self.clash(f, e) {
                    add(&mut order, f, e);
                }
            }
        }
        order
    }

    pub(crate) fn with_program_order(&self, mut order: Relation) -> Relation {
        for e in self.events() {
            for f in 0..e {
                if self.thread(f) == self.thread(e) {
                    add(&mut order, f, e);
                }
            }
        }
        order
    }

    fn hb_edges(&self) -> Relation {
        let mut order = self.with_program_order(self.hard());
        for (_, release, second) in self.successive() {
            add(&mut order, release, second.acquire);
        }
        order
    }

    fn hb(&self) -> Relation {
        closed(self.hb_edges())
    }

    /// Schedulable happens-before, without the observation of `last`.
    fn shb_before_observing(&self, last: usize) -> Relation {
        let mut order = self.hb_edges();
        for e in self.events().filter(|&e| e != last) {
            if let Some(write) = self.observed(e) {
                add(&mut order, write, e);
            }
        }
        closed(order)
    }

    /// From a release to an event of a later section that clashes with one before the release.
    fn conflicting_sections(&self, order: &mut Relation) {
        for (first, release, second) in self.successive() {
            for b in self.events().filter(|&b| self.inside(&second, b)) {
                if self.events().any(|a| self.inside(&first, a) && self.clash(a, b)) {
                    add(order, release, b);
                }
            }
        }
    }

    pub(crate) fn wdc(&self) -> Relation {
        let mut order = self.with_program_order(self.hard());
        self.conflicting_sections(&mut order);
        closed(order)
    }

    fn wcp(&self) -> Relation {
        let hb = self.hb();
        let mut order = self.hard();
        self.conflicting_sections(&mut order);
        loop {
            let before = order.clone();
            order = union(&order, &union(&compose(&hb, &order), &compose(&order, &hb)));
            for (first, release, second) in self.successive() {
                let Some(end) = second.release else { continue };
                let inside = |section, e: &usize| self.inside(section, *e);
                let related = self
                    .events()
                    .filter(|a| inside(&first, a))
                    .any(|a| self.events().filter(|b| inside(&second, b)).any(|b| has(&order, a, b)));
                if related {
                    add(&mut order, release, end);
                }
            }
            if order == before {
                return order;
            }
        }
    }

    /// Whether two conflicting events are a synchronization-preserving race.
    fn syncp(&self, a: usize, b: usize) -> bool {
        let update = |e: usize| matches!(self.op(e), Op::Update(_) | Op::FailedAttempt(_));
        let mut set = 0_u64;
        for e in [a, b] {
            set |= self
                .events()
                .filter(|&f| f < e && self.thread(f) == self.thread(e))
                .fold(0, |set, f| set | 1 << f);
            if update(e) {
                set |= self.observed(e).map_or(0, |write| 1 << write);
            }
            if let Op::Unseen(_) = self.op(e) {
                set |= self.needs(e).into_iter().fold(0, |set, f| set | 1 << f);
            }
            // A thread that has no event before has started, nevertheless.
            set |= self
                .events()
                .filter(|&f| self.op(f) == Op::Fork(self.thread(e)))
                .fold(0, |set, f| set | 1 << f);
        }
        let set = self.close(set);
        let member = |e: usize| set >> e & 1 == 1;
        let overwritten = update(a)
            && self.events().any(|w| {
                w > a && member(w) && self.op(w).access().is_some_and(|x| x.writes) && self.same_memory(w, a)
            });
        !member(a) && !member(b) && !overwritten && !self.events().any(|e| member(e) && self.missed(e))
    }

    fn close(&self, mut set: u64) -> u64 {
        loop {
            let before = set;
            let member = |e: usize| before >> e & 1 == 1;
            for e in self.events().filter(|&e| member(e)) {
                for f in (0..e).filter(|&f| self.thread(f) == self.thread(e)) {
                    set |= 1 << f;
                }
                for f in self.needs(e).into_iter().chain(self.observed(e)) {
                    set |= 1 << f;
                }
            }
            for (first, release, second) in self.successive() {
                if member(first.acquire) && member(second.acquire) {
                    set |= 1 << release;
                }
            }
            if set == before {
                return set;
            }
        }
    }
}

/// Whether the event is an update or a failed attempt, which runs only when it is clean.
pub(crate) fn is_update(trace: &Trace, e: EventId) -> bool {
    matches!(trace.op(e), Op::Update(_) | Op::FailedAttempt(_))
}

/// Whether some wait returned though others had taken the notifications since its start.
pub(crate) fn has_missed_wait(trace: &Trace) -> bool {
    let naive = Naive::new(trace);
    naive.events().any(|e| naive.missed(e))
}

/// Whether every section that starts in another of its thread ends in it.
pub(crate) fn is_well_nested(trace: &Trace) -> bool {
    let sections = Naive::new(trace).sections;
    let end = |section: &Section| section.release.unwrap_or(usize::MAX);
    sections.iter().all(|outer| {
        sections.iter().filter(|inner| inner.thread == outer.thread).all(|inner| {
            let starts_inside = outer.acquire < inner.acquire && inner.acquire < end(outer);
            !starts_inside || end(inner) <= end(outer)
        })
    })
}
