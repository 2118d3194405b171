//! Weak-causally-precedes with queues, by the algorithm of its paper.

use std::collections::{BTreeSet, HashMap, VecDeque};

use reweave_trace::Op;

use super::{Clock, Clocks, Naive, Section, join, le};

pub(super) struct Wcp {
    /// Their threads' clocks are the happens-before ones, own time included.
    clocks: Clocks,
    precedes: Vec<Clock>,
    open: Vec<Vec<Section>>,
    locks: HashMap<u32, (Clock, Clock)>,
    /// By lock, variable, whether it was written, and thread.
    sections: HashMap<(u32, u32, bool, usize), Clock>,
    /// By lock and thread, the acquires and releases of the others.
    queues: HashMap<(u32, usize), (VecDeque<Clock>, VecDeque<Clock>)>,
}

impl Wcp {
    pub(super) fn new(threads: usize) -> Wcp {
        let clocks = Clocks::new(threads);
        let precedes = (0..threads).map(|_| clocks.zero()).collect();
        let open = (0..threads).map(|_| Vec::new()).collect();
        let (locks, sections, queues) = (HashMap::new(), HashMap::new(), HashMap::new());
        Wcp { clocks, precedes, open, locks, sections, queues }
    }

    /// What precedes, with the thread's own time.
    fn present(&self, thread: usize) -> Clock {
        let mut clock = self.precedes[thread].clone();
        clock[thread] = self.clocks.threads[thread][thread];
        clock
    }

    fn acquire(&mut self, thread: usize, lock: u32) {
        if let Some((hb, precedes)) = self.locks.get(&lock) {
            join(&mut self.clocks.threads[thread], hb);
            join(&mut self.precedes[thread], precedes);
        }
        let present = self.present(thread);
        for other in (0..self.precedes.len()).filter(|&other| other != thread) {
            self.queues.entry((lock, other)).or_default().0.push_back(present.clone());
        }
        self.open[thread].push(Section { lock, accessed: BTreeSet::new() });
    }

    fn release(&mut self, thread: usize, lock: u32) {
        loop {
            let present = self.present(thread);
            let (acquires, releases) = self.queues.entry((lock, thread)).or_default();
            if !acquires.front().is_some_and(|front| le(front, &present)) {
                break;
            }
            acquires.pop_front();
            if let Some(release) = releases.pop_front() {
                join(&mut self.precedes[thread], &release);
            }
        }
        let hb = self.clocks.threads[thread].clone();
        if let Some(place) = self.open[thread].iter().rposition(|section| section.lock == lock) {
            let zero = self.clocks.zero();
            for (variable, write) in self.open[thread].remove(place).accessed {
                let key = (lock, variable, write, thread);
                join(self.sections.entry(key).or_insert_with(|| zero.clone()), &hb);
            }
        }
        self.locks.insert(lock, (hb.clone(), self.precedes[thread].clone()));
        for other in (0..self.precedes.len()).filter(|&other| other != thread) {
            self.queues.entry((lock, other)).or_default().1.push_back(hb.clone());
        }
        self.clocks.threads[thread][thread] += 1;
    }

    fn access(&mut self, thread: usize, variable: u32, write: bool) -> bool {
        for section in &mut self.open[thread] {
            for other in (0..self.precedes.len()).filter(|&other| other != thread) {
                for written in [true, false] {
                    if (written || write)
                        && let Some(clock) = self.sections.get(&(section.lock, variable, written, other))
                    {
                        join(&mut self.precedes[thread], clock);
                    }
                }
            }
            section.accessed.insert((variable, write));
        }
        let present = self.present(thread);
        let unordered =
            |last: &HashMap<u32, Clock>| last.get(&variable).is_some_and(|last| !le(last, &present));
        let racy = unordered(&self.clocks.writes) || write && unordered(&self.clocks.reads);
        self.clocks.note(thread, variable, write);
        racy
    }

    fn fork_or_join(&mut self, from: usize, to: usize) {
        let hb = self.clocks.threads[from].clone();
        join(&mut self.precedes[to], &hb);
        self.clocks.fork_or_join(from, to);
    }
}

impl Naive for Wcp {
    fn event(&mut self, thread: usize, op: Op) -> bool {
        match op {
            Op::Acquire(lock) => self.acquire(thread, lock.0),
            Op::Release(lock) => self.release(thread, lock.0),
            Op::Fork(child) => self.fork_or_join(thread, child.index()),
            Op::Join(child) => self.fork_or_join(child.index(), thread),
            Op::Read(x) => return self.access(thread, x.0, false),
            Op::Write(x) => return self.access(thread, x.0, true),
            _ => {}
        }
        false
    }
}
