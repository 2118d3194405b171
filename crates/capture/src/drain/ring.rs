//! The file that the ring lies in.

use std::fs::{self, File};
use std::io::{self, Write};
use std::os::unix::fs::MetadataExt;
use std::path::{Path, PathBuf};

use reweave_format::SharedWords;
use reweave_wire::ring::{SLOT_BYTES, SLOTS_AT};

use super::CAPACITY;
use crate::block::sum;

const PREFIX: &str = "reweave-";
const SUFFIX: &str = ".ring";

/// A ring in a file, which goes when this does.
pub(super) struct Ring {
    pub(super) memory: SharedWords,
    pub(super) path: PathBuf,
    /// Locked for as long as it is used: a file that can be locked was left behind by a recorder that was killed.
    _file: File,
}

impl Ring {
    /// Makes the file of a ring: in memory where that is possible, else beside the recording.
    pub(super) fn make(raw: &Path) -> io::Result<Ring> {
        let beside = raw.parent().unwrap_or(Path::new("."));
        let name =
            format!("{PREFIX}{}-{:x}{SUFFIX}", std::process::id(), sum(raw.as_os_str().as_encoded_bytes()));
        let mut last = io::Error::from(io::ErrorKind::NotFound);
        for folder in [Path::new("/dev/shm"), &std::env::temp_dir(), beside] {
            clear_up(folder);
            match Ring::make_at(&folder.join(&name)) {
                Ok(ring) => return Ok(ring),
                Err(error) => last = error,
            }
        }
        Err(last)
    }

    fn make_at(path: &Path) -> io::Result<Ring> {
        let mut file = loop {
            let file = File::options().read(true).write(true).create_new(true).open(path)?;
            // Where that cannot be done, nobody takes it for one that was left behind.
            let _ = file.lock();
            // Another recorder may have taken it for one that was left behind before it was locked.
            if file.metadata()?.nlink() > 0 {
                break file;
            }
        };
        // Written, not only made so large: where there is no room, it must be found out now.
        let zeroes = vec![0; 1 << 20];
        let written = (0..(SLOTS_AT + CAPACITY * SLOT_BYTES).div_ceil(zeroes.len()))
            .try_for_each(|_| file.write_all(&zeroes));
        match written.and_then(|()| SharedWords::map(&file)) {
            Ok(memory) => Ok(Ring { memory, path: path.to_owned(), _file: file }),
            Err(error) => {
                let _ = fs::remove_file(path);
                Err(error)
            }
        }
    }
}

impl Drop for Ring {
    fn drop(&mut self) {
        // A file in memory that nobody needs any more; if it is gone already, so much the better.
        let _ = fs::remove_file(&self.path);
    }
}

/// Removes the rings in a folder whose recorders were killed. A program that still has one goes on with it.
fn clear_up(folder: &Path) {
    for entry in fs::read_dir(folder).into_iter().flatten().flatten() {
        let name = entry.file_name();
        let is_ring = name.to_str().is_some_and(|name| name.starts_with(PREFIX) && name.ends_with(SUFFIX));
        // It stays locked until it is gone: else its recorder, if there is one after all, would find it as it made it.
        if is_ring
            && let Ok(file) = File::open(entry.path())
            && file.try_lock().is_ok()
        {
            let _ = fs::remove_file(entry.path());
        }
    }
}
