//! A raw recording: its events one after another.
//!
//! It is a magic word and blocks of slots, written by [`crate::Drain`]. One that was cut off ends at its last whole block.

mod stand_in;

use std::fs::File;
use std::io::{self, BufReader, ErrorKind, Read};
use std::path::Path;
use std::sync::mpsc;
use std::thread;

use reweave_wire::ring::{AWAITED, BYTES_IN_TURN, CALL_BITS, PART_OF_CALL, Slot, kind};
use reweave_wire::{Life, MAX_BETWEEN, Op, Space};

use crate::aliases::Aliases;
use crate::block::{BLOCK_HEAD, RAW_MAGIC, sum};
use crate::coder::{MAX_BYTES, Sites};
pub(crate) use crate::raw::stand_in::StandIn;
use crate::raw::stand_in::{GIVEN, stand_in};
use crate::{Damaged, Error};

/// What an event is about.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Target {
    /// So many bytes of memory, from 1 to 8.
    Bytes { at: u64, length: u8 },
    /// A semaphore, barrier or the like.
    StandIn { at: u64, what: StandIn },
    /// A block of the heap.
    Heap { at: u64, length: u64 },
    /// The stack of a thread.
    Stack { at: u64, length: u64 },
    /// A lock or condition variable, by its address and how often there was one before.
    Sync { at: u64, generation: u32 },
    /// How many calls are under way around the one that begins, or are left.
    Depth(usize),
    /// A thread, by its number in the recording.
    Thread(u32),
    /// A call on the object at an address, with where its text begins and how long it is.
    Call { at: u64, text: u64, length: usize },
    /// A use, or the end, of a semaphore, open file or the like, by where it is and how often there was one before.
    Life { of: Life, at: u64, ends: bool, generation: u32 },
    /// Nothing.
    None,
}

/// One event.
#[derive(Clone, Copy, Debug)]
pub(crate) struct RawEvent {
    pub(crate) thread: u32,
    pub(crate) op: Op,
    pub(crate) target: Target,
    /// The address after the call that told of it; 0 where there is none.
    pub(crate) code: u64,
    /// Whether it is a further part of what the call told of, after the first.
    pub(crate) part: bool,
    /// Whether its bytes are read in turn, each only because of what those before were.
    pub(crate) in_turn: bool,
    /// What was read; of a branch, a number for the ways of those that were left out before it.
    pub(crate) read: u64,
    /// What was written; of a branch, the way taken; of a call, the site of the function, where it is known.
    pub(crate) written: u64,
}

/// How many decoded blocks may wait: they are decoded on another core.
const BATCHES: usize = 4;
/// The most bytes of a block.
const MAX_BLOCK: usize = MAX_BYTES << 16;

/// What reading a recording found beside its events.
#[derive(Debug)]
pub(crate) struct Whole {
    /// How many threads there are.
    pub(crate) threads: u32,
}

/// Two calls right after each other that told of a write and a read of as many bytes: the addresses after them.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub(crate) struct Pair {
    pub(crate) first: u64,
    pub(crate) second: u64,
    pub(crate) bytes: u8,
}

/// Reads a recording and gives `each` its events in order. `copies` says of two calls whether the program had not written yet
/// when it read.
pub(crate) fn read(
    path: &Path,
    copies: &dyn Fn(Pair) -> bool,
    mut each: impl FnMut(&RawEvent) -> Result<(), Error>,
) -> Result<Whole, Error> {
    let mut reader = Reader {
        thread: 0,
        threads: 0,
        waiting: NOTHING,
        holds: Holds::Nothing,
        copies,
        aliases: Aliases::default(),
    };
    thread::scope(|scope| {
        let (send, batches) = mpsc::sync_channel(BATCHES);
        let decoder = move || {
            if let Err(error) = decode(path, &mut |batch| send.send(Ok(batch)).is_ok()) {
                // Whoever does not listen any more has an error of its own.
                let _ = send.send(Err(error));
            }
        };
        let made = thread::Builder::new().spawn_scoped(scope, decoder);
        made.map_err(|error| Error::no_thread(path, &error))?;
        for batch in batches {
            for slot in batch? {
                reader.slot(path, slot, &mut each)?;
            }
        }
        reader.end(&mut each)?;
        Ok(Whole { threads: reader.threads })
    })
}

/// Reads and decodes block after block, and passes each on until nobody wants the next.
pub(crate) fn decode(path: &Path, each: &mut dyn FnMut(Vec<Slot>) -> bool) -> Result<(), Error> {
    let failed = |source| Error::Io { path: path.to_owned(), source };
    let mut input = BufReader::with_capacity(1 << 20, File::open(path).map_err(failed)?);
    let mut magic = [0; RAW_MAGIC.len()];
    if !fill(&mut input, &mut magic).map_err(failed)? || magic != RAW_MAGIC {
        return Err(Error::damaged(path, "it does not begin as recordings do"));
    }
    let mut sites = Sites::default();
    let mut payload = Vec::new();
    loop {
        let mut head = [0; BLOCK_HEAD];
        if !fill(&mut input, &mut head).map_err(failed)? {
            return Ok(());
        }
        let [bytes, slots, low, high] = std::array::from_fn(|field| {
            let word = head.get(4 * field..).and_then(|rest| rest.first_chunk());
            word.map_or(0, |word| u32::from_le_bytes(*word))
        });
        if bytes as usize > MAX_BLOCK || slots > bytes {
            return Err(Error::damaged(path, "a block is larger than blocks may be"));
        }
        payload.resize(bytes as usize, 0);
        if !fill(&mut input, &mut payload).map_err(failed)? {
            return Ok(());
        }
        if sum(&payload) != u64::from(high) << 32 | u64::from(low) {
            return Err(Error::damaged(path, "a block does not match its checksum"));
        }
        let batch = sites
            .decode(&payload, slots as usize)
            .map_err(|Damaged| Error::damaged(path, "a block is not what its head says"))?;
        if !each(batch) {
            return Ok(());
        }
    }
}

/// Fills `bytes`; false where the input ends before.
fn fill(input: &mut impl Read, bytes: &mut [u8]) -> io::Result<bool> {
    match input.read_exact(bytes) {
        Ok(()) => Ok(true),
        Err(error) if error.kind() == ErrorKind::UnexpectedEof => Ok(false),
        Err(error) => Err(error),
    }
}

/// What waits for the next slot.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Holds {
    Nothing,
    /// A write that a hook recorded.
    Write,
    Update,
}

pub(crate) const NOTHING: RawEvent = RawEvent {
    thread: 0,
    op: Op::Skip,
    target: Target::None,
    code: 0,
    part: false,
    in_turn: false,
    read: 0,
    written: 0,
};

/// What each class of accesses is.
const CLASSES: [Op; 8] = [
    Op::Read,
    Op::Write,
    Op::Write,
    Op::AtomicRead,
    Op::AtomicWrite,
    Op::Update,
    Op::FailedAttempt,
    Op::Look,
];

/// Makes events of slots. What waits stays where it is until it is passed on: copying it costs more than all the rest.
struct Reader<'c> {
    thread: u32,
    threads: u32,
    /// An event that the next slot may belong to, if there is one.
    waiting: RawEvent,
    holds: Holds,
    copies: &'c dyn Fn(Pair) -> bool,
    aliases: Aliases,
}

impl Reader<'_> {
    #[inline]
    fn slot(
        &mut self,
        path: &Path,
        slot: Slot,
        each: &mut impl FnMut(&RawEvent) -> Result<(), Error>,
    ) -> Result<(), Error> {
        match slot.kind() {
            kind::SWITCH => {
                self.end(each)?;
                self.thread = u32::try_from(slot.target()).unwrap_or(0);
                self.threads = self.threads.max(self.thread + 1);
                Ok(())
            }
            kind::MORE if self.holds == Holds::Nothing => {
                Err(Error::damaged(path, "a part of an event has no event"))
            }
            kind::MORE => {
                self.waiting.written = slot.0[2];
                self.end(each)
            }
            class if waits(class) => {
                self.end(each)?;
                self.waiting = self.event(slot).ok_or_else(|| damaged(path))?;
                self.holds = if class & 0xF0 == kind::WRITE { Holds::Write } else { Holds::Update };
                Ok(())
            }
            _ => {
                let event = self.event(slot).ok_or_else(|| damaged(path))?;
                if let Target::Thread(other) = event.target {
                    // One that the recording ends before, with nothing of its own.
                    self.threads = self.threads.max(other.saturating_add(1));
                }
                self.give(&event, each)
            }
        }
    }

    /// Passes an event on, after the one that waited; or before it, where that writes what this one reads.
    #[inline]
    fn give(
        &mut self,
        event: &RawEvent,
        each: &mut impl FnMut(&RawEvent) -> Result<(), Error>,
    ) -> Result<(), Error> {
        let pair = Pair { first: self.waiting.code, second: event.code, bytes: length(event) };
        if self.holds == Holds::Write
            && event.op == Op::Read
            && pair.bytes == length(&self.waiting)
            && pair.second.wrapping_sub(pair.first) <= MAX_BETWEEN as u64
            && (self.copies)(pair)
        {
            each(event)?;
            self.waiting.written = event.read;
            return self.end(each);
        }
        self.end(each)?;
        each(event)
    }

    /// Passes on what waits.
    #[inline]
    fn end(&mut self, each: &mut impl FnMut(&RawEvent) -> Result<(), Error>) -> Result<(), Error> {
        match std::mem::replace(&mut self.holds, Holds::Nothing) {
            Holds::Nothing => Ok(()),
            Holds::Update if self.aliases.take(&self.waiting) => Ok(()),
            Holds::Write | Holds::Update => each(&self.waiting),
        }
    }

    #[inline(always)]
    fn event(&self, slot: Slot) -> Option<RawEvent> {
        let [_, target, value] = slot.0;
        let mut event = RawEvent { thread: self.thread, code: slot.code(), ..NOTHING };
        if slot.kind() < kind::OTHERS {
            let (class, size) = (slot.kind() & 0xF0, slot.kind() & 15);
            event.op = *CLASSES.get(usize::from(class >> 4))?;
            event.part = slot.detail() & PART_OF_CALL != 0;
            event.in_turn = slot.detail() & BYTES_IN_TURN != 0;
            event.target = match slot.detail() & !(PART_OF_CALL | BYTES_IN_TURN | AWAITED) {
                0 if (1..=8).contains(&size) => {
                    Target::Bytes { at: self.aliases.address(target), length: size }
                }
                GIVEN => Target::StandIn { at: self.aliases.address(target), what: StandIn::Given },
                what => Target::StandIn { at: target, what: stand_in(what)? },
            };
            let reads = event.op.carries_read();
            (event.read, event.written) = if reads { (value, 0) } else { (0, value) };
            return Some(event);
        }
        if slot.kind() == kind::STACK {
            event.op = Op::Alloc;
            event.target = Target::Stack { at: target, length: value };
            return Some(event);
        }
        event.op = Op::from_code(slot.kind() - kind::OPERATION)?;
        match event.op {
            Op::Branch => (event.read, event.written) = (target, value),
            Op::Enter => event.written = value,
            _ => {}
        }
        event.target = match event.op.space() {
            Some(Space::Variable) => Target::Heap { at: target, length: value },
            Some(Space::Lock | Space::Condition) => {
                Target::Sync { at: target, generation: u32::try_from(value).ok()? }
            }
            Some(Space::Thread) => Target::Thread(u32::try_from(target).ok()?),
            Some(Space::Region) => Target::Depth(usize::try_from(target).ok()?),
            Some(Space::Call) => match Life::of(value) {
                Some((of, ends, generation)) => Target::Life { of, at: target, ends, generation },
                None => Target::Call {
                    at: target,
                    text: value >> CALL_BITS,
                    length: (value & ((1 << CALL_BITS) - 1)) as usize,
                },
            },
            _ => Target::None,
        };
        Some(event)
    }
}

/// Whether an event of this kind may belong together with the slot after it.
#[inline]
fn waits(class: u8) -> bool {
    class < kind::OTHERS && matches!(class & 0xF0, kind::WRITE | kind::UPDATE | kind::FAILED)
}

#[cold]
fn damaged(path: &Path) -> Error {
    Error::damaged(path, "an event is not one that a recorder writes")
}

#[inline]
fn length(event: &RawEvent) -> u8 {
    match event.target {
        Target::Bytes { length, .. } => length,
        _ => 0,
    }
}
