//! Cancellation: threads that are asked to end.
//!
//! libc does it, at its own points and where we ask it to. It must never unwind a thread in the middle of our own code, with
//! the baton in its hands; so it is not told that a thread may be cancelled asynchronously. Such a thread looks for that
//! itself whenever it leaves our own code. It cannot be elsewhere when it is asked to end: only one thread runs at a time,
//! and that is the one that asks.

use core::sync::atomic::Ordering::{Relaxed, SeqCst};

use crate::export::export;
use crate::free;
use crate::policy::Step;
use crate::real;
use crate::recording::Inside;
use crate::sched::key;
use crate::signals::ASKED_TO_END;
use crate::thread::{self, Thread, state};
use crate::threads::find;

/// What libc calls the kinds and states.
const ASYNCHRONOUS: usize = 1;
const ENABLED: usize = 0;

/// Asks a thread to end: where it waits, it looks for that now.
extern "C" fn cancel(pthread: usize, _code: usize) -> usize {
    let result = real::pthread_cancel(pthread);
    if let (0, Some(mut inside)) = (result, Inside::enter()) {
        inside.settle();
        inside.point(Step::Sync, 0);
        if let Some(thread) = find(&mut inside, pthread) {
            thread.cancelled.store(true, SeqCst);
            let anywhere = thread.asynchronous.load(SeqCst);
            if anywhere {
                asked(thread);
            }
            let kind = thread.key.load(Relaxed) & 15;
            let looks = [key::CONDITION, key::END, key::SEMAPHORE, key::SLEEP].contains(&kind);
            if (looks || anywhere) && thread.state.load(SeqCst) == state::BLOCKED {
                inside.core().policy.woken();
                thread.state.store(state::READY, SeqCst);
            }
        }
    }
    result
}

/// Has a thread end when it leaves our own code.
fn asked(thread: &Thread) {
    thread.signals.fetch_or(ASKED_TO_END, SeqCst);
    let head = thread.head.load(SeqCst);
    if free::is_on() && head != 0 {
        // It runs now: its next hook comes here. Where it sets the limit at the same time, it comes a little later.
        // SAFETY: its head is there for as long as the process, and the second word is the limit.
        unsafe { (head as *mut usize).add(1).write_volatile(0) };
    }
}

/// Ends the calling thread, if it was asked to and may be cancelled anywhere.
fn look(me: &'static Thread) {
    if me.cancelled.load(SeqCst) && me.asynchronous.load(SeqCst) {
        asked(me);
        drop(Inside::enter());
    }
}

extern "C" fn setcanceltype(kind: usize, before: *mut i32, _code: usize) -> usize {
    let me = thread::current().filter(|_| kind as u32 as usize <= ASYNCHRONOUS);
    let Some(me) = me else { return real::pthread_setcanceltype(kind, before as usize) };
    let was = me.asynchronous.swap(kind as u32 as usize == ASYNCHRONOUS, SeqCst);
    // SAFETY: a null, or where the program wants it.
    if let Some(before) = unsafe { before.as_mut() } {
        *before = i32::from(was);
    }
    look(me);
    0
}

extern "C" fn setcancelstate(state: usize, before: usize, _code: usize) -> usize {
    let result = real::pthread_setcancelstate(state, before);
    if let Some(me) = thread::current().filter(|_| state as u32 as usize == ENABLED) {
        look(me);
    }
    result
}

impl Inside {
    /// Ends the thread here, if somebody asked it to: libc unwinds it. Nothing of ours may be half done.
    pub(crate) fn end_if_cancelled(&mut self) {
        if self.me.cancelled.load(SeqCst) {
            self.open();
            real::pthread_testcancel();
            self.close();
        }
    }
}

export! {
    pthread_cancel(1) => cancel;
    pthread_setcanceltype(2) => setcanceltype;
    pthread_setcancelstate(2) => setcancelstate;
}
