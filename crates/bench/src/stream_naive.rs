//! The analyses as their papers write them down: a vector clock for everything, joined whenever the text says so.
//!
//! For traces of reads, writes, locks, forks and joins.

mod syncp;
mod wcp;

use std::collections::{BTreeSet, HashMap};

use anyhow::Result;
use reweave_format::Events;
use reweave_stream::Analysis;
use reweave_trace::{Op, Space};

/// A time a thread.
type Clock = Vec<u32>;

/// One event to an analysis: its thread and operation. Says whether it is racy.
trait Naive {
    fn event(&mut self, thread: usize, op: Op) -> bool;
}

/// How many events are racy.
pub(crate) fn racy_events(bytes: &[u8], analysis: Analysis) -> Result<u64> {
    let mut events = Events::from_bytes("bench.rw", bytes, None)?;
    let mut state: Option<Box<dyn Naive>> = None;
    let mut racy = 0;
    while events.advance()? {
        let threads = events.names().space(Space::Thread).len();
        // The generator's first thread forks all others at once.
        let state = state.get_or_insert_with(|| match analysis {
            Analysis::Hb => Box::new(Hb::new(threads, false)),
            Analysis::Shb => Box::new(Hb::new(threads, true)),
            // Without calls and objects they are the same.
            Analysis::Wdc | Analysis::Edc => Box::new(Wdc::new(threads)),
            Analysis::Wcp => Box::new(wcp::Wcp::new(threads)),
            Analysis::SyncP => Box::new(syncp::SyncP::new(threads)),
        });
        let rows = events.rows();
        for i in 0..rows.kinds.len() {
            let op = Op::new(rows.kinds[i], rows.targets[i]);
            racy += u64::from(state.event(rows.threads.get(i).index(), op));
        }
    }
    Ok(racy)
}

fn join(clock: &mut Clock, other: &Clock) {
    clock.iter_mut().zip(other).for_each(|(time, &other)| *time = other.max(*time));
}

fn le(clock: &Clock, other: &Clock) -> bool {
    clock.iter().zip(other).all(|(time, other)| time <= other)
}

/// The clocks of threads, and those of reads and writes.
struct Clocks {
    threads: Vec<Clock>,
    reads: HashMap<u32, Clock>,
    writes: HashMap<u32, Clock>,
}

impl Clocks {
    fn new(threads: usize) -> Clocks {
        let clock = |thread| (0..threads).map(|other| u32::from(other == thread)).collect();
        let threads = (0..threads).map(clock).collect();
        Clocks { threads, reads: HashMap::new(), writes: HashMap::new() }
    }

    fn zero(&self) -> Clock {
        vec![0; self.threads.len()]
    }

    fn racy(&self, thread: usize, variable: u32, write: bool) -> bool {
        let unordered = |last: &HashMap<u32, Clock>| {
            last.get(&variable).is_some_and(|clock| !le(clock, &self.threads[thread]))
        };
        unordered(&self.writes) || write && unordered(&self.reads)
    }

    fn note(&mut self, thread: usize, variable: u32, write: bool) {
        let (now, zero) = (self.threads[thread][thread], self.zero());
        let last = if write { &mut self.writes } else { &mut self.reads };
        last.entry(variable).or_insert(zero)[thread] = now;
    }

    fn fork_or_join(&mut self, from: usize, to: usize) {
        let clock = self.threads[from].clone();
        join(&mut self.threads[to], &clock);
        self.threads[from][from] += 1;
    }
}

/// Happens-before, schedulable or not.
struct Hb {
    clocks: Clocks,
    locks: HashMap<u32, Clock>,
    last_writes: Option<HashMap<u32, Clock>>,
}

impl Hb {
    fn new(threads: usize, schedulable: bool) -> Hb {
        let last_writes = schedulable.then(HashMap::new);
        Hb { clocks: Clocks::new(threads), locks: HashMap::new(), last_writes }
    }
}

impl Naive for Hb {
    fn event(&mut self, thread: usize, op: Op) -> bool {
        let mut racy = false;
        match op {
            Op::Acquire(lock) => {
                if let Some(released) = self.locks.get(&lock.0) {
                    join(&mut self.clocks.threads[thread], released);
                }
            }
            Op::Release(lock) => {
                self.locks.insert(lock.0, self.clocks.threads[thread].clone());
                self.clocks.threads[thread][thread] += 1;
            }
            Op::Fork(child) => self.clocks.fork_or_join(thread, child.index()),
            Op::Join(child) => self.clocks.fork_or_join(child.index(), thread),
            Op::Read(x) => {
                racy = self.clocks.racy(thread, x.0, false);
                if let Some(write) = self.last_writes.as_ref().and_then(|writes| writes.get(&x.0)) {
                    join(&mut self.clocks.threads[thread], write);
                }
                self.clocks.note(thread, x.0, false);
            }
            Op::Write(x) => {
                racy = self.clocks.racy(thread, x.0, true);
                self.clocks.note(thread, x.0, true);
                if let Some(writes) = &mut self.last_writes {
                    writes.insert(x.0, self.clocks.threads[thread].clone());
                    self.clocks.threads[thread][thread] += 1;
                }
            }
            _ => {}
        }
        racy
    }
}

/// What was read and written in an open critical section.
struct Section {
    lock: u32,
    accessed: BTreeSet<(u32, bool)>,
}

/// Weak-doesn't-commute, by its unoptimised algorithm.
struct Wdc {
    clocks: Clocks,
    open: Vec<Vec<Section>>,
    /// By lock, variable and whether it was written.
    sections: HashMap<(u32, u32, bool), Clock>,
}

impl Wdc {
    fn new(threads: usize) -> Wdc {
        let open = (0..threads).map(|_| Vec::new()).collect();
        Wdc { clocks: Clocks::new(threads), open, sections: HashMap::new() }
    }

    fn access(&mut self, thread: usize, variable: u32, write: bool) -> bool {
        for section in &mut self.open[thread] {
            for other in [true, false] {
                if (other || write)
                    && let Some(clock) = self.sections.get(&(section.lock, variable, other))
                {
                    join(&mut self.clocks.threads[thread], clock);
                }
            }
            section.accessed.insert((variable, write));
        }
        let racy = self.clocks.racy(thread, variable, write);
        self.clocks.note(thread, variable, write);
        racy
    }
}

impl Naive for Wdc {
    fn event(&mut self, thread: usize, op: Op) -> bool {
        match op {
            Op::Acquire(lock) => {
                self.open[thread].push(Section { lock: lock.0, accessed: BTreeSet::new() });
            }
            Op::Release(lock) => {
                let Some(place) = self.open[thread].iter().rposition(|s| s.lock == lock.0) else {
                    return false;
                };
                let zero = self.clocks.zero();
                for (variable, write) in self.open[thread].remove(place).accessed {
                    let clock =
                        self.sections.entry((lock.0, variable, write)).or_insert_with(|| zero.clone());
                    join(clock, &self.clocks.threads[thread]);
                }
                self.clocks.threads[thread][thread] += 1;
            }
            Op::Fork(child) => self.clocks.fork_or_join(thread, child.index()),
            Op::Join(child) => self.clocks.fork_or_join(child.index(), thread),
            Op::Read(x) => return self.access(thread, x.0, false),
            Op::Write(x) => return self.access(thread, x.0, true),
            _ => {}
        }
        false
    }
}
