//! Accesses that were announced by a thread which failed before it made them.

use crate::common::{compile, compilers};

/// The hook of a store may stand before the division whose quotient is stored.
#[test]
fn what_a_thread_was_about_to_write_when_it_failed_is_not_written() {
    for compiler in compilers() {
        for level in ["-O0", "-O1", "-O2"] {
            let program = compile(compiler, "divides.c", &[level]);
            let recorded = program.record::<&str>(&[], &[]);
            assert_ne!(recorded.code, Some(0));
            let lines = recorded.events();
            let writes = |name: &str| {
                lines.iter().any(|line| line.thread == "T1" && line.op == "w" && line.target == name)
            };
            assert!(writes("global before"), "{compiler:?} {level}");
            assert!(!writes("global quotient"), "{compiler:?} {level}");
        }
    }
}
