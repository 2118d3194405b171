//! The promise of `.rw`: files that an earlier version has written are read for ever.
//!
//! The stored files are never written again. A new version of the format adds files of its own, made by `REWEAVE_BLESS=1` from the
//! sources named below, which writes only what is missing.

use std::fmt::Write as _;
use std::fs;
use std::path::{Path, PathBuf};

use reweave_format::{Format, LoadOptions, load, load_bytes, save_bytes};
use reweave_trace::{Kind, Trace};

/// Every stored file of version 2: one of each operation with values, a table of dependences and an ending; a recording. And of
/// version 3: a recording with stable names of sites.
const STORED: [&str; 3] = ["version-2", "version-2-recorded", "version-3-recorded"];

fn data(name: &str) -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/data").join(name)
}

/// All that a trace says, a line each.
fn listing(trace: &Trace) -> String {
    let mut text = String::new();
    for id in trace.ids() {
        let event = trace.event(id);
        let values = trace.values(id);
        let value = |value: Option<_>| value.map_or("-".to_owned(), |id| format!("{:?}", trace.value(id)));
        let callers: Vec<&str> = trace.callers(id).map(|site| trace.site_name(site)).collect();
        let (thread, site) = (trace.thread_name(event.thread), trace.site_name(event.site));
        let target = trace.target_name(event.op).unwrap_or("-");
        let (read, written) = (value(values.read), value(values.written));
        writeln!(
            text,
            "{} {thread} {:?} {target} {site} {read} {written} {callers:?}",
            id.0,
            event.op.kind()
        )
        .expect("memory");
    }
    // The table of dependences and the ending, in words.
    let std = String::from_utf8(save_bytes(trace, Format::Std).expect("it is written")).expect("text");
    text.extend(std.lines().filter(|line| line.starts_with("#!")).map(|line| format!("{line}\n")));
    text
}

#[test]
fn stored_files_say_what_they_said() {
    let mut seen = [false; Kind::ALL.len()];
    for name in STORED {
        let loaded = load(&data(&format!("{name}.rw")), &LoadOptions::default()).expect("it is read");
        assert_eq!((loaded.format, loaded.notices.as_slice()), (Format::Rw, &[][..]));
        let (found, listed) = (listing(&loaded.trace), data(&format!("{name}.txt")));
        if std::env::var_os("REWEAVE_BLESS").is_some_and(|value| value == "1") && !listed.exists() {
            fs::write(&listed, &found).expect("listings can be written");
        }
        assert_eq!(found, fs::read_to_string(&listed).expect("a listing"), "{name}");
        loaded.trace.ids().for_each(|id| seen[loaded.trace.kind(id) as usize] = true);
        // What is read can be written by this version and is the same.
        let again = save_bytes(&loaded.trace, Format::Rw).expect("it is written");
        let again = load_bytes("again.rw", &again, &LoadOptions::default()).expect("it is read");
        assert_eq!(listing(&again.trace), found, "{name}");
    }
    let missing: Vec<&Kind> = Kind::ALL.iter().filter(|&&kind| !seen[kind as usize]).collect();
    assert!(missing.is_empty(), "no stored file has {missing:?}: an operation is new, and so is the version");
}

#[test]
fn versions_that_are_not_known_are_refused_with_those_that_are() {
    let mut bytes = fs::read(data("version-2.rw")).expect("a file");
    bytes[8] = 99;
    let sum = reweave_wire::crc(&bytes[..12]);
    bytes[12..16].copy_from_slice(&sum.to_le_bytes());
    let error = load_bytes("new.rw", &bytes, &LoadOptions::default()).expect_err("it is refused");
    let message = error.to_string();
    assert!(message.contains("version 99") && message.contains("reads 1 to 3"), "{message}");
}
