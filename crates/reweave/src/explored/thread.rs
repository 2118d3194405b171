//! `std::thread`, explored. Outside of an exploration each function does as std's does.

use std::fmt;
use std::io;
use std::sync::{Arc, Mutex, PoisonError};
use std::thread as real;
use std::time::Duration;

use reweave_explore::{self as search, Data, Op};

use super::sync::atomic::waits;
use super::{data, host, spin};

pub use std::thread::{Result, available_parallelism};

pub use super::local::LocalKey;
pub use super::scope::{Scope, ScopedJoinHandle, scope};

/// What a thread left, for who joins it.
pub(super) type Slot<T> = Arc<Mutex<Option<Result<T>>>>;

/// Whether the calling thread unwinds.
#[must_use]
pub fn panicking() -> bool {
    host::panicking()
}

/// Which thread it is.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct ThreadId(Which);

#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
enum Which {
    Explored(u32),
    Real(real::ThreadId),
}

/// A thread.
#[derive(Clone)]
pub struct Thread(Kind);

#[derive(Clone)]
enum Kind {
    Explored(search::ThreadId, Option<Arc<str>>),
    Real(real::Thread),
}

impl Thread {
    /// Lets the thread go on where it is parked, or will be.
    #[track_caller]
    pub fn unpark(&self) {
        match &self.0 {
            Kind::Explored(thread, _) => {
                spin::stop();
                host::step(Op::Unpark { thread: *thread });
            }
            Kind::Real(thread) => thread.unpark(),
        }
    }

    /// Which one it is.
    #[must_use]
    pub fn id(&self) -> ThreadId {
        match &self.0 {
            Kind::Explored(thread, _) => ThreadId(Which::Explored(thread.0)),
            Kind::Real(thread) => ThreadId(Which::Real(thread.id())),
        }
    }

    /// What it is called.
    #[must_use]
    pub fn name(&self) -> Option<&str> {
        match &self.0 {
            Kind::Explored(_, name) => name.as_deref(),
            Kind::Real(thread) => thread.name(),
        }
    }
}

impl fmt::Debug for Thread {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Thread").field("id", &self.id()).field("name", &self.name()).finish()
    }
}

/// The calling thread.
#[must_use]
pub fn current() -> Thread {
    let explored = host::host(|host| {
        host.tells();
        let name = host.local(|local| local.name.as_deref().map(Arc::from));
        Thread(Kind::Explored(host.current(), name))
    });
    explored.unwrap_or_else(|| Thread(Kind::Real(real::current())))
}

/// Lets others go first. A thread that comes back to it knowing no more waits until there is something to know.
#[inline(always)]
#[track_caller]
pub fn yield_now() {
    let round = host::explored() && spin::round(u64::MAX, 1);
    yielded(round);
}

#[inline(never)]
#[track_caller]
fn yielded(round: bool) {
    if !host::explored() {
        real::yield_now();
    } else if round {
        waits();
    } else {
        host::step(Op::Yield);
    }
}

/// Sleeps. Explored threads take no time: it lets others go first.
#[inline(always)]
#[track_caller]
pub fn sleep(time: Duration) {
    if host::explored() {
        yield_now();
    } else {
        real::sleep(time);
    }
}

/// Waits for the thread's token.
#[inline(always)]
#[track_caller]
pub fn park() {
    let round = host::explored() && spin::round(u64::MAX - 1, 0);
    parked(round, None);
}

/// Waits for the thread's token, but not longer than this. In an exploration the time may be up at once, or never.
#[inline(always)]
#[track_caller]
pub fn park_timeout(time: Duration) {
    let round = host::explored() && spin::round(u64::MAX - 1, 0);
    parked(round, Some(time));
}

#[inline(never)]
#[track_caller]
fn parked(round: bool, time: Option<Duration>) {
    assert!(!host::scoped_now(), "a call on an object with a specification parks");
    if host::explored() {
        let early = spin::early(round);
        host::step(Op::Park { timed: time.is_some(), early });
    } else if let Some(time) = time {
        real::park_timeout(time);
    } else {
        real::park();
    }
}

/// A thread that can be joined.
pub struct JoinHandle<T>(Handle<T>);

enum Handle<T> {
    Explored { id: search::ThreadId, name: Option<Arc<str>>, slot: Slot<T> },
    Real(real::JoinHandle<T>),
}

impl<T> JoinHandle<T> {
    /// Waits for the end of the thread: what it returned, or its panic.
    #[track_caller]
    pub fn join(self) -> Result<T> {
        match self.0 {
            Handle::Explored { id, slot, .. } => join(id, &slot),
            Handle::Real(handle) => handle.join(),
        }
    }

    /// The thread.
    #[must_use]
    pub fn thread(&self) -> Thread {
        match &self.0 {
            Handle::Explored { id, name, .. } => Thread(Kind::Explored(*id, name.clone())),
            Handle::Real(handle) => Thread(Kind::Real(handle.thread().clone())),
        }
    }
}

impl<T> fmt::Debug for JoinHandle<T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("JoinHandle").finish_non_exhaustive()
    }
}

#[track_caller]
pub(super) fn join<T>(id: search::ThreadId, slot: &Slot<T>) -> Result<T> {
    spin::stop();
    host::step(Op::Join { thread: id });
    let left = slot.lock().unwrap_or_else(PoisonError::into_inner).take();
    left.unwrap_or_else(|| Err(Box::new("the run is over")))
}

/// Starts a thread.
#[track_caller]
pub fn spawn<F, T>(run: F) -> JoinHandle<T>
where
    F: FnOnce() -> T + Send + 'static,
    T: Send + 'static,
{
    match explore(run, None) {
        Ok((id, slot)) => JoinHandle(Handle::Explored { id, name: None, slot }),
        Err(run) => JoinHandle(Handle::Real(real::spawn(run))),
    }
}

/// Starts an explored thread, or gives the closure back.
#[track_caller]
pub(super) fn explore<'a, F, T>(
    run: F,
    name: Option<String>,
) -> std::result::Result<(search::ThreadId, Slot<T>), F>
where
    F: FnOnce() -> T + 'a,
    T: 'a,
{
    assert!(!host::scoped_now(), "a call on an object with a specification starts a thread");
    if !host::explored() {
        return Err(run);
    }
    let slot: Slot<T> = Arc::default();
    let left = Arc::clone(&slot);
    let start = move || {
        host::host(|host| host.local(|local| local.name = name));
        let result = host::caught(run);
        let op = match &result {
            Ok(value) => Op::End { data: data::of(value), panicked: false },
            Err(_) => Op::End { data: Data::Value(0), panicked: true },
        };
        *left.lock().unwrap_or_else(PoisonError::into_inner) = Some(result);
        drop(left);
        op
    };
    let start: Box<dyn FnOnce() -> Op + 'a> = Box::new(start);
    // SAFETY: a scoped thread is joined before what it borrows from ends; where a run is dropped, contexts are unwound before
    // those that started them. Other threads borrow nothing.
    let start: Box<dyn FnOnce() -> Op> = unsafe { std::mem::transmute(start) };
    let id = host::host(|host| host.prepare(start)).unwrap_or(search::ThreadId::MAIN);
    spin::stop();
    host::step(Op::Spawn { thread: id });
    Ok((id, slot))
}

/// Starts explored threads that all do the same.
#[track_caller]
pub(crate) fn explore_same<F: Fn() + 'static>(count: u32, run: &Arc<F>) -> Vec<search::ThreadId> {
    let mut threads = Vec::new();
    spin::stop();
    for _ in 0..count {
        let run = Arc::clone(run);
        let start = move || Op::End { data: Data::Value(0), panicked: host::caught(|| run()).is_err() };
        let Some(id) = host::host(|host| host.prepare(Box::new(start))) else { break };
        let apart = host::host(|host| {
            host.same.borrow_mut().insert(id);
            host.apart
        });
        let like = *threads.first().unwrap_or(&id);
        threads.push(id);
        host::step(if apart == Some(false) {
            Op::SpawnSame { thread: id, like }
        } else {
            Op::Spawn { thread: id }
        });
    }
    threads
}

/// Waits for all of them; whether one of them panicked.
#[track_caller]
pub(crate) fn join_all(threads: Vec<search::ThreadId>) -> bool {
    spin::stop();
    host::step(Op::JoinAll { threads }).tag & search::tag::POISONED != 0
}

/// Options of a thread.
#[derive(Debug, Default)]
pub struct Builder {
    name: Option<String>,
    stack: Option<usize>,
}

impl Builder {
    /// A thread without a name.
    #[must_use]
    pub fn new() -> Builder {
        Builder::default()
    }

    /// What it is called.
    #[must_use]
    pub fn name(mut self, name: String) -> Builder {
        self.name = Some(name);
        self
    }

    /// The size of its stack. Explored threads all have the same.
    #[must_use]
    pub fn stack_size(mut self, size: usize) -> Builder {
        self.stack = Some(size);
        self
    }

    fn real(self) -> real::Builder {
        let mut builder = real::Builder::new();
        if let Some(name) = self.name {
            builder = builder.name(name);
        }
        if let Some(size) = self.stack {
            builder = builder.stack_size(size);
        }
        builder
    }

    /// Starts it.
    #[track_caller]
    pub fn spawn<F, T>(self, run: F) -> io::Result<JoinHandle<T>>
    where
        F: FnOnce() -> T + Send + 'static,
        T: Send + 'static,
    {
        let name: Option<Arc<str>> = self.name.as_deref().map(Arc::from);
        match explore(run, self.name.clone()) {
            Ok((id, slot)) => Ok(JoinHandle(Handle::Explored { id, name, slot })),
            Err(run) => Ok(JoinHandle(Handle::Real(self.real().spawn(run)?))),
        }
    }
}
