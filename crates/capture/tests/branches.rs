//! Branches that a recording tells of and that a trace must have.

use std::io;

use reweave_capture::{Recording, write_raw};
use reweave_format::{Error, TraceWriter};
use reweave_trace::{Event, Kind, Names, Value};
use reweave_wire::Op;
use reweave_wire::ring::{BYTES_IN_TURN, Slot, kind};

const SHARED: u64 = 0x1000;
const OWN: u64 = 0x2000;
const COPY: u64 = 0x3000;

#[derive(Default)]
struct Kinds(Vec<(u32, Kind)>);

impl TraceWriter for Kinds {
    fn event(
        &mut self,
        _: &Names,
        event: &Event,
        _: Option<Value<'_>>,
        _: Option<Value<'_>>,
    ) -> Result<(), Error> {
        self.0.push((event.thread.0, event.op.kind()));
        Ok(())
    }

    fn events(&mut self, trace: &reweave_trace::Trace, range: std::ops::Range<usize>) -> Result<(), Error> {
        reweave_format::one_by_one(self, trace, range)
    }

    fn dependences(&mut self, _: &reweave_trace::Names, _: &reweave_trace::Dependences) -> Result<(), Error> {
        Ok(())
    }

    fn finish(&mut self) -> Result<(), Error> {
        Ok(())
    }
}

/// A thread copies what it reads to memory of its own, from there a function reads byte after byte until it finds an end, and
/// as many bytes are written elsewhere: how many depends on what was read first.
#[test]
fn bytes_of_its_own_that_a_thread_reads_in_turn_decide_what_it_does_next() {
    let thread = |number| Slot::new(kind::SWITCH, 0, 0, number, 0);
    let access = |class: u8, detail, code, at, value| Slot::new(class + 1, detail, code, at, value);
    for in_turn in [BYTES_IN_TURN, 0] {
        let slots = [
            thread(1),
            access(kind::WRITTEN, 0, 1, SHARED, 7),
            access(kind::WRITTEN, 0, 2, COPY, 1),
            thread(0),
            access(kind::READ, 0, 3, SHARED, 7),
            access(kind::WRITTEN, 0, 4, OWN, 7),
            access(kind::READ, in_turn, 5, OWN, 7),
            access(kind::WRITTEN, 0, 6, COPY, 7),
        ];
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("raw");
        write_raw(&path, &slots).unwrap();
        let mut kinds = Kinds::default();
        let recording = Recording::survey(&path, "", false).unwrap().tells_branches();
        let steps: Option<&mut dyn io::Write> = None;
        recording.write_with_steps(&mut kinds, steps).unwrap();
        let mut expected = vec![(1, Kind::Write), (1, Kind::Write), (0, Kind::Read), (0, Kind::Write)];
        if in_turn != 0 {
            expected.insert(3, (0, Kind::Branch));
        }
        assert_eq!(kinds.0, expected);
    }
}

/// A compare-exchange that failed may fail at another value: what it found decides what the thread does next. One that says that it
/// expected what it found never does.
#[test]
fn what_an_attempt_found_that_failed_by_its_value_decides_what_comes_next() {
    let thread = |number| Slot::new(kind::SWITCH, 0, 0, number, 0);
    let access = |class: u8, code, at, value| Slot::new(class + 1, 0, code, at, value);
    for expected in [1, 7] {
        let slots = [
            thread(1),
            access(kind::ATOMIC_WRITE, 1, SHARED, 7),
            access(kind::WRITTEN, 2, COPY, 1),
            thread(0),
            access(kind::FAILED, 3, SHARED, 7),
            Slot::new(kind::MORE, 0, 0, 0, expected),
            Slot::operation(Op::Branch, 4, 0, 0),
            Slot::operation(Op::Branch, 5, 0, 0),
            access(kind::WRITTEN, 6, COPY, 7),
        ];
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("raw");
        write_raw(&path, &slots).unwrap();
        let mut kinds = Kinds::default();
        let recording = Recording::survey(&path, "", false).unwrap().tells_branches();
        let steps: Option<&mut dyn io::Write> = None;
        recording.write_with_steps(&mut kinds, steps).unwrap();
        let mut wanted =
            vec![(1, Kind::AtomicWrite), (1, Kind::Write), (0, Kind::FailedAttempt), (0, Kind::Write)];
        if expected != 7 {
            wanted.insert(3, (0, Kind::Branch));
        }
        assert_eq!(kinds.0, wanted);
    }
}
