//! Which core the thread with the baton runs on: always the same, as far as it can be.
//!
//! Left to itself, the kernel wakes the thread that gets the baton on a core with nothing to do. That core has to wake up first,
//! and its cache has nothing of what the threads use; both take as long as thousands of accesses. So the thread that gives
//! the baton, and is about to sleep, allows the next one its own core alone; and that one allows itself again, before anything
//! else, what it was allowed before. The program finds nothing changed: none of its
//! code runs in between.

use core::sync::atomic::Ordering::{Relaxed, SeqCst};
use core::sync::atomic::{AtomicBool, AtomicI32, AtomicU64};

use crate::sched::free;
use crate::sys;

/// Cores, a bit each. The kernel refuses to tell of more, and then threads stay where they are.
pub(crate) type Cores = [u64; 16];

/// Where a thread may run.
#[derive(Default)]
pub(crate) struct Seat {
    /// The thread as the kernel numbers it; 0 before it first waited.
    thread: AtomicI32,
    /// Whether it is allowed one core alone, until it runs.
    moved: AtomicBool,
    /// What it was allowed before.
    allowed: [AtomicU64; 16],
}

impl Seat {
    /// The calling thread is about to wait: this is its own.
    pub(crate) fn leave(&self) {
        if self.thread.load(Relaxed) == 0 {
            self.thread.store(sys::thread(), Relaxed);
        }
    }

    /// The calling thread, whose this is, has another number from now on: it is that of a new process.
    pub(crate) fn renumber(&self) {
        self.thread.store(sys::thread(), Relaxed);
    }

    /// The thread as the kernel numbers it; 0 where that is not known yet.
    pub(crate) fn thread(&self) -> i32 {
        self.thread.load(Relaxed)
    }

    /// The thread that waits there is about to wake up, and the calling one to sleep.
    pub(crate) fn offer(&self) {
        let thread = self.thread.load(Relaxed);
        if thread == 0 || free::is_on() {
            return;
        }
        let (Some(allowed), Some(mine)) = (sys::allowed(thread), sys::core().and_then(only)) else { return };
        let within = allowed.iter().zip(&mine).all(|(allowed, mine)| allowed & mine == *mine);
        if within && allowed != mine && sys::allow(thread, &mine) {
            for (room, cores) in self.allowed.iter().zip(allowed) {
                room.store(cores, Relaxed);
            }
            self.moved.store(true, SeqCst);
        }
    }

    /// The calling thread has woken up: it may run where it might.
    pub(crate) fn take(&self) {
        if self.moved.swap(false, SeqCst) {
            let mut allowed = Cores::default();
            for (cores, kept) in allowed.iter_mut().zip(&self.allowed) {
                *cores = kept.load(Relaxed);
            }
            sys::allow(0, &allowed);
        }
    }
}

/// This core alone.
fn only(core: usize) -> Option<Cores> {
    let mut cores = Cores::default();
    *cores.get_mut(core / 64)? = 1 << (core % 64);
    Some(cores)
}

#[cfg(test)]
mod tests {
    use std::sync::mpsc;
    use std::thread;

    use super::*;

    #[test]
    fn who_wakes_up_is_on_the_core_that_was_offered_and_may_run_where_it_might() {
        static SEAT: Seat = Seat {
            thread: AtomicI32::new(0),
            moved: AtomicBool::new(false),
            allowed: [const { AtomicU64::new(0) }; 16],
        };
        let ((tell, told), (wake, woken)) = (mpsc::channel(), mpsc::channel());
        let waits = thread::spawn(move || {
            SEAT.leave();
            tell.send(sys::allowed(0)).unwrap();
            woken.recv().unwrap();
            let then = (sys::allowed(0), sys::core().and_then(only));
            SEAT.take();
            (then, sys::allowed(0))
        });
        let before = told.recv().unwrap();
        // This thread must not move meanwhile.
        let (all, mine) = (sys::allowed(0).unwrap(), sys::core().and_then(only).unwrap());
        assert!(sys::allow(0, &mine));
        SEAT.offer();
        wake.send(()).unwrap();
        let (then, after) = waits.join().unwrap();
        assert!(sys::allow(0, &all));
        assert_eq!((then, after), ((Some(mine), Some(mine)), before));
        // Once is enough.
        SEAT.take();
        assert_eq!(sys::allowed(0), Some(all));
    }
}
