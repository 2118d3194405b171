//! What a signal interrupted: whether the write that the last hook told of has happened.
//!
//! A hook tells of a write before the program does it. A handler that runs in between comes before the write, one that runs
//! after it sees what was written. The machine code between the hook and the interrupted instruction says which: the
//! store follows its hook within a few instructions, and there is no call in between.

use core::sync::atomic::Ordering::Relaxed;
use core::sync::atomic::{AtomicU64, AtomicUsize};

use reweave_wire::ring::{PART_OF_CALL, Slot, kind};
use reweave_wire::{MAX_BETWEEN, may_have_stored};

use crate::abi::access::load;
use crate::abi::hooks;
use crate::record::recording::Inside;
use crate::sched::thread::Pending;

/// Registers of the interrupted thread, and the signals that it blocks, from the start of what the kernel passes.
const RSP: usize = 160;
const RIP: usize = 168;
const MASK: usize = 296;
/// How much stack our own code takes below the hook that it belongs to, at the most.
const DEEPEST: usize = 1 << 14;

/// A hook that our own code took over from.
#[derive(Clone, Copy)]
pub(crate) struct Hook {
    /// Where the slot ends that tells of its write; 0 where it told of none.
    pub(crate) cursor: u64,
    /// Where it returns to, and where on the stack that is.
    code: usize,
    stack: usize,
}

/// Room for one, which only the thread itself uses.
#[derive(Default)]
pub(crate) struct Announced {
    cursor: AtomicU64,
    code: AtomicUsize,
    stack: AtomicUsize,
}

impl Announced {
    /// The calling hook tells of a write that follows.
    #[inline(always)]
    pub(crate) fn set(&self, code: usize, stack: usize) {
        self.code.store(code, Relaxed);
        self.stack.store(stack, Relaxed);
        self.cursor.store(1, Relaxed);
    }

    /// The same as before.
    pub(crate) fn set_again(&self, hook: &Hook) {
        self.set(hook.code, hook.stack);
    }

    /// The slot that tells of the write, if there is one, ends there.
    #[inline(always)]
    pub(crate) fn is_before(&self, cursor: u64) {
        if self.cursor.load(Relaxed) != 0 {
            self.cursor.store(cursor, Relaxed);
        }
    }

    /// The write has happened.
    #[inline(always)]
    pub(crate) fn forget(&self) {
        self.cursor.store(0, Relaxed);
    }

    pub(crate) fn get(&self) -> Hook {
        Hook {
            cursor: self.cursor.load(Relaxed),
            code: self.code.load(Relaxed),
            stack: self.stack.load(Relaxed),
        }
    }
}

impl Inside {
    /// Takes back the write that was announced last, if it has not happened yet.
    pub(crate) fn withdraw_announced(
        &mut self,
        context: Context,
        hook: &Hook,
    ) -> (Option<Pending>, Option<Slot>) {
        let pending = self.me.pending.get().filter(|pending| context.precedes_pending(pending));
        if pending.is_some() {
            self.me.pending.set(None);
        }
        (pending, self.core().log.withdraw(|slot, cursor| context.precedes_slot(hook, slot, cursor)))
    }
}

/// The state of a thread that a signal interrupted; 0 where there is none.
#[derive(Clone, Copy)]
pub(crate) struct Context(pub(crate) usize);

impl Context {
    fn word(self, at: usize) -> Option<usize> {
        (self.0 != 0).then(|| load(self.0 + at, 8) as usize)
    }

    /// A hook that was interrupted before its slot counted begins anew when the handler returns: the handler appends
    /// slots of its own. So does one that read what may not be read, once the handler has mended that.
    pub(crate) fn rewind(self) {
        let Some(code) = self.word(RIP) else { return };
        let (start, end) = hooks::range();
        if (start..end).contains(&code) && load(code, 1) != hooks::RETURN {
            let begin = code - (code - start) % hooks::HOOK_BYTES;
            // SAFETY: the kernel passes the registers of the interrupted thread, of which this is one.
            unsafe { ((self.0 + RIP) as *mut usize).write(begin) };
        }
    }

    /// The interrupted thread blocks the signal when the handler returns.
    pub(crate) fn block(self, signal: i32) {
        if self.0 != 0 {
            let mask = (self.0 + MASK) as *mut u64;
            // SAFETY: the kernel takes the mask from there when the handler returns.
            unsafe { mask.write(mask.read() | 1 << (signal - 1)) };
        }
    }

    /// Whether the write of `length` bytes, whose hook returns to `hook`, has not happened yet.
    pub(crate) fn precedes(self, hook: usize, length: usize) -> bool {
        let (Some(code), Some(stack)) = (self.word(RIP), self.word(RSP)) else { return false };
        let (start, end) = hooks::range();
        if (start..end).contains(&code) {
            // The hook has not returned; one that has not counted yet belongs to another access.
            return load(code, 1) == hooks::RETURN && load(stack, 8) as usize == hook;
        }
        let ran = code.wrapping_sub(hook);
        if ran > MAX_BETWEEN {
            return false;
        }
        // SAFETY: code of one function of the program, which has run.
        let code = unsafe { core::slice::from_raw_parts(hook as *const u8, ran) };
        !may_have_stored(code, length)
    }

    /// The same for a write of a size that is announced outside of the slots.
    pub(crate) fn precedes_pending(self, pending: &Pending) -> bool {
        let Some(stack) = self.word(RSP) else { return true };
        // The hook may not have returned: where it returns to is on the stack, above our own frames.
        (0..64).any(|place| load(stack + place * 8, 8) as usize == pending.code)
            || self.precedes(pending.code, pending.length)
    }

    /// The same for the write of a slot, the last one before `cursor`.
    pub(crate) fn precedes_slot(self, announced: &Hook, slot: Slot, cursor: u64) -> bool {
        let length = usize::from(slot.kind() & 15);
        if announced.cursor == cursor {
            return self.is_within(announced) || self.precedes(announced.code, length);
        }
        if slot.is_awaited() {
            return self.precedes(slot.code() as usize, length);
        }
        if slot.kind() & 0xF0 != kind::WRITTEN || slot.detail() & PART_OF_CALL != 0 {
            return false;
        }
        // Hooks of the plugin are told the value and not where they return to. That is still below the stack.
        match self.last_hook() {
            Some(hook) => self.precedes(hook, length),
            None => false,
        }
    }

    /// Whether a hook has not returned yet.
    fn is_within(self, hook: &Hook) -> bool {
        let Some(stack) = self.word(RSP) else { return true };
        (stack..stack + DEEPEST).contains(&hook.stack) && load(hook.stack, 8) as usize == hook.code
    }

    /// The address that the interrupted code, or the hook that it is in, returned to last, if that was a hook.
    fn last_hook(self) -> Option<usize> {
        let (code, stack) = (self.word(RIP)?, self.word(RSP)?);
        let (start, end) = hooks::range();
        let at = if (start..end).contains(&code) { stack } else { stack - 8 };
        let hook = load(at, 8) as usize;
        let near = (start..end).contains(&code) || code.wrapping_sub(hook) <= MAX_BETWEEN;
        (near && calls_hook(hook)).then_some(hook)
    }
}

/// Whether the call that returns to `code` is one of a hook: directly, through the linker's table of jumps, or through a word
/// that holds its address.
fn calls_hook(code: usize) -> bool {
    let (start, end) = hooks::range();
    let relative = |at: usize| (at + 4).wrapping_add_signed(load(at, 4) as i32 as isize);
    let called = if load(code - 5, 1) == 0xE8 {
        let called = relative(code - 4);
        if (start..end).contains(&called) {
            return true;
        }
        // The table's entries are jumps through a word, with a mark of a jump's target before it where that is wanted.
        let marked = if load(called, 4) == 0xFA1E_0FF3 { called + 4 } else { called };
        let jump = if load(marked, 1) == 0xF2 { marked + 1 } else { marked };
        if load(jump, 2) != 0x25FF {
            return false;
        }
        relative(jump + 2)
    } else if load(code - 6, 2) == 0x15FF {
        relative(code - 4)
    } else {
        return false;
    };
    (start..end).contains(&(load(called, 8) as usize))
}
