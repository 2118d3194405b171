//! The simulated run that a synthetic trace is a record of.

use std::path::PathBuf;

use reweave_trace::{Event, LockId, Names, Op, SiteId, Space, ThreadId, Value, VarId};

use super::Shape;
use super::calls::Sets;
use super::random::{Chance, Deal, Popularity, Rng};
use crate::{Error, TraceWriter};

/// No thread holds the lock.
const FREE: u32 = u32::MAX;

/// How often a thread in a critical section takes another lock.
const NESTS: f64 = 1.0 / 16.0;
/// How often locks that may nest against their usual order do.
const INVERTS: f64 = 1.0 / 16.0;
/// How often a thread outside of critical sections goes for a shared variable, where locks could guard it.
const UNGUARDED: f64 = 1.0 / 32.0;
/// The same where there is no lock.
const UNGUARDABLE: f64 = 1.0 / 8.0;
/// How often a thread in a critical section goes for a variable that another lock guards.
const MISGUARDED: f64 = 1.0 / 64.0;
/// How often a branch depends on a read.
const BRANCHES: f64 = 0.25;
/// A critical section has fewer accesses than this between two lock operations.
const SECTION: u32 = 8;
/// Written values are below this: small, so that equal ones are written again and again.
const VALUES: u32 = 100;

/// A run in progress.
///
/// **Invariant:** the events left are enough to wind down, that is, to release what is held and to end and join
/// every thread that is to be.
pub(super) struct Run<'a> {
    writer: &'a mut dyn TraceWriter,
    names: Names,
    rng: Rng,
    chances: Chances,
    /// Whether threads are forked, begin, end and are joined.
    framed: bool,
    threads: Vec<Thread>,
    current: u32,
    /// Per lock, the thread that holds it.
    holders: Vec<u32>,
    nesting: usize,
    locks_used: Popularity,
    /// How many variables are shared: the first ones.
    shared: u32,
    /// The shared variables, by the lock that guards them.
    guarded: Deal,
    /// The others, by their thread.
    own: Deal,
    /// Per variable, what it holds; empty where values are not recorded.
    memory: Vec<u32>,
    sites: u32,
    /// Whether there are locks to guard shared variables with.
    guards: bool,
    /// Of 2^32 variables or pairs of locks, how many the program is wrong about.
    mistakes: u64,
    /// What is called, if anything is.
    sets: Option<Sets>,
    /// How many events are still to come.
    left: u64,
    /// How many events it takes to wind down.
    closing: u64,
}

struct Chances {
    switches: Chance,
    writes: Chance,
    enters: Chance,
    nests: Chance,
    inverts: Chance,
    unguarded: Chance,
    misguarded: Chance,
    branches: Chance,
}

#[derive(Clone, Default)]
struct Thread {
    began: bool,
    /// What it holds, in the order of its acquires.
    held: Vec<u32>,
    /// How many steps there are before its next release.
    section: u32,
    /// Whether its next event is a branch.
    branches: bool,
}

impl<'a> Run<'a> {
    pub(super) fn new(shape: &Shape, writer: &'a mut dyn TraceWriter) -> Result<Run<'a>, Error> {
        let threads = shape.running_threads();
        let framed = shape.fork_join && shape.events >= 2;
        let share = if shape.shared.is_nan() { 0.0 } else { shape.shared.clamp(0.0, 1.0) };
        let shared = if threads > 1 { (f64::from(shape.variables) * share).round() as u32 } else { 0 };
        let guards = shape.locks > 0 && shape.nesting > 0;
        let closing = if framed { 3 * u64::from(threads) - 1 } else { 0 };
        let sites = shape.sites.max(1);
        let mut names = names(threads, shape.locks, shared, shape.variables, sites)?;
        let sets = Sets::new(shape.calls, shape.skew, &mut names)?;
        Ok(Run {
            writer,
            names,
            sets,
            rng: Rng::new(shape.seed),
            chances: Chances {
                switches: Chance::new(1.0 / shape.burst.max(1.0)),
                writes: Chance::new(shape.write_share),
                enters: Chance::new(if guards { shape.sections } else { 0.0 }),
                nests: Chance::new(NESTS),
                inverts: Chance::new(INVERTS),
                unguarded: Chance::new(if guards { UNGUARDED } else { UNGUARDABLE }),
                misguarded: Chance::new(MISGUARDED),
                branches: Chance::new(if shape.branches { BRANCHES } else { 0.0 }),
            },
            framed,
            threads: vec![Thread { began: !framed, ..Thread::default() }; threads as usize],
            current: 0,
            holders: vec![FREE; shape.locks as usize],
            nesting: shape.nesting as usize,
            locks_used: Popularity::new(shape.locks, shape.skew),
            shared,
            guarded: Deal::new(shared, shape.locks.max(1), shape.skew),
            own: Deal::new(shape.variables - shared, threads, shape.skew),
            memory: vec![0; if shape.values { shape.variables as usize } else { 0 }],
            sites,
            guards,
            mistakes: (if shape.mistakes.is_nan() { 0.0 } else { shape.mistakes.clamp(0.0, 1.0) }
                * 2f64.powi(32)) as u64,
            left: shape.events,
            closing,
        })
    }

    pub(super) fn run(mut self) -> Result<(), Error> {
        if self.framed {
            self.begin(0)?;
            for child in 1..self.threads.len() as u32 {
                self.emit(0, Op::Fork(ThreadId(child)))?;
            }
        }
        while self.left > self.closing {
            if self.rng.happens(self.chances.switches) {
                self.current = self.rng.below(self.threads.len() as u32);
            }
            self.step(self.current)?;
        }
        self.wind_down()
    }

    /// Runs one event of `thread`, or of one that it has to wait for.
    fn step(&mut self, thread: u32) -> Result<(), Error> {
        let state = &mut self.threads[thread as usize];
        if !state.began {
            return self.begin(thread);
        }
        if std::mem::take(&mut state.branches) {
            return self.emit(thread, Op::Branch);
        }
        if let Some(call) = self.sets.as_mut().and_then(|sets| sets.step(&mut self.rng)) {
            return self.emit(thread, Op::Call(call));
        }
        let state = &self.threads[thread as usize];
        match state.held.last() {
            Some(&innermost) => self.step_inside(thread, innermost),
            None => self.step_outside(thread),
        }
    }

    fn step_outside(&mut self, thread: u32) -> Result<(), Error> {
        if self.rng.happens(self.chances.enters) && self.may_acquire() {
            return self.enter(thread);
        }
        if self.shared > 0 && self.rng.happens(self.chances.unguarded) {
            let variable = self.shared_variable();
            if self.is_mistaken(variable, 0) || !self.guards {
                return self.access(thread, variable);
            }
        }
        match self.own_variable(thread) {
            Some(variable) => self.access(thread, variable),
            None if self.may_acquire() => self.enter(thread),
            None if self.shared > 0 => {
                let variable = self.shared_variable();
                self.access(thread, variable)
            }
            // There is nothing to do; a branch is always possible and means nothing.
            None => self.emit(thread, Op::Branch),
        }
    }

    fn step_inside(&mut self, thread: u32, innermost: u32) -> Result<(), Error> {
        let state = &mut self.threads[thread as usize];
        if state.section == 0 {
            return self.release(thread);
        }
        state.section -= 1;
        if state.held.len() < self.nesting && self.rng.happens(self.chances.nests) && self.may_acquire() {
            let lock = self.locks_used.pick(&mut self.rng);
            let inverts = self.is_mistaken(lock, innermost) && self.rng.happens(self.chances.inverts);
            let in_order = lock > innermost || inverts;
            if in_order && self.holders[lock as usize] == FREE {
                return self.acquire(thread, lock);
            }
        }
        let astray = self.shared > 0 && self.rng.happens(self.chances.misguarded);
        let astray = astray.then(|| self.shared_variable()).filter(|&variable| self.is_mistaken(variable, 0));
        match astray.or_else(|| self.guarded_variable(innermost)).or_else(|| self.own_variable(thread)) {
            Some(variable) => self.access(thread, variable),
            None => self.release(thread),
        }
    }

    /// Whether the program is wrong about a variable, or about a pair of locks: a bug is in a place of the program,
    /// not in one access of many.
    fn is_mistaken(&self, which: u32, other: u32) -> bool {
        let key =
            (u64::from(which) << 32 | u64::from(other)).wrapping_add(1).wrapping_mul(0x9E37_79B9_7F4A_7C15);
        ((key ^ key >> 29) & 0xffff_ffff) < self.mistakes
    }

    /// Whether an event is left for an acquire and another for its release.
    fn may_acquire(&self) -> bool {
        !self.holders.is_empty() && self.nesting > 0 && self.left >= self.closing + 2
    }

    /// Takes a lock; where another thread holds it, that one runs instead.
    fn enter(&mut self, thread: u32) -> Result<(), Error> {
        let lock = self.locks_used.pick(&mut self.rng);
        match self.holders[lock as usize] {
            FREE => self.acquire(thread, lock),
            holder => {
                self.current = holder;
                // A holder never enters: this goes one level deep.
                self.step(holder)
            }
        }
    }

    fn acquire(&mut self, thread: u32, lock: u32) -> Result<(), Error> {
        let section = self.rng.below(SECTION);
        let state = &mut self.threads[thread as usize];
        state.held.push(lock);
        state.section = section;
        self.holders[lock as usize] = thread;
        self.closing += 1;
        self.emit(thread, Op::Acquire(LockId(lock)))
    }

    fn release(&mut self, thread: u32) -> Result<(), Error> {
        let section = self.rng.below(SECTION);
        let state = &mut self.threads[thread as usize];
        let Some(lock) = state.held.pop() else { return Ok(()) };
        state.section = section;
        self.holders[lock as usize] = FREE;
        self.closing -= 1;
        self.emit(thread, Op::Release(LockId(lock)))
    }

    fn begin(&mut self, thread: u32) -> Result<(), Error> {
        self.threads[thread as usize].began = true;
        self.closing -= 1;
        self.emit(thread, Op::Begin)
    }

    /// The shared variables are dealt out to the locks in turn.
    fn guarded_variable(&mut self, lock: u32) -> Option<u32> {
        self.guarded.pick(lock, &mut self.rng)
    }

    /// Any shared variable; there must be one.
    fn shared_variable(&mut self) -> u32 {
        let lock = self.locks_used.pick(&mut self.rng);
        self.guarded_variable(lock).unwrap_or_else(|| self.rng.below(self.shared))
    }

    /// The variables that are not shared are dealt out to the threads in turn.
    fn own_variable(&mut self, thread: u32) -> Option<u32> {
        self.own.pick(thread, &mut self.rng).map(|variable| self.shared + variable)
    }

    fn access(&mut self, thread: u32, variable: u32) -> Result<(), Error> {
        let writes = self.rng.happens(self.chances.writes);
        let op = if writes { Op::Write(VarId(variable)) } else { Op::Read(VarId(variable)) };
        if !writes && self.rng.happens(self.chances.branches) {
            self.threads[thread as usize].branches = true;
        }
        let Some(cell) = self.memory.get_mut(variable as usize) else { return self.emit(thread, op) };
        if writes {
            *cell = self.rng.below(VALUES);
        }
        let value = Some(Value::Number(u64::from(*cell)));
        if writes { self.emit_with(thread, op, None, value) } else { self.emit_with(thread, op, value, None) }
    }

    fn wind_down(&mut self) -> Result<(), Error> {
        let threads = self.threads.len() as u32;
        for thread in 1..threads {
            if !self.threads[thread as usize].began {
                self.begin(thread)?;
            }
            self.end(thread)?;
        }
        while !self.threads[0].held.is_empty() {
            self.release(0)?;
        }
        if self.framed {
            for child in 1..threads {
                self.closing -= 1;
                self.emit(0, Op::Join(ThreadId(child)))?;
            }
        }
        self.end(0)
    }

    fn end(&mut self, thread: u32) -> Result<(), Error> {
        while !self.threads[thread as usize].held.is_empty() {
            self.release(thread)?;
        }
        if !self.framed {
            return Ok(());
        }
        self.closing -= 1;
        self.emit(thread, Op::End)
    }

    #[inline]
    fn emit(&mut self, thread: u32, op: Op) -> Result<(), Error> {
        self.emit_with(thread, op, None, None)
    }

    fn emit_with(
        &mut self,
        thread: u32,
        op: Op,
        read: Option<Value<'_>>,
        written: Option<Value<'_>>,
    ) -> Result<(), Error> {
        self.left -= 1;
        debug_assert!(self.left >= self.closing, "enough events are left to wind down");
        let event = Event { thread: ThreadId(thread), op, site: self.site(op) };
        self.writer.event(&self.names, &event, read, written)
    }

    /// A site that always does the same kind of thing, with a few targets: reads are at half of the sites, writes at
    /// a quarter, the rest is for locks and for everything else.
    fn site(&mut self, op: Op) -> SiteId {
        let eighths = match op {
            Op::Read(_) => (0, 4),
            Op::Write(_) => (4, 6),
            Op::Acquire(_) | Op::Release(_) => (6, 7),
            _ => (7, 8),
        };
        let place = |eighth: u64| (u64::from(self.sites) * eighth / 8) as u32;
        let (mut start, mut end) = (place(eighths.0), place(eighths.1));
        if start == end {
            (start, end) = (0, self.sites);
        }
        let variant = self.rng.next() & 1;
        // Fibonacci hashing, by the high bits.
        let key = (u64::from(op.target()) << 8 | (op.kind() as u64) << 2 | variant)
            .wrapping_mul(0x9E37_79B9_7F4A_7C15);
        SiteId(start + (((key >> 32) * u64::from(end - start)) >> 32) as u32)
    }
}

/// The names of everything, made once: an event has none of its own.
fn names(threads: u32, locks: u32, shared: u32, variables: u32, sites: u32) -> Result<Names, Error> {
    let mut names = Names::default();
    let limit = |source| Error::Limit { path: PathBuf::new(), source };
    for thread in 0..threads {
        let name = if thread == 0 { "main".to_owned() } else { format!("T{thread}") };
        names.space_mut(Space::Thread).intern(&name).map_err(limit)?;
    }
    for lock in 0..locks {
        names.space_mut(Space::Lock).intern(&format!("L{lock}")).map_err(limit)?;
    }
    for variable in 0..variables {
        let own = variable.checked_sub(shared);
        let name = own.map_or_else(|| format!("s{variable}"), |own| format!("v{own}"));
        names.space_mut(Space::Variable).intern(&name).map_err(limit)?;
    }
    for site in 0..sites {
        names.sites.intern(&format!("src/part{}.c:{}", site / 100, 10 + site % 100 * 3)).map_err(limit)?;
    }
    Ok(names)
}
