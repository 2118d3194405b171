//! One-time initialisation.

use std::fmt;
use std::ops::Deref;
use std::sync;

use reweave_explore::{Data, Init, ObjectId, Op, tag};

use super::super::{data, host, spin};
use super::Id;

/// What an initialisation leaves that panicked and is not to be tried again.
const POISONED: u64 = u64::MAX;

/// Ends an initialisation, also if it panics.
struct Ending {
    once: ObjectId,
    /// How it ends.
    done: bool,
    data: Data,
}

impl Drop for Ending {
    fn drop(&mut self) {
        spin::stop();
        host::step(Op::Initialised { once: self.once, done: self.done, data: self.data });
    }
}

/// Whether the caller has to initialise; if not, what the one who did left.
#[track_caller]
fn begin(once: ObjectId) -> Result<(), u64> {
    spin::stop();
    let outcome = host::step(Op::Initialise { once });
    if outcome.tag & tag::CHOSEN != 0 { Ok(()) } else { Err(outcome.value) }
}

/// `std::sync::Once`, explored.
pub struct Once {
    id: Id,
    real: sync::Once,
}

impl Once {
    /// An initialisation that has not begun.
    #[expect(clippy::new_without_default, reason = "as std")]
    pub fn new() -> Once {
        Once { id: Id::new("once", Init::Once(None)), real: sync::Once::new() }
    }

    /// Runs it, unless somebody did; waits while somebody does.
    #[track_caller]
    pub fn call_once<F: FnOnce()>(&self, run: F) {
        let Some(once) = self.id.get() else { return self.real.call_once(run) };
        match begin(once) {
            Ok(()) => {
                let mut ending = Ending { once, done: true, data: Data::Value(POISONED) };
                run();
                ending.data = Data::Value(0);
            }
            Err(left) => assert!(left != POISONED, "Once instance has previously been poisoned"),
        }
    }

    /// Whether it is done.
    #[track_caller]
    pub fn is_completed(&self) -> bool {
        let Some(once) = self.id.get() else { return self.real.is_completed() };
        spin::stop();
        let outcome = host::step(Op::IsInitialised { once });
        outcome.tag & tag::FAILED == 0 && outcome.value != POISONED
    }
}

impl fmt::Debug for Once {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Once").finish_non_exhaustive()
    }
}

/// `std::sync::OnceLock`, explored.
pub struct OnceLock<T> {
    id: Id,
    real: sync::OnceLock<T>,
}

impl<T> OnceLock<T> {
    /// An empty cell.
    pub fn new() -> OnceLock<T> {
        OnceLock { id: Id::new("oncelock", Init::Once(None)), real: sync::OnceLock::new() }
    }

    /// What is in it.
    #[track_caller]
    pub fn get(&self) -> Option<&T> {
        if let Some(once) = self.id.get() {
            spin::stop();
            if host::step(Op::IsInitialised { once }).tag & tag::FAILED != 0 {
                return None;
            }
        }
        self.real.get()
    }

    /// Fills it; gives the value back if it is full.
    #[track_caller]
    pub fn set(&self, value: T) -> Result<(), T> {
        if let Some(once) = self.id.get() {
            if begin(once).is_err() {
                return Err(value);
            }
            let _ending = Ending { once, done: true, data: data::of(&value) };
            return self.real.set(value);
        }
        self.real.set(value)
    }

    /// What is in it, made by the function if there is nothing.
    #[track_caller]
    pub fn get_or_init<F: FnOnce() -> T>(&self, make: F) -> &T {
        let Some(once) = self.id.get() else { return self.real.get_or_init(make) };
        if begin(once).is_ok() {
            let mut ending = Ending { once, done: false, data: Data::Value(0) };
            let value = make();
            (ending.done, ending.data) = (true, data::of(&value));
            return self.real.get_or_init(|| value);
        }
        self.real.get_or_init(|| unreachable!("another thread has initialised it"))
    }

    /// What is in it, of one that nobody else can reach.
    #[track_caller]
    pub fn into_inner(self) -> Option<T> {
        self.get()?;
        self.real.into_inner()
    }
}

impl<T> Default for OnceLock<T> {
    fn default() -> OnceLock<T> {
        OnceLock::new()
    }
}

impl<T> fmt::Debug for OnceLock<T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("OnceLock").finish_non_exhaustive()
    }
}

/// `std::sync::LazyLock`, explored.
pub struct LazyLock<T, F = fn() -> T> {
    cell: OnceLock<T>,
    make: sync::Mutex<Option<F>>,
}

impl<T, F: FnOnce() -> T> LazyLock<T, F> {
    /// A value that is made when it is first used.
    pub fn new(make: F) -> LazyLock<T, F> {
        LazyLock { cell: OnceLock::new(), make: sync::Mutex::new(Some(make)) }
    }

    /// The value.
    #[track_caller]
    pub fn force(this: &LazyLock<T, F>) -> &T {
        this.cell.get_or_init(|| {
            let make = this.make.lock().unwrap_or_else(sync::PoisonError::into_inner).take();
            match make {
                Some(make) => make(),
                None => panic!("LazyLock instance has previously been poisoned"),
            }
        })
    }
}

impl<T, F: FnOnce() -> T> Deref for LazyLock<T, F> {
    type Target = T;

    fn deref(&self) -> &T {
        LazyLock::force(self)
    }
}

impl<T, F> fmt::Debug for LazyLock<T, F> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("LazyLock").finish_non_exhaustive()
    }
}
