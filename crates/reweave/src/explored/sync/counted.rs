//! Shared ownership whose counts are steps.
//!
//! With std's `Arc` the search does not see who drops a value last, nor what the counts are. These types say both, at the cost of a
//! step for each clone and drop. Outside of an exploration they do as std's do.

use std::fmt;
use std::ops::Deref;
use std::sync;

use reweave_explore::{Init, Op, tag};

use super::super::{host, spin};
use super::Id;

/// `std::sync::Arc`, counted.
pub struct Arc<T: ?Sized> {
    /// How many own the value, to the search.
    count: Id,
    /// None once it was given up.
    inside: Option<sync::Arc<T>>,
}

/// `std::sync::Weak`, counted: an upgrade is a step. How many of these there are is not counted.
pub struct Weak<T: ?Sized> {
    count: Id,
    inside: sync::Weak<T>,
}

/// Adds to the count, or takes away: how that went, if it is a step.
#[track_caller]
fn counted(count: Id, up: bool) -> Option<u32> {
    let cell = count.get()?;
    spin::stop();
    Some(host::step(Op::Count { cell, up }).tag)
}

impl<T> Arc<T> {
    /// A value with one owner.
    pub fn new(value: T) -> Arc<T> {
        Arc { count: Id::new("arc", Init::Cell(1)), inside: Some(sync::Arc::new(value)) }
    }

    /// The value, if there is no other owner; else the owner.
    #[track_caller]
    pub fn try_unwrap(mut this: Arc<T>) -> Result<T, Arc<T>> {
        if let Some(cell) = this.count.get() {
            spin::stop();
            let alone = Op::Exchange { cell, expected: 1, new: 0, weak: false };
            if host::step(alone).tag & tag::FAILED != 0 {
                return Err(this);
            }
        }
        let Some(inside) = this.inside.take() else { unreachable!("it is there until it is dropped") };
        sync::Arc::try_unwrap(inside).map_err(|inside| {
            this.inside = Some(inside);
            this
        })
    }

    /// The value, if this owner is the last. Of owners that do so at the same time, one gets it.
    #[track_caller]
    pub fn into_inner(mut this: Arc<T>) -> Option<T> {
        counted(this.count, false);
        sync::Arc::into_inner(this.inside.take()?)
    }
}

impl<T: ?Sized> Arc<T> {
    fn real(&self) -> &sync::Arc<T> {
        match &self.inside {
            Some(inside) => inside,
            None => unreachable!("it is there until it is dropped"),
        }
    }

    /// How many own the value.
    #[must_use]
    #[track_caller]
    pub fn strong_count(this: &Arc<T>) -> usize {
        if let Some(cell) = this.count.get() {
            spin::stop();
            return host::step(Op::Read { cell, plain: false }).value as usize;
        }
        sync::Arc::strong_count(this.real())
    }

    /// The value, if there is no other owner.
    #[track_caller]
    pub fn get_mut(this: &mut Arc<T>) -> Option<&mut T> {
        if Arc::strong_count(this) != 1 {
            return None;
        }
        sync::Arc::get_mut(this.inside.as_mut()?)
    }

    /// One that does not own the value.
    #[must_use]
    #[track_caller]
    pub fn downgrade(this: &Arc<T>) -> Weak<T> {
        Weak { count: this.count, inside: sync::Arc::downgrade(this.real()) }
    }

    /// Whether both own one value.
    #[must_use]
    pub fn ptr_eq(this: &Arc<T>, other: &Arc<T>) -> bool {
        sync::Arc::ptr_eq(this.real(), other.real())
    }
}

impl<T: ?Sized> Weak<T> {
    /// An owner, if there is one still.
    #[must_use]
    #[track_caller]
    pub fn upgrade(&self) -> Option<Arc<T>> {
        if counted(self.count, true).is_some_and(|went| went & tag::FAILED != 0) {
            return None;
        }
        Some(Arc { count: self.count, inside: Some(self.inside.upgrade()?) })
    }
}

impl<T: ?Sized> Clone for Arc<T> {
    fn clone(&self) -> Arc<T> {
        counted(self.count, true);
        Arc { count: self.count, inside: Some(sync::Arc::clone(self.real())) }
    }
}

impl<T: ?Sized> Clone for Weak<T> {
    fn clone(&self) -> Weak<T> {
        Weak { count: self.count, inside: sync::Weak::clone(&self.inside) }
    }
}

impl<T: ?Sized> Drop for Arc<T> {
    fn drop(&mut self) {
        if let Some(inside) = self.inside.take() {
            counted(self.count, false);
            drop(inside);
        }
    }
}

impl<T: ?Sized> Deref for Arc<T> {
    type Target = T;

    fn deref(&self) -> &T {
        self.real()
    }
}

impl<T: Default> Default for Arc<T> {
    fn default() -> Arc<T> {
        Arc::new(T::default())
    }
}

impl<T> From<T> for Arc<T> {
    fn from(value: T) -> Arc<T> {
        Arc::new(value)
    }
}

impl<T: ?Sized + fmt::Debug> fmt::Debug for Arc<T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        (**self).fmt(f)
    }
}

impl<T: ?Sized> fmt::Debug for Weak<T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("(Weak)")
    }
}
