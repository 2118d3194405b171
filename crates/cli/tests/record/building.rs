//! `reweave cc` as a compiler.

use std::fs;
use std::path::Path;
use std::process::Command;

use crate::common::{compile, compilers, count, reweave, source};

#[track_caller]
fn cc(folder: &Path, arguments: &[&str]) -> String {
    let ran = reweave().current_dir(folder).arg("cc").args(arguments).output().unwrap();
    assert!(ran.status.success(), "{arguments:?}: {}", String::from_utf8_lossy(&ran.stderr));
    assert_eq!(String::from_utf8_lossy(&ran.stderr), "", "{arguments:?}");
    String::from_utf8_lossy(&ran.stdout).into_owned()
}

#[test]
fn everything_that_compilers_do_works_as_before() {
    let folder = tempfile::tempdir().unwrap();
    let at = folder.path();
    let answer = "int answer(void) { static int n; n++; return 41 + n; }\n";
    fs::write(at.join("a.c"), answer).unwrap();
    fs::write(at.join("b.c"), "#include <stdio.h>\nint answer(void);\nint main(void) { return printf(\"%d\\n\", answer()) != 3; }\n")
        .unwrap();
    assert!(cc(at, &["-E", "b.c"]).contains("int answer(void);"));
    assert!(cc(at, &["-M", "b.c"]).starts_with("b.o: b.c"));
    assert!(cc(at, &["--version"]).contains("gcc") || cc(at, &["--version"]).contains("clang"));
    assert!(!cc(at, &["-dumpmachine"]).is_empty());
    cc(at, &["-c", "a.c", "-o", "a.o", "-MD", "-MF", "a.d"]);
    assert!(at.join("a.d").exists());
    cc(at, &["-S", "a.c", "-o", "a.s"]);
    // The macros that we add are no concern of whoever wants an old language to the letter.
    cc(at, &["-std=c89", "-pedantic-errors", "-Wall", "-Wextra", "-Werror", "-c", "a.c"]);
    cc(at, &["-c", "a.c", "b.c"]);
    cc(at, &["a.o", "b.o", "-o", "objects"]);
    cc(at, &["a.c", "b.c", "-O2", "-o", "sources"]);
    cc(at, &["-x", "c", "a.c", "b.c", "-o", "language"]);
    fs::write(at.join("arguments"), "a.c 'b.c' -o response").unwrap();
    cc(at, &["@arguments"]);
    cc(at, &["-shared", "-fPIC", "a.c", "-o", "liba.so"]);
    cc(at, &["b.c", "-L.", "-la", "-Wl,-rpath,.", "-o", "linked"]);
    for program in ["objects", "sources", "language", "response", "linked"] {
        let ran = Command::new(at.join(program)).current_dir(at).output().unwrap();
        assert_eq!(
            (ran.status.code(), &*ran.stdout),
            (Some(0), &b"42\n"[..]),
            "{program} without being recorded"
        );
        let ran =
            reweave().current_dir(at).args(["record", "-q", "--", &format!("./{program}")]).output().unwrap();
        assert_eq!((ran.status.code(), &*ran.stdout), (Some(0), &b"42\n"[..]), "{program}");
    }
}

#[test]
fn errors_are_the_compilers() {
    let folder = tempfile::tempdir().unwrap();
    fs::write(folder.path().join("a.c"), "int main(void) { return wrong; }\n").unwrap();
    let ran = reweave().current_dir(folder.path()).args(["cc", "a.c"]).output().unwrap();
    assert_eq!(ran.status.code(), Some(1));
    assert!(String::from_utf8_lossy(&ran.stderr).contains("a.c:1:"));
    let ran = reweave().current_dir(folder.path()).args(["cc", "-static", "a.c"]).output().unwrap();
    assert_eq!(ran.status.code(), Some(2));
    assert!(String::from_utf8_lossy(&ran.stderr).contains("statically"));
    let ran = reweave().env("REWEAVE_CC", "no-such-compiler").args(["cc", "a.c"]).output().unwrap();
    assert_eq!(ran.status.code(), Some(2));
}

#[test]
fn a_library_that_is_loaded_later_is_recorded_too() {
    for compiler in compilers() {
        let program = compile(compiler, "loads.c", &["-O1"]);
        let library = program.folder.path().join("library.so");
        let flags = ["-shared", "-fPIC", "-O1", "-o"];
        let ran = reweave()
            .env("REWEAVE_CC", compiler.c)
            .arg("cc")
            .args(flags)
            .args([&library, &source("library.c")])
            .output()
            .unwrap();
        assert!(ran.status.success());
        let recorded = program.record(&[], &[&library]);
        assert_eq!((recorded.code, recorded.out.as_str()), (Some(0), "ok\n"), "{}", recorded.err);
        let lines = recorded.events();
        let writes = lines.iter().filter(|line| line.op == "w" && line.target == "global in_library").count();
        assert_eq!((writes, count(&lines, "acq")), (20, 20));
        assert!(lines.iter().any(|line| line.site.starts_with("add ") && line.site.contains("library.c:")));
    }
}

#[test]
fn a_library_that_tells_nothing_is_named_after_the_run() {
    let program = compile(crate::common::GCC, "loads.c", &["-O1"]);
    let library = program.folder.path().join("library.so");
    let ran = std::process::Command::new("gcc")
        .args(["-shared", "-fPIC", "-O1", "-o"])
        .args([&library, &source("library.c")])
        .output()
        .unwrap();
    assert!(ran.status.success());
    let recorded = program.record(&[], &[&library]);
    assert_eq!((recorded.code, recorded.out.as_str()), (Some(0), "ok\n"), "{}", recorded.err);
    let said = "library.so was not compiled with `reweave cc`: how it synchronises was seen (40 calls)";
    assert!(recorded.err.contains(said), "{}", recorded.err);
    // Its locks are in the trace, at the function that its symbols name; what it touches is not.
    let lines = recorded.events();
    assert_eq!(count(&lines, "acq"), 20);
    assert!(lines.iter().all(|line| line.target != "global in_library" || line.op == "r"));
    assert!(lines.iter().any(|line| line.op == "acq" && line.site.starts_with("add [library.so]")));
}

#[test]
fn a_program_that_was_not_compiled_for_it_is_refused_at_once() {
    let ran = reweave().args(["record", "--", "ls", "/"]).output().unwrap();
    let said = String::from_utf8_lossy(&ran.stderr).into_owned();
    assert_eq!((ran.status.code(), &*ran.stdout), (Some(2), &b""[..]));
    assert!(said.contains("was not compiled to be recorded") && said.contains("reweave cc"), "{said}");
    let ran = reweave().args(["record", "--", "./no-such-program"]).output().unwrap();
    assert_eq!(ran.status.code(), Some(2));
    assert!(String::from_utf8_lossy(&ran.stderr).contains("there is no such program"));
}

#[test]
fn a_script_may_start_a_program_that_can_be_recorded() {
    let program = compile(crate::common::GCC, "c11.c", &["-O1"]);
    let script = program.folder.path().join("script");
    let record = |text: String| {
        fs::write(&script, text).unwrap();
        let ran = Command::new("chmod").arg("+x").arg(&script).status().unwrap();
        assert!(ran.success());
        reweave()
            .args(["record", "-o"])
            .args([&program.folder.path().join("s.rw"), &script])
            .output()
            .unwrap()
    };
    let ran = record(format!("#!/bin/sh\n{}\nexit 8\n", program.path.display()));
    assert_eq!((ran.status.code(), &*ran.stdout), (Some(8), &b"ok\n"[..]));
    assert!(program.folder.path().join("s.rw").exists());
    fs::remove_file(program.folder.path().join("s.rw")).unwrap();
    let ran = record("#!/bin/sh\necho nothing\n".to_owned());
    assert_eq!(ran.status.code(), Some(2));
    assert!(String::from_utf8_lossy(&ran.stderr).contains("nothing was recorded"));
}

#[test]
fn a_program_may_be_the_interpreter_of_a_script() {
    let program = compile(crate::common::GCC, "name.c", &["-O1"]);
    let script = program.folder.path().join("script");
    fs::write(&script, format!("#!{} -x\n", program.path.display())).unwrap();
    assert!(Command::new("chmod").arg("+x").arg(&script).status().unwrap().success());
    let trace = program.folder.path().join("s.rw");
    let ran = reweave().args(["record", "-q", "-o"]).args([&trace, &script]).arg("one").output().unwrap();
    let said = String::from_utf8_lossy(&ran.stdout);
    let arguments: Vec<&str> = said.lines().skip(1).collect();
    assert_eq!(arguments, [program.path.to_str().unwrap(), "-x", script.to_str().unwrap(), "one"]);
    assert!(trace.exists());
}
