//! What was recorded, on its way to the disk: written in time that nobody else needs.
//!
//! Bytes are handed over in large buffers. A thread of the lowest priority writes them, so that neither the program nor the
//! encoding waits for the operating system while there is something to do. What it has not come to stays in memory, up
//! to a bound; from there on, and at the end, whoever waits writes himself.

use std::collections::VecDeque;
use std::fs::File;
use std::io::{self, Write};
use std::ops::Range;
use std::sync::atomic::AtomicBool;
use std::sync::atomic::Ordering::{Acquire, Release};
use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError};
use std::thread;

/// The bytes of a buffer.
pub(crate) const BUFFER: usize = 4 << 20;
/// How many there are at most.
const BUFFERS: usize = 16;
/// So much is written at a time: whoever waits for the file waits no longer.
const STEP: usize = 1 << 20;

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
    written: u64,
    piece: Option<Piece>,
    error: Option<io::Error>,
}

fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    // A thread that panicked left nothing half done here.
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

impl Spool {
    /// A spool that appends to a file, which has so many bytes.
    pub(crate) fn new(file: File, written: u64) -> Spool {
        let shared = Arc::new(Shared {
            waiting: Mutex::default(),
            more: Condvar::new(),
            out: Mutex::new(Out { file, written, piece: None, error: None }),
            failed: AtomicBool::new(false),
        });
        let writer = Arc::clone(&shared);
        // Without a thread, whoever waits writes everything.
        let _ = thread::Builder::new().name("writer".to_owned()).spawn(move || {
            // Of the calling thread only, on Linux.
            let _ = rustix::process::setpriority_process(None, 19);
            writer.write_what_comes();
        });
        Spool { shared, made: 0 }
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
    pub(crate) fn turn_to(&self, file: File, written: u64) {
        let mut out = lock(&self.shared.out);
        (out.file, out.written) = (file, written);
    }

    /// Whether something could not be written.
    pub(crate) fn failed(&self) -> Option<io::Error> {
        if self.shared.failed.load(Acquire) { lock(&self.shared.out).error.take() } else { None }
    }

    /// Writes what is left.
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
        }
    }

    /// Writes a little; false where there is nothing to write.
    fn step(&self) -> bool {
        let mut out = lock(&self.out);
        let Some(mut piece) = out.piece.take().or_else(|| lock(&self.waiting).pieces.pop_front()) else {
            return false;
        };
        let end = piece.rest.end.min(piece.rest.start + STEP);
        let part = piece.bytes.get(piece.rest.start..end).unwrap_or_default();
        // After a failure the rest has no place in the file.
        if !self.failed.load(Acquire) {
            match out.file.write_all(part) {
                Ok(()) => out.written += part.len() as u64,
                Err(error) => {
                    // What is there of it would look like damage; where even this fails, the reader stops there.
                    let _ = out.file.set_len(out.written);
                    out.error = Some(error);
                    self.failed.store(true, Release);
                }
            }
        }
        piece.rest.start = end;
        if !piece.rest.is_empty() {
            out.piece = Some(piece);
        } else if piece.bytes.len() == BUFFER {
            lock(&self.waiting).spare.push(piece.bytes);
        }
        true
    }
}

#[cfg(test)]
mod tests {
    use std::fs;

    use super::*;

    #[test]
    fn what_is_handed_over_is_written_in_order_and_buffers_come_back() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("file");
        let mut spool = Spool::new(File::create(&path).unwrap(), 0);
        let mut expected = Vec::new();
        for number in 0..3 * BUFFERS as u8 {
            let mut buffer = spool.buffer();
            let used = 5 + usize::from(number) * 80_000;
            buffer[..used].fill(number);
            expected.extend_from_slice(&buffer[2..used]);
            spool.write(buffer, 2..used);
            spool.write(vec![number; 3], 1..3);
            expected.extend([number; 2]);
        }
        assert!(spool.made <= BUFFERS);
        spool.finish();
        assert!(spool.failed().is_none());
        assert!(fs::read(&path).unwrap() == expected);
    }

    #[test]
    fn a_failure_is_told_and_nobody_waits_for_ever() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("file");
        fs::write(&path, "before").unwrap();
        // Nothing can be written to a file that is open for reading.
        let mut spool = Spool::new(File::open(&path).unwrap(), 6);
        for _ in 0..2 * BUFFERS {
            let buffer = spool.buffer();
            spool.write(buffer, 0..10);
        }
        spool.finish();
        assert!(spool.failed().is_some());
        assert_eq!(fs::read_to_string(&path).unwrap(), "before");
    }
}
