//! The threads of the program: what the scheduler knows of each, and which one is running this code.

use core::sync::atomic::Ordering::{Relaxed, SeqCst};
use core::sync::atomic::{AtomicBool, AtomicU32, AtomicU64, AtomicUsize};

use crate::abi::calls::Calls;
use crate::libc::interrupted::Announced;
use crate::sched::affinity::Seat;
use crate::sched::spin::Spin;
use crate::sys;

/// The most threads that are told apart; more run unrecorded.
pub(crate) const MAX_THREADS: usize = 1 << 14;

/// What a thread is doing, as the scheduler sees it.
pub(crate) mod state {
    /// Nothing: there is no such thread, or no longer.
    pub(crate) const GONE: u32 = 0;
    /// It runs, or may.
    pub(crate) const READY: u32 = 1;
    /// It waits for its key, perhaps with a deadline.
    pub(crate) const BLOCKED: u32 = 2;
    /// It is in a call that may take any time, and runs beside the others.
    pub(crate) const AWAY: u32 = 3;
}

/// A thread. Those that run beside the one with the baton change only their own, and only atomically. All zeroes are one.
#[repr(C, align(64))]
pub(crate) struct Thread {
    /// 1 once the baton is handed to this thread.
    pub(crate) word: AtomicU32,
    pub(crate) state: AtomicU32,
    /// What it waits for.
    pub(crate) key: AtomicU64,
    /// When it stops waiting, as [`crate::sched::clock::now`] counts; 0 never.
    pub(crate) deadline: AtomicU64,
    /// Before when it does not, in nanoseconds of the real even clock; 0 never.
    pub(crate) due: AtomicU64,
    pub(crate) timed_out: AtomicBool,
    /// Whether it was woken for its key, and has not run since.
    pub(crate) roused: AtomicBool,
    /// Whether the lock that it waits for may be shared.
    pub(crate) shares: AtomicBool,
    /// Not 0 while it runs our own code, or a call without the baton: what it does then is not recorded.
    pub(crate) closed: AtomicU32,
    /// Not 0 where a switch could leave a lock of libc behind.
    pub(crate) pinned: AtomicU32,
    /// The thread as pthreads name it.
    pub(crate) pthread: AtomicU64,
    /// Whether it is one that libc makes by itself, and has begun.
    pub(crate) claimed: AtomicBool,
    /// Whether somebody awaited its end, or nobody ever will.
    pub(crate) joined: AtomicBool,
    /// Whether a handler ran after which a call that waits is not begun anew.
    pub(crate) interrupted: AtomicBool,
    /// Whether somebody asked it to end.
    pub(crate) cancelled: AtomicBool,
    /// Whether it then ends wherever it is.
    pub(crate) asynchronous: AtomicBool,
    /// Whether it does not end, though it was asked to.
    pub(crate) refuses: AtomicBool,
    pub(crate) priority: AtomicU64,
    /// The signals that came while it could not take them.
    pub(crate) signals: AtomicU64,
    /// What came with each of them.
    pub(crate) signal_info: [SignalInfo; 64],
    /// Where it began what it tells by itself; 0 where it does not.
    pub(crate) began: AtomicUsize,
    /// The write that our own code announced last.
    pub(crate) announced: Announced,
    /// Whether the program does something now of which its next hook tells: a signal waits for that hook.
    pub(crate) between: AtomicBool,
    /// Memory that it took or gave back during a call without the baton.
    pub(crate) parcels: Parcels,
    /// How often the end of its own data was put off.
    pub(crate) rounds: AtomicU32,
    /// The write whose value is not known yet: the program stores it after it told us.
    pub(crate) pending: PendingCell,
    /// Whether it is AWAY, but not in a call: it gives the baton away, or runs freely. A signal that comes in our own code must
    /// wait.
    pub(crate) leaving: AtomicBool,
    /// Whether it is AWAY in code without hooks, and comes back with its next event.
    pub(crate) unseen: AtomicBool,
    /// Where its hooks append while threads run freely; 0 before.
    pub(crate) head: AtomicUsize,
    /// How many bytes of its own slots another thread has added to the recording.
    pub(crate) gathered: AtomicUsize,
    /// The first of the blocks that it gives back once it has let go of the baton; each holds the address of the next.
    pub(crate) unused: AtomicUsize,
    pub(crate) calls: Calls,
    /// Where it may run.
    pub(crate) seat: Seat,
    pub(crate) spin: Spin,
}

/// The kernel's description of a signal.
#[derive(Default)]
pub(crate) struct SignalInfo(pub(crate) [AtomicU64; 16]);

/// A write that the program is about to do.
#[derive(Clone, Copy)]
pub(crate) struct Pending {
    pub(crate) at: usize,
    pub(crate) length: usize,
    pub(crate) code: usize,
}

/// Room for one, which only the thread itself uses.
#[derive(Default)]
pub(crate) struct PendingCell {
    at: AtomicUsize,
    length: AtomicUsize,
    code: AtomicUsize,
}

impl PendingCell {
    #[inline(always)]
    pub(crate) fn get(&self) -> Option<Pending> {
        let length = self.length.load(Relaxed);
        (length != 0).then(|| Pending { at: self.at.load(Relaxed), length, code: self.code.load(Relaxed) })
    }

    pub(crate) fn set(&self, pending: Option<Pending>) {
        let Pending { at, length, code } = pending.unwrap_or(Pending { at: 0, length: 0, code: 0 });
        self.at.store(at, Relaxed);
        self.code.store(code, Relaxed);
        self.length.store(length, Relaxed);
    }

    #[inline(always)]
    pub(crate) fn take(&self) -> Option<Pending> {
        let pending = self.get()?;
        self.length.store(0, Relaxed);
        Some(pending)
    }
}

/// Allocations to be recorded once the thread has the baton again.
#[derive(Default)]
pub(crate) struct Parcels {
    pub(crate) count: AtomicU32,
    /// Address and size; a size of all ones is a block to give back.
    pub(crate) entries: [[AtomicU64; 2]; 24],
}

/// The block is to be given back.
pub(crate) const GIVE_BACK: u64 = u64::MAX;

impl Parcels {
    /// Whether there was room.
    pub(crate) fn add(&self, at: usize, size: u64) -> bool {
        let place = self.count.load(Relaxed);
        let Some([address, length]) = self.entries.get(place as usize) else { return false };
        address.store(at as u64, Relaxed);
        length.store(size, Relaxed);
        self.count.store(place + 1, Relaxed);
        true
    }

    /// The parcel at `place`.
    pub(crate) fn get(&self, place: u32) -> (usize, u64) {
        match self.entries.get(place as usize) {
            Some([address, length]) => (address.load(Relaxed) as usize, length.load(Relaxed)),
            None => (0, 0),
        }
    }
}

static THREADS: AtomicUsize = AtomicUsize::new(0);

/// Makes room for all threads; whether there was memory.
pub(crate) fn reserve() -> bool {
    let at = sys::map(MAX_THREADS * size_of::<Thread>());
    THREADS.store(at, SeqCst);
    at != 0
}

/// The thread with this number.
pub(crate) fn thread(index: usize) -> &'static Thread {
    let base = THREADS.load(Relaxed) as *const Thread;
    // SAFETY: `reserve` mapped that many threads before anything asks for one; zeroed memory is a thread, and
    // every field is atomic.
    unsafe { &*base.add(index.min(MAX_THREADS - 1)) }
}

impl Thread {
    /// Its number.
    pub(crate) fn index(&self) -> usize {
        (core::ptr::from_ref(self) as usize - THREADS.load(Relaxed)) / size_of::<Thread>()
    }
}

// The current thread is a word of thread-local memory. Stable Rust has no name for one without `std`, the assembler
// has. It is always linked into the program itself, never into a shared library, so its offset is fixed.
#[cfg(not(test))]
core::arch::global_asm!(
    ".section .tbss.reweave_self,\"awT\",@nobits",
    ".hidden reweave_self",
    ".globl reweave_self",
    ".type reweave_self,@object",
    ".size reweave_self,8",
    ".balign 8",
    "reweave_self:",
    ".zero 8",
    ".previous"
);

#[cfg(not(test))]
#[inline(always)]
fn own() -> usize {
    let own: usize;
    // SAFETY: reads the word defined above.
    unsafe {
        core::arch::asm!("mov {}, qword ptr fs:[reweave_self@tpoff]", out(reg) own,
                         options(nostack, readonly, preserves_flags));
    }
    own
}

#[cfg(not(test))]
fn set_own(own: usize) {
    // SAFETY: writes the word defined above.
    unsafe {
        core::arch::asm!("mov qword ptr fs:[reweave_self@tpoff], {}", in(reg) own,
                         options(nostack, preserves_flags));
    }
}

#[cfg(test)]
fn own() -> usize {
    0
}

#[cfg(test)]
fn set_own(_: usize) {}

/// The thread that is running; none where it is not recorded.
#[inline(always)]
pub(crate) fn current() -> Option<&'static Thread> {
    let own = own() as *const Thread;
    // SAFETY: the word is 0 or the address of a thread, none of which is ever unmapped.
    unsafe { own.as_ref() }
}

/// Says which thread is running.
pub(crate) fn set_current(thread: Option<&'static Thread>) {
    set_own(thread.map_or(0, |thread| core::ptr::from_ref(thread) as usize));
}
