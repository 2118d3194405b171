//! The patterns over two variables.
//!
//! Where every candidate is wanted, the remote accesses are any two of another thread ([`super::every`]). Otherwise they
//! are a pair that may be one step as well, like the local ones: two variables that belong together are used together.
//!
//! Whether they belong together is asked as MUVI does (Lu et al., SOSP 2007): where one is accessed, the other mostly
//! is too. A region or a critical section around both answers it, and so do few accesses; among many, at least one in
//! [`SELDOM`] has to be with the other. The rest is chance, and is counted as not looked at.
//!
//! Two passes in observed order: one counts who is seen with whom, the other meets pairs as [`super::one`] does.

use std::collections::VecDeque;

use hashbrown::{HashMap, HashSet};
use reweave_trace::{EventId, SiteId, ThreadId, VarId};

use super::local::Steps;
use super::one::{MEETINGS, recent};
use super::{Search, Touch, is};
use crate::classes::Classes;
use crate::groups::{Candidate, Groups};
use crate::horizon::Horizon;
use crate::locksets::{LocksetId, Locksets};
use crate::{Kind, Pattern};

/// How many accesses to shared variables before an access are looked at for the other variable.
const REACH: usize = 8;

/// Fewer accesses than this tell nothing about whether variables belong together.
const FEW: u32 = 16;

/// One access in so many with the other variable is enough.
const SELDOM: u32 = 2;

/// How many pairs of variables are told apart.
const MOST_PAIRS: usize = 1 << 20;

/// How many pairs of variables are looked at for one pair of sites: the fields of a thousand objects of one type are alike.
const MOST_ALIKE: u32 = 256;

/// Each thread's last accesses to shared variables.
pub(super) struct Latest {
    threads: Vec<VecDeque<(Touch, VarId)>>,
}

impl Latest {
    pub(super) fn new(threads: usize) -> Latest {
        Latest { threads: vec![VecDeque::new(); threads] }
    }

    /// Calls `found` with each earlier access of the thread to another variable that is in reach.
    fn each(&self, touch: Touch, variable: VarId, mut found: impl FnMut(Touch, VarId)) {
        for &(earlier, other) in &self.threads[touch.thread.index()] {
            if other != variable && earlier.event != touch.event {
                found(earlier, other);
            }
        }
    }

    /// The first access of `thread` that a later one can still reach.
    fn first(&self, thread: ThreadId) -> Option<EventId> {
        self.threads[thread.index()].front().map(|(touch, _)| touch.event)
    }

    pub(super) fn push(&mut self, touch: Touch, variable: VarId) {
        let latest = &mut self.threads[touch.thread.index()];
        if latest.len() == REACH {
            latest.pop_front();
        }
        latest.push_back((touch, variable));
    }
}

/// How often variables are accessed, and how often with each other.
#[derive(Default)]
pub(super) struct Company {
    accesses: HashMap<VarId, u32>,
    together: HashMap<(VarId, VarId), u32>,
}

impl Company {
    /// Counts an access.
    pub(super) fn access(&mut self, latest: &Latest, steps: &Steps<'_>, touch: Touch, variable: VarId) {
        *self.accesses.entry(variable).or_default() += 1;
        let mut seen: Vec<VarId> = Vec::new();
        latest.each(touch, variable, |earlier, other| {
            if !seen.contains(&other) && steps.is_near(earlier.event, touch.event) {
                seen.push(other);
            }
        });
        for other in seen {
            let full = self.together.len() >= MOST_PAIRS;
            match self.together.get_mut(&pair(variable, other)) {
                Some(count) => *count += 1,
                None if full => {}
                None => {
                    self.together.insert(pair(variable, other), 1);
                }
            }
        }
    }

    fn belong_together(&self, x: VarId, y: VarId) -> bool {
        let accesses = |v: VarId| self.accesses.get(&v).copied().unwrap_or(0);
        let most = accesses(x).max(accesses(y));
        let together = self.together.get(&pair(x, y)).copied().unwrap_or(0);
        most < FEW || together.saturating_mul(SELDOM) >= most
    }
}

fn pair(x: VarId, y: VarId) -> (VarId, VarId) {
    (x.min(y), x.max(y))
}

/// The pairs of accesses to two variables.
#[derive(Default)]
struct TwoVariables {
    shapes: HashMap<ShapeKey, Shape>,
    classes: Classes<ClassKey, [EventId; 2]>,
}

/// Which variable came first, at which sites, and what was done.
#[derive(Clone, Copy, PartialEq, Eq, Hash)]
struct ShapeKey {
    first: VarId,
    sites: [SiteId; 2],
    kinds: [[bool; 2]; 2],
}

#[derive(Clone, Copy)]
struct Shape {
    meetings: u32,
    /// The patterns, by their places, that its pairs can be the local half of and that have too few candidates.
    open: u8,
}

#[derive(Clone, Copy, PartialEq, Eq, Hash)]
struct ClassKey {
    shape: ShapeKey,
    thread: ThreadId,
    held: LocksetId,
    /// The patterns, by their places, that the pairs are looked at as the local half of.
    local: u8,
}

/// An access and an earlier one of the same thread to another variable.
#[derive(Clone, Copy)]
struct Pair {
    key: ShapeKey,
    thread: ThreadId,
    held: LocksetId,
    local: u8,
    events: [EventId; 2],
}

/// The search over two variables.
pub(super) struct Two {
    company: Company,
    pairs: HashMap<(VarId, VarId), TwoVariables>,
    /// Variables that are near each other by chance.
    passed_over: HashMap<(VarId, VarId), ()>,
    /// For how many pairs of variables a pair of sites was the first to name them.
    alike: HashMap<[SiteId; 2], u32>,
}

impl Two {
    pub(super) fn new(company: Company) -> Two {
        Two { company, pairs: HashMap::new(), passed_over: HashMap::new(), alike: HashMap::new() }
    }

    /// Whether two variables are looked at: those that are, and more while few are alike. Where sites have no names, variables
    /// tell findings apart, and none are alike.
    fn has_room(&mut self, search: &Search<'_>, x: VarId, y: VarId, sites: [SiteId; 2]) -> bool {
        let trace = search.prepared.trace;
        if self.pairs.contains_key(&pair(x, y)) || sites.iter().any(|&site| trace.site_name(site).is_empty())
        {
            return true;
        }
        let alike = self.alike.entry(sites).or_default();
        *alike = (*alike + 1).min(MOST_ALIKE + 1);
        *alike <= MOST_ALIKE
    }

    /// Counts two variables that are not looked at.
    fn pass_over(&mut self, x: VarId, y: VarId, groups: &mut Groups<'_>) {
        if self.passed_over.len() < MOST_PAIRS && self.passed_over.insert(pair(x, y), ()).is_none() {
            groups.unexamined += 1;
        }
    }

    /// How many pairs of variables there are.
    pub(super) fn len(&self) -> usize {
        self.pairs.len()
    }

    /// Runs the next access to a shared variable.
    pub(super) fn access(
        &mut self,
        search: &Search<'_>,
        (steps, horizon): (&Steps<'_>, &Horizon<'_>),
        latest: &Latest,
        (touch, variable): (Touch, VarId),
        locksets: &Locksets,
        groups: &mut Groups<'_>,
    ) {
        let site = |event| search.prepared.trace.site(event);
        latest.each(touch, variable, |earlier, other| {
            let meant = steps.is_meant(touch.thread, earlier.event);
            if !meant && !steps.is_near(earlier.event, touch.event) {
                return;
            }
            if !meant && !self.company.belong_together(variable, other) {
                self.pass_over(variable, other, groups);
                return;
            }
            let key = ShapeKey {
                first: other,
                sites: [site(earlier.event), site(touch.event)],
                kinds: [earlier.kinds, touch.kinds],
            };
            let held = steps.held_since(touch.thread, earlier.event);
            let events = [earlier.event, touch.event];
            let local = search.likely_patterns(key, [&earlier, &touch], locksets, groups);
            let found = Pair { key, thread: touch.thread, held, local, events };
            if !self.has_room(search, variable, other, key.sites) {
                self.pass_over(variable, other, groups);
                return;
            }
            let variables = self.pairs.entry(pair(variable, other)).or_default();
            if variables.classes.is_crowded() {
                variables.forget(search, horizon, latest);
            }
            variables.meet(search, found, locksets, groups);
        });
    }
}

impl TwoVariables {
    fn open(&self, shape: ShapeKey) -> u8 {
        self.shapes.get(&shape).map_or(0, |shape| shape.open)
    }

    /// Forgets what no pair to come can meet, and shapes without pairs unless they are done. A pair to come may start
    /// with any of the latest accesses of its thread.
    fn forget(&mut self, search: &Search<'_>, horizon: &Horizon<'_>, latest: &Latest) {
        let passed = |thread| horizon.passed(thread, |other| latest.first(other));
        let position = |events: &[EventId; 2]| search.prepared.position(events[1]);
        self.classes.forget(horizon.threads(), passed, position);
        let used: HashSet<ShapeKey> = self.classes.keys().map(|key| key.shape).collect();
        self.shapes.retain(|key, shape| shape.open == 0 || used.contains(key));
    }

    /// A new pair meets those so far, once as the local and once as the remote one. Those that must be over before it
    /// come between nothing.
    fn meet(&mut self, search: &Search<'_>, found: Pair, locksets: &Locksets, groups: &mut Groups<'_>) {
        let mut own = *self
            .shapes
            .entry(found.key)
            .or_insert_with(|| Shape { meetings: 0, open: search.local_patterns(found.key) });
        for (n, thread) in self.classes.threads().enumerate().filter(|(_, thread)| *thread != found.thread) {
            let needed = search.must.needed(found.events[0], thread);
            let open = |events: &[EventId; 2]| search.prepared.position(events[1]) >= needed;
            for (_, class) in
                self.classes.of(n).take_while(|(_, class)| class.instances.last().is_some_and(open))
            {
                let key = class.key.shape;
                let other = if key == found.key { own.open } else { self.open(key) };
                let local = own.open & found.local & search.patterns(found.key, key);
                let remote = other & class.key.local & search.patterns(key, found.key);
                if local | remote == 0 {
                    continue;
                }
                let (mut local_enough, mut remote_enough) = (0, 0);
                if locksets.compatible(class.key.held, found.held) {
                    for &events in class.instances.iter().rev().take_while(|&events| open(events)) {
                        let theirs =
                            Pair { key, thread, held: class.key.held, local: class.key.local, events };
                        local_enough |= search.interleave(local, found, theirs, groups);
                        remote_enough |= search.interleave(remote, theirs, found, groups);
                    }
                }
                own.settle(local_enough, local, groups);
                if key == found.key {
                    own.settle(remote_enough, remote, groups);
                } else if let Some(other) = self.shapes.get_mut(&key) {
                    other.settle(remote_enough, remote, groups);
                }
            }
        }
        self.shapes.insert(found.key, own);
        let Pair { key: shape, thread, held, local, .. } = found;
        let class = self.classes.place(ClassKey { shape, thread, held, local });
        self.classes.push(found.thread, class, found.events, recent(groups));
    }
}

impl Shape {
    /// Ends patterns that have enough candidates, and all where the pairs have met too often for so few.
    fn settle(&mut self, enough: u8, met: u8, groups: &mut Groups<'_>) {
        self.open &= !enough;
        self.meetings += u32::from(met != 0);
        if self.meetings > MEETINGS && self.open != 0 {
            groups.unexamined += 1;
            self.open = 0;
        }
    }
}

impl Search<'_> {
    /// The accesses i, j, k, l of a local and a remote pair, by what they do: j is on the variable of i, k on that of l.
    fn kinds(local: ShapeKey, remote: ShapeKey) -> [[bool; 2]; 4] {
        let [x, y] = if local.first == remote.first { [0, 1] } else { [1, 0] };
        [local.kinds[0], remote.kinds[x], remote.kinds[y], local.kinds[1]]
    }

    /// The patterns, by their places, that a local and a remote pair make up.
    fn patterns(&self, local: ShapeKey, remote: ShapeKey) -> u8 {
        let kinds = Self::kinds(local, remote);
        mask(self.two.iter().map(|pattern| fits(kinds, pattern)))
    }

    /// The patterns, by their places, that a pair may be the local half of.
    fn local_patterns(&self, local: ShapeKey) -> u8 {
        let [i, l] = local.kinds;
        mask(self.two.iter().map(|pattern| is(i, pattern.as_bytes()[0]) && is(l, pattern.as_bytes()[6])))
    }

    /// Those of them, by their places, as which the pair is looked at.
    fn likely_patterns(
        &self,
        key: ShapeKey,
        halves: [&Touch; 2],
        locksets: &Locksets,
        groups: &mut Groups<'_>,
    ) -> u8 {
        let possible = self.local_patterns(key);
        if possible == 0 || self.likely.is_none() {
            return possible;
        }
        let sections = self.sections(halves, locksets);
        let mut likely = 0;
        for (place, pattern) in self.two.iter().enumerate().filter(|(place, _)| possible >> place & 1 == 1) {
            if self.is_local(pattern, halves, &sections) {
                likely |= 1 << place;
            } else {
                groups.refuse(Pattern::TwoVariables(pattern), halves.map(|touch| touch.event));
            }
        }
        likely
    }

    /// i before j, and k before l, in some patterns, unless the must order says otherwise. The patterns that have
    /// enough such candidates.
    fn interleave(&self, patterns: u8, local: Pair, remote: Pair, groups: &mut Groups<'_>) -> u8 {
        let [x, y] = if local.key.first == remote.key.first { [0, 1] } else { [1, 0] };
        let events = [local.events[0], remote.events[x], remote.events[y], local.events[1]];
        if patterns == 0 { 0 } else { self.add_two(events, patterns, groups) }
    }

    /// Adds every pattern that four accesses of these kinds fit.
    pub(super) fn add_fitting(&self, events: [EventId; 4], kinds: [[bool; 2]; 4], groups: &mut Groups<'_>) {
        let patterns = mask(self.two.iter().map(|pattern| fits(kinds, pattern)));
        self.add_two(events, patterns, groups);
    }

    fn add_two(&self, [i, j, k, l]: [EventId; 4], patterns: u8, groups: &mut Groups<'_>) -> u8 {
        if self.must.before(j, i) || self.must.before(l, k) {
            return 0;
        }
        let mut enough = 0;
        for (place, pattern) in self.two.iter().enumerate().filter(|(place, _)| patterns >> place & 1 == 1) {
            if self.likely.as_ref().is_some_and(|likely| !likely.is_intruded(pattern, &[i, j, k, l])) {
                groups.refuse(Pattern::TwoVariables(pattern), [i, l]);
                continue;
            }
            let candidate = Candidate::pairs(vec![i, j, k, l], vec![(i, j), (k, l)]);
            let group = groups.add(Kind::Atomicity, Pattern::TwoVariables(pattern), candidate);
            enough |= u8::from(groups.is_saturated(group)) << place;
        }
        enough
    }
}

/// The places that hold, as bits.
fn mask(places: impl Iterator<Item = bool>) -> u8 {
    places.enumerate().fold(0, |mask, (place, holds)| mask | u8::from(holds) << place)
}

/// Whether the accesses are of the kinds that a pattern asks for: its letters, each followed by its variable.
fn fits(kinds: [[bool; 2]; 4], pattern: &str) -> bool {
    kinds.iter().zip(pattern.bytes().step_by(2)).all(|(kinds, letter)| is(*kinds, letter))
}
