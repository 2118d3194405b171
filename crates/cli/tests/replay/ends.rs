//! Errors that are the user's, and processes that must not stay.

use std::fs;
use std::path::Path;
use std::process::Command;
use std::time::{Duration, Instant};

use crate::common::{Program, fingerprint, ran, reweave};

const COUNTER: &str = r#"
#include <pthread.h>
static int counter;
static void *add(void *unused) { counter++; return unused; }
int main(void) {
    pthread_t a, b;
    pthread_create(&a, NULL, add, NULL);
    pthread_create(&b, NULL, add, NULL);
    pthread_join(a, NULL);
    pthread_join(b, NULL);
    return 0;
}
"#;

fn recorded() -> (Program, String) {
    let program = Program::of_text(COUNTER);
    assert_eq!(program.record(&[]).code, Some(0));
    let findings = program.predict("race");
    let name = fingerprint(&findings[0]).to_owned();
    (program, name)
}

#[test]
fn a_changed_program_and_a_wrong_one_are_refused() {
    let (program, name) = recorded();
    let other = Program::of_text(&COUNTER.replace("counter++", "counter += 2"));
    // Built anew, in the same place.
    fs::copy(&other.path, &program.path).unwrap();
    let changed = program.replay(&name, &[], &[]);
    assert_eq!(changed.code, Some(2));
    assert!(changed.err.contains("is not what was recorded: it was built anew since"), "{}", changed.err);
    assert!(changed.err.contains("hint: record this build"), "{}", changed.err);
    // Another program altogether.
    let moved = program.folder.path().join("another");
    fs::copy(&other.path, &moved).unwrap();
    let mut command = reweave();
    let wrong = ran(command.arg("replay").arg(&program.trace).arg(&name).arg("--").arg(&moved));
    assert_eq!(wrong.code, Some(2));
    assert!(wrong.err.contains("it is another program, or another build"), "{}", wrong.err);
    // One that cannot be replayed at all, and one that is not there.
    for (path, message) in
        [("/bin/true", "was not compiled to be recorded"), ("/nowhere/at/all", "there is no such program")]
    {
        let refused = ran(reweave().arg("replay").arg(&program.trace).arg(&name).args(["--", path]));
        assert_eq!(refused.code, Some(2));
        assert!(refused.err.contains(message), "{}", refused.err);
    }
}

#[test]
fn the_same_program_under_another_name_is_the_same() {
    let (program, name) = recorded();
    let moved = program.folder.path().join("moved");
    fs::rename(&program.path, &moved).unwrap();
    let mut command = reweave();
    let again = ran(command.arg("replay").arg(&program.trace).arg(&name).arg("--").arg(&moved));
    assert_eq!(again.code, Some(0), "{}{}", again.out, again.err);
}

#[test]
fn findings_that_are_not_there_are_refused() {
    let (program, name) = recorded();
    for (finding, message) in [
        ("0123456789", "no finding's fingerprint begins with `0123456789`"),
        ("nonsense", "`nonsense` is neither a fingerprint nor a file"),
    ] {
        let refused = program.replay(finding, &[], &[]);
        assert_eq!(refused.code, Some(2), "{}", refused.out);
        assert!(refused.err.contains(message), "{}", refused.err);
    }
    // A unique beginning is enough.
    assert_eq!(program.replay(&name[..6], &[], &[]).code, Some(0));
    // A witness file does as well, as `reweave check` takes it.
    let finding = &program.predict("race")[0];
    let witness = format!(
        r#"{{"model": "value", "witness_prefix": {}, "witness": {}, "claim": {{"coenabled": {}}}}}"#,
        finding["witness_prefix"], finding["witness"], finding["events"]
    );
    let file = program.folder.path().join("witness.json");
    fs::write(&file, witness).unwrap();
    assert_eq!(program.replay(file.to_str().unwrap(), &[], &[]).code, Some(0));
    // Without what the recorder wrote beside the trace there is no replay.
    let mut steps = program.trace.clone().into_os_string();
    steps.push(".steps");
    fs::write(&steps, b"nonsense").unwrap();
    assert_eq!(program.replay(&name, &[], &[]).code, Some(2));
    fs::remove_file(&steps).unwrap();
    let refused = program.replay(&name, &[], &[]);
    assert!(
        refused.code == Some(2) && refused.err.contains("other traces cannot be replayed"),
        "{}",
        refused.err
    );
}

#[test]
fn a_bad_schedule_is_refused_with_its_line() {
    let (program, name) = recorded();
    let file = program.folder.path().join("schedule");
    assert_eq!(program.replay(&name, &["--save", file.to_str().unwrap()], &[]).code, Some(0));
    let good = fs::read_to_string(&file).unwrap();
    let replay = |text: &str| {
        fs::write(&file, text).unwrap();
        ran(reweave().args(["replay", "--schedule"]).arg(&file).arg("--").arg(&program.path))
    };
    assert_eq!(replay(&good).code, Some(0));
    for (change, message) in [
        (good.replace("reweave schedule 1", "reweave schedule 9"), ":1: this is `reweave schedule 9`"),
        (String::new(), ":1: a schedule begins with the line"),
        (
            good.replace("shows race", "shows nothing"),
            "it shows one of race, deadlock, sequence, sleep and late",
        ),
        (good.replace("run main", "run nobody"), "there is no thread `nobody` yet"),
        (good.replace("run main to", "run main until"), "is not understood here"),
        (good.replace("same a b", "same a q"), "there is no event `q`"),
        (good.replace("shows race\n", ""), "there is no line `shows …`"),
        (good.replace("program+0x", "libother.so+0x"), "there is no module `libother.so`"),
        (good.replace("#1 @", "#0 @"), "is not a place such as"),
    ] {
        let refused = replay(&change);
        assert_eq!(refused.code, Some(2), "{message}: {}{}", refused.out, refused.err);
        assert!(refused.err.contains(message), "{message}: {}", refused.err);
    }
}

fn is_running(mark: &str) -> bool {
    let processes = fs::read_dir("/proc").unwrap().flatten();
    { processes }.any(|process| {
        fs::read(process.path().join("cmdline"))
            .is_ok_and(|line| String::from_utf8_lossy(&line).contains(mark))
    })
}

/// The program and its children, one of which has left its process group, are gone when the time is up.
#[test]
fn nothing_is_left_running_when_the_time_is_up() {
    let mark = format!("8{:07}", std::process::id());
    let program = Program::of_text(
        r#"
#include <pthread.h>
#include <stdlib.h>
#include <stdio.h>
#include <unistd.h>
static int counter;
static void *add(void *unused) { counter++; return unused; }
static void child(const char *time, int leaves) {
    if (fork() == 0) {
        if (leaves) setsid();
        execlp("sleep", "sleep", time, (char *)0);
        _exit(1);
    }
}
int main(int count, char **arguments) {
    pthread_t a, b;
    pthread_create(&a, NULL, add, NULL);
    pthread_create(&b, NULL, add, NULL);
    pthread_join(a, NULL);
    pthread_join(b, NULL);
    if (count > 1) {
        child(arguments[1], 0);
        child(arguments[1], 1);
        for (;;) pause();
    }
    return 0;
}
"#,
    );
    assert_eq!(program.record(&[]).code, Some(0));
    let name = program.predict("race")[0]["fingerprint"].as_str().unwrap().to_owned();
    let start = Instant::now();
    let ended = program.replay(&name, &["--replay-timeout", "1s", "--order", "ab"], &[&mark]);
    assert!(start.elapsed() < Duration::from_secs(30));
    assert!(ended.out.contains("its time was up"), "{}{}", ended.out, ended.err);
    // The bug had happened by then.
    assert_eq!(ended.code, Some(0), "{}", ended.out);
    assert!(!is_running(&mark), "a child is left");
    assert!(!is_running(program.path.to_str().unwrap()), "the program is left");
}

/// Whether a debugger is there, with what its script needs.
fn has(debugger: &[&str], answer: &str) -> bool {
    let output = Command::new(debugger[0]).args(&debugger[1..]).output();
    let has = output.is_ok_and(|ran| String::from_utf8_lossy(&ran.stdout).contains(answer));
    if !has {
        eprintln!("{} is not installed, or has no Python: not tested", debugger[0]);
    }
    has
}

/// What a debugger shows of a replay.
fn debugged(program: &Program, name: &str, flags: &[&str], debugger: (&str, &str)) -> String {
    let mut command = reweave();
    command.env(debugger.0, debugger.1).arg("replay").arg(&program.trace).arg(name).args(flags);
    let shown = ran(command.arg("--").arg(&program.path));
    assert!(!is_running(program.path.to_str().unwrap()), "the program is left");
    shown.out + &shown.err
}

const GDB: (&str, &str) = ("REWEAVE_GDB", "gdb -batch -nx");

/// The debuggers that are there, each with its flag and what makes it go through its commands by
/// itself.
fn debuggers() -> Vec<(&'static str, (&'static str, &'static str))> {
    let mut all = Vec::new();
    if has(&["gdb", "-batch", "-nx", "-ex", "python print('gdb' + ' can')"], "gdb can") {
        all.push(("--gdb", GDB));
    }
    let lldb = [("lldb-19", "lldb-19 -b --no-lldbinit"), ("lldb", "lldb -b --no-lldbinit")];
    let found = lldb.into_iter().find(|(name, _)| {
        has(&[name, "-b", "--no-lldbinit", "-o", "script print(lldb.SBDebugger)"], "lldb.SBDebugger'")
    });
    all.extend(found.map(|(_, command)| ("--lldb", ("REWEAVE_LLDB", command))));
    all
}

/// The same program, compiled with the plugin.
fn recorded_with_plugin() -> Option<(Program, String)> {
    if !has(&["clang-22", "--version"], "version 22") {
        return None;
    }
    let (folder, source) = (tempfile::tempdir().expect("a folder"), "program.c");
    std::fs::write(folder.path().join(source), COUNTER).expect("it is written");
    let (path, trace) = (folder.path().join("program"), folder.path().join("trace.rw"));
    let mut build = reweave();
    build.env("REWEAVE_FRONT", "plugin").current_dir(folder.path()).args(["cc", "-O1", source, "-o"]);
    let built = ran(build.arg(&path));
    assert_eq!(built.code, Some(0), "{}", built.err);
    let program = Program { folder, path, trace };
    assert_eq!(program.record(&[]).code, Some(0));
    let name = fingerprint(&program.predict("race")[0]).to_owned();
    Some((program, name))
}

/// Under the debugger, the program stops with both threads before their accesses, in the thread
/// whose access is first, and in the function that makes it.
#[test]
fn debuggers_stop_where_the_race_is() {
    let programs = [Some(recorded()), recorded_with_plugin()];
    for ((flag, debugger), (program, name)) in
        debuggers().iter().flat_map(|debugger| programs.iter().flatten().map(move |one| (debugger, one)))
    {
        for (order, first) in [("ab", 0), ("ba", 1)] {
            let shown = debugged(program, name, &[flag, "--order", order], *debugger);
            let lines: Vec<&str> = shown.lines().collect();
            let stand = lines.windows(2).filter(|pair| pair[0].contains(") stands before the "));
            let stand: Vec<_> = stand.collect();
            let [one, other] = stand[..] else { panic!("{flag}: {shown}") };
            assert!(one[0] != other[0], "{flag}: {shown}");
            for event in [one, other] {
                let site = event[1].trim();
                assert!(site.starts_with("at add ") && site.contains("program.c:"), "{flag}: {shown}");
            }
            let (thread, _) = stand[first][0].split_once(" stands").expect("a thread");
            assert!(shown.contains(&format!("now in {}:\n", thread.trim())), "{flag} {order}: {shown}");
            let (_, frame) = shown.split_once("now in").expect("a frame");
            let in_add = frame.contains(" add (") || frame.contains("`add(");
            assert!(in_add && frame.contains("program.c:"), "{flag} {order}: {shown}");
        }
    }
}

#[test]
fn debuggers_say_who_holds_what() {
    let source = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../examples/bugs/abba.c");
    let source = source.canonicalize().expect("the source is there");
    let text = std::fs::read_to_string(&source).expect("the source");
    let program = Program::compile(&source, &["-g"]);
    assert_eq!(program.record(&[]).code, Some(0));
    let findings = program.predict("deadlock");
    let name = findings[0]["fingerprint"].as_str().unwrap();
    for (flag, debugger) in debuggers() {
        let shown = debugged(&program, name, &[flag], debugger);
        let locks = |(_, line): &(usize, &str)| line.trim().starts_with("pthread_mutex_lock(&");
        let lines: Vec<usize> =
            text.lines().enumerate().filter(locks).map(|(number, _)| number + 1).collect();
        let at = |function: &str, line: usize| format!("{function} {}:{line}", source.display());
        let [first, second, .., third, fourth] = lines[..] else { panic!("{lines:?}") };
        let (forth, back) = (at("forth", second), at("back", fourth));
        for (thread, holds, since, wants, place) in
            [("T1", "a", at("forth", first), "b", &forth), ("T2", "b", at("back", third), "a", &back)]
        {
            let (start, holds) =
                (format!("  {thread} (thread "), format!(" here) holds {holds} since {since}"));
            let waits = format!(" here) waits for the lock {wants}, last at {place}");
            let says = |end: &str| shown.lines().any(|line| line.starts_with(&start) && line.ends_with(end));
            assert!(says(&holds) && says(&waits), "{flag}: {thread} {holds}, {waits}: {shown}");
        }
        let (_, chosen) = shown.split_once("now in T1 (thread ").unwrap_or_else(|| panic!("{flag}: {shown}"));
        assert!(chosen.contains("forth") && chosen.contains(&format!("abba.c:{second}")), "{flag}: {shown}");
    }
}

/// A program that does not come to the bug is not said to have stopped at it.
#[test]
fn a_debugger_that_does_not_get_there_says_so() {
    if !has(&["gdb", "-batch", "-nx", "-ex", "python print('gdb' + ' can')"], "gdb can") {
        return;
    }
    let source = COUNTER.replace("(void)", "(int count, char **arguments)");
    let one = |text: &str, call: &str| text.replace(call, &format!("if (count == 1) {call}"));
    let program = Program::of_text(&one(&one(&source, "pthread_create(&b"), "pthread_join(b"));
    assert_eq!(program.record(&[]).code, Some(0));
    let findings = program.predict("race");
    let mut command = reweave();
    command.env(GDB.0, GDB.1).arg("replay").arg(&program.trace).arg(fingerprint(&findings[0])).arg("--gdb");
    let shown = ran(command.arg("--").arg(&program.path).arg("another"));
    let said = "the program did not come to where the bug is";
    assert!(shown.out.contains(said) && !shown.out.contains("now in"), "{}{}", shown.out, shown.err);
}
