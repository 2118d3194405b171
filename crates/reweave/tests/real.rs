//! Random small programs as real Rust: what the threads of their runs observe is what an oracle
//! says that they can observe.
//!
//! The oracle is `testkit::interleave`, which tries all interleavings on a machine of its own. Each
//! program is run as a closure with the types of `reweave::sync`, and its threads write down what
//! each step gave them, where the search does not look.

use std::cell::RefCell;
use std::collections::BTreeSet;
use std::rc::Rc;
use std::time::Duration;

use reweave::sync::atomic::AtomicU64;
use reweave::sync::atomic::Ordering::SeqCst;
use reweave::sync::{
    Arc, Condvar, Mutex, MutexGuard, RwLock, RwLockReadGuard, RwLockWriteGuard, TryLockError,
};
use reweave::{Builder, Engine, Exploration, choose, thread};
use reweave_explore::tag::{FAILED, TIMEOUT};
use reweave_testkit::Rng;
use reweave_testkit::interleave::{
    Flavour, History, Instr, OBJECTS, REGISTERS, Small, classes, draw, everything,
};

/// What the threads of all runs have observed.
#[derive(Clone, Default)]
struct Observed(Rc<RefCell<BTreeSet<History>>>);

// SAFETY: explored threads are contexts of one kernel thread.
unsafe impl Send for Observed {}
// SAFETY: as above.
unsafe impl Sync for Observed {}

struct Shared {
    cells: [AtomicU64; OBJECTS],
    locks: [Mutex<()>; OBJECTS],
    both: [RwLock<()>; OBJECTS],
    conditions: [Condvar; OBJECTS],
}

impl Shared {
    fn new() -> Shared {
        Shared {
            cells: std::array::from_fn(|_| AtomicU64::new(0)),
            locks: std::array::from_fn(|_| Mutex::new(())),
            both: std::array::from_fn(|_| RwLock::new(())),
            conditions: std::array::from_fn(|_| Condvar::new()),
        }
    }
}

/// A thread of a small program, with the guards that it holds.
struct Running<'a> {
    shared: &'a Shared,
    registers: [u64; REGISTERS],
    locks: Vec<(usize, MutexGuard<'a, ()>)>,
    reads: Vec<(usize, RwLockReadGuard<'a, ()>)>,
    writes: Vec<(usize, RwLockWriteGuard<'a, ()>)>,
}

/// Takes the guard of a lock out of those that are held.
fn held<G>(guards: &mut Vec<(usize, G)>, lock: usize) -> G {
    let index = guards.iter().rposition(|(own, _)| *own == lock).expect("it is held");
    guards.remove(index).1
}

/// Keeps the guard of a lock that could be had; what the step gave.
fn tried<G, E>(guards: &mut Vec<(usize, G)>, lock: usize, got: Result<G, TryLockError<E>>) -> (u32, u64) {
    match got {
        Ok(guard) => {
            guards.push((lock, guard));
            (0, 0)
        }
        Err(_) => (FAILED, 0),
    }
}

impl<'a> Running<'a> {
    fn new(shared: &'a Shared) -> Running<'a> {
        Running { shared, registers: [0; REGISTERS], locks: vec![], reads: vec![], writes: vec![] }
    }

    /// Does an instruction on memory; what it gave.
    fn memory(&mut self, instr: Instr) -> Option<(u32, u64)> {
        let cells = &self.shared.cells;
        Some(match instr {
            Instr::Load { cell, .. } => (0, cells[cell].load(SeqCst)),
            Instr::Store { cell, value, .. } => {
                cells[cell].store(value, SeqCst);
                (0, 0)
            }
            Instr::Add { cell, by, .. } => (0, cells[cell].fetch_add(by, SeqCst)),
            Instr::Swap { cell, value, .. } => (0, cells[cell].swap(value, SeqCst)),
            Instr::Cas { cell, expected, new, weak, .. } => {
                let done = if weak {
                    cells[cell].compare_exchange_weak(expected, new, SeqCst, SeqCst)
                } else {
                    cells[cell].compare_exchange(expected, new, SeqCst, SeqCst)
                };
                match done {
                    Ok(old) => (0, old),
                    Err(old) => (FAILED, old),
                }
            }
            Instr::Spin { cell, value } => {
                while cells[cell].load(SeqCst) != value {
                    reweave::hint::black_box(());
                }
                (0, value)
            }
            Instr::Choose { among, .. } => (0, u64::from(choose(among as u32))),
            _ => return None,
        })
    }

    /// Does any instruction; what it gave.
    fn step(&mut self, instr: Instr) -> (u32, u64) {
        if let Some(result) = self.memory(instr) {
            return result;
        }
        let shared = self.shared;
        match instr {
            Instr::Lock { lock } => self.locks.push((lock, shared.locks[lock].lock().unwrap())),
            Instr::TryLock { lock, .. } => {
                return tried(&mut self.locks, lock, shared.locks[lock].try_lock());
            }
            Instr::Unlock { lock } => drop(held(&mut self.locks, lock)),
            Instr::Read { lock } => self.reads.push((lock, shared.both[lock].read().unwrap())),
            Instr::TryRead { lock, .. } => {
                return tried(&mut self.reads, lock, shared.both[lock].try_read());
            }
            Instr::ReadEnd { lock } => drop(held(&mut self.reads, lock)),
            Instr::Write { lock } => self.writes.push((lock, shared.both[lock].write().unwrap())),
            Instr::TryWrite { lock, .. } => {
                return tried(&mut self.writes, lock, shared.both[lock].try_write());
            }
            Instr::WriteEnd { lock } => drop(held(&mut self.writes, lock)),
            Instr::Downgrade { lock } => {
                let writes = held(&mut self.writes, lock);
                self.reads.push((lock, RwLockWriteGuard::downgrade(writes)));
            }
            Instr::Notify { condition, all: true } => shared.conditions[condition].notify_all(),
            Instr::Notify { condition, .. } => shared.conditions[condition].notify_one(),
            Instr::Wait { condition, lock, timed, .. } => {
                let (guard, condition) = (held(&mut self.locks, lock), &shared.conditions[condition]);
                let (guard, late) = if timed {
                    let (guard, late) = condition.wait_timeout(guard, Duration::from_secs(1)).unwrap();
                    (guard, late.timed_out())
                } else {
                    (condition.wait(guard).unwrap(), false)
                };
                self.locks.push((lock, guard));
                return (if late { TIMEOUT } else { 0 }, 0);
            }
            other => unreachable!("{other:?} is not drawn here"),
        }
        (0, 0)
    }
}

/// Keeps a result where the instruction wants it.
fn keep(registers: &mut [u64; REGISTERS], instr: Instr, (bits, value): (u32, u64)) {
    match instr {
        Instr::Load { reg, .. }
        | Instr::Add { reg, .. }
        | Instr::Swap { reg, .. }
        | Instr::Choose { reg, .. } => registers[reg] = value,
        Instr::Cas { reg, .. }
        | Instr::TryLock { reg, .. }
        | Instr::TryRead { reg, .. }
        | Instr::TryWrite { reg, .. } => registers[reg] = u64::from(bits & FAILED != 0),
        Instr::Wait { reg, .. } => registers[reg] = u64::from(bits & TIMEOUT != 0),
        _ => {}
    }
}

/// What a history has when what spins see before they end is left out: here only the end is seen.
fn without_looks(program: &Small, (thread, results): &History) -> History {
    let (mut at, mut registers, mut kept) = (0, [0; REGISTERS], Vec::new());
    let mut results = results.iter().copied();
    while let Some(&instr) = program.threads[*thread].get(at) {
        at += 1;
        let result = match instr {
            Instr::SkipIf { reg, value, count } => {
                at += if registers[reg] == value { count } else { 0 };
                continue;
            }
            Instr::Spin { value, .. } => results.find(|&(_, seen)| seen == value),
            _ => results.next(),
        };
        let Some(result) = result else { break };
        keep(&mut registers, instr, result);
        kept.push(result);
    }
    (*thread, kept)
}

/// Runs a thread of a program.
fn run(program: &Arc<Small>, thread: usize, shared: &Arc<Shared>, observed: &Observed) {
    let own = Arc::clone(shared);
    let mut running = Running::new(&own);
    let mut handles: Vec<(usize, thread::JoinHandle<()>)> = Vec::new();
    let (mut at, mut results) = (0, Vec::new());
    let note = |results: &Vec<(u32, u64)>| observed.0.borrow_mut().insert((thread, results.clone()));
    note(&results);
    while let Some(&instr) = program.threads[thread].get(at) {
        at += 1;
        let result = match instr {
            Instr::SkipIf { reg, value, count } => {
                at += if running.registers[reg] == value { count } else { 0 };
                continue;
            }
            Instr::Fail { site } => panic!("site {site}"),
            Instr::Spawn { thread: child } => {
                let (program, shared, observed) = (Arc::clone(program), Arc::clone(shared), observed.clone());
                handles.push((child, thread::spawn(move || run(&program, child, &shared, &observed))));
                (0, 0)
            }
            Instr::Join { thread: child } => {
                held(&mut handles, child).join().unwrap();
                (0, 0)
            }
            instr => running.step(instr),
        };
        keep(&mut running.registers, instr, result);
        results.push(result);
        note(&results);
    }
}

/// A program that can be written in Rust: plain accesses are atomic ones, and only the first thread
/// fails, since a panic of another is what joining it gives.
fn in_rust(mut program: Small) -> Small {
    for (index, thread) in program.threads.iter_mut().enumerate() {
        for instr in thread {
            match instr {
                Instr::Load { plain, .. } | Instr::Store { plain, .. } => *plain = false,
                Instr::Fail { .. } if index > 0 => *instr = Instr::Store { cell: 0, value: 1, plain: false },
                _ => {}
            }
        }
    }
    program
}

fn explored(program: &Small, engine: Engine) -> (Exploration, BTreeSet<History>) {
    let observed = Observed::default();
    let (program, all) = (Arc::new(program.clone()), observed.clone());
    let unasked = program.unasked;
    let builder = Builder::new().engine(engine).keep_going(true).spurious(unasked).timeouts(unasked);
    let exploration = builder.explore(move || run(&program, 0, &Arc::new(Shared::new()), &all));
    let histories = observed.0.borrow().clone();
    (exploration, histories)
}

/// The threads that wait for ever, as the report names them.
fn stuck(exploration: &Exploration) -> BTreeSet<String> {
    let waiting = exploration.failures.iter().filter(|failure| failure.kind.ends_with("lock"));
    waiting
        .filter_map(|failure| Some(failure.what.lines().next()?.split_once(" of ")?.1.to_owned()))
        .collect()
}

#[test]
fn what_runs_observe_is_what_the_oracle_says() {
    let mut rng = Rng::new(23);
    let (mut programs, mut fail, mut hang, mut counted) = (0, 0, 0, 0);
    for round in 0.. {
        if programs == 100 {
            break;
        }
        let flavour = [Flavour::Memory, Flavour::Locks, Flavour::Waits][round % 3];
        let program = in_rust(draw(&mut rng, flavour));
        let foreign = |instr: &Instr| {
            use Instr::{Barrier, Down, Park, TryDown, Unpark, Up};
            matches!(instr, Barrier { .. } | Down { .. } | TryDown { .. } | Up { .. } | Park | Unpark { .. })
        };
        if program.threads.iter().flatten().any(foreign) {
            continue;
        }
        let Some(oracle) = everything(&program, 20_000) else { continue };
        programs += 1;
        let possible: BTreeSet<History> =
            oracle.histories.iter().map(|history| without_looks(&program, history)).collect();
        let (saturated, histories) = explored(&program, Engine::Saturate);
        assert_eq!(histories, possible, "{program:?}\n{saturated}");
        let panics = saturated.failures.iter().any(|failure| failure.kind == "panic");
        assert_eq!(panics, !oracle.failures.is_empty(), "{program:?}\n{saturated}");
        let name = |&(thread, _): &History| match thread {
            0 => "main".to_owned(),
            other => format!("main.{other}"),
        };
        let waiting: BTreeSet<String> = oracle
            .deadlocks
            .iter()
            .map(|waiting| waiting.iter().map(name).collect::<Vec<_>>().join(", "))
            .collect();
        assert_eq!(stuck(&saturated), waiting, "{program:?}\n{saturated}");
        let spins = program.threads.iter().flatten().any(|instr| matches!(instr, Instr::Spin { .. }));
        if let Some(classes) = (!spins).then(|| classes(&program, 20_000)).flatten() {
            let (traced, seen) = explored(&program, Engine::Trace);
            assert_eq!(traced.executions, classes as u64, "{program:?}\n{traced}");
            assert_eq!(seen, possible, "{program:?}\n{traced}");
            counted += 1;
        }
        fail += usize::from(panics);
        hang += usize::from(!waiting.is_empty());
    }
    // All kinds were among them.
    assert!(fail >= 2 && hang >= 4 && counted >= 30, "{fail} {hang} {counted}");
}
