//! The choice of a front, what it means for a trace, and programs of both kinds.

use std::os::unix::fs::symlink;
use std::process::Command;

use crate::common::{OLDER, Program, is_there, output, plugins, predict, reweave};

/// T2 reads what T1 published, but neither what it does next nor where depends on that.
const UNUSED: &str = "
#include <pthread.h>
pthread_mutex_t m = PTHREAD_MUTEX_INITIALIZER;
int ready, data, seen, copy;
static void *first(void *unused) {
    data = 5;
    pthread_mutex_lock(&m);
    ready = 1;
    pthread_mutex_unlock(&m);
    return unused;
}
static void *second(void *unused) {
    pthread_mutex_lock(&m);
    int r = ready;
    pthread_mutex_unlock(&m);
    seen = r;
    copy = data;
    return unused;
}
int main(void) {
    pthread_t a, b;
    pthread_create(&a, 0, first, 0);
    pthread_create(&b, 0, second, 0);
    pthread_join(a, 0);
    pthread_join(b, 0);
    return 0;
}
";

fn races(found: &serde_json::Value) -> Vec<&str> {
    let findings = found["findings"].as_array().expect("a list");
    findings.iter().filter_map(|finding| finding["target"].as_str()).collect()
}

#[test]
fn branches_give_more_findings_and_the_program_confirms_them() {
    for front in plugins() {
        branches_give_more_findings(front);
    }
}

fn branches_give_more_findings(front: &str) {
    let with = Program::new(UNUSED, "c", front, &["-O1"]);
    let run = with.record("run", &[]);
    let found = predict(&run.trace, &["--kinds", "race"]);
    assert_eq!(found["model"], "branch+value");
    assert_eq!(races(&found), ["global data"], "{found}");
    let finding = found["findings"][0]["fingerprint"].as_str().expect("a fingerprint");
    let replayed =
        reweave().arg("replay").arg(&run.trace).arg(finding).arg("--").arg(&with.path).output().unwrap();
    let said = String::from_utf8_lossy(&replayed.stdout).into_owned();
    assert!(said.contains("confirmed"), "{said}{}", String::from_utf8_lossy(&replayed.stderr));

    let without = Program::new(UNUSED, "c", "tsan", &["-O1"]);
    let found = predict(&without.record("run", &[]).trace, &["--kinds", "race"]);
    assert_eq!(found["model"], "value");
    assert_eq!(races(&found), [""; 0], "{found}");
}

/// The same, but whether the data is used depends on what was read: no race.
#[test]
fn what_depends_on_a_read_is_not_reported() {
    if !is_there() {
        return;
    }
    for use_it in
        ["if (r) copy = data;", "copy = (&data)[1 - r];", "for (int i = 0; i < r; i++) copy = data;"]
    {
        let text = UNUSED.replace("copy = data;", use_it);
        let mut builds = vec![("plugin", "-O0"), ("plugin", "-O1"), ("plugin", "-O2")];
        builds.extend(plugins().contains(&OLDER).then_some((OLDER, "-O1")));
        for (front, level) in builds {
            let program = Program::new(&text, "c", front, &[level]);
            let found = predict(&program.record("run", &[]).trace, &["--kinds", "race"]);
            assert_eq!(
                (&found["model"], races(&found)),
                (&"branch+value".into(), vec![]),
                "{use_it} {front} {level}"
            );
        }
    }
}

#[test]
fn a_trace_claims_only_what_holds_for_all_parts() {
    if !is_there() {
        return;
    }
    let folder = tempfile::tempdir().unwrap();
    let at = |name: &str| folder.path().join(name);
    std::fs::write(
        at("a.c"),
        "int shared; void other(void); int main(void) { shared++; other(); return 0; }\n",
    )
    .unwrap();
    std::fs::write(at("b.c"), "extern int shared; void other(void) { if (shared) shared++; }\n").unwrap();
    for (fronts, expected) in [
        (["plugin", "plugin"], "branches values"),
        (["plugin", "tsan"], "values"),
        (["tsan", "plugin"], "values"),
        (["tsan", "tsan"], "values"),
    ] {
        for (file, front) in ["a", "b"].iter().zip(fronts) {
            let front = format!("--reweave-front={front}");
            let (source, object) = (at(&format!("{file}.c")), at(&format!("{file}.o")));
            output(reweave().args(["cc", &front, "-O1", "-c"]).arg(source).arg("-o").arg(object));
        }
        let (program, trace) = (at("program"), at("trace.rw"));
        output(reweave().args(["cc"]).args([at("a.o"), at("b.o")]).arg("-o").arg(&program));
        let ran = reweave().args(["record", "-o"]).arg(&trace).arg("--").arg(&program).output().unwrap();
        assert!(ran.status.success());
        let said = String::from_utf8_lossy(&ran.stderr).into_owned();
        assert_eq!(said.contains("no branches"), fronts[0] != fronts[1], "{fronts:?}: {said}");
        let text = output(reweave().arg("convert").arg(&trace).args(["-", "--to", "std"]));
        assert!(text.starts_with(&format!("#! capabilities: {expected}\n")), "{fronts:?}: {text}");
        assert!(expected.contains("branches") || !text.contains("|br|"), "{fronts:?}: {text}");
    }
}

#[test]
fn the_front_can_be_chosen_and_is_said() {
    if !is_there() {
        return;
    }
    let folder = tempfile::tempdir().unwrap();
    std::fs::write(folder.path().join("a.c"), "int main(void) { return 0; }\n").unwrap();
    let run = |flags: &[&str], variables: &[(&str, &str)]| {
        let mut command = reweave();
        command.current_dir(folder.path()).arg("cc").args(flags).args(["-c", "a.c"]);
        let ran = command.envs(variables.iter().copied()).output().unwrap();
        (ran.status.code(), String::from_utf8_lossy(&ran.stderr).into_owned())
    };
    for (flags, variables, expected) in [
        (&["-v"][..], &[][..], "every branch"),
        (&["-v", "--reweave-front=tsan"], &[], "not branches"),
        (&["-v"], &[("REWEAVE_FRONT", "tsan")], "not branches"),
        (&["-v", "--reweave-front=plugin"], &[("REWEAVE_FRONT", "tsan")], "every branch"),
        (&["-v"], &[("REWEAVE_CC", "gcc")], "not branches"),
        (&["-v"], &[("REWEAVE_CC", "clang-22")], "every branch"),
    ] {
        let (code, said) = run(flags, variables);
        assert!(code == Some(0) && said.contains(expected), "{flags:?} {variables:?}: {said}");
    }
    assert_eq!(run(&[], &[]), (Some(0), String::new()), "nothing is said unasked");
    let (code, said) = run(&["--reweave-front=magic"], &[]);
    assert!(code == Some(2) && said.contains("no front `magic`"), "{said}");
    let (code, said) = run(&["--reweave-front=plugin"], &[("REWEAVE_CC", "gcc")]);
    assert!(code == Some(2) && said.contains("cannot load the plugin"), "{said}");
}

/// A folder with programs under other names, which is all that a search for programs finds.
fn folder_with(programs: &[(&str, &str)]) -> tempfile::TempDir {
    let folder = tempfile::tempdir().expect("a folder");
    for (name, of) in programs {
        let found = output(Command::new("sh").args(["-c", &format!("command -v {of}")]));
        symlink(found.trim(), folder.path().join(name)).expect("a link");
    }
    folder
}

/// What `reweave cc -v` says of its choice where only these programs are found.
fn choice(programs: &[(&str, &str)]) -> String {
    let (found, work) = (folder_with(programs), tempfile::tempdir().expect("a folder"));
    std::fs::write(work.path().join("a.c"), "int main(void) { return 0; }\n").expect("it is written");
    let mut command = reweave();
    command.current_dir(work.path()).env("PATH", found.path());
    let ran = command.args(["cc", "-v", "-S", "a.c"]).output().expect("the command starts");
    let said = String::from_utf8_lossy(&ran.stderr).into_owned();
    assert!(ran.status.success(), "{programs:?}: {said}");
    said.lines().find(|line| line.contains("instruments with")).unwrap_or(&said).to_owned()
}

#[test]
fn the_plugin_is_that_of_the_clang_in_use() {
    let all = plugins();
    let clang_of = |front: &str| if front == OLDER { "19" } else { "22" };
    for front in &all {
        let llvm = clang_of(front);
        let (named, plugin) = (format!("clang-{llvm}"), format!("plugin for LLVM {llvm};"));
        // By a name with a number, and, where that is all there is, by the plain name.
        for name in [named.as_str(), "clang"] {
            let said = choice(&[(name, &named)]);
            assert!(said.contains(&plugin), "{name} of {llvm}: {said}");
        }
        // Whoever has the compiler under another name still names it.
        let folder = folder_with(&[("our-clang", &named)]);
        std::fs::write(folder.path().join("a.c"), "int main(void) { return 0; }\n").expect("it is written");
        let mut command = reweave();
        command.current_dir(folder.path()).env("REWEAVE_CC", folder.path().join("our-clang"));
        let ran = command.args(["cc", "-v", "-S", "a.c"]).output().expect("the command starts");
        let said = String::from_utf8_lossy(&ran.stderr).into_owned();
        assert!(said.contains(&plugin), "{said}");
    }
    if all.len() == 2 {
        let said = choice(&[("clang-19", "clang-19"), ("clang-22", "clang-22")]);
        assert!(said.contains("for LLVM 22;"), "the newest is taken: {said}");
    }
}

/// A clang of a version that no plugin is for, as one that only says so.
#[test]
fn another_clang_is_used_with_the_hooks_it_has() {
    let folder = tempfile::tempdir().expect("a folder");
    let other = folder.path().join("clang-18");
    let script = "#!/bin/sh\ncase \"$1\" in --version) echo 'clang version 18.1.8' ;; esac\n";
    std::fs::write(&other, script).expect("it is written");
    output(Command::new("chmod").arg("+x").arg(&other));
    let run = |flags: &[&str]| {
        let mut command = reweave();
        let ran = command.env("REWEAVE_CC", &other).arg("cc").args(flags).args(["-v", "a.c"]).output();
        let ran = ran.expect("the command starts");
        (ran.status.code(), String::from_utf8_lossy(&ran.stderr).into_owned())
    };
    let (code, said) = run(&[]);
    assert!(code == Some(0) && said.contains("not branches, so that fewer bugs"), "{said}");
    let (code, said) = run(&["--reweave-front=plugin"]);
    assert!(code == Some(2) && said.contains("clang-18 cannot load the plugin"), "{said}");
    assert!(said.contains("clang 22 or clang 19 can"), "{said}");
}
