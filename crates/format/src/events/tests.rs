//! Parts of every format against the whole, and damaged input.

use reweave_trace::{EventId, Kind};

use super::Events;
use crate::synthetic::{self, Shape};
use crate::{Error, Format, LoadOptions, decode_bytes, load_bytes, save_bytes};

/// Every event with its names, and the notices.
type Told = (Vec<(Kind, String, String, String)>, Vec<String>);

fn in_parts(bytes: &[u8], block: usize, format: Option<Format>) -> Result<Told, Error> {
    let mut events = Events::cut("input", bytes, block, format)?;
    let mut told = Vec::new();
    while events.advance()? {
        let (rows, names) = (events.rows(), events.names());
        for (i, &kind) in rows.kinds.iter().enumerate() {
            let thread = names.space(reweave_trace::Space::Thread).get(rows.threads.get(i).0).to_owned();
            let target = kind.space().map_or("", |space| names.space(space).get(rows.targets[i])).to_owned();
            told.push((kind, thread, target, names.sites.get(rows.sites[i].0).to_owned()));
        }
    }
    Ok((told, events.notices()))
}

fn whole(bytes: &[u8], format: Option<Format>) -> Result<Told, Error> {
    let options = LoadOptions { format, repair: false, jobs: 1, progress: None };
    let builder = decode_bytes("input", bytes, &options)?;
    let (rows, names) = (builder.rows(), builder.names());
    let told = (0..builder.len())
        .map(|i| {
            let kind = rows.kinds[i];
            let thread = names.space(reweave_trace::Space::Thread).get(rows.threads.get(i).0).to_owned();
            let target = kind.space().map_or("", |space| names.space(space).get(rows.targets[i])).to_owned();
            (kind, thread, target, names.sites.get(rows.sites[i].0).to_owned())
        })
        .collect();
    let notices =
        load_bytes("input", bytes, &LoadOptions { repair: true, ..options }).map(|loaded| loaded.notices);
    Ok((told, notices.unwrap_or_default()))
}

fn synthetic(values: bool) -> (Vec<u8>, reweave_trace::Trace) {
    let shape = Shape { events: 70_000, threads: 5, values, ..Shape::default() };
    let mut text = Vec::new();
    let mut writer = crate::std_text::Writer::new(&mut text, shape.capabilities());
    synthetic::generate(&shape, &mut writer).expect("a trace");
    drop(writer);
    let trace = load_bytes("t.std", &text, &LoadOptions::default()).expect("a trace").trace;
    (text, trace)
}

fn files() -> Vec<(Format, Vec<u8>)> {
    let (text, trace) = synthetic(true);
    let rw = save_bytes(&trace, Format::Rw).expect("a file");
    let rapidbin = save_bytes(&synthetic(false).1, Format::RapidBin).expect("a file");
    vec![(Format::Std, text), (Format::Rw, rw), (Format::RapidBin, rapidbin)]
}

#[test]
fn parts_are_the_whole() {
    for (format, bytes) in files() {
        let expected = whole(&bytes, Some(format)).expect("a trace");
        assert_eq!(expected.0.len(), 70_000);
        for block in [1000, 100_000, usize::MAX] {
            assert!(in_parts(&bytes, block, Some(format)).expect("a trace") == expected, "{format}, {block}");
        }
        let packed = zstd::encode_all(&bytes[..], 1).expect("memory suffices");
        assert!(
            in_parts(&packed, 1 << 16, Some(format)).expect("a trace") == expected,
            "{format}, compressed"
        );
    }
}

/// What is wrong, and where.
fn text(result: Result<Told, Error>) -> Result<Told, String> {
    result.map_err(|error| error.to_string())
}

#[test]
fn cut_and_damaged_files_are_told_as_from_the_whole() {
    for (format, bytes) in files() {
        let tail = (bytes.len().saturating_sub(60)..bytes.len()).step_by(9);
        for at in (0..bytes.len()).step_by(bytes.len() / 7).chain(tail) {
            let cut = &bytes[..at];
            assert_eq!(
                text(in_parts(cut, 1 << 16, Some(format))),
                text(whole(cut, Some(format))),
                "{format} cut at {at}"
            );
            let mut damaged = bytes.clone();
            damaged[at] ^= 0x15;
            let (parts, whole) = (in_parts(&damaged, 1 << 16, Some(format)), whole(&damaged, Some(format)));
            assert_eq!(parts.is_ok(), whole.is_ok(), "{format} damaged at {at}");
        }
    }
}

#[test]
fn zeros_at_the_end_are_what_a_killed_recorder_leaves() {
    let (_, bytes) = files().swap_remove(1);
    let mut cut = bytes[..reweave_wire::HEADER_BYTES].to_vec();
    cut.resize(cut.len() + 100_000, 0);
    let (told, notices) = in_parts(&cut, 1 << 16, None).expect("a part");
    assert_eq!((told.len(), notices.len()), (0, 1));
    cut.push(1);
    assert!(in_parts(&cut, 1 << 16, None).is_err());
}

#[test]
fn a_place_is_a_line_of_the_text() {
    let bytes = b"# one\na|acq(l)|1\n\nb|acq(l)|2\n";
    let mut events = Events::from_bytes("t.std", bytes, None).expect("a trace");
    while events.advance().expect("a part") {}
    let ill = reweave_trace::IllFormed {
        event: EventId(1),
        other: None,
        defect: reweave_trace::Defect::HeldByAnother,
        message: "held".to_owned(),
    };
    assert_eq!(events.locate(ill.into()).to_string(), "t.std:4: held");
}
