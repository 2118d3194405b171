//! Each verdict, on programs of a few lines, and what must not change it.

use std::path::{Path, PathBuf};

use crate::common::{Pair, compile, has_plugin, ran, reweave};

/// A cache whose reader looks twice; `{…}` are filled in.
pub(crate) fn cache(read: &str, evict: &str, above: &str, reader: &str) -> String {
    format!(
        "#include <pthread.h>\n#include <stdlib.h>\n{above}\n\
         pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER, other = PTHREAD_MUTEX_INITIALIZER;\n\
         int current = 1, gone, argument;\n\
         static void *{reader}(void *unused) {{\n{read}\n    return unused;\n}}\n\
         static void *evict(void *unused) {{\n{evict}\n    return unused;\n}}\n\
         int main(int argc, char **argv) {{\n\
         \x20   pthread_t a, b;\n    argument = argc > 1;\n\
         \x20   pthread_create(&a, NULL, {reader}, NULL);\n    pthread_create(&b, NULL, evict, NULL);\n\
         \x20   pthread_join(a, NULL);\n    pthread_join(b, NULL);\n    (void)argv;\n    return gone;\n}}\n"
    )
}

const AGAIN: &str = "    __asm__ volatile(\"\" ::: \"memory\");\n";
pub(crate) const LOCK: &str = "    pthread_mutex_lock(&lock);\n";
pub(crate) const UNLOCK: &str = "    pthread_mutex_unlock(&lock);\n";

pub(crate) fn looks_twice(first: &str, between: &str, last: &str) -> String {
    format!(
        "{first}    int seen = current;\n{between}{AGAIN}    if (seen != current)\n        gone = 1;\n{last}"
    )
}

pub(crate) fn bare() -> String {
    cache(&looks_twice("", "", ""), "    current = 0;\n", "", "reader")
}

pub(crate) fn fixed(above: &str, reader: &str) -> String {
    cache(&looks_twice(LOCK, "", UNLOCK), &format!("{LOCK}    current = 0;\n{UNLOCK}"), above, reader)
}

/// The first look is outside of the section.
pub(crate) fn half(above: &str, reader: &str) -> String {
    cache(&looks_twice("", LOCK, UNLOCK), &format!("{LOCK}    current = 0;\n{UNLOCK}"), above, reader)
}

#[test]
fn the_verdict_is_the_exit_code_and_nothing_is_left() {
    if !has_plugin() {
        return;
    }
    let enough = Pair::of_texts(&bare(), &fixed("", "reader"));
    let said = enough.verify(&[]);
    assert_eq!(said.code, Some(0), "{}{}", said.out, said.err);
    assert!(said.out.starts_with("SUFFICIENT, as far as was seen: data race on global current is gone\n"));
    assert!(said.out.contains("its events are all under global lock"), "{}", said.out);
    assert!(said.out.contains("looked at: "), "{}", said.out);
    let mut left: Vec<String> = std::fs::read_dir(enough.folder.path())
        .expect("the folder")
        .map(|entry| entry.expect("an entry").file_name().to_string_lossy().into_owned())
        .collect();
    left.sort();
    assert_eq!(left, ["new", "new-sources", "old", "old-sources"]);
    let said = Pair::of_texts(&fixed("", "reader"), &fixed("", "reader")).verify(&[]);
    assert_eq!(said.code, Some(2), "{}{}", said.out, said.err);
    assert!(said.out.starts_with("NOT SHOWN: "), "{}", said.out);
}

#[test]
fn lines_above_another_name_and_another_level_of_optimisation_change_nothing() {
    if !has_plugin() {
        return;
    }
    let above = "// A line.\n".repeat(40);
    for (name, after, expected) in
        [("half", half(&above, "lookup"), "insufficient"), ("fixed", fixed(&above, "lookup"), "sufficient")]
    {
        let pair = Pair::of_texts(&bare(), &after);
        let first = pair.document(&[]);
        assert_eq!(first["verdict"], expected, "{name}: {first:#}");
        assert_eq!(first, pair.document(&[]), "{name}: the same command has the same answer");
        let sources = pair.folder.path().join("new-sources/cache.c");
        compile(&sources, &["-O2"], &pair.folder.path().join("new"));
        let said = pair.document(&[]);
        assert_eq!(said["verdict"], expected, "{name} with -O2: {said:#}");
    }
}

#[test]
fn code_that_did_not_run_is_undecided() {
    if !has_plugin() {
        return;
    }
    let only_sometimes = "    if (argument)\n        pthread_mutex_lock(&lock);\n";
    let back = "    if (argument)\n        pthread_mutex_unlock(&lock);\n";
    // The bug is gone, since nobody writes any more; what the fix locks was not tried.
    let after = cache(
        &looks_twice(only_sometimes, "", back),
        "    if (argument)\n        current = 0;\n",
        "",
        "reader",
    );
    let said = Pair::of_texts(&bare(), &after).verify(&[]);
    assert_eq!(said.code, Some(3), "{}{}", said.out, said.err);
    assert!(said.out.contains("did not run") || said.out.contains("was not reached"), "{}", said.out);
}

#[test]
fn a_fix_that_can_deadlock_brings_a_new_bug() {
    if !has_plugin() {
        return;
    }
    let (other, leave) = ("    pthread_mutex_lock(&other);\n", "    pthread_mutex_unlock(&other);\n");
    let read = looks_twice(&format!("{LOCK}{other}"), "", &format!("{leave}{UNLOCK}"));
    let after = cache(&read, &format!("{other}{LOCK}    current = 0;\n{UNLOCK}{leave}"), "", "reader");
    let pair = Pair::of_texts(&bare(), &after);
    let said = pair.verify(&[]);
    assert_eq!(said.code, Some(1), "{}{}", said.out, said.err);
    assert!(
        said.out.starts_with("BRINGS A NEW BUG: deadlock on global lock, global other\n"),
        "{}",
        said.out
    );
}

/// Twins in which a schedule of the old program comes far: what it claims must be seen there, not taken for granted.
#[test]
fn twins_that_only_change_an_order_are_sufficient() {
    if !has_plugin() {
        return;
    }
    let folder: PathBuf = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../examples/bugs");
    for name in ["never_unlocked.c", "posted_too_early.c", "publish_too_early.cpp", "use_after_free_racy.c"] {
        let pair = Pair::of_flags(&folder.join(name), &[], &["-DFIXED"]);
        let said = pair.document(&[]);
        assert_eq!(said["verdict"], "sufficient", "{name}: {said:#}");
    }
}

#[test]
fn what_is_no_program_of_ours_is_refused() {
    let said = ran(reweave().args(["verify", "--before", "/bin/true", "--after", "/bin/true"]));
    assert_eq!(said.code, Some(2));
    assert!(said.err.contains("was not compiled to be recorded"), "{}", said.err);
    let said = ran(reweave().args(["verify", "--before", "/none", "--after", "/none"]));
    assert!(said.code == Some(2) && said.err.contains("there is no such program"), "{}", said.err);
}
