//! The patterns over two variables.
//!
//! Where every candidate is wanted, the remote accesses are any two of another thread. Otherwise they are taken from
//! pairs that are meant to be one step as well, like the local ones, and alike pairs, by thread, sites and locks, are
//! looked at a few times: two variables that belong together are used together.

use hashbrown::HashMap;
use reweave_trace::{SiteId, ThreadId, VarId};

use super::{Search, Touch};
use crate::groups::{Candidate, Groups};
use crate::locksets::LocksetId;
use crate::{Kind, Pattern};

/// How many accesses to shared variables after the first are looked at for the second.
const REACH: usize = 8;

/// How many alike pairs are kept.
const ALIKE: usize = 4;

/// How many candidates two variables give at most.
const MOST: usize = 256;

/// An access to the first variable and one to the second, by one thread, in whichever order.
#[derive(Clone, Copy)]
struct Pair {
    thread: ThreadId,
    on_x: Touch,
    on_y: Touch,
}

type AlikeKey = (ThreadId, [SiteId; 2], [LocksetId; 2], [bool; 4]);

/// The pairs on two variables, and how many of each sort there were.
#[derive(Default)]
struct Pairs {
    list: Vec<Pair>,
    alike: HashMap<AlikeKey, usize>,
}

impl Search<'_> {
    pub(super) fn two_variables(&self, order: &[VarId], patterns: &[&'static str], groups: &mut Groups<'_>) {
        let threads = self.by_thread(order);
        if groups.all() {
            for (thread, touches) in &threads {
                for (other, remote) in threads.iter().filter(|(other, _)| other != thread) {
                    debug_assert_ne!(thread, other);
                    self.every_pair(touches, remote, patterns, groups);
                }
            }
            return;
        }
        let mut pairs: HashMap<(VarId, VarId), Pairs> = HashMap::new();
        let mut found: Vec<(VarId, VarId)> = Vec::new();
        for (_, touches) in &threads {
            self.gather_pairs(touches, &mut pairs, &mut found, groups);
        }
        for key in found {
            if groups.stopped() {
                return;
            }
            self.combine(&pairs[&key].list, patterns, groups);
        }
    }

    /// The accesses to shared variables of each thread, in order.
    fn by_thread(&self, order: &[VarId]) -> Vec<(ThreadId, Vec<(Touch, VarId)>)> {
        let mut threads: Vec<(ThreadId, Vec<(Touch, VarId)>)> = Vec::new();
        let mut places: HashMap<ThreadId, usize> = HashMap::new();
        for &variable in order {
            for (thread, list) in &self.touches[&variable] {
                let place = *places.entry(*thread).or_insert_with(|| {
                    threads.push((*thread, Vec::new()));
                    threads.len() - 1
                });
                threads[place].1.extend(list.iter().map(|&touch| (touch, variable)));
            }
        }
        for (_, touches) in &mut threads {
            touches.sort_unstable_by_key(|(touch, variable)| (touch.event, *variable));
        }
        threads
    }

    /// Gathers the pairs of one thread that are meant to be one step, under both orders of their variables.
    fn gather_pairs(
        &self,
        touches: &[(Touch, VarId)],
        pairs: &mut HashMap<(VarId, VarId), Pairs>,
        found: &mut Vec<(VarId, VarId)>,
        groups: &mut Groups<'_>,
    ) {
        let site = |touch: &Touch| self.prepared.trace.site(touch.event);
        for (place, &(a, x)) in touches.iter().enumerate() {
            for &(b, y) in touches[place + 1..].iter().take(REACH) {
                if x == y || a.event == b.event || !self.one_step(&a, &b) {
                    continue;
                }
                for ((x, on_x), (y, on_y)) in [((x, a), (y, b)), ((y, b), (x, a))] {
                    let pairs = pairs.entry((x, y)).or_insert_with(|| {
                        found.push((x, y));
                        Pairs::default()
                    });
                    let kinds = [on_x.reads, on_x.writes, on_y.reads, on_y.writes];
                    let key = (a.thread, [site(&on_x), site(&on_y)], [on_x.locks, on_y.locks], kinds);
                    let alike = pairs.alike.entry(key).or_default();
                    *alike += 1;
                    if *alike <= ALIKE {
                        pairs.list.push(Pair { thread: a.thread, on_x, on_y });
                    } else {
                        groups.unexamined += 1;
                    }
                }
            }
        }
    }

    /// Combines each pair, as the local one, with each pair of another thread.
    fn combine(&self, pairs: &[Pair], patterns: &[&'static str], groups: &mut Groups<'_>) {
        let mut looked_at = 0;
        for local in pairs.iter().filter(|local| local.on_x.event < local.on_y.event) {
            for remote in pairs.iter().filter(|remote| remote.thread != local.thread) {
                let touches = [local.on_x, remote.on_x, remote.on_y, local.on_y];
                let mut fitting = patterns.iter().filter(|pattern| fits(&touches, pattern)).peekable();
                if fitting.peek().is_none() {
                    continue;
                }
                looked_at += 1;
                if looked_at > MOST {
                    groups.unexamined += 1;
                    continue;
                }
                self.interleave(touches, patterns, groups);
            }
        }
    }

    /// Every local pair with every two remote accesses.
    fn every_pair(
        &self,
        local: &[(Touch, VarId)],
        remote: &[(Touch, VarId)],
        patterns: &[&'static str],
        groups: &mut Groups<'_>,
    ) {
        for (place, &(i, x)) in local.iter().enumerate() {
            for &(l, y) in &local[place + 1..] {
                if x == y || i.event == l.event || !self.one_step(&i, &l) {
                    continue;
                }
                for &(j, _) in remote.iter().filter(|&&(_, variable)| variable == x) {
                    for &(k, _) in remote.iter().filter(|&&(k, variable)| variable == y && k.event != j.event)
                    {
                        self.interleave([i, j, k, l], patterns, groups);
                    }
                }
            }
        }
    }

    fn one_step(&self, a: &Touch, b: &Touch) -> bool {
        let locked = || !self.units.held_between(self.locksets, a, b).is_empty();
        self.units.together(self.prepared, a.event, b.event, false)
            || self.units.together(self.prepared, a.event, b.event, locked())
    }

    /// i before j, and k before l, unless the must order says otherwise.
    fn interleave(&self, [i, j, k, l]: [Touch; 4], patterns: &[&'static str], groups: &mut Groups<'_>) {
        for pattern in patterns.iter().filter(|pattern| fits(&[i, j, k, l], pattern)) {
            if self.must.before(j.event, i.event) || self.must.before(l.event, k.event) {
                return;
            }
            let events = vec![i.event, j.event, k.event, l.event];
            let candidate = Candidate::pairs(events, vec![(i.event, j.event), (k.event, l.event)]);
            groups.add(Kind::Atomicity, Pattern::TwoVariables(pattern), candidate);
        }
    }
}

/// Whether the accesses are of the kinds that a pattern asks for: its letters, each followed by its variable.
fn fits(touches: &[Touch; 4], pattern: &str) -> bool {
    touches.iter().zip(pattern.bytes().step_by(2)).all(|(touch, kind)| touch.is(kind))
}
