//! Memory that is shared with another process through a file.

use std::fs::File;
use std::io;
use std::sync::atomic::AtomicU64;

use memmap2::MmapRaw;

/// A file as words that another process may change at any time.
#[derive(Debug)]
pub struct SharedWords(MmapRaw);

impl SharedWords {
    /// Maps the whole of `file`, which must have been opened for reading and writing and must not be cut short later.
    pub fn map(file: &File) -> io::Result<SharedWords> {
        Ok(SharedWords(MmapRaw::map_raw(file)?))
    }

    /// The words.
    #[expect(unsafe_code, reason = "memory that two processes use can only be looked at word by word")]
    pub fn words(&self) -> &[AtomicU64] {
        let words = self.0.len() / size_of::<AtomicU64>();
        // SAFETY: the map is page-aligned, so many words long and lives as long as `self`. Nothing in this process
        // refers to it but as atomic words, which another process may change.
        unsafe { std::slice::from_raw_parts(self.0.as_ptr().cast::<AtomicU64>(), words) }
    }
}
