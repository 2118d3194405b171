//! Hostile company: other users' files, programs with more rights, sandboxes, other allocators.

use std::fs::{self, Permissions};
use std::os::unix::fs::{MetadataExt, PermissionsExt};
use std::path::Path;
use std::process::Command;

use crate::common::{GCC, compile, count, reweave, source};

pub(crate) fn is_root() -> bool {
    let root = fs::metadata("/proc/self").is_ok_and(|about| about.uid() == 0);
    if !root {
        eprintln!("not root: what needs another user is not tested");
    }
    root
}

#[test]
fn a_program_may_give_up_what_it_started_with() {
    let program = compile(GCC, "places.c", &["-O1"]);
    let folder = program.folder.path();
    let library = folder.join("libbump.so");
    let ran = reweave()
        .env("REWEAVE_CC", "gcc")
        .args(["cc", "-shared", "-fPIC", "-O1"])
        .args([&source("bump.c"), Path::new("-o"), &library])
        .status()
        .unwrap();
    assert!(ran.success());
    let library = library.to_str().unwrap();
    let mut ways =
        vec![(vec![], "100"), (vec!["close"], "100"), (vec!["range"], "100"), (vec!["load", library], "104")];
    ways.push((vec!["map"], "100"));
    if is_root() {
        ways.extend([(vec!["root", folder.to_str().unwrap()], "100"), (vec!["rights"], "100")]);
    }
    for (how, printed) in ways {
        let recorded = program.record(&[], &how);
        assert_eq!((recorded.code, recorded.out.trim()), (Some(0), printed), "{how:?}: {}", recorded.err);
        let lines = recorded.events();
        let written = lines.iter().filter(|line| line.op == "w" && line.target == "global shared").count();
        assert_eq!(written.to_string(), printed, "{how:?}");
        assert_eq!(count(&lines, "join"), 2, "{how:?}");
    }
}

#[test]
fn static_programs_are_refused_with_a_sentence() {
    let folder = tempfile::tempdir().unwrap();
    for flag in ["-static", "-static-pie"] {
        let ran = reweave()
            .args(["cc", flag])
            .args([&source("places.c"), Path::new("-o"), &folder.path().join("program")])
            .output()
            .unwrap();
        let err = String::from_utf8_lossy(&ran.stderr).into_owned();
        assert_eq!(ran.status.code(), Some(2), "{flag}: {err}");
        assert!(err.contains("linked statically cannot be recorded"), "{flag}: {err}");
    }
}

/// The program goes on in another process, and so does its recording.
#[test]
fn a_program_that_goes_into_the_background_is_recorded_on() {
    let program = compile(GCC, "background.c", &["-O1"]);
    for (flags, how) in [(&[][..], "daemon"), (&["--follow-child"][..], "fork")] {
        let recorded = program.record(flags, &[how]);
        let (code, out) = (recorded.code, recorded.out.as_str());
        assert_eq!((code, out), (Some(7), "done\n"), "{how}: {}", recorded.err);
        assert!(recorded.err.contains("went on in a child"), "{how}: {}", recorded.err);
        let lines = recorded.events();
        assert_eq!(count(&lines, "join"), 2, "{how}");
        assert_eq!(lines.iter().filter(|line| line.op == "w").count(), 2, "{how}");
    }
    // Else the first process is the program.
    let recorded = program.record(&[], &["fork"]);
    assert_eq!(recorded.code, Some(0), "{}", recorded.err);
    assert_eq!(count(&recorded.events(), "join"), 0);
}

/// What is forbidden is said, with the call's number; the recording ends there.
#[test]
fn a_sandbox_that_forbids_a_call_is_heard_of() {
    let program = compile(GCC, "sandbox.c", &["-O1"]);
    let allowed = program.record(&[], &["errno"]);
    assert_eq!((allowed.code, allowed.out.as_str()), (Some(0), "2\n"), "{}", allowed.err);
    assert_eq!(count(&allowed.events(), "join"), 2);
    let trapped = program.record(&[], &["trap"]);
    assert_eq!(trapped.code, Some(159), "{}", trapped.err);
    assert!(trapped.err.contains("(seccomp) forbids system call 203"), "{}", trapped.err);
    assert!(count(&trapped.events(), "begin") > 0);
    let killed = program.record(&[], &["kill"]);
    assert_eq!(killed.code, Some(159), "{}", killed.err);
    assert!(killed.err.contains("its last events may be missing"), "{}", killed.err);
    // The same program as any compiler makes it, which then executes the other.
    let plain = program.folder.path().join("plain");
    let ran = Command::new("gcc").args([&source("sandbox.c"), Path::new("-o"), &plain]).status().unwrap();
    assert!(ran.success());
    // From the start on: `open` and `personality` are among the first calls of the recorder.
    for (answer, number, said) in [
        ("errno", "2", "not recorded: open of a file beside the recording failed with error 1"),
        ("trap", "2", "forbids system call 2,"),
        ("trap", "135", "forbids system call 135,"),
    ] {
        let script = program.folder.path().join("script");
        let text = format!("#!/bin/sh\n{} {answer} {number} {}\n", plain.display(), program.path.display());
        fs::write(&script, text).unwrap();
        fs::set_permissions(&script, Permissions::from_mode(0o755)).unwrap();
        let ran = reweave()
            .args(["record", "-o"])
            .arg(program.folder.path().join("trace.rw"))
            .arg("--")
            .arg(&script)
            .output()
            .unwrap();
        let err = String::from_utf8_lossy(&ran.stderr).into_owned();
        assert!(err.contains(said), "{answer} {number}: {err}");
    }
}

/// How such an allocator passes memory on is not seen: what threads do with it would look like races.
#[test]
fn allocators_from_archives_are_refused_and_those_that_are_compiled_along_are_not() {
    let folder = tempfile::tempdir().unwrap();
    let trace = folder.path().join("trace.rw");
    let record = |name: &Path| {
        let mut command = reweave();
        let ran = command.args(["record", "-o"]).args([&trace, Path::new("--"), name]).output().unwrap();
        let text = |bytes: Vec<u8>| String::from_utf8_lossy(&bytes).into_owned();
        (ran.status.code(), text(ran.stdout), text(ran.stderr))
    };
    for name in ["jemalloc", "tcmalloc_minimal", "mimalloc"] {
        let archive = format!("/usr/lib/x86_64-linux-gnu/lib{name}.a");
        if !Path::new(&archive).exists() {
            eprintln!("{archive} is not installed: it is not tested");
            continue;
        }
        let program = folder.path().join(name);
        let ran = reweave()
            .env("REWEAVE_CC", "gcc")
            .args(["cc", "-O1"])
            .args([&source("allocators.c"), Path::new("-o"), &program, Path::new(&archive)])
            .args(["-lstdc++", "-lm", "-ldl"])
            .status()
            .unwrap();
        assert!(ran.success());
        let (code, out, err) = record(&program);
        assert_eq!((code, out.as_str()), (Some(2), "ok\n"), "{name}: {err}");
        assert!(err.contains("an allocator linked in that was not compiled to be recorded"), "{name}: {err}");
    }
    let program = compile(GCC, "own_allocator.c", &["-O1"]);
    let (code, out, err) = record(&program.path);
    assert_eq!((code, out.as_str()), (Some(0), "ok\n"), "{err}");
}

/// Blocks are libc's or the other allocator's, and each function that is given one knows it.
#[test]
fn other_allocators_may_be_loaded_or_linked() {
    for name in ["jemalloc", "tcmalloc", "mimalloc"] {
        let library = [".so.2", ".so.4"]
            .map(|ending| format!("/usr/lib/x86_64-linux-gnu/lib{name}{ending}"))
            .into_iter()
            .find(|path| Path::new(path).exists());
        let Some(library) = library else {
            eprintln!("{name} is not installed: it is not tested");
            continue;
        };
        let check = |program: &Path, trace: &Path, preload: Option<&str>, policy: &str| {
            let mut command = reweave();
            if let Some(library) = preload {
                command.env("LD_PRELOAD", library);
            }
            let ran = command
                .args(["record", "--timeout", "60s", "--policy", policy, "-o"])
                .args([trace, Path::new("--"), program])
                .output()
                .unwrap();
            let said = String::from_utf8_lossy(&ran.stderr).into_owned();
            assert_eq!(String::from_utf8_lossy(&ran.stdout), "ok\n", "{name} {preload:?} {policy}: {said}");
            let ran = reweave().args(["predict", "--kinds", "race,uaf"]).arg(trace).output().unwrap();
            assert_eq!(ran.status.code(), Some(0), "{name}: {}", String::from_utf8_lossy(&ran.stdout));
        };
        let program = compile(GCC, "allocators.c", &["-O1"]);
        let trace = program.folder.path().join("trace.rw");
        for policy in ["random", "free"] {
            check(&program.path, &trace, Some(&library), policy);
        }
        let linked = program.folder.path().join("linked");
        let flag = format!("-l:{}", Path::new(&library).file_name().unwrap().display());
        let ran = reweave()
            .env("REWEAVE_CC", "gcc")
            .args(["cc", "-O1"])
            .args([&source("allocators.c"), Path::new(&flag), Path::new("-o"), &linked])
            .status()
            .unwrap();
        assert!(ran.success());
        check(&linked, &trace, None, "random");
    }
}

/// What compilers load comes from a folder of the user's own, and is what it should be.
#[test]
fn a_cache_of_another_user_or_a_damaged_one_is_not_used() {
    let folder = tempfile::tempdir().unwrap();
    let cache = folder.path().join("cache");
    let build = || {
        reweave()
            .env("XDG_CACHE_HOME", &cache)
            .env("TMPDIR", "/dev/null")
            .env("REWEAVE_CC", "gcc")
            .args(["cc", "-O1"])
            .args([&source("places.c"), Path::new("-o"), &folder.path().join("program")])
            .output()
            .unwrap()
    };
    assert!(build().status.success());
    let files = fs::read_dir(&cache).unwrap().next().unwrap().unwrap().path();
    assert_eq!(fs::metadata(&files).unwrap().mode() & 0o777, 0o700);
    let library = files.join("libreweave_runtime.a");
    let good = fs::read(&library).unwrap();
    // The same size, another content.
    let mut bad = good.clone();
    let middle = bad.len() / 2;
    bad[middle] ^= 1;
    fs::write(&library, &bad).unwrap();
    assert!(build().status.success());
    assert!(fs::read(&library).unwrap() == good, "it is made anew");
    // Somebody else may write to it.
    fs::set_permissions(&files, Permissions::from_mode(0o777)).unwrap();
    let ran = build();
    let said = String::from_utf8_lossy(&ran.stderr).into_owned();
    assert_eq!(ran.status.code(), Some(2), "{said}");
    assert!(said.contains("others may write to it") || said.contains("cannot be stored"), "{said}");
}

/// Somebody else's files, named as ours are, keep nobody waiting; what we write is for its owner alone.
#[test]
fn files_are_private_and_a_pipe_named_like_a_ring_blocks_nobody() {
    let pipe = format!("/dev/shm/reweave-{}-test.ring", std::process::id());
    assert!(Command::new("mkfifo").arg(&pipe).status().unwrap().success());
    let program = compile(GCC, "places.c", &["-O1"]);
    let recorded = program.record(&["--timeout", "20s"], &[""]);
    fs::remove_file(&pipe).unwrap();
    assert_eq!(recorded.code, Some(0), "{}", recorded.err);
    for path in [recorded.trace.clone(), recorded.trace.with_extension("rw.steps")] {
        assert_eq!(fs::metadata(&path).unwrap().mode() & 0o777, 0o600, "{}", path.display());
    }
}

/// Under a limit of memory, what could not be recorded is no empty trace, and no bug of ours.
#[test]
fn without_memory_recordings_end_with_a_message() {
    let program = compile(GCC, "places.c", &["-O1"]);
    let folder = program.folder.path();
    let shell = |limit: u32, line: &str| {
        let line =
            format!("ulimit -s 1024; ulimit -v {limit}; exec {} {line}", env!("CARGO_BIN_EXE_reweave"));
        Command::new("bash").args(["-c", &line]).current_dir(folder).output().unwrap()
    };
    let runs = |limit: &u32| shell(*limit, "--version").status.code() == Some(0);
    let least = (10_000..400_000).step_by(5_000).find(runs).expect("it runs with so much");
    let mut counts = [0; 2];
    for limit in (least..least + 300_000).step_by(12_500).skip(1) {
        // There is one where the program ran, but had no memory for its own threads.
        let _ = fs::remove_file(folder.join("t.rw"));
        let ran = shell(limit, "record -o t.rw -- ./program");
        let (out, said) = (String::from_utf8_lossy(&ran.stdout), String::from_utf8_lossy(&ran.stderr));
        assert!(!said.contains("this is a bug"), "{limit} kB: {said}");
        // Else the program itself had no memory for its threads.
        if ran.status.code() == Some(3) {
            counts[0] += 1;
            assert!(said.contains("emory"), "{limit} kB: {said}");
            assert!(!folder.join("t.rw").exists(), "{limit} kB: {said}");
        } else if out == "100\n" {
            counts[1] += 1;
            assert_eq!(ran.status.code(), Some(0), "{limit} kB: {said}");
            assert!(said.contains("events of 3 threads"), "{limit} kB: {said}");
            assert!(folder.join("t.rw").exists(), "{limit} kB: {said}");
        }
    }
    assert!(counts[0] > 0 && counts[1] > 0, "{counts:?}");
}

/// A program with the set-user-id bit does not write where its caller tells it to.
#[test]
fn a_program_with_more_rights_than_its_caller_is_not_recorded() {
    if !is_root() {
        return;
    }
    let program = compile(GCC, "places.c", &["-O1"]);
    let folder = program.folder.path();
    fs::set_permissions(folder, Permissions::from_mode(0o755)).unwrap();
    fs::set_permissions(&program.path, Permissions::from_mode(0o4755)).unwrap();
    let record = folder.join("owned");
    let ran = Command::new("setpriv")
        .args(["--reuid=65534", "--regid=65534", "--clear-groups"])
        .arg(&program.path)
        .env("REWEAVE_RECORD", &record)
        .env("REWEAVE_RING", &record)
        .output();
    let Ok(ran) = ran else {
        eprintln!("setpriv is not installed: nothing is tested");
        return;
    };
    assert_eq!(String::from_utf8_lossy(&ran.stdout), "100\n");
    assert!(!folder.join("owned.note").exists(), "it wrote with the rights of its owner");
    // The same program without more rights does write.
    fs::set_permissions(&program.path, Permissions::from_mode(0o755)).unwrap();
    let ran = Command::new(&program.path)
        .env("REWEAVE_RECORD", &record)
        .env("REWEAVE_RING", &record)
        .output()
        .unwrap();
    assert_eq!(String::from_utf8_lossy(&ran.stdout), "100\n");
    assert!(folder.join("owned.note").exists());
    let said = String::from_utf8_lossy(&ran.stderr).into_owned();
    assert!(said.contains("open of the memory that is shared with the recorder failed"), "{said}");
}
