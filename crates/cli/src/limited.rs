//! Small files that the user names: read as a whole, unless they are not small.

use std::fs::{self, File};
use std::io::{self, Read};
use std::os::unix::fs::MetadataExt;
use std::path::Path;

use anyhow::Context;

use crate::failure::Failure;
use crate::plural;

/// The most bytes of a file with suppressions.
pub(crate) const SUPPRESSIONS: u64 = 16 << 20;
/// The most bytes of a file of specifications.
pub(crate) const SPECIFICATIONS: u64 = 16 << 20;
/// The most bytes of a schedule.
pub(crate) const SCHEDULE: u64 = 256 << 20;
/// The most bytes of a document of findings.
pub(crate) const DOCUMENT: u64 = 512 << 20;

/// The content of a file, or of standard input if `path` is `-`, of no more than `most` bytes.
pub(crate) fn read(path: &Path, most: u64) -> anyhow::Result<Vec<u8>> {
    let name = || path.display().to_string();
    let from: Box<dyn Read> = match path.as_os_str() == "-" {
        true => Box::new(io::stdin()),
        false => Box::new(File::open(path).with_context(name)?),
    };
    let mut bytes = Vec::new();
    from.take(most + 1).read_to_end(&mut bytes).with_context(name)?;
    if bytes.len() as u64 > most {
        let most = plural::count(most, "byte");
        return Err(Failure::new(format!(
            "{}: it has more than {most}, the most that such a file may have",
            name()
        ))
        .hint("is it the right file?")
        .into());
    }
    Ok(bytes)
}

/// The same as text.
pub(crate) fn read_text(path: &Path, most: u64) -> anyhow::Result<String> {
    String::from_utf8(read(path, most)?)
        .map_err(|_| Failure::new(format!("{}: it is not text", path.display())).into())
}

/// Refuses to write to a file that is read: what fails half-way would take the input with it.
pub(crate) fn refuse_same<'p>(
    inputs: impl IntoIterator<Item = &'p Path>,
    outputs: impl IntoIterator<Item = &'p Path> + Clone,
) -> anyhow::Result<()> {
    let file = |path: &Path| {
        let about = fs::metadata(path).ok().filter(|about| about.is_file())?;
        Some((about.dev(), about.ino()))
    };
    for input in inputs {
        let Some(input_file) = file(input) else { continue };
        if let Some(output) = outputs.clone().into_iter().find(|output| file(output) == Some(input_file)) {
            let (input, output) = (input.display(), output.display());
            return Err(Failure::new(format!("{output}: the output is also an input ({input})"))
                .hint("write to another file")
                .into());
        }
    }
    Ok(())
}
