//! What must hold of any input.

use reweave_format::{Error, Events, Format, LoadOptions, load_bytes, save_bytes};
use reweave_stream::{Analysis, Stream};
use reweave_trace::{Defect, Repairs, Trace};

/// Loads `data` in every way: nothing may panic, jobs may not matter, a mended trace is well formed, and what is loaded can be
/// saved and loaded again.
pub fn check(format: Option<Format>, data: &[u8]) {
    let load =
        |repair, jobs| load_bytes("input", data, &LoadOptions { format, repair, jobs, progress: None });
    match (load(false, 1), load(true, 2)) {
        (Ok(strict), Ok(mended)) => {
            assert_eq!(mended.repairs, Repairs::default());
            same(&strict.trace, &mended.trace, true);
            round_trips(strict.format, &strict.trace);
        }
        (Err(error), Ok(mended)) => {
            assert!(matches!(error, Error::IllFormed { .. }), "{error}");
            assert!(!mended.repairs.is_empty());
            round_trips(mended.format, &mended.trace);
        }
        (Err(error), Err(again)) => assert!(!error.to_string().is_empty() && !again.to_string().is_empty()),
        (Ok(_), Err(error)) => panic!("only the repair fails: {error}"),
    }
}

/// Reads `data` part by part into every analysis: nothing may panic, and what is a trace as a whole is one in parts.
pub fn check_stream(data: &[u8]) {
    let whole = load_bytes("input", data, &LoadOptions { jobs: 1, ..LoadOptions::default() });
    let parts = stream(data);
    match (whole, parts) {
        (Ok(loaded), Ok(events)) => assert_eq!(loaded.trace.len() as u64, events),
        // Values are not looked at, nor names of very deep objects.
        (Err(Error::IllFormed { defect: Defect::ValueDisagrees | Defect::MissingValue, .. }), _) => {}
        (Err(Error::Limit { .. }), _) | (_, Err(Error::Limit { .. })) => {}
        // `1` and `T1` may both run: what a fork of `1` meant is known only at the end.
        (_, Err(Error::IllFormed { defect: Defect::MisnamedThread, .. })) => {}
        (Err(_), Err(_)) => {}
        (Ok(_), Err(error)) => panic!("only the stream fails: {error}"),
        // The reader of whole files decodes values, which may be damaged.
        (Err(Error::Malformed { .. }), Ok(_)) => {}
        (Err(error), Ok(_)) => panic!("the stream takes it, though {error}"),
    }
}

fn stream(data: &[u8]) -> Result<u64, Error> {
    let mut events = Events::from_bytes("input", data, None)?;
    let mut stream = Stream::new(&Analysis::ALL, false);
    while events.advance()? {
        let block = stream.block(events.names(), &events.rows(), &mut |_, _| {});
        block.map_err(|error| events.locate(error))?;
    }
    Ok(stream.events())
}

fn round_trips(from: Format, trace: &Trace) {
    for to in [Format::Std, Format::RapidBin, Format::Rw] {
        let bytes = match save_bytes(trace, to) {
            Ok(bytes) => bytes,
            // Text holds what came from text of its kind; our own format holds everything.
            Err(Error::Unrepresentable { .. }) if to != Format::Rw && to != from => continue,
            Err(error) => panic!("{from} as {to}: {error}"),
        };
        let options = LoadOptions { format: Some(to), jobs: 1, ..LoadOptions::default() };
        match load_bytes("saved", &bytes, &options) {
            Ok(again) => same(trace, &again.trace, to != Format::RapidBin),
            Err(error) => panic!("{from} as {to}: {error}"),
        }
    }
}

/// Asserts that two traces are the same, with their names or without.
fn same(a: &Trace, b: &Trace, named: bool) {
    assert_eq!(a.len(), b.len());
    for id in a.ids() {
        assert_eq!(a.kind(id), b.kind(id));
        if named {
            assert_eq!(a.thread_name(a.thread(id)), b.thread_name(b.thread(id)));
            assert_eq!(a.target_name(a.op(id)), b.target_name(b.op(id)));
            assert_eq!(a.site_name(a.site(id)), b.site_name(b.site(id)));
            let values = |trace: &Trace| {
                let value = |id| trace.value(id).to_string();
                let values = trace.values(id);
                (values.read.map(value), values.written.map(value))
            };
            assert_eq!(values(a), values(b));
        }
    }
    if named {
        assert_eq!(a.capabilities(), b.capabilities());
    }
}
