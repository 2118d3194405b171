//! The frame of a file: its header, the heads of blocks and footer, and its end.
//!
//! Every part has its own checksum, so that a wrong length is told from a file that ends too early.

use crate::varint::{self, Input};
use crate::{Crc, Damaged, SPACES, crc};

/// The first bytes of every file. The ends of line reveal a copy made as text.
pub const MAGIC: [u8; 8] = *b"\x89RWV\r\n\x1a\n";

/// The version that this crate writes.
pub const VERSION: u8 = 3;

/// The oldest version that is read: version 2 has three operations more, version 3 stable names of sites.
pub const OLDEST_VERSION: u8 = 1;

/// The length of the file's header.
pub const HEADER_BYTES: usize = 16;

/// The length of the head of a block or footer.
pub const CHUNK_BYTES: usize = 32;

/// The length of the mark at the end of a file.
pub const END_BYTES: usize = 16;

const END_MAGIC: [u8; 4] = *b"RWND";

/// What a trace claims to carry, a bit each.
#[derive(Clone, Copy, PartialEq, Eq, Default, Debug)]
pub struct Claims(pub u8);

impl Claims {
    /// Every read, write and update has its value.
    pub const VALUES: Claims = Claims(1);
    /// Branches are recorded wherever they are asked for.
    pub const BRANCHES: Claims = Claims(2);
    /// There is a table of dependences.
    pub const DEPENDENCES: Claims = Claims(4);
    /// The order of plain accesses between synchronisations is a guess.
    pub const APPROXIMATE: Claims = Claims(8);

    /// Whether each claim of `other` is made.
    pub fn include(self, other: Claims) -> bool {
        other.0 & !self.0 == 0
    }

    /// These claims and those of `other`.
    pub fn and(self, other: Claims) -> Claims {
        Claims(self.0 | other.0)
    }

    /// These claims but those of `other`.
    pub fn without(self, other: Claims) -> Claims {
        Claims(self.0 & !other.0)
    }
}

/// The header of a file.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct FileHeader {
    /// The version of the format.
    pub version: u8,
    /// The most that the file will claim.
    pub claims: Claims,
    /// The part of it that only a footer makes true.
    pub tentative: Claims,
}

impl FileHeader {
    /// The header's bytes.
    pub fn encode(self) -> [u8; HEADER_BYTES] {
        let mut bytes = [0; HEADER_BYTES];
        bytes[..8].copy_from_slice(&MAGIC);
        bytes[8..11].copy_from_slice(&[self.version, self.claims.0, self.tentative.0]);
        let sum = crc(&bytes[..12]);
        bytes[12..].copy_from_slice(&sum.to_le_bytes());
        bytes
    }

    /// The header in `bytes`.
    pub fn decode(bytes: &[u8; HEADER_BYTES]) -> Result<FileHeader, Damaged> {
        let header = FileHeader { version: bytes[8], claims: Claims(bytes[9]), tentative: Claims(bytes[10]) };
        if bytes[..8] != MAGIC {
            return Err(Damaged("the file does not start as a Reweave trace does"));
        }
        if crc(&bytes[..12]).to_le_bytes() != bytes[12..] {
            return Err(Damaged("the header does not match its checksum"));
        }
        Ok(header)
    }
}

/// What a chunk holds.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
#[repr(u8)]
pub enum ChunkKind {
    /// Names and events.
    Block = b'B',
    /// The calling contexts of the block before it.
    Contexts = b'C',
    /// A part of the table of dependences.
    Dependences = b'D',
    /// How the run failed by itself.
    Ending = b'E',
    /// Stable names of sites.
    Sites = b'S',
    /// Totals and index.
    Footer = b'F',
}

impl ChunkKind {
    /// The kind that a chunk's first byte stands for.
    pub fn from_code(code: u8) -> Option<ChunkKind> {
        match code {
            b'B' => Some(ChunkKind::Block),
            b'C' => Some(ChunkKind::Contexts),
            b'D' => Some(ChunkKind::Dependences),
            b'E' => Some(ChunkKind::Ending),
            b'S' => Some(ChunkKind::Sites),
            b'F' => Some(ChunkKind::Footer),
            _ => None,
        }
    }
}

/// How the events of a block are stored.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
#[repr(u8)]
pub enum Codec {
    /// As what differs from the prediction.
    Predicted = 0,
    /// As numbers of equal width.
    Packed = 1,
}

impl Codec {
    /// The one whose code is `code`.
    pub fn from_code(code: u8) -> Option<Codec> {
        match code {
            0 => Some(Codec::Predicted),
            1 => Some(Codec::Packed),
            _ => None,
        }
    }
}

/// The head of a block, of its contexts, or of the footer.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Chunk {
    /// What it is.
    pub kind: ChunkKind,
    /// How events are stored: the code of a [`Codec`]; of a footer, 0.
    pub codec: u8,
    /// How many bytes follow the head.
    pub payload: u32,
    /// A block's number of events; of contexts, the number of changes; of dependences and sites, the number of entries; a footer's
    /// number of blocks.
    pub events: u32,
    /// A block's number of names; of contexts, the number of calls.
    pub names: u32,
    /// A block's first event, also in the head of its contexts; the number of events in all of dependences and a footer.
    pub first_event: u64,
    /// The payload's checksum.
    pub payload_crc: u32,
}

impl Chunk {
    /// The head's bytes.
    pub fn encode(&self) -> [u8; CHUNK_BYTES] {
        let mut bytes = [0; CHUNK_BYTES];
        bytes[..2].copy_from_slice(&[self.kind as u8, self.codec]);
        bytes[4..8].copy_from_slice(&self.payload.to_le_bytes());
        bytes[8..12].copy_from_slice(&self.events.to_le_bytes());
        bytes[12..16].copy_from_slice(&self.names.to_le_bytes());
        bytes[16..24].copy_from_slice(&self.first_event.to_le_bytes());
        bytes[24..28].copy_from_slice(&self.payload_crc.to_le_bytes());
        let sum = crc(&bytes[..28]);
        bytes[28..].copy_from_slice(&sum.to_le_bytes());
        bytes
    }

    /// The head in `bytes`.
    pub fn decode(bytes: &[u8; CHUNK_BYTES]) -> Result<Chunk, Damaged> {
        if crc(&bytes[..28]) != word(bytes, 28) {
            return Err(Damaged("the head of a block does not match its checksum"));
        }
        Ok(Chunk {
            kind: ChunkKind::from_code(bytes[0]).ok_or(Damaged("the head of a block has an unknown kind"))?,
            codec: bytes[1],
            payload: word(bytes, 4),
            events: word(bytes, 8),
            names: word(bytes, 12),
            first_event: u64::from(word(bytes, 16)) | u64::from(word(bytes, 20)) << 32,
            payload_crc: word(bytes, 24),
        })
    }
}

fn word<const N: usize>(bytes: &[u8; N], at: usize) -> u32 {
    u32::from_le_bytes([bytes[at], bytes[at + 1], bytes[at + 2], bytes[at + 3]])
}

/// The payload of a footer.
#[derive(Clone, Debug)]
pub struct Footer<'b> {
    /// What the whole trace claims.
    pub claims: Claims,
    /// How many names there are in each space.
    pub names: [u32; SPACES],
    /// How many blocks the index lists: all or none.
    pub indexed: u32,
    input: Input<'b>,
}

impl<'b> Footer<'b> {
    /// Opens a footer.
    pub fn decode(payload: &'b [u8]) -> Result<Footer<'b>, Damaged> {
        let damaged = Damaged("the footer is cut short");
        let mut input = Input::new(payload);
        let claims = Claims(input.byte().ok_or(damaged)?);
        let mut names = [0; SPACES];
        for count in &mut names {
            *count = input.small().ok_or(damaged)?;
        }
        Ok(Footer { claims, names, indexed: input.small().ok_or(damaged)?, input })
    }

    /// The next block of the index: the length of its payload and its number of events.
    pub fn next_block(&mut self) -> Option<(u32, u32)> {
        Some((self.input.small()?, self.input.small()?))
    }

    /// Whether nothing is left of it.
    pub fn is_read(&self) -> bool {
        self.input.is_empty()
    }
}

/// Writes a footer piece by piece, for its index may be longer than any buffer: once to measure, once to write.
#[derive(Clone, Copy, Default, Debug)]
pub struct FooterEncoder {
    length: u32,
    crc: Crc,
}

impl FooterEncoder {
    /// Writes everything before the index.
    pub fn start(
        &mut self,
        claims: Claims,
        names: &[u32; SPACES],
        indexed: u32,
        sink: &mut impl FnMut(&[u8]),
    ) {
        self.put(&[claims.0], sink);
        names.iter().for_each(|&count| self.number(count, sink));
        self.number(indexed, sink);
    }

    /// Writes an entry of the index.
    pub fn block(&mut self, payload: u32, events: u32, sink: &mut impl FnMut(&[u8])) {
        self.number(payload, sink);
        self.number(events, sink);
    }

    /// The head that goes before what was written.
    pub fn head(&self, blocks: u32, events: u64) -> Chunk {
        Chunk {
            kind: ChunkKind::Footer,
            codec: 0,
            payload: self.length,
            events: blocks,
            names: 0,
            first_event: events,
            payload_crc: self.crc.value(),
        }
    }

    fn number(&mut self, value: u32, sink: &mut impl FnMut(&[u8])) {
        let (bytes, length) = varint::encode(u64::from(value));
        self.put(&bytes[..length], sink);
    }

    fn put(&mut self, bytes: &[u8], sink: &mut impl FnMut(&[u8])) {
        self.length = self.length.saturating_add(bytes.len() as u32);
        self.crc.add(bytes);
        sink(bytes);
    }
}

/// The mark at the end of a file.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct End {
    /// Where the footer starts.
    pub footer: u64,
}

impl End {
    /// The mark's bytes.
    pub fn encode(self) -> [u8; END_BYTES] {
        let mut bytes = [0; END_BYTES];
        bytes[..8].copy_from_slice(&self.footer.to_le_bytes());
        bytes[8..12].copy_from_slice(&END_MAGIC);
        let sum = crc(&bytes[..12]);
        bytes[12..].copy_from_slice(&sum.to_le_bytes());
        bytes
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_flipped_bit_of_a_head_is_noticed() {
        let header = FileHeader { version: 1, claims: Claims(3), tentative: Claims(1) };
        let bytes = header.encode();
        assert_eq!(FileHeader::decode(&bytes), Ok(header));
        for bit in 0..HEADER_BYTES * 8 {
            let mut flipped = bytes;
            flipped[bit / 8] ^= 1 << (bit % 8);
            assert!(FileHeader::decode(&flipped).is_err());
        }
        let chunk = Chunk {
            kind: ChunkKind::Block,
            codec: 0,
            payload: 0x0102_0304,
            events: 65_536,
            names: 7,
            first_event: 0x0102_0304_0506_0708,
            payload_crc: 0xDEAD_BEEF,
        };
        let bytes = chunk.encode();
        assert_eq!(Chunk::decode(&bytes), Ok(chunk));
        for bit in 0..CHUNK_BYTES * 8 {
            let mut flipped = bytes;
            flipped[bit / 8] ^= 1 << (bit % 8);
            assert!(Chunk::decode(&flipped).is_err());
        }
    }
}
