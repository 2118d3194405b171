//! System calls that the program makes by their numbers, with `syscall`.
//!
//! A call that libc has a function for does what that function does, and is recorded like it. Of the others, those that are known
//! say in a table what they use, as functions of libc do; a few are pure. Any other number may do anything: it takes its time
//! without the baton, and updates `outside` before and after.

use core::ffi::CStr;

use reweave_wire::outside::State::{self, *};

use crate::abi::access::load;
use crate::libc::outside::table::{NAMED, changes, changes_at, looks, looks_at};
use crate::libc::outside::texts::{MAPPINGS, bytes, text};
use crate::libc::outside::waits::{self, begin};
use crate::libc::outside::{self, Arguments, Caller, memory, queues};
use crate::libc::rendezvous::{fail, futex_wait, futex_wake, has_waited};
use crate::libc::{blocking, channels, process, sleeps, threads, transfers};
use crate::record::end;
use crate::record::inputs;
use crate::sched::clock;
use crate::sys;
use crate::text::Text;

/// A number and six arguments.
type Call = [usize; 7];

/// Calls whose result depends on nothing but their thread, and on what never changes.
const PURE: [usize; 12] = [39, 131, 146, 147, 158, 186, 218, 229, 273, 309, 324, 334];

const FILE: &[u32] = &[changes_at(File, 1)];
const LOOKS_AT_FILE: &[u32] = &[looks_at(File, 1)];
const PROCESS: &[u32] = &[changes(Process)];
const LOOKS_AT_PROCESS: &[u32] = &[looks(Process)];
const MAPS: &[u32] = &[MAPPINGS];
const GIVES_DESCRIPTOR: &[u32] = &[changes(Descriptors)];

/// What others use.
const TABLE: &[(&[usize], &[u32])] = &[
    // Files that are open.
    (&[5, 17, 51, 52, 55, 138, 287, 295], LOOKS_AT_FILE),
    (&[8, 16, 48, 49, 50, 54, 74, 75, 77, 91, 93, 78, 217, 254, 255, 285, 286, 296, 328], FILE),
    (&[18], &[changes_at(File, 1), bytes(2, 3)]),
    (&[253, 282, 283, 289, 294, 319], GIVES_DESCRIPTOR),
    // Names.
    (&[4, 6], &[looks(Names), looks(WorkingDirectory), looks_at(File, NAMED + 1), text(1)]),
    (&[262, 332], &[looks(Names), looks(WorkingDirectory), looks_at(File, NAMED + 2), text(2)]),
    (&[21, 89, 137], &[looks(Names), looks(WorkingDirectory), text(1)]),
    (&[267, 269, 439], &[looks(Names), looks(WorkingDirectory), text(2)]),
    (&[83, 133], &[changes(Names), looks(WorkingDirectory), looks(Umask), text(1)]),
    (&[258, 259], &[changes(Names), looks(WorkingDirectory), looks(Umask), text(2)]),
    (&[84, 87, 94], &[changes(Names), looks(WorkingDirectory), text(1)]),
    (&[260, 263, 268, 280], &[changes(Names), looks(WorkingDirectory), text(2)]),
    (&[82, 86, 88], &[changes(Names), looks(WorkingDirectory), text(1), text(2)]),
    (&[264, 265, 316], &[changes(Names), looks(WorkingDirectory), text(2), text(4)]),
    (&[266], &[changes(Names), looks(WorkingDirectory), text(1), text(3)]),
    (&[76, 90, 92], &[changes(Names), looks(WorkingDirectory), changes_at(File, NAMED + 1), text(1)]),
    (&[79], &[looks(WorkingDirectory)]),
    (&[80, 161], &[changes(WorkingDirectory), text(1)]),
    (&[81], &[changes(WorkingDirectory)]),
    (&[95], &[changes(Umask)]),
    // The process.
    (
        &[
            63, 97, 98, 99, 100, 102, 104, 107, 108, 110, 111, 115, 118, 120, 121, 124, 140, 143, 145, 148,
            204,
        ],
        LOOKS_AT_PROCESS,
    ),
    (
        &[105, 106, 109, 112, 113, 114, 116, 117, 119, 122, 123, 135, 141, 142, 144, 157, 160, 203, 302],
        PROCESS,
    ),
    (&[13, 14], &[changes(Signals)]),
    (&[127], &[looks(Signals)]),
    (&[36, 224, 225], &[looks(Timers)]),
    (&[37, 38, 222, 223, 226], &[changes(Timers)]),
    (&[9], &[MAPPINGS, memory::memory(memory::What::Maps, 2, 5, 6)]),
    (&[10, 12, 25, 26, 27, 28, 30, 67, 149, 150, 151, 152, 325], MAPS),
    (&[29, 31, 64, 66, 68, 71], &[changes(Ipc)]),
];

/// The uses of a call that is known by them.
fn uses(number: usize) -> Option<&'static [u32]> {
    TABLE.iter().find(|(numbers, _)| numbers.contains(&number)).map(|&(_, uses)| uses)
}

/// A result of a function whose result is an `int`.
fn int(result: usize) -> usize {
    result as i32 as isize as usize
}

/// A result of the kernel's, as `syscall` gives it.
fn given(result: isize) -> usize {
    if (-4095..0).contains(&result) { fail(-result as i32) } else { result as usize }
}

fn raw(&[number, a, b, c, d, e, f]: &Call) -> usize {
    given(sys::call6(number, [a, b, c, d, e, f]))
}

/// A call that libc has a function for, made by that function's stand-in.
fn known(call: &Call, code: usize) -> Option<usize> {
    let &[number, a, b, c, d, e, f] = call;
    Some(match number {
        0 => blocking::read(a, b, c, code),
        1 => blocking::write(a, b, c, code),
        2 => int(channels::open(a, b, c, code)),
        3 => int(channels::close(a, code)),
        7 => int(sleeps::poll(a, b, c, code)),
        11 => int(crate::libc::mappings::munmap(a, b, code)),
        19 => blocking::readv(a, b, c, code),
        20 => blocking::writev(a, b, c, code),
        22 => int(channels::pipe(a, code)),
        23 => int(sleeps::select(a, b, c, d, e, code)),
        24 => int(threads::sched_yield(code)),
        32 => int(channels::dup(a, code)),
        33 => int(channels::dup2(a, b, code)),
        34 => int(waits::pause(code)),
        35 => int(sleeps::nanosleep(a as *const _, b as *mut _, code)),
        40 => transfers::sendfile(a, b, c, d, code),
        41 => int(channels::socket(a, b, c, code)),
        42 => int(blocking::connect(a, b, c, code)),
        43 => int(blocking::accept(a, b, c, code)),
        44 => blocking::sendto(a, b, c, d, e, f),
        45 => blocking::recvfrom(a, b, c, d, e, f),
        46 => blocking::sendmsg(a, b, c, code),
        47 => blocking::recvmsg(a, b, c, code),
        53 => int(channels::socketpair(a, b, c, d, code)),
        57 => int(process::fork(code)),
        58 => int(process::fork_to_execute(code)),
        61 => int(waits::wait4(a, b, c, d, code)),
        65 => int(queues::semop(a, b, c, code)),
        69 => int(queues::msgsnd(a, b, c, d, code)),
        70 => queues::msgrcv(a, b, c, d, e, code),
        72 => waits::fcntl(a, b, c, code),
        73 => int(waits::flock(a, b, code)),
        85 => int(channels::creat(a, b, code)),
        96 => int(clock::gettimeofday(a, b, code)),
        201 => clock::time(a, code),
        213 => int(channels::epoll_create(a, code)),
        220 => int(queues::semtimedop(a, b, c, d, code)),
        228 => int(clock::clock_gettime(a, b, code)),
        230 => match sleeps::clock_nanosleep(a, b, c as *const _, d as *mut _, code) as i32 {
            0 => 0,
            error => fail(error),
        },
        232 => int(sleeps::epoll_wait(a, b, c, d, code)),
        233 => int(channels::epoll_ctl(a, b, c, d, code)),
        247 if e == 0 => int(waits::waitid(a, b, c, d, code)),
        257 => int(channels::openat(a, b, c, d, code)),
        271 => int(sleeps::ppoll(a, b, c, d, code)),
        275 => transfers::splice(a, b, c, d, e, f),
        276 => transfers::tee(a, b, c, d, code),
        278 => transfers::vmsplice(a, b, c, d, code),
        281 => int(sleeps::epoll_pwait(a, b, c, d, e, code)),
        284 => int(channels::eventfd(a, 0, code)),
        288 => int(blocking::accept4(a, b, c, d, code)),
        290 => int(channels::eventfd(a, b, code)),
        291 => int(channels::epoll_create1(a, code)),
        292 => int(channels::dup3(a, b, c, code)),
        293 => int(channels::pipe2(a, b, code)),
        299 => int(transfers::recvmmsg(a, b, c, d, e, code)),
        307 => int(transfers::sendmmsg(a, b, c, d, code)),
        318 => inputs::getrandom(a, b, c),
        327 => blocking::on_file(a, 0, code, || raw(call)),
        326 => transfers::copy_file_range(a, b, c, d, e, f),
        _ => return None,
    })
}

const FUTEX: usize = 202;

/// `syscall`. It returns to `code`.
extern "C" fn syscall(call: &Call, code: usize) -> usize {
    const FUTEX_WAITV: usize = 449;
    const EXIT_GROUP: usize = 231;
    const KILLS: [usize; 3] = [62, 200, 234];
    let &[number, a, b, c, d, e, f] = call;
    if let Some(result) = known(call, code) {
        return result;
    }
    if PURE.contains(&number) {
        return raw(call);
    }
    if let Some(uses) = uses(number) {
        let arguments: Arguments = [a, b, c, d, e, f];
        return outside::through(uses, &arguments, code, || raw(call));
    }
    if number == FUTEX
        && let Some(result) = futex(call, code)
    {
        return result;
    }
    if KILLS.contains(&number) {
        outside::sends_signal(code);
        end::flush();
        return raw(call);
    }
    if number == EXIT_GROUP {
        process::at_end();
        return raw(call);
    }
    let result = anything(call, code);
    if number == FUTEX_WAITV
        && let Some(mut inside) = begin(code)
    {
        (0..b.min(MOST_FUTEXES))
            .for_each(|place| has_waited(&mut inside, load(a + 24 * place + 8, 8) as usize, code));
    }
    result
}

/// For how many futexes a thread may wait at once.
const MOST_FUTEXES: usize = 128;

/// A futex is modelled, as far as it only waits or wakes. Those that are to be moved to another one are woken: a wait may always end.
fn futex(&[_, at, operation, value, time, _, expected]: &Call, code: usize) -> Option<usize> {
    const EAGAIN: i32 = 11;
    match operation & 0x7F {
        0 | 9 => Some(futex_wait(&mut begin(code)?, at, value as u32, (operation, time), code)),
        1 | 10 => {
            let woken = futex_wake(&mut begin(code)?, at, value, code);
            // Another process may wait there, and a thread of this one for several at once.
            let left = (value as u32 as usize).saturating_sub(woken);
            let others = if left == 0 { 0 } else { sys::call6(FUTEX, [at, operation, left, 0, 0, expected]) };
            Some(woken + usize::try_from(others).unwrap_or(0))
        }
        4 if load(at, 4) as u32 != expected as u32 => Some(fail(EAGAIN)),
        3 | 4 => Some(futex_wake(&mut begin(code)?, at, value.saturating_add(time), code)),
        _ => None,
    }
}

/// The numbers that are told apart when they are named.
const MOST: usize = 512;
static CALLERS: [Caller; MOST] = [const { Caller::new() }; MOST];

/// A call of which nothing is known.
fn anything(call: &Call, code: usize) -> usize {
    let Some(mut inside) = begin(code) else { return raw(call) };
    let outside = State::Outside.variable(0);
    let mut name = Text::<32>::new();
    name.push(b"system call ").number(call[0] as u64).push(b"\0");
    if let (Ok(name), Some(caller)) = (CStr::from_bytes_until_nul(name.bytes()), CALLERS.get(call[0])) {
        inside.is_unlisted(name, caller);
    }
    inside.changes_state(outside, code);
    inside.passes(code);
    let result = inside.elsewhere(|| raw(call));
    inside.changes_state(outside, code);
    result
}

// The number and five arguments come in registers, the last one on the stack.
#[cfg(not(test))]
core::arch::global_asm!(
    ".text", ".balign 16", ".weak syscall", ".type syscall,@function", "syscall:",
    ".cfi_startproc",
    "push rbp", ".cfi_def_cfa_offset 16", ".cfi_offset rbp, -16",
    "mov rbp, rsp", ".cfi_def_cfa_register rbp",
    "sub rsp, 64",
    "mov [rsp], rdi", "mov [rsp + 8], rsi", "mov [rsp + 16], rdx",
    "mov [rsp + 24], rcx", "mov [rsp + 32], r8", "mov [rsp + 40], r9",
    "mov rax, [rbp + 16]", "mov [rsp + 48], rax",
    "mov rdi, rsp", "mov rsi, [rbp + 8]",
    "call {function}",
    "leave", ".cfi_def_cfa rsp, 8",
    "ret",
    ".cfi_endproc",
    ".size syscall, . - syscall", function = sym syscall
);
#[cfg(test)]
const _: usize = {
    let _ = syscall;
    0
};

#[cfg(test)]
mod tests {
    use std::collections::HashSet;

    use super::*;

    #[test]
    fn every_number_is_there_once() {
        let mut seen: HashSet<usize> = PURE.into_iter().collect();
        for &number in TABLE.iter().flat_map(|(numbers, _)| *numbers) {
            assert!(seen.insert(number), "{number} is there twice");
        }
        assert!(seen.iter().all(|&number| number < MOST));
    }

    #[test]
    fn results_are_as_the_function_gives_them() {
        assert_eq!((int(0xFFFF_FFFF), int(7), given(12)), (usize::MAX, 7, 12));
        assert_eq!((given(-9), crate::libc::rendezvous::error()), (usize::MAX, 9));
    }
}
