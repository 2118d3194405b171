//! What the bytes of a file go into.

use reweave_wire::{Block, CHUNK_BYTES, LANES};

use super::scan;
use crate::error::Malformed;

/// The streams of a block, in their order.
const STREAMS: [&str; LANES] =
    ["names", "threads", "control", "hits", "operations", "sites", "targets", "values"];

/// Of a file that was read: the bytes of each stream in all blocks, of calling contexts, dependences and stable names, and of the frame around them, by what they are called; all
/// together they are the file.
pub(crate) fn sizes(bytes: &[u8]) -> Result<Vec<(&'static str, u64)>, Malformed> {
    let scan = scan::scan(bytes)?;
    let mut streams = [0; LANES];
    for located in &scan.blocks {
        // Checksums were looked at when it was read.
        let payload = bytes.get(located.at + CHUNK_BYTES..).unwrap_or_default();
        let payload = payload.get(..located.head.payload as usize).unwrap_or_default();
        let block =
            Block::new(&located.head, payload).map_err(|damage| super::malformed(located.at, damage.0))?;
        streams.iter_mut().zip(block.stream_bytes()).for_each(|(sum, bytes)| *sum += bytes as u64);
    }
    let contexts = scan.contexts.iter().map(|chunk| (CHUNK_BYTES + chunk.head.payload as usize) as u64).sum();
    let parts = scan.dependences.iter().map(|chunk| (CHUNK_BYTES + chunk.head.payload as usize) as u64);
    let dependences: u64 = parts.sum();
    let parts = scan.sites.iter().map(|chunk| (CHUNK_BYTES + chunk.head.payload as usize) as u64);
    let names: u64 = parts.sum();
    let frame = bytes.len() as u64 - streams.iter().sum::<u64>() - contexts - dependences - names;
    let rest =
        [("contexts", contexts), ("dependences", dependences), ("stable names", names), ("frame", frame)];
    Ok(STREAMS
        .into_iter()
        .zip(streams)
        .chain(
            rest.into_iter()
                .filter(|&(name, bytes)| bytes > 0 || !matches!(name, "dependences" | "stable names")),
        )
        .collect())
}
