//! State outside of memory orders the threads that use it: nothing is found in programs that rely on it.

use std::io::Write;
use std::path::Path;
use std::process::Stdio;

use crate::common::{CLANG_22, Compiler, GCC, Line, compile, compilers, reweave};
use crate::correct::{MODELS, asked, fronts};

/// Variants of `outside.c` in which whoever calls first gets something that the other does not: random numbers, descriptors, names,
/// texts, directories, children, datagrams, signals, messages, event counts, input, masks, dispositions, keys of threads.
const FIRST: &[u32] = &[3, 4, 5, 6, 8, 9, 10, 11, 12, 13, 15, 17, 18, 19, 20, 27, 28, 30, 31];
/// Those in which one thread posts and another checks: environment, files, polls, directories, semaphores, signals, ends of pipes,
/// children, handlers, cancellation.
const POSTED: &[u32] = &[41, 42, 43, 44, 48, 50, 51, 54, 56, 57, 58, 61, 62, 64, 65];
/// Those of them that also have a negative check.
const NEGATIVE: &[u32] = &[41, 42, 43, 44, 48, 50, 51, 54, 57];

/// Records a variant, with `AB` as its input, and demands that nothing is found in it: in the
/// strictest and the most permissive model, or in all of them and with both fronts where
/// `REWEAVE_SEEDS` asks for more seeds.
#[track_caller]
fn nothing_is_found(compiler: Compiler, variant: u32, negative: bool, seeds: u32) {
    let compilers = if asked().is_some() { fronts() } else { vec![compiler] };
    for compiler in compilers {
        let variant_flag = format!("-DK={variant}");
        let mut flags = vec!["-O1", "-w", &variant_flag];
        if negative {
            flags.push("-DNEG");
        }
        let program = compile(compiler, "outside.c", &flags);
        let folder = program.folder.path();
        for seed in 1..=asked().unwrap_or(seeds) {
            let trace = folder.join("trace.rw");
            let mut command = reweave();
            command.args(["record", "--quiet", "--timeout", "60s", "--seed", &seed.to_string(), "-o"]);
            command.arg(&trace).arg("--").arg(&program.path).current_dir(folder);
            let mut child = command.stdin(Stdio::piped()).stdout(Stdio::null()).spawn().unwrap();
            child.stdin.take().unwrap().write_all(b"AB").unwrap();
            assert_eq!(child.wait().unwrap().code(), Some(0), "{compiler:?} K={variant} seed {seed}");
            let found = if asked().is_some() { everywhere(compiler, &trace) } else { findings(&trace) };
            assert!(found.is_empty(), "{compiler:?} K={variant} NEG={negative} seed {seed}: {found}");
        }
    }
}

/// What is found in a trace in any model that a front has the events for.
fn everywhere(compiler: Compiler, trace: &Path) -> String {
    let has = |model: &&str| compiler.c == CLANG_22.c || !model.contains("branch");
    MODELS.into_iter().filter(has).map(|model| findings_in(trace, model)).collect()
}

/// What is found in a trace in the strictest and the most permissive model.
fn findings(trace: &Path) -> String {
    ["rf", "auto"].map(|model| findings_in(trace, model)).concat()
}

fn findings_in(trace: &Path, model: &str) -> String {
    let kinds = ["--kinds", "race,uaf,deadlock,order", "--tries", "100000", "--model", model];
    let ran = reweave().args(["predict", "--quiet"]).args(kinds).arg(trace).output().unwrap();
    if ran.status.code() == Some(0) {
        return String::new();
    }
    String::from_utf8_lossy(&ran.stdout).into_owned() + &String::from_utf8_lossy(&ran.stderr)
}

/// The plugin's compiler where it is there, else gcc.
fn compiler() -> Compiler {
    compilers().into_iter().find(|compiler| compiler.c == CLANG_22.c).unwrap_or(GCC)
}

#[test]
fn what_one_thread_takes_another_does_not_get() {
    FIRST.iter().for_each(|&variant| nothing_is_found(compiler(), variant, false, 1));
}

#[test]
fn what_is_posted_outside_of_memory_is_found_there() {
    POSTED.iter().for_each(|&variant| nothing_is_found(compiler(), variant, false, 1));
    NEGATIVE.iter().for_each(|&variant| nothing_is_found(compiler(), variant, true, 1));
}

#[test]
fn the_hooks_of_thread_sanitizer_do_as_well() {
    [3, 12, 41, 56].iter().for_each(|&variant| nothing_is_found(GCC, variant, false, 2));
}

/// Each function that reads memory has a trial in `texts.c`. With the policy `plain` the thread that is made first comes first, so
/// that every trial has both orders.
#[test]
fn functions_that_read_memory_are_recorded() {
    for compiler in compilers() {
        let program = compile(compiler, "texts.c", &["-O1", "-w"]);
        let folder = program.folder.path();
        let trace = folder.join("trace.rw");
        let mut command = reweave();
        command.args(["record", "--quiet", "--timeout", "60s", "--policy", "plain", "-o"]);
        command.arg(&trace).arg("--").arg(&program.path).current_dir(folder);
        let ran = command.stdin(Stdio::null()).output().unwrap();
        assert_eq!(ran.status.code(), Some(0), "{compiler:?}: {}", String::from_utf8_lossy(&ran.stderr));
        let found = findings(&trace);
        assert!(found.is_empty(), "{compiler:?}: {found}");
    }
}

/// `stat` finds a name and what is in its file at one moment. In the recorded run the threads come one after another.
#[test]
fn what_a_call_depends_on_is_as_it_was_at_one_moment() {
    for compiler in compilers() {
        let program = compile(compiler, "several.c", &["-O1"]);
        let name = program.folder.path().join("file");
        let recorded = program.record(&["--policy", "plain"], &[&name]);
        assert_eq!((recorded.code, recorded.out.as_str()), (Some(0), "2\n"), "{}", recorded.err);
        let found = findings(&recorded.trace);
        assert!(found.is_empty(), "{compiler:?}: {found}");
        let lines = recorded.events();
        let looks = |name: &str| {
            let is_it = |line: &&Line| line.op == "af" && line.target.starts_with(name);
            lines.iter().filter(|line| line.site.starts_with("looks")).filter(is_it).count()
        };
        assert_eq!((looks("file names"), looks("file 1")), (2, 1), "{compiler:?}");
    }
}

/// Functions that look into structures, or at state without a variable, and functions on no list:
/// each has a trial in `reads.c`, with both orders.
#[test]
fn functions_that_look_into_structures_are_recorded() {
    for compiler in compilers() {
        let program = compile(compiler, "reads.c", &["-O1", "-w"]);
        let recorded = program.record(&["--policy", "plain"], &[] as &[&str]);
        assert_eq!((recorded.code, recorded.out.as_str()), (Some(0), "done\n"), "{}", recorded.err);
        let found = everywhere(compiler, &recorded.trace);
        assert!(found.is_empty(), "{compiler:?}: {found}");
    }
}

/// A function of libc that is on no list keeps its order, and is named.
#[test]
fn functions_on_no_list_are_named() {
    let program = compile(compiler(), "outside.c", &["-O1", "-w", "-DK=31"]);
    let trace = program.folder.path().join("trace.rw");
    let mut command = reweave();
    command.args(["record", "--timeout", "60s", "-o"]).arg(&trace).arg("--").arg(&program.path);
    let said = String::from_utf8(command.stdin(Stdio::null()).output().unwrap().stderr).unwrap();
    // One thread alone calls the second.
    let names = ["pthread_key_create", "pthread_key_delete"];
    assert!(
        said.contains(&format!("the program called {}, of which nobody knows", names.join(", "))),
        "{said}"
    );
    assert!(!said.contains("printf"), "{said}");
    let said = |command: &str, arguments: &[&str]| {
        let output = reweave().arg(command).arg(&trace).args(arguments).output().unwrap();
        assert!(output.status.success(), "{command}: {output:?}");
        String::from_utf8(output.stdout).unwrap()
    };
    let named = "keep their observed order: pthread_key_create and pthread_key_delete\n";
    assert!(said("predict", &[]).contains(named));
    let json: serde_json::Value = serde_json::from_str(&said("predict", &["--json", "-"])).unwrap();
    assert_eq!(json["unlisted"], serde_json::json!(names));
    assert!(said("convert", &["-", "--to", "std"]).contains("#! ended unlisted pthread_key_delete\n"));
}
