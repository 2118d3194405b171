//! Reweave's own format: files, and the payloads of blocks, whose checksums no fuzzer would get right.
#![no_main]

use reweave_format::Format;
use reweave_fuzz::check;
use reweave_wire::{Chunk, ChunkKind, Claims, FileHeader, VERSION, crc};

libfuzzer_sys::fuzz_target!(|data: &[u8]| {
    check(Some(Format::Rw), data);
    if let Some((head, payload)) = data.split_first_chunk() {
        check(Some(Format::Rw), &block(*head, payload));
    }
});

/// A file that is cut off after one block with this payload.
fn block([codec, events, more_events, names]: [u8; 4], payload: &[u8]) -> Vec<u8> {
    let claims = Claims(0);
    let mut file = FileHeader { version: VERSION, claims, tentative: claims }.encode().to_vec();
    let head = Chunk {
        kind: ChunkKind::Block,
        codec: codec % 2,
        payload: payload.len() as u32,
        // Few enough for a quick answer.
        events: u32::from(events) + 256 * u32::from(more_events % 4),
        names: u32::from(names),
        first_event: 0,
        payload_crc: crc(payload),
    };
    file.extend_from_slice(&head.encode());
    file.extend_from_slice(payload);
    file
}
