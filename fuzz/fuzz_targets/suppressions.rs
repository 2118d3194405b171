//! Suppressions: every line is a rule or an error with its number.
#![no_main]

use reweave_report::suppressions::Suppressions;

libfuzzer_sys::fuzz_target!(|data: &[u8]| {
    let Ok(content) = std::str::from_utf8(data) else { return };
    if let Err(error) = Suppressions::parse(content) {
        assert!(!error.to_string().is_empty());
    }
});
