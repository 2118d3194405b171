//! Tests of the RapidBin reader and writer.

use reweave_trace::Trace;

use crate::testing::{check as check_format, from_std, show, to_std};
use crate::{Error, Format, LoadOptions, load_bytes, save_bytes};

/// A file with this count of events in its header, and these events: thread, operation, target, site.
fn file(count: i64, events: &[[u64; 4]]) -> Vec<u8> {
    let mut bytes = vec![0, 3, 0, 0, 0, 3, 0, 0, 0, 4];
    bytes.extend(count.to_be_bytes());
    for [thread, operation, target, site] in events {
        bytes.extend((thread | operation << 10 | target << 14 | site << 48).to_be_bytes());
    }
    bytes
}

/// The first bytes of a file.
fn cut(bytes: usize) -> Vec<u8> {
    file(10, &EVENTS)[..bytes].to_vec()
}

fn to_rapidbin(trace: &Trace) -> Result<Vec<u8>, Error> {
    save_bytes(trace, Format::RapidBin)
}

fn check(bytes: &[u8], expected: &str) {
    check_format(Format::RapidBin, bytes, expected);
}

const EVENTS: [[u64; 4]; 10] = [
    [0, 6, 0, 0],
    [0, 4, 1, 2],
    [1, 8, 5, 3],
    [1, 0, 5, 3],
    [1, 2, (1 << 34) - 1, 4],
    [1, 9, 0, 5],
    [1, 3, 0, (1 << 15) - 1],
    [1, 1, 5, 7],
    [1, 7, 0, 0],
    [0, 5, 1, 8],
];

const TEXT: &str = "\
T0|begin|0
T0|fork(T1)|2
T1|req|3
T1|acq(L5)|3
T1|r(V17179869183)|4
T1|br|5
T1|w(V0)|32767
T1|rel(L5)|7
T1|end|0
T0|join(T1)|8
";

#[test]
fn every_operation_is_read() {
    check(&file(10, &EVENTS), TEXT);
    check(&file(0, &[]), "");
}

#[test]
fn a_count_that_is_too_high_is_no_error() {
    check(&file(11, &EVENTS), TEXT);
    let notice = "the header says that there are 12 events, but the file ends after 10";
    check(&file(12, &EVENTS), &format!("{TEXT}{notice}"));
}

#[test]
fn a_file_that_is_cut_off_is_read_up_to_there() {
    let notice =
        "the file ends in the middle of an event; the 2 events before it were read, of 10 in the header";
    let events: String = TEXT.lines().take(2).map(|line| format!("{line}\n")).collect();
    for bytes in [35, 37, 41] {
        check(&cut(bytes), &format!("{events}{notice}"));
    }
}

#[test]
fn what_is_wrong_is_told_with_its_byte() {
    for (bytes, message) in [
        (vec![], "t: at byte 0: the file ends in its header, which takes 18 bytes"),
        (cut(17), "t: at byte 17: the file ends in its header, which takes 18 bytes"),
        (file(9, &EVENTS), "t: at byte 90: the header says that there are 9 events, but the file goes on"),
        (file(-1, &[]), "t: at byte 10: the header says that there are -1 events"),
        (file(2, &[[0, 6, 0, 0], [0, 10, 0, 0]]), "t: at byte 26: there is no operation 10: expected 0 to 9"),
        (file(1, &[[0, 6, 0, 1 << 15]]), "t: at byte 18: the highest bit of an event is set"),
    ] {
        check(&bytes, message);
    }
}

#[test]
fn events_survive_a_round_trip() {
    let trace = from_std(TEXT);
    let bytes = to_rapidbin(&trace).unwrap();
    assert_eq!(bytes[..18], [0, 2, 0, 0, 0, 1, 0, 0, 0, 2, 0, 0, 0, 0, 0, 0, 0, 10]);
    let options = LoadOptions { jobs: 1, ..LoadOptions::default() };
    let again = load_bytes("t.data", &bytes, &options).unwrap().trace;
    assert!(trace.ids().eq(again.ids()));
    assert!(trace.ids().all(|id| trace.event(id) == again.event(id)), "{}", to_std(&again));
    assert_eq!(to_rapidbin(&again).unwrap(), bytes);
}

#[test]
fn what_does_not_fit_is_refused() {
    let sites: String = (0..=1 << 15).map(|site| format!("T|r(x)|{site}\n")).collect();
    let threads: String = (0..=1 << 10).map(|thread| format!("T{thread}|r(x)|1\n")).collect();
    let forks: String = (0..1 << 10).map(|thread| format!("T|fork(T{thread})|1\n")).collect();
    for (text, message) in [
        ("T|br|1\nT|au(x)|1\n", "t: rapidbin cannot hold event 1: it has no `au`"),
        ("T|r(x)|1|5\n", "t: rapidbin cannot hold event 0: it has no values"),
        (&sites, "t: rapidbin cannot hold event 32768: it has 32768 sites at most"),
        (&threads, "t: rapidbin cannot hold event 1024: it has 1024 threads at most"),
        (&forks, "t: rapidbin cannot hold event 1023: it has 1024 threads at most"),
    ] {
        let error = to_rapidbin(&from_std(text)).unwrap_err().in_file("t".as_ref());
        assert_eq!(error.to_string(), message);
    }
}

#[test]
fn an_empty_trace_has_a_header() {
    let bytes = to_rapidbin(&from_std("")).unwrap();
    assert_eq!(show(Format::RapidBin, &bytes), "");
}
