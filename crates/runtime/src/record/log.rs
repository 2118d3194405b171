//! The recording under way: slots in memory that is shared with `reweave record`.
//!
//! The hooks of plain accesses append to it in a few instructions ([`crate::abi::hooks`]), up to a limit that is reached where
//! there is something to think about: the ring is full, it is time for a scheduling decision, a write is still to be
//! looked at. Everything else appends through [`Log`]. Who appends has the baton, so nothing here is atomic for the sake
//! of other threads of the program; the recorder, another process, looks only at what was published.

mod rounds;

use core::sync::atomic::AtomicU64;
use core::sync::atomic::Ordering::{Acquire, Relaxed, Release};

use reweave_wire::ring::{RING_MAGIC, SLOT_BYTES, SLOTS_AT, Slot, field, kind, state};

use crate::sys;

/// After so many slots the recorder is told of them.
const PUBLISH_BYTES: u64 = 2048 * SLOT_BYTES as u64;
/// A thread goes in circles whose last so many slots are of no more than so many places.
const CIRCLE: [usize; 2] = [64, 12];
/// How often a program that waits for its recorder looks whether there still is one.
const LOOKS: u32 = 64;
/// How long it sleeps between two looks, in nanoseconds.
const NAP: u64 = 50_000;

/// The ring.
pub(crate) struct Log {
    at: usize,
    end: u64,
    /// The position of the slot at `anchor`.
    position: u64,
    anchor: u64,
    /// What is before is published.
    published: u64,
    /// Up to where the recorder leaves room.
    room: u64,
    /// The thread whose slots follow.
    writer: u32,
    stopped: bool,
}

impl Log {
    /// The ring in an open file, mapped; none where it is not one.
    pub(crate) fn map(file: i32) -> Option<Log> {
        let bytes = sys::size(file)?;
        let at = sys::map_shared(file, bytes);
        sys::close(file);
        if at == 0 || bytes <= SLOTS_AT {
            return None;
        }
        let base = (at + SLOTS_AT) as u64;
        let mut log = Log {
            at,
            end: base,
            position: 0,
            anchor: base,
            published: base,
            room: base,
            writer: u32::MAX,
            stopped: false,
        };
        let capacity = log.field(field::CAPACITY).load(Relaxed);
        let bytes =
            capacity.checked_mul(SLOT_BYTES as u64).filter(|&size| size <= (bytes - SLOTS_AT) as u64)?;
        if log.field(field::MAGIC).load(Relaxed) != RING_MAGIC || capacity < 64 {
            return None;
        }
        log.end = base + bytes;
        log.room = log.end;
        log.field(field::BASE).store(base, Relaxed);
        log.field(field::CURSOR).store(base, Relaxed);
        log.field(field::ANCHOR_CURSOR).store(base, Relaxed);
        log.belongs_to(sys::process());
        log.field(field::STATE).store(state::RUNS, Release);
        Some(log)
    }

    /// Says which process is recorded.
    pub(crate) fn belongs_to(&self, process: i32) {
        self.field(field::PROGRAM).store(process as u64, Release);
    }

    /// The process that is recorded.
    pub(crate) fn owner(&self) -> i32 {
        self.field(field::PROGRAM).load(Acquire) as i32
    }

    /// Waits in a child until its parent has said that the child is recorded now. Should the child
    /// fork again and say so first, the parent would name it over the grandchild.
    pub(crate) fn takes_over_from(&self, parent: i32) {
        while self.owner() == parent && sys::process_exists(parent) {
            sys::yield_now();
        }
        // The parent was killed in between.
        if self.owner() == parent {
            self.belongs_to(sys::process());
        }
    }

    #[inline(always)]
    fn field(&self, at: usize) -> &'static AtomicU64 {
        // SAFETY: the head of the ring is mapped for as long as the process lives, and both sides use it atomically.
        unsafe { &*((self.at + at) as *const AtomicU64) }
    }

    /// The part of the head that hooks use.
    pub(crate) fn head(&self) -> usize {
        self.at + field::CURSOR
    }

    #[inline(always)]
    pub(crate) fn cursor(&self) -> u64 {
        self.field(field::CURSOR).load(Relaxed)
    }

    /// Lets hooks append so many slots by themselves, as far as there is room.
    #[inline(always)]
    pub(crate) fn open(&self, slots: u64) {
        let limit = self.cursor().saturating_add(slots.saturating_mul(SLOT_BYTES as u64)).min(self.room);
        self.field(field::LIMIT).store(limit, Relaxed);
    }

    /// Adds a slot by a thread.
    #[inline]
    pub(crate) fn put(&mut self, thread: u32, slot: Slot) {
        if self.writer != thread {
            self.writer = thread;
            self.append(Slot::new(kind::SWITCH, 0, 0, u64::from(thread), 0));
        }
        self.append(slot);
    }

    /// What hooks append from now on is by this thread.
    #[inline(always)]
    pub(crate) fn by(&mut self, thread: u32) {
        if self.writer != thread {
            self.writer = thread;
            self.append(Slot::new(kind::SWITCH, 0, 0, u64::from(thread), 0));
        }
    }

    #[inline]
    fn append(&mut self, slot: Slot) {
        let mut cursor = self.cursor();
        if cursor >= self.room {
            self.make_room();
            cursor = self.cursor();
        }
        let [a, b, c] = slot.0;
        let room = cursor as *mut u64;
        // SAFETY: the cursor is within the ring, whose slots are aligned, and `make_room` left at least one.
        unsafe {
            room.write_volatile(a);
            room.add(1).write_volatile(b);
            room.add(2).write_volatile(c);
        }
        self.field(field::CURSOR).store(cursor + SLOT_BYTES as u64, Relaxed);
    }

    /// The last slot. Where there is none, there are zeroes: what is between the head and the slots.
    #[inline(always)]
    fn last(&self) -> *mut u64 {
        (self.cursor() - SLOT_BYTES as u64) as *mut u64
    }

    /// The last write's value is what is there now.
    #[inline(always)]
    pub(crate) fn settle(&mut self) {
        let last = self.last();
        if let Some(slot) = fill(last) {
            // SAFETY: the slot's first word.
            unsafe { last.write_volatile(slot.settled().0[0]) };
        }
    }

    /// The slot of the write whose value is not known yet.
    #[inline(always)]
    pub(crate) fn pending(&self) -> Option<Slot> {
        let last = self.last();
        // SAFETY: see above.
        let slot = unsafe { Slot([last.read(), last.add(1).read(), 0]) };
        slot.is_awaited().then_some(slot)
    }

    /// Takes the last slot out again, where it is that of a write which something else comes before.
    pub(crate) fn withdraw(&mut self, comes_after: impl FnOnce(Slot, u64) -> bool) -> Option<Slot> {
        // What was published may have been taken.
        if self.last() as u64 <= self.published.wrapping_sub(1) {
            return None;
        }
        withdraw(self.head(), comes_after)
    }

    /// Whether the last slots are of few places in code and memory, as those of a thread are that waits for a variable.
    #[cold]
    pub(crate) fn goes_in_circles(&self) -> bool {
        let slots = (self.cursor() - (self.at + SLOTS_AT) as u64) as usize / SLOT_BYTES;
        let (mut places, mut count) = ([[0; 2]; CIRCLE[1]], 0);
        for back in 1..=CIRCLE[0].min(slots) {
            let slot = (self.cursor() as usize - back * SLOT_BYTES) as *const u64;
            // SAFETY: a slot of the ring that was written before.
            let place = unsafe { [slot.read_volatile(), slot.add(1).read_volatile()] };
            if places.iter().take(count).any(|known| *known == place) {
                continue;
            }
            let Some(room) = places.get_mut(count) else { return false };
            *room = place;
            count += 1;
        }
        slots >= CIRCLE[0]
    }

    /// Tells the recorder what is there, if that is much.
    #[inline]
    pub(crate) fn publish_much(&mut self) {
        if self.cursor().wrapping_sub(self.published) >= PUBLISH_BYTES {
            self.publish();
        }
    }

    /// Tells the recorder what is there. No value may be awaited.
    pub(crate) fn publish(&mut self) {
        let cursor = self.cursor();
        self.published = cursor;
        let position = self.position + (cursor - self.anchor) / SLOT_BYTES as u64;
        self.field(field::PUBLISHED).store(position, Release);
        // The recorder's mark is in its own cache line: it is only looked at now and then.
        let consumed = self.field(field::CONSUMED).load(Acquire);
        let capacity = (self.end - (self.at + SLOTS_AT) as u64) / SLOT_BYTES as u64;
        let free = capacity.saturating_sub(position - consumed.min(position));
        self.room = cursor.saturating_add(free * SLOT_BYTES as u64).min(self.end);
        if self.stopped || self.field(field::STOP).load(Relaxed) != 0 {
            self.stopped = true;
            self.room = self.end;
        }
    }

    /// Waits until there is room for a slot.
    #[cold]
    fn make_room(&mut self) {
        let mut looks = 0;
        loop {
            self.publish();
            if self.cursor() >= self.end {
                self.wrap();
                self.publish();
            }
            if self.cursor() < self.room {
                return;
            }
            looks += 1;
            if looks % LOOKS == 0 && !sys::process_exists(self.field(field::RECORDER).load(Relaxed) as i32) {
                self.stopped = true;
            }
            sys::sleep(NAP);
        }
    }

    /// Goes on at the start of the ring. A recorder that finds the program killed in here takes what was published.
    fn wrap(&mut self) {
        let base = (self.at + SLOTS_AT) as u64;
        self.position += (self.end - self.anchor) / SLOT_BYTES as u64;
        self.anchor = base;
        self.published = base;
        self.field(field::ANCHOR_CURSOR).store(u64::MAX, Relaxed);
        self.field(field::CURSOR).store(base, Release);
        self.field(field::ANCHOR).store(self.position, Release);
        self.field(field::ANCHOR_CURSOR).store(base, Release);
        self.room = base;
    }

    /// The last slot is written.
    pub(crate) fn finish(&mut self) {
        self.publish();
        self.field(field::STATE).store(state::FINISHED, Release);
    }
}

/// Puts what its write left in memory into the last slot, where that is awaited. It is no more if another slot follows.
#[inline(always)]
pub(crate) fn fill(last: *mut u64) -> Option<Slot> {
    // SAFETY: a slot, or zeroes. Where its value is awaited, its second word is an address that the program has just
    // written to.
    unsafe {
        let slot = Slot([last.read(), last.add(1).read(), 0]);
        if !slot.is_awaited() {
            return None;
        }
        let size = usize::from(slot.kind() & 15);
        last.add(2).write_volatile(crate::abi::access::load(slot.target() as usize, size));
        Some(slot)
    }
}

/// Takes the last slot before a head's cursor out again, where it is that of a write which something else comes before.
pub(crate) fn withdraw(head: usize, comes_after: impl FnOnce(Slot, u64) -> bool) -> Option<Slot> {
    let cell = head as *mut u64;
    // SAFETY: a head that the calling thread appends to; before its cursor is a slot, or there are zeroes.
    unsafe {
        let cursor = cell.read_volatile();
        let last = (cursor - SLOT_BYTES as u64) as *const u64;
        let slot = Slot([last.read(), last.add(1).read(), last.add(2).read()]);
        let is_write = matches!(slot.kind() & 0xF0, kind::WRITE | kind::WRITTEN);
        if !is_write || !comes_after(slot, cursor) {
            return None;
        }
        cell.write_volatile(cursor - SLOT_BYTES as u64);
        Some(slot)
    }
}

// Where hooks append: the address of the head, or of one that always says that there is no room. As for the current
// thread, the assembler has a name for a word of thread-local memory.
#[cfg(not(test))]
core::arch::global_asm!(
    ".section .data.rel.ro.reweave_shut,\"aw\",@progbits",
    ".balign 8",
    "reweave_shut:",
    ".zero 16",
    ".section .tdata.reweave_log,\"awT\",@progbits",
    ".hidden reweave_log",
    ".globl reweave_log",
    ".type reweave_log,@object",
    ".size reweave_log,8",
    ".balign 8",
    "reweave_log:",
    ".quad reweave_shut",
    ".previous"
);

/// From now on the hooks of this thread append to the head, or, where it is 0, ask first.
#[cfg(not(test))]
#[inline(always)]
pub(crate) fn set_head(head: usize) {
    // SAFETY: writes the word defined above.
    unsafe {
        core::arch::asm!("mov qword ptr fs:[reweave_log@tpoff], {}", in(reg) head,
                         options(nostack, preserves_flags));
    }
}

/// From now on the hooks of this thread ask first.
#[cfg(not(test))]
#[inline(always)]
pub(crate) fn shut() {
    // SAFETY: writes the word defined above.
    unsafe {
        core::arch::asm!("lea {at}, [rip + reweave_shut]", "mov qword ptr fs:[reweave_log@tpoff], {at}",
                         at = out(reg) _, options(nostack, preserves_flags));
    }
}

#[cfg(test)]
pub(crate) fn set_head(_: usize) {}

#[cfg(test)]
pub(crate) fn shut() {}

/// Adds a slot where the hooks of this thread append, as they do; whether there was room. No signal's handler may come
/// in between: the thread must be closed.
#[cfg(not(test))]
#[inline(always)]
pub(crate) fn append_as_hook(slot: Slot) -> bool {
    let head: *mut u64;
    // SAFETY: the word points to a head, shut or not. A hook would append there now, so this thread may.
    unsafe {
        core::arch::asm!("mov {}, qword ptr fs:[reweave_log@tpoff]", out(reg) head,
                         options(nostack, readonly, preserves_flags));
        let (cursor, limit) = (head.read_volatile(), head.add(1).read_volatile());
        if cursor >= limit {
            return false;
        }
        let room = cursor as *mut u64;
        fill(room.sub(SLOT_BYTES / 8));
        for (place, word) in slot.0.into_iter().enumerate() {
            room.add(place).write_volatile(word);
        }
        head.write_volatile(cursor + SLOT_BYTES as u64);
    }
    true
}

#[cfg(test)]
pub(crate) fn append_as_hook(_: Slot) -> bool {
    false
}

/// The next hook of this thread asks first, and what [`crate::record::recording::Inside::settle`] does is done before its access.
#[cfg(not(test))]
#[inline(always)]
pub(crate) fn ask_next() {
    // SAFETY: the word points to a head, shut or not; one that is shut always asks, and cannot be written.
    unsafe {
        core::arch::asm!("mov {at}, qword ptr fs:[reweave_log@tpoff]", "cmp qword ptr [{at} + 8], 0", "je 2f",
                         "mov qword ptr [{at} + 8], 0", "2:", at = out(reg) _, options(nostack));
    }
}

#[cfg(test)]
pub(crate) fn ask_next() {}
