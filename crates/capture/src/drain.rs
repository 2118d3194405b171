//! The recorder's side of the ring: slots are taken out, made small and written to a file while the program runs.

use std::fs::File;
use std::io::{self, Write};
use std::path::{Path, PathBuf};
use std::sync::atomic::AtomicU64;
use std::sync::atomic::Ordering::{Acquire, Relaxed, Release};

use reweave_format::SharedWords;
use reweave_wire::ring::{RING_MAGIC, SLOT_BYTES, SLOTS_AT, Slot, field, state};

use crate::coder::{MAX_BYTES, Sites, is_sound, own_value};

/// What a raw recording begins with.
pub(crate) const RAW_MAGIC: [u8; 8] = *b"rwraw 1\n";
/// The head of a block: how many bytes and slots it has, and a sum over its bytes.
pub(crate) const BLOCK_HEAD: usize = 16;
/// Slots in the ring: a few megabytes, which stay in the cache that the cores share.
const CAPACITY: usize = 1 << 18;
/// At most so many slots make a block.
const BLOCK_SLOTS: usize = 1 << 14;
const SLOT_WORDS: usize = SLOT_BYTES / 8;

/// Why a recording stopped before the program did.
#[derive(Debug)]
pub enum Stop {
    /// It has as many events as were asked for.
    Events,
    /// It has as many bytes as were asked for.
    Bytes,
    /// It could not be written.
    Failed(io::Error),
}

/// What was found when the slots that were there had been taken out.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Taken {
    /// There was nothing.
    Nothing,
    /// There was something, and there may be more.
    Some,
}

/// The ring of a program under way, and the raw recording that it becomes.
pub struct Drain {
    ring: SharedWords,
    ring_path: PathBuf,
    file: File,
    sites: Sites,
    /// A block that is being filled.
    block: Vec<u8>,
    used: usize,
    slots: u32,
    position: u64,
    events_left: u64,
    bytes_left: u64,
    written: u64,
    stopped: Option<Stop>,
}

impl Drain {
    /// Makes a ring, and starts a raw recording at `raw`.
    pub fn create(raw: &Path, max_events: u64, max_bytes: u64) -> io::Result<Drain> {
        let mut file = File::create_new(raw)?;
        let (ring, ring_path) = make_ring(raw)?;
        let mut stopped = None;
        if let Err(error) = file.write_all(&RAW_MAGIC) {
            stopped = Some(Stop::Failed(error));
        }
        let drain = Drain {
            ring,
            ring_path,
            file,
            sites: Sites::default(),
            block: vec![0; BLOCK_HEAD + BLOCK_SLOTS * MAX_BYTES + 16],
            used: BLOCK_HEAD,
            slots: 0,
            position: 0,
            events_left: max_events.max(1),
            bytes_left: max_bytes,
            written: RAW_MAGIC.len() as u64,
            stopped,
        };
        for (at, value) in [
            (field::CAPACITY, CAPACITY as u64),
            (field::RECORDER, u64::from(std::process::id())),
            (field::STOP, u64::from(drain.stopped.is_some())),
            (field::MAGIC, RING_MAGIC),
        ] {
            drain.field(at).store(value, Release);
        }
        Ok(drain)
    }

    /// Where the program finds the ring.
    pub fn ring(&self) -> &Path {
        &self.ring_path
    }

    /// Why the recording stopped, if it did.
    pub fn stopped(&self) -> Option<&Stop> {
        self.stopped.as_ref()
    }

    /// Whether a program came.
    pub fn has_begun(&self) -> bool {
        self.field(field::STATE).load(Acquire) != state::NOBODY
    }

    /// Whether the program wrote its last slot.
    pub fn is_whole(&self) -> bool {
        self.field(field::STATE).load(Acquire) == state::FINISHED
    }

    fn field(&self, at: usize) -> &AtomicU64 {
        static NOTHING: AtomicU64 = AtomicU64::new(0);
        self.ring.words().get(at / 8).unwrap_or(&NOTHING)
    }

    /// Takes out what was published, up to a block's worth.
    pub fn take(&mut self) -> Taken {
        let published = self.field(field::PUBLISHED).load(Acquire);
        self.take_until(published)
    }

    fn take_until(&mut self, end: u64) -> Taken {
        // A program that says otherwise is wrong: no more can be there than there is room.
        let count = end.saturating_sub(self.position).min(CAPACITY as u64);
        if count == 0 {
            return Taken::Nothing;
        }
        let room = (BLOCK_SLOTS as u32 - self.slots) as u64;
        let start = (self.position % CAPACITY as u64) as usize;
        let count = count.min(room).min((CAPACITY - start) as u64) as usize;
        if self.stopped.is_none() {
            self.encode(start, count);
        }
        self.position += count as u64;
        self.field(field::CONSUMED).store(self.position, Release);
        if self.slots as usize >= BLOCK_SLOTS {
            self.write_block();
        }
        Taken::Some
    }

    fn encode(&mut self, start: usize, count: usize) {
        let first = SLOTS_AT / 8 + start * SLOT_WORDS;
        let words = self.ring.words().get(first..first + count * SLOT_WORDS).unwrap_or_default();
        let slots = words.as_chunks::<SLOT_WORDS>().0;
        let (mut used, mut encoded, mut events) = (self.used, 0, 0);
        for slot in slots {
            let slot = Slot(slot.each_ref().map(|word| word.load(Relaxed)));
            if !is_sound(slot) {
                continue;
            }
            events += u64::from(slot.is_event());
            if events > self.events_left {
                self.stopped = Some(Stop::Events);
                break;
            }
            used = self.sites.encode(own_value(slot), &mut self.block, used);
            encoded += 1;
        }
        self.used = used;
        self.slots += encoded;
        self.events_left -= events.min(self.events_left);
        if self.stopped.is_some() {
            self.stop();
        }
    }

    /// Writes what has been taken out so far.
    pub fn flush(&mut self) {
        if self.slots > 0 {
            self.write_block();
        }
    }

    fn write_block(&mut self) {
        let payload = self.block.get(BLOCK_HEAD..self.used).unwrap_or_default();
        let head = head(payload, self.slots);
        if let Some(room) = self.block.first_chunk_mut() {
            *room = head;
        }
        let block = self.block.get(..self.used).unwrap_or_default();
        let failed = matches!(self.stopped, Some(Stop::Failed(_)));
        let result = if failed { Ok(()) } else { self.file.write_all(block) };
        match result {
            Ok(()) => {
                self.written += block.len() as u64;
                self.bytes_left = self.bytes_left.saturating_sub(block.len() as u64);
                if self.bytes_left == 0 && self.stopped.is_none() {
                    self.stopped = Some(Stop::Bytes);
                    self.stop();
                }
            }
            Err(error) => {
                // What is left of the block would look like damage; where even this fails, the reader stops there.
                let _ = self.file.set_len(self.written);
                self.stopped = Some(Stop::Failed(error));
                self.stop();
            }
        }
        (self.used, self.slots) = (BLOCK_HEAD, 0);
    }

    fn stop(&self) {
        self.field(field::STOP).store(1, Release);
    }

    /// Takes out the rest, once the program is gone: also what it had no time to publish.
    pub fn finish(&mut self) {
        let [base, cursor, anchor, anchor_cursor, pending] =
            [field::BASE, field::CURSOR, field::ANCHOR, field::ANCHOR_CURSOR, field::PENDING]
                .map(|at| self.field(at).load(Acquire));
        let mut end = self.field(field::PUBLISHED).load(Acquire);
        let ring = base..=base.saturating_add((CAPACITY * SLOT_BYTES) as u64);
        if self.stopped.is_none() && anchor_cursor <= cursor && ring.contains(&cursor) {
            let slots = (cursor - anchor_cursor) / SLOT_BYTES as u64;
            // The value of a write that is still pending is not known.
            end = end.max((anchor + slots).saturating_sub(u64::from(pending != 0)));
        }
        while self.take_until(end) == Taken::Some {}
        self.flush();
    }
}

impl Drop for Drain {
    fn drop(&mut self) {
        // A file in memory that nobody needs any more; if it is gone already, so much the better.
        let _ = std::fs::remove_file(&self.ring_path);
    }
}

/// Writes slots as a raw recording, as [`Drain`] does with those that it takes out.
pub fn write_raw(path: &Path, slots: &[Slot]) -> io::Result<()> {
    let mut file = File::create(path)?;
    file.write_all(&RAW_MAGIC)?;
    let mut sites = Sites::default();
    for slots in slots.chunks(BLOCK_SLOTS) {
        let (mut bytes, mut used) = (vec![0; slots.len() * MAX_BYTES + 16], 0);
        for &slot in slots {
            used = sites.encode(own_value(slot), &mut bytes, used);
        }
        bytes.truncate(used);
        file.write_all(&head(&bytes, slots.len() as u32))?;
        file.write_all(&bytes)?;
    }
    Ok(())
}

/// The head of a block.
pub(crate) fn head(payload: &[u8], slots: u32) -> [u8; BLOCK_HEAD] {
    let mut head = [0; BLOCK_HEAD];
    let fields = [(payload.len() as u32).to_le_bytes(), slots.to_le_bytes()];
    for (room, byte) in head.iter_mut().zip(fields.as_flattened().iter().chain(&sum(payload).to_le_bytes())) {
        *room = *byte;
    }
    head
}

/// A sum that notices what a torn or foreign file has instead: it guards against accidents only.
pub(crate) fn sum(bytes: &[u8]) -> u64 {
    const FACTOR: u64 = 0x9E37_79B9_7F4A_7C15;
    let (words, rest) = bytes.as_chunks::<8>();
    let sum = words.iter().fold(bytes.len() as u64, |sum, word| {
        (sum ^ u64::from_le_bytes(*word)).wrapping_mul(FACTOR).rotate_left(29)
    });
    rest.iter().fold(sum, |sum, &byte| (sum ^ u64::from(byte)).wrapping_mul(FACTOR).rotate_left(29))
}

/// Makes the file of the ring: in memory where that is possible, else beside the recording.
fn make_ring(raw: &Path) -> io::Result<(SharedWords, PathBuf)> {
    let mut last = io::Error::from(io::ErrorKind::NotFound);
    let beside = raw.parent().unwrap_or(Path::new("."));
    for folder in [Path::new("/dev/shm"), &std::env::temp_dir(), beside] {
        let path = folder.join(format!(
            "reweave-{}-{:x}.ring",
            std::process::id(),
            sum(raw.as_os_str().as_encoded_bytes())
        ));
        let make = || -> io::Result<SharedWords> {
            let mut file = File::options().read(true).write(true).create_new(true).open(&path)?;
            // Written, not only made so large: where there is no room, it must be found out now.
            let zeroes = vec![0; 1 << 20];
            for _ in 0..(SLOTS_AT + CAPACITY * SLOT_BYTES).div_ceil(zeroes.len()) {
                file.write_all(&zeroes)?;
            }
            SharedWords::map(&file)
        };
        match make() {
            Ok(words) => return Ok((words, path)),
            Err(error) => {
                if error.kind() != io::ErrorKind::AlreadyExists {
                    let _ = std::fs::remove_file(&path);
                }
                last = error;
            }
        }
    }
    Err(last)
}
