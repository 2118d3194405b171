//! Schedules: what is read is written as a text that is read and written to the same.
#![no_main]

use reweave_replay::text;

libfuzzer_sys::fuzz_target!(|data: &[u8]| {
    let Ok(content) = std::str::from_utf8(data) else { return };
    if let Ok(schedule) = text::read(content) {
        let written = text::write(&schedule);
        let again = text::read(&written).unwrap_or_else(|error| panic!("{error}\n{written}"));
        assert_eq!(text::write(&again), written);
    }
});
