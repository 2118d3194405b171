//! Signals: sending, blocking and handling them.

use super::{GETPID, MONOTONIC, TGKILL, Time, call, call6, thread};

const RT_SIGACTION: usize = 13;
const TIMER_CREATE: usize = 222;
const TIMER_SETTIME: usize = 223;

/// Sends a signal to the calling thread.
pub(crate) fn raise(signal: i32) {
    let process = call(GETPID, 0, 0, 0) as usize;
    call(TGKILL, process, thread() as usize, signal as usize);
}

/// Sends a signal to a thread of this process.
pub(crate) fn send(thread: i32, signal: i32) {
    let process = call(GETPID, 0, 0, 0) as usize;
    call(TGKILL, process, thread as usize, signal as usize);
}

/// Has a signal sent to the process after so long.
pub(crate) fn set_timer(nanos: u64, signal: i32) {
    #[repr(C)]
    struct Event {
        value: usize,
        signal: i32,
        kind: i32,
        rest: [u64; 6],
    }
    let event = Event { value: 0, signal, kind: 0, rest: [0; 6] };
    let mut timer = 0i32;
    call(TIMER_CREATE, MONOTONIC, &raw const event as usize, &raw mut timer as usize);
    let time = [Time::default(), Time::from_nanos(nanos)];
    call6(TIMER_SETTIME, [timer as usize, 0, &raw const time as usize, 0, 0, 0]);
}

/// Sends a signal to the calling thread as it came before; whether that could be done.
pub(crate) fn send_again(signal: i32, info: &[u64; 16]) -> bool {
    const RT_TGSIGQUEUEINFO: usize = 297;
    let process = call(GETPID, 0, 0, 0) as usize;
    let info = info.as_ptr() as usize;
    call6(RT_TGSIGQUEUEINFO, [process, thread() as usize, signal as usize, info, 0, 0]) == 0
}

/// The signals that libc sends to threads itself stay as they are.
const OF_LIBC: u64 = 1 << 31 | 1 << 32;

/// Has the calling thread block every signal; those that it blocked before.
pub(crate) fn block_all() -> u64 {
    set_blocked(!OF_LIBC)
}

/// Has the calling thread block these signals; those that it blocked before.
pub(crate) fn set_blocked(signals: u64) -> u64 {
    const RT_SIGPROCMASK: usize = 14;
    const SET: usize = 2;
    let mut before = 0u64;
    call6(RT_SIGPROCMASK, [SET, &raw const signals as usize, &raw mut before as usize, 8, 0, 0]);
    before
}

/// The calling thread takes these signals again, each by the bit of its number less one.
pub(crate) fn unblock(signals: u64) {
    const RT_SIGPROCMASK: usize = 14;
    const UNBLOCK: usize = 1;
    call6(RT_SIGPROCMASK, [UNBLOCK, &raw const signals as usize, 0, 8, 0, 0]);
}

/// What the kernel does on a signal.
#[derive(Clone, Copy, Default)]
#[repr(C)]
pub(crate) struct KernelAction {
    pub(crate) handler: usize,
    pub(crate) flags: usize,
    pub(crate) restorer: usize,
    pub(crate) mask: u64,
}

/// Sets what the kernel does on a signal, and tells what it did before.
pub(crate) fn signal_action(signal: i32, action: Option<&KernelAction>) -> KernelAction {
    let mut before = KernelAction::default();
    let new = action.map_or(0, |action| core::ptr::from_ref(action) as usize);
    call6(RT_SIGACTION, [signal as usize, new, &raw mut before as usize, 8, 0, 0]);
    before
}
