//! Traces on disk: compression, atomic writing, messages, and traces that others recorded.

use std::fs;
use std::io::Write;
use std::path::Path;
use std::sync::atomic::{AtomicU64, Ordering};

use reweave_format::{Error, Format, LoadOptions, Loaded, create, load, load_bytes, save};
use reweave_testkit::recorded;
use reweave_trace::{EventId, Trace};

const TEXT: &str = "T1|w(x)|1\nT2|r(x)|2\nT2|acq(l)|3\nT2|rel(l)|4\n";

fn loaded(path: &Path) -> Loaded {
    load(path, &LoadOptions::default()).unwrap()
}

fn same(a: &Trace, b: &Trace) -> bool {
    let text = |trace: &Trace| {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("t.std");
        save(trace, &path, None).unwrap();
        fs::read_to_string(path).unwrap()
    };
    text(a) == text(b)
}

fn gzip(bytes: &[u8]) -> Vec<u8> {
    let mut encoder = flate2::write::GzEncoder::new(Vec::new(), flate2::Compression::fast());
    encoder.write_all(bytes).unwrap();
    encoder.finish().unwrap()
}

#[test]
fn compression_is_told_by_content() {
    let folder = tempfile::tempdir().unwrap();
    let zstd = |bytes: &[u8]| zstd::encode_all(bytes, 1).unwrap();
    let members = [gzip(&TEXT.as_bytes()[..20]), gzip(&TEXT.as_bytes()[20..])].concat();
    let frames = [zstd(&TEXT.as_bytes()[..20]), zstd(&TEXT.as_bytes()[20..])].concat();
    for (name, content) in [
        ("a.std", TEXT.as_bytes().to_vec()),
        ("b.std", gzip(TEXT.as_bytes())),
        ("c.std.zst", gzip(TEXT.as_bytes())),
        ("d.std.gz", zstd(TEXT.as_bytes())),
        ("e", zstd(TEXT.as_bytes())),
        ("f", members),
        ("g.txt", frames),
    ] {
        let path = folder.path().join(name);
        fs::write(&path, &content).unwrap();
        let loaded = loaded(&path);
        assert_eq!((loaded.trace.len(), loaded.format), (4, Format::Std), "{name}");
        assert_eq!(loaded.bytes, content.len() as u64, "{name}");
        assert_eq!(loaded.lines.unwrap().line(EventId(3)), Some(4));
    }
}

#[test]
fn a_damaged_stream_is_an_error() {
    for whole in [gzip(TEXT.as_bytes()), zstd::encode_all(TEXT.as_bytes(), 1).unwrap()] {
        for length in 5..whole.len() {
            let error = load_bytes("t.std", &whole[..length], &LoadOptions::default()).unwrap_err();
            assert!(matches!(error, Error::Io { .. }), "{error}");
        }
    }
}

#[test]
fn large_inputs_do_not_depend_on_jobs_and_blocks() {
    let mut text = String::from("#! capabilities: branches\n");
    for i in 0..400_000 {
        text += &format!("T{}|{}(V{})|{}\n", i % 7, if i % 3 == 0 { "w" } else { "r" }, i * 7 % 5000, i / 3);
    }
    let one =
        load_bytes("t.std", text.as_bytes(), &LoadOptions { jobs: 1, ..LoadOptions::default() }).unwrap();
    let compressed = zstd::encode_all(text.as_bytes(), 1).unwrap();
    for (jobs, bytes) in [(2, text.as_bytes()), (3, text.as_bytes()), (1, &compressed), (3, &compressed)] {
        let done = AtomicU64::new(0);
        let progress = |bytes, total| {
            assert!(Some(bytes) <= total);
            done.fetch_max(bytes, Ordering::Relaxed);
        };
        let options = LoadOptions { jobs, progress: Some(&progress), ..LoadOptions::default() };
        let other = load_bytes("t.std", bytes, &options).unwrap();
        let events = |trace: &Trace| trace.ids().map(|id| trace.event(id)).collect::<Vec<_>>();
        assert!(events(&one.trace) == events(&other.trace));
        assert_eq!(one.lines, other.lines);
        assert_eq!(one.trace.capabilities(), other.trace.capabilities());
        assert_eq!(done.into_inner(), bytes.len() as u64);
    }
}

#[test]
fn an_ill_formed_trace_is_refused_with_its_lines_and_a_hint() {
    let text = b"# note\nT1|fork(T2)|1\n\nT1|fork(T2)|2\n";
    let error = load_bytes("t.std", text, &LoadOptions::default()).unwrap_err();
    assert_eq!(error.to_string(), "t.std:4: second fork of thread `T2` (the other event is on line 2)");
    assert_eq!(error.hint(), Some("run again with --repair to drop or rename what is ill formed"));
    let loaded = load_bytes("t.std", text, &LoadOptions { repair: true, ..LoadOptions::default() }).unwrap();
    assert_eq!(loaded.repairs.iter().count(), 1);
    assert_eq!(loaded.trace.len(), 2);
}

#[test]
fn files_that_cannot_be_read_are_errors() {
    let folder = tempfile::tempdir().unwrap();
    for (path, message) in
        [(folder.path().join("none.std"), "No such file"), (folder.path().to_owned(), "directory")]
    {
        let error = load(&path, &LoadOptions::default()).unwrap_err();
        assert!(error.to_string().contains(message), "{error}");
    }
    let path = folder.path().join("riddle");
    fs::write(&path, "once upon a time").unwrap();
    let error = load(&path, &LoadOptions::default()).unwrap_err();
    assert!(error.to_string().ends_with("the format is not known from the name nor the content"), "{error}");
    fs::write(&path, "").unwrap();
    assert!(loaded(&path).trace.is_empty());
}

#[test]
fn what_is_saved_is_loaded_again() {
    let folder = tempfile::tempdir().unwrap();
    let trace = load_bytes("t.std", TEXT.as_bytes(), &LoadOptions::default()).unwrap().trace;
    for name in ["a.std", "a.std.zst", "a.rw", "a.data"] {
        let path = folder.path().join(name);
        let bytes = save(&trace, &path, None).unwrap();
        assert_eq!(bytes, fs::metadata(&path).unwrap().len(), "{name}");
        let again = loaded(&path);
        assert!(trace.ids().all(|id| trace.event(id) == again.trace.event(id)), "{name}");
        assert!(name == "a.data" || same(&trace, &again.trace), "{name}");
    }
    let path = folder.path().join("b");
    save(&trace, &path, Some(Format::Std)).unwrap();
    assert_eq!(fs::read_to_string(path).unwrap(), TEXT);
}

#[test]
fn nothing_half_written_is_left() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("t.std");
    let files = || fs::read_dir(folder.path()).unwrap().count();
    let trace = load_bytes("t.std", TEXT.as_bytes(), &LoadOptions::default()).unwrap().trace;
    fs::write(&path, "before").unwrap();
    for name in ["t.std", "u.std.zst", "v.data", "w.rw"] {
        let mut writer = create(&folder.path().join(name), None, trace.capabilities()).unwrap();
        writer.event(trace.names(), &trace.event(EventId(0)), None, None).unwrap();
        drop(writer);
        assert_eq!(files(), 1, "{name}");
    }
    let values = load_bytes("t.std", b"T|w(x)|1\nT|w(x)|1|5\n", &LoadOptions::default()).unwrap().trace;
    assert!(matches!(save(&values, &folder.path().join("v.data"), None), Err(Error::Unrepresentable { .. })));
    assert_eq!((files(), fs::read_to_string(&path).unwrap().as_str()), (1, "before"));
    save(&trace, &path, None).unwrap();
    assert_eq!((files(), fs::read_to_string(&path).unwrap().as_str()), (1, TEXT));
}

#[test]
fn what_cannot_be_written_is_refused_at_once() {
    let folder = tempfile::tempdir().unwrap();
    for (name, message) in [
        ("t.csv", "csv cannot be written"),
        ("t.rr", "roadrunner cannot be written"),
        ("t.speedygo", "speedygo cannot be written"),
        ("t.std.gz", "std cannot be written with gzip"),
        ("t.data.zst", "rapidbin cannot be written compressed"),
        ("t.rw.zst", "rw cannot be written compressed"),
        ("t", "the format is not known from the name"),
        ("none/t.std", "No such file"),
    ] {
        let error = create(&folder.path().join(name), None, Default::default()).err().unwrap();
        assert!(error.to_string().contains(message), "{error}");
    }
    assert_eq!(fs::read_dir(folder.path()).unwrap().count(), 0);
}

#[cfg(unix)]
#[test]
fn links_are_followed_and_other_things_written_to_directly() {
    let folder = tempfile::tempdir().unwrap();
    let trace = load_bytes("t.std", TEXT.as_bytes(), &LoadOptions::default()).unwrap().trace;
    let (file, link) = (folder.path().join("file.std"), folder.path().join("link.std"));
    fs::write(&file, "before").unwrap();
    std::os::unix::fs::symlink(&file, &link).unwrap();
    save(&trace, &link, None).unwrap();
    assert!(link.is_symlink());
    assert_eq!(fs::read_to_string(&file).unwrap(), TEXT);
    assert_eq!(save(&trace, Path::new("/dev/null"), Some(Format::Std)).unwrap(), TEXT.len() as u64);
    assert!(!Path::new("/dev/null").is_file());
}

#[test]
fn recorded_traces_are_read_and_mended() {
    let files = [recorded("raceinjector"), recorded("freiburg")].concat();
    for path in files {
        let one = load(&path, &LoadOptions { repair: true, jobs: 1, ..LoadOptions::default() }).unwrap();
        let two = load(&path, &LoadOptions { repair: true, jobs: 2, ..LoadOptions::default() }).unwrap();
        assert_eq!(one.repairs, two.repairs);
        assert!(one.trace.ids().all(|id| one.trace.event(id) == two.trace.event(id)));
        let expected = if one.format == Format::Std {
            fs::read_to_string(&path).unwrap().lines().count()
        } else {
            (fs::metadata(&path).unwrap().len() as usize - 18) / 8
        };
        assert_eq!(one.trace.len(), expected, "{}", path.display());
        let saved = tempfile::tempdir().unwrap();
        for name in ["t.std", "t.std.zst", "t.rw"] {
            let copy = saved.path().join(name);
            save(&one.trace, &copy, None).unwrap();
            assert!(same(&one.trace, &loaded(&copy).trace), "{} as {name}", path.display());
        }
        if let Ok(strict) = load(&path, &LoadOptions::default()) {
            assert!(one.repairs.is_empty() && same(&one.trace, &strict.trace));
        } else {
            assert!(!one.repairs.is_empty());
        }
    }
}
