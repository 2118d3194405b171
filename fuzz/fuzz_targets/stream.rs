//! Any content, part by part, through every one-pass analysis.
#![no_main]

use reweave_fuzz::check_stream;

libfuzzer_sys::fuzz_target!(|data: &[u8]| check_stream(data));
