//! Witness files: what is read expands to no more events than a trace can have, and the checker answers.
#![no_main]

use reweave_format::{LoadOptions, load_bytes};
use reweave_report::json::Question;
use reweave_trace::ProgramOrder;
use reweave_witness::Checker;

const TRACE: &[u8] = b"T1|w(x)|1\nT1|acq(l)|2\nT1|r(x)|3\nT1|rel(l)|4\nT2|acq(l)|5\nT2|w(x)|6\nT2|rel(l)|7\n";

libfuzzer_sys::fuzz_target!(|data: &[u8]| {
    let Ok(Question { model, schedule, claim }) = Question::parse(data) else { return };
    let trace = load_bytes("input", TRACE, &LoadOptions::default()).expect("a trace").trace;
    let witness = schedule.expand(&trace);
    assert!(witness.tail.len() <= trace.len() + 1);
    let (links, order) = (reweave_spec::links(&trace), ProgramOrder::new(&trace));
    if let Err(rejection) = Checker::new(&trace, &links, &order).check(model, witness, claim) {
        assert!(!rejection.to_string().is_empty());
    }
});
