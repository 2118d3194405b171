//! Variables of which each thread has its own.

use std::any::Any;
use std::fmt;
use std::rc::Rc;
use std::thread as real;

use super::host;

/// A variable of which each thread has its own.
pub struct LocalKey<T: 'static> {
    real: &'static real::LocalKey<T>,
    make: fn() -> T,
}

impl<T: 'static> LocalKey<T> {
    #[doc(hidden)]
    pub const fn new(real: &'static real::LocalKey<T>, make: fn() -> T) -> LocalKey<T> {
        LocalKey { real, make }
    }

    /// Runs a function with the calling thread's own.
    pub fn with<F, R>(&'static self, run: F) -> R
    where
        F: FnOnce(&T) -> R,
    {
        let key = std::ptr::from_ref(self) as usize;
        // What a thread keeps here is not compared where it comes back to a loop.
        let own = host::host(|host| {
            host.local(|local| {
                local.spin.stop();
                local.keys.get(&key).cloned()
            })
        });
        let Some(own) = own else { return self.real.with(run) };
        let own = own.unwrap_or_else(|| {
            let made: Rc<dyn Any> = Rc::new((self.make)());
            host::host(|host| host.local(|local| local.keys.insert(key, Rc::clone(&made))));
            made
        });
        match own.downcast_ref::<T>() {
            Some(value) => run(value),
            None => self.real.with(run),
        }
    }
}

impl<T: 'static> fmt::Debug for LocalKey<T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("LocalKey").finish_non_exhaustive()
    }
}
