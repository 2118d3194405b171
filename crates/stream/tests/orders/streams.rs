//! Blocks of any size, and events that cannot have been observed.

use reweave_stream::{Analysis, Race, Stream};
use reweave_testkit::{generate, parse, parse_raw};
use reweave_trace::{Defect, Error, EventId, Rows, Trace};

use crate::{check, shapes};

/// What is refused, and why.
type Refusal = (EventId, Defect, String);

/// The refusal of a trace by a stream, and by the builder of a whole trace.
fn refusals(text: &str) -> (Option<Refusal>, Option<Refusal>) {
    let builder = parse_raw(text).expect("a raw trace");
    let told = |error: Error| match error {
        Error::IllFormed(ill) => (ill.event, ill.defect, ill.message),
        other => panic!("{other}"),
    };
    let mut stream = Stream::new(&Analysis::ALL, true);
    let streamed = stream.block(builder.names(), &builder.rows(), &mut |_, _| {}).err().map(told);
    (streamed, builder.finish().err().map(told))
}

#[test]
fn what_cannot_have_been_observed_is_refused_as_in_a_whole_trace() {
    for text in [
        "a|acq(l)|1\nb|acq(l)|2",
        "a|racq(l)|1\nb|acq(l)|2",
        "a|acq(l)|1\nb|racq(l)|2",
        "a|rel(l)|1",
        "a|acq(l)|1\na|rel(l)|2\na|rel(l)|3",
        "a|racq(l)|1\na|rel(l)|2",
        "a|busy(l)|1",
        "a|acq(l)|1\na|busy(l)|2",
        "a|fork(b)|1\na|fork(b)|2",
        "b|r(x)|1\na|fork(b)|2",
        "a|fork(a)|1",
        "a|join(a)|1",
        "a|fork(b)|1\nb|r(x)|2\na|join(b)|3\nb|r(x)|4",
        "a|join(b)|1\na|fork(b)|2",
        "a|fork(1)|1\nT1|r(x)|2",
        "T1|r(x)|2\na|join(1)|3",
        "a|alloc(p)|1\na|alloc(p)|2",
        "a|r(p.x)|1\na|alloc(p)|2",
        "a|r(p)|1\na|alloc(p)|2",
        "a|free(p)|1\na|free(p)|2",
        "a|free(p)|1\na|alloc(p)|2",
    ] {
        let (streamed, whole) = refusals(text);
        assert!(whole.is_some(), "{text}");
        assert_eq!(streamed, whole, "{text}");
    }
}

#[test]
fn what_a_whole_trace_may_do_a_stream_may() {
    for text in [
        "a|acq(l)|1\na|acq(l)|2\na|rel(l)|3\na|rel(l)|4\nb|acq(l)|5",
        "a|racq(l)|1\nb|racq(l)|2\nb|rrel(l)|3\na|acq(l)|4\na|rel(l)|5\na|rrel(l)|6",
        "a|acq(l)|1\na|racq(l)|2\na|rel(l)|3\nb|racq(l)|4\nc|busy(l)|5",
        "a|alloc(p)|1\na|w(p.x)|2\na|free(p)|3\nb|r(p.x)|4",
        "a|fork(1)|1\n1|r(x)|2",
        "a|join(b)|1",
    ] {
        assert_eq!(refusals(text), (None, None), "{text}");
    }
}

fn in_blocks(trace: &Trace, size: usize) -> Vec<(Analysis, Race)> {
    let mut stream = Stream::new(&Analysis::ALL, false);
    let mut found = Vec::new();
    let rows = trace.rows();
    for start in (0..trace.len()).step_by(size) {
        let end = (start + size).min(trace.len());
        let block = Rows {
            kinds: &rows.kinds[start..end],
            threads: rows.threads.part(start..end),
            targets: &rows.targets[start..end],
            sites: &rows.sites[start..end],
        };
        stream.block(trace.names(), &block, &mut |analysis, race| found.push((analysis, race))).unwrap();
    }
    found.sort_by_key(|(analysis, race)| (*analysis, race.later));
    found
}

#[test]
fn the_size_of_blocks_does_not_matter() {
    for (_, shape) in shapes() {
        for seed in 0..50 {
            let trace = generate(&shape, 3_000_000 + seed);
            let whole = in_blocks(&trace, usize::MAX);
            assert_eq!(whole, in_blocks(&trace, 1));
            assert_eq!(whole, in_blocks(&trace, 3));
        }
    }
}

#[test]
fn only_notifications_that_nobody_can_take_are_forgotten() {
    // Each waiter has released its lock before the first notification, and takes one of the first.
    for waiters in 1..=4 {
        let mut text = String::new();
        for waiter in 0..waiters {
            text += &format!("w{waiter}|acq(l)|1\nw{waiter}|rel(l)|2\n");
        }
        for number in 0..9 {
            text += &format!("n|w(x{number})|3\nn|notify(c)|4\n");
        }
        for waiter in 0..waiters {
            text += &format!("w{waiter}|wait(c)|5\n");
            for number in 0..5 {
                text += &format!("w{waiter}|r(x{number})|6\n");
            }
        }
        let [hb, ..] = check(&parse(&text).expect("a trace"), "notifications");
        assert!(hb > 0, "the later writes are racy");
    }
}
