//! How each kind of lock, token and state is used in C.

use crate::program::{HandOver, LockKind, Mode, State};

pub(super) fn how(how: HandOver) -> &'static str {
    match how {
        HandOver::Semaphore => "semaphore",
        HandOver::Condition => "condition",
        HandOver::Pipe => "pipe",
        HandOver::Flag => "flag",
    }
}

pub(super) fn make(kind: LockKind, name: &str) -> String {
    match kind {
        LockKind::Normal => format!("make_mutex(&{name}, PTHREAD_MUTEX_NORMAL, 0)"),
        LockKind::Recursive => format!("make_mutex(&{name}, PTHREAD_MUTEX_RECURSIVE, 0)"),
        LockKind::ErrorCheck => format!("make_mutex(&{name}, PTHREAD_MUTEX_ERRORCHECK, 0)"),
        LockKind::Robust => format!("make_mutex(&{name}, PTHREAD_MUTEX_NORMAL, 1)"),
        LockKind::ReadWrite => format!("pthread_rwlock_init(&{name}, 0)"),
        LockKind::Spin => format!("pthread_spin_init(&{name}, 0)"),
        LockKind::Semaphore => format!("sem_init(&{name}, 0, 1)"),
        LockKind::Pipe => format!("make_channel(&{name}); put(&{name}, 1)"),
        LockKind::Atomic => format!("atomic_store(&{name}, 0)"),
        LockKind::Stream => format!("{name} = file(\"\")"),
    }
}

/// An expression that acquires a lock; with an attempt, whether it did.
pub(super) fn acquire(kind: LockKind, mode: Mode, name: &str) -> String {
    let timed = mode == Mode::Timed;
    match (kind, mode) {
        (LockKind::Normal | LockKind::Recursive | LockKind::ErrorCheck | LockKind::Robust, Mode::Wait) => {
            format!("acquire(pthread_mutex_lock(&{name}), &{name})")
        }
        (LockKind::Normal | LockKind::Recursive | LockKind::ErrorCheck | LockKind::Robust, _) => {
            let call =
                if timed { format!("timedlock(&{name})") } else { format!("pthread_mutex_trylock(&{name})") };
            format!("acquire({call}, &{name})")
        }
        (LockKind::ReadWrite, Mode::Wait) => format!("pthread_rwlock_wrlock(&{name})"),
        (LockKind::ReadWrite, Mode::Shared) => format!("pthread_rwlock_rdlock(&{name})"),
        (LockKind::ReadWrite, Mode::TryShared) => format!("pthread_rwlock_tryrdlock(&{name}) == 0"),
        (LockKind::ReadWrite, Mode::Timed) => format!("timedwrlock(&{name}) == 0"),
        (LockKind::ReadWrite, Mode::Try) => format!("pthread_rwlock_trywrlock(&{name}) == 0"),
        (LockKind::Spin, Mode::Wait) => format!("pthread_spin_lock(&{name})"),
        (LockKind::Spin, _) => format!("pthread_spin_trylock(&{name}) == 0"),
        (LockKind::Semaphore, Mode::Wait) => format!("sem_wait(&{name})"),
        (LockKind::Semaphore, _) if timed => format!("timedwait(&{name}) == 0"),
        (LockKind::Semaphore, _) => format!("sem_trywait(&{name}) == 0"),
        (LockKind::Pipe, _) => format!("get(&{name})"),
        (LockKind::Atomic, Mode::Wait) => format!("while (!enter(&{name})) sched_yield()"),
        (LockKind::Atomic, _) => format!("enter(&{name})"),
        (LockKind::Stream, Mode::Wait) => format!("flockfile({name})"),
        (LockKind::Stream, _) => format!("ftrylockfile({name}) == 0"),
    }
}

pub(super) fn release(kind: LockKind, name: &str) -> String {
    match kind {
        LockKind::Normal | LockKind::Recursive | LockKind::ErrorCheck | LockKind::Robust => {
            format!("pthread_mutex_unlock(&{name})")
        }
        LockKind::ReadWrite => format!("pthread_rwlock_unlock(&{name})"),
        LockKind::Spin => format!("pthread_spin_unlock(&{name})"),
        LockKind::Semaphore => format!("sem_post(&{name})"),
        LockKind::Pipe => format!("put(&{name}, 1)"),
        LockKind::Atomic => format!("atomic_store(&{name}, 0)"),
        LockKind::Stream => format!("funlockfile({name})"),
    }
}

pub(super) fn call(state: State) -> &'static str {
    match state {
        State::Random => "rand()",
        State::Random48 => "(int)lrand48()",
        State::Token => "token()",
        State::Environment => "environment()",
        State::Offset => "offset()",
        State::Stream => "fgetc(stream)",
        State::Content => "content()",
        State::Descriptor => "descriptor()",
        State::Mask => "mask()",
    }
}
