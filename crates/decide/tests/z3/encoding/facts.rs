//! What the observed run was, by naive scans: none of the production code that does the same is used here.

use reweave_trace::{Kind, Op, Space, Trace, ValueId};

/// A trace taken apart. Events, threads, locks and variables are plain numbers.
pub(crate) struct Facts {
    /// Per thread, its events in order.
    pub(crate) threads: Vec<Vec<usize>>,
    /// Per event, the one before it in its thread.
    pub(crate) previous: Vec<Option<usize>>,
    /// Per thread, the event that forks it.
    pub(crate) fork: Vec<Option<usize>>,
    /// Per read or update, what it observed and what else would look the same to it.
    pub(crate) reads: Vec<Option<Read>>,
    /// Per variable, the events that write it.
    pub(crate) writers: Vec<Vec<usize>>,
    /// Per lock, its critical sections.
    pub(crate) sections: Vec<Vec<Section>>,
    /// Per wait, the notification that woke it.
    pub(crate) waker: Vec<Option<usize>>,
    /// Per condition variable, its notifications.
    pub(crate) notifications: Vec<Vec<usize>>,
    /// Per call, all earlier ones that share an object with it.
    pub(crate) calls: Vec<Vec<usize>>,
}

/// What a read can observe without noticing a difference; none is the initial value.
pub(crate) struct Read {
    pub(crate) variable: usize,
    pub(crate) observed: Option<usize>,
    /// Others with the same value.
    pub(crate) equal: Vec<Option<usize>>,
    /// For a failed attempt that failed by its value: others with any known value but the expected one.
    pub(crate) failing: Vec<Option<usize>>,
}

/// The outermost acquire of one side of a lock, to the release that ends it.
#[derive(Clone, Copy)]
pub(crate) struct Section {
    pub(crate) thread: usize,
    pub(crate) acquire: usize,
    pub(crate) release: Option<usize>,
    pub(crate) shared: bool,
}

impl Facts {
    pub(crate) fn new(trace: &Trace) -> Facts {
        let mut threads = vec![Vec::new(); trace.count(Space::Thread)];
        let mut previous = vec![None; trace.len()];
        let mut fork = vec![None; threads.len()];
        let mut notifications = vec![Vec::new(); trace.count(Space::Condition)];
        for (id, event) in trace.events() {
            let own: &mut Vec<usize> = &mut threads[event.thread.index()];
            previous[id.index()] = own.last().copied();
            own.push(id.index());
            match event.op {
                Op::Fork(child) => fork[child.index()] = Some(id.index()),
                Op::Notify(condition) | Op::NotifyAll(condition) => {
                    notifications[condition.index()].push(id.index());
                }
                _ => {}
            }
        }
        let writers = writers(trace);
        Facts {
            reads: reads(trace, &writers),
            sections: sections(trace),
            waker: wakers(trace, &previous, &notifications),
            threads,
            previous,
            fork,
            writers,
            notifications,
            calls: calls(trace),
        }
    }
}

fn calls(trace: &Trace) -> Vec<Vec<usize>> {
    let text = |event: usize| match trace.op(super::id(event)) {
        op @ Op::Call(_) => trace.target_name(op),
        _ => None,
    };
    let object = |text: &str| {
        let head = text.split(['(', '=']).next().unwrap_or_default();
        head.rsplit_once('.').map_or("", |(object, _)| object).to_owned()
    };
    let on = |a: &str, b: &str| {
        let mentioned =
            a.split(['(', ')', ',', '=']).skip(1).any(|word| !word.is_empty() && word == object(b));
        object(a) == object(b) || mentioned
    };
    let all: Vec<&str> = (0..trace.len()).filter_map(text).collect();
    let shared = |a: &str, b: &str| all.iter().any(|third| on(a, third) && on(b, third));
    let before = |event: usize| {
        let Some(own) = text(event) else { return Vec::new() };
        (0..event).filter(|&other| text(other).is_some_and(|other| shared(own, other))).collect()
    };
    (0..trace.len()).map(before).collect()
}

fn writers(trace: &Trace) -> Vec<Vec<usize>> {
    let mut writers = vec![Vec::new(); trace.count(Space::Variable)];
    for (id, event) in trace.events() {
        match event.op {
            Op::Write(x) | Op::AtomicWrite(x) | Op::Update(x) | Op::Unseen(x) => {
                writers[x.index()].push(id.index())
            }
            Op::Alloc(object) | Op::Free(object) => {
                let inside = format!("{}.", trace.variable_name(object));
                for (place, name) in trace.names().space(Space::Variable).iter().enumerate() {
                    if place == object.index() || name.starts_with(&inside) {
                        writers[place].push(id.index());
                    }
                }
            }
            _ => {}
        }
    }
    writers
}

fn reads(trace: &Trace, writers: &[Vec<usize>]) -> Vec<Option<Read>> {
    let variable = |event: usize| match trace.op(super::id(event)) {
        Op::Read(x) | Op::AtomicRead(x) | Op::Update(x) | Op::FailedAttempt(x) => Some(x.index()),
        _ => None,
    };
    let observed = |event: usize, x: usize| writers[x].iter().copied().rfind(|&write| write < event);
    let mut initial: Vec<Option<ValueId>> = vec![None; writers.len()];
    for event in 0..trace.len() {
        if let Some(x) = variable(event).filter(|&x| observed(event, x).is_none()) {
            initial[x] = initial[x].or(trace.values(super::id(event)).read);
        }
    }
    let read = |event: usize| {
        let variable = variable(event)?;
        let observed = observed(event, variable);
        let value = trace.values(super::id(event)).read;
        let written = |write: Option<usize>| match write {
            Some(write) => trace.values(super::id(write)).written,
            None => initial[variable],
        };
        let all = std::iter::once(None).chain(writers[variable].iter().copied().map(Some));
        let equal = |&write: &Option<usize>| {
            write != observed && write != Some(event) && value.is_some() && written(write) == value
        };
        let expected = trace.values(super::id(event)).written;
        let attempt = matches!(trace.op(super::id(event)), Op::FailedAttempt(_));
        let by_value = attempt && value.is_some() && expected.is_some() && value != expected;
        let fails =
            |&write: &Option<usize>| by_value && written(write).is_some() && written(write) != expected;
        let failing = all.clone().filter(fails).collect();
        Some(Read { variable, observed, equal: all.filter(equal).collect(), failing })
    };
    (0..trace.len()).map(read).collect()
}

fn sections(trace: &Trace) -> Vec<Vec<Section>> {
    let threads = trace.count(Space::Thread);
    let mut sections: Vec<Vec<Section>> = vec![Vec::new(); trace.count(Space::Lock)];
    let mut depth = vec![vec![[0_u32; 2]; threads]; sections.len()];
    for (id, event) in trace.events() {
        let (lock, shared, opens) = match event.op {
            Op::Acquire(lock) | Op::TryAcquire(lock) => (lock, false, true),
            Op::SharedAcquire(lock) => (lock, true, true),
            Op::Release(lock) => (lock, false, false),
            Op::SharedRelease(lock) => (lock, true, false),
            _ => continue,
        };
        let (event, thread) = (id.index(), event.thread.index());
        let depth = &mut depth[lock.index()][thread][usize::from(shared)];
        let of_lock = &mut sections[lock.index()];
        if opens {
            if *depth == 0 {
                of_lock.push(Section { thread, acquire: event, release: None, shared });
            }
            *depth += 1;
        } else {
            *depth -= 1;
            let open =
                of_lock.iter_mut().rfind(|section| section.thread == thread && section.shared == shared);
            if let Some(open) = open.filter(|_| *depth == 0) {
                open.release = Some(event);
            }
        }
    }
    sections
}

fn wakers(trace: &Trace, previous: &[Option<usize>], notifications: &[Vec<usize>]) -> Vec<Option<usize>> {
    let mut taken = vec![false; trace.len()];
    let mut wakers = vec![None; trace.len()];
    for wait in 0..trace.len() {
        let (Op::Wait(condition), Some(start)) = (trace.op(super::id(wait)), previous[wait]) else {
            continue;
        };
        let free = |&&event: &&usize| start < event && event < wait && !taken[event];
        wakers[wait] = notifications[condition.index()].iter().find(free).copied();
        if let Some(waker) = wakers[wait].filter(|&waker| trace.kind(super::id(waker)) == Kind::Notify) {
            taken[waker] = true;
        }
    }
    wakers
}
