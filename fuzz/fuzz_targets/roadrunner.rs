//! RoadRunner logs.
#![no_main]

use reweave_format::Format;
use reweave_fuzz::check;

libfuzzer_sys::fuzz_target!(|data: &[u8]| check(Some(Format::RoadRunner), data));
