//! Witness files, read from a file or standard input.

use std::fs::File;
use std::io::{self, Read};
use std::path::Path;

use anyhow::Context;
use reweave_report::json::Question;

use crate::failure::Failure;
use crate::input::is_standard;

/// The largest file that is read. A witness of half a billion steps has not this many bytes where it should have
/// been given with a prefix.
const MAX_BYTES: u64 = 1 << 30;

const HINT: &str = "a witness file is {\"model\": \"rf\", \"witness_prefix\": 0, \"witness\": [0, 1], \
                    \"claim\": {\"coenabled\": [2, 3]}}";

/// Reads a witness file, or standard input if `path` is `-`.
pub(crate) fn read(path: &Path) -> anyhow::Result<Question> {
    let name = if is_standard(path) { "standard input".to_owned() } else { path.display().to_string() };
    let text = read_bytes(path).with_context(|| name.clone())?;
    if text.len() as u64 > MAX_BYTES {
        let message = format!("{name}: the witness file is larger than 1 GiB");
        return Err(Failure::new(message)
            .hint("give the part that follows the observed order as witness_prefix")
            .into());
    }
    Question::parse(&text).map_err(|message| Failure::new(format!("{name}{message}")).hint(HINT).into())
}

fn read_bytes(path: &Path) -> io::Result<Vec<u8>> {
    let mut text = Vec::new();
    let most = MAX_BYTES + 1;
    if is_standard(path) {
        io::stdin().lock().take(most).read_to_end(&mut text)?;
    } else {
        File::open(path)?.take(most).read_to_end(&mut text)?;
    }
    Ok(text)
}
