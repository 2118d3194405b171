//! Threads that are alike.

use std::sync::Arc;

/// Threads that all run the same closure.
#[derive(Debug)]
#[must_use = "threads that nobody joins may outlive what they are for"]
pub struct Same(Kind);

#[derive(Debug)]
enum Kind {
    #[cfg(all(feature = "explore", not(all(reweave, target_arch = "x86_64", target_os = "linux"))))]
    Explored(Vec<reweave_explore::ThreadId>),
    Threads(Vec<crate::thread::JoinHandle<()>>),
}

/// Starts so many threads that all run the same closure. An exploration takes states for one that differ only in which of them is
/// where, unless they make objects or threads, or ask who they are.
///
/// ```
/// use reweave::sync::{Arc, Mutex};
///
/// let sum = Arc::new(Mutex::new(0));
/// let other = Arc::clone(&sum);
/// reweave::spawn_same(4, move || *other.lock().unwrap() += 1).join().unwrap();
/// assert_eq!(*sum.lock().unwrap(), 4);
/// ```
#[track_caller]
pub fn spawn_same<F>(count: u32, run: F) -> Same
where
    F: Fn() + Send + Sync + 'static,
{
    let run = Arc::new(run);
    #[cfg(all(feature = "explore", not(all(reweave, target_arch = "x86_64", target_os = "linux"))))]
    if crate::explored::host::explored() {
        return Same(Kind::Explored(crate::explored::thread::explore_same(count, &run)));
    }
    let start = |_| {
        let run = Arc::clone(&run);
        crate::thread::spawn(move || run())
    };
    Same(Kind::Threads((0..count).map(start).collect()))
}

/// One of the threads panicked.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Panicked;

impl std::fmt::Display for Panicked {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str("one of the threads panicked")
    }
}

impl std::error::Error for Panicked {}

impl Same {
    /// Waits for all of them.
    #[track_caller]
    pub fn join(self) -> Result<(), Panicked> {
        let panicked = match self.0 {
            #[cfg(all(feature = "explore", not(all(reweave, target_arch = "x86_64", target_os = "linux"))))]
            Kind::Explored(threads) => crate::explored::thread::join_all(threads),
            Kind::Threads(threads) => {
                threads.into_iter().map(|thread| thread.join().is_err()).fold(false, |any, one| any | one)
            }
        };
        if panicked { Err(Panicked) } else { Ok(()) }
    }
}
