//! Correct programs, whatever they synchronise with: nothing is found in them in any model, with any front.

use std::env;
use std::process::Stdio;

use crate::common::{CLANG_22, Compiler, compile, compilers, reweave};

/// Programs, what they are compiled with, and what they print.
const PROGRAMS: &[(&str, &[&str], &str)] = &[
    ("correct/large.c", &[], "200000 1"),
    ("correct/closes.c", &[], ""),
    ("accesses.c", &[], "ok"),
    ("channels.c", &[], "ok"),
    ("condition.c", &[], "ok"),
    ("meet.c", &[], "ok"),
    ("mutex.c", &[], "ok"),
    ("pipe.c", &[], "ok"),
    ("rwlock.c", &[], "ok"),
    ("threads.c", &[], "ok"),
    ("barrier.c", &[], "met"),
    ("once.c", &[], "once"),
    ("robust.c", &[], "robust"),
    ("conditional.c", &[], "1"),
];
/// The patterns of `patterns.c`.
const PATTERNS: u32 = 14;
/// The kinds of `kinds.c`.
const KINDS: u32 = 15;
pub(crate) const MODELS: [&str; 4] = ["rf", "value", "branch", "branch+value"];

/// How many seeds are asked for.
pub(crate) fn asked() -> Option<u32> {
    env::var("REWEAVE_SEEDS").ok().and_then(|seeds| seeds.parse().ok())
}

/// The first seed, and after that as many as are asked for.
fn seeds() -> std::ops::RangeInclusive<u32> {
    1..=asked().unwrap_or(2)
}

/// gcc with the hooks of ThreadSanitizer, and clang 22 with the plugin.
pub(crate) fn fronts() -> Vec<Compiler> {
    compilers().into_iter().filter(|compiler| compiler.c != "clang").collect()
}

/// Records a program under several seeds, and demands that it ends as it should and nothing is found.
#[track_caller]
fn is_clean(name: &str, flags: &[&str], expected: &str) {
    for compiler in fronts() {
        let flags: Vec<&str> = ["-O1", "-w"].iter().chain(flags).copied().collect();
        let program = compile(compiler, name, &flags);
        let trace = program.folder.path().join("trace.rw");
        for seed in seeds() {
            let what = format!("{compiler:?} {name} {flags:?} seed {seed}");
            let mut record = reweave();
            record.current_dir(program.folder.path());
            record.args(["record", "--quiet", "--timeout", "60s", "--seed", &seed.to_string(), "-o"]);
            let ran = record.arg(&trace).arg("--").arg(&program.path).stdin(Stdio::null()).output().unwrap();
            let said = String::from_utf8_lossy(&ran.stderr);
            assert_eq!(ran.status.code(), Some(0), "{what}: {said}");
            assert_eq!(String::from_utf8_lossy(&ran.stdout).trim(), expected, "{what}: {said}");
            let branches = compiler.c == CLANG_22.c;
            for model in MODELS.into_iter().filter(|model| branches || !model.contains("branch")) {
                let mut predict = reweave();
                predict.args([
                    "predict",
                    "--quiet",
                    "--kinds",
                    "race,deadlock,uaf,order",
                    "--tries",
                    "100000",
                ]);
                let found = predict.args(["--model", model]).arg(&trace).output().unwrap();
                let said = String::from_utf8_lossy(&found.stdout);
                assert_eq!(found.status.code(), Some(0), "{what} {model}: {said}");
            }
        }
    }
}

/// Each function that sends something through a descriptor or stream, or takes something from one, has a trial in `taken.c`.
#[test]
fn what_is_taken_comes_after_it_was_sent() {
    is_clean("taken.c", &[], "0");
}

/// Threads that libc makes by itself are recorded where it is told what they run; where it is not, nobody takes it for a deadlock that
/// all others wait for them.
#[test]
fn threads_of_libc_may_do_what_others_wait_for() {
    is_clean("correct/timers.c", &[], "13");
    is_clean("correct/stranger.c", &[], "1");
}

/// `flock`, locks of open files, files that are made by one alone, and `lockf`.
#[test]
fn locks_on_files_are_locks() {
    for how in ["-DHOW=1", "-DHOW=2", "-DHOW=3", "-DHOW=4"] {
        is_clean("correct/files.c", &[how], "12");
    }
}

#[test]
fn patterns_of_synchronisation_are_understood() {
    for pattern in 1..=PATTERNS {
        is_clean("correct/patterns.c", &[&format!("-DK={pattern}")], "6");
    }
}

/// Steps that are easily taken for less than they are.
#[test]
fn what_a_step_came_to_keeps_others_out() {
    for kind in 1..=KINDS {
        is_clean("correct/kinds.c", &[&format!("-DKIND={kind}")], "ended");
    }
}

#[test]
fn nothing_is_found_in_correct_programs() {
    PROGRAMS.iter().for_each(|(name, flags, expected)| is_clean(name, flags, expected));
}
