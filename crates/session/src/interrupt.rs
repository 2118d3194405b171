//! Signals that ask this process to end.
//!
//! Without this an interrupt would end the process on the spot: a temporary file would stay, a program would go on without its
//! recorder, and what was found or recorded so far would be lost. It is only asked for where there is such a thing: at any
//! other time an interrupt ends the process at once, as it should.

use std::io;
use std::sync::atomic::{AtomicBool, AtomicU64, AtomicUsize, Ordering};
use std::sync::{Arc, LazyLock, Mutex, MutexGuard, PoisonError};
use std::thread;
use std::time::{Duration, Instant};

use signal_hook::consts::{SIGHUP, SIGINT, SIGQUIT, SIGTERM};
use signal_hook::flag;
use signal_hook::iterator::SignalsInfo;
use signal_hook::iterator::exfiltrator::WithOrigin;
use signal_hook::low_level::siginfo::Cause;
use signal_hook::{SigId, low_level};

use crate::folder;

const SIGNALS: [i32; 4] = [SIGINT, SIGTERM, SIGHUP, SIGQUIT];
/// What comes sooner after a signal is the same request: `timeout` sends one to its command and one to the group.
const SAME: Duration = Duration::from_millis(300);

static REQUESTED: LazyLock<Arc<AtomicBool>> = LazyLock::new(Arc::default);

/// Whether interrupts are deferred already: to do so twice would make the first one count as two.
static DEFERRED: AtomicBool = AtomicBool::new(false);

/// Whether a thread deals with signals, and what did so before.
static WATCHED: AtomicBool = AtomicBool::new(false);
static ACTIONS: Mutex<Vec<SigId>> = Mutex::new(Vec::new());

/// How many requests came while programs are run: the number in the upper half, the last signal and its origin below.
static REQUESTS: AtomicU64 = AtomicU64::new(0);
const FROM_TERMINAL: u64 = 1 << 16;

/// How many programs are under way: they decide what a second request means.
static RUNNING: AtomicUsize = AtomicUsize::new(0);

/// What to say should the process end early.
static LAST_WORDS: Mutex<Option<String>> = Mutex::new(None);

/// From now on the first interrupt only sets a flag, which the writer looks at. The second ends the process.
pub fn defer() -> io::Result<()> {
    if DEFERRED.swap(true, Ordering::Relaxed) {
        return Ok(());
    }
    let mut actions = locked(&ACTIONS);
    for signal in SIGNALS {
        actions.push(flag::register_conditional_shutdown(signal, 128 + signal, Arc::clone(&REQUESTED))?);
        actions.push(flag::register(signal, Arc::clone(&REQUESTED))?);
    }
    Ok(())
}

fn locked<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

/// Whether there was an interrupt.
pub fn requested() -> bool {
    REQUESTED.load(Ordering::Relaxed)
}

/// For commands that run programs: from now on requests are passed on to the program that is under way. Where there is
/// none, the second one ends the process.
pub fn watch() -> io::Result<()> {
    if WATCHED.swap(true, Ordering::Relaxed) {
        return Ok(());
    }
    DEFERRED.store(true, Ordering::Relaxed);
    // One that comes from now on is seen by the thread, and must not count twice.
    let came_before = requested();
    let mut signals = SignalsInfo::<WithOrigin>::new(SIGNALS)?;
    thread::Builder::new().name("signals".to_owned()).spawn(move || {
        let mut last: Option<Instant> = None;
        for origin in &mut signals {
            let is_same = last.is_some_and(|last| last.elapsed() < SAME);
            if !is_same {
                last = Some(Instant::now());
                let terminal = matches!(origin.cause, Cause::Kernel);
                accept(origin.signal, terminal);
            }
        }
    })?;
    // What was done with signals so far is done by that thread now.
    for action in locked(&ACTIONS).drain(..) {
        low_level::unregister(action);
    }
    if came_before {
        accept(SIGINT, false);
    }
    Ok(())
}

fn accept(signal: i32, from_terminal: bool) {
    let count = REQUESTS.load(Ordering::SeqCst) >> 32;
    if count > 0 && RUNNING.load(Ordering::SeqCst) == 0 {
        end(signal);
    }
    let origin = if from_terminal { FROM_TERMINAL } else { 0 };
    REQUESTS.store((count + 1) << 32 | origin | signal as u64, Ordering::SeqCst);
    REQUESTED.store(true, Ordering::SeqCst);
}

/// Ends the process at once.
fn end(signal: i32) -> ! {
    folder::remove_all();
    let words = locked(&LAST_WORDS).take();
    let words = words.as_deref().unwrap_or("error: interrupted: no file was written\n");
    let _ = io::Write::write_all(&mut io::stderr(), words.as_bytes());
    low_level::exit(128 + signal)
}

/// What is said on standard error should the process be ended from now on.
pub fn set_last_words(words: Option<String>) {
    *locked(&LAST_WORDS) = words;
}

/// A request to end.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) struct Request {
    /// How many there have been.
    pub(crate) count: u64,
    pub(crate) signal: i32,
    /// Whether it came from the terminal, which sends it to the program as well.
    pub(crate) from_terminal: bool,
}

/// The last request.
pub(crate) fn last() -> Option<Request> {
    let word = REQUESTS.load(Ordering::SeqCst);
    let request =
        Request { count: word >> 32, signal: (word & 0xFF) as i32, from_terminal: word & FROM_TERMINAL != 0 };
    (request.count > 0).then_some(request)
}

/// A program is under way for as long as this is there.
pub(crate) struct Running(());

impl Running {
    pub(crate) fn new() -> Running {
        RUNNING.fetch_add(1, Ordering::SeqCst);
        Running(())
    }
}

impl Drop for Running {
    fn drop(&mut self) {
        RUNNING.fetch_sub(1, Ordering::SeqCst);
    }
}
