//! The recorder's side of the ring: slots are taken out, made small and written to a file while the program runs.

use std::fs::File;
use std::io::{self, Seek, Write};
use std::path::{Path, PathBuf};
use std::sync::atomic::AtomicU64;
use std::sync::atomic::Ordering::{Acquire, Relaxed, Release};

use reweave_wire::ring::{RING_MAGIC, SLOT_BYTES, SLOTS_AT, Slot, field, kind, state};

use crate::block::{BLOCK_HEAD, BLOCK_SLOTS, RAW_MAGIC, RawWriter, head};
use crate::coder::{MAX_BYTES, SPARE, Sites};
use crate::last::{State, Tail};
use crate::spool::{Buffer, Spool};

mod ring;

use ring::Ring;
pub use ring::unpredictable;

/// Slots in the ring: a few megabytes, which stay in the cache that the cores share.
const CAPACITY: usize = 1 << 19;
const SLOT_WORDS: usize = SLOT_BYTES / 8;
/// The most bytes of a block.
const MAX_BLOCK: usize = BLOCK_HEAD + BLOCK_SLOTS * MAX_BYTES + SPARE;

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
    ring: Ring,
    spool: Spool,
    sites: Sites,
    /// Blocks, and how far they have been shown to readers of the file. The one that begins at `start` is being filled.
    buffer: Buffer,
    shown: usize,
    start: usize,
    used: usize,
    slots: u32,
    position: u64,
    events_left: u64,
    bytes_left: u64,
    stopped: Option<Stop>,
    last: Option<Last>,
}

/// What it takes to keep the last events only.
struct Last {
    keep: u64,
    raw: PathBuf,
    state: State,
    /// How many events the file has, and how many slots at its start say what held before.
    events: u64,
    before: usize,
    /// How many events the file before it has; 0 where there is none.
    older: u64,
}

impl Last {
    fn older_path(&self) -> PathBuf {
        let mut path = self.raw.clone().into_os_string();
        path.push(".before");
        path.into()
    }
}

impl Drain {
    /// Makes a ring, and starts a raw recording at `raw`.
    pub fn create(raw: &Path, max_events: u64, max_bytes: u64) -> io::Result<Drain> {
        let mut file = new_file(raw)?;
        let ring = Ring::make(raw).inspect_err(|_| {
            // Nothing was recorded: nothing is left.
            let _ = std::fs::remove_file(raw);
        })?;
        let mut stopped = None;
        if let Err(error) = file.write_all(&RAW_MAGIC) {
            stopped = Some(Stop::Failed(error));
        }
        let mut spool = Spool::new(file, if stopped.is_none() { RAW_MAGIC.len() as u64 } else { 0 });
        let (buffer, filled) = spool.begin()?;
        let drain = Drain {
            ring,
            spool,
            sites: Sites::default(),
            buffer,
            shown: filled,
            start: filled,
            used: filled + BLOCK_HEAD,
            slots: 0,
            position: 0,
            events_left: max_events.max(1),
            bytes_left: max_bytes,
            stopped,
            last: None,
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

    /// Keeps only the last `keep` events, and on the way at most three times as many.
    pub fn keep_last(mut self, raw: &Path, keep: u64) -> Drain {
        let raw = raw.to_owned();
        self.last =
            Some(Last { keep: keep.max(1), raw, state: State::default(), events: 0, before: 0, older: 0 });
        self
    }

    /// Where the program finds the ring.
    pub fn ring(&self) -> &Path {
        &self.ring.path
    }

    /// Takes nothing: the program runs as if nobody listened.
    pub fn refuse(&self) {
        self.field(field::STOP).store(1, Release);
    }

    /// Why the recording stopped, if it did.
    pub fn stopped(&self) -> Option<&Stop> {
        self.stopped.as_ref()
    }

    /// Whether a program came.
    pub fn has_begun(&self) -> bool {
        self.field(field::STATE).load(Acquire) != state::NOBODY
    }

    /// The process that is recorded, by its own account.
    pub fn program(&self) -> Option<i32> {
        let id = self.field(field::PROGRAM).load(Acquire);
        i32::try_from(id).ok().filter(|&id| id > 0)
    }

    /// Whether the first events are kept as well as the last.
    pub fn keeps_all(&self) -> bool {
        self.last.is_none()
    }

    /// Whether the program wrote its last slot.
    pub fn is_whole(&self) -> bool {
        self.field(field::STATE).load(Acquire) == state::FINISHED
    }

    fn field(&self, at: usize) -> &AtomicU64 {
        static NOTHING: AtomicU64 = AtomicU64::new(0);
        self.ring.memory.words().get(at / 8).unwrap_or(&NOTHING)
    }

    fn slot_before(&self, position: u64) -> Option<Slot> {
        let place = position.checked_sub(1)? % CAPACITY as u64;
        let words = self.ring.memory.words().get(SLOTS_AT / 8 + place as usize * SLOT_WORDS..)?;
        words.first_chunk().map(read)
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
        if self.position == 0 {
            // The program has the ring, and nothing else is to find it.
            self.ring.hide();
        }
        let room = self.room() as u64;
        let start = (self.position % CAPACITY as u64) as usize;
        let count = count.min(room).min((CAPACITY - start) as u64) as usize;
        if self.stopped.is_none() {
            self.encode(start, count);
        }
        self.position += count as u64;
        self.field(field::CONSUMED).store(self.position, Release);
        if self.room() == 0 {
            self.end_block();
        }
        Taken::Some
    }

    /// How many slots the block certainly has room for: also those that are left out take a few bytes.
    fn room(&self) -> usize {
        let bytes = (self.start + MAX_BLOCK).saturating_sub(self.used + SPARE) / MAX_BYTES;
        bytes.min(BLOCK_SLOTS.saturating_sub(self.slots as usize))
    }

    fn encode(&mut self, start: usize, count: usize) {
        let first = SLOTS_AT / 8 + start * SLOT_WORDS;
        let words = self.ring.memory.words().get(first..first + count * SLOT_WORDS).unwrap_or_default();
        let mut slots = words.as_chunks::<SLOT_WORDS>().0;
        if self.events_left < count as u64 {
            let mut left = self.events_left;
            let fits = |slot: &&[AtomicU64; 3]| {
                let counts = u64::from(read(slot).is_event());
                let fits = counts <= left;
                left -= counts.min(left);
                fits
            };
            slots = slots.get(..slots.iter().take_while(fits).count()).unwrap_or_default();
            if slots.len() < count {
                self.stopped = Some(Stop::Events);
            }
        }
        let (mut events, last) = (slots.len() as u64, &mut self.last);
        let encoded = self.sites.encode(slots, &mut self.buffer, self.used, |slot| {
            events -= u64::from(!slot.is_event());
            if let Some(last) = last.as_mut().filter(|_| slot.kind() >= kind::OTHERS) {
                last.state.note(slot);
            }
        });
        (self.used, self.slots) = (encoded.0, self.slots + encoded.1);
        if let Some(last) = last {
            last.events += events;
        }
        self.events_left -= events.min(self.events_left);
        if self.stopped.is_some() {
            self.stop();
        }
    }

    /// Has what has been taken out so far written.
    pub fn flush(&mut self) {
        if self.slots > 0 {
            self.end_block();
        }
        if self.shown < self.start {
            self.spool.show(&self.buffer, self.shown..self.start);
            self.shown = self.start;
        }
        self.look_for_failure();
    }

    /// Begins another block, after those that there are or in another buffer.
    fn end_block(&mut self) {
        let payload = self.buffer.get(self.start + BLOCK_HEAD..self.used).unwrap_or_default();
        let (head, bytes) = (head(payload, self.slots), (self.used - self.start) as u64);
        if let Some(room) = self.buffer.get_mut(self.start..self.start + BLOCK_HEAD) {
            room.copy_from_slice(&head);
        }
        self.sites.end_block(self.slots);
        self.start = self.used;
        self.bytes_left = self.bytes_left.saturating_sub(bytes);
        if self.bytes_left == 0 && self.stopped.is_none() {
            self.stopped = Some(Stop::Bytes);
            self.stop();
        }
        if self.buffer.len() - self.start < MAX_BLOCK {
            let full = std::mem::take(&mut self.buffer);
            (self.buffer, self.start) = self.spool.next(full, self.start);
            self.shown = 0;
        }
        (self.used, self.slots) = (self.start + BLOCK_HEAD, 0);
        self.look_for_failure();
        if self.stopped.is_none()
            && let Err(error) = self.turn_over()
        {
            self.fail(error);
        }
    }

    fn look_for_failure(&mut self) {
        if let Some(error) = self.spool.failed() {
            self.fail(error);
        }
    }

    fn fail(&mut self, error: io::Error) {
        self.stopped = Some(Stop::Failed(error));
        self.stop();
    }

    /// Begins another file where only the last events are kept, and this one has as many.
    fn turn_over(&mut self) -> io::Result<()> {
        if self.last.as_ref().is_none_or(|last| last.events < last.keep) {
            return Ok(());
        }
        self.flush();
        self.spool.finish();
        let Some(last) = &mut self.last else { return Ok(()) };
        std::fs::rename(&last.raw, last.older_path())?;
        let mut file = new_file(&last.raw)?;
        file.write_all(&RAW_MAGIC)?;
        let slots = last.state.slots();
        let mut writer = RawWriter::new(&mut file);
        slots.iter().try_for_each(|&slot| writer.put(slot))?;
        self.sites = writer.end()?;
        let written = file.stream_position()?;
        let filled = self.spool.turn_to(file, written, &mut self.buffer)?;
        (self.shown, self.start, self.used) = (filled, filled, filled + BLOCK_HEAD);
        (last.older, last.events, last.before) = (last.events, 0, slots.len());
        Ok(())
    }

    /// Cuts the files down to the last events.
    fn cut(&mut self) -> io::Result<()> {
        let Some(last) = &self.last else { return Ok(()) };
        let mut files = vec![(last.raw.clone(), 0)];
        if last.older > 0 {
            files = vec![(last.older_path(), 0), (last.raw.clone(), last.before)];
        }
        let slots = |each: &mut dyn FnMut(Slot)| -> io::Result<()> {
            for (path, skip) in &files {
                let mut left = *skip;
                crate::raw::decode(path, &mut |batch| {
                    for slot in batch {
                        if left > 0 { left -= 1 } else { each(slot) }
                    }
                    true
                })
                .map_err(io::Error::other)?;
            }
            Ok(())
        };
        let mut total = 0;
        slots(&mut |slot| total += u64::from(slot.is_event()))?;
        if total <= last.keep {
            return Ok(());
        }
        let mut new = last.raw.clone().into_os_string();
        new.push(".cut");
        let mut file = new_file(Path::new(&new))?;
        file.write_all(&RAW_MAGIC)?;
        let mut writer = RawWriter::new(&mut file);
        let (mut tail, mut result) = (Tail::new(total, last.keep), Ok(()));
        slots(&mut |slot| {
            tail.next(slot, &mut |slot| {
                if result.is_ok() {
                    result = writer.put(slot);
                }
            });
        })?;
        result?;
        writer.end()?;
        std::fs::rename(&new, &last.raw)?;
        if last.older > 0 {
            std::fs::remove_file(last.older_path())?;
        }
        Ok(())
    }

    fn stop(&self) {
        self.field(field::STOP).store(1, Release);
    }

    /// Takes out the rest, once the program is gone: also what it had no time to publish.
    pub fn finish(&mut self) {
        let [base, cursor, anchor, anchor_cursor] =
            [field::BASE, field::CURSOR, field::ANCHOR, field::ANCHOR_CURSOR]
                .map(|at| self.field(at).load(Acquire));
        let mut end = self.field(field::PUBLISHED).load(Acquire);
        let ring = base..=base.saturating_add((CAPACITY * SLOT_BYTES) as u64);
        if self.stopped.is_none() && anchor_cursor <= cursor && ring.contains(&cursor) {
            let position = anchor.saturating_add((cursor - anchor_cursor) / SLOT_BYTES as u64);
            // The value of a write that is still awaited is not known.
            let is_awaited = self.slot_before(position).is_some_and(Slot::is_awaited);
            end = end.max(position.saturating_sub(u64::from(is_awaited)));
        }
        while self.take_until(end) == Taken::Some {}
        self.flush();
        self.spool.finish();
        self.look_for_failure();
        if let Err(error) = self.cut() {
            self.stopped = Some(Stop::Failed(error));
        }
    }
}

/// A new file that can be read as well as written, by its owner alone.
fn new_file(path: &Path) -> io::Result<File> {
    ring::private_file(path)
}

fn read(slot: &[AtomicU64; SLOT_WORDS]) -> Slot {
    Slot(slot.each_ref().map(|word| word.load(Relaxed)))
}

#[cfg(test)]
mod tests;
