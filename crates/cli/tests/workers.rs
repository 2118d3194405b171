//! `examples/workers`: a folder of traces over workers gives what one process gives, also when a worker is killed.

use std::fs;
use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};
use std::process::{Command, Output};

use serde_json::Value;

const OPTIONS: &str = "--work 20000 --time 60m";

fn root() -> &'static Path {
    Path::new(env!("CARGO_MANIFEST_DIR")).ancestors().nth(2).expect("crates/cli is two levels down")
}

fn reweave() -> Command {
    Command::new(env!("CARGO_BIN_EXE_reweave"))
}

/// A folder with traces of several formats, in folders below too, and with what is none.
fn traces(folder: &Path) -> PathBuf {
    let traces = folder.join("traces of a week");
    fs::create_dir(&traces).expect("a folder");
    for folder in ["week", "week-end", ".parts", "none"] {
        fs::create_dir(traces.join(folder)).expect("a folder");
    }
    // By whole paths, `week-end` and `week.std` would come before `week`.
    for (seed, name) in (1..).zip(["1.rw", "week/2.rw", "week-end/3.std.zst", "week.Std"]) {
        let name = traces.join(name);
        let mut generate = reweave();
        generate.args([
            "--quiet",
            "generate",
            "--events",
            "2000",
            "--threads",
            "3",
            "--seed",
            &seed.to_string(),
        ]);
        assert!(generate.arg(name).status().expect("it starts").success());
    }
    for name in ["bank.std", ".hidden.std", ".parts/1.std", "none/bank.txt"] {
        fs::copy(root().join("examples/bank.std"), traces.join(name)).expect("it is copied");
    }
    std::os::unix::fs::symlink(traces.join("bank.std"), traces.join("none/link.std")).expect("a link");
    std::os::unix::fs::symlink(traces.join("week"), traces.join("none/again")).expect("a link");
    traces
}

/// A document without its times.
fn document(path: &Path) -> Value {
    fn strip(value: &mut Value) {
        match value {
            Value::Object(fields) => {
                fields.remove("seconds");
                fields.values_mut().for_each(strip);
            }
            Value::Array(list) => list.iter_mut().for_each(strip),
            _ => {}
        }
    }
    let text = fs::read(path).unwrap_or_else(|error| panic!("{}: {error}", path.display()));
    let mut value = serde_json::from_slice(&text).expect("JSON");
    strip(&mut value);
    value
}

/// What one process writes.
fn whole(traces: &Path, folder: &Path, options: &str) -> Value {
    let file = folder.join("whole.json");
    let mut predict = reweave();
    predict.args(["--quiet", "predict", "--json"]).arg(&file).arg(traces).args(options.split(' '));
    let ran = predict.output().expect("it starts");
    assert_eq!(ran.status.code(), Some(1), "{ran:?}");
    document(&file)
}

fn over_workers(traces: &Path, out: &Path, command: &Path, shards: &str, parallel: bool) -> Output {
    let mut script = Command::new(root().join("examples/workers/predict-folder"));
    script.arg(traces).arg(out).args(["2", shards]);
    script.env("REWEAVE", command).env("REWEAVE_OPTIONS", OPTIONS);
    if !parallel {
        script.env("WITHOUT_PARALLEL", "1");
    }
    script.output().expect("the script starts")
}

#[test]
fn workers_give_what_one_process_gives() {
    let folder = tempfile::tempdir().expect("a folder");
    let traces = traces(folder.path());
    let expected = whole(&traces, folder.path(), OPTIONS);
    for (parallel, shards) in [(true, "1"), (false, "1"), (true, "3")] {
        let out = folder.path().join("out.json");
        let ran = over_workers(&traces, &out, env!("CARGO_BIN_EXE_reweave").as_ref(), shards, parallel);
        assert_eq!(ran.status.code(), Some(1), "{ran:?}");
        assert_eq!(document(&out), expected, "parallel {parallel}, {shards} shards");
        assert!(!folder.path().join("out.json.parts").exists(), "parts are left");
        fs::remove_file(out).expect("it is there");
    }
}

/// A command that ends as if killed, the first time that it is given a certain trace; and the
/// folder that then is there.
fn dying_worker(folder: &Path) -> (PathBuf, PathBuf) {
    let (killed, worker) = (folder.join("killed"), folder.join("worker"));
    let script = format!(
        "#!/bin/sh\ncase \"$*\" in *2.rw*) if mkdir '{}' 2>/dev/null; then kill -9 $$; fi ;; esac\nexec '{}' \"$@\"\n",
        killed.display(),
        env!("CARGO_BIN_EXE_reweave")
    );
    fs::write(&worker, script).expect("a file");
    fs::set_permissions(&worker, fs::Permissions::from_mode(0o755)).expect("a program");
    (worker, killed)
}

#[test]
fn a_worker_that_is_killed_is_replaced() {
    let folder = tempfile::tempdir().expect("a folder");
    let traces = traces(folder.path());
    let expected = whole(&traces, folder.path(), OPTIONS);
    let (worker, killed) = dying_worker(folder.path());
    let out = folder.path().join("out.json");
    let ran = over_workers(&traces, &out, &worker, "2", false);
    assert!(killed.exists(), "no worker was killed: {ran:?}");
    assert_eq!(ran.status.code(), Some(1), "{ran:?}");
    assert!(String::from_utf8_lossy(&ran.stderr).contains("exit code 137"), "{ran:?}");
    assert_eq!(document(&out), expected);
}

/// A Python that has Ray: the one that `REWEAVE_RAY` names, that of `scripts/setup`, or the
/// system's.
fn python_with_ray() -> Option<PathBuf> {
    let named = std::env::var_os("REWEAVE_RAY").map(PathBuf::from);
    let target = Path::new(env!("CARGO_TARGET_TMPDIR")).parent().expect("it is in the target folder");
    let known = [target.join("python-environment/bin/python"), "python3".into()];
    named.into_iter().chain(known).find(|python| {
        let tried = Command::new(python).args(["-c", "import ray"]).output();
        tried.is_ok_and(|output| output.status.success())
    })
}

/// A task whose command is killed takes its worker along, and Ray gives it to another one.
#[test]
fn ray_gives_what_one_process_gives() {
    let Some(python) = python_with_ray() else {
        println!(
            "Ray is not installed (pip install ray, 280 MB; REWEAVE_RAY names a Python that has it): not tried"
        );
        return;
    };
    let folder = tempfile::tempdir().expect("a folder");
    let traces = traces(folder.path());
    let expected = whole(&traces, folder.path(), OPTIONS);
    let (worker, killed) = dying_worker(folder.path());
    let out = folder.path().join("out.json");
    let run = |folder: &Path, options: &str, shards: &str| {
        let mut script = Command::new(&python);
        script.arg(root().join("examples/workers/predict_folder_ray.py")).arg(folder).arg(&out).arg(shards);
        script.env("REWEAVE", &worker).env("REWEAVE_OPTIONS", options).output().expect("it starts")
    };
    let ran = run(&traces, OPTIONS, "2");
    assert!(killed.exists(), "no worker was killed: {ran:?}");
    assert_eq!(ran.status.code(), Some(1), "{ran:?}");
    assert_eq!(document(&out), expected);
    // With a format, files of any name are traces; a folder without traces is a mistake.
    let named = folder.path().join("named");
    fs::create_dir(&named).expect("a folder");
    assert_eq!(run(&named, OPTIONS, "1").status.code(), Some(2));
    fs::copy(root().join("examples/bank.std"), named.join("bank.txt")).expect("it is copied");
    assert_eq!(run(&named, OPTIONS, "1").status.code(), Some(2));
    let options = format!("{OPTIONS} --format std");
    let ran = run(&named, &options, "1");
    assert_eq!(ran.status.code(), Some(1), "{ran:?}");
    assert_eq!(document(&out), whole(&named, folder.path(), &options));
}

#[test]
fn a_trace_that_nobody_can_read_is_named() {
    let folder = tempfile::tempdir().expect("a folder");
    let traces = traces(folder.path());
    fs::write(traces.join("wrong.std"), "T|rel(m)|1\n").expect("a file");
    let out = folder.path().join("out.json");
    let ran = over_workers(&traces, &out, env!("CARGO_BIN_EXE_reweave").as_ref(), "1", false);
    assert_eq!(ran.status.code(), Some(2), "{ran:?}");
    assert!(String::from_utf8_lossy(&ran.stderr).contains("wrong.std:1"), "{ran:?}");
    assert!(!out.exists());
}
