//! Semaphores, barriers, one-time initialisation and futexes: recorded as atomic accesses to a variable that stands
//! for the thing, a send as an update, a receive as one that observes it.

use core::sync::atomic::AtomicU8;
use core::sync::atomic::Ordering::SeqCst;

use reweave_wire::Op;

use crate::access::load;
use crate::clock;
use crate::export::export;
use crate::policy::Step;
use crate::real;
use crate::recording::{Inside, stands_for};
use crate::sched::{Wake, key};
use crate::shared::{arrive_really, is_shared_barrier, is_shared_semaphore};
use crate::time::Deadline;

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

fn begin(code: usize) -> Option<Inside> {
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
    if is_shared_semaphore(semaphore) {
        let result = inside.take_shared(semaphore, deadline, code);
        inside.end_if_cancelled();
        return Some(result);
    }
    loop {
        let before = value(semaphore);
        if real::sem_trywait(semaphore) as i32 == 0 {
            let values = (before, before.wrapping_sub(1));
            inside.stand_in(Op::Update, semaphore, stands_for::SEMAPHORE, code, values);
            return Some(0);
        }
        if deadline == Deadline::Now {
            inside.stand_in(Op::AtomicRead, semaphore, stands_for::SEMAPHORE, code, (before, 0));
            return Some(fail(EAGAIN));
        }
        let wake = inside.block(key::of(key::SEMAPHORE, semaphore), deadline.number());
        inside.end_if_cancelled();
        match wake {
            Wake::Woken => {}
            Wake::Signal => return Some(fail(EINTR)),
            Wake::TimedOut if value(semaphore) > 0 => {}
            Wake::TimedOut => {
                inside.stand_in(Op::AtomicRead, semaphore, stands_for::SEMAPHORE, code, (0, 0));
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
    if is_shared_semaphore(semaphore) {
        return inside.post_shared(semaphore, code);
    }
    let before = value(semaphore);
    let result = real::sem_post(semaphore);
    if result as i32 == 0 {
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

/// The arrivals at a barrier and how many threads it takes, under two keys.
pub(crate) fn barrier_keys(barrier: usize) -> (u64, u64) {
    ((barrier as u64) << 5 | 28, (barrier as u64) << 5 | 29)
}

/// What `pthread_barrier_wait` says to one of the threads.
const SERIAL: usize = u32::MAX as usize;

extern "C" fn barrier_init(barrier: usize, attributes: usize, count: usize, code: usize) -> usize {
    let result = real::pthread_barrier_init(barrier, attributes, count);
    if result as i32 == 0
        && let Some(mut inside) = begin(code)
    {
        let (arrived, size) = barrier_keys(barrier);
        if let Some(room) = inside.core().counters.entry(size) {
            // Who arrives at one that other processes use is not all seen.
            *room = if is_shared_barrier(attributes) { 0 } else { count as u64 & 0xFFFF_FFFF };
        }
        if let Some(room) = inside.core().counters.entry(arrived) {
            *room = 0;
        }
        inside.stand_in(Op::AtomicWrite, barrier, stands_for::BARRIER, code, (0, 0));
    }
    result
}

extern "C" fn barrier_wait(barrier: usize, code: usize) -> usize {
    let (_, size) = barrier_keys(barrier);
    let Some(mut inside) = begin(code) else { return real::pthread_barrier_wait(barrier) };
    let size = inside.core().counters.get(size).map_or(0, |size| *size);
    if size == 0 {
        return arrive_really(&mut inside, barrier, code);
    }
    arrive(&mut inside, barrier, size, code)
}

/// Records an arrival at a barrier; how many there were before.
pub(crate) fn arrival(inside: &mut Inside, barrier: usize, code: usize) -> u64 {
    let (arrivals, _) = barrier_keys(barrier);
    let before = inside.core().counters.entry(arrivals).map_or(0, |count| {
        *count += 1;
        *count - 1
    });
    inside.stand_in(Op::Update, barrier, stands_for::BARRIER, code, (before, before + 1));
    before
}

/// Arrives at a barrier of this size, and waits for the others.
pub(crate) fn arrive(inside: &mut Inside, barrier: usize, size: u64, code: usize) -> usize {
    let (arrivals, _) = barrier_keys(barrier);
    let arrived = arrival(inside, barrier, code) + 1;
    if arrived.is_multiple_of(size) {
        inside.wake(key::of(key::BARRIER, barrier), true);
        return SERIAL;
    }
    let round_ends = arrived.next_multiple_of(size);
    loop {
        let now = inside.core().counters.get(arrivals).map_or(0, |count| *count);
        if now >= round_ends {
            inside.stand_in(Op::AtomicRead, barrier, stands_for::BARRIER, code, (now, 0));
            return 0;
        }
        inside.block(key::of(key::BARRIER, barrier), 0);
    }
}

/// What the variable of a one-time initialisation goes through: as libc marks it, and as it is recorded.
pub(crate) mod once {
    pub(crate) const NEW: u64 = 0;
    pub(crate) const RUNS: u64 = 1;
    pub(crate) const DONE: u64 = 2;
}

/// The key of what was recorded of it.
pub(crate) fn once_key(control: usize) -> u64 {
    (control as u64) << 5 | 27
}

impl Inside {
    pub(crate) fn once_is(&mut self, control: usize, state: u64, code: usize) {
        if let Some(recorded) = self.core().counters.entry(once_key(control)) {
            *recorded = state;
        }
        self.stand_in(Op::AtomicWrite, control, stands_for::ONCE, code, (0, state));
    }
}

/// How long a thread waits before it looks again: an initialisation that throws tells nobody.
const ONCE_PATIENCE: u64 = 20_000_000;

pub(crate) extern "C" fn pthread_once(control: usize, function: usize, code: usize) -> usize {
    let Some(mut inside) = begin(code) else { return real::pthread_once(control, function) };
    loop {
        // Where threads run freely, libc's mark may be there before that was recorded.
        let recorded = inside.core().counters.entry(once_key(control)).map_or(0, |state| *state);
        match load(control, 4) {
            once::DONE if recorded != once::RUNS => {
                inside.stand_in(Op::AtomicRead, control, stands_for::ONCE, code, (once::DONE, 0));
                return 0;
            }
            once::NEW => break,
            _ => _ = inside.block(key::of(key::ONCE, control), Deadline::after(ONCE_PATIENCE).number()),
        }
    }
    inside.once_is(control, once::RUNS, code);
    drop(inside);
    real::pthread_once(control, function);
    // libc has marked it as done: nobody may see that before it is recorded.
    if let Some(mut inside) = Inside::enter() {
        inside.settle();
        inside.once_is(control, once::DONE, code);
        inside.wake(key::of(key::ONCE, control), true);
    }
    0
}

/// The first byte of the guard of a static variable of C++: the compiler's own code looks at it, too, atomically.
fn guard(at: usize) -> &'static AtomicU8 {
    // SAFETY: the compiler gives every guard eight bytes that live as long as the program.
    unsafe { &*(at as *const AtomicU8) }
}

/// The second byte, which belongs to the library: whether somebody initialises.
fn under_way(at: usize) -> &'static AtomicU8 {
    guard(at + 1)
}

extern "C" fn guard_acquire(at: usize, code: usize) -> usize {
    let mut inside = begin(code);
    loop {
        let done = guard(at).load(SeqCst);
        if let Some(inside) = &mut inside {
            inside.access(Op::AtomicRead, at, 1, code, (u64::from(done), 0));
        }
        if done != 0 {
            return 0;
        }
        if under_way(at).swap(1, SeqCst) == 0 {
            return 1;
        }
        match &mut inside {
            Some(inside) => _ = inside.block(key::of(key::ONCE, at), 0),
            None => _ = real::sched_yield(),
        }
    }
}

fn guard_end(at: usize, done: u8, code: usize) {
    let inside = begin(code);
    guard(at).store(done, SeqCst);
    under_way(at).store(0, SeqCst);
    if let Some(mut inside) = inside {
        inside.access(Op::AtomicWrite, at, 1, code, (0, u64::from(done)));
        inside.wake(key::of(key::ONCE, at), true);
    }
}

extern "C" fn guard_release(at: usize, code: usize) {
    guard_end(at, 1, code);
}

extern "C" fn guard_abort(at: usize, code: usize) {
    guard_end(at, 0, code);
}

/// `syscall`: futexes are modelled, anything else may take any time.
extern "C" fn syscall(number: usize, a: usize, b: usize, c: usize, d: usize, e: usize) -> usize {
    const FUTEX: usize = 202;
    match number {
        96 => return clock::gettimeofday(a, b),
        201 => return clock::time(a),
        228 => return clock::clock_gettime(a, b),
        _ => {}
    }
    let result = match begin(0) {
        None => crate::sys::call6(number, [a, b, c, d, e, 0]),
        Some(mut inside) if number == FUTEX => match b & 0x7F {
            0 | 9 => return futex_wait(&mut inside, a, c as u32, (b, d)),
            1 | 10 => {
                let woken = futex_wake(&mut inside, a, c);
                return woken;
            }
            _ => inside.elsewhere(|| crate::sys::call6(number, [a, b, c, d, e, 0]) as usize) as isize,
        },
        Some(mut inside) => {
            inside.elsewhere(|| crate::sys::call6(number, [a, b, c, d, e, 0]) as usize) as isize
        }
    };
    if (-4095..0).contains(&result) { fail(-result as i32) } else { result as usize }
}

fn futex_wait(inside: &mut Inside, at: usize, expected: u32, (how, time): (usize, usize)) -> usize {
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
    let sent = inside.core().counters.entry((at as u64) << 5 | stands_for::FUTEX).map_or(0, |count| *count);
    // An update, because a wait cannot come before what ended it.
    inside.stand_in(Op::Update, at, stands_for::FUTEX, 0, (sent, sent));
    match wake {
        Some(Wake::Woken) => 0,
        Some(Wake::TimedOut) => fail(ETIMEDOUT),
        Some(Wake::Signal) => fail(EINTR),
        None => fail(EAGAIN),
    }
}

fn futex_wake(inside: &mut Inside, at: usize, count: usize) -> usize {
    let sent = inside.core().counters.entry((at as u64) << 5 | stands_for::FUTEX).map_or(0, |sent| {
        *sent += 1;
        *sent
    });
    inside.stand_in(Op::Update, at, stands_for::FUTEX, 0, (sent - 1, sent));
    let key = key::of(key::FUTEX, at);
    if count >= i32::MAX as usize {
        return inside.wake(key, true);
    }
    (0..count.min(crate::thread::MAX_THREADS)).take_while(|_| inside.wake(key, false) > 0).count()
}

extern "C" fn call_once(control: usize, function: usize, code: usize) {
    pthread_once(control, function, code);
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
    pthread_once(2) => pthread_once;
    call_once(2) => call_once;
    __cxa_guard_acquire(1) => guard_acquire;
    __cxa_guard_release(1) => guard_release;
    __cxa_guard_abort(1) => guard_abort;
}

// Its arguments take all registers that a site could be passed in; what it is recorded with says so.
#[cfg(not(test))]
core::arch::global_asm!(
    ".text", ".balign 16", ".weak syscall", ".type syscall,@function", "syscall:", "jmp {function}",
    ".size syscall, . - syscall", function = sym syscall
);
#[cfg(test)]
const _: usize = {
    let _ = syscall;
    0
};
