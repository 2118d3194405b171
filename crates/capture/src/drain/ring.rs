//! The file that the ring lies in.

use std::fs::File;
use std::io::{self, Write};
use std::path::{Path, PathBuf};

use reweave_format::SharedWords;
use reweave_wire::ring::{SLOT_BYTES, SLOTS_AT};

use super::CAPACITY;
use crate::block::sum;

/// Makes the file of the ring: in memory where that is possible, else beside the recording.
pub(super) fn make_ring(raw: &Path) -> io::Result<(SharedWords, PathBuf)> {
    let mut last = io::Error::from(io::ErrorKind::NotFound);
    let beside = raw.parent().unwrap_or(Path::new("."));
    for folder in [Path::new("/dev/shm"), &std::env::temp_dir(), beside] {
        let path = folder.join(format!(
            "reweave-{}-{:x}.ring",
            std::process::id(),
            sum(raw.as_os_str().as_encoded_bytes())
        ));
        let make = || -> io::Result<SharedWords> {
            let mut file = File::options().read(true).write(true).create_new(true).open(&path)?;
            // Written, not only made so large: where there is no room, it must be found out now.
            let zeroes = vec![0; 1 << 20];
            for _ in 0..(SLOTS_AT + CAPACITY * SLOT_BYTES).div_ceil(zeroes.len()) {
                file.write_all(&zeroes)?;
            }
            SharedWords::map(&file)
        };
        match make() {
            Ok(words) => return Ok((words, path)),
            Err(error) => {
                if error.kind() != io::ErrorKind::AlreadyExists {
                    let _ = std::fs::remove_file(&path);
                }
                last = error;
            }
        }
    }
    Err(last)
}
