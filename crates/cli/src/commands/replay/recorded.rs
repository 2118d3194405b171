//! What lies beside a recorded trace.

use std::fs::File;
use std::io::{self, Write};
use std::os::unix::fs::OpenOptionsExt;
use std::path::{Path, PathBuf};

use reweave_capture::{About, Step, read_steps};
use reweave_trace::Trace;

use crate::failure::Failure;

fn beside(trace: &Path, ending: &str) -> PathBuf {
    let mut path = trace.as_os_str().to_owned();
    path.push(ending);
    path.into()
}

/// The file with the steps of a trace.
pub(crate) fn steps_path(trace: &Path) -> PathBuf {
    beside(trace, ".steps")
}

/// The file with what the program read.
pub(crate) fn inputs_path(trace: &Path) -> PathBuf {
    beside(trace, ".inputs")
}

/// So much is kept in memory before it goes to the file.
const IN_MEMORY: usize = 1 << 25;

/// The steps of a trace that is being written. A trace without them is worth having: they do not take the room that it
/// needs, and where they cannot be written, that is said afterwards.
pub(crate) struct StepsFile {
    path: PathBuf,
    bytes: Vec<u8>,
    file: Option<File>,
    error: Option<io::Error>,
}

impl StepsFile {
    pub(crate) fn new(trace: &Path) -> StepsFile {
        // Those of an earlier recording do not belong to this one.
        let path = steps_path(trace);
        let _ = std::fs::remove_file(&path);
        StepsFile { path, bytes: Vec::new(), file: None, error: None }
    }

    /// Writes what is still in memory. What went wrong, if something did; then there is no file.
    pub(crate) fn finish(mut self) -> Option<io::Error> {
        self.spill();
        let error = self.error?;
        let _ = std::fs::remove_file(&self.path);
        Some(error)
    }

    fn spill(&mut self) {
        let bytes = std::mem::take(&mut self.bytes);
        let path = &self.path;
        let mut write = || match &mut self.file {
            Some(file) => file.write_all(&bytes),
            none => {
                let mut options = File::options();
                let file = options.write(true).create(true).truncate(true).mode(0o600).open(path)?;
                none.insert(file).write_all(&bytes)
            }
        };
        if self.error.is_none() {
            self.error = write().err();
        }
    }
}

impl Write for StepsFile {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        self.bytes.extend_from_slice(bytes);
        if self.bytes.len() >= IN_MEMORY {
            self.spill();
        }
        Ok(bytes.len())
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

/// The steps of a trace.
pub(crate) struct Steps {
    pub(crate) steps: Vec<Step>,
    pub(crate) about: About,
}

impl Steps {
    /// Reads the file beside the trace.
    pub(crate) fn read(trace: &Trace, path: &Path) -> anyhow::Result<Steps> {
        let beside = steps_path(path);
        let name = beside.display();
        let file = File::open(&beside).map_err(|error| {
            Failure::new(format!("{name}: {error}")).hint(
                "a replay needs what `reweave record` writes beside a trace; other traces cannot be replayed",
            )
        })?;
        let mut steps = Vec::with_capacity(trace.len());
        let about = read_steps(file, trace, |_, step| steps.push(step)).map_err(|error| {
            Failure::new(format!("{name}: {error}")).hint("record again: trace and steps belong together")
        })?;
        Ok(Steps { steps, about })
    }
}
