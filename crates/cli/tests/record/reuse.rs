//! Memory that is freed and allocated again: equal addresses are not the same value.

use crate::common::{Compiler, compile, compilers, nothing_is_found, reweave};

/// Correct programs that replace what a pointer points to; with and without freed memory being kept.
#[test]
fn a_block_at_the_same_address_is_another_block() {
    let mut programs: Vec<(&str, String)> =
        (0..8).map(|kind| ("reuse.c", format!("-DKIND={kind}"))).collect();
    programs.push(("reuse.cpp", "-DKIND=0".to_owned()));
    for compiler in fronts() {
        for (name, kind) in &programs {
            let program = compile(compiler, name, &["-O1", kind]);
            for (kept, expected) in [("0", "again"), ("16", "new")] {
                for seed in ["0", "1", "2"] {
                    let recorded = program.record_with(&[("REWEAVE_KEEP_FREED", kept)], &["--seed", seed]);
                    assert_eq!(recorded.code, Some(0), "{}", recorded.err);
                    // Whether the last one to come sees an address again depends on the order, but not where none comes twice.
                    assert!(
                        recorded.out.trim() == expected || kept == "0",
                        "{name} {kind}: {}",
                        recorded.out
                    );
                    nothing_is_found(
                        &recorded,
                        &format!("{compiler:?} {name} {kind} kept {kept} seed {seed}"),
                    );
                }
            }
        }
    }
}

/// gcc with the hooks of ThreadSanitizer, and clang 22 with the plugin.
fn fronts() -> Vec<Compiler> {
    compilers().into_iter().filter(|compiler| compiler.c != "clang").collect()
}

/// libc says that a block is freed twice, as it does without the recorder.
#[test]
fn a_block_that_is_freed_twice_ends_the_program() {
    let folder = tempfile::tempdir().unwrap();
    let source = folder.path().join("twice.c");
    std::fs::write(
        &source,
        "#include <stdlib.h>\nint main(int n, char **a) { (void)a; void *p = malloc(n * 100); free(p); free(p); return 0; }\n",
    )
    .unwrap();
    let program = folder.path().join("twice");
    let ran = reweave().args(["cc", "-O0", "-w"]).arg(&source).arg("-o").arg(&program).output().unwrap();
    assert!(ran.status.success(), "{}", String::from_utf8_lossy(&ran.stderr));
    let trace = folder.path().join("trace.rw");
    let ran = reweave()
        .args(["record", "-o"])
        .arg(&trace)
        .args(["--", program.to_str().unwrap()])
        .output()
        .unwrap();
    let said = String::from_utf8_lossy(&ran.stderr);
    assert!(said.contains("double free"), "{said}");
}
