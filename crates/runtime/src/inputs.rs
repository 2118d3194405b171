//! Inputs of the program: kept when it is recorded, and given again when it is replayed.
//!
//! An input is what a call gave the program that no thread of it made: bytes that were read, a time, random numbers. In a
//! recording each is written to a file beside it: the thread, the kind, the result, the number of bytes, all in 32 and 64
//! bits, and the bytes. In a replay each thread gets its own again in the same order, as long as it asks for the same
//! kind; from then on, and once there is no more, it gets what there really is.

use core::sync::atomic::AtomicI32;
use core::sync::atomic::Ordering::{Relaxed, SeqCst};

use crate::config;
use crate::export::export;
use crate::map::Array;
use crate::plan::contents;
use crate::real;
use crate::recording::Inside;
use crate::sys;
use crate::thread::MAX_THREADS;

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
}

const HEAD: usize = 24;
const FAILED: usize = usize::MAX;
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
    /// Per thread of the plan, where its next one may be; beyond the end where it gets no more.
    at: Array<u64>,
    /// What is kept has so many bytes by now.
    kept: u64,
}

impl Feed {
    /// Keeps inputs, or gives those of a file, whose name ends in a zero.
    pub(crate) fn new(given: Option<&[u8]>) -> Feed {
        let bytes = given.and_then(contents);
        if given.is_none() {
            FILE.store(NOT_YET, SeqCst);
        }
        Feed { bytes: bytes.unwrap_or(Array::zeroed(0)), at: Array::zeroed(MAX_THREADS), kept: 0 }
    }

    /// The next input of a thread of the plan: its result and where its bytes are.
    fn next(&mut self, thread: u32, kind: u32) -> Option<(i64, core::ops::Range<usize>)> {
        let cursor = self.at.as_mut().get_mut(thread as usize)?;
        let bytes = self.bytes.as_ref();
        loop {
            let start = *cursor as usize;
            let head = bytes.get(start..)?.first_chunk::<HEAD>()?;
            let [a, b, c, d, e, f, g, h, result @ ..] = *head;
            let (of, which) = (u32::from_le_bytes([a, b, c, d]), u32::from_le_bytes([e, f, g, h]));
            let (result, length) = (first(&result), first(result.get(8..)?));
            let end = (start + HEAD).checked_add(usize::try_from(length).ok()?)?;
            *cursor = end as u64;
            if of != thread {
                continue;
            }
            if which != kind || end > bytes.len() {
                // It does something else than it did: it gets what there is from now on.
                *cursor = u64::MAX / 2;
                return None;
            }
            return Some((result as i64, start + HEAD..end));
        }
    }
}

fn first(bytes: &[u8]) -> u64 {
    bytes.first_chunk().map_or(0, |bytes| u64::from_le_bytes(*bytes))
}

impl Inside {
    /// The input that the thread had in the recorded run: the result, with its bytes at `at`, which has room for `room`.
    pub(crate) fn given(&mut self, kind: u32, at: usize, room: usize) -> Option<usize> {
        let me = self.me.index();
        let core = self.core();
        let planned = core.forced.as_ref()?.planned.as_ref().get(me)?.checked_sub(1)?;
        let feed = core.feed.as_mut()?;
        let (result, range) = feed.next(planned, kind)?;
        let bytes = feed.bytes.as_ref().get(range)?;
        if result < 0 {
            let error = bytes.first_chunk().map_or(0, |bytes| i32::from_le_bytes(*bytes));
            // SAFETY: libc's own place for it, of this thread.
            unsafe { *__errno_location() = error };
            return Some(FAILED);
        }
        for (place, &byte) in bytes.iter().enumerate().take(room) {
            // SAFETY: the program passed memory of that size to be filled.
            unsafe { ((at + place) as *mut u8).write_volatile(byte) };
        }
        Some(result as usize)
    }

    /// Keeps an input.
    pub(crate) fn keep(&mut self, kind: u32, result: usize, at: usize, length: usize) {
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
        let mut head = [0; HEAD];
        let parts = me.to_le_bytes().into_iter().chain(kind.to_le_bytes());
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
    at: usize,
    room: usize,
    bytes: impl Fn(usize) -> usize,
    call: impl FnOnce() -> usize,
) -> usize {
    if let Some(mut inside) = Inside::enter()
        && inside.core().forced.is_some()
    {
        inside.settle();
        if let Some(result) = inside.given(kind, at, room) {
            return result;
        }
    }
    let result = call();
    if FILE.load(Relaxed) != 0
        && let Some(mut inside) = Inside::enter()
    {
        inside.settle();
        inside.keep(kind, result, at, bytes(result).min(room));
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

/// Whether what is read there does not come from a file or a pipe, which are there again.
pub(crate) fn is_foreign(file: usize) -> bool {
    file == 0 || sys::mode(file as i32).is_some_and(|mode| ![REGULAR, PIPE, FOLDER].contains(&(mode & KIND)))
}

/// Whether it is a file that nobody waits for.
pub(crate) fn is_regular(file: usize) -> bool {
    sys::mode(file as i32).is_some_and(|mode| mode & KIND == REGULAR)
}

fn filled(result: usize) -> usize {
    usize::try_from(result as isize).unwrap_or(0)
}

extern "C" fn getrandom(at: usize, length: usize, flags: usize) -> usize {
    input(kind::RANDOM, at, length, filled, || real::getrandom(at, length, flags))
}

extern "C" fn getentropy(at: usize, length: usize) -> usize {
    let bytes = |result: usize| if result as i32 == 0 { length } else { 0 };
    input(kind::RANDOM, at, length, bytes, || real::getentropy(at, length))
}

export! {
    getrandom(3) => getrandom;
    getentropy(2) => getentropy;
}
