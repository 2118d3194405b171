//! `std::thread`, told to the recorder.
//!
//! Creation, end and `join` are seen by the recorder anyway; scopes and parking, which std does with atomic accesses of its own,
//! are told here.

use std::cell::Cell;
use std::fmt;
use std::hash::{Hash, Hasher};
use std::io;
use std::marker::PhantomData;
use std::thread as real;
use std::time::Duration;

pub use std::thread::{
    AccessError, LocalKey, Result, ThreadId, available_parallelism, panicking, sleep, yield_now,
};

use crate::told::{self, What};

/// The number that std gives a thread: the only one that is never used again.
struct Number(u64);

impl Hasher for Number {
    fn finish(&self) -> u64 {
        self.0
    }

    fn write(&mut self, bytes: &[u8]) {
        for &byte in bytes.iter().rev() {
            self.0 = self.0 << 8 | u64::from(byte);
        }
    }

    fn write_u64(&mut self, number: u64) {
        self.0 = number;
    }
}

fn number(id: ThreadId) -> usize {
    let mut number = Number(0);
    id.hash(&mut number);
    number.finish() as usize
}

/// `std::thread::Thread`, told to the recorder.
#[derive(Clone)]
pub struct Thread(real::Thread);

impl Thread {
    /// Lets the thread go on where it is parked, or will be.
    pub fn unpark(&self) {
        if !told::unpark(number(self.id())) {
            self.0.unpark();
        }
    }

    /// Which one it is.
    #[must_use]
    pub fn id(&self) -> ThreadId {
        self.0.id()
    }

    /// What it is called.
    #[must_use]
    pub fn name(&self) -> Option<&str> {
        self.0.name()
    }
}

impl fmt::Debug for Thread {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.fmt(f)
    }
}

/// The calling thread.
#[must_use]
pub fn current() -> Thread {
    Thread(real::current())
}

/// Waits until somebody lets the calling thread go on.
pub fn park() {
    if !told::park(number(real::current().id()), None) {
        real::park();
    }
}

/// The same, but not longer than this.
pub fn park_timeout(dur: Duration) {
    if !told::park(number(real::current().id()), Some(dur)) {
        real::park_timeout(dur);
    }
}

/// Starts a thread.
pub fn spawn<F, T>(f: F) -> JoinHandle<T>
where
    F: FnOnce() -> T + Send + 'static,
    T: Send + 'static,
{
    JoinHandle::of(real::spawn(f))
}

/// `std::thread::JoinHandle`, with a thread that is told.
pub struct JoinHandle<T> {
    inner: real::JoinHandle<T>,
    thread: Thread,
}

impl<T> JoinHandle<T> {
    fn of(inner: real::JoinHandle<T>) -> JoinHandle<T> {
        let thread = Thread(inner.thread().clone());
        JoinHandle { inner, thread }
    }

    /// The thread.
    #[must_use]
    pub fn thread(&self) -> &Thread {
        &self.thread
    }

    /// Waits for its end.
    pub fn join(self) -> Result<T> {
        self.inner.join()
    }

    /// Whether it has ended.
    pub fn is_finished(&self) -> bool {
        self.inner.is_finished()
    }
}

impl<T> fmt::Debug for JoinHandle<T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.inner.fmt(f)
    }
}

/// `std::thread::Builder`, whose threads are told.
#[must_use = "must eventually spawn the thread"]
#[derive(Debug)]
pub struct Builder(real::Builder);

impl Builder {
    /// A thread without a name, with a stack of the usual size.
    #[expect(clippy::new_without_default, reason = "std's has none")]
    pub fn new() -> Builder {
        Builder(real::Builder::new())
    }

    /// What it is called.
    pub fn name(self, name: String) -> Builder {
        Builder(self.0.name(name))
    }

    /// How large its stack is.
    pub fn stack_size(self, size: usize) -> Builder {
        Builder(self.0.stack_size(size))
    }

    /// Starts it.
    pub fn spawn<F, T>(self, f: F) -> io::Result<JoinHandle<T>>
    where
        F: FnOnce() -> T + Send + 'static,
        T: Send + 'static,
    {
        self.0.spawn(f).map(JoinHandle::of)
    }

    /// Starts it; what it borrows must live as long.
    ///
    /// # Safety
    ///
    /// As of std's.
    pub unsafe fn spawn_unchecked<F, T>(self, f: F) -> io::Result<JoinHandle<T>>
    where
        F: FnOnce() -> T + Send,
        T: Send,
    {
        // SAFETY: the caller's.
        unsafe { self.0.spawn_unchecked(f) }.map(JoinHandle::of)
    }

    /// Starts it in a scope.
    pub fn spawn_scoped<'scope, 'env, F, T>(
        self,
        scope: &'scope Scope<'scope, 'env>,
        f: F,
    ) -> io::Result<ScopedJoinHandle<'scope, T>>
    where
        F: FnOnce() -> T + Send + 'scope,
        T: Send + 'scope,
    {
        let at = scope.at();
        self.0.spawn_scoped(&scope.inner, move || ended(at, f)).map(ScopedJoinHandle::of)
    }
}

/// `std::thread::Scope`, told to the recorder.
#[derive(Debug)]
#[repr(transparent)]
pub struct Scope<'scope, 'env> {
    inner: real::Scope<'scope, 'env>,
    scope: PhantomData<&'scope mut &'scope ()>,
}

/// Says, also where the thread panics, that it has ended what it did in the scope.
struct Ended(usize);

impl Drop for Ended {
    fn drop(&mut self) {
        if told::begin() {
            told::step(self.0, What::Scope);
            told::end();
        }
    }
}

fn ended<T>(at: usize, f: impl FnOnce() -> T) -> T {
    let _ended = Ended(at);
    f()
}

/// Says, also where the scope panics, that all its threads have ended.
struct Awaited(Cell<usize>);

impl Drop for Awaited {
    fn drop(&mut self) {
        if self.0.get() != 0 && told::begin() {
            told::look(self.0.get(), What::Scope);
            told::end();
        }
    }
}

/// Lets threads borrow what lives longer than the scope: waits for all of them at its end.
pub fn scope<'env, F, T>(f: F) -> T
where
    F: for<'scope> FnOnce(&'scope Scope<'scope, 'env>) -> T,
{
    let awaited = Awaited(Cell::new(0));
    real::scope(|inner| {
        // SAFETY: it is the same with another name.
        let scope = unsafe { &*std::ptr::from_ref(inner).cast::<Scope<'_, '_>>() };
        awaited.0.set(scope.at());
        f(scope)
    })
}

impl<'scope, 'env> Scope<'scope, 'env> {
    fn at(&self) -> usize {
        std::ptr::from_ref(self) as usize
    }

    /// Starts a thread.
    pub fn spawn<F, T>(&'scope self, f: F) -> ScopedJoinHandle<'scope, T>
    where
        F: FnOnce() -> T + Send + 'scope,
        T: Send + 'scope,
    {
        let at = self.at();
        ScopedJoinHandle::of(self.inner.spawn(move || ended(at, f)))
    }
}

/// `std::thread::ScopedJoinHandle`, with a thread that is told.
pub struct ScopedJoinHandle<'scope, T> {
    inner: real::ScopedJoinHandle<'scope, T>,
    thread: Thread,
}

impl<'scope, T> ScopedJoinHandle<'scope, T> {
    fn of(inner: real::ScopedJoinHandle<'scope, T>) -> ScopedJoinHandle<'scope, T> {
        let thread = Thread(inner.thread().clone());
        ScopedJoinHandle { inner, thread }
    }

    /// The thread.
    #[must_use]
    pub fn thread(&self) -> &Thread {
        &self.thread
    }

    /// Waits for its end.
    pub fn join(self) -> Result<T> {
        self.inner.join()
    }

    /// Whether it has ended.
    pub fn is_finished(&self) -> bool {
        self.inner.is_finished()
    }
}

impl<T> fmt::Debug for ScopedJoinHandle<'_, T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.inner.fmt(f)
    }
}
