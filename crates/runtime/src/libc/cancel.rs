//! Cancellation: threads that are asked to end.
//!
//! libc does it, at its own points and where we ask it to. It must never unwind a thread in the middle of our own code, with
//! the baton in its hands; so it is not told that a thread may be cancelled asynchronously. Such a thread looks for that
//! itself whenever it leaves our own code. It cannot be elsewhere when it is asked to end: only one thread runs at a time,
//! and that is the one that asks.

use core::sync::atomic::Ordering::{Relaxed, SeqCst};

use reweave_wire::outside::State;

use crate::abi::export::export;
use crate::libc::real;
use crate::libc::signals::{self, ASKED_TO_END};
use crate::libc::threads::find;
use crate::record::recording::Inside;
use crate::sched::baton::key;
use crate::sched::free;
use crate::sched::policy::Step;
use crate::sched::thread::{self, Thread, state};

/// What libc calls the kinds and states.
const ASYNCHRONOUS: usize = 1;
const ENABLED: usize = 0;

/// What a thread waits for that then looks whether it was asked to end.
const LOOKS: [u64; 4] = [key::CONDITION, key::END, key::SEMAPHORE, key::SLEEP];

/// Asks a thread to end: where it waits, it looks for that now.
extern "C" fn cancel(pthread: usize, code: usize) -> usize {
    let result = real::pthread_cancel(pthread);
    if let (0, Some(mut inside)) = (result, Inside::enter()) {
        inside.settle();
        inside.changes_state(State::Signals.variable(0), code);
        inside.point(Step::Sync, 0);
        if let Some(thread) = find(&mut inside, pthread) {
            thread.cancelled.store(true, SeqCst);
            let anywhere = thread.asynchronous.load(SeqCst);
            if anywhere {
                asked(thread);
            }
            let looks = LOOKS.contains(&(thread.key.load(Relaxed) & 15));
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
    if me.is_cancelled() && me.asynchronous.load(SeqCst) {
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
    if let Some(me) = thread::current().filter(|_| result as i32 == 0) {
        me.refuses.store(state as u32 as usize != ENABLED, SeqCst);
        look(me);
    }
    result
}

impl Thread {
    /// Whether it was asked to end, and will.
    fn is_cancelled(&self) -> bool {
        self.cancelled.load(SeqCst) && !self.refuses.load(SeqCst)
    }
}

impl Inside {
    /// Whether the thread, about to wait for a key, need not: it was asked to end, and looks for that after the wait. One that
    /// may be cancelled anywhere ends here, but not before it has the lock back that goes with a condition variable.
    pub(crate) fn ends_instead(&mut self, key: u64) -> bool {
        if !self.me.is_cancelled() {
            return false;
        }
        let looks = LOOKS.contains(&(key & 15));
        if !looks && self.me.signals.load(Relaxed) & ASKED_TO_END != 0 {
            self.open();
            signals::deliver(self.me);
            self.close();
        }
        looks
    }

    /// Ends the thread here, if somebody asked it to: libc unwinds it. Nothing of ours may be half done.
    pub(crate) fn end_if_cancelled(&mut self) {
        if self.me.cancelled.load(SeqCst) {
            if self.me.is_cancelled() {
                self.changes_state(State::Signals.variable(0), 0);
            }
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
