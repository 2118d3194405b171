//! What was recorded, on its way to the disk: written beside all else, with as little of a processor as can be.
//!
//! Bytes are handed over in large buffers. A thread of its own writes them, so that neither the program nor the encoding
//! waits for the operating system while there is something to do. What it has not come to stays in memory, up to a bound;
//! from there on, and at the end, the thread that waits writes itself.
//!
//! The operating system's cache is passed by where the disk keeps pace: filling the cache takes a processor that the program
//! or the encoding could use. Such writes begin and end at multiples of a page, in memory and in the file: so every
//! buffer begins with what there was of a last page before it, and is written as it lies there. Where the file system
//! cannot do that, the thread has the lowest priority.

use std::collections::VecDeque;
use std::fs::File;
use std::io;
use std::ops::{Deref, DerefMut, Range};
use std::os::unix::fs::FileExt;
use std::sync::atomic::AtomicBool;
use std::sync::atomic::Ordering::{Acquire, Release};
use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError};
use std::thread;
use std::time::{Duration, Instant};

use rustix::fs::OFlags;

/// The bytes of a buffer. Few are in use at a time where the disk keeps pace, and memory that was not used before takes long.
const BUFFER: usize = 2 << 20;
/// How many there are at most.
const BUFFERS: usize = 32;
/// A disk that takes longer for one does not keep pace where more than a few buffers wait: then the cache takes them.
const SLOW: Duration = Duration::from_millis(20);
const FEW: usize = BUFFERS / 2;
/// What passes by the cache begins at multiples of this.
const PAGE: usize = 4096;

/// Bytes that are to be written to a file.
pub(crate) struct Spool {
    shared: Arc<Shared>,
    made: usize,
    /// Where in the file the buffer goes that is being filled: a multiple of a page.
    at: u64,
}

/// Room for [`BUFFER`] bytes, from the start of a page on.
#[derive(Default)]
pub(crate) struct Buffer {
    memory: Vec<u8>,
    start: usize,
}

impl Buffer {
    fn new() -> Buffer {
        // One large page, where there are such.
        let memory = reweave_format::large_buffer(2 * BUFFER);
        let start = memory.as_ptr().align_offset(BUFFER);
        Buffer { memory, start }
    }
}

impl Deref for Buffer {
    type Target = [u8];

    fn deref(&self) -> &[u8] {
        self.memory.get(self.start..self.start + BUFFER).unwrap_or_default()
    }
}

impl DerefMut for Buffer {
    fn deref_mut(&mut self) -> &mut [u8] {
        self.memory.get_mut(self.start..self.start + BUFFER).unwrap_or_default()
    }
}

struct Shared {
    waiting: Mutex<Waiting>,
    more: Condvar,
    out: Mutex<Out>,
    failed: AtomicBool,
}

#[derive(Default)]
struct Waiting {
    pieces: VecDeque<Piece>,
    spare: Vec<Buffer>,
    over: bool,
}

/// Bytes, and where they go.
enum Piece {
    /// The first bytes of a buffer that is full: whole pages.
    Pages { buffer: Buffer, bytes: usize, at: u64 },
    /// A copy of what a buffer has so far.
    Copy { bytes: Vec<u8>, at: u64 },
}

struct Out {
    file: File,
    /// Where the file ends.
    written: u64,
    /// Whether writes to the file can pass by the cache, as far as it is known, and how long the last took that did.
    can_pass: bool,
    took: Duration,
    error: Option<io::Error>,
}

impl Out {
    fn new(file: File, written: u64) -> Out {
        Out { file, written, can_pass: true, took: Duration::ZERO, error: None }
    }

    /// Writes bytes of a buffer past the cache, if they may pass and can; else, and others, to the cache.
    fn write(&mut self, bytes: &[u8], at: u64, may_pass: bool) -> io::Result<()> {
        if may_pass && self.can_pass {
            let start = Instant::now();
            match pass_by(&self.file, true).and_then(|()| self.file.write_all_at(bytes, at)) {
                // Not every file system can; those that can may fail for the same reasons as ever.
                Err(error) if error.kind() == io::ErrorKind::InvalidInput => self.can_pass = false,
                result => {
                    self.took = start.elapsed();
                    return result;
                }
            }
        }
        pass_by(&self.file, false)?;
        self.file.write_all_at(bytes, at)
    }
}

/// Has what is written to a file pass by the cache, or not.
fn pass_by(file: &File, by: bool) -> io::Result<()> {
    let flags = rustix::fs::fcntl_getfl(file)?;
    let new = if by { flags | OFlags::DIRECT } else { flags - OFlags::DIRECT };
    if flags != new {
        rustix::fs::fcntl_setfl(file, new)?;
    }
    Ok(())
}

fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    // A thread that panicked left nothing half done here.
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

impl Spool {
    /// A spool that appends to a file, which has so many bytes and can be read.
    pub(crate) fn new(file: File, written: u64) -> Spool {
        let shared = Arc::new(Shared {
            waiting: Mutex::default(),
            more: Condvar::new(),
            out: Mutex::new(Out::new(file, written)),
            failed: AtomicBool::new(false),
        });
        let writer = Arc::clone(&shared);
        // Without a thread, whoever waits writes everything.
        let _ = thread::Builder::new().name("writer".to_owned()).spawn(move || {
            writer.write_what_comes();
        });
        Spool { shared, made: 0, at: 0 }
    }

    /// A first buffer, which begins with what the file has of its last page; how many bytes that is.
    pub(crate) fn begin(&mut self) -> io::Result<(Buffer, usize)> {
        let mut buffer = self.spare();
        let filled = self.begin_again(&mut buffer)?;
        Ok((buffer, filled))
    }

    /// The same with a buffer of which nothing is to be written any more.
    fn begin_again(&mut self, buffer: &mut Buffer) -> io::Result<usize> {
        let out = lock(&self.shared.out);
        let filled = (out.written % PAGE as u64) as usize;
        self.at = out.written - filled as u64;
        out.file.read_exact_at(buffer.get_mut(..filled).unwrap_or_default(), self.at)?;
        Ok(filled)
    }

    /// Takes a buffer that is filled so far, and gives another one once there is one. It begins with what does not fill a
    /// page; how many bytes that is.
    pub(crate) fn next(&mut self, full: Buffer, filled: usize) -> (Buffer, usize) {
        let (pages, rest) = (filled / PAGE * PAGE, filled % PAGE);
        let mut last = [0; PAGE];
        if let (Some(last), Some(bytes)) = (last.get_mut(..rest), full.get(pages..filled)) {
            last.copy_from_slice(bytes);
        }
        self.put(Piece::Pages { buffer: full, bytes: pages, at: self.at });
        self.at += pages as u64;
        let mut buffer = self.spare();
        if let (Some(room), Some(last)) = (buffer.get_mut(..rest), last.get(..rest)) {
            room.copy_from_slice(last);
        }
        (buffer, rest)
    }

    /// Has a part of the buffer that is being filled written already now.
    pub(crate) fn show(&self, buffer: &Buffer, part: Range<usize>) {
        let at = self.at + part.start as u64;
        let bytes = buffer.get(part).unwrap_or_default().to_vec();
        self.put(Piece::Copy { bytes, at });
    }

    fn put(&self, piece: Piece) {
        lock(&self.shared.waiting).pieces.push_back(piece);
        self.shared.more.notify_one();
    }

    /// A buffer, once there is one: whoever asks has handed over all that he had.
    fn spare(&mut self) -> Buffer {
        loop {
            if let Some(buffer) = lock(&self.shared.waiting).spare.pop() {
                return buffer;
            }
            if self.made < BUFFERS {
                self.made += 1;
                return Buffer::new();
            }
            self.shared.step();
        }
    }

    /// Goes on with another file, which has so many bytes, once all is written to this one. The buffer begins with what the
    /// file has of its last page; how many bytes that is.
    pub(crate) fn turn_to(&mut self, file: File, written: u64, buffer: &mut Buffer) -> io::Result<usize> {
        *lock(&self.shared.out) = Out::new(file, written);
        self.begin_again(buffer)
    }

    /// Whether something could not be written.
    pub(crate) fn failed(&self) -> Option<io::Error> {
        if self.shared.failed.load(Acquire) { lock(&self.shared.out).error.take() } else { None }
    }

    /// Writes what is left of what was handed over.
    pub(crate) fn finish(&self) {
        while self.shared.step() {}
    }
}

impl Drop for Spool {
    fn drop(&mut self) {
        lock(&self.shared.waiting).over = true;
        self.shared.more.notify_one();
    }
}

impl Shared {
    fn write_what_comes(&self) {
        loop {
            let mut waiting = lock(&self.waiting);
            while waiting.pieces.is_empty() {
                if waiting.over {
                    return;
                }
                waiting = self.more.wait(waiting).unwrap_or_else(PoisonError::into_inner);
            }
            drop(waiting);
            while self.step() {}
            if !lock(&self.out).can_pass {
                // Of the calling thread only, on Linux.
                let _ = rustix::process::setpriority_process(None, 19);
            }
        }
    }

    /// Writes a little; false where there is nothing to write.
    fn step(&self) -> bool {
        let mut out = lock(&self.out);
        let mut waiting = lock(&self.waiting);
        let Some(piece) = waiting.pieces.pop_front() else { return false };
        let keeps_pace = waiting.pieces.len() <= FEW || out.took < SLOW;
        drop(waiting);
        match piece {
            Piece::Pages { buffer, bytes, at } => {
                self.write(&mut out, buffer.get(..bytes).unwrap_or_default(), at, keeps_pace);
                lock(&self.waiting).spare.push(buffer);
            }
            Piece::Copy { bytes, at } => self.write(&mut out, &bytes, at, false),
        }
        true
    }

    fn write(&self, out: &mut Out, bytes: &[u8], at: u64, may_pass: bool) {
        // After a failure the rest has no place in the file.
        if self.failed.load(Acquire) {
            return;
        }
        if let Err(failure) = out.write(bytes, at, may_pass) {
            // What is there of it would look like damage; where even this fails, the reader stops there.
            let _ = out.file.set_len(out.written);
            out.error = Some(failure);
            self.failed.store(true, Release);
        } else {
            out.written = out.written.max(at + bytes.len() as u64);
        }
    }
}

#[cfg(test)]
mod tests {
    use std::fs;

    use super::*;

    #[test]
    fn what_is_handed_over_is_written_in_order_and_buffers_come_back() {
        let folder = tempfile::tempdir().unwrap();
        // Where the file begins with no page, with a part of one, and with more than one.
        for before in [0, 8, 3 * PAGE + 17] {
            let path = folder.path().join("file");
            let mut expected: Vec<u8> = (0..before).map(|at| at as u8).collect();
            fs::write(&path, &expected).unwrap();
            let file = || File::options().read(true).write(true).open(&path).unwrap();
            let mut spool = Spool::new(file(), before as u64);
            let (mut buffer, mut filled) = spool.begin().unwrap();
            for number in 0..3 * BUFFERS as u8 {
                let shown = filled;
                for used in [usize::from(number) * 1_000, usize::from(number) * 2_000] {
                    let end = filled + used + 5;
                    buffer[filled..end].fill(number);
                    expected.extend_from_slice(&buffer[filled..end]);
                    filled = end;
                    if number % 3 == 0 {
                        spool.show(&buffer, shown..filled);
                    }
                }
                if number == 20 {
                    spool.show(&buffer, 0..filled);
                    spool.finish();
                    assert!(fs::read(&path).unwrap() == expected);
                    filled = spool.turn_to(file(), expected.len() as u64, &mut buffer).unwrap();
                }
                if number % 2 == 0 || filled > BUFFER / 2 {
                    (buffer, filled) = spool.next(buffer, filled);
                }
            }
            assert!(spool.made <= BUFFERS);
            spool.show(&buffer, 0..filled);
            spool.finish();
            assert!(spool.failed().is_none());
            assert!(fs::read(&path).unwrap() == expected, "{before}");
        }
    }

    #[test]
    fn a_failure_is_told_and_nobody_waits_for_ever() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("file");
        fs::write(&path, "before").unwrap();
        // Nothing can be written to a file that is open for reading.
        let mut spool = Spool::new(File::open(&path).unwrap(), 6);
        let (mut buffer, _) = spool.begin().unwrap();
        for _ in 0..2 * BUFFERS {
            (buffer, _) = spool.next(buffer, PAGE);
        }
        spool.finish();
        assert!(spool.failed().is_some());
        assert_eq!(fs::read_to_string(&path).unwrap(), "before");
    }
}
