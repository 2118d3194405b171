//! One-time initialisation.

use std::fmt;
use std::sync::{self, OnceState};

use crate::told::{self, Mark};

/// `std::sync::Once`, told to the recorder.
pub struct Once {
    mark: Mark,
    inner: sync::Once,
}

/// Says, also where the initialisation panics, that it is over.
struct Over<'a> {
    once: &'a Once,
    done: bool,
}

impl Drop for Over<'_> {
    fn drop(&mut self) {
        told::initialised(&self.once.mark, self.done);
        told::end();
    }
}

/// The program's own code runs until this is dropped.
struct Open;

impl Drop for Open {
    fn drop(&mut self) {
        told::begin();
    }
}

impl Once {
    /// One that is still to come.
    #[expect(clippy::new_without_default, reason = "std's has none")]
    pub const fn new() -> Once {
        Once { mark: Mark::new(), inner: sync::Once::new() }
    }

    /// Runs the function, unless one ran before; waits where one is running.
    #[track_caller]
    pub fn call_once<F>(&self, f: F)
    where
        F: FnOnce(),
    {
        self.run(|told| self.inner.call_once(|| opened(told, f)));
    }

    /// The same, also where a function panicked before.
    #[track_caller]
    pub fn call_once_force<F>(&self, f: F)
    where
        F: FnOnce(&OnceState),
    {
        self.run(|told| self.inner.call_once_force(|state| opened(told, || f(state))));
    }

    /// Whether one ran to its end.
    pub fn is_completed(&self) -> bool {
        let told = told::begin();
        let done = self.inner.is_completed();
        if told {
            told::initialisation(&self.mark, done);
            told::end();
        }
        done
    }

    /// Waits until one ran to its end.
    pub fn wait(&self) {
        self.wait_for(sync::Once::wait);
    }

    /// The same, also where a function panicked before.
    pub fn wait_force(&self) {
        self.wait_for(sync::Once::wait_force);
    }

    fn wait_for(&self, real: impl FnOnce(&sync::Once)) {
        loop {
            if !told::begin() {
                return real(&self.inner);
            }
            let done = self.inner.is_completed();
            if done {
                told::initialisation(&self.mark, done);
            }
            told::end();
            if done {
                return;
            }
            // Another thread has the turn, if any can run.
            std::thread::yield_now();
        }
    }

    /// Does `real`, which initialises where nobody did, and is told whether the recorder knows.
    fn run(&self, real: impl FnOnce(bool)) {
        if !told::begin() {
            return real(false);
        }
        if told::initialise(&self.mark, self.inner.is_completed()) {
            let mut over = Over { once: self, done: false };
            real(true);
            over.done = true;
        } else {
            told::end();
        }
    }
}

/// Runs the program's own function in the midst of ours.
fn opened(told: bool, f: impl FnOnce()) {
    if !told {
        return f();
    }
    told::end();
    let _close = Open;
    f();
}

impl fmt::Debug for Once {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Once").finish_non_exhaustive()
    }
}
