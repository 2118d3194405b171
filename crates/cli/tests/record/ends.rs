//! The ends of programs: good, bad, and by the recorder's hand.

use std::fs;
use std::path::Path;
use std::process::Command;

use crate::common::{GCC, Recorded, compile, count, reweave};

/// Nothing of the recorder's own stays beside the trace.
fn only_the_trace_stays(folder: &Path) {
    let left: Vec<_> = fs::read_dir(folder).unwrap().map(|entry| entry.unwrap().file_name()).collect();
    assert!(left.iter().all(|name| !name.to_string_lossy().contains(".recording")), "{left:?}");
}

#[test]
fn a_bad_end_is_passed_on_and_the_trace_is_there() {
    let program = compile(GCC, "crash.c", &["-O1"]);
    for (how, code) in
        [("fault", 139), ("abort", 134), ("kill", 137), ("terminate", 143), ("exit", 6), ("", 0)]
    {
        let recorded = program.record(&[], &[how]);
        assert_eq!(recorded.code, Some(code), "{how}: {}", recorded.err);
        let lines = recorded.events();
        assert_eq!(
            lines.iter().filter(|line| line.op == "w" && line.target == "global counter").count(),
            200,
            "{how}"
        );
        assert_eq!(count(&lines, "join"), 2, "{how}");
        only_the_trace_stays(program.folder.path());
    }
}

#[test]
fn a_program_that_does_not_end_is_ended_when_its_time_is_up() {
    let program = compile(GCC, "crash.c", &["-O1"]);
    for how in ["hang", "spin", "loop"] {
        let recorded = program.record(&["--timeout", "300ms"], &[how]);
        assert_eq!(recorded.code, Some(3), "{how}: {}", recorded.err);
        assert!(recorded.err.contains("the time was up"), "{}", recorded.err);
        assert_eq!(count(&recorded.events(), "join"), 2, "{how}");
    }
}

#[test]
fn a_recording_that_nobody_finished_can_be_finished() {
    let program = compile(GCC, "crash.c", &["-O0"]);
    let trace = program.folder.path().join("left.rw");
    // Both are killed from outside, in the middle of a loop that never ends.
    let mut recorder = reweave()
        .args(["record", "-o"])
        .args([&trace, Path::new("--"), &program.path, Path::new("spin")])
        .spawn()
        .unwrap();
    let raw = loop {
        let names = fs::read_dir(program.folder.path()).unwrap().map(|entry| entry.unwrap().path());
        let folder = names.into_iter().find(|path| path.to_string_lossy().contains(".recording."));
        match folder {
            Some(raw) if fs::metadata(raw.join("raw")).is_ok_and(|about| about.len() > 20_000) => break raw,
            _ => std::thread::yield_now(),
        }
    };
    let id = recorder.id();
    let children = fs::read_to_string(format!("/proc/{id}/task/{id}/children")).unwrap();
    recorder.kill().unwrap();
    recorder.wait().unwrap();
    let ran = Command::new("kill").arg("-KILL").arg(children.trim()).status().unwrap();
    assert!(ran.success(), "the program goes on without its recorder");
    let ran = reweave().args(["record", "--finish"]).args([&raw, Path::new("-o"), &trace]).output().unwrap();
    let said = String::from_utf8_lossy(&ran.stderr).into_owned();
    assert_eq!(ran.status.code(), Some(0), "{said}");
    assert!(said.contains("its last events may be missing"), "{said}");
    let lines = Recorded { code: None, out: String::new(), err: said, trace }.events();
    assert!(count(&lines, "join") == 2 && lines.len() > 800, "{}", lines.len());
    only_the_trace_stays(program.folder.path());
}

#[test]
fn a_deadlock_ends_the_program_and_is_said() {
    let program = compile(GCC, "deadlock.c", &["-O1"]);
    let recorded = program.record::<&str>(&[], &[]);
    assert_eq!((recorded.code, recorded.out.as_str()), (Some(3), ""));
    for said in ["every thread waits", "T1 waits for a lock", "the program was in a deadlock"] {
        assert!(recorded.err.contains(said), "{}", recorded.err);
    }
    let lines = recorded.events();
    assert_eq!((count(&lines, "acq"), count(&lines, "rel")), (2, 0));
    let said = predicted(&recorded.trace);
    for expected in ["failed by itself: it ended in a deadlock", "T1 waits for a lock; its last step was at"]
    {
        assert!(said.contains(expected), "{said}");
    }
}

/// What is said of the trace of a run that failed by itself.
fn predicted(trace: &Path) -> String {
    let ran = reweave().arg("predict").arg(trace).output().unwrap();
    let said = String::from_utf8_lossy(&ran.stdout).into_owned();
    assert_eq!(ran.status.code(), Some(1), "{said}");
    said
}

#[test]
fn a_run_that_failed_is_the_first_finding_of_its_trace() {
    let program = compile(GCC, "main_exits.c", &["-O0"]);
    let recorded = program.record(&["--seed", "7", "--policy", "pct"], &["a b"]);
    assert_eq!(recorded.code, Some(5), "{}", recorded.err);
    let said = predicted(&recorded.trace);
    assert!(said.starts_with("==================\nFAILED: the run of "), "{said}");
    for expected in [
        "with seed 7 failed by itself: it ended with status 5",
        "the last step was",
        " --seed 7 --policy pct -o failed.rw -- ",
        "'a b'",
    ] {
        assert!(said.contains(expected), "{said}");
    }
}

#[test]
fn the_main_thread_may_end_first_and_any_thread_the_program() {
    let program = compile(GCC, "main_exits.c", &["-O0"]);
    let recorded = program.record::<&str>(&[], &[]);
    assert_eq!((recorded.code, recorded.out.as_str()), (Some(5), "ok\n"), "{}", recorded.err);
    let lines = recorded.events();
    assert!(lines.iter().any(|line| line.thread == "main" && line.op == "end"));
    assert_eq!(lines.iter().filter(|line| line.thread == "T1" && line.op == "w").count(), 10);
}

#[test]
fn limits_stop_the_recording_and_not_the_program() {
    let program = compile(GCC, "heap.c", &["-O1"]);
    for (flags, said) in [(["--max-events", "500"], "--max-events"), (["--max-size", "100"], "--max-size")] {
        let recorded = program.record::<&str>(&flags, &[]);
        assert_eq!((recorded.code, recorded.out.as_str()), (Some(0), "ok\n"));
        let warned = recorded.err.contains(&format!("{said} was reached"));
        // A limit on the size counts whole blocks: this program does not fill one.
        assert!(warned || said == "--max-size", "{}", recorded.err);
        recorded.events();
    }
}

/// The trace up to where a recording is large enough is one like any other.
#[test]
fn a_recording_that_is_large_enough_stops_and_says_so() {
    let program = compile(GCC, "counts.c", &["-O1"]);
    let recorded = program.record::<&str>(&["--max-size", "50k"], &[]);
    assert_eq!((recorded.code, recorded.out.as_str()), (Some(0), "ok\n"), "{}", recorded.err);
    assert!(recorded.err.contains("--max-size was reached"), "{}", recorded.err);
    let lines = recorded.events();
    let written = lines.iter().filter(|line| line.op == "w").count();
    assert!((500..40_000).contains(&written), "{written}");
}

/// The first 200 threads are forked one after the other, and none has run when the recording stops.
#[test]
fn a_recording_may_end_before_a_thread_begins() {
    let program = compile(GCC, "threads.c", &["-O1"]);
    let recorded = program.record::<&str>(&["--policy", "plain", "--max-events", "2000"], &[]);
    assert_eq!((recorded.code, recorded.out.as_str()), (Some(0), "ok\n"));
    let lines = recorded.events();
    let count = |op: &str| lines.iter().filter(|line| line.op == op).count();
    assert!(count("fork") > 50 && count("begin") < count("fork"), "{} {}", count("fork"), count("begin"));
}

#[test]
fn the_last_events_are_a_trace_of_their_own() {
    for (name, keep) in
        [("heap.c", 700), ("mutex.c", 300), ("rwlock.c", 250), ("condition.c", 200), ("threads.c", 2_000)]
    {
        let program = compile(GCC, name, &["-O1"]);
        let all = program.record::<&str>(&["--seed", "5"], &[]).events();
        let recorded = program.record::<&str>(&["--seed", "5", "--last", &keep.to_string()], &[]);
        assert_eq!((recorded.code, recorded.out.as_str()), (Some(0), "ok\n"), "{}", recorded.err);
        let last = recorded.events();
        // Occurrences cannot be counted without the start of the run: nothing is left that a replay would take for them.
        assert!(!recorded.trace.with_added_extension("steps").exists());
        assert!(last.len() < all.len() && last.len() > 20, "{name}: {} of {}", last.len(), all.len());
        // The end is the same: every operation that is no access, by the same threads, in the same order.
        let ends = |lines: &[crate::common::Line]| -> Vec<(String, String)> {
            let rest = lines.iter().filter(|line| ["acq", "rel", "join", "notify"].contains(&&*line.op));
            rest.rev().take(6).map(|line| (line.thread.clone(), line.op.clone())).collect()
        };
        assert_eq!(ends(&last), ends(&all), "{name}");
    }
}

/// A file system in memory with room for very little; unmounted in the end.
struct SmallDisk<'p>(&'p Path);

impl SmallDisk<'_> {
    /// None where this user may not mount anything.
    fn mount(folder: &Path) -> Option<SmallDisk<'_>> {
        let mounted =
            Command::new("mount").args(["-t", "tmpfs", "-o", "size=8k", "tmpfs"]).arg(folder).output();
        mounted.is_ok_and(|ran| ran.status.success()).then_some(SmallDisk(folder))
    }
}

impl Drop for SmallDisk<'_> {
    fn drop(&mut self) {
        let _ = Command::new("umount").arg(self.0).output();
    }
}

#[test]
fn a_full_disk_stops_the_recording_and_not_the_program() {
    let program = compile(GCC, "heap.c", &["-O1"]);
    let folder = program.folder.path().join("disk");
    fs::create_dir(&folder).unwrap();
    let Some(_disk) = SmallDisk::mount(&folder) else {
        eprintln!("mounting is not allowed here: a full disk is not tested");
        return;
    };
    let ran = reweave()
        .args(["record", "-o"])
        .args([&folder.join("trace.rw"), Path::new("--"), &program.path])
        .output()
        .unwrap();
    assert_eq!(&*ran.stdout, &b"ok\n"[..]);
    let said = String::from_utf8_lossy(&ran.stderr).into_owned();
    assert!(said.contains("the recording stops here, the program goes on"), "{said}");
    assert!(said.contains("No space left"), "{said}");
}

#[test]
fn the_same_seed_gives_the_same_trace_and_another_seed_another_one() {
    for name in ["heap.c", "streams.c"] {
        let program = compile(GCC, name, &["-O1"]);
        let trace = |seed: &str, policy: &str| {
            let Recorded { code, trace, err, .. } =
                program.record::<&str>(&["--seed", seed, "--policy", policy], &[]);
            assert_eq!(code, Some(0), "{name}: {err}");
            fs::read(trace).unwrap()
        };
        for policy in ["random", "pct"] {
            let first = trace("7", policy);
            assert!((0..3).all(|_| trace("7", policy) == first), "{name} {policy}");
            assert!((8..12).any(|seed| trace(&seed.to_string(), policy) != first), "{name} {policy}");
        }
    }
}

#[test]
fn random_addresses_change_values_and_nothing_else() {
    let program = compile(GCC, "heap.c", &["-O1"]);
    let record = |random: bool| {
        let trace = program.folder.path().join(if random { "random.rw" } else { "fixed.rw" });
        let mut command = reweave();
        if random {
            command.env("REWEAVE_RANDOM_ADDRESSES", "1");
        }
        let ran = command
            .args(["record", "-q", "-o"])
            .args([&trace, Path::new("--"), &program.path])
            .output()
            .unwrap();
        assert_eq!((ran.status.code(), &*ran.stdout), (Some(0), &b"ok\n"[..]));
        let lines = Recorded { code: None, out: String::new(), err: String::new(), trace }.events();
        lines.into_iter().map(|line| (line.thread, line.op, line.target, line.site)).collect::<Vec<_>>()
    };
    assert!(record(true) == record(false));
}

#[test]
fn several_runs_have_files_and_seeds_of_their_own() {
    let program = compile(GCC, "c11.c", &["-O1"]);
    let output = program.folder.path().join("runs.rw");
    let ran = reweave()
        .args(["record", "--runs", "3", "--seed", "7", "-o"])
        .args([&output, Path::new("--"), &program.path])
        .output()
        .unwrap();
    assert_eq!((ran.status.code(), &*ran.stdout), (Some(0), &b"ok\nok\nok\n"[..]));
    let runs: Vec<Vec<u8>> =
        (1..=3).map(|run| fs::read(program.folder.path().join(format!("runs-{run}.rw"))).unwrap()).collect();
    assert_ne!(runs[0], runs[1]);
    let single = program.record::<&str>(&["--seed", "8"], &[]);
    assert_eq!(fs::read(single.trace).unwrap(), runs[1]);
}

#[test]
fn output_is_the_programs_own() {
    let program = compile(GCC, "loads.c", &["-O1"]);
    let recorded = program.record(&["--quiet"], &["./no-such-library.so"]);
    assert_eq!(
        (recorded.code, recorded.err.as_str()),
        (Some(2), ""),
        "the program's own complaint is all there is"
    );
    assert!(recorded.out.contains("cannot open shared object"), "{}", recorded.out);
}

#[test]
fn the_process_keeps_its_name() {
    let program = compile(GCC, "name.c", &["-O1"]);
    // It is known by the name that was executed, not by that of the file behind.
    let link = program.folder.path().join("linked");
    std::os::unix::fs::symlink(&program.path, &link).unwrap();
    for (path, name) in [(&program.path, "program"), (&link, "linked")] {
        let ran = reweave()
            .args(["record", "--quiet", "-o"])
            .arg(program.folder.path().join("trace.rw"))
            .arg("--")
            .arg(path)
            .output()
            .unwrap();
        assert_eq!(String::from_utf8_lossy(&ran.stdout), format!("{name}\n{}\n", path.display()));
        assert_eq!(ran.status.code(), Some(0));
    }
}
