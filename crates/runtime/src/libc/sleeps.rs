//! Calls that wait for a time to pass: sleeps, and waits for descriptors that have a limit.

use reweave_wire::outside::State;

use crate::abi::export::export;
use crate::libc::outside::How;
use crate::libc::real;
use crate::libc::rendezvous::fail;
use crate::record::recording::Inside;
use crate::sched::baton::{Wake, key};
use crate::sched::clock;
use crate::sched::policy::Step;
use crate::sched::time::Deadline;
use crate::sys::{self, Time};

const EINTR: i32 = 4;

/// Sleeps until a deadline, as the scheduler counts; how much of it was left, or none where the thread is not recorded.
fn sleep(deadline: impl FnOnce() -> Deadline, code: usize) -> Option<u64> {
    let mut inside = Inside::enter()?;
    inside.settle();
    let deadline = deadline().number();
    loop {
        let wake = inside.block(key::of(key::SLEEP, 0), deadline);
        inside.end_if_cancelled();
        match wake {
            Wake::TimedOut => {
                inside.deadline_passed(code);
                return Some(0);
            }
            Wake::Signal => return Some(deadline.saturating_sub(clock::now()).max(1)),
            Wake::Woken => {}
        }
    }
}

pub(crate) extern "C" fn nanosleep(time: *const Time, left: *mut Time, code: usize) -> usize {
    // SAFETY: the program passes the address of a time.
    let nanos = unsafe { time.read() }.nanos();
    match sleep(|| Deadline::after(nanos), code) {
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

pub(crate) extern "C" fn clock_nanosleep(
    clock: usize,
    flags: usize,
    time: *const Time,
    left: *mut Time,
    code: usize,
) -> usize {
    const ABSOLUTE: usize = 1;
    // SAFETY: the program passes the address of a time.
    let nanos = unsafe { time.read() }.nanos();
    let absolute = flags & ABSOLUTE != 0;
    let deadline = || if absolute { Deadline::of(clock, time as usize) } else { Deadline::after(nanos) };
    match sleep(deadline, code) {
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

extern "C" fn usleep(micros: u32, code: usize) -> usize {
    let time = Time::from_nanos(u64::from(micros) * 1_000);
    nanosleep(&raw const time, core::ptr::null_mut(), code)
}

extern "C" fn sleep_seconds(seconds: u32, code: usize) -> usize {
    let time = Time::from_nanos(u64::from(seconds) * 1_000_000_000);
    let mut left = Time::default();
    match nanosleep(&raw const time, &raw mut left, code) {
        0 => 0,
        _ => left.nanos().div_ceil(1_000_000_000) as usize,
    }
}

extern "C" fn thrd_sleep(time: *const Time, left: *mut Time, code: usize) -> usize {
    nanosleep(time, left, code)
}

/// Waits until a call that does not block has a result: `attempt` is made with the baton, so that what it finds is what is recorded,
/// and `wait` without it, for so many nanoseconds. `looks` records what the result depends on. Where there is nothing
/// to wait for, it is a sleep.
fn waits(
    time: Option<u64>,
    none: bool,
    code: usize,
    attempt: impl Fn() -> usize,
    wait: impl Fn(Option<u64>) -> usize,
    looks: impl Fn(&mut Inside, usize),
) -> usize {
    if let Some(nanos) = time.filter(|_| none)
        && let Some(left) = sleep(|| Deadline::after(nanos), code)
    {
        return if left == 0 { 0 } else { fail(EINTR) };
    }
    let Some(mut inside) = Inside::enter() else {
        return if wait(time) as i32 == -1 { usize::MAX } else { attempt() };
    };
    inside.settle();
    inside.point(Step::Sync, code);
    let until = time.map(|time| clock::now().saturating_add(time));
    loop {
        let result = attempt();
        let left = until.map(|until| until.saturating_sub(clock::now()));
        if result as i32 != 0 || left == Some(0) {
            if result as i32 == 0 && time != Some(0) {
                inside.deadline_passed(code);
            }
            looks(&mut inside, result);
            return result;
        }
        inside.passes(code);
        if inside.elsewhere_within(left, || wait(left)) as i32 == -1 {
            return usize::MAX;
        }
    }
}

/// What is waited for with a mask of signals, which must not be set apart from the wait.
fn waits_masked(
    time: Option<u64>,
    code: usize,
    call: impl FnOnce() -> usize,
    looks: impl Fn(&mut Inside, usize),
) -> usize {
    let Some(mut inside) = Inside::enter() else { return call() };
    inside.settle();
    inside.passes(code);
    let result = inside.elsewhere_within(time, call);
    if result as i32 == 0 && time.is_some_and(|time| time > 0) {
        inside.deadline_passed(code);
    }
    looks(&mut inside, result);
    result
}

/// The time of a wait for system calls; nothing where there is none.
struct Limit(Option<Time>);

impl Limit {
    fn new(nanos: Option<u64>) -> Limit {
        Limit(nanos.map(Time::from_nanos))
    }

    fn at(&self) -> usize {
        self.0.as_ref().map_or(0, |time| core::ptr::from_ref(time) as usize)
    }
}

/// A wait for descriptors, as [`waits`] makes it.
fn polls(files: usize, count: usize, nanos: Option<u64>) -> usize {
    real::ppoll(files, count, Limit::new(nanos).at(), 0)
}

impl Inside {
    /// Records that a call depends on what is in the files of an array of `poll`.
    fn looks_at_files(&mut self, files: usize, count: usize, code: usize) {
        for place in 0..count.min(MOST_FILES) {
            let file = crate::abi::access::load(files + 8 * place, 4) as i32;
            if let Ok(file) = usize::try_from(file) {
                self.uses_contents(How::Looks, file, code);
            }
        }
    }

    /// The same for those of sets as `select` has them.
    fn looks_at_sets(&mut self, sets: &[Set; 3], code: usize) {
        for file in 0..MOST_FILES {
            if sets.iter().any(|set| set.0[file / 64] >> (file % 64) & 1 != 0) {
                self.uses_contents(How::Looks, file, code);
            }
        }
    }
}

/// The most descriptors in a set of `select`, and that are looked at.
const MOST_FILES: usize = 1024;

/// A set of descriptors.
#[derive(Clone, Copy)]
struct Set([u64; MOST_FILES / 64]);

impl Set {
    /// The set at an address, as far as there are so many descriptors; empty at a null.
    fn read(at: usize, count: usize) -> Set {
        let mut set = Set([0; MOST_FILES / 64]);
        if at != 0 {
            for (place, word) in set.0.iter_mut().enumerate().take(count.min(MOST_FILES).div_ceil(64)) {
                *word = crate::abi::access::load(at + 8 * place, 8);
            }
        }
        set
    }

    fn write(&self, at: usize, count: usize) {
        if at != 0 {
            for (place, word) in self.0.iter().enumerate().take(count.min(MOST_FILES).div_ceil(64)) {
                // SAFETY: the program passes where a set of so many is.
                unsafe { ((at + 8 * place) as *mut u64).write_unaligned(*word) };
            }
        }
    }
}

/// `select` on copies of the sets.
fn selects(count: usize, sets: &[Set; 3], present: [bool; 3], nanos: Option<u64>) -> (usize, [Set; 3]) {
    let mut copies = *sets;
    let limit = Limit::new(nanos);
    let [a, b, c] = &mut copies;
    let at = |set: &mut Set, there: bool| if there { core::ptr::from_mut(set) as usize } else { 0 };
    let result = real::pselect(count, at(a, present[0]), at(b, present[1]), at(c, present[2]), limit.at(), 0);
    (result, copies)
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

pub(crate) extern "C" fn poll(files: usize, count: usize, time: usize, code: usize) -> usize {
    polls_for(files, count, millis(time), code)
}

fn polls_for(files: usize, count: usize, time: Option<u64>, code: usize) -> usize {
    waits(
        time,
        count == 0,
        code,
        || polls(files, count, Some(0)),
        |left| polls(files, count, left),
        |inside, _| inside.looks_at_files(files, count, code),
    )
}

pub(crate) extern "C" fn ppoll(files: usize, count: usize, time: usize, mask: usize, code: usize) -> usize {
    if mask == 0 {
        return polls_for(files, count, nanos(time), code);
    }
    let looks = |inside: &mut Inside, _| inside.looks_at_files(files, count, code);
    waits_masked(nanos(time), code, || real::ppoll(files, count, time, mask), looks)
}

pub(crate) extern "C" fn select(
    count: usize,
    read: usize,
    write: usize,
    except: usize,
    time: usize,
    code: usize,
) -> usize {
    selects_from(count, [read, write, except], micros(time), code)
}

fn selects_from(count: usize, at: [usize; 3], time: Option<u64>, code: usize) -> usize {
    let number = count as i32 as usize;
    let none = count as i32 == 0 || at == [0; 3];
    let (sets, present) = (at.map(|at| Set::read(at, number)), at.map(|at| at != 0));
    let attempt = || {
        let (result, found) = selects(count, &sets, present, Some(0));
        if result as i32 >= 0 {
            found.iter().zip(at).for_each(|(set, at)| set.write(at, number));
        }
        result
    };
    let wait = |left| {
        let (result, found) = selects(count, &sets, present, left);
        if result as i32 >= 0 {
            found.iter().zip(at).for_each(|(set, at)| set.write(at, number));
        }
        result
    };
    waits(time, none, code, attempt, wait, |inside, _| inside.looks_at_sets(&sets, code))
}

extern "C" fn pselect(
    count: usize,
    read: usize,
    write: usize,
    except: usize,
    time: usize,
    mask: usize,
) -> usize {
    let at = [read, write, except];
    if mask == 0 {
        return selects_from(count, at, nanos(time), 0);
    }
    let sets = at.map(|at| Set::read(at, count as i32 as usize));
    let looks = |inside: &mut Inside, _| inside.looks_at_sets(&sets, 0);
    waits_masked(nanos(time), 0, || real::pselect(count, read, write, except, time, mask), looks)
}

/// What is ready of an epoll set may be told only once.
fn looks_at_epoll(inside: &mut Inside, result: usize, code: usize) {
    let how = if result as i32 > 0 { How::Changes } else { How::Looks };
    inside.uses(how, State::Sets.variable(0), code);
}

pub(crate) extern "C" fn epoll_wait(
    file: usize,
    events: usize,
    count: usize,
    time: usize,
    code: usize,
) -> usize {
    // A set is ready itself when something in it is.
    let mut set = [file as u32 as u64 | 1 << 32];
    let at = set.as_mut_ptr() as usize;
    let attempt = || real::epoll_wait(file, events, count, 0);
    let looks = |inside: &mut Inside, result| looks_at_epoll(inside, result, code);
    waits(millis(time), false, code, attempt, |left| polls(at, 1, left), looks)
}

pub(crate) extern "C" fn epoll_pwait(
    file: usize,
    events: usize,
    count: usize,
    time: usize,
    mask: usize,
    code: usize,
) -> usize {
    if mask == 0 {
        return epoll_wait(file, events, count, time, code);
    }
    let looks = |inside: &mut Inside, result| looks_at_epoll(inside, result, code);
    waits_masked(millis(time), code, || real::epoll_pwait(file, events, count, time, mask), looks)
}

export! {
    nanosleep(2) => nanosleep;
    __nanosleep(2) => nanosleep;
    clock_nanosleep(4) => clock_nanosleep;
    usleep(1) => usleep;
    sleep(1) => sleep_seconds;
    thrd_sleep(2) => thrd_sleep;
    poll(3) => poll;
    __poll(3) => poll;
    ppoll(4) => ppoll;
    select(5) => select;
    __select(5) => select;
    pselect(6) => pselect;
    epoll_wait(4) => epoll_wait;
    epoll_pwait(5) => epoll_pwait;
}
