//! The stable names of sites, written after the last block, and read again.

use reweave_trace::{Builder, Names, SiteId};
use reweave_wire::{CHUNK_BYTES, Chunk, ChunkKind, MAX_EVENTS, crc};

use super::malformed;
use super::scan::Located;
use crate::error::Malformed;

/// A part ends after so many bytes.
const PART_BYTES: usize = 1 << 20;

/// Appends the stable names of a trace of so many events in parts, each with its head. Sites get the ids that `site` gives them.
pub(super) fn write(events: u64, names: &Names, site: impl Fn(u32) -> Option<u32>, out: &mut Vec<u8>) {
    let mut part = Part { payload: Vec::new(), entries: 0, events };
    for (id, name) in names.stable.iter() {
        // What no event is at is in no block, and a line is a line.
        let Some(id) = site(id.0).filter(|_| !name.contains('\n')) else { continue };
        part.payload.extend_from_slice(format!("{id} {name}\n").as_bytes());
        part.entries += 1;
        if part.entries as usize >= MAX_EVENTS || part.payload.len() >= PART_BYTES {
            part.close(out);
        }
    }
    part.close(out);
}

struct Part {
    payload: Vec<u8>,
    entries: u32,
    events: u64,
}

impl Part {
    fn close(&mut self, out: &mut Vec<u8>) {
        let payload = std::mem::take(&mut self.payload);
        let entries = std::mem::take(&mut self.entries);
        if entries == 0 {
            return;
        }
        let head = Chunk {
            kind: ChunkKind::Sites,
            codec: 0,
            payload: payload.len() as u32,
            events: entries,
            names: 0,
            first_event: self.events,
            payload_crc: crc(&payload),
        };
        out.reserve(CHUNK_BYTES + payload.len());
        out.extend_from_slice(&head.encode());
        out.extend_from_slice(&payload);
    }
}

/// Tells a builder a part of the stable names. `sites` has the builder's ids of the file's sites, where they differ.
pub(super) fn read(
    part: &Located,
    bytes: &[u8],
    sites: Option<&[u32]>,
    builder: &mut Builder,
) -> Result<(), Malformed> {
    let wrong = |what: &str| malformed(part.at, format!("the stable names of sites make no sense: {what}"));
    let text = std::str::from_utf8(part.payload(bytes)?).map_err(|_| wrong("they are not in UTF-8"))?;
    let mut entries = 0_u32;
    for line in text.lines() {
        let (id, name) = line.split_once(' ').ok_or_else(|| wrong("a site has none"))?;
        let id: u32 = id.parse().map_err(|_| wrong("a site has no number"))?;
        let site = sites.map_or(Some(id), |table| table.get(id as usize).copied());
        let site = SiteId(site.ok_or_else(|| wrong("a site is not defined"))?);
        builder.stable_site(site, name).map_err(|error| wrong(&error.to_string()))?;
        entries += 1;
    }
    if entries == part.head.events { Ok(()) } else { Err(wrong("their number is wrong")) }
}
