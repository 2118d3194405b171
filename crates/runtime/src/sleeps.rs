//! Calls that wait for a time to pass: sleeps, and waits for descriptors that have a limit.

use crate::clock;
use crate::export::export;
use crate::meet::fail;
use crate::real;
use crate::recording::Inside;
use crate::sched::{Wake, key};
use crate::sys::{self, Time};
use crate::time::Deadline;

const EINTR: i32 = 4;

/// Sleeps until a deadline, as the scheduler counts; how much of it was left, or none where the thread is not recorded.
fn sleep(deadline: impl FnOnce() -> Deadline) -> Option<u64> {
    let mut inside = Inside::enter()?;
    inside.settle();
    let deadline = deadline().number();
    loop {
        let wake = inside.block(key::of(key::SLEEP, 0), deadline);
        inside.end_if_cancelled();
        match wake {
            Wake::TimedOut => return Some(0),
            Wake::Signal => return Some(deadline.saturating_sub(clock::now()).max(1)),
            Wake::Woken => {}
        }
    }
}

extern "C" fn nanosleep(time: *const Time, left: *mut Time) -> usize {
    // SAFETY: the program passes the address of a time.
    let nanos = unsafe { time.read() }.nanos();
    match sleep(|| Deadline::after(nanos)) {
        Some(0) => 0,
        Some(rest) => {
            // SAFETY: a null, or where the program wants it.
            if let Some(left) = unsafe { left.as_mut() } {
                *left = Time::from_nanos(rest);
            }
            fail(EINTR)
        }
        None => {
            let result = sys::call6(35, [time as usize, left as usize, 0, 0, 0, 0]);
            if result < 0 { fail(-result as i32) } else { 0 }
        }
    }
}

extern "C" fn clock_nanosleep(clock: usize, flags: usize, time: *const Time, left: *mut Time) -> usize {
    const ABSOLUTE: usize = 1;
    // SAFETY: the program passes the address of a time.
    let nanos = unsafe { time.read() }.nanos();
    let absolute = flags & ABSOLUTE != 0;
    let deadline = || if absolute { Deadline::of(clock, time as usize) } else { Deadline::after(nanos) };
    match sleep(deadline) {
        Some(0) => 0,
        Some(rest) => {
            // SAFETY: a null, or where the program wants it.
            if let Some(left) = unsafe { left.as_mut() }.filter(|_| !absolute) {
                *left = Time::from_nanos(rest);
            }
            EINTR as usize
        }
        None => -sys::call6(230, [clock, flags, time as usize, left as usize, 0, 0]) as usize,
    }
}

extern "C" fn usleep(micros: u32) -> usize {
    let time = Time::from_nanos(u64::from(micros) * 1_000);
    nanosleep(&raw const time, core::ptr::null_mut())
}

extern "C" fn sleep_seconds(seconds: u32) -> usize {
    let time = Time::from_nanos(u64::from(seconds) * 1_000_000_000);
    let mut left = Time::default();
    match nanosleep(&raw const time, &raw mut left) {
        0 => 0,
        _ => left.nanos().div_ceil(1_000_000_000) as usize,
    }
}

extern "C" fn thrd_sleep(time: *const Time, left: *mut Time) -> usize {
    nanosleep(time, left)
}

/// Waits for descriptors, which are the outside's business. Where there are none, it is a sleep.
fn waits(time: Option<u64>, none: bool, code: usize, call: impl FnOnce() -> usize) -> usize {
    if let Some(nanos) = time.filter(|_| none)
        && let Some(left) = sleep(|| Deadline::after(nanos))
    {
        return if left == 0 { 0 } else { fail(EINTR) };
    }
    match Inside::enter() {
        Some(mut inside) => {
            inside.settle();
            inside.passes(code);
            inside.elsewhere_within(time, call)
        }
        None => call(),
    }
}

/// The same for a set of descriptors, which something may have been sent to.
fn waits_for_set(set: usize, time: Option<u64>, code: usize, call: impl FnOnce() -> usize) -> usize {
    match Inside::enter() {
        Some(mut inside) => {
            inside.settle();
            let result = inside.elsewhere_within(time, call);
            if result as i32 > 0 {
                inside.receives(set, code);
            }
            result
        }
        None => call(),
    }
}

/// A limit in milliseconds, of which those below zero are none.
fn millis(time: usize) -> Option<u64> {
    u64::try_from(time as i32).ok().map(|time| time * 1_000_000)
}

/// The time at an address, in nanoseconds; none at a null.
fn nanos(time: usize) -> Option<u64> {
    // SAFETY: a null, or the address of a time.
    unsafe { (time as *const Time).as_ref() }.map(|time| time.nanos())
}

/// The same where its second word has microseconds.
fn micros(time: usize) -> Option<u64> {
    // SAFETY: as above.
    let time = unsafe { (time as *const Time).as_ref() }?;
    Some(Time { nanoseconds: time.nanoseconds.saturating_mul(1_000), ..*time }.nanos())
}

extern "C" fn poll(files: usize, count: usize, time: usize, code: usize) -> usize {
    waits(millis(time), count == 0, code, || real::poll(files, count, time))
}

extern "C" fn ppoll(files: usize, count: usize, time: usize, mask: usize, code: usize) -> usize {
    waits(nanos(time), count == 0 && mask == 0, code, || real::ppoll(files, count, time, mask))
}

extern "C" fn select(
    count: usize,
    read: usize,
    write: usize,
    except: usize,
    time: usize,
    code: usize,
) -> usize {
    let none = count as i32 == 0 || [read, write, except] == [0; 3];
    waits(micros(time), none, code, || real::select(count, read, write, except, time))
}

extern "C" fn pselect(
    count: usize,
    read: usize,
    write: usize,
    except: usize,
    time: usize,
    mask: usize,
) -> usize {
    let none = mask == 0 && (count as i32 == 0 || [read, write, except] == [0; 3]);
    waits(nanos(time), none, 0, || real::pselect(count, read, write, except, time, mask))
}

extern "C" fn epoll_wait(file: usize, events: usize, count: usize, time: usize, code: usize) -> usize {
    waits_for_set(file, millis(time), code, || real::epoll_wait(file, events, count, time))
}

extern "C" fn epoll_pwait(
    file: usize,
    events: usize,
    count: usize,
    time: usize,
    mask: usize,
    code: usize,
) -> usize {
    waits_for_set(file, millis(time), code, || real::epoll_pwait(file, events, count, time, mask))
}

export! {
    nanosleep(2) => nanosleep;
    clock_nanosleep(4) => clock_nanosleep;
    usleep(1) => usleep;
    sleep(1) => sleep_seconds;
    thrd_sleep(2) => thrd_sleep;
    poll(3) => poll;
    ppoll(4) => ppoll;
    select(5) => select;
    pselect(6) => pselect;
    epoll_wait(4) => epoll_wait;
    epoll_pwait(5) => epoll_pwait;
}
