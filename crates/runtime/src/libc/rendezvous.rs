//! Semaphores, barriers and futexes: recorded as atomic accesses to a variable that stands
//! for the thing, a send as an update, a receive as one that observes it.

use reweave_wire::{Life, Op};

use crate::abi::access::load;
use crate::abi::export::export;
use crate::libc::outside::given;
use crate::libc::real;
use crate::libc::shared::{arrive_really, is_shared_barrier, is_shared_semaphore};
use crate::record::numbers::About;
use crate::record::recording::{Inside, stands_for};
use crate::sched::baton::{Wake, key};
use crate::sched::policy::Step;
use crate::sched::time::Deadline;

pub(crate) const EAGAIN: i32 = 11;
const EINTR: i32 = 4;
pub(crate) const ETIMEDOUT: i32 = 110;
const FAILED: usize = usize::MAX;

unsafe extern "C" {
    fn __errno_location() -> *mut i32;
}

/// Fails as system calls do.
pub(crate) fn fail(error: i32) -> usize {
    // SAFETY: libc's own place for it, of this thread.
    unsafe { *__errno_location() = error };
    FAILED
}

/// What the last system call of this thread failed with.
pub(crate) fn error() -> i32 {
    // SAFETY: as above.
    unsafe { *__errno_location() }
}

pub(crate) fn begin(code: usize) -> Option<Inside> {
    let mut inside = Inside::enter()?;
    inside.settle();
    inside.point(Step::Sync, code);
    Some(inside)
}

fn value(semaphore: usize) -> u64 {
    let mut value = 0i32;
    real::sem_getvalue(semaphore, &raw mut value as usize);
    u64::try_from(value).unwrap_or(0)
}

fn sem_take(semaphore: usize, deadline: Deadline, code: usize) -> Option<usize> {
    let mut inside = begin(code)?;
    inside.uses_thing(Life::Semaphore, semaphore, code);
    if is_shared_semaphore(semaphore) {
        let result = inside.take_shared(semaphore, deadline, code);
        inside.end_if_cancelled();
        return Some(result);
    }
    loop {
        let before = value(semaphore);
        if real::sem_trywait(semaphore) as i32 == 0 {
            inside.has_value(semaphore, before, code);
            inside.has_tokens(semaphore, before.wrapping_sub(1));
            let values = (before, before.wrapping_sub(1));
            inside.stand_in(Op::Update, semaphore, stands_for::SEMAPHORE, code, values);
            if before <= 1 {
                inside.gone(key::of(key::SEMAPHORE, semaphore), |_| true);
            }
            return Some(0);
        }
        if deadline == Deadline::Now {
            inside.has_value(semaphore, before, code);
            inside.in_vain(semaphore, stands_for::SEMAPHORE, code, before);
            return Some(fail(EAGAIN));
        }
        let wake = inside.block(key::of(key::SEMAPHORE, semaphore), deadline.number());
        inside.end_if_cancelled();
        match wake {
            Wake::Woken => {}
            Wake::Signal => return Some(fail(EINTR)),
            Wake::TimedOut if value(semaphore) > 0 => {}
            Wake::TimedOut => {
                inside.has_value(semaphore, 0, code);
                inside.deadline_passed(code);
                inside.in_vain(semaphore, stands_for::SEMAPHORE, code, 0);
                return Some(fail(ETIMEDOUT));
            }
        }
    }
}

extern "C" fn sem_wait(semaphore: usize, code: usize) -> usize {
    sem_take(semaphore, Deadline::Never, code).unwrap_or_else(|| real::sem_wait(semaphore))
}

extern "C" fn sem_trywait(semaphore: usize, code: usize) -> usize {
    sem_take(semaphore, Deadline::Now, code).unwrap_or_else(|| real::sem_trywait(semaphore))
}

extern "C" fn sem_timedwait(semaphore: usize, time: usize, code: usize) -> usize {
    sem_take(semaphore, Deadline::wall(time), code).unwrap_or_else(|| real::sem_timedwait(semaphore, time))
}

extern "C" fn sem_clockwait(semaphore: usize, clock: usize, time: usize, code: usize) -> usize {
    sem_take(semaphore, Deadline::of(clock, time), code)
        .unwrap_or_else(|| real::sem_clockwait(semaphore, clock, time))
}

extern "C" fn sem_post(semaphore: usize, code: usize) -> usize {
    let Some(mut inside) = begin(code) else { return real::sem_post(semaphore) };
    inside.uses_thing(Life::Semaphore, semaphore, code);
    if is_shared_semaphore(semaphore) {
        return inside.post_shared(semaphore, code);
    }
    let before = value(semaphore);
    let result = real::sem_post(semaphore);
    if result as i32 == 0 {
        inside.has_value(semaphore, before, code);
        inside.has_tokens(semaphore, before + 1);
        inside.stand_in(Op::Update, semaphore, stands_for::SEMAPHORE, code, (before, before + 1));
        inside.wake(key::of(key::SEMAPHORE, semaphore), true);
    }
    result
}

extern "C" fn sem_init(semaphore: usize, shared: usize, value: usize, code: usize) -> usize {
    let result = real::sem_init(semaphore, shared, value);
    if let Some(mut inside) = begin(code) {
        inside.has_tokens(semaphore, value as u64 & 0xFFFF_FFFF);
        inside.stand_in(
            Op::AtomicWrite,
            semaphore,
            stands_for::SEMAPHORE,
            code,
            (0, value as u64 & 0xFFFF_FFFF),
        );
    }
    result
}

/// What `pthread_barrier_wait` says to one of the threads.
const SERIAL: usize = u32::MAX as usize;

extern "C" fn barrier_init(barrier: usize, attributes: usize, count: usize, code: usize) -> usize {
    given::gives_attributes(attributes, given::LOCK, code);
    let result = real::pthread_barrier_init(barrier, attributes, count);
    if result as i32 == 0
        && let Some(mut inside) = begin(code)
    {
        let count = count as u64 & 0xFFFF_FFFF;
        if let Some(room) = inside.core().numbers.entry(About::BarrierSize, barrier) {
            // Who arrives at one that other processes use is not all seen.
            *room = if is_shared_barrier(attributes) { 0 } else { count };
        }
        // Another barrier at this address goes on counting, so that no round of it is taken for one of the other.
        let first = inside.core().numbers.entry(About::Arrivals, barrier).map_or(0, |room| {
            *room = room.next_multiple_of(count.max(1));
            *room
        });
        inside.stand_in(Op::AtomicWrite, barrier, stands_for::BARRIER, code, (0, first));
        inside.stand_in(Op::AtomicWrite, barrier, stands_for::OPENING, code, (0, first));
    }
    result
}

extern "C" fn barrier_wait(barrier: usize, code: usize) -> usize {
    let Some(mut inside) = begin(code) else { return real::pthread_barrier_wait(barrier) };
    inside.uses_thing(Life::Barrier, barrier, code);
    let size = inside.core().numbers.get(About::BarrierSize, barrier).map_or(0, |size| *size);
    if size == 0 {
        return arrive_really(&mut inside, barrier, code);
    }
    arrive(&mut inside, barrier, size, code)
}

/// Records an arrival at a barrier; how many there were before.
pub(crate) fn arrival(inside: &mut Inside, barrier: usize, code: usize) -> u64 {
    let before = inside.core().numbers.entry(About::Arrivals, barrier).map_or(0, |count| {
        *count += 1;
        *count - 1
    });
    inside.stand_in(Op::Update, barrier, stands_for::BARRIER, code, (before, before + 1));
    before
}

/// Arrives at a barrier of this size, and waits for the others.
pub(crate) fn arrive(inside: &mut Inside, barrier: usize, size: u64, code: usize) -> usize {
    let arrived = arrival(inside, barrier, code) + 1;
    if arrived.is_multiple_of(size) {
        // Who leaves observes that it opened, and not who has arrived for the next round since.
        inside.stand_in(Op::Update, barrier, stands_for::OPENING, code, (arrived - size, arrived));
        inside.wake(key::of(key::BARRIER, barrier), true);
        return SERIAL;
    }
    let round_ends = arrived.next_multiple_of(size);
    loop {
        let now = inside.core().numbers.get(About::Arrivals, barrier).map_or(0, |count| *count);
        if now >= round_ends {
            let opened = now - now % size;
            inside.goes_on(barrier, stands_for::OPENING, code, opened);
            return 0;
        }
        inside.block(key::of(key::BARRIER, barrier), 0);
    }
}

/// Waits as a futex does.
pub(crate) fn futex_wait(
    inside: &mut Inside,
    at: usize,
    expected: u32,
    (how, time): (usize, usize),
    code: usize,
) -> usize {
    const ON_THE_WALL: usize = 0x100;
    let wake = if load(at, 4) as u32 == expected {
        let deadline = match (time, how & 0x7F) {
            (0, _) => Deadline::Never,
            (_, 9) if how & ON_THE_WALL != 0 => Deadline::wall(time),
            (_, 9) => Deadline::of(crate::sys::MONOTONIC, time),
            _ => {
                // SAFETY: the program passes the address of a time.
                Deadline::after(unsafe { (time as *const crate::sys::Time).read() }.nanos())
            }
        };
        Some(inside.block(key::of(key::FUTEX, at), deadline.number()))
    } else {
        None
    };
    if wake == Some(Wake::TimedOut) {
        inside.deadline_passed(code);
    }
    has_waited(inside, at, code);
    match wake {
        Some(Wake::Woken) => 0,
        Some(Wake::TimedOut) => fail(ETIMEDOUT),
        Some(Wake::Signal) => fail(EINTR),
        None => fail(EAGAIN),
    }
}

/// Records that the thread has waited there. An update, because a wait cannot come before what ended it.
pub(crate) fn has_waited(inside: &mut Inside, at: usize, code: usize) {
    let sent = inside.core().numbers.entry(About::Futex, at).map_or(0, |count| *count);
    inside.stand_in(Op::Update, at, stands_for::FUTEX, code, (sent, sent));
}

/// Wakes those that wait there.
pub(crate) fn futex_wake(inside: &mut Inside, at: usize, count: usize, code: usize) -> usize {
    let sent = inside.core().numbers.entry(About::Futex, at).map_or(0, |sent| {
        *sent += 1;
        *sent
    });
    inside.stand_in(Op::Update, at, stands_for::FUTEX, code, (sent - 1, sent));
    let key = key::of(key::FUTEX, at);
    if count >= i32::MAX as usize {
        return inside.wake(key, true);
    }
    (0..count.min(crate::sched::thread::MAX_THREADS)).take_while(|_| inside.wake(key, false) > 0).count()
}

export! {
    sem_wait(1) => sem_wait;
    sem_trywait(1) => sem_trywait;
    sem_timedwait(2) => sem_timedwait;
    sem_clockwait(3) => sem_clockwait;
    sem_post(1) => sem_post;
    sem_init(3) => sem_init;
    pthread_barrier_init(3) => barrier_init;
    pthread_barrier_wait(1) => barrier_wait;
}
