//! Threads that run freely: at once, as the machine lets them.
//!
//! A thread that runs the program has no baton; it is as one in a call that takes any time. Its hooks append to slots of its
//! own. For everything else, synchronisation above all, it takes the baton as ever, and first adds its slots to the
//! recording. So the order of synchronisation and of atomic accesses is exact, and every plain access lies between the
//! right two of its thread's; but where between them, and so which of two that race came first, is a guess. Values of plain
//! accesses are as each thread saw them.

use core::sync::atomic::AtomicBool;
use core::sync::atomic::Ordering::Relaxed;

use reweave_wire::Op;
use reweave_wire::ring::{SLOT_BYTES, Slot, kind};

use crate::log;
use crate::recording::Inside;
use crate::sys;
use crate::thread;

/// How many slots of its own a thread has: enough that it comes back for the baton less often than it takes another to wake
/// up with it, or all would wait for each other most of the time.
const SLOTS: usize = 1 << 15;
/// So many of them are not for hooks.
const KEPT_BACK: usize = 1 << 9;
/// Where they begin, after the cursor, the limit and as many zeroes as a slot has.
const SLOTS_AT: usize = 64;

static ON: AtomicBool = AtomicBool::new(false);

/// Whether threads run freely.
#[inline(always)]
pub(crate) fn is_on() -> bool {
    ON.load(Relaxed)
}

/// Says whether threads run freely, before the first one does.
pub(crate) fn set(on: bool) {
    ON.store(on, Relaxed);
}

/// Notes among the thread's own slots that a block was taken or given back; whether it did. The caller may be libc, with a
/// lock in its hands: it must not wait for the baton. A block that is given back stays until that was recorded, or
/// another thread might get it before.
pub(crate) fn note(op: Op, at: usize, size: usize, code: usize) -> bool {
    let Some(me) = thread::current().filter(|_| is_on()) else { return false };
    let head = me.head.load(Relaxed);
    if me.closed.load(Relaxed) != 0 || head == 0 {
        return false;
    }
    let (cell, end) = (head as *mut usize, head + SLOTS_AT + SLOTS * SLOT_BYTES);
    // SAFETY: the thread's own head.
    let cursor = unsafe { cell.read_volatile() };
    if cursor >= end {
        // Nothing is known of a block then, and it is given back at once.
        if op == Op::Free {
            crate::heap::give_back(at);
        }
        return true;
    }
    let Slot([a, b, c]) = Slot::operation(op, code as u64, at as u64, size as u64);
    let slot = cursor as *mut u64;
    // SAFETY: within the thread's own slots. If the one before is that of a write, this has happened.
    unsafe {
        log::fill(slot.sub(SLOT_BYTES / 8));
        slot.write(a);
        slot.add(1).write(b);
        slot.add(2).write(c);
        cell.write_volatile(cursor + SLOT_BYTES);
    }
    true
}

impl Inside {
    /// The calling thread's own slots: their head, made where there is none yet; none where there is no memory.
    fn own_head(&self) -> Option<*mut usize> {
        let head = &self.me.head;
        if head.load(Relaxed) == 0 {
            head.store(sys::map(SLOTS_AT + SLOTS * SLOT_BYTES), Relaxed);
        }
        let head = head.load(Relaxed) as *mut usize;
        (!head.is_null()).then_some(head)
    }

    /// Gives the baton back and runs the program.
    pub(crate) fn set_free(&mut self) {
        let head = self.own_head();
        if let Some(head) = head {
            let first = head as usize + SLOTS_AT;
            let end = first + SLOTS * SLOT_BYTES;
            let announced = self.announced();
            // SAFETY: `own_head` mapped this memory, and only this thread uses it.
            unsafe {
                head.write_volatile(first);
                if let Some(slot) = announced {
                    (first as *mut [u64; 3]).write(slot.0);
                    head.write_volatile(first + SLOT_BYTES);
                }
                // The rest is for blocks of the heap.
                let limit = end - KEPT_BACK * SLOT_BYTES;
                let waits = self.me.pending.get().is_some() || self.me.calls.are_untold();
                head.add(1).write_volatile(if waits { 0 } else { limit });
            }
        }
        self.core().log.settle();
        self.core().log.publish_much();
        self.run_beside();
        self.me.closed.store(0, Relaxed);
        if let Some(head) = head {
            log::set_head(head as usize);
        }
    }

    /// Takes the baton, and adds what the thread's hooks appended.
    pub(crate) fn gather(&mut self) {
        self.come_back();
        let Some(head) = self.own_head() else { return };
        let first = head as usize + SLOTS_AT;
        // SAFETY: as above; hooks keep the cursor within the slots.
        let cursor = unsafe { head.read_volatile() };
        let count = (cursor.saturating_sub(first) / SLOT_BYTES).min(SLOTS);
        if count > 0 {
            log::fill((cursor - SLOT_BYTES) as *mut u64);
        }
        for place in 0..count {
            let at = (first + place * SLOT_BYTES) as *mut u64;
            // SAFETY: one of the slots that a hook has written.
            let slot = unsafe { Slot([at.read(), at.add(1).read(), at.add(2).read()]) }.settled();
            if self.took_or_gave_back(slot) {
                continue;
            }
            self.slot(slot);
        }
        // SAFETY: as above.
        unsafe { head.write_volatile(first) };
    }

    /// Records that a block was taken, or was to be given back, and gives it back.
    fn took_or_gave_back(&mut self, slot: Slot) -> bool {
        let (at, code) = (slot.target() as usize, slot.code() as usize);
        if slot.kind() == kind::OPERATION + Op::Alloc as u8 {
            self.allocated(at, slot.0[2] as usize, code);
            return true;
        }
        if slot.kind() == kind::OPERATION + Op::Free as u8 {
            self.freed(at, code);
            crate::heap::give_back(at);
            return true;
        }
        false
    }
}
