//! Steps beside a trace, as they are in the file, and compressed by us, which no fuzzer would get right.
#![no_main]

use reweave_capture::{read_modules, read_steps};
use reweave_format::{LoadOptions, load_bytes};

const MAGIC: &[u8] = b"reweave steps 1\n";

libfuzzer_sys::fuzz_target!(|data: &[u8]| {
    let trace = load_bytes("input", b"T1|w(x)|1\nT1|r(x)|2\nT2|w(x)|3\n", &LoadOptions::default());
    let trace = trace.expect("a trace").trace;
    let compressed = zstd::encode_all(&[MAGIC, data].concat()[..], 1).expect("memory is enough");
    for content in [data, &compressed] {
        let _ = read_modules(content);
        let mut count = 0;
        if read_steps(content, &trace, |_, _| count += 1).is_ok() {
            assert_eq!(count, trace.len());
        }
    }
});
