//! Calls that wait for state outside of memory: locks of files, signals, children.
//!
//! They are made so that they do not block, with the baton, and again when the state has changed: then who gets what is recorded
//! in the order in which it happened. Another process may change it, too, so a thread looks again after a while.

use core::sync::atomic::Ordering::Relaxed;

use reweave_wire::outside::State;

use crate::abi::access::load;
use crate::abi::export::export;
use crate::libc::channels;
use crate::libc::outside::How;
use crate::libc::real;
use crate::libc::rendezvous::{EAGAIN, ETIMEDOUT, error, fail};
use crate::record::recording::Inside;
use crate::sched::baton::{Wake, key};
use crate::sched::policy::Step;
use crate::sched::time::Deadline;
use crate::sys::Time;

const EINTR: i32 = 4;
const EACCES: i32 = 13;
const EWOULDBLOCK: i32 = 11;
/// How long a thread waits before it looks again by itself, in nanoseconds.
const PATIENCE: u64 = 10_000_000;
/// What counts as never, but is a deadline: somebody outside may send a signal.
const FOR_EVER: u64 = 1 << 60;

pub(crate) fn begin(code: usize) -> Option<Inside> {
    let mut inside = Inside::enter()?;
    inside.settle();
    inside.point(Step::Sync, code);
    Some(inside)
}

impl Inside {
    /// Tries until the attempt does not say that it would block, the time is up, or a signal comes. `None` where it was in vain.
    pub(crate) fn persist(
        &mut self,
        variable: u64,
        deadline: Deadline,
        attempt: impl Fn() -> Option<usize>,
    ) -> Result<usize, i32> {
        loop {
            if let Some(result) = attempt() {
                return Ok(result);
            }
            let (now, until) = (crate::sched::clock::now(), deadline.number());
            if deadline != Deadline::Never && until <= now {
                return Err(ETIMEDOUT);
            }
            let look = Deadline::after(PATIENCE).number();
            let until = if deadline == Deadline::Never { look } else { look.min(until) };
            self.me.interrupted.store(false, Relaxed);
            let wake = self.block(key::of(key::OUTSIDE, variable as usize), until);
            self.end_if_cancelled();
            if wake == Wake::Signal && self.me.interrupted.load(Relaxed) {
                return Err(EINTR);
            }
        }
    }
}

/// The result, unless the call failed because it would have had to wait.
pub(crate) fn unless(errors: &[i32], result: usize) -> Option<usize> {
    (result as i32 != -1 || !errors.contains(&error())).then_some(result)
}

/// A call on the variable of a file or queue that would block, but is made so that it does not.
fn on_file(
    file: usize,
    code: usize,
    attempt: impl Fn() -> Option<usize>,
    plain: impl FnOnce() -> usize,
) -> usize {
    let Some(mut inside) = begin(code) else { return plain() };
    let Some(variable) = inside.file_variable(file) else { return plain() };
    match inside.persist(variable, Deadline::Never, attempt) {
        Ok(result) => {
            inside.changes_state(variable, code);
            result
        }
        Err(error) => fail(error),
    }
}

pub(crate) extern "C" fn flock(file: usize, operation: usize, code: usize) -> usize {
    const NONBLOCK: usize = 4;
    let attempt = || {
        let result = real::flock(file, operation | NONBLOCK);
        if operation & NONBLOCK != 0 { Some(result) } else { unless(&[EWOULDBLOCK], result) }
    };
    on_file(file, code, attempt, || real::flock(file, operation))
}

extern "C" fn lockf(file: usize, command: usize, length: usize, code: usize) -> usize {
    const LOCK: usize = 1;
    const TRY: usize = 2;
    let attempt = || match command as u32 as usize {
        LOCK => unless(&[EAGAIN, EACCES], real::lockf(file, TRY, length)),
        _ => Some(real::lockf(file, command, length)),
    };
    on_file(file, code, attempt, || real::lockf(file, command, length))
}

pub(crate) extern "C" fn fcntl(file: usize, command: usize, argument: usize, code: usize) -> usize {
    const DUPLICATES: [usize; 2] = [0, 1030];
    const LOOKS: [usize; 6] = [1, 3, 5, 9, 36, 1032];
    const LOCKS: [usize; 2] = [6, 37];
    const WAITS: [usize; 2] = [7, 38];
    let plain = || real::fcntl(file, command, argument);
    let command_number = command as u32 as usize;
    if WAITS.contains(&command_number) {
        let attempt = || unless(&[EAGAIN, EACCES], real::fcntl(file, command_number - 1, argument));
        return on_file(file, code, attempt, plain);
    }
    if LOCKS.contains(&command_number) {
        return on_file(file, code, || Some(plain()), plain);
    }
    if let Some(mut inside) = begin(code) {
        if DUPLICATES.contains(&command_number) {
            inside.opens(code);
        } else {
            let how = if LOOKS.contains(&command_number) { How::Looks } else { How::Changes };
            inside.uses_file(how, file, code);
        }
    }
    let result = plain();
    if DUPLICATES.contains(&command_number) { channels::leads(result, code) } else { result }
}

/// A time that has passed: who waits until then does not wait.
static PAST: Time = Time { seconds: 0, nanoseconds: 0 };

pub(crate) fn past() -> usize {
    &raw const PAST as usize
}

/// Records that libc wrote for the program.
pub(crate) fn written(at: usize, length: usize, code: usize) {
    if at != 0
        && let Some(mut inside) = Inside::enter()
    {
        inside.settle();
        inside.written(at, length, code);
    }
}

/// Waits for a signal of a set; the result is its number, or what the call fails with.
fn awaits_signal(set: usize, info: usize, deadline: Deadline, code: usize) -> Option<Result<usize, i32>> {
    let mut inside = begin(code)?;
    let variable = State::Signals.variable(0);
    let attempt = || unless(&[EAGAIN], real::sigtimedwait(set, info, past()));
    let result = inside.persist(variable, deadline, attempt);
    if result == Err(ETIMEDOUT) {
        inside.deadline_passed(code);
    }
    inside.uses(if result.is_ok() { How::Changes } else { How::Looks }, variable, code);
    Some(result)
}

extern "C" fn sigwait(set: usize, signal: usize, code: usize) -> usize {
    let result = loop {
        match awaits_signal(set, 0, Deadline::Never, code) {
            None => return real::sigwait(set, signal),
            Some(Err(EINTR)) => {}
            Some(result) => break result,
        }
    };
    match result {
        Ok(number) if number as i32 > 0 => {
            // SAFETY: the program passes where it wants the number.
            unsafe { (signal as *mut i32).write(number as i32) };
            written(signal, 4, code);
            0
        }
        _ => error() as usize,
    }
}

fn sigwait_with(
    set: usize,
    info: usize,
    deadline: Deadline,
    code: usize,
    plain: impl FnOnce() -> usize,
) -> usize {
    match awaits_signal(set, info, deadline, code) {
        None => plain(),
        Some(Ok(number)) => {
            written(info, if number as i32 > 0 { 128 } else { 0 }, code);
            number
        }
        Some(Err(ETIMEDOUT)) => fail(EAGAIN),
        Some(Err(error)) => fail(error),
    }
}

extern "C" fn sigwaitinfo(set: usize, info: usize, code: usize) -> usize {
    sigwait_with(set, info, Deadline::Never, code, || real::sigwaitinfo(set, info))
}

extern "C" fn sigtimedwait(set: usize, info: usize, time: usize, code: usize) -> usize {
    // SAFETY: a null, or the address of a time.
    let limit = unsafe { (time as *const Time).as_ref() }.map(|time| time.nanos());
    let deadline = limit.map_or(Deadline::Never, Deadline::after);
    sigwait_with(set, info, deadline, code, || real::sigtimedwait(set, info, time))
}

pub(crate) extern "C" fn pause(code: usize) -> usize {
    let Some(mut inside) = begin(code) else { return real::pause() };
    loop {
        let wake = inside.block(key::of(key::SLEEP, 0), Deadline::after(FOR_EVER).number());
        inside.end_if_cancelled();
        if wake == Wake::Signal {
            return fail(EINTR);
        }
    }
}

/// Waits for a child. `attempt` does not block, and has a result only if there was one, or an error; `kind` and `process` say to
/// the kernel which one is awaited.
fn awaits_child(
    (kind, process): (usize, usize),
    options: usize,
    code: usize,
    attempt: impl Fn() -> Option<usize>,
    plain: impl FnOnce() -> usize,
) -> usize {
    const NOHANG: usize = 1;
    const EXITED: usize = 4;
    const NOWAIT: usize = 0x0100_0000;
    let Some(mut inside) = begin(code) else { return plain() };
    let variable = State::Children.variable(0);
    loop {
        if let Some(result) = attempt() {
            inside.uses(if result as i32 == -1 { How::Looks } else { How::Changes }, variable, code);
            return result;
        }
        if options & NOHANG != 0 {
            inside.looks_at_state(variable, code);
            return 0;
        }
        let mut info = [0u64; 16];
        inside.me.interrupted.store(false, Relaxed);
        let kinds = options & 0xFFFF | EXITED | NOWAIT;
        inside.elsewhere(|| real::waitid(kind, process, &raw mut info as usize, kinds));
        if inside.me.interrupted.load(Relaxed) {
            return fail(EINTR);
        }
    }
}

/// Which children a number stands for.
fn which(process: usize) -> (usize, usize) {
    match process as i32 {
        -1 => (0, 0),
        0 => (2, 0),
        number if number < 0 => (2, -number as usize),
        number => (1, number as usize),
    }
}

pub(crate) extern "C" fn wait4(
    process: usize,
    status: usize,
    options: usize,
    usage: usize,
    code: usize,
) -> usize {
    let attempt = || {
        let result = real::wait4(process, status, options | 1, usage);
        (result as i32 != 0).then_some(result)
    };
    let plain = || real::wait4(process, status, options, usage);
    let result = awaits_child(which(process), options, code, attempt, plain);
    if result as i32 > 0 {
        written(status, 4, code);
    }
    result
}

extern "C" fn wait3(status: usize, options: usize, usage: usize, code: usize) -> usize {
    wait4(usize::MAX, status, options, usage, code)
}

extern "C" fn waitpid(process: usize, status: usize, options: usize, code: usize) -> usize {
    wait4(process, status, options, 0, code)
}

extern "C" fn wait(status: usize, code: usize) -> usize {
    wait4(usize::MAX, status, 0, 0, code)
}

pub(crate) extern "C" fn waitid(
    kind: usize,
    process: usize,
    info: usize,
    options: usize,
    code: usize,
) -> usize {
    const PID: usize = 16;
    let mut own = [0u64; 16];
    let there = if info == 0 { &raw mut own as usize } else { info };
    let attempt = || {
        // SAFETY: where the kernel writes the number of the child; it leaves it alone where there is none.
        unsafe { ((there + PID) as *mut i32).write(0) };
        let result = real::waitid(kind, process, there, options | 1);
        (result as i32 != 0 || load(there + PID, 4) != 0).then_some(result)
    };
    let plain = || real::waitid(kind, process, info, options);
    let result = awaits_child((kind, process), options, code, attempt, plain);
    if result as i32 == 0 {
        written(info, 128, code);
    }
    result
}

export! {
    flock(2) => flock;
    lockf(3) => lockf;
    lockf64(3) => lockf;
    fcntl(3) => fcntl;
    fcntl64(3) => fcntl;
    __fcntl(3) => fcntl;
    sigwait(2) => sigwait;
    sigwaitinfo(2) => sigwaitinfo;
    sigtimedwait(3) => sigtimedwait;
    pause(0) => pause;
    wait(1) => wait;
    __wait(1) => wait;
    __waitpid(3) => waitpid;
    waitpid(3) => waitpid;
    wait3(3) => wait3;
    wait4(4) => wait4;
    waitid(4) => waitid;
}
