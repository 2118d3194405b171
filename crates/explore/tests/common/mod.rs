//! A small program of the oracle's language as a `Program`, and the two compared.
#![allow(dead_code, reason = "each test uses a part")]

use std::rc::Rc;

use reweave_explore::{
    Data, Early, Explorer, Failure, Function, Init, Limits, Mutation, Next, NodeId, ObjectId, Op, Outcome,
    Policy, Program, Report, Specified, Stopped, ThreadId, Update, Watch, tag,
};
use reweave_spec::Value;
use reweave_testkit::interleave::{CAPACITY, Called, Everything, History, Instr, OBJECTS, REGISTERS, Small};

#[derive(Clone, Default)]
struct Local {
    at: usize,
    registers: [u64; REGISTERS],
    /// A spinning thread that saw this, and waits for it to change.
    seen: Option<u64>,
    awaits: bool,
    /// What was seen by the last step, if that was a look; and whether a hasty thread waits for it to change.
    looked: Option<(usize, u64)>,
    pauses: bool,
}

/// The program's own side: where each thread is. What is shared is the model's.
pub(crate) struct Interpreter<'a> {
    program: &'a Small,
    locals: Vec<Local>,
    /// Whether threads wait as soon as they look at something twice: a mistake.
    hasty: bool,
}

thread_local! {
    static OBJECTS_OF_TYPES: Rc<Specified> = Rc::default();
}

/// The set and the counter of small programs, as the built-in specifications have them.
pub(crate) fn specified() -> Rc<Specified> {
    OBJECTS_OF_TYPES.with(Rc::clone)
}

/// The class of a built-in type, and how its objects begin.
fn class(name: &str) -> (u32, u64) {
    let spec = reweave_spec::builtin(name).expect("a built-in type");
    specified().add(spec.types[0].clone())
}

fn call(called: Called) -> (ObjectId, u64) {
    let int = |value: u64| vec![Value::Int(value as i64)];
    let (of, method, arguments) = match called {
        Called::Add(value) => ("set", "add", int(value)),
        Called::Remove(value) => ("set", "remove", int(value)),
        Called::Has(value) => ("set", "contains", int(value)),
        Called::Size => ("set", "size", Vec::new()),
        Called::Inc => ("counter", "inc", Vec::new()),
        Called::Get | Called::Up | Called::Down => ("counter", "get", Vec::new()),
    };
    let number = specified().number(class(of).0, method, &arguments).expect("a method");
    (object(8, usize::from(of == "counter")), number)
}

/// What a call returned, as a number.
fn returned(number: u64, outcome: Outcome) -> u64 {
    match specified().result(number, outcome) {
        Some(Value::Bool(value)) => u64::from(value),
        Some(Value::Int(value)) => value as u64,
        _ => 0,
    }
}

fn object(kind: usize, index: usize) -> ObjectId {
    ObjectId((kind * OBJECTS + index) as u32)
}

impl<'a> Interpreter<'a> {
    pub(crate) fn new(program: &'a Small) -> Self {
        Interpreter { program, locals: Vec::new(), hasty: false }
    }

    fn next(&mut self, thread: usize) -> Next {
        let local = &mut self.locals[thread];
        let code = &self.program.threads[thread];
        while let Some(&Instr::SkipIf { reg, value, count }) = code.get(local.at) {
            local.at += if local.registers[reg] == value { count + 1 } else { 1 };
        }
        let made =
            if thread == 0 && local.at == 0 && local.seen.is_none() { everything_made() } else { Vec::new() };
        let Some(&instr) = code.get(local.at) else {
            return Next { made, op: Op::End { data: Data::Value(0), panicked: false }, place: None };
        };
        if let (Instr::Spin { cell, .. }, Some(seen), false) = (instr, local.seen, local.awaits) {
            local.awaits = true;
            return Next {
                made,
                op: Op::Await { watched: vec![Watch::Value(object(0, cell), seen)] },
                place: None,
            };
        }
        if let (true, Instr::Load { cell, .. }, Some((looked, seen))) =
            (self.hasty, instr, local.looked.take())
            && cell == looked
        {
            local.pauses = true;
            return Next {
                made,
                op: Op::Await { watched: vec![Watch::Value(object(0, cell), seen)] },
                place: None,
            };
        }
        let op = match op(instr) {
            Op::Spawn { thread } if self.program.same => Op::SpawnSame { thread, like: ThreadId(1) },
            Op::JoinAll { .. } => {
                Op::JoinAll { threads: (1..self.program.threads.len() as u32).map(ThreadId).collect() }
            }
            op => op,
        };
        Next { made, op, place: None }
    }
}

fn everything_made() -> Vec<(ObjectId, Init)> {
    let kinds = [
        Init::Cell(0),
        Init::Lock(Data::Value(0)),
        Init::RwLock(Data::Value(0)),
        Init::Condition,
        Init::Semaphore(0),
        Init::Barrier,
        Init::Once(None),
        Init::Channel(Some(CAPACITY as u32)),
    ];
    let all = |(kind, init)| (0..OBJECTS).map(move |index| (object(kind, index), init));
    let typed = ["set", "counter"].into_iter().enumerate().map(|(index, name)| {
        let (class, state) = class(name);
        (object(8, index), Init::Object { class, state })
    });
    let owners = [(object(8, 2), Init::Cell(2))];
    kinds.into_iter().enumerate().flat_map(all).chain(typed).chain(owners).collect()
}

fn op(instr: Instr) -> Op {
    let none = Data::Value(0);
    let update = |cell, function, operand| Op::Update {
        cell: object(0, cell),
        update: Update { function, operand, bits: 64 },
    };
    let thread = |thread: usize| ThreadId(thread as u32);
    match instr {
        Instr::Load { cell, plain, .. } => Op::Read { cell: object(0, cell), plain },
        Instr::Store { cell, value, plain } => Op::Write { cell: object(0, cell), value, plain },
        Instr::Add { cell, by, .. } => update(cell, Function::Add, by),
        Instr::Swap { cell, value, .. } => update(cell, Function::Swap, value),
        Instr::Cas { cell, expected, new, weak, .. } => {
            Op::Exchange { cell: object(0, cell), expected, new, weak }
        }
        Instr::Spin { cell, .. } => Op::Read { cell: object(0, cell), plain: false },
        Instr::Lock { lock } => Op::Lock { lock: object(1, lock), recursive: false },
        Instr::TryLock { lock, .. } => {
            Op::TryLock { lock: object(1, lock), recursive: false, may_fail: false }
        }
        Instr::Unlock { lock } => Op::Unlock { lock: object(1, lock), data: none, poison: false },
        Instr::Read { lock } => Op::ReadLock { lock: object(2, lock) },
        Instr::TryRead { lock, .. } => Op::TryReadLock { lock: object(2, lock) },
        Instr::ReadEnd { lock } => Op::ReadUnlock { lock: object(2, lock) },
        Instr::Write { lock } => Op::WriteLock { lock: object(2, lock) },
        Instr::TryWrite { lock, .. } => Op::TryWriteLock { lock: object(2, lock) },
        Instr::Downgrade { lock } => Op::Downgrade { lock: object(2, lock), data: none },
        Instr::WriteEnd { lock } => Op::WriteUnlock { lock: object(2, lock), data: none, poison: false },
        Instr::Wait { condition, lock, timed, .. } => Op::Wait {
            condition: object(3, condition),
            lock: object(1, lock),
            data: none,
            timed,
            early: Early::Always,
        },
        Instr::Notify { condition, all } => Op::Notify { condition: object(3, condition), all },
        Instr::Down { semaphore } => Op::Acquire { semaphore: object(4, semaphore) },
        Instr::TryDown { semaphore, .. } => Op::TryAcquire { semaphore: object(4, semaphore) },
        Instr::Up { semaphore } => Op::Release { semaphore: object(4, semaphore), count: 1 },
        Instr::Barrier { barrier, size, .. } => {
            Op::Barrier { barrier: object(5, barrier), size: size as u32 }
        }
        Instr::OnceBegin { once, .. } => Op::Initialise { once: object(6, once) },
        Instr::OnceEnd { once } => Op::Initialised { once: object(6, once), done: true, data: none },
        Instr::Send { channel, value } => {
            Op::Send { channel: object(7, channel), message: Data::Value(value) }
        }
        Instr::TrySend { channel, value, .. } => {
            Op::TrySend { channel: object(7, channel), message: Data::Value(value) }
        }
        Instr::Receive { channel, .. } => {
            Op::Receive { channel: object(7, channel), timed: false, early: Early::Always }
        }
        Instr::TryReceive { channel, .. } => Op::TryReceive { channel: object(7, channel) },
        Instr::Park => Op::Park { timed: false, early: Early::Always },
        Instr::Unpark { thread: other } => Op::Unpark { thread: thread(other) },
        Instr::Spawn { thread: child } => Op::Spawn { thread: thread(child) },
        Instr::Join { thread: other } => Op::Join { thread: thread(other) },
        Instr::JoinAll => Op::JoinAll { threads: Vec::new() },
        Instr::Choose { among, .. } => Op::Choose { among: among as u32 },
        Instr::Call { called: called @ (Called::Up | Called::Down), .. } => {
            Op::Count { cell: object(8, 2), up: called == Called::Up }
        }
        Instr::Call { called, .. } => {
            let (object, call) = call(called);
            Op::Call { object, call }
        }
        Instr::SkipIf { .. } => Op::Yield,
        Instr::Fail { site } => Op::Fail { site },
        Instr::Exit { code } => Op::Exit { code },
    }
}

/// The register that a result goes to, and what of it.
fn register(instr: Instr, outcome: Outcome) -> Option<(usize, u64)> {
    let bit = |bit: u32| u64::from(outcome.tag & bit != 0);
    match instr {
        Instr::Load { reg, .. }
        | Instr::Add { reg, .. }
        | Instr::Swap { reg, .. }
        | Instr::Choose { reg, .. }
        | Instr::Receive { reg, .. }
        | Instr::TryReceive { reg, .. } => Some((reg, outcome.value)),
        Instr::Cas { reg, .. }
        | Instr::TryLock { reg, .. }
        | Instr::TryRead { reg, .. }
        | Instr::TryWrite { reg, .. }
        | Instr::TryDown { reg, .. }
        | Instr::TrySend { reg, .. } => Some((reg, bit(tag::FAILED))),
        Instr::Call { reg, called: Called::Up | Called::Down } => Some((reg, u64::from(outcome.tag))),
        Instr::Call { reg, called } => Some((reg, returned(call(called).1, outcome))),
        Instr::Wait { reg, .. } => Some((reg, bit(tag::TIMEOUT))),
        Instr::Barrier { reg, .. } | Instr::OnceBegin { reg, .. } => Some((reg, bit(tag::CHOSEN))),
        _ => None,
    }
}

impl Program for Interpreter<'_> {
    fn start(&mut self) -> Next {
        self.locals = vec![Local::default(); self.program.threads.len()];
        self.next(0)
    }

    fn begin(&mut self, thread: ThreadId) -> Next {
        self.next(thread.0 as usize)
    }

    fn resume(&mut self, thread: ThreadId, outcome: Outcome) -> Next {
        let thread = thread.0 as usize;
        let local = &mut self.locals[thread];
        let instr = self.program.threads[thread][local.at];
        if std::mem::take(&mut local.pauses) {
            return Next { made: Vec::new(), op: op(instr), place: None };
        }
        local.looked = match instr {
            Instr::Load { cell, .. } => Some((cell, outcome.value)),
            _ => None,
        };
        if let Instr::Spin { value, .. } = instr {
            if local.awaits {
                local.awaits = false;
                local.seen = None;
                return Next { made: Vec::new(), op: op(instr), place: None };
            }
            if outcome.value != value {
                local.seen = Some(outcome.value);
                return self.next(thread);
            }
        }
        if let Some((reg, value)) = register(instr, outcome) {
            local.registers[reg] = value;
        }
        local.at += 1;
        self.next(thread)
    }

    fn finish(&mut self) {}
}

pub(crate) fn policy(program: &Small) -> Policy {
    let unasked = program.unasked;
    Policy { timeouts: unasked, spurious: unasked, weak: unasked, fair_writers: true }
}

/// The results of a history. Waiting is no result; nor is it to see again what was seen before the wait: the cell had changed
/// in between, and changed back.
fn history(explorer: &Explorer, node: NodeId) -> History {
    let mut results: Vec<(u32, u64)> = Vec::new();
    let mut waited = false;
    for (op, outcome) in explorer.history(node) {
        let result = match op {
            Op::Call { call, .. } => (outcome.tag, returned(*call, outcome)),
            _ => (outcome.tag, outcome.value),
        };
        let again = waited && results.last() == Some(&result);
        waited = matches!(op, Op::Await { .. });
        if !waited && !again {
            results.push(result);
        }
    }
    (explorer.thread(node).0 as usize, results)
}

/// What an exploration found, in the oracle's terms.
pub(crate) fn found(explorer: &Explorer, report: &Report) -> Everything {
    let histories = explorer.histories().map(|node| history(explorer, node)).collect();
    let mut all = Everything { histories, ..Everything::default() };
    for failure in &report.failures {
        let list = |waiting: &[(ThreadId, NodeId)]| -> Vec<History> {
            let mut list: Vec<History> = waiting.iter().map(|&(_, node)| history(explorer, node)).collect();
            list.sort();
            list
        };
        match failure {
            Failure::Failed { at, site } => {
                all.failures.insert((history(explorer, at.1), *site));
            }
            Failure::Deadlock { waiting } | Failure::Livelock { waiting } => {
                all.deadlocks.insert(list(waiting));
            }
            Failure::Race { at } => {
                all.races.insert((history(explorer, at.0.1), history(explorer, at.1.1)));
            }
            Failure::Exit { code, .. } => {
                all.codes.insert(*code);
            }
            other => panic!("{other:?}"),
        }
    }
    all
}

/// The same with threads that are alike taken for the first of them.
pub(crate) fn alike(all: &Everything) -> Everything {
    let one = |history: &History| (history.0.min(1), history.1.clone());
    let list = |histories: &Vec<History>| {
        let mut list: Vec<History> = histories.iter().map(one).collect();
        list.sort();
        list
    };
    Everything {
        histories: all.histories.iter().map(one).collect(),
        failures: all.failures.iter().map(|(history, site)| (one(history), *site)).collect(),
        deadlocks: all.deadlocks.iter().map(list).collect(),
        lockups: all.lockups.iter().map(list).collect(),
        races: all
            .races
            .iter()
            .map(|pair| (one(&pair.0).min(one(&pair.1)), one(&pair.0).max(one(&pair.1))))
            .collect(),
        codes: all.codes.clone(),
        states: all.states,
    }
}

/// The oracle's answer as an exploration can give it: an exit with 0 is none, and both kinds of deadlock are one.
pub(crate) fn wanted(oracle: &Everything) -> Everything {
    let mut all = oracle.clone();
    all.codes.remove(&0);
    all.deadlocks.extend(std::mem::take(&mut all.lockups));
    all.states = 0;
    all
}

pub(crate) fn explore(program: &Small, reduce: bool, mutation: Option<Mutation>) -> (Everything, Report) {
    let mut explorer = Explorer::with(policy(program), Some(specified()), mutation);
    explorer.reduce = reduce;
    saturate(explorer, program)
}

/// What is found where threads wait as soon as they look at something twice.
pub(crate) fn explore_hasty(program: &Small) -> Everything {
    let mut explorer = Explorer::with(policy(program), Some(specified()), None);
    explorer.keep_going = true;
    let mut host = Interpreter { hasty: true, ..Interpreter::new(program) };
    let report = explorer.saturate(&mut host, &Limits::default()).expect("a function of its histories");
    found(&explorer, &report)
}

pub(crate) fn saturate(mut explorer: Explorer, program: &Small) -> (Everything, Report) {
    explorer.keep_going = true;
    let report = explorer
        .saturate(&mut Interpreter::new(program), &Limits::default())
        .expect("a function of its histories");
    assert_eq!(report.stopped, Stopped::Complete);
    (found(&explorer, &report), report)
}

pub(crate) fn trace(program: &Small) -> (Everything, Report) {
    let mut explorer = Explorer::with(policy(program), Some(specified()), None);
    explorer.keep_going = true;
    let report = explorer
        .trace(&mut Interpreter::new(program), &Limits::default())
        .expect("a function of its histories");
    assert_eq!(report.stopped, Stopped::Complete);
    (found(&explorer, &report), report)
}
