//! What the tests of several formats share: inputs and outputs as text.

use reweave_trace::Trace;

use crate::load::load_blocks;
use crate::{Format, LoadOptions, save_bytes};

/// Loads `input` and shows the trace as STD text, or the error.
pub(crate) fn show(format: Format, input: &[u8]) -> String {
    show_with(input, usize::MAX, &LoadOptions { format: Some(format), jobs: 1, ..LoadOptions::default() })
}

/// As [`show`], in blocks of about `block_bytes`.
pub(crate) fn show_with(input: &[u8], block_bytes: usize, options: &LoadOptions<'_>) -> String {
    match load_blocks("t", input, block_bytes, options) {
        Ok(loaded) => to_std(&loaded.trace) + &loaded.notices.join("\n"),
        Err(error) => error.to_string(),
    }
}

/// Asserts that `input` shows as `expected`, whatever the blocks and the jobs.
pub(crate) fn check(format: Format, input: &[u8], expected: &str) {
    let shown = show(format, input);
    assert_eq!(shown, expected, "{}", String::from_utf8_lossy(input));
    for block_bytes in [1, 7, 40, 200] {
        for jobs in 1..=4 {
            let options = LoadOptions { format: Some(format), jobs, ..LoadOptions::default() };
            let shown = show_with(input, block_bytes, &options);
            assert_eq!(shown, expected, "blocks of {block_bytes}, {jobs} jobs");
        }
    }
}

/// The trace as STD text.
pub(crate) fn to_std(trace: &Trace) -> String {
    String::from_utf8(save_bytes(trace, Format::Std).unwrap()).unwrap()
}

/// Loads STD text that is well formed.
pub(crate) fn from_std(text: &str) -> Trace {
    let options = LoadOptions { jobs: 1, ..LoadOptions::default() };
    crate::load_bytes("t.std", text.as_bytes(), &options).unwrap().trace
}
