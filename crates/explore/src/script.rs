//! Threads as functions of their results: programs for tests and measurements that need no host.

use crate::op::{Data, Init, Next, ObjectId, Op, Outcome, ThreadId};
use crate::program::Program;

/// A thread that runs anew for each of its steps: a step whose result is known gives it, and the first one without ends the run.
pub struct Script<'a> {
    results: &'a [Outcome],
    at: usize,
}

/// What a script comes to: its end, or the next step.
pub type Steps = Result<(), Op>;

impl Script<'_> {
    /// Takes a step.
    pub fn step(&mut self, op: Op) -> Result<Outcome, Op> {
        self.at += 1;
        self.results.get(self.at - 1).copied().ok_or(op)
    }

    /// Reads a cell.
    pub fn read(&mut self, cell: u32) -> Result<u64, Op> {
        Ok(self.step(Op::Read { cell: ObjectId(cell), plain: false })?.value)
    }

    /// Writes a cell.
    pub fn write(&mut self, cell: u32, value: u64) -> Result<Outcome, Op> {
        self.step(Op::Write { cell: ObjectId(cell), value, plain: false })
    }

    /// Waits for a lock.
    pub fn lock(&mut self, lock: u32) -> Result<Outcome, Op> {
        self.step(Op::Lock { lock: ObjectId(lock), recursive: false })
    }

    /// Gives a lock up.
    pub fn unlock(&mut self, lock: u32) -> Result<Outcome, Op> {
        self.step(Op::Unlock { lock: ObjectId(lock), data: Data::Value(0), poison: false })
    }

    /// Calls a method of an object.
    pub fn call(&mut self, object: u32, call: u64) -> Result<Outcome, Op> {
        self.step(Op::Call { object: ObjectId(object), call })
    }

    /// Fails unless something holds.
    pub fn check(&self, holds: bool, site: u32) -> Steps {
        if holds { Ok(()) } else { Err(Op::Fail { site }) }
    }
}

/// What a worker does, by its number.
type Work<'a> = &'a dyn Fn(u32, &mut Script<'_>) -> Steps;

/// Objects, and workers that the main thread starts and joins.
pub struct Scripted<'a> {
    made: Vec<(ObjectId, Init)>,
    workers: u32,
    work: Work<'a>,
    joins: bool,
    /// The first of the workers that are alike.
    same: Option<u32>,
    last: Option<&'a dyn Fn(&mut Script<'_>) -> Steps>,
    results: Vec<Vec<Outcome>>,
}

impl<'a> Scripted<'a> {
    /// Objects with the numbers from 0, and workers with the numbers from 0.
    pub fn new(objects: impl IntoIterator<Item = Init>, workers: u32, work: Work<'a>) -> Self {
        let made =
            objects.into_iter().enumerate().map(|(index, init)| (ObjectId(index as u32), init)).collect();
        Scripted { made, workers, work, joins: true, same: None, last: None, results: Vec::new() }
    }

    /// What the main thread does after it has joined all workers.
    #[must_use]
    pub fn then(mut self, last: &'a dyn Fn(&mut Script<'_>) -> Steps) -> Self {
        self.last = Some(last);
        self
    }

    /// Workers that nobody joins.
    #[must_use]
    pub fn detached(mut self) -> Self {
        self.joins = false;
        self
    }

    /// Workers that are alike, but the first ones: what they do must not depend on their number. They are joined at once.
    #[must_use]
    pub fn same(mut self, but: u32) -> Self {
        self.same = Some(but + 1);
        self
    }

    fn main(&self, script: &mut Script<'_>) -> Steps {
        let first = self.same.unwrap_or(u32::MAX);
        for number in 1..=self.workers {
            let thread = ThreadId(number);
            script.step(if number < first {
                Op::Spawn { thread }
            } else {
                Op::SpawnSame { thread, like: ThreadId(first) }
            })?;
        }
        if self.joins {
            for number in (1..=self.workers).take_while(|number| *number < first) {
                script.step(Op::Join { thread: ThreadId(number) })?;
            }
            if first <= self.workers {
                let threads = (first..=self.workers).map(ThreadId).collect();
                script.step(Op::JoinAll { threads })?;
            }
        }
        self.last.map_or(Ok(()), |last| last(script))
    }

    fn next(&self, thread: u32) -> Next {
        let results = &self.results[thread as usize];
        let mut script = Script { results, at: 0 };
        let steps = if thread == 0 { self.main(&mut script) } else { (self.work)(thread - 1, &mut script) };
        let op = steps.err().unwrap_or(Op::End { data: Data::Value(0), panicked: false });
        let first = thread == 0 && results.is_empty();
        Next { made: if first { self.made.clone() } else { Vec::new() }, op, place: None }
    }
}

impl Program for Scripted<'_> {
    fn start(&mut self) -> Next {
        self.results = vec![Vec::new(); self.workers as usize + 1];
        self.next(0)
    }

    fn begin(&mut self, thread: ThreadId) -> Next {
        self.next(thread.0)
    }

    fn resume(&mut self, thread: ThreadId, outcome: Outcome) -> Next {
        self.results[thread.0 as usize].push(outcome);
        self.next(thread.0)
    }

    fn finish(&mut self) {}
}
