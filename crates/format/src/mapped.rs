//! Memory-mapped files.

use std::fs::File;
use std::io;
use std::ops::Deref;

use memmap2::Mmap;

/// The content of a file, read by the operating system as it is looked at.
pub(crate) struct Mapped(Option<Mmap>);

impl Mapped {
    /// Maps the whole of `file`, which is `len` bytes long.
    pub(crate) fn new(file: &File, len: u64) -> io::Result<Mapped> {
        // An empty file cannot be mapped everywhere.
        if len == 0 {
            return Ok(Mapped(None));
        }
        #[expect(unsafe_code, reason = "mapping a file is unsafe by nature; every reader goes through here")]
        // SAFETY: the map is private to us and only read. What remains is that another process changes the file while
        // we look at it. No reader relies on bytes staying as they were beyond one look, but for text that was
        // found to be UTF-8; a trace that is written to while it is analysed is outside of what we support.
        let map = unsafe { Mmap::map(file)? };
        #[cfg(unix)]
        // Advice that is not taken does no harm.
        let _ = map.advise(memmap2::Advice::Sequential);
        Ok(Mapped(Some(map)))
    }
}

impl Deref for Mapped {
    type Target = [u8];

    fn deref(&self) -> &[u8] {
        self.0.as_deref().unwrap_or_default()
    }
}
