//! Synchronization-preserving races by closing, for each pair of accesses, the set of what comes before them.

use std::collections::{BTreeMap, HashMap};

use reweave_trace::Op;

use super::{Clock, Naive, join};

pub(super) struct SyncP {
    /// Per thread, how many events of each thread what it did so far needs: by thread order and observation alone.
    threads: Vec<Clock>,
    /// By lock and thread: of each section the number of its acquire in the thread and in the trace, and what its
    /// release needs.
    locks: BTreeMap<u32, Vec<Vec<Section>>>,
    last_writes: HashMap<u32, Clock>,
    /// By variable and thread.
    accesses: HashMap<u32, Vec<Vec<Access>>>,
    events: u64,
}

/// An access: its number in its thread, what is needed before it, and whether it writes.
type Access = (u32, Clock, bool);

struct Section {
    acquired: u32,
    event: u64,
    release: Option<Clock>,
}

impl SyncP {
    pub(super) fn new(threads: usize) -> SyncP {
        SyncP {
            threads: vec![vec![0; threads]; threads],
            locks: BTreeMap::new(),
            last_writes: HashMap::new(),
            accesses: HashMap::new(),
            events: 0,
        }
    }

    /// Adds what the sections in the set ask for, until they ask for no more.
    fn close(&self, set: &mut Clock) {
        loop {
            let before = set.clone();
            for sections in self.locks.values() {
                let last_in_set = |thread: usize| {
                    let count = sections[thread].partition_point(|s| s.acquired <= before[thread]);
                    sections[thread][..count].last()
                };
                let last = (0..set.len()).filter_map(last_in_set).max_by_key(|s| s.event).map(|s| s.event);
                for section in (0..set.len()).filter_map(last_in_set).filter(|s| Some(s.event) != last) {
                    if let Some(release) = &section.release {
                        join(set, release);
                    }
                }
            }
            if *set == before {
                return;
            }
        }
    }

    fn access(&mut self, thread: usize, variable: u32, write: bool) -> bool {
        let threads = self.threads.len();
        let before = self.threads[thread].clone();
        let mut racy = false;
        let lists = self.accesses.entry(variable).or_insert_with(|| vec![Vec::new(); threads]);
        lists[thread].push((before[thread] + 1, before.clone(), write));
        'found: for (other, list) in self.accesses[&variable].iter().enumerate().filter(|&(o, _)| o != thread)
        {
            for (number, needs, writes) in list.iter().filter(|(number, ..)| *number > before[other]) {
                if !(*writes || write) {
                    continue;
                }
                let mut set = before.clone();
                join(&mut set, needs);
                self.close(&mut set);
                if set[other] < *number {
                    racy = true;
                    break 'found;
                }
            }
        }
        self.threads[thread][thread] += 1;
        if write {
            self.last_writes.insert(variable, self.threads[thread].clone());
        } else if let Some(write) = self.last_writes.get(&variable) {
            join(&mut self.threads[thread], write);
        }
        racy
    }
}

impl Naive for SyncP {
    fn event(&mut self, thread: usize, op: Op) -> bool {
        self.events += 1;
        let threads = self.threads.len();
        match op {
            Op::Read(x) => return self.access(thread, x.0, false),
            Op::Write(x) => return self.access(thread, x.0, true),
            Op::Acquire(lock) => {
                self.threads[thread][thread] += 1;
                let acquired = self.threads[thread][thread];
                let sections =
                    self.locks.entry(lock.0).or_insert_with(|| (0..threads).map(|_| Vec::new()).collect());
                sections[thread].push(Section { acquired, event: self.events, release: None });
            }
            Op::Release(lock) => {
                self.threads[thread][thread] += 1;
                let section = self.locks.get_mut(&lock.0).and_then(|sections| sections[thread].last_mut());
                if let Some(section) = section {
                    section.release = Some(self.threads[thread].clone());
                }
            }
            Op::Fork(child) => {
                self.threads[thread][thread] += 1;
                let clock = self.threads[thread].clone();
                join(&mut self.threads[child.index()], &clock);
            }
            Op::Join(child) => {
                let clock = self.threads[child.index()].clone();
                join(&mut self.threads[thread], &clock);
                self.threads[thread][thread] += 1;
            }
            _ => self.threads[thread][thread] += 1,
        }
        false
    }
}
