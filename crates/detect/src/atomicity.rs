//! Candidates for atomicity violations.
//!
//! The eight unserialisable patterns of `docs/semantics.md`. *One variable*: two consecutive accesses of a thread to a
//! variable, i and k, with an access j of another thread that may come in between. *Two variables*: accesses i to x and l
//! to y of one thread, with accesses j to x and k to y of another, where i comes before j and k before l.
//!
//! The local accesses are meant to be one step: they lie in one region where the trace has regions, else in one critical
//! section or within a distance of events of their thread. A trace does not tell function activations apart.
//!
//! Pairs that the must order forbids are left out, and those where a lock held all the time between the local accesses
//! excludes the remote one.

mod local;
mod two;

use hashbrown::HashMap;
use reweave_decide::{Must, Prepared};
use reweave_trace::{EventId, SiteId, ThreadId, VarId};

use crate::groups::{Candidate, Groups};
use crate::locksets::{LocksetId, Locksets};
use crate::variables::Variables;
use crate::{Kind, Options, Pattern};
use local::Units;

/// The patterns over one variable.
pub(crate) const ONE_VARIABLE: [&str; 5] = ["RWR", "WRW", "WWR", "RWW", "WWW"];
/// The patterns over two variables.
pub(crate) const TWO_VARIABLES: [&str; 3] = ["WxWxWyWy", "WxRxRyWy", "RxWxWyRy"];

/// An access to a shared variable.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Touch {
    pub(crate) event: EventId,
    pub(crate) thread: ThreadId,
    pub(crate) reads: bool,
    pub(crate) writes: bool,
    pub(crate) locks: LocksetId,
}

impl Touch {
    /// Whether the access is of the kind that a letter of a pattern asks for.
    fn is(&self, letter: u8) -> bool {
        if letter == b'R' { self.reads } else { self.writes }
    }
}

/// The accesses of each shared variable, per thread, in order.
pub(crate) type Touches = HashMap<VarId, Vec<(ThreadId, Vec<Touch>)>>;

pub(crate) fn candidates(
    prepared: &Prepared<'_>,
    must: &Must<'_>,
    variables: &Variables,
    options: &Options<'_>,
    groups: &mut Groups<'_>,
) {
    let wanted = |name: &&&str| options.patterns.is_empty() || options.patterns.iter().any(|p| p == **name);
    let one: Vec<&'static str> = ONE_VARIABLE.iter().filter(wanted).copied().collect();
    let two: Vec<&'static str> = TWO_VARIABLES.iter().filter(wanted).copied().collect();
    let mut locksets = Locksets::new(prepared.order.threads());
    let (touches, order) = touches(prepared, variables, &mut locksets);
    let units = Units::new(prepared, options.atomic_distance);
    let mut search = Search { prepared, must, units: &units, locksets: &mut locksets, touches: &touches };
    if !one.is_empty() {
        for &variable in &order {
            if groups.stopped() {
                return;
            }
            search.one_variable(variable, &one, groups);
        }
    }
    if !two.is_empty() {
        search.two_variables(&order, &two, groups);
    }
}

/// Gathers the accesses of shared variables; the second part has the variables in order of first access.
fn touches(prepared: &Prepared<'_>, variables: &Variables, locksets: &mut Locksets) -> (Touches, Vec<VarId>) {
    let (mut touches, mut order) = (Touches::new(), Vec::new());
    for (event, op) in prepared.trace.events() {
        locksets.run(op.thread, op.op, prepared.links.is_outermost(event));
        let Some(access) = op.op.access() else { continue };
        let locks = locksets.current(op.thread);
        let touch = Touch { event, thread: op.thread, reads: access.reads, writes: access.writes, locks };
        variables.each_touched(access.variable, access.lifetime, |variable| {
            if !variables.is_shared(variable) {
                return;
            }
            let threads = touches.entry(variable).or_insert_with(|| {
                order.push(variable);
                Vec::new()
            });
            match threads.iter_mut().find(|(thread, _)| *thread == op.thread) {
                Some((_, list)) => list.push(touch),
                None => threads.push((op.thread, vec![touch])),
            }
        });
    }
    (touches, order)
}

pub(crate) struct Search<'a> {
    pub(crate) prepared: &'a Prepared<'a>,
    pub(crate) must: &'a Must<'a>,
    pub(crate) units: &'a Units,
    pub(crate) locksets: &'a mut Locksets,
    pub(crate) touches: &'a Touches,
}

/// How many local pairs with the same sites are looked at, where not every one is wanted.
const ATTEMPTS: usize = 256;

/// What local pairs have in common.
#[derive(Clone, Copy, PartialEq, Eq, Hash)]
struct LocalKey {
    sites: (SiteId, SiteId),
    kinds: [bool; 4],
    /// The locks held all the time from the one to the other.
    held: LocksetId,
}

/// What remote accesses have in common.
#[derive(Clone, Copy, PartialEq, Eq, Hash)]
struct RemoteKey {
    site: SiteId,
    kinds: [bool; 2],
    locks: LocksetId,
}

/// Alike local pairs of one thread.
type LocalPairs = (LocalKey, Vec<(Touch, Touch)>);
/// Alike accesses of one thread.
type Remotes = (RemoteKey, Vec<Touch>);

impl Search<'_> {
    fn one_variable(&mut self, variable: VarId, patterns: &[&'static str], groups: &mut Groups<'_>) {
        let Some(threads) = self.touches.get(&variable) else { return };
        let site = |touch: &Touch| self.prepared.trace.site(touch.event);
        let (mut local, mut remote): (Vec<Vec<LocalPairs>>, Vec<Vec<Remotes>>) = Default::default();
        for (_, touches) in threads {
            let pairs = touches.windows(2).filter_map(|pair| {
                let (i, k) = (pair[0], pair[1]);
                let held = self.units.held_between(self.locksets, &i, &k);
                self.units.together(self.prepared, i.event, k.event, !held.is_empty()).then_some((i, k, held))
            });
            let pairs: Vec<_> = pairs.collect();
            let pairs = pairs.into_iter().map(|(i, k, held)| (i, k, self.locksets.intern_set(held)));
            let pairs: Vec<_> = pairs.collect();
            local.push(gather(pairs.iter().map(|&(i, k, held)| {
                let kinds = [i.reads, i.writes, k.reads, k.writes];
                (LocalKey { sites: (site(&i), site(&k)), kinds, held }, (i, k))
            })));
            remote.push(gather(
                touches
                    .iter()
                    .map(|j| (RemoteKey { site: site(j), kinds: [j.reads, j.writes], locks: j.locks }, *j)),
            ));
        }
        let mut attempts: HashMap<(SiteId, SiteId, SiteId), usize> = HashMap::new();
        for (place, classes) in local.iter().enumerate() {
            let others = remote.iter().enumerate().filter(|&(other, _)| other != place);
            for (local, remote) in others.flat_map(|(_, remotes)| {
                classes.iter().flat_map(move |l| remotes.iter().map(move |r| (l, r)))
            }) {
                let (i, j, k) = (&local.1[0].0, &remote.1[0], &local.1[0].1);
                let fits =
                    |pattern: &&&str| [i, j, k].iter().zip(pattern.bytes()).all(|(t, letter)| t.is(letter));
                let fitting: Vec<&'static str> = patterns.iter().filter(fits).copied().collect();
                if !fitting.is_empty() && self.locksets.compatible(local.0.held, remote.0.locks) {
                    let tried =
                        attempts.entry((local.0.sites.0, remote.0.site, local.0.sites.1)).or_default();
                    self.intervene(&fitting, &local.1, &remote.1, tried, groups);
                }
            }
        }
    }

    /// Adds what the alike remote accesses can do between each of the alike local pairs.
    fn intervene(
        &self,
        patterns: &[&'static str],
        local: &[(Touch, Touch)],
        remote: &[Touch],
        tried: &mut usize,
        groups: &mut Groups<'_>,
    ) {
        let thread = remote[0].thread;
        for (i, k) in local {
            *tried += 1;
            if !groups.all() && *tried > ATTEMPTS {
                groups.unexamined += 1;
                continue;
            }
            // What must come before i, and what must come after k, are the ends of the list.
            let needed = self.must.needed(i.event, thread);
            let from = remote.partition_point(|j| self.prepared.position(j.event) < needed);
            let to = from + remote[from..].partition_point(|j| !self.must.before(k.event, j.event));
            for j in nearest_first(&remote[from..to], i.event) {
                let mut saturated = true;
                for pattern in patterns {
                    let candidate = Candidate::sequence(vec![i.event, j.event, k.event]);
                    let group = groups.add(Kind::Atomicity, Pattern::OneVariable(pattern), candidate);
                    saturated &= groups.is_saturated(group);
                }
                if saturated {
                    *tried += ATTEMPTS;
                    break;
                }
            }
        }
    }
}

/// Groups items that have a key in common, in order of first appearance.
fn gather<T, K: Copy + Eq + std::hash::Hash>(items: impl Iterator<Item = (K, T)>) -> Vec<(K, Vec<T>)> {
    let mut places: HashMap<K, usize> = HashMap::new();
    let mut lists: Vec<(K, Vec<T>)> = Vec::new();
    for (key, item) in items {
        let place = *places.entry(key).or_insert_with(|| {
            lists.push((key, Vec::new()));
            lists.len() - 1
        });
        lists[place].1.push(item);
    }
    lists
}

/// Accesses by their distance from an event, going outwards on both sides in turn.
fn nearest_first(touches: &[Touch], event: EventId) -> impl Iterator<Item = Touch> {
    let middle = touches.partition_point(|touch| touch.event < event);
    let (before, after) = touches.split_at(middle);
    let longest = before.len().max(after.len());
    (0..longest).flat_map(move |step| {
        let earlier = before.len().checked_sub(step + 1).map(|place| before[place]);
        [after.get(step).copied(), earlier].into_iter().flatten()
    })
}
