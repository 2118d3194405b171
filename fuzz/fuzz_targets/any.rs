//! Whatever the content looks like, compressed or not.
#![no_main]

use reweave_fuzz::check;

libfuzzer_sys::fuzz_target!(|data: &[u8]| check(None, data));
