//! Documents for other programs, written in full or not at all.

use std::borrow::Cow;
use std::io::{self, Write};
use std::path::Path;

use anyhow::Context;
use serde::Serialize;

use crate::console::Console;
use crate::plain::is_obeyed;

/// Writes `document` as JSON to a file, or to standard output if `path` is `-`.
pub(crate) fn write_json(path: &Path, document: &impl Serialize, console: &Console) -> anyhow::Result<()> {
    let text = serde_json::to_string_pretty(document)?;
    write_text(path, &(spelled(&text) + "\n"), console)
}

/// The same, with what lies deeper than `lines` levels on one line: views have many small parts, and schedules are long.
pub(crate) fn write_dense_json(
    path: &Path,
    document: &impl Serialize,
    lines: usize,
    console: &Console,
) -> anyhow::Result<()> {
    let mut text = Vec::new();
    let form = Dense { lines, depth: 0, has_value: false };
    document.serialize(&mut serde_json::Serializer::with_formatter(&mut text, form))?;
    write_text(path, &(spelled(&String::from_utf8(text)?) + "\n"), console)
}

/// JSON whose texts have no character that a terminal obeys: JSON has its own way to write them, which the command's output
/// leaves alone.
fn spelled(json: &str) -> Cow<'_, str> {
    if !json.contains(is_obeyed) {
        return Cow::Borrowed(json);
    }
    let mut text = String::with_capacity(json.len());
    for character in json.chars() {
        match is_obeyed(character) {
            // None of them is beyond the first plane.
            true => text.push_str(&format!("\\u{:04x}", u32::from(character))),
            false => text.push(character),
        }
    }
    Cow::Owned(text)
}

/// Writes a text in the same way.
pub(crate) fn write_text(path: &Path, text: &str, console: &Console) -> anyhow::Result<()> {
    write_bytes(path, text.as_bytes(), console)
}

fn write_bytes(path: &Path, text: &[u8], console: &Console) -> anyhow::Result<()> {
    if path.as_os_str() == "-" {
        let mut out = console.out();
        out.write_all(text)?;
        return Ok(out.flush()?);
    }
    write(path, text).with_context(|| path.display().to_string())
}

/// A form of JSON with lines and indents down to some depth, and none below.
struct Dense {
    lines: usize,
    depth: usize,
    has_value: bool,
}

/// The depth of the fields of a document.
pub(crate) const FIELDS: usize = 1;
/// The depth of the fields of a finding in a document.
pub(crate) const FINDINGS: usize = 3;

impl Dense {
    fn open(&mut self, out: &mut (impl Write + ?Sized), sign: &[u8]) -> io::Result<()> {
        self.depth += 1;
        self.has_value = false;
        out.write_all(sign)
    }

    fn close(&mut self, out: &mut (impl Write + ?Sized), sign: &[u8]) -> io::Result<()> {
        if self.depth <= self.lines && self.has_value {
            out.write_all(b"\n")?;
            (1..self.depth).try_for_each(|_| out.write_all(b"  "))?;
        }
        self.depth -= 1;
        self.has_value = true;
        out.write_all(sign)
    }

    fn next(&self, out: &mut (impl Write + ?Sized), first: bool) -> io::Result<()> {
        let separator: &[u8] = match (first, self.depth <= self.lines) {
            (true, true) => b"\n",
            (true, false) => b"",
            (false, true) => b",\n",
            (false, false) => b", ",
        };
        out.write_all(separator)?;
        let indent = if self.depth <= self.lines { self.depth } else { 0 };
        (0..indent).try_for_each(|_| out.write_all(b"  "))
    }
}

impl serde_json::ser::Formatter for Dense {
    fn begin_array<W: Write + ?Sized>(&mut self, out: &mut W) -> io::Result<()> {
        self.open(out, b"[")
    }

    fn end_array<W: Write + ?Sized>(&mut self, out: &mut W) -> io::Result<()> {
        self.close(out, b"]")
    }

    fn begin_array_value<W: Write + ?Sized>(&mut self, out: &mut W, first: bool) -> io::Result<()> {
        self.next(out, first)
    }

    fn end_array_value<W: Write + ?Sized>(&mut self, _: &mut W) -> io::Result<()> {
        self.has_value = true;
        Ok(())
    }

    fn begin_object<W: Write + ?Sized>(&mut self, out: &mut W) -> io::Result<()> {
        self.open(out, b"{")
    }

    fn end_object<W: Write + ?Sized>(&mut self, out: &mut W) -> io::Result<()> {
        self.close(out, b"}")
    }

    fn begin_object_key<W: Write + ?Sized>(&mut self, out: &mut W, first: bool) -> io::Result<()> {
        self.next(out, first)
    }

    fn begin_object_value<W: Write + ?Sized>(&mut self, out: &mut W) -> io::Result<()> {
        out.write_all(b": ")
    }

    fn end_object_value<W: Write + ?Sized>(&mut self, _: &mut W) -> io::Result<()> {
        self.has_value = true;
        Ok(())
    }
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
