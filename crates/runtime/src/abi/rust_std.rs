//! The primitives of Rust's standard library, where the compiler's plugin found them by name.
//!
//! Each is two, as in [`crate::abi::rust`]: the scheduler's, which comes first, and the real one, which then cannot block. Of the
//! real ones it is known that they begin with the word that std's futexes are: 0 is a lock that nobody holds.
//!
//! Where std does not say which thread or scope it means, one variable stands for all of them. That orders more than need be,
//! which can only lose findings.

use reweave_wire::Op;

use crate::abi::access::load;
use crate::abi::export::export;
use crate::abi::rust::{
    RECORDED, RUN, UNRECORDED, again, begin, end, enter, hold, initialisation, look, stay, step,
};
use crate::libc::locks::Hold;
use crate::libc::once::phase;
use crate::record::numbers::About;
use crate::record::recording::{Inside, stands_for};
use crate::sched::baton::{Wake, key};
use crate::sched::policy::Step;
use crate::sched::time::Deadline;

/// What stands for all threads that park, and for all scopes.
const ALL: usize = 0;
const SCOPE: usize = 23;
const PARK: usize = stands_for::PARK as usize;
const BARRIER: usize = 25;

extern "C" fn end_if(told: usize, code: usize) {
    if told != UNRECORDED {
        end(code);
    }
}

fn is_free(inside: &mut Inside, at: usize, hold: Hold) -> bool {
    // One that is held here but not in fact was forgotten, with the memory that it was in.
    inside.is_free(at, hold) || load(at, 4) == 0
}

extern "C" fn lock(at: usize, shared: usize, code: usize) -> usize {
    let Some(mut inside) = enter(code) else { return UNRECORDED };
    take(&mut inside, at, hold(shared), code);
    stay(inside);
    RECORDED
}

fn take(inside: &mut Inside, at: usize, hold: Hold, code: usize) {
    while !is_free(inside, at, hold) {
        inside.block_for(at, hold, 0);
    }
    inside.acquired(at, hold, false, code);
}

/// Whether the attempt that follows will succeed is known.
extern "C" fn try_lock(at: usize, shared: usize, code: usize) -> usize {
    let Some(mut inside) = enter(code) else { return UNRECORDED };
    let hold = hold(shared);
    if is_free(&mut inside, at, hold) {
        inside.acquired(at, hold, true, code);
    } else {
        inside.busy(at, hold, code);
    }
    stay(inside);
    RECORDED
}

extern "C" fn unlock(at: usize, code: usize) -> usize {
    let Some(mut inside) = enter(code) else { return UNRECORDED };
    inside.released(at, code);
    stay(inside);
    RECORDED
}

/// The word that std's mutex is.
fn word(mutex: usize) -> &'static core::sync::atomic::AtomicU32 {
    // SAFETY: the program passes the address of a mutex, which lives as long as the wait.
    unsafe { &*(mutex as *const core::sync::atomic::AtomicU32) }
}

/// Waits, where the mutex is one that was recorded; whether the time was up.
fn wait_until(condition: usize, mutex: usize, deadline: u64, code: usize) -> Option<bool> {
    use core::sync::atomic::Ordering::SeqCst;
    let mut inside = Inside::enter()?;
    if inside.depth(mutex) == 0 {
        return None;
    }
    inside.settle();
    inside.point(Step::Sync, code);
    inside.released(mutex, code);
    word(mutex).store(0, SeqCst);
    if deadline != 0 {
        inside.may_end_by_itself(code);
    }
    let wake = inside.block(key::of(key::CONDITION, condition), deadline);
    inside.condition_event(Op::Wait, condition, code);
    if wake == Wake::TimedOut {
        inside.deadline_passed(code);
    }
    inside.between_events();
    take(&mut inside, mutex, Hold::Exclusive, code);
    word(mutex).store(1, SeqCst);
    Some(wake == Wake::TimedOut)
}

extern "C" fn wait(condition: usize, mutex: usize, real: extern "C" fn(usize, usize), code: usize) {
    if wait_until(condition, mutex, 0, code).is_none() {
        real(condition, mutex);
    }
}

type RealTimeout = extern "C" fn(usize, usize, u64, u32) -> bool;

/// Whether it was woken in time.
extern "C" fn wait_timeout(
    condition: usize,
    mutex: usize,
    seconds: u64,
    nanos: u32,
    real: RealTimeout,
    code: usize,
) -> bool {
    let time = seconds.saturating_mul(1_000_000_000).saturating_add(u64::from(nanos));
    let deadline = Deadline::after(time).number();
    match wait_until(condition, mutex, deadline, code) {
        Some(timed_out) => !timed_out,
        None => real(condition, mutex, seconds, nanos),
    }
}

extern "C" fn notify_one(condition: usize, real: extern "C" fn(usize), code: usize) {
    if crate::libc::condition::notify(condition, false, code).is_none() {
        real(condition);
    }
}

extern "C" fn notify_all(condition: usize, real: extern "C" fn(usize), code: usize) {
    if crate::libc::condition::notify(condition, true, code).is_none() {
        real(condition);
    }
}

/// What std's one-time initialisation goes through.
mod state {
    pub(super) const BITS: u64 = 3;
    pub(super) const COMPLETE: u64 = 0;
    pub(super) const POISONED: u64 = 2;
}

/// How long a thread waits before it looks again: an initialisation that panics may tell nobody.
const PATIENCE: u64 = 20_000_000;

fn is_complete(at: usize) -> bool {
    load(at, 4) & state::BITS == state::COMPLETE
}

/// Waits while another thread initialises, as far as that was recorded; whether the calling thread does.
fn wait_for_runner(inside: &mut Inside, at: usize) -> bool {
    let me = inside.me.index() as u64 + 1;
    loop {
        match inside.core().numbers.entry(About::Runner, at).map_or(0, |runner| *runner) {
            0 => return false,
            runner if runner == me => return true,
            _ => {}
        }
        let wake = inside.block(key::of(key::ONCE, at), Deadline::after(PATIENCE).number());
        if wake == Wake::TimedOut && load(at, 4) & state::BITS == state::POISONED {
            return false;
        }
    }
}

/// Before `Once::call_once`: whether the caller is the one who initialises.
extern "C" fn once(at: usize, code: usize) -> usize {
    let Some(mut inside) = enter(code) else { return UNRECORDED };
    if wait_for_runner(&mut inside, at) || is_complete(at) {
        return UNRECORDED;
    }
    let me = inside.me.index() as u64 + 1;
    if let Some(runner) = inside.core().numbers.entry(About::Runner, at) {
        *runner = me;
    }
    inside.once_is(at, phase::RUNS, code);
    RUN
}

extern "C" fn once_ends(role: usize, at: usize, code: usize) {
    if role != RUN {
        return;
    }
    let Some(mut inside) = enter(code) else { return };
    if let Some(runner) = inside.core().numbers.entry(About::Runner, at) {
        *runner = 0;
    }
    inside.once_is(at, if is_complete(at) { phase::DONE } else { phase::NEW }, code);
    inside.wake(key::of(key::ONCE, at), true);
}

/// The told thread has looked whether it is done. Where it is, but that was not recorded yet, it waits for that.
extern "C" fn once_seen(told: usize, at: usize, code: usize) {
    if told == UNRECORDED {
        return;
    }
    if is_complete(at)
        && let Some(mut inside) = again()
    {
        wait_for_runner(&mut inside, at);
        stay(inside);
    }
    initialisation(at, usize::from(is_complete(at)), code);
    end(code);
}

/// A step of, or a look at, what stands for something.
fn tell(what: fn(usize, usize, usize) -> usize, at: usize, kind: usize, code: usize) {
    if begin(code) == RECORDED {
        what(at, kind, code);
        end(code);
    }
}

fn steps(at: usize, kind: usize, code: usize) -> usize {
    step(at, kind, code)
}

fn looks(at: usize, kind: usize, code: usize) -> usize {
    look(at, kind, code)
}

extern "C" fn unpark(code: usize) {
    tell(steps, ALL, PARK, code);
}

extern "C" fn parked(_this: usize, code: usize) {
    tell(looks, ALL, PARK, code);
}

extern "C" fn scope_thread_ends(_this: usize, code: usize) {
    tell(steps, ALL, SCOPE, code);
}

extern "C" fn scope_ends(code: usize) {
    tell(looks, ALL, SCOPE, code);
}

extern "C" fn arrives(barrier: usize, code: usize) {
    tell(steps, barrier, BARRIER, code);
}

extern "C" fn leaves(barrier: usize, code: usize) {
    tell(looks, barrier, BARRIER, code);
}

export! {
    __reweave_told_end_if(1) => end_if;
    __reweave_std_lock(2) => lock;
    __reweave_std_try(2) => try_lock;
    __reweave_std_unlock(1) => unlock;
    __reweave_std_wait(3) => wait;
    __reweave_std_wait_timeout(5) => wait_timeout;
    __reweave_std_notify_one(2) => notify_one;
    __reweave_std_notify_all(2) => notify_all;
    __reweave_std_once(1) => once;
    __reweave_std_once_ends(2) => once_ends;
    __reweave_std_once_seen(2) => once_seen;
    __reweave_std_unpark(0) => unpark;
    __reweave_std_parked(1) => parked;
    __reweave_std_scope_thread_ends(1) => scope_thread_ends;
    __reweave_std_scope_ends(0) => scope_ends;
    __reweave_std_arrives(1) => arrives;
    __reweave_std_leaves(1) => leaves;
}
