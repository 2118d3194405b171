//! Condition variables.
//!
//! They are modelled whole: the real one is used only by threads that are not recorded, and where other processes use it
//! ([`crate::libc::shared`]). A wait is recorded as release, wait, acquire, where the wait itself is its return; a look at the clock
//! stands before the wait where a deadline, or another process, may end it.

use reweave_wire::{Life, Op};

use crate::abi::export::export;
use crate::libc::outside::given;
use crate::libc::real;
use crate::libc::shared;
use crate::record::numbers::About;
use crate::record::recording::{Inside, Named};
use crate::sched::baton::{Wake, key};
use crate::sched::policy::Step;
use crate::sched::time::Deadline;
use crate::sys::MONOTONIC;

const ETIMEDOUT: usize = 110;
/// What [`Inside::core`]'s conditions keep of the clock that a condition variable counts with.
const EVEN_CLOCK: u64 = 1;

impl Inside {
    pub(crate) fn condition_event(&mut self, op: Op, at: usize, code: usize) {
        let generation = self.condition_in_use(at);
        self.operation(op, at, u64::from(generation), code);
    }

    /// Which condition variable is at an address, that is used from now on.
    fn condition_in_use(&mut self, at: usize) -> u32 {
        self.core().conditions.entry(at as u64).map_or(0, |named| {
            named.used = true;
            named.generation
        })
    }

    /// A wait that starts now may end without a notification of this program: it looks at the clock.
    pub(crate) fn may_end_by_itself(&mut self, code: usize) {
        self.looks_at_time(code);
    }

    fn clock_of(&mut self, condition: usize) -> usize {
        match self.core().numbers.get(About::ConditionClock, condition) {
            Some(&mut EVEN_CLOCK) => MONOTONIC,
            _ => 0,
        }
    }
}

fn wait(
    condition: usize,
    mutex: usize,
    deadline: impl FnOnce(&mut Inside) -> Deadline,
    code: usize,
) -> Option<usize> {
    let mut inside = Inside::enter()?;
    inside.settle();
    inside.point(Step::Sync, code);
    let deadline = deadline(&mut inside);
    if shared::is_shared(condition) {
        let result = inside.wait_shared(condition, mutex, deadline, code);
        inside.end_if_cancelled();
        return Some(result);
    }
    let depth = inside.release_for_wait(mutex, code);
    if deadline != Deadline::Never {
        inside.may_end_by_itself(code);
    }
    // The wait starts with the event before it, which uses the condition variable as well.
    let index = inside.me.index();
    if let Some(forced) = &mut inside.core().forced {
        forced.touch(index, (condition, condition + 1));
    }
    // Whoever was awakened returns from this one, though it may be destroyed by then, and another one be there.
    let generation = inside.condition_in_use(condition);
    let wake = inside.block(key::of(key::CONDITION, condition), deadline.number());
    inside.operation(Op::Wait, condition, u64::from(generation), code);
    if wake == Wake::TimedOut {
        inside.deadline_passed(code);
    }
    // Whoever is awake does not have the lock yet, and may be left standing before it.
    inside.between_events_at(code);
    let result = inside.acquire_after_wait(mutex, depth, code);
    inside.end_if_cancelled();
    Some(if wake == Wake::TimedOut && result == 0 { ETIMEDOUT } else { result })
}

pub(crate) extern "C" fn cond_wait(condition: usize, mutex: usize, code: usize) -> usize {
    wait(condition, mutex, |_| Deadline::Never, code)
        .unwrap_or_else(|| real::pthread_cond_wait(condition, mutex))
}

pub(crate) extern "C" fn timedwait(condition: usize, mutex: usize, time: usize, code: usize) -> usize {
    wait(condition, mutex, |inside| Deadline::of(inside.clock_of(condition), time), code)
        .unwrap_or_else(|| real::pthread_cond_timedwait(condition, mutex, time))
}

extern "C" fn clockwait(condition: usize, mutex: usize, clock: usize, time: usize, code: usize) -> usize {
    wait(condition, mutex, |_| Deadline::of(clock, time), code)
        .unwrap_or_else(|| real::pthread_cond_clockwait(condition, mutex, clock, time))
}

/// Records that somebody, or all, may go on, and lets them.
pub(crate) fn notify(condition: usize, all: bool, code: usize) -> Option<Inside> {
    let mut inside = Inside::enter()?;
    inside.settle();
    inside.point(Step::Sync, code);
    inside.condition_event(if all { Op::NotifyAll } else { Op::Notify }, condition, code);
    inside.wake(key::of(key::CONDITION, condition), all);
    Some(inside)
}

fn notify_real(condition: usize, all: bool, code: usize, real: fn(usize) -> usize) -> usize {
    match notify(condition, all, code) {
        Some(_inside) if shared::is_shared(condition) => real(condition),
        Some(_) => 0,
        None => real(condition),
    }
}

pub(crate) extern "C" fn signal(condition: usize, code: usize) -> usize {
    notify_real(condition, false, code, real::pthread_cond_signal)
}

pub(crate) extern "C" fn broadcast(condition: usize, code: usize) -> usize {
    notify_real(condition, true, code, real::pthread_cond_broadcast)
}

/// What is at this address later is another one.
pub(crate) fn renewed(condition: usize, even_clock: bool) {
    let Some(mut inside) = Inside::enter() else { return };
    inside.settle();
    if let Some(named) = inside.core().conditions.entry(condition as u64)
        && named.used
    {
        *named = Named { used: false, generation: named.generation + 1 };
    }
    if let Some(clock) = inside.core().numbers.entry(About::ConditionClock, condition) {
        *clock = if even_clock { EVEN_CLOCK } else { 0 };
    }
}

pub(crate) extern "C" fn init(condition: usize, attributes: usize, code: usize) -> usize {
    given::gives_attributes(attributes, given::LOCK, code);
    let mut clock = 0i32;
    if attributes != 0 {
        real::pthread_condattr_getclock(attributes, &raw mut clock as usize);
    }
    renewed(condition, clock as usize == MONOTONIC);
    real::pthread_cond_init(condition, attributes)
}

pub(crate) extern "C" fn destroy(condition: usize, code: usize) -> usize {
    if let Some(mut inside) = Inside::enter() {
        inside.settle();
        let named = inside.core().conditions.entry(condition as u64).copied().unwrap_or_default();
        if named.used {
            inside.ends_lock(Life::Condition, condition, named.generation, code);
        }
    }
    renewed(condition, false);
    real::pthread_cond_destroy(condition)
}

export! {
    pthread_cond_wait(2) => cond_wait;
    pthread_cond_timedwait(3) => timedwait;
    pthread_cond_clockwait(4) => clockwait;
    pthread_cond_signal(1) => signal;
    pthread_cond_broadcast(1) => broadcast;
    pthread_cond_init(2) => init;
    pthread_cond_destroy(1) => destroy;
}
