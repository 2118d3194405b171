//! Threads that keep the baton in a call that nobody stands before: a system call made directly, a loop in a library
//! without hooks.
//!
//! A thread that waits for the baton looks, now and then, whether the one that has it has done anything since. If that one
//! sleeps in the kernel, or has been in a library without hooks for long, it gets a signal, and in the handler it lets go of
//! the baton itself: it runs beside the others until its next hook, where it waits for the baton as after any call that
//! takes its time. So only the thread itself ever gives its baton away, and it does so where its recording is whole.

use core::sync::atomic::AtomicUsize;
use core::sync::atomic::Ordering::{Relaxed, SeqCst};

use crate::libc::libraries::{self, Code};
use crate::libc::signals;
use crate::record::config;
use crate::record::recording::Inside;
use crate::sched::baton;
use crate::sched::free;
use crate::sched::thread::{self, Thread, state, thread};
use crate::sys;
use crate::text::Text;

/// How long a thread waits for the baton before it looks after the one that has it, in nanoseconds; longer where there are many.
const LOOK_AFTER: u64 = 50_000_000;
const LOOK_AFTER_EACH: u64 = 1_000_000;
/// How long a library may compute before others run beside it.
const COMPUTES: u64 = 400_000_000;
/// The signal that asks a thread to let go: one that programs do not use.
const LET_GO: i32 = 61;

/// Where hooks keep their cursor: it moves with everything that is recorded.
static CURSOR: AtomicUsize = AtomicUsize::new(0);

/// Prepares for threads that block; `cursor` is where the recording keeps how far it is.
pub(crate) fn init(cursor: usize) {
    CURSOR.store(cursor, Relaxed);
    signals::install_restarting(LET_GO, let_go as *const () as usize);
}

/// What was seen of the thread with the baton.
#[derive(Default)]
pub(crate) struct Watch {
    seen: (usize, u64),
    since: u64,
}

/// How long a thread that waits for the baton sleeps at most, where it may sleep for so long.
pub(crate) fn nap(me: &Thread, allowed: Option<u64>) -> Option<u64> {
    if free::is_on() {
        return allowed;
    }
    let nap = LOOK_AFTER + LOOK_AFTER_EACH * me.index() as u64;
    Some(allowed.map_or(nap, |allowed| allowed.min(nap)))
}

impl Watch {
    /// Looks after the thread with the baton; called each time that a thread has waited for a while.
    pub(crate) fn look(&mut self) {
        let Some(holder) = baton::holder().filter(|_| !free::is_on()) else { return };
        let now = sys::now(sys::MONOTONIC);
        let seen = (holder, crate::abi::access::load(CURSOR.load(Relaxed), 8));
        if self.seen != seen {
            (self.seen, self.since) = (seen, now);
            return;
        }
        let holder = thread(holder);
        let runs_the_program = holder.closed.load(SeqCst) == 0 && holder.state.load(SeqCst) == state::READY;
        let number = holder.seat.thread();
        if !runs_the_program || number == 0 || now - self.since < LOOK_AFTER / 2 {
            return;
        }
        if sleeps(number) || now - self.since >= COMPUTES {
            self.since = now;
            sys::send(number, LET_GO);
        }
    }
}

/// Whether a thread sleeps in the kernel.
fn sleeps(number: i32) -> bool {
    let mut name = Text::<64>::new();
    name.push(b"/proc/self/task/").number(number as u64).push(b"/stat\0");
    let Ok(file) = i32::try_from(sys::open(name.bytes(), sys::RDONLY)) else { return false };
    if file < 0 {
        return false;
    }
    let mut about = [0; 512];
    let length = sys::read(file, &mut about);
    sys::close(file);
    is_asleep(about.get(..length).unwrap_or_default())
}

/// The letter after the name, which is in parentheses and may have any characters.
fn is_asleep(about: &[u8]) -> bool {
    let after = about.iter().rposition(|&byte| byte == b')');
    after.and_then(|place| about.get(place + 2)).is_some_and(|state| matches!(state, b'S' | b'D'))
}

/// Whether a thread that was interrupted at `code` was in a system call, or is about to make it again.
fn in_system_call(code: usize) -> bool {
    const SYSCALL: u64 = 0x050F;
    crate::abi::access::load(code, 2) == SYSCALL || crate::abi::access::load(code - 2, 2) == SYSCALL
}

/// The calling thread has the baton and does nothing with it.
extern "C" fn let_go(_signal: i32, _info: usize, context: usize) {
    const RIP: usize = 168;
    let Some(me) = thread::current() else { return };
    let code = crate::abi::access::load(context + RIP, 8) as usize;
    let foreign = libraries::code_at(code) == Code::Foreign;
    if me.closed.load(Relaxed) != 0
        || baton::holder() != Some(me.index())
        || !(foreign || in_system_call(code))
    {
        return;
    }
    if let Some(inside) = Inside::enter() {
        tell(me, code);
        inside.leave_unseen();
    }
}

/// Tells `reweave record` once per library which one blocks.
fn tell(me: &Thread, code: usize) {
    // The C library was called by somebody: the innermost call under way is the best that is known.
    let mut at = code;
    if libraries::code_at(code) != Code::Foreign {
        me.calls.callers(1, |caller| at = caller);
    }
    if libraries::blocks_at(code) || !ALREADY.swap(true, Relaxed) {
        let mut line = Text::<64>::new();
        line.push(b"blocks ").number(code as u64).push(b" ").number(at as u64).push(b"\n");
        config::note(line.bytes());
    }
}

static ALREADY: core::sync::atomic::AtomicBool = core::sync::atomic::AtomicBool::new(false);

impl Inside {
    /// Lets go of the baton until the thread's next event, wherever that comes.
    pub(crate) fn leave_unseen(mut self) {
        self.settle();
        if free::is_on() {
            return;
        }
        self.me.unseen.store(true, SeqCst);
        // What says that it is away is kept in the thread.
        let _ = self.away();
    }

    /// Comes back from where [`Inside::leave_unseen`] left.
    #[cold]
    pub(crate) fn reenter(me: &'static Thread) -> Option<Inside> {
        if !me.unseen.load(Relaxed) || me.state.load(SeqCst) != state::AWAY {
            return None;
        }
        me.unseen.store(false, SeqCst);
        Some(baton::Away::of(me).back())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_state_of_a_thread_comes_after_its_name() {
        assert!(is_asleep(b"12 (a) R b) S 1 2") && is_asleep(b"7 (x) D 1"));
        assert!(!is_asleep(b"12 (S) R 1 2") && !is_asleep(b"") && !is_asleep(b"3 (x)"));
    }
}
