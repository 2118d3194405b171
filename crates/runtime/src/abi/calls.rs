//! The calls under way in each thread, as the compiler tells of entries and exits of functions.
//!
//! An entry notes where the function was called from, an exit forgets it, and both are recorded at once where a hook
//! could append by itself. Else what changed is recorded before the thread's next event ([`Inside::tell_calls`]). An
//! `Enter` says that the calls from a depth on are over and that one is under way there; an `Exit`, that they are over.
//!
//! Not every entry has its exit: `longjmp` leaves functions without one. So each call is noted with its stack pointer. A
//! call whose frame is not above that of a function that is entered, or that is left, is over.

use core::sync::atomic::Ordering::{Relaxed, SeqCst};
use core::sync::atomic::{AtomicUsize, compiler_fence};

use reweave_wire::Op;
use reweave_wire::ring::Slot;

use crate::abi::export::export_before;
use crate::abi::front;
use crate::libc::libraries;
use crate::libc::real;
use crate::libc::signals;
use crate::record::log;
use crate::record::recording::Inside;
use crate::sched::thread::{self, Thread};
use crate::sys;

/// How many calls are kept; those deeper in are counted only.
const KEPT: usize = 1 << 14;

/// A call under way.
#[derive(Clone, Copy)]
#[repr(C)]
struct Call {
    /// The address that it returns to; 0 for calls that were not kept.
    code: usize,
    /// Where the stack of the called function ended when it told of its entry.
    stack: usize,
    /// The site of the called function; 0 where its compiler did not say.
    function: usize,
}

/// The calls under way in a thread. Only the thread itself, and its signal handlers, touch them.
#[derive(Default)]
pub(crate) struct Calls {
    /// Where they are kept; 0 as long as there was none.
    at: AtomicUsize,
    depth: AtomicUsize,
    /// Calls below belong to what a signal interrupted.
    floor: AtomicUsize,
    /// So many, from the outermost on, are as they were recorded.
    same: AtomicUsize,
    /// How many were recorded.
    recorded: AtomicUsize,
    /// Not 0 where something may have changed since.
    moved: AtomicUsize,
    /// What hooks could not tell of by themselves, and is not counted as steps yet.
    missed: AtomicUsize,
}

impl Calls {
    fn calls(&self) -> *mut Call {
        if self.at.load(Relaxed) == 0 {
            // One more for all those that are not kept.
            self.at.store(sys::map((KEPT + 1) * size_of::<Call>()), Relaxed);
        }
        self.at.load(Relaxed) as *mut Call
    }

    fn get(&self, place: usize) -> Call {
        let calls = self.calls();
        if calls.is_null() {
            return Call { code: 0, stack: 0, function: 0 };
        }
        // SAFETY: `calls` has room for so many, and only this thread touches them.
        unsafe { calls.add(place.min(KEPT)).read() }
    }

    fn cut(&self, depth: usize) {
        self.depth.store(depth, Relaxed);
        if depth < self.same.load(Relaxed) {
            self.same.store(depth, Relaxed);
        }
        self.moved.store(1, Relaxed);
        self.miss();
        // As if it had been told of: then the next branch would not be left out.
        front::forget_branch();
        log::ask_next();
    }

    /// Something that a hook tells of, and counts as a step, could not be told of by the hook.
    pub(crate) fn miss(&self) {
        self.missed.store(self.missed.load(Relaxed) + 1, Relaxed);
    }

    /// All calls but those from `depth` on are as they were recorded, and so is what changed there.
    fn told(&self, depth: usize) {
        self.depth.store(depth, Relaxed);
        self.recorded.store(depth, Relaxed);
        self.same.store(depth, Relaxed);
    }

    /// How much hooks could not tell of by themselves since this was asked last. These are steps as the others are: whether
    /// there was room for them depends on how fast the recorder is, and must not decide who runs next.
    #[inline(always)]
    pub(crate) fn take_missed(&self) -> u64 {
        let missed = self.missed.load(Relaxed);
        if missed != 0 {
            self.missed.store(0, Relaxed);
        }
        missed as u64
    }

    /// Whether something may have changed that was not recorded.
    #[inline(always)]
    pub(crate) fn are_untold(&self) -> bool {
        self.moved.load(Relaxed) != 0
    }

    /// Forgets the calls whose frames end below `stack`, but none that a signal interrupted.
    #[inline(always)]
    fn forget_below(&self, stack: usize) -> usize {
        let mut depth = self.depth.load(Relaxed);
        let floor = self.floor.load(Relaxed);
        while depth > floor && self.get((depth - 1).min(KEPT - 1)).stack < stack {
            depth = (depth - 1).min(KEPT - 1);
        }
        depth
    }

    /// Where the calls under way return to, from the inside out, but no more than so many. Its thread does not run.
    pub(crate) fn callers(&self, most: usize, each: impl FnMut(usize)) {
        let depth = self.depth.load(Relaxed).min(KEPT);
        (0..depth).rev().take(most).map(|place| self.get(place).code).for_each(each);
    }

    /// A function is entered; `tell` records that, if it can.
    #[inline(always)]
    fn enter(&self, code: usize, stack: usize, function: usize, tell: impl FnOnce(Slot) -> bool) {
        let calls = self.calls();
        if calls.is_null() {
            return;
        }
        // A function that is entered where another one's frame was shows that the other one is over.
        let depth = self.forget_below(stack + 1);
        let told = !self.are_untold()
            && depth < KEPT
            && tell(Slot::operation(Op::Enter, code as u64, depth as u64, function as u64));
        // The depth first: a signal handler that comes in between uses what is above it.
        if told {
            self.told(depth + 1);
        } else {
            self.cut(depth + 1);
        }
        let kept = Call { code, stack, function };
        let call = if depth < KEPT { kept } else { Call { code: 0, stack, function: 0 } };
        // SAFETY: `calls` has room for one more than are kept, and only this thread touches them.
        unsafe { calls.add(depth.min(KEPT)).write(call) };
        if !told && depth < self.same.load(Relaxed) {
            self.same.store(depth, Relaxed);
        }
    }

    /// `code` is where the hook returns to. The last thing that a function does may be to jump to the hook: then it returns to
    /// the function's caller, and the function's own frame is gone already. `tell` records it, if it can. The answer is the
    /// address that the function returns to; 0 where it was not kept.
    #[inline(always)]
    fn exit(&self, stack: usize, code: usize, tell: impl FnOnce(Slot) -> bool) -> usize {
        let (before, depth) = (self.depth.load(Relaxed), self.forget_below(stack));
        let jumped = depth < before && self.get(depth).code == code;
        let left = if jumped { depth } else { depth.saturating_sub(1) };
        let left = left.max(self.floor.load(Relaxed));
        let caller = left.checked_sub(1).map_or(0, |place| self.get(place).code);
        let told = !self.are_untold()
            && left < before
            && before <= KEPT
            && tell(Slot::operation(Op::Exit, caller as u64, left as u64, 0));
        let back = if left < before { self.get(left).code } else { 0 };
        if told {
            self.told(left);
        } else {
            self.cut(left);
        }
        back
    }
}

extern "C" fn entry(code: usize, stack: usize, function: usize) {
    if let Some(me) = thread::current() {
        undisturbed(me, |tell| me.calls.enter(code, stack, function, tell));
        if libraries::is_foreign(code) {
            libraries::called_back(code);
        }
    }
}

extern "C" fn exit(stack: usize, code: usize) {
    if let Some(me) = thread::current() {
        let mut back = 0;
        undisturbed(me, |tell| back = me.calls.exit(stack, code, tell));
        if libraries::is_foreign(back) {
            libraries::returns(back);
        }
    }
}

/// Changes a thread's calls while no handler of a signal runs: one that comes waits until that is done.
#[inline(always)]
fn undisturbed(me: &'static Thread, change: impl FnOnce(fn(Slot) -> bool)) {
    if me.closed.load(Relaxed) != 0 {
        return change(|_| false);
    }
    me.closed.store(1, Relaxed);
    // A signal comes to the same thread: only the compiler must not move what it sees.
    compiler_fence(SeqCst);
    change(log::append_as_hook);
    compiler_fence(SeqCst);
    me.closed.store(0, Relaxed);
    if me.signals.load(Relaxed) != 0 {
        signals::deliver(me);
    }
}

// These are passed where the stack ends instead of where they were called.
#[cfg(not(test))]
core::arch::global_asm!(
    ".text", ".balign 16", ".weak __tsan_func_entry", ".type __tsan_func_entry,@function", "__tsan_func_entry:",
    "mov rsi, rsp", "xor edx, edx", "jmp {entry}", ".size __tsan_func_entry, . - __tsan_func_entry",
    ".balign 16", ".weak __reweave_entered", ".type __reweave_entered,@function", "__reweave_entered:",
    "mov rdx, rsi", "mov rsi, rsp", "jmp {entry}", ".size __reweave_entered, . - __reweave_entered",
    ".balign 16", ".weak __tsan_func_exit", ".type __tsan_func_exit,@function", "__tsan_func_exit:",
    "mov rdi, rsp", "mov rsi, [rsp]", "jmp {exit}", ".size __tsan_func_exit, . - __tsan_func_exit",
    entry = sym entry, exit = sym exit
);
#[cfg(test)]
const _: usize = {
    let _ = (entry, exit);
    0
};

impl Inside {
    /// Records which calls are under way, where that changed.
    #[inline(always)]
    pub(crate) fn tell_calls(&mut self) {
        if self.me.calls.are_untold() {
            self.tell_changes();
        }
    }

    #[cold]
    fn tell_changes(&mut self) {
        let calls = &self.me.calls;
        let depth = calls.depth.load(Relaxed).min(KEPT + 1);
        let same = calls.same.load(Relaxed).min(depth);
        for place in same..depth {
            let Call { code, function, .. } = calls.get(place);
            self.operation(Op::Enter, place, function as u64, code);
        }
        if same == depth && calls.recorded.load(Relaxed) > depth {
            let caller = depth.checked_sub(1).map_or(0, |place| calls.get(place).code);
            self.operation(Op::Exit, depth, 0, caller);
        }
        calls.recorded.store(depth, Relaxed);
        calls.same.store(depth, Relaxed);
        calls.moved.store(0, Relaxed);
    }
}

/// What a signal interrupted: its calls stay as they are.
pub(crate) struct Interrupted {
    depth: usize,
    floor: usize,
}

/// A signal handler begins.
pub(crate) fn interrupt(me: &Thread) -> Interrupted {
    let depth = me.calls.depth.load(Relaxed);
    Interrupted { depth, floor: me.calls.floor.swap(depth, Relaxed) }
}

/// A signal handler has returned.
pub(crate) fn resume(me: &Thread, interrupted: &Interrupted) {
    me.calls.floor.store(interrupted.floor, Relaxed);
    me.calls.cut(interrupted.depth);
}

/// The stack pointer in the buffer of `longjmp`, which libc disguises.
fn target(buffer: usize) -> usize {
    const STACK: usize = 6;
    let disguised = crate::abi::access::load(buffer + STACK * 8, 8) as usize;
    let guard: usize;
    // SAFETY: where every thread of glibc keeps what it disguises pointers with.
    unsafe {
        core::arch::asm!("mov {}, qword ptr fs:[0x30]", out(reg) guard, options(nostack, readonly, preserves_flags));
    }
    disguised.rotate_right(0x11) ^ guard
}

/// Functions are left without an exit. A handler may be among them.
extern "C" fn jumps(buffer: usize, _value: usize, _code: usize) -> usize {
    if let Some(me) = thread::current() {
        let calls = &me.calls;
        let floor = calls.floor.swap(0, Relaxed);
        // What is told of an entry lies one return address below the function's own frame.
        let depth = calls.forget_below(target(buffer).saturating_sub(size_of::<usize>()));
        if depth < floor {
            me.pinned.store(0, Relaxed);
        } else {
            calls.floor.store(floor, Relaxed);
        }
        calls.cut(depth);
    }
    0
}

export_before! {
    longjmp(2) => jumps, then real::found::longjmp;
    _longjmp(2) => jumps, then real::found::_longjmp;
    siglongjmp(2) => jumps, then real::found::siglongjmp;
    __longjmp_chk(2) => jumps, then real::found::__longjmp_chk;
}

#[cfg(test)]
mod tests;
