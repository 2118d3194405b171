//! Scoped threads.

use std::cell::RefCell;
use std::fmt;
use std::marker::PhantomData;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread as real;

use reweave_explore::{self as search, Op};

use super::thread::{Result, Slot, explore, join};
use super::{host, spin};

/// Threads that end before the scope does.
pub struct Scope<'scope, 'env> {
    real: Option<&'scope real::Scope<'scope, 'env>>,
    started: RefCell<Vec<Started>>,
    scope: PhantomData<&'scope mut &'scope ()>,
    env: PhantomData<&'env mut &'env ()>,
}

/// A thread of a scope, and whether it was joined.
struct Started {
    id: search::ThreadId,
    joined: Arc<Joined>,
}

#[derive(Default)]
struct Joined(AtomicBool);

/// A thread of a scope that can be joined.
pub struct ScopedJoinHandle<'scope, T>(Scoped<'scope, T>);

enum Scoped<'scope, T> {
    Explored { id: search::ThreadId, slot: Slot<T>, joined: Arc<Joined> },
    Real(real::ScopedJoinHandle<'scope, T>),
}

impl<T> ScopedJoinHandle<'_, T> {
    /// Waits for the end of the thread: what it returned, or its panic.
    #[track_caller]
    pub fn join(self) -> Result<T> {
        match self.0 {
            Scoped::Explored { id, slot, joined } => {
                joined.0.store(true, Ordering::Relaxed);
                join(id, &slot)
            }
            Scoped::Real(handle) => handle.join(),
        }
    }
}

impl<T> fmt::Debug for ScopedJoinHandle<'_, T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("ScopedJoinHandle").finish_non_exhaustive()
    }
}

impl<'scope> Scope<'scope, '_> {
    /// Starts a thread that may borrow from outside of the scope.
    #[track_caller]
    pub fn spawn<F, T>(&'scope self, run: F) -> ScopedJoinHandle<'scope, T>
    where
        F: FnOnce() -> T + Send + 'scope,
        T: Send + 'scope,
    {
        if let Some(real) = self.real {
            return ScopedJoinHandle(Scoped::Real(real.spawn(run)));
        }
        match explore(run, None) {
            Ok((id, slot)) => {
                let joined = Arc::<Joined>::default();
                self.started.borrow_mut().push(Started { id, joined: Arc::clone(&joined) });
                ScopedJoinHandle(Scoped::Explored { id, slot, joined })
            }
            Err(_) => unreachable!("a scope is of an exploration from its beginning to its end"),
        }
    }
}

// SAFETY: explored threads are contexts of one kernel thread; the real scope is shared as std's is.
unsafe impl Sync for Scope<'_, '_> {}

impl fmt::Debug for Scope<'_, '_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Scope").finish_non_exhaustive()
    }
}

/// Waits for the threads of a scope that nobody joined; whether one of them panicked.
#[track_caller]
fn wait_all(started: &RefCell<Vec<Started>>) -> bool {
    let mut panicked = false;
    loop {
        let next = started.borrow_mut().pop();
        let Some(one) = next else { return panicked };
        if !one.joined.0.load(Ordering::Relaxed) {
            spin::stop();
            let outcome = host::step(Op::Join { thread: one.id });
            panicked |= outcome.tag & search::tag::POISONED != 0;
        }
    }
}

/// Waits for the threads of a scope that ends by a panic.
struct Waits<'a>(&'a RefCell<Vec<Started>>);

impl Drop for Waits<'_> {
    fn drop(&mut self) {
        wait_all(self.0);
    }
}

/// Runs a closure that may start threads which borrow from here, and waits for them.
#[track_caller]
pub fn scope<'env, F, T>(run: F) -> T
where
    F: for<'scope> FnOnce(&'scope Scope<'scope, 'env>) -> T,
{
    let new =
        |real| Box::new(Scope { real, started: RefCell::default(), scope: PhantomData, env: PhantomData });
    if !host::explored() {
        let mut kept = None;
        return real::scope(|real| {
            let real = std::ptr::from_ref(real).cast::<real::Scope<'static, 'static>>();
            // SAFETY: the real scope is there until all its threads have ended, and it outlives the closure.
            let scope = kept.insert(new(Some(unsafe { &*real })));
            // SAFETY: `kept` is there until the real scope has waited for all threads that may have the reference.
            run(unsafe { &*std::ptr::from_ref::<Scope<'_, '_>>(&**scope).cast() })
        });
    }
    let scope = new(None);
    let waits = Waits(&scope.started);
    // SAFETY: the threads that may have the reference are joined before the scope is gone, also by a panic.
    let result = run(unsafe { &*std::ptr::from_ref::<Scope<'_, '_>>(&*scope).cast() });
    let panicked = wait_all(waits.0);
    assert!(!panicked, "a scoped thread panicked");
    result
}
