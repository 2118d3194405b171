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

#[cfg(not(all(reweave, target_arch = "x86_64", target_os = "linux")))]
pub use std::{sync, thread};

#[cfg(all(reweave, target_arch = "x86_64", target_os = "linux"))]
pub mod sync;
#[cfg(all(reweave, target_arch = "x86_64", target_os = "linux"))]
pub mod thread;
#[cfg(all(reweave, target_arch = "x86_64", target_os = "linux"))]
mod told;

/// Records a completed call on an object, for analyses that know which calls commute.
///
/// `call!(object, "method", arguments… => result)`, where the object is anything that has an address, and arguments and
/// result can be shown by `{:?}`. Without `=> result` the method has none; `=> _` says that it is not known. Does nothing where
/// the program is not built by `reweave cargo`.
///
/// ```
/// let mut set = std::collections::BTreeSet::new();
/// let added = set.insert(3);
/// reweave::call!(set, "add", 3 => added);
/// set.clear();
/// reweave::call!(set, "clear");
/// ```
#[macro_export]
macro_rules! call {
    ($object:expr, $method:expr $(, $argument:expr)* => _) => {
        $crate::call!(@ $object, $method, [$($argument),*], ::std::string::String::new())
    };
    ($object:expr, $method:expr $(, $argument:expr)* => $result:expr) => {
        $crate::call!(@ $object, $method, [$($argument),*], ::std::format!("={:?}", $result))
    };
    ($object:expr, $method:expr $(, $argument:expr)*) => {
        $crate::call!(@ $object, $method, [$($argument),*], ::std::string::String::from("=()"))
    };
    (@ $object:expr, $method:expr, [$($argument:expr),*], $result:expr) => {
        $crate::tell_call(&$object, || {
            let arguments: &[::std::string::String] = &[$(::std::format!("{:?}", $argument)),*];
            ::std::format!("{}({}){}", $method, arguments.join(","), $result)
        })
    };
}

/// What [`call!`] becomes.
#[doc(hidden)]
#[inline(always)]
pub fn tell_call<T: ?Sized>(object: &T, text: impl FnOnce() -> String) {
    #[cfg(all(reweave, target_arch = "x86_64", target_os = "linux"))]
    told::call(std::ptr::from_ref(object).cast::<u8>() as usize, text);
    #[cfg(not(all(reweave, target_arch = "x86_64", target_os = "linux")))]
    let _ = (object, text);
}
