//! Condition variables, semaphores and barriers that other processes use as well: the real ones count.
//!
//! A process that is not recorded may wake who waits, post, or arrive. So the real call is made, without the baton, and what it
//! came to is recorded when it has returned. Locks need nothing of the kind: the real one is always taken.

use core::sync::atomic::AtomicUsize;
use core::sync::atomic::Ordering::Relaxed;

use reweave_wire::Op;
use reweave_wire::outside::State;

use crate::abi::access::load;
use crate::libc::locks::Hold;
use crate::libc::real;
use crate::libc::rendezvous::{EAGAIN, ETIMEDOUT, arrival, fail};
use crate::record::numbers::About;
use crate::record::recording::{Inside, stands_for};
use crate::sched::baton::key;
use crate::sched::clock;
use crate::sched::time::Deadline;
use crate::sys::{MONOTONIC, Time};

const WALL: usize = 0;
/// The bits of glibc's word of flags in a condition variable.
const SHARED: u64 = 1;
const EVEN_CLOCK: u64 = 2;
/// Where that word is not known, and where it cannot be found.
const UNKNOWN: usize = 0;
const NOWHERE: usize = usize::MAX;

/// Where the word of flags is in a condition variable: found in one that has a flag and nothing else, because versions of glibc
/// differ.
fn flags_at() -> usize {
    static AT: AtomicUsize = AtomicUsize::new(UNKNOWN);
    if AT.load(Relaxed) == UNKNOWN {
        let (mut attributes, mut condition) = ([0u32; 16], [0u32; 16]);
        let (attributes, at) = (&raw mut attributes as usize, &raw mut condition as usize);
        real::pthread_condattr_init(attributes);
        real::pthread_condattr_setpshared(attributes, SHARED as usize);
        real::pthread_cond_init(at, attributes);
        real::pthread_condattr_destroy(attributes);
        let found = (0..16).map(|word| word * 4).find(|offset| load(at + offset, 4) == SHARED);
        // It is not at the very start, where the waits are counted.
        AT.store(found.filter(|&found| found != UNKNOWN).unwrap_or(NOWHERE), Relaxed);
    }
    AT.load(Relaxed)
}

fn flags(condition: usize) -> u64 {
    match flags_at() {
        NOWHERE => 0,
        offset => load(condition + offset, 4),
    }
}

/// Whether other processes may use this condition variable.
pub(crate) fn is_shared(condition: usize) -> bool {
    flags(condition) & SHARED != 0
}

/// Whether other processes may use this semaphore: glibc's word after its value says so.
pub(crate) fn is_shared_semaphore(semaphore: usize) -> bool {
    load(semaphore + 8, 4) != 0
}

/// Whether a barrier with these attributes is for other processes, too.
pub(crate) fn is_shared_barrier(attributes: usize) -> bool {
    let mut shared = 0i32;
    if attributes != 0 {
        real::pthread_barrierattr_getpshared(attributes, &raw mut shared as usize);
    }
    shared != 0
}

/// Arrives at a barrier that others than recorded threads arrive at.
pub(crate) fn arrive_really(inside: &mut Inside, barrier: usize, code: usize) -> usize {
    arrival(inside, barrier, code);
    let result = inside.elsewhere(|| real::pthread_barrier_wait(barrier));
    let now = inside.core().numbers.get(About::Arrivals, barrier).map_or(0, |count| *count);
    inside.goes_on(barrier, stands_for::BARRIER, code, now);
    result
}

/// A deadline, which is not never, as a time of a real clock.
pub(crate) fn real_time(clock: usize, deadline: Deadline) -> Time {
    let left = deadline.number().saturating_sub(clock::now());
    Time::from_nanos(crate::sys::now(clock).saturating_add(left))
}

impl Inside {
    /// Waits for a condition variable together with other processes.
    pub(crate) fn wait_shared(
        &mut self,
        condition: usize,
        mutex: usize,
        deadline: Deadline,
        code: usize,
    ) -> usize {
        // A lock that nests is given up by one level only, as libc does.
        let depth = self.depth(mutex).min(1);
        for _ in 0..depth {
            self.released(mutex, code);
        }
        self.may_end_by_itself(code);
        // It is given up in there; whoever looks before that waits for the real one.
        self.wake(key::of(key::LOCK, mutex), true);
        let result = if deadline == Deadline::Never {
            self.elsewhere(|| real::pthread_cond_wait(condition, mutex))
        } else {
            let clock = if flags(condition) & EVEN_CLOCK != 0 { MONOTONIC } else { WALL };
            let time = real_time(clock, deadline);
            self.elsewhere(|| real::pthread_cond_timedwait(condition, mutex, &raw const time as usize))
        };
        self.condition_event(Op::Wait, condition, code);
        if result == ETIMEDOUT as usize {
            self.deadline_passed(code);
        }
        for _ in 0..depth {
            self.acquired(mutex, Hold::Exclusive, false, code);
        }
        result
    }

    /// What was recorded of a semaphore's value.
    fn tokens(&mut self, semaphore: usize) -> Option<&mut u64> {
        self.core().numbers.entry(About::Semaphore, semaphore)
    }

    /// A semaphore begins with so many.
    pub(crate) fn has_tokens(&mut self, semaphore: usize, value: u64) {
        if let Some(tokens) = self.tokens(semaphore) {
            *tokens = value;
        }
    }

    /// A semaphore that no other process uses has this value. Where that is not what was recorded of it, a thread that is not recorded has
    /// posted or taken; what that one does is ordered like all that nobody knows.
    pub(crate) fn has_value(&mut self, semaphore: usize, value: u64, code: usize) {
        if self.core().numbers.get(About::Semaphore, semaphore).is_some_and(|known| *known != value) {
            self.changes_state(State::Outside.variable(0), code);
            self.stand_in(Op::AtomicWrite, semaphore, stands_for::SEMAPHORE, code, (0, value));
            self.has_tokens(semaphore, value);
        }
    }

    /// Takes from a semaphore that other processes may post to. What they do is not seen: where there is nothing to take, as
    /// recorded, somebody else has posted.
    pub(crate) fn take_shared(&mut self, semaphore: usize, deadline: Deadline, code: usize) -> usize {
        let tried = real::sem_trywait(semaphore) as i32 == 0;
        let result = match deadline {
            _ if tried => 0,
            Deadline::Now => fail(EAGAIN),
            Deadline::Never => self.elsewhere(|| real::sem_wait(semaphore)),
            Deadline::At(_) => {
                let time = real_time(WALL, deadline);
                self.elsewhere(|| real::sem_timedwait(semaphore, &raw const time as usize))
            }
        };
        let before = self.tokens(semaphore).map_or(0, |tokens| *tokens);
        if result as i32 == 0 {
            if before == 0 {
                self.stand_in(Op::AtomicWrite, semaphore, stands_for::SEMAPHORE, code, (0, 1));
            }
            let before = before.max(1);
            self.has_tokens(semaphore, before - 1);
            self.stand_in(Op::Update, semaphore, stands_for::SEMAPHORE, code, (before, before - 1));
        } else if [EAGAIN, ETIMEDOUT].contains(&crate::libc::rendezvous::error()) {
            if deadline != Deadline::Now {
                self.deadline_passed(code);
            }
            self.in_vain(semaphore, stands_for::SEMAPHORE, code, before);
        }
        result
    }

    /// Posts to such a semaphore.
    pub(crate) fn post_shared(&mut self, semaphore: usize, code: usize) -> usize {
        let result = real::sem_post(semaphore);
        if result as i32 == 0 {
            let before = self.tokens(semaphore).map_or(0, |tokens| *tokens);
            self.has_tokens(semaphore, before + 1);
            self.stand_in(Op::Update, semaphore, stands_for::SEMAPHORE, code, (before, before + 1));
        }
        result
    }
}
