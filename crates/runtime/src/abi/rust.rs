//! What Rust programs tell by themselves: the locks, condition variables, channels and the like of the crate `reweave`, and
//! those of `std` where the compiler's plugin finds them by name.
//!
//! Such a thing is two: the real one, of `std`, and the one that the scheduler knows. A thread first does its part of the
//! latter ([`lock`] waits until the lock is free, and records it), then that of the former, which cannot block then. In
//! between it is *told*: it has the baton, and what it does is not recorded, because the atomic accesses inside of
//! a lock are not the program's. [`begin`] and [`end`] enclose that.

use core::sync::atomic::AtomicUsize;
use core::sync::atomic::Ordering::Relaxed;

use reweave_wire::Op;
use reweave_wire::ring::CALL_BITS;

use crate::abi::export::export;
use crate::libc::locks::Hold;
use crate::libc::once::phase;
use crate::libc::rendezvous;
use crate::record::config;
use crate::record::numbers::About;
use crate::record::recording::{Inside, stands_for};
use crate::sched::baton::{Wake, key};
use crate::sched::policy::Step;
use crate::sched::thread::{self, Thread};
use crate::sched::time::Deadline;

/// What a call answers where the calling thread is not recorded.
pub(crate) const UNRECORDED: usize = 0;
pub(crate) const RECORDED: usize = 1;

/// The time that stands for no deadline.
const NEVER: usize = usize::MAX;

// Programs of Rust define this when they are linked.
#[cfg(not(test))]
core::arch::global_asm!(".weak __reweave_rust");

/// Whether the program is one of Rust.
#[cfg(not(test))]
pub(crate) fn is_program() -> bool {
    let at: usize;
    // SAFETY: reads the address of a symbol; 0 where there is none.
    unsafe {
        core::arch::asm!("mov {}, qword ptr [rip + __reweave_rust@GOTPCREL]", out(reg) at,
                         options(nostack, readonly, preserves_flags));
    }
    at != 0
}

#[cfg(test)]
pub(crate) fn is_program() -> bool {
    false
}

/// Keeps what the calling thread does from being recorded, in a program of Rust.
pub(crate) struct Quiet(Option<&'static Thread>);

impl Quiet {
    #[inline(always)]
    pub(crate) fn new() -> Quiet {
        let me = if is_program() { thread::current() } else { None };
        if let Some(me) = me {
            me.closed.store(me.closed.load(Relaxed) + 1, Relaxed);
        }
        Quiet(me)
    }
}

impl Drop for Quiet {
    #[inline(always)]
    fn drop(&mut self) {
        if let Some(me) = self.0 {
            me.closed.store(me.closed.load(Relaxed) - 1, Relaxed);
        }
    }
}

fn deadline(nanos: usize) -> u64 {
    if nanos == NEVER { 0 } else { Deadline::after(nanos as u64).number() }
}

/// Lets go of the token but not of the baton: the thread stays in our own code.
pub(crate) fn stay(inside: Inside) {
    core::mem::forget(inside);
}

/// The token of a thread that stayed.
pub(crate) fn again() -> Option<Inside> {
    let me = thread::current().filter(|me| me.closed.load(Relaxed) != 0)?;
    // It may have lost the baton where it waited for something that nobody stands before.
    Inside::reenter(me).or_else(|| Some(Inside { me }))
}

/// The token of a thread that ends the program between [`begin`] and [`end`], as a call that fails does.
pub(crate) fn between() -> Option<Inside> {
    let me = thread::current().filter(|me| me.closed.load(Relaxed) != 0 && me.began.load(Relaxed) != 0)?;
    (me.state.load(Relaxed) == thread::state::READY).then_some(Inside { me })
}

pub(crate) fn enter(code: usize) -> Option<Inside> {
    let mut inside = Inside::enter()?;
    inside.settle();
    inside.point(Step::Sync, code);
    Some(inside)
}

/// What the thread does from here on is not the program's, until [`end`].
pub(crate) extern "C" fn begin(code: usize) -> usize {
    let Some(inside) = enter(code) else { return UNRECORDED };
    inside.me.began.store(code, Relaxed);
    stay(inside);
    RECORDED
}

pub(crate) extern "C" fn end(_code: usize) -> usize {
    if let Some(inside) = again() {
        inside.me.began.store(0, Relaxed);
    }
    RECORDED
}

pub(crate) fn hold(shared: usize) -> Hold {
    if shared != 0 { Hold::Shared } else { Hold::Exclusive }
}

/// Waits until a lock is free, and has it.
extern "C" fn lock(at: usize, shared: usize, code: usize) -> usize {
    let Some(mut inside) = enter(code) else { return UNRECORDED };
    inside.take_told(at, hold(shared), code);
    stay(inside);
    RECORDED
}

impl Inside {
    pub(crate) fn take_told(&mut self, at: usize, hold: Hold, code: usize) {
        while !self.is_free(at, hold) {
            self.block_for(at, hold, 0);
        }
        self.acquired(at, hold, false, code);
    }

    fn version(&mut self, at: usize, what: usize) -> Option<&mut u64> {
        self.core().numbers.entry(About::Rust(what), at)
    }
}

/// An attempt to take a lock has ended: whether it was in vain.
extern "C" fn tried(at: usize, shared: usize, got: usize, code: usize) -> usize {
    let Some(mut inside) = again() else { return UNRECORDED };
    if got != 0 {
        inside.acquired(at, hold(shared), true, code);
    } else {
        inside.busy(at, hold(shared), code);
    }
    RECORDED
}

/// The thread has given up a lock.
extern "C" fn unlocked(at: usize, code: usize) -> usize {
    let Some(mut inside) = again() else { return UNRECORDED };
    inside.released(at, code);
    RECORDED
}

/// What is at this address later is another one.
extern "C" fn renewed(at: usize, _code: usize) -> usize {
    crate::libc::locks::renewed(at);
    crate::libc::condition::renewed(at, false);
    RECORDED
}

const TIMED_OUT: usize = 2;

/// Waits for a condition variable. The real lock was given up before and is taken again afterwards.
extern "C" fn wait(condition: usize, mutex: usize, nanos: usize, code: usize) -> usize {
    let Some(mut inside) = again() else { return UNRECORDED };
    inside.released(mutex, code);
    let deadline = deadline(nanos);
    if deadline != 0 {
        inside.may_end_by_itself(code);
    }
    let wake = inside.block(key::of(key::CONDITION, condition), deadline);
    inside.condition_event(Op::Wait, condition, code);
    if wake == Wake::TimedOut {
        inside.deadline_passed(code);
    }
    inside.between_events();
    inside.take_told(mutex, Hold::Exclusive, code);
    stay(inside);
    if wake == Wake::TimedOut { TIMED_OUT } else { RECORDED }
}

pub(crate) extern "C" fn notify(condition: usize, all: usize, code: usize) -> usize {
    crate::libc::condition::notify(condition, all != 0, code).map_or(UNRECORDED, |_| RECORDED)
}

/// Something of a channel, a scope or the like changes, and whoever waits for that looks again.
pub(crate) extern "C" fn step(at: usize, what: usize, code: usize) -> usize {
    let Some(mut inside) = again() else { return UNRECORDED };
    let before = inside.version(at, what).map_or(0, |version| {
        *version += 1;
        *version - 1
    });
    inside.stand_in(Op::Update, at, what as u64, code, (before, before + 1));
    inside.wake(key::of(key::TOLD, at), true);
    stay(inside);
    RECORDED
}

/// The thread looks at it. That is an update, as is every receive here: one that waits cannot come before what it waited for,
/// and an update, other than a read, never observes anything but what it observed.
pub(crate) extern "C" fn look(at: usize, what: usize, code: usize) -> usize {
    let Some(mut inside) = again() else { return UNRECORDED };
    let version = inside.version(at, what).map_or(0, |version| *version);
    inside.stand_in(Op::Update, at, what as u64, code, (version, version));
    stay(inside);
    RECORDED
}

/// Waits until it changes.
extern "C" fn block(at: usize, nanos: usize, code: usize) -> usize {
    let Some(mut inside) = again() else { return UNRECORDED };
    let wake = inside.block(key::of(key::TOLD, at), deadline(nanos));
    if wake == Wake::TimedOut {
        inside.deadline_passed(code);
    }
    stay(inside);
    if wake == Wake::TimedOut { TIMED_OUT } else { RECORDED }
}

/// Waits until somebody lets this thread go on, or the time is up.
extern "C" fn park(thread: usize, nanos: usize, code: usize) -> usize {
    let Some(mut inside) = enter(code) else { return UNRECORDED };
    let until = deadline(nanos);
    let take = |inside: &mut Inside| {
        inside.core().numbers.entry(About::ParkToken, thread).is_some_and(|token| core::mem::take(token) != 0)
    };
    while !take(&mut inside) {
        if inside.block(key::of(key::PARK, thread), until) == Wake::TimedOut {
            inside.deadline_passed(code);
            take(&mut inside);
            break;
        }
    }
    let version = inside.version(thread, stands_for::PARK as usize).map_or(0, |version| *version);
    inside.stand_in(Op::Update, thread, stands_for::PARK, code, (version, version));
    RECORDED
}

extern "C" fn unpark(thread: usize, code: usize) -> usize {
    let Some(mut inside) = enter(code) else { return UNRECORDED };
    if let Some(token) = inside.core().numbers.entry(About::ParkToken, thread) {
        *token = 1;
    }
    let before = inside.version(thread, stands_for::PARK as usize).map_or(0, |version| {
        *version += 1;
        *version - 1
    });
    inside.stand_in(Op::Update, thread, stands_for::PARK, code, (before, before + 1));
    inside.wake(key::of(key::PARK, thread), true);
    RECORDED
}

/// Arrives at a barrier for so many threads, and waits for the others.
extern "C" fn barrier(at: usize, size: usize, code: usize) -> usize {
    let Some(mut inside) = enter(code) else { return UNRECORDED };
    if rendezvous::arrive(&mut inside, at, size.max(1) as u64, code) == 0 { FOLLOWS } else { LEADS }
}

const FOLLOWS: usize = 1;
const LEADS: usize = 2;

/// What [`initialise`] answers.
pub(crate) const RUN: usize = 1;
const DONE: usize = 2;

/// Before a one-time initialisation that may be `done` already: whether the caller is the one who runs it.
pub(crate) extern "C" fn initialise(at: usize, done: usize, code: usize) -> usize {
    let Some(mut inside) = again() else { return UNRECORDED };
    // What the caller saw holds until another thread had its turn.
    let mut done = done != 0;
    while inside.once_phase(at) == phase::RUNS {
        inside.block(key::of(key::ONCE, at), 0);
        done = inside.once_phase(at) == phase::DONE;
    }
    if done {
        inside.once_found(at, phase::DONE, code);
    } else {
        inside.once_is(at, phase::RUNS, code);
    }
    stay(inside);
    if done { DONE } else { RUN }
}

/// The initialisation that the caller runs is over; in vain, where it panicked.
pub(crate) extern "C" fn initialised(at: usize, done: usize, code: usize) -> usize {
    let Some(mut inside) = again() else { return UNRECORDED };
    inside.once_is(at, if done != 0 { phase::DONE } else { phase::NEW }, code);
    inside.wake(key::of(key::ONCE, at), true);
    stay(inside);
    RECORDED
}

/// Looks whether it is done, and does not wait.
pub(crate) extern "C" fn initialisation(at: usize, done: usize, code: usize) -> usize {
    let Some(mut inside) = again() else { return UNRECORDED };
    let found = match inside.once_phase(at) {
        _ if done != 0 => phase::DONE,
        phase::DONE => phase::NEW,
        phase => phase,
    };
    inside.once_found(at, found, code);
    stay(inside);
    RECORDED
}

/// Where the next text of a call begins, in the file of texts.
static TEXTS: AtomicUsize = AtomicUsize::new(0);

/// A call on an object is complete, `method(arguments)=result`: it stands where [`begin`] was called, and all between that and this
/// is one step.
extern "C" fn called(at: usize, text: usize, length: usize, code: usize) -> usize {
    // What the thread did in between may have let others run: then what it does is recorded again by now.
    let Some(mut inside) = again().or_else(|| enter(code)) else { return UNRECORDED };
    let code = match inside.me.began.load(Relaxed) {
        0 => code,
        began => began,
    };
    let length = length.min((1 << CALL_BITS) - 1);
    // SAFETY: the crate `reweave` and `reweave.h` pass a text of that length.
    let text = unsafe { core::slice::from_raw_parts(text as *const u8, length) };
    config::add_call(text);
    let from = TEXTS.fetch_add(text.len(), Relaxed);
    inside.operation(Op::Call, at, (from as u64) << CALL_BITS | text.len() as u64, code);
    stay(inside);
    RECORDED
}

export! {
    __reweave_told_called(3) => called;
    __reweave_told_begin(0) => begin;
    __reweave_told_end(0) => end;
    __reweave_told_lock(2) => lock;
    __reweave_told_tried(3) => tried;
    __reweave_told_unlocked(1) => unlocked;
    __reweave_told_renewed(1) => renewed;
    __reweave_told_wait(3) => wait;
    __reweave_told_notify(2) => notify;
    __reweave_told_step(2) => step;
    __reweave_told_look(2) => look;
    __reweave_told_block(2) => block;
    __reweave_told_park(2) => park;
    __reweave_told_unpark(1) => unpark;
    __reweave_told_barrier(2) => barrier;
    __reweave_told_initialise(2) => initialise;
    __reweave_told_initialised(2) => initialised;
    __reweave_told_initialisation(2) => initialisation;
}
