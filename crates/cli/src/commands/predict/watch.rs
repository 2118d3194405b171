//! The clock, the meter and the interrupt: a thread that looks around while others search.

use std::collections::VecDeque;
use std::io::{self, Write};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::mpsc::{self, RecvTimeoutError, Sender};
use std::sync::{Arc, Mutex, PoisonError, Weak};
use std::thread;
use std::time::{Duration, Instant};

use super::memory;
use crate::console::Console;
use crate::exit::Exit;
use crate::interrupt;
use crate::plural;

/// How long between two looks.
const TICK: Duration = Duration::from_millis(5);

/// Runs until it is dropped.
pub(super) struct Watch {
    shared: Arc<Shared>,
    /// The thread ends when this does.
    _alive: Sender<()>,
}

struct Shared {
    budget: Duration,
    max_memory: Option<u64>,
    /// Set when the whole run is to stop.
    stop: Arc<AtomicBool>,
    too_large: AtomicBool,
    /// Whether a search is under way, which can be stopped; reading cannot.
    searching: AtomicBool,
    /// The flags of candidates, with the time when they are to be set: in order, since all have the same budget.
    deadlines: Mutex<VecDeque<(Instant, Weak<AtomicBool>)>>,
}

impl Watch {
    /// Starts to look around. `budget` is for each candidate, `max_memory` for the process.
    pub(super) fn start(budget: Duration, max_memory: Option<u64>) -> io::Result<Watch> {
        let shared = Arc::new(Shared {
            budget,
            max_memory,
            stop: Arc::default(),
            too_large: AtomicBool::new(false),
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
    pub(super) fn look(&self) {
        self.shared.look_around();
    }

    /// From here on, an interrupt or too much memory stops the search instead of ending the process.
    pub(super) fn search(&self) -> io::Result<()> {
        interrupt::defer()?;
        self.shared.searching.store(true, Ordering::Relaxed);
        Ok(())
    }

    /// The search is over.
    pub(super) fn rest(&self) {
        self.shared.searching.store(false, Ordering::Relaxed);
    }

    /// The flag that stops the whole run.
    pub(super) fn stop(&self) -> Arc<AtomicBool> {
        Arc::clone(&self.shared.stop)
    }

    /// Whether the run was stopped.
    pub(super) fn stopped(&self) -> bool {
        self.shared.stop.load(Ordering::Relaxed) || interrupt::requested()
    }

    /// A flag that is set when the budget of a candidate that starts now is over.
    pub(super) fn timer(&self) -> Arc<AtomicBool> {
        let flag = Arc::new(AtomicBool::new(self.shared.budget.is_zero() || self.stopped()));
        if let Some(deadline) = Instant::now().checked_add(self.shared.budget) {
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
    pub(super) fn tell(&self, left_out: usize, console: &Console) {
        if !self.stopped() {
            return;
        }
        let left_out = match left_out {
            0 => String::new(),
            number => format!("; {} not looked at", plural::count(number as u64, "trace")),
        };
        if self.shared.too_large.load(Ordering::Relaxed) {
            let limit = memory::text(self.shared.max_memory.unwrap_or_default());
            console.warn(format_args!(
                "stopped at the limit of {limit} of memory: the result is partial{left_out}"
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
        if let Some(limit) = self.max_memory
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
        let beyond_hope = used > limit.saturating_add(limit / 4);
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

    #[test]
    fn flags_are_set_when_their_time_is_over() {
        let watch = Watch::start(Duration::ZERO, None).expect("a thread");
        assert!(watch.timer().load(Ordering::Relaxed));
        let watch = Watch::start(Duration::from_millis(1), None).expect("a thread");
        let flag = watch.timer();
        while !flag.load(Ordering::Relaxed) {
            thread::sleep(TICK);
        }
    }

    #[test]
    fn a_stop_sets_every_flag_and_the_dead_are_forgotten() {
        let watch = Watch::start(Duration::from_secs(3600), None).expect("a thread");
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
