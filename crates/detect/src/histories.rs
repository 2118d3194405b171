//! What the threads of several runs have observed.
//!
//! The *history* of a thread is the sequence of what its reads observed, each with its site; it begins with the history of the thread that made it, and as the
//! how-manieth that was, so that a thread is the same in every run. Only variables that threads share are looked at. A read
//! that observes the same at the same site as its thread's read before it, as one does in a loop that waits, adds nothing. With
//! values, a read observed a value; without them, the k-th write of a thread. Histories are kept as hashes of 64 bits: two that are taken
//! for one cost a run that is not made, and nothing else.

use std::hash::{DefaultHasher, Hash, Hasher};

use fixedbitset::FixedBitSet;
use hashbrown::{HashMap, HashSet};
use reweave_trace::{EventId, Kind, Op, SiteId, Space, ThreadId, Trace, ValueId, VarId};

/// Stands for what nobody wrote.
pub(crate) const INITIAL: u64 = 0;

/// The histories of the threads of several runs.
#[derive(Default)]
pub struct Histories {
    seen: HashSet<u64>,
    /// Sites of reads, with those of the writes that they observed.
    pairs: HashSet<(u64, u64)>,
    /// What all threads of a run observed, together.
    runs: HashSet<u64>,
}

/// What a walk along a trace leaves of it.
pub(crate) struct Walked {
    /// Per read of a shared variable, the history of its thread before it, with its site.
    pub(crate) before: HashMap<EventId, u64>,
    /// Per write of a shared variable, what a read of it observes.
    pub(crate) labels: HashMap<EventId, u64>,
    /// Per site of the trace, the hash of its name.
    sites: Vec<u64>,
    /// What all threads observed.
    pub(crate) run: u64,
}

impl Walked {
    /// What a site is in every trace.
    pub(crate) fn site(&self, site: SiteId) -> u64 {
        self.sites.get(site.index()).copied().unwrap_or(INITIAL)
    }
}

impl Histories {
    /// None yet.
    pub fn new() -> Histories {
        Histories::default()
    }

    /// Adds the histories of a run; whether there was none yet in which all threads observed the same.
    pub fn add(&mut self, trace: &Trace) -> bool {
        let walked = walk(trace, &mut |history, pair| {
            self.seen.insert(history);
            self.pairs.extend(pair);
        });
        self.runs.insert(walked.run)
    }

    /// Whether a thread has had this history.
    pub fn contains(&self, history: u64) -> bool {
        self.seen.contains(&history)
    }

    /// Whether a read at one site has observed a write at the other.
    pub(crate) fn met(&self, read: u64, write: u64) -> bool {
        self.pairs.contains(&(read, write))
    }
}

/// Two hashes as one.
pub(crate) fn mixed(a: u64, b: u64) -> u64 {
    hash(&(a, b))
}

fn hash(of: &impl Hash) -> u64 {
    // Its keys are always the same ones.
    let mut hasher = DefaultHasher::new();
    of.hash(&mut hasher);
    hasher.finish()
}

/// What a value is in every trace.
pub(crate) fn value(trace: &Trace, value: ValueId) -> u64 {
    hash(&trace.value(value).to_string())
}

/// Goes along a trace; told of each history, with the pair of sites that its last observation is of.
pub(crate) fn walk(trace: &Trace, tell: &mut dyn FnMut(u64, Option<(u64, u64)>)) -> Walked {
    let threads = trace.count(Space::Thread);
    let mut walk = Walk {
        trace,
        shared: shared(trace),
        threads: vec![0; threads],
        again: vec![0; threads],
        forks: vec![0; threads],
        writes: vec![0; threads],
        last: HashMap::new(),
        walked: Walked {
            before: HashMap::new(),
            labels: HashMap::new(),
            sites: (0..trace.names().sites.len() as u32)
                .map(|site| hash(&trace.site_name(SiteId(site))))
                .collect(),
            run: INITIAL,
        },
    };
    for (id, event) in trace.events() {
        walk.event(id, event.thread, event.op, tell);
    }
    // Threads have other numbers in other runs.
    walk.threads.sort_unstable();
    walk.walked.run = hash(&walk.threads);
    walk.walked
}

struct Walk<'t> {
    trace: &'t Trace,
    shared: FixedBitSet,
    /// Per thread, its history, and what it observed last, with the site.
    threads: Vec<u64>,
    again: Vec<u64>,
    forks: Vec<u32>,
    writes: Vec<u32>,
    /// Per variable, what a read of it observes, and the site of who wrote it.
    last: HashMap<VarId, (u64, u64)>,
    walked: Walked,
}

impl Walk<'_> {
    fn event(
        &mut self,
        id: EventId,
        thread: ThreadId,
        op: Op,
        tell: &mut dyn FnMut(u64, Option<(u64, u64)>),
    ) {
        let at = thread.index();
        let site = self.walked.site(self.trace.site(id));
        match op {
            Op::Fork(child) => {
                self.forks[at] += 1;
                // What a thread is given is a function of what its creator has observed.
                self.threads[child.index()] = hash(&(self.threads[at], self.forks[at]));
            }
            Op::TryAcquire(_) | Op::Busy(_) => {
                self.threads[at] = hash(&(self.threads[at], site, op.kind() == Kind::Busy));
                tell(self.threads[at], None);
            }
            _ => {}
        }
        let Some(access) = op.access().filter(|access| self.shared.contains(access.variable.index())) else {
            return;
        };
        let values = self.trace.values(id);
        if access.reads {
            let (label, writer) = self.last.get(&access.variable).copied().unwrap_or((INITIAL, INITIAL));
            let observed = values.read.map_or(label, |read| value(self.trace, read));
            let before = mixed(self.threads[at], site);
            self.walked.before.insert(id, before);
            let again = std::mem::replace(&mut self.again[at], mixed(site, observed));
            if again != self.again[at] {
                self.threads[at] = mixed(before, observed);
            }
            tell(self.threads[at], Some((site, writer)));
        }
        if access.writes && !access.lifetime {
            self.writes[at] += 1;
            let label = match values.written {
                Some(written) => value(self.trace, written),
                None => hash(&(self.threads[at], self.writes[at])),
            };
            self.walked.labels.insert(id, label);
            self.last.insert(access.variable, (label, site));
        }
    }
}

/// The variables that one thread writes and another touches.
fn shared(trace: &Trace) -> FixedBitSet {
    let count = trace.count(Space::Variable);
    let (mut shared, mut written) = (FixedBitSet::with_capacity(count), FixedBitSet::with_capacity(count));
    let mut first: Vec<Option<ThreadId>> = vec![None; count];
    for (_, event) in trace.events() {
        let Some(access) = event.op.access().filter(|access| !access.lifetime) else { continue };
        let at = access.variable.index();
        if access.writes {
            written.insert(at);
        }
        match first[at] {
            None => first[at] = Some(event.thread),
            Some(thread) if thread != event.thread => shared.insert(at),
            Some(_) => {}
        }
    }
    shared.intersect_with(&written);
    shared
}
