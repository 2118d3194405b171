//! How the run ended, written after the last block, and read again.

use reweave_trace::Builder;
use reweave_wire::{Chunk, ChunkKind, MAX_PAYLOAD, crc};

use super::malformed;
use super::scan::Located;
use crate::error::Malformed;

/// Appends the text of an ending, with its head; what is too long for a file is cut.
pub(super) fn write(text: &str, events: u64, out: &mut Vec<u8>) {
    let payload = &text.as_bytes()[..text.floor_char_boundary(MAX_PAYLOAD)];
    let head = Chunk {
        kind: ChunkKind::Ending,
        codec: 0,
        payload: payload.len() as u32,
        events: 0,
        names: 0,
        first_event: events,
        payload_crc: crc(payload),
    };
    out.extend_from_slice(&head.encode());
    out.extend_from_slice(payload);
}

/// Tells a builder how its run ended.
pub(super) fn read(at: &Located, bytes: &[u8], builder: &mut Builder) -> Result<(), Malformed> {
    let payload = at.payload(bytes)?;
    let text = std::str::from_utf8(payload)
        .map_err(|_| malformed(at.at, "the end of the run is told in no UTF-8"))?;
    for line in text.lines() {
        let wrong =
            |message: String| malformed(at.at, format!("the end of the run is told wrongly: {message}"));
        builder.ending().take(line).map_err(wrong)?;
    }
    Ok(())
}
