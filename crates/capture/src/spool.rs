//! What was recorded, on its way to the disk: written beside all else, with as little of a processor as can be.
//!
//! Bytes are handed over in large buffers. A thread of its own writes them, so that neither the program nor the encoding
//! waits for the operating system while there is something to do. What it has not come to stays in memory, up to a bound;
//! from there on, and at the end, whoever waits writes himself.
//!
//! The operating system's cache is passed by where the disk keeps pace: filling the cache takes a processor that the program
//! or the encoding could use. Such writes begin and end at multiples of a page, in memory and in the file. Where the file
//! system cannot do that, the thread has the lowest priority.

use std::collections::VecDeque;
use std::fs::File;
use std::io;
use std::ops::Range;
use std::os::unix::fs::FileExt;
use std::sync::atomic::AtomicBool;
use std::sync::atomic::Ordering::{Acquire, Release};
use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError};
use std::thread;
use std::time::{Duration, Instant};

use rustix::fs::OFlags;

/// The bytes of a buffer.
pub(crate) const BUFFER: usize = 4 << 20;
/// How many there are at most.
const BUFFERS: usize = 16;
/// So much is written at a time: whoever waits for the file waits no longer.
const STEP: usize = 1 << 21;
/// A disk that takes longer for it does not keep pace where more than a few buffers wait: then the cache takes them.
const SLOW: Duration = Duration::from_millis(20);
const FEW: usize = BUFFERS / 2;
/// What passes by the cache begins at multiples of this.
const PAGE: usize = 4096;

/// Bytes that are to be written to a file.
pub(crate) struct Spool {
    shared: Arc<Shared>,
    made: usize,
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
    spare: Vec<Vec<u8>>,
    over: bool,
}

struct Piece {
    bytes: Vec<u8>,
    rest: Range<usize>,
}

struct Out {
    file: File,
    /// Where the file ends.
    written: u64,
    stage: Stage,
    piece: Option<Piece>,
    error: Option<io::Error>,
}

/// The bytes that are written next, from a page's start on in memory and in the file.
struct Stage {
    /// Where they go in the file.
    at: u64,
    filled: usize,
    bytes: Vec<u8>,
    /// Whether writes to the file can pass by the cache, as far as it is known, and how long the last took that did.
    can_pass: bool,
    took: Duration,
}

impl Stage {
    /// What is written next to a file that has so many bytes: what it has of its last page comes again.
    fn new(file: &File, written: u64) -> io::Result<Stage> {
        let mut stage = Stage {
            at: written / PAGE as u64 * PAGE as u64,
            filled: (written % PAGE as u64) as usize,
            bytes: vec![0; STEP + PAGE],
            can_pass: true,
            took: Duration::ZERO,
        };
        let (at, filled) = (stage.at, stage.filled);
        file.read_exact_at(stage.room().get_mut(..filled).unwrap_or_default(), at)?;
        Ok(stage)
    }

    /// All its room, of which so much is filled.
    fn room(&mut self) -> &mut [u8] {
        let start = self.bytes.as_ptr().align_offset(PAGE);
        self.bytes.get_mut(start..).and_then(|bytes| bytes.get_mut(..STEP)).unwrap_or_default()
    }

    /// Takes bytes as long as there is room; how many.
    fn take(&mut self, bytes: &[u8]) -> usize {
        let filled = self.filled;
        let room = self.room().get_mut(filled..).unwrap_or_default();
        let count = bytes.len().min(room.len());
        if let (Some(room), Some(bytes)) = (room.get_mut(..count), bytes.get(..count)) {
            room.copy_from_slice(bytes);
        }
        self.filled += count;
        count
    }

    /// Writes what is there, and where it is full goes on behind it. A full one passes by the cache if it may and can.
    fn write(&mut self, file: &File, may_pass: bool) -> io::Result<()> {
        let (at, filled, start) = (self.at, self.filled, Instant::now());
        if filled < STEP || !may_pass || !self.can_pass {
            pass_by(file, false)?;
            file.write_all_at(self.room().get(..filled).unwrap_or_default(), at)?;
        } else if let Err(error) = pass_by(file, true).and_then(|()| file.write_all_at(self.room(), at)) {
            // Not every file system can; those that can may fail for the same reasons as ever.
            if error.kind() != io::ErrorKind::InvalidInput {
                return Err(error);
            }
            self.can_pass = false;
            return self.write(file, may_pass);
        } else {
            self.took = start.elapsed();
        }
        if filled == STEP {
            (self.at, self.filled) = (at + STEP as u64, 0);
        }
        Ok(())
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
    pub(crate) fn new(file: File, written: u64) -> io::Result<Spool> {
        let stage = Stage::new(&file, written)?;
        let shared = Arc::new(Shared {
            waiting: Mutex::default(),
            more: Condvar::new(),
            out: Mutex::new(Out { file, written, stage, piece: None, error: None }),
            failed: AtomicBool::new(false),
        });
        let writer = Arc::clone(&shared);
        // Without a thread, whoever waits writes everything.
        let _ = thread::Builder::new().name("writer".to_owned()).spawn(move || {
            writer.write_what_comes();
        });
        Ok(Spool { shared, made: 0 })
    }

    /// A buffer, once there is one: whoever asks has handed over all that he had.
    pub(crate) fn buffer(&mut self) -> Vec<u8> {
        loop {
            if let Some(buffer) = lock(&self.shared.waiting).spare.pop() {
                return buffer;
            }
            if self.made < BUFFERS {
                self.made += 1;
                return reweave_format::large_buffer(BUFFER);
            }
            self.shared.step();
        }
    }

    /// Hands bytes over. Whole buffers are used again.
    pub(crate) fn write(&self, bytes: Vec<u8>, part: Range<usize>) {
        lock(&self.shared.waiting).pieces.push_back(Piece { bytes, rest: part });
        self.shared.more.notify_one();
    }

    /// Goes on with another file, which has so many bytes, once all is written to this one.
    pub(crate) fn turn_to(&self, file: File, written: u64) -> io::Result<()> {
        let mut out = lock(&self.shared.out);
        (out.stage, out.written) = (Stage::new(&file, written)?, written);
        out.file = file;
        Ok(())
    }

    /// Whether something could not be written.
    pub(crate) fn failed(&self) -> Option<io::Error> {
        if self.shared.failed.load(Acquire) { lock(&self.shared.out).error.take() } else { None }
    }

    /// Writes what is left.
    pub(crate) fn finish(&self) {
        while self.shared.step() {}
        self.shared.write_stage(&mut lock(&self.shared.out), false);
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
            if !lock(&self.out).stage.can_pass {
                // Of the calling thread only, on Linux.
                let _ = rustix::process::setpriority_process(None, 19);
            }
        }
    }

    /// Writes a little; false where there is nothing to write.
    fn step(&self) -> bool {
        let mut out = lock(&self.out);
        let mut waiting = lock(&self.waiting);
        let next = out.piece.take().or_else(|| waiting.pieces.pop_front());
        let keeps_pace = waiting.pieces.len() <= FEW || out.stage.took < SLOW;
        drop(waiting);
        let Some(mut piece) = next else { return false };
        piece.rest.start += out.stage.take(piece.bytes.get(piece.rest.clone()).unwrap_or_default());
        // What is no whole buffer is all that there is for now.
        if out.stage.filled == STEP || piece.rest.is_empty() && piece.bytes.len() != BUFFER {
            self.write_stage(&mut out, keeps_pace);
        }
        if !piece.rest.is_empty() {
            out.piece = Some(piece);
        } else if piece.bytes.len() == BUFFER {
            lock(&self.waiting).spare.push(piece.bytes);
        }
        true
    }

    fn write_stage(&self, out: &mut Out, may_pass: bool) {
        let Out { file, stage, written, error, .. } = out;
        let end = stage.at + stage.filled as u64;
        if self.failed.load(Acquire) {
            // After a failure the rest has no place in the file.
            stage.filled = 0;
        } else if let Err(failure) = stage.write(file, may_pass) {
            // What is there of it would look like damage; where even this fails, the reader stops there.
            let _ = file.set_len(*written);
            *error = Some(failure);
            self.failed.store(true, Release);
        } else {
            *written = end;
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
            let mut spool = Spool::new(file(), before as u64).unwrap();
            for number in 0..3 * BUFFERS as u8 {
                let mut buffer = spool.buffer();
                let used = 5 + usize::from(number) * 80_000;
                buffer[..used].fill(number);
                expected.extend_from_slice(&buffer[2..used]);
                spool.write(buffer, 2..used);
                if number % 3 == 0 {
                    spool.write(vec![number; 3], 1..3);
                    expected.extend([number; 2]);
                }
                if number == 20 {
                    spool.finish();
                    assert!(fs::read(&path).unwrap() == expected);
                    spool.turn_to(file(), expected.len() as u64).unwrap();
                }
            }
            assert!(spool.made <= BUFFERS);
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
        let mut spool = Spool::new(File::open(&path).unwrap(), 6).unwrap();
        for _ in 0..2 * BUFFERS {
            let buffer = spool.buffer();
            spool.write(buffer, 0..10);
        }
        spool.finish();
        assert!(spool.failed().is_some());
        assert_eq!(fs::read_to_string(&path).unwrap(), "before");
    }
}
