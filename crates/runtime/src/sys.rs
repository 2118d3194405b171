//! System calls, made directly: they leave `errno` alone and are no points of cancellation.

use core::arch::asm;
use core::sync::atomic::Ordering::Relaxed;
use core::sync::atomic::{AtomicU32, AtomicUsize};

use crate::sched::affinity::Cores;

mod signals;

pub(crate) use signals::{
    KernelAction, block_all, raise, send, send_again, set_blocked, set_timer, signal_action, unblock,
};

const READ: usize = 0;
const WRITE: usize = 1;
const OPEN: usize = 2;
const CLOSE: usize = 3;
const STAT: usize = 4;
const FSTAT: usize = 5;
const POLL: usize = 7;
const MMAP: usize = 9;
const MPROTECT: usize = 10;
const SCHED_YIELD: usize = 24;
const NANOSLEEP: usize = 35;
const GETPID: usize = 39;
const GETSOCKOPT: usize = 55;
const GETRUSAGE: usize = 98;
const EXECVE: usize = 59;
const GETTID: usize = 186;
const FUTEX: usize = 202;
const PERSONALITY: usize = 135;
const SCHED_SETAFFINITY: usize = 203;
const SCHED_GETAFFINITY: usize = 204;
const CLOCK_GETTIME: usize = 228;
const EXIT_GROUP: usize = 231;
const TGKILL: usize = 234;
const GETCPU: usize = 309;

/// A system call with six arguments; a result from -4095 to -1 is an error's number, negated.
#[inline]
pub(crate) fn call6(number: usize, [a, b, c, d, e, f]: [usize; 6]) -> isize {
    let result: isize;
    // SAFETY: the kernel may do anything that its caller asks for: callers pass memory that they own, or what the
    // program itself passed to the libc function that this call stands for.
    unsafe {
        asm!("syscall", inlateout("rax") number as isize => result, in("rdi") a, in("rsi") b, in("rdx") c,
             in("r10") d, in("r8") e, in("r9") f, out("rcx") _, out("r11") _, options(nostack));
    }
    result
}

#[inline]
fn call(number: usize, a: usize, b: usize, c: usize) -> isize {
    call6(number, [a, b, c, 0, 0, 0])
}

/// Time since boot, as the kernel counts it.
#[derive(Clone, Copy, Default)]
#[repr(C)]
pub(crate) struct Time {
    pub(crate) seconds: i64,
    pub(crate) nanoseconds: i64,
}

impl Time {
    /// As nanoseconds; far future where that does not fit.
    pub(crate) fn nanos(self) -> u64 {
        let seconds = u64::try_from(self.seconds).unwrap_or(0);
        seconds.saturating_mul(1_000_000_000).saturating_add(u64::try_from(self.nanoseconds).unwrap_or(0))
    }

    pub(crate) fn from_nanos(nanos: u64) -> Time {
        Time { seconds: (nanos / 1_000_000_000) as i64, nanoseconds: (nanos % 1_000_000_000) as i64 }
    }
}

/// The clock whose time goes on evenly.
pub(crate) const MONOTONIC: usize = 1;

/// The time of a clock, in nanoseconds.
pub(crate) fn now(clock: usize) -> u64 {
    let mut time = Time::default();
    call(CLOCK_GETTIME, clock, &raw mut time as usize, 0);
    time.nanos()
}

/// How often the calling thread had to wait in the kernel.
pub(crate) fn waits() -> u64 {
    const THREAD: usize = 1;
    // The kernel's structure has 18 words, of which this is the last but one.
    let mut usage = [0u64; 18];
    call(GETRUSAGE, THREAD, &raw mut usage as usize, 0);
    usage[16]
}

/// Sleeps for so long, or until a signal.
pub(crate) fn sleep(nanos: u64) {
    let time = Time::from_nanos(nanos);
    call(NANOSLEEP, &raw const time as usize, 0, 0);
}

/// Fresh zeroed memory, taken only when it is touched; 0 where there is none.
pub(crate) fn map(bytes: usize) -> usize {
    const READ_WRITE: usize = 3;
    const PRIVATE_ANONYMOUS_NORESERVE: usize = 0x4022;
    // Far from what the program maps: it may count on getting again what it has unmapped.
    static NEXT: AtomicUsize = AtomicUsize::new(0x1000_0000_0000);
    let hint = NEXT.fetch_add(bytes.next_multiple_of(4096) + 4096, Relaxed);
    let at = call6(MMAP, [hint, bytes, READ_WRITE, PRIVATE_ANONYMOUS_NORESERVE, usize::MAX, 0]);
    if (-4095..0).contains(&at) { 0 } else { at as usize }
}

/// The size of an open file.
pub(crate) fn size(file: i32) -> Option<usize> {
    const LSEEK: usize = 8;
    const END: usize = 2;
    usize::try_from(call(LSEEK, file as usize, 0, END)).ok()
}

/// Memory that is shared with whoever maps the same file; 0 where that fails.
pub(crate) fn map_shared(file: i32, bytes: usize) -> usize {
    const READ_WRITE: usize = 3;
    const SHARED: usize = 1;
    let at = call6(MMAP, [0, bytes, READ_WRITE, SHARED, file as usize, 0]);
    if (-4095..0).contains(&at) { 0 } else { at as usize }
}

/// Whether a process is there.
pub(crate) fn process_exists(process: i32) -> bool {
    const KILL: usize = 62;
    const ESRCH: isize = -3;
    call(KILL, process as usize, 0, 0) != ESRCH
}

/// Opens a file by its name, which ends in a zero.
pub(crate) fn open(name: &[u8], flags: usize) -> isize {
    call(OPEN, name.as_ptr() as usize, flags, 0o600)
}

/// Neither a link nor anything that would have to be waited for.
const PLAIN: usize = 0o404_000;
/// Read and written.
pub(crate) const RDWR: usize = 0o2_000_002 | PLAIN;
/// Read only.
pub(crate) const RDONLY: usize = 0o2_000_000;
/// A new file to write; it must not be there yet. Closed in a program that is executed.
pub(crate) const CREATE_NEW: usize = 0o2_000_301 | PLAIN;
/// Written at its end, made where it is missing.
pub(crate) const APPEND: usize = 0o2_002_101 | PLAIN;

/// The same open file under a high number, where programs that count descriptors do not meet it.
pub(crate) fn out_of_the_way(file: i32) -> i32 {
    const FCNTL: usize = 72;
    const DUPFD_CLOEXEC: usize = 1030;
    for from in [1000, 200] {
        let high = call(FCNTL, file as usize, DUPFD_CLOEXEC, from);
        if high >= 0 {
            close(file);
            return high as i32;
        }
    }
    file
}

pub(crate) fn close(file: i32) {
    call(CLOSE, file as usize, 0, 0);
}

pub(crate) fn read(file: i32, into: &mut [u8]) -> usize {
    usize::try_from(call(READ, file as usize, into.as_mut_ptr() as usize, into.len())).unwrap_or(0)
}

/// Reads entries of a folder, as the kernel lays them out; how many bytes of them.
pub(crate) fn entries(folder: i32, into: &mut [u64]) -> usize {
    const GETDENTS64: usize = 217;
    let bytes = size_of_val(into);
    usize::try_from(call(GETDENTS64, folder as usize, into.as_mut_ptr() as usize, bytes)).unwrap_or(0)
}

/// Writes all of `bytes`, or gives the number of the error.
pub(crate) fn write(file: i32, mut bytes: &[u8]) -> Result<(), i32> {
    const EINTR: isize = -4;
    while !bytes.is_empty() {
        match call(WRITE, file as usize, bytes.as_ptr() as usize, bytes.len()) {
            EINTR => {}
            count @ 1.. => bytes = bytes.get(count as usize..).unwrap_or_default(),
            error => return Err(-error as i32),
        }
    }
    Ok(())
}

/// The inode of an open file and what kind of file it is.
pub(crate) fn kind_of_file(file: i32) -> Option<(u64, u32)> {
    // The mode is the lower half of the fourth word.
    about(FSTAT, file as usize).map(|about| (about[1], about[3] as u32))
}

/// What tells an open file from all others.
pub(crate) fn identity_of(file: i32) -> Option<[u64; 2]> {
    about(FSTAT, file as usize).map(|about| [about[0], about[1]])
}

/// What the kernel tells of a file, in its own structure.
fn about(number: usize, of: usize) -> Option<[u64; 18]> {
    let mut about = [0; 18];
    (call(number, of, &raw mut about as usize, 0) == 0).then_some(about)
}

/// Whether a call on `file` would return at once; `events` as in `poll`.
pub(crate) fn ready(file: i32, events: i16) -> bool {
    #[repr(C)]
    struct Poll {
        file: i32,
        events: i16,
        happened: i16,
    }
    let mut poll = Poll { file, events, happened: 0 };
    call(POLL, &raw mut poll as usize, 1, 0) != 0
}

/// What kind of file it is, and who may use it.
pub(crate) fn mode(file: i32) -> Option<u32> {
    kind_of_file(file).map(|(_, mode)| mode)
}

/// Whether the other end of a socket was made by this process: what comes from there comes again.
pub(crate) fn is_own_socket(file: i32) -> bool {
    const SOCKET_LEVEL: usize = 1;
    const PEER: usize = 17;
    let mut peer = [0u32; 3];
    let mut length = size_of_val(&peer) as u32;
    let arguments = [file as usize, SOCKET_LEVEL, PEER, &raw mut peer as usize, &raw mut length as usize, 0];
    call6(GETSOCKOPT, arguments) == 0 && i64::from(peer[0]) == call(GETPID, 0, 0, 0) as i64
}

/// Sleeps while `word` is `value`, but not longer than `nanos`; whether the time was up.
pub(crate) fn futex_wait(word: &AtomicU32, value: u32, nanos: Option<u64>) -> bool {
    const WAIT_PRIVATE: usize = 128;
    const ETIMEDOUT: isize = -110;
    let time = Time::from_nanos(nanos.unwrap_or(0));
    let time = if nanos.is_some() { &raw const time as usize } else { 0 };
    call6(FUTEX, [word.as_ptr() as usize, WAIT_PRIVATE, value as usize, time, 0, 0]) == ETIMEDOUT
}

/// Wakes one that waits for `word`.
pub(crate) fn futex_wake(word: &AtomicU32) {
    const WAKE_PRIVATE: usize = 129;
    call(FUTEX, word.as_ptr() as usize, WAKE_PRIVATE, 1);
}

/// Ends the process.
pub(crate) fn exit(status: i32) -> ! {
    loop {
        call(EXIT_GROUP, status as usize, 0, 0);
    }
}

/// The calling process.
pub(crate) fn process() -> i32 {
    call(GETPID, 0, 0, 0) as i32
}

/// Leaves the terminal, and where that is wanted the folder and the standard streams, as programs in the background do.
pub(crate) fn detach(leaves_folder: bool, leaves_streams: bool) {
    const SETSID: usize = 112;
    const CHDIR: usize = 80;
    const DUP2: usize = 33;
    const BOTH_WAYS: usize = 2;
    call(SETSID, 0, 0, 0);
    if leaves_folder {
        call(CHDIR, c"/".as_ptr() as usize, 0, 0);
    }
    if leaves_streams {
        let nothing = open(b"/dev/null\0", BOTH_WAYS);
        if let Ok(nothing) = usize::try_from(nothing) {
            (0..3).for_each(|stream| _ = call(DUP2, nothing, stream, 0));
            if nothing > 2 {
                close(nothing as i32);
            }
        }
    }
}

/// The calling thread, as the kernel numbers it.
pub(crate) fn thread() -> i32 {
    call(GETTID, 0, 0, 0) as i32
}

/// What memory may be used for.
pub(crate) const READ_ONLY: usize = 1;
/// See above.
pub(crate) const READ_WRITE: usize = 3;
/// See above.
pub(crate) const READ_EXECUTE: usize = 5;

/// Sets what pages may be used for; whether that could be done.
pub(crate) fn protect(at: usize, bytes: usize, how: usize) -> bool {
    call(MPROTECT, at, bytes, how) == 0
}

/// Whether a thread of this process is still there.
pub(crate) fn exists(thread: i32) -> bool {
    let process = call(GETPID, 0, 0, 0) as usize;
    call(TGKILL, process, thread as usize, 0) == 0
}

/// Lets the kernel choose another thread.
pub(crate) fn yield_now() {
    call(SCHED_YIELD, 0, 0, 0);
}

/// The core that the calling thread runs on.
pub(crate) fn core() -> Option<usize> {
    let mut core = 0u32;
    (call(GETCPU, &raw mut core as usize, 0, 0) == 0).then_some(core as usize)
}

/// The cores that a thread may run on; none where they are too many.
pub(crate) fn allowed(thread: i32) -> Option<Cores> {
    let mut cores = Cores::default();
    let told = call(SCHED_GETAFFINITY, thread as usize, size_of::<Cores>(), cores.as_mut_ptr() as usize);
    (told > 0).then_some(cores)
}

/// Allows a thread these cores, 0 being the calling one; whether that could be done.
pub(crate) fn allow(thread: i32, cores: &Cores) -> bool {
    call(SCHED_SETAFFINITY, thread as usize, size_of::<Cores>(), cores.as_ptr() as usize) == 0
}

/// Asks for the same addresses in each run; whether that is new, and a program executed now gets them.
pub(crate) fn fix_addresses() -> bool {
    const ADDR_NO_RANDOMIZE: isize = 0x0004_0000;
    let before = call(PERSONALITY, 0xFFFF_FFFF, 0, 0);
    before >= 0
        && before & ADDR_NO_RANDOMIZE == 0
        && call(PERSONALITY, (before | ADDR_NO_RANDOMIZE) as usize, 0, 0) >= 0
}

/// Executes another program; comes back only where that fails. The name, the arguments and the environment are addresses.
pub(crate) fn execute(name: usize, arguments: usize, environment: usize) {
    call(EXECVE, name, arguments, environment);
}

/// What a link, whose name ends in a zero, leads to; how many bytes of it, or a negative number.
pub(crate) fn read_link(name: &[u8], target: &mut [u8]) -> isize {
    const READLINK: usize = 89;
    call(READLINK, name.as_ptr() as usize, target.as_mut_ptr() as usize, target.len())
}

/// Executes the program anew, where possible under the name that it was executed by: the kernel calls its process by that.
pub(crate) fn execute_again(arguments: usize, environment: usize) {
    const AT_EXECFN: usize = 31;
    unsafe extern "C" {
        fn getauxval(kind: usize) -> usize;
    }
    let itself = c"/proc/self/exe".as_ptr() as usize;
    // SAFETY: tells what the kernel left for the program.
    let name = unsafe { getauxval(AT_EXECFN) };
    // Another file has that name where the program is the interpreter of a script.
    if name != 0 && identity(name).is_some_and(|file| Some(file) == identity(itself)) {
        call(EXECVE, name, arguments, environment);
    }
    call(EXECVE, itself, arguments, environment);
}

/// What tells the file of a name, which ends in a zero, from all others.
pub(crate) fn identity(name: usize) -> Option<[u64; 2]> {
    // The device and the number of the file come first.
    about(STAT, name).map(|about| [about[0], about[1]])
}
