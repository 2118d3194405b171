//! The locks, channels and threads of `std`, for programs that Reweave records.
//!
//! `reweave::sync` and `reweave::thread` have the names and types of `std::sync` and `std::thread`, and *are* those unless the
//! program is built by `reweave cargo`. Built by that, each lock, wait, message and initialisation is told to the recorder as
//! what it is, instead of as the atomic accesses inside of it. A program that was built so but runs without a
//! recorder does as `std` does.
//!
//! ```
//! use reweave::sync::{Arc, Mutex};
//! use reweave::thread;
//!
//! let sum = Arc::new(Mutex::new(0));
//! let threads: Vec<_> = (1..=3)
//!     .map(|number| {
//!         let sum = Arc::clone(&sum);
//!         thread::spawn(move || *sum.lock().unwrap() += number)
//!     })
//!     .collect();
//! threads.into_iter().for_each(|thread| thread.join().unwrap());
//! assert_eq!(*sum.lock().unwrap(), 6);
//! ```

#[cfg(not(any(feature = "explore", all(reweave, target_arch = "x86_64", target_os = "linux"))))]
pub use std::{hint, sync, thread};

#[cfg(all(feature = "explore", not(all(reweave, target_arch = "x86_64", target_os = "linux"))))]
mod explored;
#[cfg(all(feature = "explore", not(all(reweave, target_arch = "x86_64", target_os = "linux"))))]
pub use explored::{
    Builder, Engine, Exploration, Found, Object, Sampling, Verdict, cell, choose, explore, hint, merge,
    model, sync, thread,
};
#[cfg(all(reweave, target_arch = "x86_64", target_os = "linux"))]
pub use std::hint;

#[cfg(all(reweave, target_arch = "x86_64", target_os = "linux"))]
pub mod sync;
#[cfg(all(reweave, target_arch = "x86_64", target_os = "linux"))]
pub mod thread;
#[cfg(all(reweave, target_arch = "x86_64", target_os = "linux"))]
mod told;

pub mod future;
mod same;
pub use same::{Panicked, Same, spawn_same};

/// `std::thread_local!`, of which explored threads have their own.
#[macro_export]
macro_rules! thread_local {
    ($($(#[$attribute:meta])* $visible:vis static $name:ident: $type:ty = $make:expr);* $(;)?) => {
        $($crate::thread_local!(@ [$(#[$attribute])* $visible] $name, $type, $make);)*
    };
    (@ [$($head:tt)*] $name:ident, $type:ty, $make:expr) => {
        $crate::__thread_local!([$($head)*] $name, $type, $make);
    };
}

#[doc(hidden)]
#[cfg(all(feature = "explore", not(all(reweave, target_arch = "x86_64", target_os = "linux"))))]
#[macro_export]
macro_rules! __thread_local {
    ([$($head:tt)*] $name:ident, $type:ty, $make:expr) => {
        $($head)* static $name: $crate::thread::LocalKey<$type> = {
            fn make() -> $type {
                $make
            }
            ::std::thread_local! { static REAL: $type = make(); }
            $crate::thread::LocalKey::new(&REAL, make)
        };
    };
}

#[doc(hidden)]
#[cfg(not(all(feature = "explore", not(all(reweave, target_arch = "x86_64", target_os = "linux")))))]
#[macro_export]
macro_rules! __thread_local {
    ([$($head:tt)*] $name:ident, $type:ty, $make:expr) => {
        ::std::thread_local! { $($head)* static $name: $type = $make; }
    };
}

/// Records a completed call on an object, for analyses that know which calls commute.
///
/// `call!(object, "method", arguments… => result)`, where the object is anything that has an address, and arguments and
/// result can be shown by `{:?}`; `set: object` says of what type it is. Without `=> result` the method has none; `=> _` says that
/// it is not known. The call has to be one step together with what it did: under a lock, or where nobody else uses the object;
/// else see [`op!`]. Does nothing where the program is not built by `reweave cargo`.
///
/// ```
/// let mut set = std::collections::BTreeSet::new();
/// let added = set.insert(3);
/// reweave::call!(set: set, "add", 3 => added);
/// set.clear();
/// reweave::call!(set: set, "clear");
/// ```
#[macro_export]
macro_rules! call {
    ($of:ident : $object:expr, $method:expr $(, $argument:expr)* => _) => {
        $crate::call!(@ stringify!($of), $object, $method, [$($argument),*], ::std::string::String::new())
    };
    ($of:ident : $object:expr, $method:expr $(, $argument:expr)* => $result:expr) => {
        $crate::call!(@ stringify!($of), $object, $method, [$($argument),*], ::std::format!("={:?}", $result))
    };
    ($of:ident : $object:expr, $method:expr $(, $argument:expr)*) => {
        $crate::call!(@ stringify!($of), $object, $method, [$($argument),*], ::std::string::String::from("=()"))
    };
    ($object:expr, $method:expr $(, $argument:expr)* => _) => {
        $crate::call!(@ "", $object, $method, [$($argument),*], ::std::string::String::new())
    };
    ($object:expr, $method:expr $(, $argument:expr)* => $result:expr) => {
        $crate::call!(@ "", $object, $method, [$($argument),*], ::std::format!("={:?}", $result))
    };
    ($object:expr, $method:expr $(, $argument:expr)*) => {
        $crate::call!(@ "", $object, $method, [$($argument),*], ::std::string::String::from("=()"))
    };
    (@ $of:expr, $object:expr, $method:expr, [$($argument:expr),*], $result:expr) => {
        $crate::Op::new(&$object).complete(|| {
            $crate::call_text($of, $method, &[$(::std::format!("{:?}", $argument)),*], &$result)
        })
    };
}

/// Runs a call on an object and records it: `op!(set: object, "method", arguments… => expression)`.
///
/// The value is that of the expression, and is recorded as the result, by `{:?}`. What happens inside of it is not recorded, and no other
/// thread runs meanwhile: the call is one step. Use it where the object locks itself and the call does not wait. A call that panics has
/// a result that is not known. Does nothing but run the expression where the program is not built by `reweave cargo`.
///
/// ```
/// let set = std::sync::Mutex::new(std::collections::BTreeSet::new());
/// let added = reweave::op!(set: set, "add", 3 => set.lock().unwrap().insert(3));
/// assert!(added);
/// ```
#[macro_export]
macro_rules! op {
    ($of:ident : $object:expr, $method:expr $(, $argument:expr)* => $run:expr) => {{
        let scope = $crate::Op::new(&$object);
        let result = $run;
        scope.complete(|| {
            let shown = ::std::format!("={:?}", result);
            $crate::call_text(stringify!($of), $method, &[$(::std::format!("{:?}", $argument)),*], &shown)
        });
        result
    }};
}

/// What [`op!`] and [`call!`] become: a call that is under way.
#[doc(hidden)]
pub struct Op(#[cfg(all(reweave, target_arch = "x86_64", target_os = "linux"))] told::Scope);

#[doc(hidden)]
impl Op {
    #[inline(always)]
    pub fn new<T: ?Sized>(object: &T) -> Op {
        #[cfg(all(reweave, target_arch = "x86_64", target_os = "linux"))]
        return Op(told::Scope::new(std::ptr::from_ref(object).cast::<u8>() as usize));
        #[cfg(not(all(reweave, target_arch = "x86_64", target_os = "linux")))]
        {
            let _ = object;
            Op()
        }
    }

    #[inline(always)]
    pub fn complete(self, text: impl FnOnce() -> String) {
        #[cfg(all(reweave, target_arch = "x86_64", target_os = "linux"))]
        self.0.complete(text);
        #[cfg(not(all(reweave, target_arch = "x86_64", target_os = "linux")))]
        let _ = text;
    }
}

/// The text of a call, as the recorder takes it.
#[doc(hidden)]
pub fn call_text(of: &str, method: &str, arguments: &[String], result: &str) -> String {
    format!("#of {of} {method}({}){result}", arguments.join(","))
}
