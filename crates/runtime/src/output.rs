//! The recording under way: events to blocks, blocks to the file.
//!
//! Memory is bounded: names are found through caches that forget, and a name that comes again is defined again, which
//! the format allows. A block goes to the file as soon as it is full; a recording that ends early has all blocks but
//! the last.

use reweave_wire::{
    Claims, Encoder, End, Event, FileHeader, FooterEncoder, Full, HEADER_BYTES, Op, Space, VERSION, Value,
};

use crate::map::{Array, Cache};
use crate::sys;
use crate::text::Text;

const NO_SPACE: i32 = 28;
const BUFFER_BYTES: usize = 1 << 20;
const VARIABLES: usize = 1 << 17;
const SITES: usize = 1 << 13;

/// Why a recording stopped before the program did.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Stop {
    Events,
    Bytes,
    /// The file could not be written, with the number of the error.
    Failed(i32),
}

/// The file and what is on its way there.
pub(crate) struct Output {
    encoder: Encoder<Buffer>,
    file: i32,
    written: u64,
    blocks: u32,
    variables: Cache,
    sites: Cache,
    /// How many more events it may have.
    left: u64,
    max_bytes: u64,
    stopped: Option<Stop>,
}

struct Buffer(Array<u8>);

impl AsRef<[u8]> for Buffer {
    fn as_ref(&self) -> &[u8] {
        self.0.as_ref()
    }
}

impl AsMut<[u8]> for Buffer {
    fn as_mut(&mut self) -> &mut [u8] {
        self.0.as_mut()
    }
}

/// One event, its names given.
#[derive(Clone, Copy)]
pub(crate) struct Happening {
    pub(crate) thread: u32,
    pub(crate) op: Op,
    pub(crate) target: u32,
    pub(crate) site: u32,
    pub(crate) read: Value,
    pub(crate) written: Value,
}

impl Output {
    /// Starts a recording in an open, empty file.
    pub(crate) fn new(file: i32, max_events: u64, max_bytes: u64) -> Output {
        let mut output = Output {
            encoder: Encoder::new(Buffer(Array::zeroed(BUFFER_BYTES))),
            file,
            written: HEADER_BYTES as u64,
            blocks: 0,
            variables: Cache::new(VARIABLES),
            sites: Cache::new(SITES),
            left: max_events.max(1),
            max_bytes,
            stopped: None,
        };
        let header = FileHeader { version: VERSION, claims: Claims(0), tentative: Claims(0) };
        if let Err(error) = sys::write(file, &header.encode()) {
            output.fail(error);
        }
        output
    }

    /// Stops, and says so at once: on a full disk there is no other way to tell.
    fn fail(&mut self, error: i32) {
        self.stopped = Some(Stop::Failed(error));
        let mut said = Text::<128>::new();
        said.push(b"reweave: the recording stops here, the program goes on: ");
        match error {
            NO_SPACE => said.push(b"the disk is full\n"),
            error => said.push(b"error ").number(error as u64).push(b" while writing\n"),
        };
        let _ = sys::write(2, said.bytes());
    }

    /// Why the recording stopped, if it did.
    pub(crate) fn stopped(&self) -> Option<Stop> {
        self.stopped
    }

    /// How many events there are.
    pub(crate) fn events(&self) -> u64 {
        self.encoder.total_events()
    }

    /// Names a thing, in text.
    pub(crate) fn name(&mut self, space: Space, text: &[u8]) -> u32 {
        if let Ok(id) = self.encoder.define(space, text) {
            return id;
        }
        self.close();
        self.encoder.define(space, text).unwrap_or(0)
    }

    fn number(&mut self, space: Space, number: u64) -> u32 {
        if let Ok(id) = self.encoder.define_number(space, number) {
            return id;
        }
        self.close();
        self.encoder.define_number(space, number).unwrap_or(0)
    }

    /// The id of a variable.
    #[inline]
    pub(crate) fn variable(&mut self, name: u64) -> u32 {
        if let Some(id) = self.variables.get(name) {
            return id;
        }
        let id = self.number(Space::Variable, name);
        self.variables.set(name, id);
        id
    }

    /// The id of the site at an address of code.
    #[inline]
    pub(crate) fn site(&mut self, code: usize) -> u32 {
        // The cache knows no key 0.
        let key = code as u64 + 1;
        if let Some(id) = self.sites.get(key) {
            return id;
        }
        let id = self.number(Space::Site, code as u64);
        self.sites.set(key, id);
        id
    }

    /// Adds an event.
    #[inline]
    pub(crate) fn put(&mut self, happening: &Happening) {
        if self.stopped.is_some() {
            return;
        }
        let Happening { thread, op, target, site, read, written } = *happening;
        let event = Event { thread, op, target, site, read, written };
        if self.encoder.event(&event) == Err(Full) {
            self.close();
            // An empty block has room for an event.
            let _ = self.encoder.event(&event);
        }
        self.left -= 1;
        if self.left == 0 {
            self.close();
            self.stopped = self.stopped.or(Some(Stop::Events));
        }
    }

    /// Writes what there is as a block.
    pub(crate) fn close(&mut self) {
        if self.encoder.events() == 0 && self.encoder.names() == 0 {
            return;
        }
        let (file, stopped) = (self.file, self.stopped.is_some());
        let (mut bytes, mut failed) = (0, None);
        self.encoder.close(&mut |piece: &[u8]| {
            if failed.is_none() && !stopped {
                failed = sys::write(file, piece).err();
                bytes += piece.len() as u64;
            }
        });
        match failed {
            _ if stopped => {}
            None => {
                self.written += bytes;
                self.blocks += 1;
                if self.written >= self.max_bytes {
                    self.stopped = Some(Stop::Bytes);
                }
            }
            Some(error) => {
                // What is left of the block would look like damage.
                sys::truncate(file, self.written);
                self.fail(error);
            }
        }
    }

    /// Writes nothing more: the file belongs to another process.
    pub(crate) fn abandon(&mut self) {
        sys::close(self.file);
        self.stopped = Some(Stop::Failed(0));
    }

    /// Writes the rest and the end of the file.
    pub(crate) fn finish(&mut self) {
        self.close();
        // Names and events that were not written may be missing: the file then ends as one that was cut off.
        if self.stopped.is_some() {
            return;
        }
        let (mut footer, mut payload, mut length) = (FooterEncoder::default(), [0; 256], 0);
        footer.start(Claims(0), self.encoder.defined(), 0, &mut |piece: &[u8]| {
            if let Some(room) = payload.get_mut(length..length + piece.len()) {
                room.copy_from_slice(piece);
                length += piece.len();
            }
        });
        let head = footer.head(self.blocks, self.encoder.total_events()).encode();
        let end = End { footer: self.written }.encode();
        let written = sys::write(self.file, &head)
            .and_then(|()| sys::write(self.file, payload.get(..length).unwrap_or_default()))
            .and_then(|()| sys::write(self.file, &end));
        if written.is_err() {
            sys::truncate(self.file, self.written);
        }
        sys::close(self.file);
        self.file = -1;
    }
}

#[cfg(test)]
mod tests {
    use std::fs::{self, File};
    use std::io::Read;
    use std::os::fd::{AsRawFd, IntoRawFd};

    use super::*;

    fn happening(output: &mut Output, number: u64) -> Happening {
        let target = output.variable(number << 5 | 8);
        let site = output.site(number as usize % 100);
        let (read, written) = (Value::Absent, Value::Number(number));
        Happening { thread: 0, op: Op::Write, target, site, read, written }
    }

    /// Heads of the blocks of a recording: how many events each has.
    fn blocks(bytes: &[u8]) -> (Vec<u32>, bool) {
        let (mut at, mut events) = (HEADER_BYTES, Vec::new());
        loop {
            let Some(head) = bytes.get(at..).and_then(|rest| rest.first_chunk()) else {
                return (events, false);
            };
            let head = reweave_wire::Chunk::decode(head).unwrap();
            if head.kind == reweave_wire::ChunkKind::Footer {
                return (events, true);
            }
            let payload = &bytes[at + reweave_wire::CHUNK_BYTES..][..head.payload as usize];
            assert_eq!(reweave_wire::crc(payload), head.payload_crc);
            at += reweave_wire::CHUNK_BYTES + payload.len();
            events.push(head.events);
        }
    }

    fn record(path: &std::path::Path, events: u64, max_events: u64, max_bytes: u64) -> (Output, Vec<u8>) {
        let file = File::create(path).unwrap().into_raw_fd();
        let mut output = Output::new(file, max_events, max_bytes);
        output.name(Space::Thread, b"main");
        for number in 0..events {
            let happening = happening(&mut output, number);
            output.put(&happening);
        }
        output.finish();
        (output, fs::read(path).unwrap())
    }

    #[test]
    fn blocks_are_written_as_they_fill_and_limits_hold() {
        let path = std::env::temp_dir().join(format!("reweave-output-{}", std::process::id()));
        let (output, bytes) = record(&path, 200_000, u64::MAX, u64::MAX);
        let (events, finished) = blocks(&bytes);
        assert_eq!((events.iter().sum::<u32>(), finished, output.stopped()), (200_000, true, None));
        assert!(events.len() >= 3);
        let (output, bytes) = record(&path, 200_000, 70_001, u64::MAX);
        let (events, finished) = blocks(&bytes);
        assert_eq!(
            (events.iter().sum::<u32>(), finished, output.stopped()),
            (70_001, false, Some(Stop::Events))
        );
        let (output, bytes) = record(&path, 400_000, u64::MAX, 100_000);
        // The block that goes over the limit is the last.
        let (events, _) = blocks(&bytes);
        assert_eq!(output.stopped(), Some(Stop::Bytes));
        assert!(bytes.len() >= 100_000 && events.len() < 5, "{events:?} in {} bytes", bytes.len());
        fs::remove_file(path).unwrap();
    }

    #[test]
    fn a_file_that_cannot_be_written_stops_the_recording() {
        let full = File::options().write(true).open("/dev/full").unwrap();
        let mut output = Output::new(full.as_raw_fd(), u64::MAX, u64::MAX);
        assert_eq!(output.stopped(), Some(Stop::Failed(NO_SPACE)));
        for number in 0..100_000 {
            let happening = happening(&mut output, number);
            output.put(&happening);
        }
        assert_eq!(output.stopped(), Some(Stop::Failed(NO_SPACE)));
        // Its end closes early, here: the other end of a pipe is gone.
        let (mut read, write) = std::io::pipe().unwrap();
        let mut output = Output::new(write.as_raw_fd(), u64::MAX, u64::MAX);
        assert_eq!(output.stopped(), None);
        read.read_exact(&mut [0; HEADER_BYTES]).unwrap();
        drop(read);
        output.name(Space::Thread, b"main");
        output.close();
        assert!(matches!(output.stopped(), Some(Stop::Failed(_))));
    }
}
