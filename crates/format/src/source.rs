//! Input cut into blocks of whole lines or records.

use std::borrow::Cow;
use std::io::{self, Cursor, Read};
use std::ops::Range;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

use memchr::{memchr, memrchr};

use crate::text::MAX_LINE_BYTES;

/// How much of an input is looked at to tell what it is.
const HEAD_BYTES: usize = 1 << 16;

/// Where blocks may be cut.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Cut {
    /// After the end of a line.
    Lines,
    /// After a multiple of so many bytes.
    Records(usize),
}

/// A part of the input.
pub(crate) struct Block<'a> {
    pub(crate) bytes: Cow<'a, [u8]>,
    /// Where it is in the (uncompressed) input.
    pub(crate) offset: u64,
}

impl Block<'_> {
    /// Which part of the input it is.
    pub(crate) fn extent(&self) -> Range<u64> {
        self.offset..self.offset + self.bytes.len() as u64
    }
}

/// An input that is in memory as a whole, or comes bit by bit. Memory for the latter is bounded by a block and a line.
pub(crate) struct Source<'a> {
    from: From<'a>,
    offset: u64,
    block_bytes: usize,
    read: Arc<AtomicU64>,
}

enum From<'a> {
    Bytes(&'a [u8]),
    Stream { reader: Box<dyn Read + Send + 'a>, held: Vec<u8>, ended: bool },
}

impl<'a> Source<'a> {
    /// The input in `bytes`, decompressed if its content is.
    pub(crate) fn from_bytes(bytes: &'a [u8], block_bytes: usize) -> io::Result<Source<'a>> {
        let read = Arc::default();
        let from = match Compression::of(bytes) {
            None => From::Bytes(bytes),
            Some(compression) => {
                stream(compression.decode(Counted { reader: bytes, read: Arc::clone(&read) }, &read)?)
            }
        };
        Ok(Source { from, offset: 0, block_bytes, read })
    }

    /// What `reader` gives, decompressed if its content is.
    pub(crate) fn from_reader(reader: impl Read + Send + 'a, block_bytes: usize) -> io::Result<Source<'a>> {
        let read = Arc::default();
        let mut reader = Counted { reader, read: Arc::clone(&read) };
        let mut magic = Vec::new();
        reader.by_ref().take(4).read_to_end(&mut magic)?;
        let compression = Compression::of(&magic);
        let whole = Cursor::new(magic).chain(reader);
        let from = match compression {
            None => stream(Box::new(whole)),
            Some(compression) => stream(compression.decode(whole, &read)?),
        };
        Ok(Source { from, offset: 0, block_bytes, read })
    }

    /// The first bytes, which stay to be read.
    pub(crate) fn head(&mut self) -> io::Result<&[u8]> {
        match &mut self.from {
            From::Bytes(bytes) => Ok(&bytes[..bytes.len().min(HEAD_BYTES)]),
            From::Stream { reader, held, ended } => {
                *ended |= fill(reader, held, HEAD_BYTES)?;
                Ok(held)
            }
        }
    }

    /// Everything that is left, in one piece.
    pub(crate) fn rest(self) -> io::Result<Cow<'a, [u8]>> {
        match self.from {
            From::Bytes(bytes) => Ok(Cow::Borrowed(bytes)),
            From::Stream { mut reader, mut held, .. } => {
                reader.read_to_end(&mut held)?;
                Ok(Cow::Owned(held))
            }
        }
    }

    /// Passes over the first bytes, which must have been seen with [`Source::head`].
    pub(crate) fn skip(&mut self, bytes: usize) {
        match &mut self.from {
            From::Bytes(rest) => *rest = &rest[bytes.min(rest.len())..],
            From::Stream { held, .. } => _ = held.drain(..bytes.min(held.len())),
        }
        self.offset += bytes as u64;
    }

    /// The next `count` bytes, or fewer at the end.
    pub(crate) fn take(&mut self, count: usize) -> io::Result<Cow<'a, [u8]>> {
        let bytes = match &mut self.from {
            From::Bytes(rest) => {
                let (taken, left) = rest.split_at(count.min(rest.len()));
                *rest = left;
                self.read.fetch_add(taken.len() as u64, Ordering::Relaxed);
                Cow::Borrowed(taken)
            }
            From::Stream { reader, held, ended } => {
                *ended = *ended || fill(reader, held, count)?;
                let left = held.split_off(count.min(held.len()));
                Cow::Owned(std::mem::replace(held, left))
            }
        };
        self.offset += bytes.len() as u64;
        Ok(bytes)
    }

    /// Whether it is in memory and has `limit` bytes at most.
    pub(crate) fn is_within(&self, limit: usize) -> bool {
        matches!(self.from, From::Bytes(bytes) if bytes.len() <= limit)
    }

    /// Counts the bytes of the input, compressed as it came, that were read so far.
    pub(crate) fn counter(&self) -> Arc<AtomicU64> {
        Arc::clone(&self.read)
    }

    /// The next block, or none at the end.
    pub(crate) fn next(&mut self, cut: Cut) -> io::Result<Option<Block<'a>>> {
        let bytes = match &mut self.from {
            From::Bytes(rest) => {
                let (block, left) = rest.split_at(cut_bytes(rest, self.block_bytes, cut));
                *rest = left;
                self.read.fetch_add(block.len() as u64, Ordering::Relaxed);
                Cow::Borrowed(block)
            }
            From::Stream { reader, held, ended } => {
                Cow::Owned(next_of_stream(reader, held, ended, self.block_bytes, cut)?)
            }
        };
        let offset = self.offset;
        self.offset += bytes.len() as u64;
        Ok((!bytes.is_empty()).then_some(Block { bytes, offset }))
    }
}

fn stream<'a>(reader: Box<dyn Read + Send + 'a>) -> From<'a> {
    From::Stream { reader, held: Vec::new(), ended: false }
}

/// Where to cut `rest` after about `target` bytes.
fn cut_bytes(rest: &[u8], target: usize, cut: Cut) -> usize {
    if rest.len() <= target {
        return rest.len();
    }
    match cut {
        Cut::Records(size) => (target - target % size).max(size).min(rest.len()),
        Cut::Lines => {
            // Where no line ends in reach, the block ends in a line that is too long, which its parser refuses.
            let reach = rest.len().min(target.saturating_add(MAX_LINE_BYTES + 2));
            memchr(b'\n', &rest[target..reach]).map_or(reach, |end| target + end + 1)
        }
    }
}

fn next_of_stream(
    reader: &mut dyn Read,
    held: &mut Vec<u8>,
    ended: &mut bool,
    block_bytes: usize,
    cut: Cut,
) -> io::Result<Vec<u8>> {
    let mut target = block_bytes;
    loop {
        *ended = *ended || fill(reader, held, target)?;
        let end = match cut {
            _ if *ended => held.len(),
            Cut::Records(size) => held.len() - held.len() % size,
            Cut::Lines => match memrchr(b'\n', held) {
                Some(end) => end + 1,
                None if held.len() > MAX_LINE_BYTES + 1 => held.len(),
                None => 0,
            },
        };
        if end > 0 || *ended {
            let left = held.split_off(end);
            return Ok(std::mem::replace(held, left));
        }
        target = target.saturating_mul(2);
    }
}

/// Reads until `held` has `target` bytes; true at the end of the input.
fn fill(reader: &mut dyn Read, held: &mut Vec<u8>, target: usize) -> io::Result<bool> {
    let wanted = target.saturating_sub(held.len());
    Ok(wanted > 0 && reader.take(wanted as u64).read_to_end(held)? < wanted)
}

/// A compression, told by the first bytes.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum Compression {
    Gzip,
    Zstd,
}

impl Compression {
    fn of(head: &[u8]) -> Option<Compression> {
        match head {
            [0x1f, 0x8b, ..] => Some(Compression::Gzip),
            // A frame, or a frame to be skipped, with which some compressors start.
            [0x28, 0xb5, 0x2f, 0xfd, ..] | [0x50..=0x5f, 0x2a, 0x4d, 0x18, ..] => Some(Compression::Zstd),
            _ => None,
        }
    }

    fn decode<'a>(
        self,
        reader: impl Read + Send + 'a,
        read: &Arc<AtomicU64>,
    ) -> io::Result<Box<dyn Read + Send + 'a>> {
        let read = Arc::clone(read);
        Ok(match self {
            Compression::Gzip => {
                Box::new(Bounded { reader: flate2::read::MultiGzDecoder::new(reader), read, given: 0 })
            }
            Compression::Zstd => {
                Box::new(Bounded { reader: zstd::stream::read::Decoder::new(reader)?, read, given: 0 })
            }
        })
    }
}

/// A compressed input may expand to so many bytes, and so many more for each byte that it has.
const EXPANDED: [u64; 2] = [64 << 20, 128];

/// A reader of what was compressed that stops where a small input becomes a large one.
struct Bounded<R> {
    reader: R,
    /// How much of the compressed input was read.
    read: Arc<AtomicU64>,
    given: u64,
}

impl<R: Read> Read for Bounded<R> {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        let count = self.reader.read(buffer)?;
        self.given += count as u64;
        let read = self.read.load(Ordering::Relaxed);
        if self.given > EXPANDED[0].saturating_add(read.saturating_mul(EXPANDED[1])) {
            return Err(io::Error::new(
                io::ErrorKind::InvalidData,
                format!(
                    "{read} compressed bytes have become {} already, more than traces do; \
                     decompress it first if you trust it",
                    self.given
                ),
            ));
        }
        Ok(count)
    }
}

/// A reader that counts.
struct Counted<R> {
    reader: R,
    read: Arc<AtomicU64>,
}

impl<R: Read> Read for Counted<R> {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        let count = self.reader.read(buffer)?;
        self.read.fetch_add(count as u64, Ordering::Relaxed);
        Ok(count)
    }
}
