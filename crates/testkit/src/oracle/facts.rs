//! What the definitions say about a trace as observed, by naive scans.

use reweave_trace::{Kind, Op, Space, ThreadId, Trace, ValueId};

/// Observation, starts and wakers, per event.
pub(super) struct Facts {
    /// Per thread, its events in order.
    pub(super) threads: Vec<Vec<usize>>,
    /// Per thread, the event that forks it.
    pub(super) fork: Vec<Option<usize>>,
    /// Per event, the variable it observes.
    pub(super) reads: Vec<Option<usize>>,
    /// Per event, the variables it writes.
    pub(super) writes: Vec<Vec<usize>>,
    /// Per read, the write it observed.
    pub(super) observed: Vec<Option<usize>>,
    /// Per variable, its initial value where reads show it.
    pub(super) initial: Vec<Option<ValueId>>,
    /// Per wait, the event it starts at.
    pub(super) start: Vec<Option<usize>>,
    /// Per wait, the notification that woke it.
    pub(super) waker: Vec<Option<usize>>,
}

impl Facts {
    pub(super) fn new(trace: &Trace) -> Facts {
        let mut threads = vec![Vec::new(); trace.count(Space::Thread)];
        let mut fork = vec![None; threads.len()];
        for (id, event) in trace.events() {
            threads[event.thread.index()].push(id.index());
            if let Op::Fork(child) = event.op {
                fork[child.index()] = Some(id.index());
            }
        }
        let reads: Vec<Option<usize>> = trace.ids().map(|id| read_by(trace.op(id))).collect();
        let writes: Vec<Vec<usize>> = trace.ids().map(|id| written_by(trace, trace.op(id))).collect();
        let last_write = |e: usize| {
            let variable = reads[e]?;
            (0..e).rev().find(|&write| writes[write].contains(&variable))
        };
        let observed: Vec<Option<usize>> = (0..trace.len()).map(last_write).collect();
        let mut initial = vec![None; trace.count(Space::Variable)];
        for id in trace.ids() {
            if let (Some(variable), None) = (reads[id.index()], observed[id.index()]) {
                initial[variable] = initial[variable].or(trace.values(id).read);
            }
        }
        let start = starts(trace, &threads);
        let waker = wakers(trace, &start);
        Facts { threads, fork, reads, writes, observed, initial, start, waker }
    }
}

fn read_by(op: Op) -> Option<usize> {
    match op {
        Op::Read(variable) | Op::AtomicRead(variable) => Some(variable.index()),
        Op::Update(variable) | Op::FailedAttempt(variable) => Some(variable.index()),
        _ => None,
    }
}

fn written_by(trace: &Trace, op: Op) -> Vec<usize> {
    match op {
        Op::Write(variable) | Op::AtomicWrite(variable) => vec![variable.index()],
        Op::Update(variable) | Op::Unseen(variable) => vec![variable.index()],
        Op::Alloc(object) | Op::Free(object) => {
            let name = trace.variable_name(object);
            let names = trace.names().space(Space::Variable).iter().enumerate();
            names.filter(|(_, field)| covers(name, field)).map(|(variable, _)| variable).collect()
        }
        _ => Vec::new(),
    }
}

/// Whether the variable called `field` is the object called `name` or a part of it.
fn covers(name: &str, field: &str) -> bool {
    field.strip_prefix(name).is_some_and(|rest| rest.is_empty() || rest.starts_with('.'))
}

/// The objects that a call is on, by name: its own, and each other that it mentions and that some call is on.
pub(super) fn objects_of(trace: &Trace, event: usize) -> Vec<String> {
    let text = |op: Op| trace.target_name(op).unwrap_or_default().to_owned();
    let of = |text: &str| crate::calls::object_of(text).to_owned();
    let Op::Call(_) = trace.op(super::id(event)) else { return Vec::new() };
    let own = text(trace.op(super::id(event)));
    let calls = trace.events().filter(|(_, event)| matches!(event.op, Op::Call(_)));
    let mut known: Vec<String> = calls.map(|(_, event)| of(&text(event.op))).collect();
    known.sort();
    known.dedup();
    let words: Vec<&str> = own.split(['(', ')', ',', '=']).skip(1).collect();
    known.retain(|name| *name == of(&own) || !name.is_empty() && words.contains(&name.as_str()));
    known
}

/// Whether events `a` and `b` conflict.
pub(super) fn conflict(trace: &Trace, facts: &Facts, a: usize, b: usize) -> bool {
    let ids = [a, b].map(super::id);
    let touches =
        |e: usize, variable: usize| facts.writes[e].contains(&variable) || facts.reads[e] == Some(variable);
    let meet =
        facts.writes[a].iter().any(|&v| touches(b, v)) || facts.writes[b].iter().any(|&v| touches(a, v));
    let atomic = |id| {
        use Kind::*;
        matches!(trace.kind(id), AtomicRead | AtomicWrite | Update | FailedAttempt | Unseen)
    };
    trace.thread(ids[0]) != trace.thread(ids[1]) && meet && !ids.into_iter().all(atomic)
}

fn starts(trace: &Trace, threads: &[Vec<usize>]) -> Vec<Option<usize>> {
    let mut starts = vec![None; trace.len()];
    for events in threads {
        for (position, &event) in events.iter().enumerate() {
            if trace.kind(super::id(event)) == Kind::Wait {
                starts[event] = Some(events[position.saturating_sub(1)]);
            }
        }
    }
    starts
}

fn wakers(trace: &Trace, starts: &[Option<usize>]) -> Vec<Option<usize>> {
    let mut taken = vec![false; trace.len()];
    let mut wakers = vec![None; trace.len()];
    for (wait, &start) in starts.iter().enumerate() {
        let (Some(start), Op::Wait(condition)) = (start, trace.op(super::id(wait))) else { continue };
        let wakes = |&event: &usize| match trace.op(super::id(event)) {
            Op::Notify(other) => other == condition && !taken[event],
            Op::NotifyAll(other) => other == condition,
            _ => false,
        };
        wakers[wait] = (start + 1..wait).find(wakes);
        if let Some(waker) = wakers[wait] {
            taken[waker] = true;
        }
    }
    wakers
}

/// Per thread and position, the locks that the thread holds there: exclusively, and shared.
pub(super) fn holds(trace: &Trace, facts: &Facts, thread: ThreadId) -> Vec<[u64; 2]> {
    let mut depth = vec![[0i32; 2]; trace.count(Space::Lock)];
    let mut holds = vec![[0, 0]];
    for &event in &facts.threads[thread.index()] {
        let (side, change, lock) = match trace.op(super::id(event)) {
            Op::Acquire(lock) | Op::TryAcquire(lock) => (0, 1, Some(lock)),
            Op::Release(lock) => (0, -1, Some(lock)),
            Op::SharedAcquire(lock) => (1, 1, Some(lock)),
            Op::SharedRelease(lock) => (1, -1, Some(lock)),
            _ => (0, 0, None),
        };
        if let Some(lock) = lock {
            depth[lock.index()][side] += change;
        }
        let held = |side: usize| {
            (0..depth.len()).filter(|&l| depth[l][side] > 0).fold(0, |set: u64, l| set | 1 << l)
        };
        holds.push([held(0), held(1)]);
    }
    holds
}
