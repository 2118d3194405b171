//! Message queues and semaphores of System V and POSIX: all of them are one state.

use reweave_wire::Op;
use reweave_wire::outside::State;

use crate::abi::access::load;
use crate::abi::export::export;
use crate::libc::outside::How;
use crate::libc::outside::waits::{begin, past, unless, written};
use crate::libc::real;
use crate::libc::rendezvous::{EAGAIN, ETIMEDOUT, error, fail};
use crate::record::recording::stands_for;
use crate::sched::time::Deadline;
use crate::sys::Time;

const ENOMSG: i32 = 42;

/// A call on the queues of System V or POSIX.
fn on_queue(
    deadline: Deadline,
    code: usize,
    attempt: impl Fn() -> Option<usize>,
    plain: impl FnOnce() -> usize,
) -> usize {
    let Some(mut inside) = begin(code) else { return plain() };
    let variable = State::Ipc.variable(0);
    match inside.persist(variable, deadline, attempt) {
        Ok(result) => {
            inside.uses(if result as i32 == -1 { How::Looks } else { How::Changes }, variable, code);
            result
        }
        Err(error) => {
            if error == ETIMEDOUT {
                inside.deadline_passed(code);
            }
            inside.looks_at_state(variable, code);
            fail(error)
        }
    }
}

const NOWAIT: usize = 0o4_000;

pub(crate) extern "C" fn msgrcv(
    queue: usize,
    message: usize,
    size: usize,
    kind: usize,
    flags: usize,
    code: usize,
) -> usize {
    let attempt = || {
        let result = real::msgrcv(queue, message, size, kind, flags | NOWAIT);
        if flags & NOWAIT != 0 { Some(result) } else { unless(&[ENOMSG], result) }
    };
    let result = on_queue(Deadline::Never, code, attempt, || real::msgrcv(queue, message, size, kind, flags));
    if result as isize >= 0 {
        written(message, 8 + result, code);
    }
    result
}

pub(crate) extern "C" fn msgsnd(
    queue: usize,
    message: usize,
    size: usize,
    flags: usize,
    code: usize,
) -> usize {
    let attempt = || {
        let result = real::msgsnd(queue, message, size, flags | NOWAIT);
        if flags & NOWAIT != 0 { Some(result) } else { unless(&[EAGAIN], result) }
    };
    on_queue(Deadline::Never, code, attempt, || real::msgsnd(queue, message, size, flags))
}

/// The operations of `semop` that are made so that they do not block; 6 bytes each, the last two of which are flags.
const MOST: usize = 64;

fn operates(set: usize, operations: usize, count: usize, time: usize, code: usize) -> usize {
    let plain = || match time {
        0 => real::semop(set, operations, count),
        _ => real::semtimedop(set, operations, count, time),
    };
    if count > MOST {
        return plain();
    }
    let mut waits = true;
    let mut copy = [0u16; 3 * MOST];
    for (place, word) in copy.iter_mut().enumerate().take(3 * count) {
        *word = load(operations + 2 * place, 2) as u16;
        if place % 3 == 2 {
            waits &= *word as usize & NOWAIT == 0;
            *word |= NOWAIT as u16;
        }
    }
    let attempt = || {
        let result = real::semop(set, copy.as_ptr() as usize, count);
        if waits { unless(&[EAGAIN], result) } else { Some(result) }
    };
    // SAFETY: a null, or the address of a time.
    let limit = unsafe { (time as *const Time).as_ref() }.map(|time| time.nanos());
    match on_queue(limit.map_or(Deadline::Never, Deadline::after), code, attempt, plain) {
        usize::MAX if error() == ETIMEDOUT => fail(EAGAIN),
        result => result,
    }
}

pub(crate) extern "C" fn semop(set: usize, operations: usize, count: usize, code: usize) -> usize {
    operates(set, operations, count, 0, code)
}

pub(crate) extern "C" fn semtimedop(
    set: usize,
    operations: usize,
    count: usize,
    time: usize,
    code: usize,
) -> usize {
    operates(set, operations, count, time, code)
}

fn receives(
    queue: usize,
    at: usize,
    length: usize,
    priority: usize,
    deadline: Deadline,
    code: usize,
) -> usize {
    let attempt = || unless(&[ETIMEDOUT], real::mq_timedreceive(queue, at, length, priority, past()));
    let result = on_queue(deadline, code, attempt, || real::mq_receive(queue, at, length, priority));
    if result as isize > 0 {
        written(at, result, code);
    }
    result
}

extern "C" fn mq_receive(queue: usize, at: usize, length: usize, priority: usize, code: usize) -> usize {
    receives(queue, at, length, priority, Deadline::Never, code)
}

extern "C" fn mq_timedreceive(
    queue: usize,
    at: usize,
    length: usize,
    priority: usize,
    time: usize,
    code: usize,
) -> usize {
    receives(queue, at, length, priority, Deadline::wall(time), code)
}

fn sends(queue: usize, at: usize, length: usize, priority: usize, deadline: Deadline, code: usize) -> usize {
    let attempt = || unless(&[ETIMEDOUT], real::mq_timedsend(queue, at, length, priority, past()));
    on_queue(deadline, code, attempt, || real::mq_send(queue, at, length, priority))
}

extern "C" fn mq_send(queue: usize, at: usize, length: usize, priority: usize, code: usize) -> usize {
    sends(queue, at, length, priority, Deadline::Never, code)
}

extern "C" fn mq_timedsend(
    queue: usize,
    at: usize,
    length: usize,
    priority: usize,
    time: usize,
    code: usize,
) -> usize {
    sends(queue, at, length, priority, Deadline::wall(time), code)
}

/// A look at a semaphore changes nothing.
extern "C" fn sem_getvalue(semaphore: usize, value: usize, code: usize) -> usize {
    let Some(mut inside) = begin(code) else { return real::sem_getvalue(semaphore, value) };
    let result = real::sem_getvalue(semaphore, value);
    if result as i32 == 0 {
        let found = load(value, 4);
        inside.stand_in(Op::AtomicRead, semaphore, stands_for::SEMAPHORE, code, (found, 0));
        inside.written(value, 4, code);
    }
    result
}

export! {
    sem_getvalue(2) => sem_getvalue;
    msgrcv(5) => msgrcv;
    msgsnd(4) => msgsnd;
    semop(3) => semop;
    semtimedop(4) => semtimedop;
    mq_receive(4) => mq_receive;
    mq_timedreceive(5) => mq_timedreceive;
    mq_send(4) => mq_send;
    mq_timedsend(5) => mq_timedsend;
}
