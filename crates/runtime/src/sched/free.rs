//! Threads that run freely: at once, as the machine lets them.
//!
//! A thread that runs the program has no baton; it is as one in a call that takes any time. Its hooks append to slots of its
//! own. For everything else, synchronisation above all, it takes the baton as ever, and first adds its slots to the
//! recording. So the order of synchronisation and of atomic accesses is exact, and every plain access lies between the
//! right two of its thread's; but where between them, and so which of two that race came first, is a guess. Values of plain
//! accesses are as each thread saw them.

use core::sync::atomic::Ordering::{Relaxed, SeqCst};
use core::sync::atomic::{AtomicBool, compiler_fence};

use reweave_wire::Op;
use reweave_wire::ring::{SLOT_BYTES, Slot, kind};

use crate::abi::front;
use crate::libc::interrupted::Context;
use crate::libc::signals;
use crate::record::log;
use crate::record::recording::Inside;
use crate::sched::thread::{self, Thread};
use crate::sys;

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
    // A handler that came in between would append at the same place.
    me.closed.store(1, Relaxed);
    compiler_fence(SeqCst);
    add(head, Slot::operation(op, code as u64, at as u64, size as u64), || {
        // Nothing is known of a block then, and it is given back at once.
        if op == Op::Free {
            crate::libc::heap::give_back(at);
        }
    });
    compiler_fence(SeqCst);
    me.closed.store(0, Relaxed);
    if me.signals.load(Relaxed) != 0 {
        signals::deliver(me);
    }
    true
}

/// Adds a slot to the thread's own, also where hooks have no room any more.
fn add(head: usize, slot: Slot, full: impl FnOnce()) {
    let (cell, end) = (head as *mut usize, head + SLOTS_AT + SLOTS * SLOT_BYTES);
    // SAFETY: the thread's own head.
    let cursor = unsafe { cell.read_volatile() };
    if cursor >= end {
        return full();
    }
    let Slot([a, b, c]) = slot;
    let slot = cursor as *mut u64;
    // SAFETY: within the thread's own slots. If the one before is that of a write, this has happened.
    unsafe {
        log::fill(slot.sub(SLOT_BYTES / 8));
        slot.write(a);
        slot.add(1).write(b);
        slot.add(2).write(c);
        cell.write_volatile(cursor + SLOT_BYTES);
    }
}

/// Runs a signal's handler between what the thread did last and the write that it was about to do; whether it could. The
/// thread may be in libc, with a lock in its hands: it must not wait for the baton.
pub(crate) fn apart(me: &'static Thread, context: Context, run: impl FnOnce()) -> bool {
    let head = me.head.load(Relaxed);
    if head == 0 {
        return false;
    }
    me.closed.store(1, Relaxed);
    compiler_fence(SeqCst);
    let announced = me.announced.get();
    let last = log::withdraw(head, |slot, cursor| context.precedes_slot(&announced, slot, cursor));
    settle(head);
    compiler_fence(SeqCst);
    me.closed.store(0, Relaxed);
    run();
    me.closed.store(1, Relaxed);
    compiler_fence(SeqCst);
    settle(head);
    if let Some(last) = last {
        add(head, last, || ());
        me.announced.set_again(&announced);
        // SAFETY: the thread's own head.
        me.announced.is_before(unsafe { (head as *const u64).read_volatile() });
    }
    compiler_fence(SeqCst);
    me.closed.store(0, Relaxed);
    if me.signals.load(Relaxed) != 0 {
        signals::deliver(me);
    }
    true
}

/// The last write of the thread's own slots has happened.
fn settle(head: usize) {
    // SAFETY: the thread's own head; before its cursor is a slot, or there are zeroes.
    unsafe {
        let last = ((head as *const usize).read_volatile() - SLOT_BYTES) as *mut u64;
        if let Some(slot) = log::fill(last) {
            last.write_volatile(slot.settled().0[0]);
        }
    }
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
                self.me.announced.is_before(head.read_volatile() as u64);
                let waits = self.me.pending.get().is_some() || self.me.calls.are_untold();
                head.add(1).write_volatile(if waits { 0 } else { limit });
            }
        }
        self.core().log.settle();
        self.core().log.publish_much();
        self.run_beside();
        self.give_back_unused();
        // The cursor begins anew: it does not say any more whether a branch was the last thing that happened.
        front::forget_branch();
        self.me.closed.store(0, Relaxed);
        if let Some(head) = head {
            log::set_head(head as usize);
        }
    }

    /// Gives the blocks back that the thread gave back, now that it has not the baton: a thread that a signal interrupted
    /// in libc may wait for that with a lock of libc's in its hands.
    fn give_back_unused(&mut self) {
        let mut block = self.me.unused.swap(0, Relaxed);
        while block != 0 {
            // SAFETY: a block that nobody uses, and whose first word `keep_unused` wrote.
            let next = unsafe { (block as *const usize).read() };
            self.keep_block(block);
            block = next;
        }
    }

    fn keep_unused(&mut self, block: usize) {
        let next = self.me.unused.swap(block, Relaxed);
        // SAFETY: the program gave the block back; libc's blocks have room for three words.
        unsafe { (block as *mut usize).write(next) };
    }

    /// Adds what the other threads did since they last had the baton, but for writes whose values are awaited. They may go on.
    pub(crate) fn gather_others(&mut self) {
        if !is_on() {
            return;
        }
        for place in 0..self.core().live_count {
            let index = self.core().live.as_ref().get(place).copied().unwrap_or(0);
            let other = thread::thread(index as usize);
            let head = other.head.load(SeqCst);
            if head != 0 && index as usize != self.me.index() {
                self.gather_of(other, head);
            }
        }
    }

    fn gather_of(&mut self, other: &'static Thread, head: usize) {
        let (first, gathered) = (head + SLOTS_AT, other.gathered.load(SeqCst));
        // SAFETY: the head of a thread stays, and what is before its cursor is written.
        let cursor = unsafe { (head as *const usize).read_volatile() };
        let count = (cursor.saturating_sub(first) / SLOT_BYTES).min(SLOTS);
        let mut taken = gathered / SLOT_BYTES;
        while taken < count {
            let at = (first + taken * SLOT_BYTES) as *const u64;
            // SAFETY: as above.
            let slot = unsafe { Slot([at.read(), at.add(1).read(), at.add(2).read()]) };
            if taken + 1 == count && slot.is_awaited() {
                break;
            }
            self.put_for(other.index() as u32, slot.settled());
            taken += 1;
        }
        other.gathered.store(taken * SLOT_BYTES, SeqCst);
    }

    fn put_for(&mut self, thread: u32, slot: Slot) {
        let (alloc, freed) = (kind::OPERATION + Op::Alloc as u8, kind::OPERATION + Op::Free as u8);
        let at = slot.target() as usize;
        let core = self.core();
        if slot.kind() == alloc {
            crate::libc::heap::note_size(core, at, Some(slot.0[2] as usize));
        } else if slot.kind() == freed && !crate::libc::heap::note_size(core, at, None) {
            return;
        }
        core.log.put(thread, slot);
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
        // What is before was added when another thread was about to end the program.
        let gathered = self.me.gathered.swap(0, SeqCst) / SLOT_BYTES;
        for place in 0..count {
            let at = (first + place * SLOT_BYTES) as *mut u64;
            // SAFETY: one of the slots that a hook has written.
            let slot = unsafe { Slot([at.read(), at.add(1).read(), at.add(2).read()]) }.settled();
            if place < gathered {
                if slot.kind() == kind::OPERATION + Op::Free as u8 {
                    self.keep_unused(slot.target() as usize);
                }
                continue;
            }
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
            self.keep_unused(at);
            return true;
        }
        false
    }
}
