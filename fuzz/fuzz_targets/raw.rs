//! Raw recordings: any bytes, and any slots, whose sums no fuzzer would get right.
#![no_main]

use std::fs;
use std::ops::Range;
use std::path::Path;

use reweave_capture::{convert, write_raw};
use reweave_format::{Error, TraceWriter, one_by_one};
use reweave_trace::{Dependences, Event, Names, Trace, Value};
use reweave_wire::ring::Slot;

libfuzzer_sys::fuzz_target!(|data: &[u8]| {
    let path = std::env::temp_dir().join(format!("reweave-fuzz-raw-{}", std::process::id()));
    fs::write(&path, data).expect("a file");
    let _ = convert(&path, "", &mut Nowhere);
    write_raw(&path, &slots(data)).expect("a file");
    check(&path);
    fs::remove_file(&path).expect("it is there");
});

fn check(path: &Path) {
    if let Err(error) = convert(path, "", &mut Nowhere) {
        assert!(!error.to_string().is_empty());
    }
}

/// Nine bytes a slot, so that few bytes say much: its first word's low bytes, an address of a few, a value of a few.
fn slots(data: &[u8]) -> Vec<Slot> {
    let (groups, _) = data.as_chunks::<9>();
    let small = |bytes: &[u8]| bytes.iter().rev().fold(0, |sum, &byte| sum << 8 | u64::from(byte));
    groups.iter().map(|group| Slot([small(&group[..4]), small(&group[4..7]), small(&group[7..])])).collect()
}

struct Nowhere;

impl TraceWriter for Nowhere {
    fn event(
        &mut self,
        _: &Names,
        _: &Event,
        _: Option<Value<'_>>,
        _: Option<Value<'_>>,
    ) -> Result<(), Error> {
        Ok(())
    }

    fn events(&mut self, trace: &Trace, range: Range<usize>) -> Result<(), Error> {
        one_by_one(self, trace, range)
    }

    fn dependences(&mut self, _: &Names, _: &Dependences) -> Result<(), Error> {
        Ok(())
    }

    fn finish(&mut self) -> Result<(), Error> {
        Ok(())
    }
}
