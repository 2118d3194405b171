//! A private folder for the files of one run, and their names.

use std::fs::{self, DirBuilder};
use std::io;
use std::os::unix::fs::DirBuilderExt;
use std::path::{Path, PathBuf};
use std::sync::Mutex;

/// Folders to remove when the process ends early.
static MADE: Mutex<Vec<PathBuf>> = Mutex::new(Vec::new());

/// A new folder that only its owner may enter. It is removed with all that is in it, unless it is kept.
#[derive(Debug)]
pub struct Folder {
    path: PathBuf,
}

impl Folder {
    /// Makes a folder with an unpredictable name that begins with `name`.
    pub fn make(within: &Path, name: &str) -> io::Result<Folder> {
        let own = format!("{name}.{}-{}", std::process::id(), reweave_capture::unpredictable());
        let path = std::path::absolute(within)?.join(own);
        DirBuilder::new().mode(0o700).create(&path)?;
        made(|made| made.push(path.clone()));
        Ok(Folder { path })
    }

    /// A folder for what nobody needs later.
    pub fn temporary() -> io::Result<Folder> {
        Folder::make(&std::env::temp_dir(), "reweave")
    }

    /// Where it is.
    pub fn path(&self) -> &Path {
        &self.path
    }

    /// The files of a recording in this folder.
    pub fn files(&self) -> Files {
        Files::of(self.path.join("raw"))
    }

    /// Leaves the folder where it is.
    pub fn keep(self) -> PathBuf {
        self.stays();
        let path = self.path.clone();
        std::mem::forget(self);
        path
    }

    /// From now on the folder stays when the process ends early: what is in it cannot be had again.
    pub fn stays(&self) {
        made(|made| made.retain(|path| *path != self.path));
    }
}

impl Drop for Folder {
    fn drop(&mut self) {
        self.stays();
        // What cannot be removed now cannot be removed later.
        let _ = fs::remove_dir_all(&self.path);
    }
}

fn made<T>(change: impl FnOnce(&mut Vec<PathBuf>) -> T) -> T {
    change(&mut MADE.lock().unwrap_or_else(std::sync::PoisonError::into_inner))
}

/// Removes all folders: the process is about to end.
pub(crate) fn remove_all() {
    for path in made(std::mem::take) {
        let _ = fs::remove_dir_all(path);
    }
}

/// The files that the recorder in a program writes.
#[derive(Clone, Debug)]
pub struct Files {
    raw: PathBuf,
}

impl Files {
    /// Those that belong to a raw recording.
    pub fn of(raw: PathBuf) -> Files {
        Files { raw }
    }

    /// The raw recording.
    pub fn raw(&self) -> &Path {
        &self.raw
    }

    fn beside(&self, ending: &str) -> PathBuf {
        let mut path = self.raw.clone().into_os_string();
        path.push(ending);
        path.into()
    }

    /// What the program read from outside.
    pub fn inputs(&self) -> PathBuf {
        self.beside(".inputs")
    }

    /// What was mapped where.
    pub fn maps_path(&self) -> PathBuf {
        self.beside(".maps")
    }

    /// What was mapped where, as text.
    pub fn maps(&self) -> String {
        fs::read(self.maps_path()).map_or(String::new(), |bytes| String::from_utf8_lossy(&bytes).into_owned())
    }

    /// Whether the recording has the run from its start.
    pub fn has_start(&self) -> bool {
        !self.beside(".before").exists()
    }

    /// What the recorder had to say, as a file.
    pub fn notes_path(&self) -> PathBuf {
        self.beside(".note")
    }

    /// What the recorder had to say.
    pub fn notes(&self) -> Vec<String> {
        let notes = fs::read(self.notes_path()).unwrap_or_default();
        String::from_utf8_lossy(&notes).lines().map(str::to_owned).collect()
    }

    /// Removes them: the trace is there.
    pub fn remove(&self) {
        let _ = fs::remove_file(&self.raw);
        for ending in [".note", ".maps", ".before", ".inputs", ".calls"] {
            let _ = fs::remove_file(self.beside(ending));
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::os::unix::fs::MetadataExt;

    #[test]
    fn a_folder_is_private_and_goes_with_what_is_in_it() {
        let within = tempfile::tempdir().unwrap();
        let folder = Folder::make(within.path(), "trace.rw").unwrap();
        assert_eq!(fs::metadata(folder.path()).unwrap().mode() & 0o777, 0o700);
        fs::write(folder.files().raw(), "raw").unwrap();
        drop(folder);
        assert_eq!(fs::read_dir(within.path()).unwrap().count(), 0);
        let kept = Folder::make(within.path(), "trace.rw").unwrap().keep();
        assert!(kept.is_dir());
        let staying = Folder::make(within.path(), "other").unwrap();
        assert!(made(|made| made.contains(&staying.path)) && !made(|made| made.contains(&kept)));
        staying.stays();
        assert!(!made(|made| made.contains(&staying.path)));
    }
}
