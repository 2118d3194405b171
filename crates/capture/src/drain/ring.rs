//! The file that the ring lies in.

use std::fs::{self, DirBuilder, File};
use std::hash::{BuildHasher, Hasher, RandomState};
use std::io::{self, Write};
use std::os::unix::fs::{DirBuilderExt, MetadataExt, OpenOptionsExt};
use std::path::{Path, PathBuf};

use reweave_format::SharedWords;
use reweave_wire::ring::{SLOT_BYTES, SLOTS_AT};
use rustix::fs::OFlags;

use super::CAPACITY;

const PREFIX: &str = "reweave-";
const SUFFIX: &str = ".ring";
/// The ring in its folder.
const NAME: &str = "ring";
/// How often a ring is made anew because another recorder removed it before it was locked.
const ATTEMPTS: usize = 16;

/// A ring in a file, which goes when this does.
pub(super) struct Ring {
    pub(super) memory: SharedWords,
    pub(super) path: PathBuf,
    /// Locked for as long as it is used: a file that can be locked was left behind by a recorder that was killed.
    _file: File,
    /// Goes last, or as soon as the program has found the ring.
    folder: Option<Folder>,
}

impl Ring {
    /// Makes the file of a ring: in memory where that is possible, else beside the recording. It is in a folder of its own,
    /// which nobody else may enter, under a name that nobody can guess: a program's memory passes through it.
    pub(super) fn make(raw: &Path) -> io::Result<Ring> {
        let beside = raw.parent().unwrap_or(Path::new("."));
        let mut last = io::Error::from(io::ErrorKind::NotFound);
        for folder in [Path::new("/dev/shm"), &std::env::temp_dir(), beside] {
            clear_up(folder);
            match Ring::make_within(folder) {
                Ok(ring) => return Ok(ring),
                Err(error) => last = error,
            }
        }
        Err(last)
    }

    /// Until the ring is locked, another recorder may remove it or its folder: it cannot know whether the recorder that made
    /// them was killed on the way. Then it is made anew.
    fn make_within(folder: &Path) -> io::Result<Ring> {
        let mut made = Folder::make(folder).and_then(Ring::make_in);
        for _ in 1..ATTEMPTS {
            match &made {
                Err(error) if error.kind() == io::ErrorKind::NotFound => {
                    made = Folder::make(folder).and_then(Ring::make_in);
                }
                _ => break,
            }
        }
        made
    }

    fn make_in(folder: Folder) -> io::Result<Ring> {
        let path = folder.0.join(NAME);
        let mut file = private_file(&path)?;
        // Where that cannot be done, nobody takes it for one that was left behind.
        let _ = file.lock();
        // Written, not only made so large: where there is no room, it must be found out now.
        let zeroes = vec![0; 1 << 20];
        (0..(SLOTS_AT + CAPACITY * SLOT_BYTES).div_ceil(zeroes.len()))
            .try_for_each(|_| file.write_all(&zeroes))?;
        // Another recorder may have taken it for one that was left behind before it was locked.
        if file.metadata()?.nlink() == 0 {
            return Err(io::ErrorKind::NotFound.into());
        }
        Ok(Ring { memory: SharedWords::map(&file)?, path, _file: file, folder: Some(folder) })
    }
}

impl Ring {
    /// Removes the file, whose memory stays: a recorder that is killed from now on leaves nothing behind.
    pub(super) fn hide(&mut self) {
        self.folder = None;
    }
}

/// A folder for one ring.
struct Folder(PathBuf);

impl Folder {
    fn make(within: &Path) -> io::Result<Folder> {
        let path = within.join(format!("{PREFIX}{}-{}{SUFFIX}", std::process::id(), unpredictable()));
        DirBuilder::new().mode(0o700).create(&path)?;
        Ok(Folder(path))
    }
}

impl Drop for Folder {
    fn drop(&mut self) {
        // Files in memory that nobody needs any more; if they are gone already, so much the better.
        let _ = fs::remove_file(self.0.join(NAME));
        let _ = fs::remove_dir(&self.0);
    }
}

/// Sixteen digits that nobody can guess.
pub fn unpredictable() -> String {
    // Its keys come from the operating system's source of randomness.
    format!("{:016x}", RandomState::new().build_hasher().finish())
}

/// A new file that only its owner can read and write.
pub(crate) fn private_file(path: &Path) -> io::Result<File> {
    let flags = (OFlags::NOFOLLOW | OFlags::NONBLOCK).bits() as i32;
    File::options().read(true).write(true).create_new(true).mode(0o600).custom_flags(flags).open(path)
}

/// Removes the rings in a folder whose recorders were killed. A program that still has one goes on with it.
fn clear_up(folder: &Path) {
    let user = rustix::process::geteuid().as_raw();
    for entry in fs::read_dir(folder).into_iter().flatten().flatten() {
        let name = entry.file_name();
        let is_ring = name.to_str().is_some_and(|name| name.starts_with(PREFIX) && name.ends_with(SUFFIX));
        // Anybody may make files of such names in these folders; what is not ours is left alone.
        let Some(about) = entry.metadata().ok().filter(|about| is_ring && about.is_dir()) else { continue };
        if about.uid() == user {
            clear_up_one(&entry.path());
        }
    }
}

fn clear_up_one(folder: &Path) {
    let flags = (OFlags::NOFOLLOW | OFlags::NONBLOCK).bits() as i32;
    let ring = folder.join(NAME);
    match File::options().read(true).custom_flags(flags).open(&ring) {
        // It stays locked until it is gone: else its recorder, if there is one after all, would find it as it made it.
        Ok(file) if file.try_lock().is_ok() => {
            let _ = fs::remove_file(ring);
            let _ = fs::remove_dir(folder);
        }
        // Its recorder was killed before it made the ring. One that is about to make it makes another folder; where there is
        // something else in it, nothing is removed.
        Err(error) if error.kind() == io::ErrorKind::NotFound => {
            let _ = fs::remove_dir(folder);
        }
        _ => {}
    }
}
