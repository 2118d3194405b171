//! Published deadlocks of threads that wait with a lock that their waker needs first: `programs/waits.c`.

use std::path::Path;

use crate::common::Program;

#[test]
fn who_waits_with_a_lock_that_its_waker_needs_is_found_and_made_to_wait_for_ever() {
    let source = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/programs/waits.c");
    for case in ["-DCASE=1", "-DCASE=2", "-DCASE=3"] {
        let program = Program::compile(&source, &[case]);
        let recorded = program.record(&[]);
        assert_eq!(
            recorded.code,
            Some(0),
            "{case}: nothing goes wrong when it is recorded: {}",
            recorded.err
        );
        let findings = program.confirm();
        let found: Vec<_> = findings.iter().filter(|finding| finding["kind"] == "deadlock").collect();
        assert_eq!(found.len(), 1, "{case}: {findings:?}");
        assert_eq!(found[0]["pattern"], "wait-cycle", "{case}: {findings:?}");
        assert_eq!(found[0]["replay"], "confirmed", "{case}: {findings:?}");
        let fixed = Program::compile(&source, &[case, "-DFIXED"]);
        assert_eq!(fixed.record(&[]).code, Some(0), "{case}");
        let findings = fixed.predict("deadlock");
        assert!(findings.is_empty(), "{case}: {findings:?}");
    }
}
