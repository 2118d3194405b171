//! The memory that a recorded program shares with its recorder: a ring of slots, appended to by one thread at a time.
//!
//! The program writes slots and says now and then how far it is ([`field::PUBLISHED`]); the recorder takes them out and says
//! how far that is ([`field::CONSUMED`]). Positions count slots from the start of the recording; a slot's place in the
//! ring is its position modulo the capacity. What was written but not yet published is found through
//! [`field::CURSOR`] where the program was killed.

use crate::Op;

/// The bytes of a slot: three words.
pub const SLOT_BYTES: usize = 24;

/// Where the slots begin.
pub const SLOTS_AT: usize = 4096;

/// Has the processor fetch what will soon be read: it takes long where another core wrote it.
#[inline(always)]
pub fn fetch<T>(from: &T) {
    #[cfg(target_arch = "x86_64")]
    #[expect(unsafe_code, reason = "an instruction of the processor")]
    // SAFETY: fetching changes nothing that a program can see, whatever the address.
    unsafe {
        use core::arch::x86_64::{_MM_HINT_T0, _mm_prefetch};
        _mm_prefetch::<_MM_HINT_T0>(core::ptr::from_ref(from).cast());
    }
}

/// What the ring of this layout begins with.
pub const RING_MAGIC: u64 = 0x0032_676e_6972_7772;

/// Where the fields of the head are, in bytes. Those that different sides write lie in different cache lines.
pub mod field {
    /// [`super::RING_MAGIC`].
    pub const MAGIC: usize = 0;
    /// How many slots there are.
    pub const CAPACITY: usize = 8;
    /// The recorder's process.
    pub const RECORDER: usize = 16;
    /// Where the program has slot 0: its own address.
    pub const BASE: usize = 24;
    /// The program's process.
    pub const PROGRAM: usize = 32;
    /// The program's address of the next slot.
    pub const CURSOR: usize = 64;
    /// The program may append below this address without a look at anything else.
    pub const LIMIT: usize = 72;
    /// How many slots are complete.
    pub const PUBLISHED: usize = 128;
    /// What the program is doing: see [`super::state`].
    pub const STATE: usize = 136;
    /// The position of the slot at the last cursor that [`PUBLISHED`] was computed from, and that cursor.
    pub const ANCHOR: usize = 144;
    /// See [`ANCHOR`].
    pub const ANCHOR_CURSOR: usize = 152;
    /// How many slots the recorder has taken out.
    pub const CONSUMED: usize = 192;
    /// Not 0 once the recorder takes no more.
    pub const STOP: usize = 200;
}

/// What a recorded program is doing.
pub mod state {
    /// No program has come.
    pub const NOBODY: u64 = 0;
    /// It runs.
    pub const RUNS: u64 = 1;
    /// It wrote all that it had.
    pub const FINISHED: u64 = 2;
}

/// What a slot is, in the highest byte of its first word. Accesses are one of these classes plus their size, 1 to 8.
pub mod kind {
    /// A plain read; its value is that.
    pub const READ: u8 = 0x00;
    /// A plain write that a hook told of before it happened; its value is that, read afterwards.
    pub const WRITE: u8 = 0x10;
    /// A plain write that was recorded afterwards; its value is that.
    pub const WRITTEN: u8 = 0x20;
    /// An atomic read.
    pub const ATOMIC_READ: u8 = 0x30;
    /// An atomic write.
    pub const ATOMIC_WRITE: u8 = 0x40;
    /// An atomic update: what it read; the next slot is [`MORE`], with what it wrote.
    pub const UPDATE: u8 = 0x50;
    /// A conditional atomic step that failed: what it read; the next slot is [`MORE`], with what it expected.
    pub const FAILED: u8 = 0x60;
    /// A look at a clock, which has no value.
    pub const LOOK: u8 = 0x70;
    /// Everything from here on is no access.
    pub const OTHERS: u8 = 0x80;
    /// Another operation: this plus its code.
    pub const OPERATION: u8 = 0x80;
    /// What the slot before has no room for.
    pub const MORE: u8 = 0xF0;
    /// Another thread runs from here on.
    pub const SWITCH: u8 = 0xF1;
    /// The running thread has its stack here: address and size.
    pub const STACK: u8 = 0xF2;
}

/// Three words: what and where in the code, the address or number that it is about, a value.
///
/// The first word has its kind in the highest byte, then a byte of detail, then the address of the code. Of a value only the
/// bytes of the access's size count. Code that appends by itself compares [`field::CURSOR`] with [`field::LIMIT`], puts
/// the value into the slot before if that is [`AWAITED`], writes the three words at the cursor and moves it, in this order.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub struct Slot(pub [u64; 3]);

/// Added to the detail of an access that is a further part of what one call of a hook tells of.
pub const PART_OF_CALL: u8 = 0x80;

/// Added to the detail of a read whose bytes are read in turn, each only because of what those before were.
pub const BYTES_IN_TURN: u8 = 0x40;

/// Added to the detail of a write whose value is not there yet, if the slot is the last one. The thread's next hook reads it
/// from memory.
pub const AWAITED: u8 = 0x20;

/// The bits of a call's value that are the length of its text; those above are where it begins in the file of texts.
pub const CALL_BITS: u32 = 16;

/// What begins the text of a call that says of what type its object is: `#of set add(1)=true`.
pub const OF: &str = "#of ";

/// What stands for the call in a text where a new object begins at the address: `#of set #new`.
pub const NEW: &str = "#new";

/// The bits of the first word that are the address of the code.
pub const CODE_BITS: u64 = (1 << 48) - 1;

impl Slot {
    /// A slot.
    #[inline]
    pub fn new(kind: u8, detail: u8, code: u64, target: u64, value: u64) -> Slot {
        Slot([u64::from(kind) << 56 | u64::from(detail) << 48 | code & CODE_BITS, target, value])
    }

    /// A slot of an operation that is no access.
    #[inline]
    pub fn operation(op: Op, code: u64, target: u64, value: u64) -> Slot {
        Slot::new(kind::OPERATION + op as u8, 0, code, target, value)
    }

    /// What it is.
    #[inline]
    pub fn kind(self) -> u8 {
        (self.0[0] >> 56) as u8
    }

    /// The byte of detail.
    #[inline]
    pub fn detail(self) -> u8 {
        (self.0[0] >> 48) as u8
    }

    /// The address of the code.
    #[inline]
    pub fn code(self) -> u64 {
        self.0[0] & CODE_BITS
    }

    /// The address or number that it is about.
    #[inline]
    pub fn target(self) -> u64 {
        self.0[1]
    }

    /// Whether it is a write whose value is not there yet, if it is the last slot.
    #[inline]
    pub fn is_awaited(self) -> bool {
        self.detail() & AWAITED != 0
    }

    /// The same slot where its value is there.
    #[inline]
    pub fn settled(self) -> Slot {
        let [word, target, value] = self.0;
        Slot([word & !(u64::from(AWAITED) << 48), target, value])
    }

    /// Whether it is an event, and not a part of one or a note about those that follow.
    #[inline]
    pub fn is_event(self) -> bool {
        self.kind() < kind::MORE
    }
}
