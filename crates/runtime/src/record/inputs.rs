//! Inputs of the program: kept when it is recorded, and given again when it is replayed.
//!
//! An input is what a call gave the program that no thread of it made: bytes that were read, a time, random numbers. In a
//! recording each is written to a file beside it: the thread, the kind with the source, the result, the number of bytes, all
//! in 32 and 64 bits, and the bytes. In a replay they are given again *per source*, in the order in which they were taken
//! from it, to any thread that asks: what one thread takes, another does not get. Only times and random numbers, which nobody
//! takes from anybody, are given per thread. Who asks for another kind of input than was taken from that source, or for
//! more than there was, gets what there really is from then on.

use core::ops::Range;
use core::sync::atomic::AtomicI32;
use core::sync::atomic::Ordering::{Relaxed, SeqCst};

use crate::abi::export::export;
use crate::libc::real;
use crate::map::Array;
use crate::record::config;
use crate::record::recording::Inside;
use crate::sched::plan::contents;
use crate::sched::thread::MAX_THREADS;
use crate::sys;

/// What kind of call it was.
pub(crate) mod kind {
    pub(crate) const READ: u32 = 1;
    pub(crate) const RECEIVE: u32 = 2;
    pub(crate) const STREAM: u32 = 3;
    pub(crate) const LINE: u32 = 4;
    pub(crate) const CHARACTER: u32 = 5;
    pub(crate) const CLOCK: u32 = 6;
    pub(crate) const TIME_OF_DAY: u32 = 7;
    pub(crate) const TIME: u32 = 8;
    pub(crate) const RANDOM: u32 = 9;
    /// Not an input: what the clocks told at the start.
    pub(crate) const ORIGINS: u32 = 10;
    /// When a deadline had passed, in nanoseconds since the start.
    pub(crate) const PASSED: u32 = 11;
}

/// Where an input comes from: the calls of each thread by itself, or a descriptor that all threads read from.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Source {
    Thread,
    Descriptor(usize),
}

/// Descriptors from this on share their place with others, and their inputs are not given again.
const SOURCES: usize = 1 << 12;
/// Where the number of the source begins in the word of the kind.
const SOURCE_SHIFT: u32 = 8;

impl Source {
    /// Its number beside the kind; 0 where each thread has its own.
    fn number(self) -> usize {
        match self {
            Source::Thread => 0,
            Source::Descriptor(file) => file.saturating_add(1).min(SOURCES),
        }
    }
}

const HEAD: usize = 24;
const FAILED: usize = usize::MAX;
/// How many clocks have an origin that is kept.
pub(crate) const ORIGINS: usize = 4;
/// A file of inputs that gets larger is not continued.
const MOST: u64 = 1 << 30;

/// There is no file yet.
const NOT_YET: i32 = -1;
/// The file that inputs are kept in, made for the first one; 0 where they are not.
static FILE: AtomicI32 = AtomicI32::new(0);

unsafe extern "C" {
    fn __errno_location() -> *mut i32;
    static stdin: usize;
}

/// Inputs that are given again.
pub(crate) struct Feed {
    bytes: Array<u8>,
    /// Per thread of the plan, then per source, where the next one may be; beyond the end where there is no more.
    at: Array<u64>,
    /// Per source, how many bytes of its next input were taken before.
    taken: Array<u64>,
    /// What is kept has so many bytes by now.
    kept: u64,
}

impl Feed {
    /// Keeps inputs, and gives those of a file first, whose name ends in a zero.
    pub(crate) fn new(given: Option<&[u8]>) -> Feed {
        let bytes = given.and_then(contents);
        FILE.store(NOT_YET, SeqCst);
        let bytes = bytes.unwrap_or(Array::zeroed(0));
        Feed { bytes, at: Array::zeroed(MAX_THREADS + SOURCES), taken: Array::zeroed(SOURCES), kept: 0 }
    }

    /// What the clocks told when the recorded run began.
    pub(crate) fn origins(&self) -> Option<[u64; ORIGINS]> {
        let mut at = 0;
        while let Some(record) = self.record(at) {
            if record.kind == kind::ORIGINS {
                let bytes = self.bytes.as_ref().get(record.bytes)?;
                return Some(core::array::from_fn(|clock| first(bytes.get(8 * clock..).unwrap_or_default())));
            }
            at = record.bytes.end;
        }
        None
    }

    /// The input that is kept at a place.
    fn record(&self, start: usize) -> Option<Record> {
        let bytes = self.bytes.as_ref();
        let head = bytes.get(start..)?.first_chunk::<HEAD>()?;
        let [a, b, c, d, e, f, g, h, rest @ ..] = *head;
        let (thread, word) = (u32::from_le_bytes([a, b, c, d]), u32::from_le_bytes([e, f, g, h]));
        let (result, length) = (first(&rest), first(rest.get(8..)?));
        let end = (start + HEAD).checked_add(usize::try_from(length).ok()?)?;
        let source = (word >> SOURCE_SHIFT) as usize;
        let kind = word & ((1 << SOURCE_SHIFT) - 1);
        (end <= bytes.len()).then_some(Record {
            thread,
            source,
            kind,
            result: result as i64,
            bytes: start + HEAD..end,
        })
    }

    /// The next input of a source, or of a thread of the plan by itself: its result and where its bytes are. Of a long one only as
    /// many bytes as there is room for are taken; the next who asks gets the others.
    fn next(&mut self, thread: u32, kind: u32, source: Source, room: usize) -> Option<(i64, Range<usize>)> {
        let number = source.number();
        if number >= SOURCES {
            return None;
        }
        let place = if number == 0 { thread as usize } else { MAX_THREADS + number };
        let mut start = *self.at.as_ref().get(place)? as usize;
        let record = loop {
            let record = self.record(start)?;
            if record.source == number
                && (number != 0 || record.thread == thread)
                && record.kind != kind::ORIGINS
            {
                break record;
            }
            start = record.bytes.end;
        };
        let cursor = self.at.as_mut().get_mut(place)?;
        if record.kind != kind {
            // The program does something else than it did: it gets what there is from now on.
            *cursor = u64::MAX / 2;
            return None;
        }
        let Record { result, bytes, .. } = record;
        *cursor = bytes.end as u64;
        if number == 0 || kind != kind::READ || result < 0 {
            return Some((result, bytes));
        }
        let taken = self.taken.as_mut().get_mut(number)?;
        let from = (bytes.start + *taken as usize).min(bytes.end);
        let to = bytes.end.min(from.saturating_add(room));
        *taken = 0;
        if to < bytes.end {
            *taken = (to - bytes.start) as u64;
            *cursor = start as u64;
        }
        Some(((to - from) as i64, from..to))
    }
}

/// An input in the file.
struct Record {
    thread: u32,
    source: usize,
    kind: u32,
    result: i64,
    bytes: Range<usize>,
}

fn first(bytes: &[u8]) -> u64 {
    bytes.first_chunk().map_or(0, |bytes| u64::from_le_bytes(*bytes))
}

impl Inside {
    /// The input that the thread had in the recorded run: the result, with its bytes at `at`, which has room for `room`.
    pub(crate) fn given(&mut self, kind: u32, source: Source, at: usize, room: usize) -> Option<usize> {
        let me = self.me.index();
        let core = self.core();
        let planned = core.forced.as_ref()?.planned.as_ref().get(me)?.checked_sub(1)?;
        let feed = core.feed.as_mut()?;
        let (result, range) = feed.next(planned, kind, source, room)?;
        let bytes = feed.bytes.as_ref().get(range)?;
        if result < 0 {
            let error = bytes.first_chunk().map_or(0, |bytes| i32::from_le_bytes(*bytes));
            // SAFETY: libc's own place for it, of this thread.
            unsafe { *__errno_location() = error };
            self.keep(kind, source, FAILED, at, 0);
            return Some(FAILED);
        }
        let length = bytes.len().min(room);
        for (place, &byte) in bytes.iter().enumerate().take(room) {
            // SAFETY: the program passed memory of that size to be filled.
            unsafe { ((at + place) as *mut u8).write_volatile(byte) };
        }
        // A run that is forced may be recorded, too: it was told this.
        self.keep(kind, source, result as usize, at, length);
        Some(result as usize)
    }

    /// Keeps an input.
    pub(crate) fn keep(&mut self, kind: u32, source: Source, result: usize, at: usize, length: usize) {
        if FILE.load(Relaxed) == NOT_YET {
            FILE.store(config::create(b".inputs"), SeqCst);
        }
        let file = FILE.load(Relaxed);
        let me = self.me.index() as u32;
        let Some(feed) = self.core().feed.as_mut().filter(|_| file > 0) else { return };
        // SAFETY: libc's own place for it, of this thread.
        let error = unsafe { *__errno_location() }.to_le_bytes();
        let failed = result as isize == -1;
        let length = if failed { error.len() } else { length };
        feed.kept += (HEAD + length) as u64;
        if feed.kept > MOST {
            FILE.store(0, SeqCst);
            return config::note(b"inputs-stopped\n");
        }
        let word = kind | (source.number() as u32) << SOURCE_SHIFT;
        let mut head = [0; HEAD];
        let parts = me.to_le_bytes().into_iter().chain(word.to_le_bytes());
        let rest = (result as u64).to_le_bytes().into_iter().chain((length as u64).to_le_bytes());
        head.iter_mut().zip(parts.chain(rest)).for_each(|(room, byte)| *room = byte);
        // SAFETY: the call has filled so many bytes there.
        let bytes = unsafe { core::slice::from_raw_parts(at as *const u8, if failed { 0 } else { length }) };
        let _ = sys::write(file, &head);
        let _ = sys::write(file, if failed { &error } else { bytes });
    }
}

/// Gives an input again, or asks for it and keeps it. `bytes` tells how many a result means.
pub(crate) fn input(
    kind: u32,
    source: Source,
    at: usize,
    room: usize,
    bytes: impl Fn(usize) -> usize,
    call: impl FnOnce() -> usize,
) -> usize {
    if let Some(mut inside) = Inside::enter()
        && inside.core().forced.is_some()
    {
        inside.settle();
        if let Some(result) = inside.given(kind, source, at, room) {
            return result;
        }
    }
    let result = call();
    if FILE.load(Relaxed) != 0
        && let Some(mut inside) = Inside::enter()
    {
        inside.settle();
        inside.keep(kind, source, result, at, bytes(result).min(room));
    }
    result
}

/// The standard input.
pub(crate) fn standard() -> usize {
    // SAFETY: libc defines it.
    unsafe { core::ptr::read_volatile(&raw const stdin) }
}

/// Whether a stream is the standard input: what comes from files comes again by itself.
pub(crate) fn is_standard(stream: usize) -> bool {
    standard() == stream
}

// What kind of file it is, in a mode.
const KIND: u32 = 0o170_000;
const REGULAR: u32 = 0o100_000;
const PIPE: u32 = 0o010_000;
const FOLDER: u32 = 0o040_000;
const SOCKET: u32 = 0o140_000;

/// Whether what is read there comes from outside of the program. Files and pipes are there again, and so are event counters
/// and the like, which have no kind, and sockets whose other end the program made itself.
pub(crate) fn is_foreign(file: usize) -> bool {
    let other = |mode: u32| match mode & KIND {
        REGULAR | PIPE | FOLDER | 0 => false,
        SOCKET => !sys::is_own_socket(file as i32),
        _ => true,
    };
    file == 0 || sys::mode(file as i32).is_some_and(other)
}

/// Whether it is a file that nobody waits for.
pub(crate) fn is_regular(file: usize) -> bool {
    sys::mode(file as i32).is_some_and(|mode| mode & KIND == REGULAR)
}

fn filled(result: usize) -> usize {
    usize::try_from(result as isize).unwrap_or(0)
}

pub(crate) extern "C" fn getrandom(at: usize, length: usize, flags: usize) -> usize {
    input(kind::RANDOM, Source::Thread, at, length, filled, || real::getrandom(at, length, flags))
}

extern "C" fn getentropy(at: usize, length: usize) -> usize {
    let bytes = |result: usize| if result as i32 == 0 { length } else { 0 };
    input(kind::RANDOM, Source::Thread, at, length, bytes, || real::getentropy(at, length))
}

export! {
    getrandom(3) => getrandom;
    getentropy(2) => getentropy;
}
