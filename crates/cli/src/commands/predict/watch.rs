//! The clock, the meter and the interrupt: a thread that looks around while others search.

use std::collections::VecDeque;
use std::io::{self, Write};
use std::panic::resume_unwind;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::mpsc::{self, RecvTimeoutError, Sender};
use std::sync::{Arc, Mutex, PoisonError, Weak};
use std::thread;
use std::time::{Duration, Instant};

use reweave_format::Memory;
use reweave_session::interrupt;

use super::memory;
use crate::console::Console;
use crate::exit::Exit;
use crate::plural;

/// How long between two looks.
const TICK: Duration = Duration::from_millis(5);

/// What is done within this is not worth stopping.
const SHORT: Duration = Duration::from_secs(1);

/// Longer than any run.
const NEVER: Duration = Duration::from_secs(100 * 365 * 24 * 3600);

/// Runs until it is dropped.
pub(in crate::commands) struct Watch {
    shared: Arc<Shared>,
    /// The thread ends when this does.
    _alive: Sender<()>,
}

/// How much a search may take.
#[derive(Clone, Copy, Default)]
pub(in crate::commands) struct Allowed {
    /// The time of the whole, and when that of the search is over.
    pub(in crate::commands) time: Option<Duration>,
    pub(in crate::commands) end: Option<Instant>,
    /// The time of one candidate.
    pub(in crate::commands) budget: Option<Duration>,
    /// The memory of the process, in bytes.
    pub(in crate::commands) memory: Option<u64>,
}

struct Shared {
    allowed: Allowed,
    /// Set when the whole run is to stop.
    stop: Arc<AtomicBool>,
    too_large: AtomicBool,
    too_late: AtomicBool,
    /// Whether a search is under way, which can be stopped.
    searching: AtomicBool,
    /// The flags of candidates, with the time when they are to be set: in order, since all have the same budget.
    deadlines: Mutex<VecDeque<(Instant, Weak<AtomicBool>)>>,
}

impl Watch {
    /// Starts to look around.
    pub(in crate::commands) fn start(allowed: Allowed) -> io::Result<Watch> {
        if let Some(limit) = allowed.memory {
            Memory::set_limit(limit.saturating_add(limit / 20));
        }
        let shared = Arc::new(Shared {
            allowed,
            stop: Arc::default(),
            too_large: AtomicBool::new(false),
            too_late: AtomicBool::new(false),
            searching: AtomicBool::new(false),
            deadlines: Mutex::default(),
        });
        let (alive, dropped) = mpsc::channel();
        let looked_at = Arc::clone(&shared);
        thread::Builder::new().spawn(move || {
            while dropped.recv_timeout(TICK) == Err(RecvTimeoutError::Timeout) {
                looked_at.look_around();
            }
        })?;
        Ok(Watch { shared, _alive: alive })
    }

    /// Looks around now: a small trace may be done before the thread gets to it.
    pub(in crate::commands) fn look(&self) {
        self.shared.look_around();
    }

    /// Does what cannot be stopped, such as reading a trace, on a thread of its own, which is left alone when the time is over.
    /// None where it was.
    pub(in crate::commands) fn at_most<T: Send + 'static>(
        &self,
        work: impl FnOnce() -> T + Send + 'static,
    ) -> io::Result<Option<T>> {
        let Some(end) = self.shared.allowed.end else { return Ok(Some(work())) };
        let limit = end.saturating_duration_since(Instant::now()).max(SHORT);
        let (done, result) = mpsc::channel();
        let worker = thread::Builder::new().spawn(move || {
            // Where its time was over, no one waits for it.
            let _ = done.send(work());
        })?;
        match result.recv_timeout(limit) {
            Ok(result) => Ok(Some(result)),
            Err(RecvTimeoutError::Timeout) => {
                self.shared.too_late.store(true, Ordering::Relaxed);
                self.shared.stop.store(true, Ordering::Relaxed);
                Ok(None)
            }
            Err(RecvTimeoutError::Disconnected) => match worker.join() {
                Err(panic) => resume_unwind(panic),
                Ok(()) => Ok(None),
            },
        }
    }

    /// From here on, an interrupt or too much memory stops the search instead of ending the process.
    pub(in crate::commands) fn search(&self) -> io::Result<()> {
        interrupt::defer()?;
        self.shared.searching.store(true, Ordering::Relaxed);
        Ok(())
    }

    /// The search is over.
    pub(in crate::commands) fn rest(&self) {
        self.shared.searching.store(false, Ordering::Relaxed);
    }

    /// The flag that stops the whole run.
    pub(in crate::commands) fn stop(&self) -> Arc<AtomicBool> {
        Arc::clone(&self.shared.stop)
    }

    /// Whether the run was stopped.
    pub(in crate::commands) fn stopped(&self) -> bool {
        self.shared.stop.load(Ordering::Relaxed) || interrupt::requested()
    }

    /// Whether the run was stopped because its time was over, and by nothing else.
    pub(in crate::commands) fn is_late(&self) -> bool {
        let other = self.shared.too_large.load(Ordering::Relaxed) || interrupt::requested();
        self.shared.too_late.load(Ordering::Relaxed) && !other
    }

    /// A flag that is set when the budget of a candidate that starts now is over.
    pub(in crate::commands) fn timer(&self) -> Arc<AtomicBool> {
        let budget = self.shared.allowed.budget;
        let flag = Arc::new(AtomicBool::new(budget.is_some_and(|budget| budget.is_zero()) || self.stopped()));
        // Without a budget, the flag is there for the stop of the whole run.
        let budget = budget.unwrap_or(NEVER);
        if let Some(deadline) = Instant::now().checked_add(budget) {
            let mut deadlines = self.shared.deadlines();
            // Most candidates are done long before their time: what nobody waits for is forgotten.
            while deadlines.front().is_some_and(|(_, flag)| flag.strong_count() == 0) {
                deadlines.pop_front();
            }
            deadlines.push_back((deadline, Arc::downgrade(&flag)));
        }
        flag
    }

    /// Tells the user why the run was stopped, if it was, and how many traces that left out.
    pub(in crate::commands) fn tell(&self, left_out: usize, console: &Console) {
        if !self.stopped() {
            return;
        }
        let left_out = match left_out {
            0 => String::new(),
            number => format!("; {} not looked at", plural::count(number as u64, "trace")),
        };
        if self.shared.too_large.load(Ordering::Relaxed) {
            let limit = memory::text(self.shared.allowed.memory.unwrap_or_default());
            console.warn(format_args!(
                "stopped at the limit of {limit} of memory: the result is partial{left_out}"
            ));
        } else if self.is_late() {
            let limit = self.shared.allowed.time.unwrap_or_default();
            console.warn(format_args!(
                "stopped at the limit of {limit:?}: the result is partial{left_out}; --time allows more"
            ));
        } else {
            console.warn(format_args!("interrupted: the result is partial{left_out}"));
        }
    }
}

impl Shared {
    fn look_around(&self) {
        if self.searching.load(Ordering::Relaxed) && interrupt::requested() {
            self.stop.store(true, Ordering::Relaxed);
        }
        if self.allowed.end.is_some_and(|end| end <= Instant::now()) && self.searching.load(Ordering::Relaxed)
        {
            self.too_late.store(true, Ordering::Relaxed);
            self.stop.store(true, Ordering::Relaxed);
        }
        if let Some(limit) = self.allowed.memory
            && let Some(used) = memory::in_use().filter(|&used| used > limit)
        {
            self.too_much_memory(used, limit);
        }
        let stop = self.stop.load(Ordering::Relaxed);
        let now = Instant::now();
        let mut deadlines = self.deadlines();
        while deadlines.front().is_some_and(|(deadline, _)| stop || *deadline <= now) {
            if let Some(flag) = deadlines.pop_front().and_then(|(_, flag)| flag.upgrade()) {
                flag.store(true, Ordering::Relaxed);
            }
        }
    }

    fn too_much_memory(&self, used: u64, limit: u64) {
        self.too_large.store(true, Ordering::Relaxed);
        // A search that does not end, or that keeps growing, is not to take the machine down.
        let beyond_hope = used > limit.saturating_add(limit / 20);
        if self.searching.load(Ordering::Relaxed) && !beyond_hope {
            self.stop.store(true, Ordering::Relaxed);
            return;
        }
        let (used, limit) = (memory::text(used), memory::text(limit));
        // There is nobody left to tell when this fails; no file is being written at this time.
        let _ = writeln!(
            io::stderr(),
            "error: stopped without a result: {used} of memory are in use, the limit is {limit}\n\
             hint: give --max-memory more, look for fewer --kinds, or record a shorter trace"
        );
        std::process::exit(i32::from(Exit::Stopped.code()));
    }

    fn deadlines(&self) -> std::sync::MutexGuard<'_, VecDeque<(Instant, Weak<AtomicBool>)>> {
        self.deadlines.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn start(budget: Option<Duration>) -> Watch {
        Watch::start(Allowed { budget, ..Allowed::default() }).expect("a thread")
    }

    #[test]
    fn flags_are_set_when_their_time_is_over() {
        let watch = start(Some(Duration::ZERO));
        assert!(watch.timer().load(Ordering::Relaxed));
        let watch = start(Some(Duration::from_millis(1)));
        let flag = watch.timer();
        while !flag.load(Ordering::Relaxed) {
            thread::sleep(TICK);
        }
    }

    #[test]
    fn the_end_of_the_time_stops_a_search_and_nothing_else() {
        let allowed = Allowed { end: Some(Instant::now()), ..Allowed::default() };
        let watch = Watch::start(allowed).expect("a thread");
        watch.look();
        assert!(!watch.stopped() && !watch.is_late());
        watch.shared.searching.store(true, Ordering::Relaxed);
        let flag = watch.timer();
        watch.look();
        assert!(watch.stopped() && watch.is_late() && flag.load(Ordering::Relaxed));
    }

    #[test]
    fn what_cannot_be_stopped_is_left_alone_when_the_time_is_over() {
        let allowed = Allowed { end: Some(Instant::now()), ..Allowed::default() };
        let watch = Watch::start(allowed).expect("a thread");
        assert_eq!(watch.at_most(|| 7).expect("a thread"), Some(7));
        assert!(!watch.stopped());
        let (hold, held) = mpsc::channel::<()>();
        assert_eq!(watch.at_most(move || held.recv()).expect("a thread"), None);
        assert!(watch.stopped() && watch.is_late());
        drop(hold);
    }

    #[test]
    fn a_stop_sets_every_flag_and_the_dead_are_forgotten() {
        let watch = start(None);
        for _ in 0..100 {
            drop(watch.timer());
        }
        let flag = watch.timer();
        assert!(watch.shared.deadlines().len() <= 2);
        watch.stop().store(true, Ordering::Relaxed);
        while !flag.load(Ordering::Relaxed) {
            thread::sleep(TICK);
        }
    }
}
