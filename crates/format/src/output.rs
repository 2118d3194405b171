//! Output that is there in full or not at all.

use std::fs::{self, File};
use std::io::{self, Seek, SeekFrom, Write};
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use tempfile::NamedTempFile;

/// A handle to an output: writers take one, and another ends it.
///
/// A file is written under another name in its folder and gets its own when it is committed; one that is dropped
/// before leaves nothing behind. What exists and is no file, such as a pipe, is written to directly.
#[derive(Clone)]
pub(crate) struct Output(Arc<Mutex<Sink>>);

enum Sink {
    Plain(Target),
    Zstd(zstd::stream::write::Encoder<'static, Target>),
    Ended { bytes: u64 },
}

/// Where bytes end up, with the present position and the end so far.
struct Target {
    to: To,
    at: u64,
    end: u64,
}

enum To {
    Named(Box<NamedTempFile>, PathBuf),
    Direct(File),
    Stdout(io::Stdout),
    /// A file without a name, copied to standard output in the end: for formats that go back to their start.
    Spool(File),
}

impl Output {
    /// Starts writing to `path`, or to standard output if it is `-`. `seeks` says whether the writer goes back.
    pub(crate) fn create(path: &Path, compress: bool, seeks: bool) -> io::Result<Output> {
        let to = match fs::metadata(path) {
            _ if path.as_os_str() == "-" && seeks => To::Spool(tempfile::tempfile()?),
            _ if path.as_os_str() == "-" => To::Stdout(io::stdout()),
            Ok(about) if about.is_dir() => return Err(io::ErrorKind::IsADirectory.into()),
            Ok(about) if !about.is_file() => To::Direct(File::options().write(true).open(path)?),
            // The file itself, not the link to it, is what gets new content.
            Ok(_) => named(fs::canonicalize(path)?)?,
            Err(_) => named(path.to_owned())?,
        };
        let target = Target { to, at: 0, end: 0 };
        let sink = if compress {
            Sink::Zstd(zstd::stream::write::Encoder::new(target, zstd::DEFAULT_COMPRESSION_LEVEL)?)
        } else {
            Sink::Plain(target)
        };
        Ok(Output(Arc::new(Mutex::new(sink))))
    }

    /// Makes what was written final; answers with its size. Nothing may be written afterwards.
    pub(crate) fn commit(&self) -> io::Result<u64> {
        let mut sink = self.sink();
        let target = match std::mem::replace(&mut *sink, Sink::Ended { bytes: 0 }) {
            Sink::Plain(target) => target,
            Sink::Zstd(encoder) => encoder.finish()?,
            Sink::Ended { bytes } => {
                *sink = Sink::Ended { bytes };
                return Ok(bytes);
            }
        };
        let bytes = target.end;
        target.commit()?;
        *sink = Sink::Ended { bytes };
        Ok(bytes)
    }

    fn sink(&self) -> MutexGuard<'_, Sink> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

fn named(path: PathBuf) -> io::Result<To> {
    let folder = match path.parent() {
        Some(folder) if !folder.as_os_str().is_empty() => folder,
        _ => Path::new("."),
    };
    clear_up(folder);
    let file = loop {
        // A trace has what was in a program's memory: it is for its owner alone, as temporary files are.
        let file = tempfile::Builder::new().prefix(PREFIX).tempfile_in(folder)?;
        // Where that cannot be done, nobody takes it for one that was left behind.
        let _ = file.as_file().lock();
        // Another process may have taken it for one before it was locked.
        if file.path().exists() {
            break file;
        }
    };
    crate::memory::unfinished(file.path());
    Ok(To::Named(Box::new(file), path))
}

/// What unfinished files are called.
const PREFIX: &str = ".reweave-";

/// Removes the unfinished files of processes that were killed: nobody has them locked.
fn clear_up(folder: &Path) {
    for entry in fs::read_dir(folder).into_iter().flatten().flatten() {
        let is_unfinished = entry.file_name().to_str().is_some_and(|name| name.starts_with(PREFIX));
        if is_unfinished
            && entry.file_type().is_ok_and(|kind| kind.is_file())
            && let Ok(file) = File::options().append(true).open(entry.path())
            && file.try_lock().is_ok()
        {
            let _ = fs::remove_file(entry.path());
        }
    }
}

impl Target {
    fn commit(self) -> io::Result<()> {
        match self.to {
            To::Named(file, path) => file.persist(path).map(drop).map_err(|error| error.error),
            To::Direct(mut file) => file.flush(),
            To::Stdout(mut stdout) => stdout.flush(),
            To::Spool(mut file) => {
                file.seek(SeekFrom::Start(0))?;
                let mut stdout = io::stdout().lock();
                io::copy(&mut file, &mut stdout)?;
                stdout.flush()
            }
        }
    }
}

impl Write for Target {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        let written = match &mut self.to {
            To::Named(file, _) => file.write(bytes),
            To::Direct(file) | To::Spool(file) => file.write(bytes),
            To::Stdout(stdout) => stdout.write(bytes),
        }?;
        self.at += written as u64;
        self.end = self.end.max(self.at);
        Ok(written)
    }

    fn flush(&mut self) -> io::Result<()> {
        match &mut self.to {
            To::Named(file, _) => file.flush(),
            To::Direct(file) | To::Spool(file) => file.flush(),
            To::Stdout(stdout) => stdout.flush(),
        }
    }
}

impl Seek for Target {
    fn seek(&mut self, to: SeekFrom) -> io::Result<u64> {
        self.at = match &mut self.to {
            To::Named(file, _) => file.seek(to),
            To::Direct(file) | To::Spool(file) => file.seek(to),
            To::Stdout(_) => Err(io::ErrorKind::NotSeekable.into()),
        }?;
        Ok(self.at)
    }
}

impl Write for Output {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        match &mut *self.sink() {
            Sink::Plain(target) => target.write(bytes),
            Sink::Zstd(encoder) => encoder.write(bytes),
            Sink::Ended { .. } => Err(io::ErrorKind::BrokenPipe.into()),
        }
    }

    fn flush(&mut self) -> io::Result<()> {
        match &mut *self.sink() {
            Sink::Plain(target) => target.flush(),
            Sink::Zstd(encoder) => encoder.flush(),
            Sink::Ended { .. } => Ok(()),
        }
    }
}

impl Seek for Output {
    fn seek(&mut self, to: SeekFrom) -> io::Result<u64> {
        match &mut *self.sink() {
            Sink::Plain(target) => target.seek(to),
            _ => Err(io::ErrorKind::NotSeekable.into()),
        }
    }
}
