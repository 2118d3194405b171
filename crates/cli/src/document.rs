//! Documents for other programs, written in full or not at all.

use std::io::{self, Write};
use std::path::Path;

use anyhow::Context;
use serde::Serialize;

use crate::console::Console;

/// Writes `document` as JSON to a file, or to standard output if `path` is `-`.
pub(crate) fn write_json(path: &Path, document: &impl Serialize, console: &Console) -> anyhow::Result<()> {
    let mut text = serde_json::to_vec_pretty(document)?;
    text.push(b'\n');
    if path.as_os_str() == "-" {
        let mut out = console.out();
        out.write_all(&text)?;
        return Ok(out.flush()?);
    }
    write(path, &text).with_context(|| path.display().to_string())
}

fn write(path: &Path, text: &[u8]) -> io::Result<()> {
    // A pipe or device has no content to protect.
    if std::fs::metadata(path).is_ok_and(|about| !about.is_file()) {
        return std::fs::write(path, text);
    }
    let folder = path.parent().filter(|folder| !folder.as_os_str().is_empty()).unwrap_or(Path::new("."));
    let mut builder = tempfile::Builder::new();
    builder.prefix(".reweave-");
    // Temporary files are private by default; this one is to look like any other.
    #[cfg(unix)]
    builder.permissions(std::os::unix::fs::PermissionsExt::from_mode(0o666));
    let mut file = builder.tempfile_in(folder).map_err(without_path)?;
    file.write_all(text)?;
    file.persist(path).map(drop).map_err(|error| error.error)
}

/// The error without the name of the temporary file, which means nothing to the user.
fn without_path(error: io::Error) -> io::Error {
    let cause = error.get_ref().and_then(|inner| inner.source()).map(ToString::to_string);
    cause.map_or(error, io::Error::other)
}
