//! The frame of a file: where its blocks are, and how it ends.
//!
//! Only heads are looked at, one a block, so this is quick even where the file is not in memory. A file that stops
//! inside a part is *cut off*: its last whole block counts, and a notice says so. A part that is there but is not
//! what it should be is *damaged*, and an error. Each head has a checksum of its own, so that a wrong length is not
//! taken for an early end.

use reweave_wire::{
    CHUNK_BYTES, Chunk, ChunkKind, Claims, Codec, End, FileHeader, Footer, HEADER_BYTES, MAX_EVENTS,
    MAX_NAMES, MAX_PAYLOAD, OLDEST_VERSION, SPACES, VERSION, crc,
};

use super::malformed;
use crate::error::Malformed;

/// A block in a file.
#[derive(Clone, Copy, Debug)]
pub(super) struct Located {
    /// Where its head starts.
    pub(super) at: usize,
    pub(super) head: Chunk,
}

impl Located {
    /// The block's payload, once it matches its checksum.
    pub(super) fn payload<'b>(&self, bytes: &'b [u8]) -> Result<&'b [u8], Malformed> {
        let start = self.at + CHUNK_BYTES;
        let payload = bytes.get(start..start + self.head.payload as usize).unwrap_or_default();
        self.check(payload).map(|()| payload)
    }

    /// Refuses a payload that does not match its checksum.
    pub(super) fn check(&self, payload: &[u8]) -> Result<(), Malformed> {
        if payload.len() == self.head.payload as usize && crc(payload) == self.head.payload_crc {
            return Ok(());
        }
        Err(malformed(self.at, "the file is damaged here: a block does not match its checksum"))
    }

    /// Refuses a block that is larger than blocks may be.
    pub(super) fn check_size(&self) -> Result<(), Malformed> {
        let Chunk { events, names, payload, .. } = self.head;
        if events as usize > MAX_EVENTS || names as usize > MAX_NAMES || payload as usize > MAX_PAYLOAD {
            return Err(malformed(self.at, "a block is larger than blocks may be"));
        }
        Ok(())
    }
}

/// What a scan found.
#[derive(Debug)]
pub(super) struct Scan {
    pub(super) blocks: Vec<Located>,
    /// The contexts of blocks, in order.
    pub(super) contexts: Vec<Located>,
    /// The parts of the table of dependences, in order.
    pub(super) dependences: Vec<Located>,
    /// The parts of the stable names of sites, in order.
    pub(super) sites: Vec<Located>,
    /// How the run failed by itself.
    pub(super) ending: Option<Located>,
    pub(super) events: u64,
    /// What may be relied on.
    pub(super) claims: Claims,
    /// How many names each space has, and where that is stated, where the file has its footer.
    pub(super) names: Option<(usize, [u32; SPACES])>,
    pub(super) notices: Vec<String>,
}

/// Finds the blocks of a file.
pub(super) fn scan(bytes: &[u8]) -> Result<Scan, Malformed> {
    let header = file_header(bytes)?;
    let mut scan = Scan::new(header);
    let mut at = HEADER_BYTES;
    loop {
        let rest = bytes.get(at..).unwrap_or_default();
        let Some(head) = head(rest).map_err(|message| malformed(at, message))? else {
            scan.cut_off(at, rest.is_empty());
            return Ok(scan);
        };
        let Some(payload) = rest[CHUNK_BYTES..].get(..head.payload as usize) else {
            scan.cut_off(at, false);
            return Ok(scan);
        };
        match head.kind {
            ChunkKind::Block => scan.block(Located { at, head })?,
            ChunkKind::Contexts => scan.contexts(Located { at, head })?,
            ChunkKind::Dependences => scan.dependences(Located { at, head })?,
            ChunkKind::Sites => scan.sites(Located { at, head })?,
            ChunkKind::Ending => scan.ending(Located { at, head })?,
            ChunkKind::Footer => {
                scan.footer(at, &head, payload, header)?;
                let end = at + CHUNK_BYTES + payload.len();
                scan.end(at, end, &bytes[end..])?;
                return Ok(scan);
            }
        }
        at += CHUNK_BYTES + payload.len();
    }
}

pub(super) fn file_header(bytes: &[u8]) -> Result<FileHeader, Malformed> {
    let Some(header) = bytes.first_chunk::<HEADER_BYTES>() else {
        let message = format!("the file is shorter than its header, which has {HEADER_BYTES} bytes");
        return Err(malformed(bytes.len(), message));
    };
    let header = FileHeader::decode(header).map_err(|damage| malformed(0, damage.0))?;
    if !(OLDEST_VERSION..=VERSION).contains(&header.version) {
        let version = header.version;
        let message = format!(
            "the file has version {version} of the format: this program reads {OLDEST_VERSION} to {VERSION}"
        );
        return Err(malformed(8, message));
    }
    Ok(header)
}

/// The head at the start of `rest`; nothing where the file ends before or inside it.
pub(super) fn head(rest: &[u8]) -> Result<Option<Chunk>, String> {
    let Some(&code) = rest.first() else { return Ok(None) };
    // A recorder that writes through a memory map and is killed leaves zeros to the end of the file.
    if code == 0 && rest.iter().all(|&byte| byte == 0) {
        return Ok(None);
    }
    if ChunkKind::from_code(code).is_none() {
        return Err("the file is damaged here: a block or the footer should start".to_owned());
    }
    let Some(bytes) = rest.first_chunk::<CHUNK_BYTES>() else { return Ok(None) };
    let head = Chunk::decode(bytes).map_err(|damage| format!("the file is damaged here: {}", damage.0))?;
    let known = match head.kind {
        ChunkKind::Block => Codec::from_code(head.codec).is_some(),
        ChunkKind::Contexts
        | ChunkKind::Dependences
        | ChunkKind::Sites
        | ChunkKind::Ending
        | ChunkKind::Footer => head.codec == 0,
    };
    if !known {
        return Err(format!("a block is stored with codec {}, which this program cannot read", head.codec));
    }
    Ok(Some(head))
}

impl Scan {
    pub(super) fn new(header: FileHeader) -> Scan {
        Scan {
            blocks: Vec::new(),
            contexts: Vec::new(),
            dependences: Vec::new(),
            sites: Vec::new(),
            ending: None,
            events: 0,
            claims: header.claims.without(header.tentative),
            names: None,
            notices: Vec::new(),
        }
    }

    pub(super) fn block(&mut self, block: Located) -> Result<(), Malformed> {
        let Located { at, head } = block;
        block.check_size()?;
        self.before_dependences(at)?;
        if head.first_event != self.events {
            let message = format!(
                "a block of events from {} on stands where event {} is next: a block is missing or misplaced",
                head.first_event, self.events
            );
            return Err(malformed(at, message));
        }
        self.events += u64::from(head.events);
        self.blocks.push(block);
        Ok(())
    }

    pub(super) fn contexts(&mut self, contexts: Located) -> Result<(), Malformed> {
        contexts.check_size()?;
        self.before_dependences(contexts.at)?;
        if contexts.head.first_event != self.events || self.without_block() {
            return Err(malformed(contexts.at, "calling contexts stand before another block than their own"));
        }
        self.contexts.push(contexts);
        Ok(())
    }

    pub(super) fn dependences(&mut self, part: Located) -> Result<(), Malformed> {
        part.check_size()?;
        let late = !self.sites.is_empty() || self.ending.is_some();
        if part.head.first_event != self.events || self.without_block() || late {
            return Err(malformed(part.at, "the table of dependences does not stand after the last block"));
        }
        self.dependences.push(part);
        Ok(())
    }

    pub(super) fn sites(&mut self, part: Located) -> Result<(), Malformed> {
        part.check_size()?;
        if part.head.first_event != self.events || self.without_block() || self.ending.is_some() {
            return Err(malformed(part.at, "the stable names of sites do not stand after the last block"));
        }
        self.sites.push(part);
        Ok(())
    }

    pub(super) fn ending(&mut self, ending: Located) -> Result<(), Malformed> {
        ending.check_size()?;
        let is_last = ending.head.first_event == self.events && !self.without_block();
        if !is_last || self.ending.replace(ending).is_some() {
            return Err(malformed(ending.at, "the end of the run is not told once, after the last block"));
        }
        Ok(())
    }

    /// Refuses a block after the table of dependences, which is of the whole trace, or after what follows that.
    fn before_dependences(&self, at: usize) -> Result<(), Malformed> {
        if !self.sites.is_empty() {
            return Err(malformed(at, "a block follows the stable names of sites"));
        }
        match (self.dependences.is_empty(), self.ending) {
            (true, None) => Ok(()),
            (false, None) => Err(malformed(at, "a block follows the table of dependences")),
            (_, Some(_)) => Err(malformed(at, "a block follows the end of the run")),
        }
    }

    /// Whether the last contexts still lack the block that they belong to.
    fn without_block(&self) -> bool {
        self.contexts.last().is_some_and(|last| self.blocks.last().is_none_or(|block| block.at < last.at))
    }

    pub(super) fn footer(
        &mut self,
        at: usize,
        head: &Chunk,
        payload: &[u8],
        header: FileHeader,
    ) -> Result<(), Malformed> {
        if crc(payload) != head.payload_crc {
            return Err(malformed(at, "the file is damaged here: the footer does not match its checksum"));
        }
        let mut footer = Footer::decode(payload).map_err(|damage| malformed(at, damage.0))?;
        let disagrees = |what| malformed(at, format!("the footer disagrees with the file about {what}"));
        if head.events as usize != self.blocks.len() || head.first_event != self.events {
            return Err(disagrees("the number of blocks or events"));
        }
        if head.names as usize != self.contexts.len() || self.without_block() {
            return Err(disagrees("the number of blocks with calling contexts"));
        }
        if !header.claims.include(footer.claims) {
            return Err(disagrees("the capabilities: it may only take some back"));
        }
        if footer.indexed != 0 {
            for block in &self.blocks {
                if footer.next_block() != Some((block.head.payload, block.head.events)) {
                    return Err(disagrees("where the blocks are"));
                }
            }
        }
        if !(footer.indexed == 0 || footer.indexed == head.events) || !footer.is_read() {
            return Err(disagrees("the length of its index"));
        }
        self.claims = footer.claims;
        self.names = Some((at, footer.names));
        Ok(())
    }

    pub(super) fn end(&mut self, footer: usize, at: usize, rest: &[u8]) -> Result<(), Malformed> {
        let mark = End { footer: footer as u64 }.encode();
        if rest == mark {
            return Ok(());
        }
        if !mark.starts_with(rest) {
            return Err(malformed(
                at,
                "the file is damaged here: its end mark should follow, and then nothing",
            ));
        }
        self.notices.push(format!("the end mark at byte {at} is cut off; no event is missing"));
        Ok(())
    }

    pub(super) fn cut_off(&mut self, mut at: usize, mut nothing_follows: bool) {
        if self.without_block()
            && let Some(contexts) = self.contexts.pop()
        {
            (at, nothing_follows) = (contexts.at, false);
        }
        let events = self.events;
        self.notices.push(if nothing_follows {
            format!("cut off after {events} events: the last whole block ends at byte {at}, and nothing follows")
        } else {
            format!("cut off after {events} events: the last whole block ends at byte {at}; what follows was ignored")
        });
    }
}
