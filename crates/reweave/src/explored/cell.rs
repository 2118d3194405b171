//! Memory that is not atomic: each access is a step, and two that conflict and can be next at the same time are a race.

use std::fmt;

use reweave_explore::{Init, Op, Watch};

use super::sync::Id;
use super::{data, host, spin};

/// `std::cell::UnsafeCell` whose accesses the search sees.
pub struct UnsafeCell<T: ?Sized> {
    id: Id,
    inside: std::cell::UnsafeCell<T>,
}

impl<T> UnsafeCell<T> {
    /// A cell with this value.
    pub fn new(value: T) -> UnsafeCell<T> {
        UnsafeCell {
            id: Id::new("cell", Init::Data(data::of(&value))),
            inside: std::cell::UnsafeCell::new(value),
        }
    }

    /// What is inside.
    #[track_caller]
    pub fn into_inner(self) -> T {
        self.look();
        self.inside.into_inner()
    }
}

impl<T: ?Sized> UnsafeCell<T> {
    #[track_caller]
    fn look(&self) {
        if let Some(cell) = self.id.get() {
            let seen = host::step(Op::Read { cell, plain: true }).value;
            spin::saw(Watch::Value(cell, seen));
        }
    }

    /// Looks at what is inside.
    #[track_caller]
    pub fn with<F, R>(&self, run: F) -> R
    where
        F: FnOnce(*const T) -> R,
    {
        self.look();
        run(self.inside.get())
    }

    /// Changes what is inside.
    #[track_caller]
    pub fn with_mut<F, R>(&self, run: F) -> R
    where
        F: FnOnce(*mut T) -> R,
    {
        if let Some(cell) = self.id.get() {
            spin::stop();
            host::step(Op::Touch { cell });
        }
        run(self.inside.get())
    }
}

impl<T: Default> Default for UnsafeCell<T> {
    fn default() -> UnsafeCell<T> {
        UnsafeCell::new(T::default())
    }
}

impl<T: ?Sized> fmt::Debug for UnsafeCell<T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("UnsafeCell").finish_non_exhaustive()
    }
}
