//! The calls that led to events of real programs, as reports tell of them.

use std::path::Path;
use std::process::Command;

use serde_json::Value;

use crate::common::{CLANG_22, Compiler, GCC, Program, compile, compilers, reweave};

/// The findings of a document about the races in a trace.
fn races(trace: &Path) -> Vec<Value> {
    let found = trace.with_extension("json");
    let ran = reweave()
        .args(["predict", "--quiet", "--kinds", "race", "--json"])
        .args([&found, trace])
        .output()
        .expect("the command starts");
    assert_eq!(ran.status.code(), Some(1), "{}", String::from_utf8_lossy(&ran.stderr));
    let document: Value = serde_json::from_slice(&std::fs::read(&found).expect("a document")).expect("JSON");
    document["findings"].as_array().expect("findings").clone()
}

fn texts(list: &Value) -> Vec<&str> {
    list.as_array().map(|list| list.iter().filter_map(Value::as_str).collect()).unwrap_or_default()
}

/// The functions on the stack of the access to `variable` that thread T1 makes in `touch` or the like: the longest one.
fn stack(findings: &[Value], variable: &str) -> Vec<String> {
    let target = format!("global {variable}");
    let on = findings.iter().filter(|finding| finding["target"] == target.as_str());
    let stacks = on.flat_map(|finding| finding["stacks"].as_array().cloned().unwrap_or_default());
    let longest = stacks.max_by_key(|stack| texts(stack).len()).unwrap_or_default();
    texts(&longest).iter().map(|frame| function(frame).to_owned()).collect()
}

/// The function of a frame; what else it was inlined into stays out of it.
fn function(frame: &str) -> &str {
    frame.split([' ', '(']).next().unwrap_or(frame)
}

fn recorded(compiler: Compiler, source: &str, flags: &[&str]) -> (Program, Vec<Value>) {
    let program = compile(compiler, source, flags);
    let recorded = program.record::<&str>(&["--seed", "3"], &[]);
    assert_eq!(recorded.code, Some(0), "{}", recorded.err);
    recorded.events();
    let findings = races(&recorded.trace);
    (program, findings)
}

#[test]
fn stacks_survive_jumps_handlers_recursion_and_calls_from_libraries() {
    let levels = |compiler| ["-O0", "-O1", "-O2"].map(|level| (compiler, level));
    for (compiler, level) in compilers().into_iter().flat_map(levels) {
        let (_program, findings) = recorded(compiler, "stacks.c", &[level]);
        for (variable, expected) in [
            ("by_calls", &["touch", "inner", "outer", "worker"][..]),
            ("after_jump", &["touch", "jumped", "worker"]),
            ("after_handler", &["touch", "interrupted", "worker"]),
        ] {
            assert_eq!(stack(&findings, variable), expected, "{compiler:?} {level} {variable}");
        }
        // What is called from code that tells nothing hides the function that called that code.
        assert_eq!(stack(&findings, "in_handler"), ["touch", "handler", "worker"], "{compiler:?} {level}");
        let called = stack(&findings, "called_back");
        assert_eq!(called[..2], ["touch", "compare"], "{compiler:?} {level}: {called:?}");
        assert!(called.len() == 4 && called[2].starts_with("libc.so") && called[3] == "worker", "{called:?}");
        // Too deep to be kept: what is told is a part, and says so.
        let deep = stack(&findings, "deep");
        // Optimised, it may be no recursion.
        let made_a_loop = level == "-O2" || level == "-O1" && compiler.c == CLANG_22.c;
        let whole = made_a_loop && deep.ends_with(&["worker".to_owned()]);
        assert!(
            deep[0] == "touch" && (whole || deep.len() == 64 && deep[2] == "recurses"),
            "{level} {deep:?}"
        );
    }
}

#[test]
fn stacks_survive_exceptions() {
    for compiler in compilers() {
        let (_program, findings) = recorded(compiler, "stacks.cpp", &["-O1"]);
        let caught = stack(&findings, "caught");
        assert_eq!(caught[..3], ["touch", "catches", "worker"], "{compiler:?} {caught:?}");
        let put = stack(&findings, "in_template");
        assert_eq!(put[..2], ["Box<int>::put", "worker"], "{compiler:?} {put:?}");
    }
}

/// The same in text and SARIF, for the thread's origin as well as for the accesses.
#[test]
fn reports_show_both_stacks_and_where_the_thread_was_created() {
    let (program, findings) = recorded(GCC, "stacks.c", &["-O1"]);
    let trace = program.folder.path().join("trace.rw");
    let ran =
        reweave().args(["predict", "--quiet", "--kinds", "race"]).arg(&trace).output().expect("it starts");
    let text = String::from_utf8_lossy(&ran.stdout);
    for expected in
        ["    #0 touch ", "    #1 inner ", "    #2 outer ", "    #3 worker ", "Thread T1 was created by main"]
    {
        assert!(text.contains(expected), "{expected}: {text}");
    }
    let origin = &findings[0]["origins"][0];
    assert_eq!((&origin["what"], &origin["by"]), (&Value::from("thread"), &Value::from("main")));
    assert!(texts(&origin["stack"])[0].starts_with("main "), "{origin}");
    let log = program.folder.path().join("log.sarif");
    reweave().args(["predict", "--quiet", "--sarif"]).args([&log, &trace]).output().expect("it starts");
    let log: Value = serde_json::from_slice(&std::fs::read(log).expect("a log")).expect("JSON");
    let stacks = log["runs"][0]["results"][0]["stacks"].as_array().expect("stacks");
    assert!(stacks.len() >= 3, "two accesses and a thread: {stacks:?}");
}

/// A trace keeps its stacks when it is copied, and a rule for any function on them silences a finding.
#[test]
fn stacks_survive_a_copy_and_suppressions_match_them() {
    let (program, findings) = recorded(GCC, "stacks.c", &["-O1"]);
    let (trace, copy) = (program.folder.path().join("trace.rw"), program.folder.path().join("copy.rw"));
    assert!(reweave().arg("convert").args([&trace, &copy]).status().expect("it starts").success());
    assert_eq!(races(&copy), findings);
    let rules = program.folder.path().join("rules");
    std::fs::write(&rules, "race:^worker \nrace:^recurses \n").expect("a file");
    let ran = reweave()
        .args(["predict", "--quiet", "--kinds", "race", "--suppressions"])
        .args([&rules, &trace])
        .output()
        .expect("it starts");
    assert_eq!(ran.status.code(), Some(0), "{}", String::from_utf8_lossy(&ran.stdout));
}

/// Names without symbols, at fixed and at other addresses, in the program and in a library.
#[test]
fn stripped_programs_and_those_at_fixed_addresses_have_names_and_stacks() {
    for compiler in compilers() {
        let (_fixed, findings) = recorded(compiler, "stacks.c", &["-O1", "-no-pie", "-fno-pie"]);
        assert_eq!(stack(&findings, "by_calls"), ["touch", "inner", "outer", "worker"], "{compiler:?}");
        let program = compile(compiler, "stacks.c", &["-O1"]);
        assert!(Command::new("strip").arg(&program.path).status().expect("strip starts").success());
        let recorded = program.record::<&str>(&["--seed", "3"], &[]);
        let findings = races(&recorded.trace);
        assert!(!findings.is_empty());
        let deepest =
            findings.iter().flat_map(|finding| finding["stacks"].as_array().cloned().unwrap_or_default());
        let deepest = deepest.map(|stack| texts(&stack).len()).max();
        assert!(deepest >= Some(4), "{deepest:?}");
        for frame in findings.iter().flat_map(|finding| texts(&finding["stacks"][0])) {
            // The plugin's table names where something happens, in a stripped program, too.
            let named = compiler.c == CLANG_22.c && frame.contains("stacks.c:");
            assert!(named || frame.starts_with("program+0x") || frame.contains('['), "{frame}");
        }
    }
}
