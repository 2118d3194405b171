//! What an exploration cannot see, and names instead: a std primitive that blocks the kernel thread of all explored threads, and
//! kernel threads that use the exploration's objects.
//!
//! Explored threads are contexts on one kernel thread. Where one of them waits for a std lock, no other can go on to give it up,
//! and nothing can be unwound; so a thread of ours looks from outside, and ends the process with a message.

use std::cell::Cell;
use std::fs;
use std::io::{self, Write as _};
use std::sync::atomic::{AtomicBool, AtomicU32, AtomicU64, Ordering};
use std::sync::{Arc, LazyLock, Mutex, MutexGuard, Once, PoisonError};
use std::time::Duration;

use reweave_explore::ThreadId;

/// How often is looked, and how many looks in a row have to find the same wait.
const EVERY: Duration = Duration::from_millis(200);
const LOOKS: u32 = 4;

/// The number of the system call that std's locks, conditions, channels and joins wait in.
#[cfg(target_arch = "x86_64")]
const FUTEX: &str = "202";
#[cfg(not(target_arch = "x86_64"))]
const FUTEX: &str = "98";

/// An exploration as it is seen from other kernel threads.
#[derive(Debug)]
pub(crate) struct Seen {
    number: u32,
    /// `/proc/self/task/N/syscall` of the kernel thread; none where there is no such file.
    call: Option<String>,
    test: String,
    /// Switches to contexts and back: odd while one runs.
    switches: AtomicU64,
    current: AtomicU32,
    names: Mutex<Vec<String>>,
    is_used: AtomicBool,
    used: Mutex<Option<String>>,
}

static ALL: LazyLock<Mutex<Vec<Arc<Seen>>>> = LazyLock::new(Mutex::default);
static NUMBERS: AtomicU32 = AtomicU32::new(1);

thread_local! {
    /// Whether this kernel thread has explored anything.
    static EXPLORES: Cell<bool> = const { Cell::new(false) };
}

fn held<T>(lock: &Mutex<T>) -> MutexGuard<'_, T> {
    lock.lock().unwrap_or_else(PoisonError::into_inner)
}

/// An exploration that is looked at as long as this is there.
#[derive(Debug)]
pub(crate) struct Watched {
    seen: Arc<Seen>,
    /// How many threads have names.
    named: Cell<u32>,
}

impl Watched {
    pub(crate) fn new() -> Watched {
        EXPLORES.set(true);
        let link = fs::read_link("/proc/thread-self").ok();
        let thread = link.as_ref().and_then(|link| link.file_name()?.to_str().map(str::to_owned));
        let seen = Arc::new(Seen {
            number: NUMBERS.fetch_add(1, Ordering::Relaxed),
            call: thread.map(|thread| format!("/proc/self/task/{thread}/syscall")),
            test: std::thread::current().name().unwrap_or("a thread").to_owned(),
            switches: AtomicU64::new(0),
            current: AtomicU32::new(0),
            names: Mutex::new(vec!["main".to_owned()]),
            is_used: AtomicBool::new(false),
            used: Mutex::new(None),
        });
        held(&ALL).push(Arc::clone(&seen));
        static LOOKING: Once = Once::new();
        LOOKING.call_once(|| {
            // Without it, a std lock that blocks is a hang, as it is without Reweave.
            let _ = std::thread::Builder::new().name("reweave-looks".to_owned()).spawn(look);
        });
        Watched { seen, named: Cell::new(1) }
    }

    pub(crate) fn number(&self) -> u32 {
        self.seen.number
    }

    /// A thread has a name from now on.
    pub(crate) fn named(&self, thread: ThreadId, name: impl FnOnce() -> String) {
        if self.named.get() == thread.0 {
            self.named.set(thread.0 + 1);
            held(&self.seen.names).push(name());
        }
    }

    /// A context goes on, or no longer does. Only the kernel thread of the exploration counts.
    pub(crate) fn switched(&self, thread: ThreadId) {
        self.seen.current.store(thread.0, Ordering::Relaxed);
        self.seen.switches.store(self.seen.switches.load(Ordering::Relaxed) + 1, Ordering::Relaxed);
    }

    /// What another kernel thread did with the exploration's objects.
    pub(crate) fn used(&self) -> Option<String> {
        if !self.seen.is_used.load(Ordering::Relaxed) {
            return None;
        }
        held(&self.seen.used).clone()
    }
}

impl Drop for Watched {
    fn drop(&mut self) {
        held(&ALL).retain(|seen| seen.number != self.seen.number);
    }
}

/// An object of an exploration is used where nothing is explored. After its exploration it is an ordinary one; in another kernel thread it
/// is not.
pub(crate) fn used_outside(exploration: u32) {
    if EXPLORES.get() {
        return;
    }
    let seen = held(&ALL).iter().find(|seen| seen.number == exploration).cloned();
    let Some(seen) = seen else { return };
    let text = "an object of an exploration is used by a thread of std, which the search does not see: start it with \
                `reweave::thread::spawn` or `reweave::thread::scope`"
        .to_owned();
    held(&seen.used).get_or_insert_with(|| text.clone());
    seen.is_used.store(true, Ordering::Relaxed);
    panic!("{text}");
}

/// Looks at all explorations for ever.
fn look() {
    let mut last: Vec<(u32, u64, u32)> = Vec::new();
    loop {
        std::thread::sleep(EVERY);
        let all: Vec<Arc<Seen>> = held(&ALL).clone();
        last.retain(|(number, ..)| all.iter().any(|seen| seen.number == *number));
        for seen in all {
            let switches = seen.switches.load(Ordering::Relaxed);
            let waits = switches % 2 == 1 && seen.waits();
            let index = last.iter().position(|(number, ..)| *number == seen.number).unwrap_or_else(|| {
                last.push((seen.number, 0, 0));
                last.len() - 1
            });
            let (_, before, looks) = &mut last[index];
            *looks = if waits && *before == switches { *looks + 1 } else { 0 };
            *before = switches;
            if *looks >= LOOKS {
                seen.end();
            }
        }
    }
}

impl Seen {
    /// Whether the kernel thread waits as std's primitives do.
    fn waits(&self) -> bool {
        let Some(call) = self.call.as_ref().and_then(|path| fs::read_to_string(path).ok()) else {
            return false;
        };
        call.split_whitespace().next() == Some(FUTEX)
    }

    fn end(&self) -> ! {
        let thread = self.current.load(Ordering::Relaxed) as usize;
        let thread = held(&self.names).get(thread).cloned().unwrap_or_default();
        // Where tests keep what is printed, this has to be seen all the same.
        let _ = writeln!(
            io::stderr(),
            "explore: stopped, not proved: in {}, {thread} waits for a lock, a condition variable, a channel or a thread of std. It \
             blocks all explored threads, for they share a kernel thread; use `reweave::sync` and `reweave::thread` \
             inside of an exploration",
            self.test
        );
        std::process::exit(101)
    }
}
