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

/// A folder with traces of several formats.
fn traces(folder: &Path) -> PathBuf {
    let traces = folder.join("traces of a week");
    fs::create_dir(&traces).expect("a folder");
    for seed in 1..=3 {
        let name = traces.join(format!("{seed}.rw"));
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
    fs::copy(root().join("examples/bank.std"), traces.join("bank.std")).expect("it is copied");
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
fn whole(traces: &Path, folder: &Path) -> Value {
    let file = folder.join("whole.json");
    let mut predict = reweave();
    predict.args(["--quiet", "predict", "--json"]).arg(&file).arg(traces).args(OPTIONS.split(' '));
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
    let expected = whole(&traces, folder.path());
    for (parallel, shards) in [(true, "1"), (false, "1"), (true, "3")] {
        let out = folder.path().join("out.json");
        let ran = over_workers(&traces, &out, env!("CARGO_BIN_EXE_reweave").as_ref(), shards, parallel);
        assert_eq!(ran.status.code(), Some(1), "{ran:?}");
        assert_eq!(document(&out), expected, "parallel {parallel}, {shards} shards");
        assert!(!folder.path().join("out.json.parts").exists(), "parts are left");
        fs::remove_file(out).expect("it is there");
    }
}

#[test]
fn a_worker_that_is_killed_is_replaced() {
    let folder = tempfile::tempdir().expect("a folder");
    let traces = traces(folder.path());
    let expected = whole(&traces, folder.path());
    // Ends as if killed, the first time that it is given this trace.
    let killed = folder.path().join("killed");
    let worker = folder.path().join("worker");
    let script = format!(
        "#!/bin/sh\ncase \"$*\" in *2.rw*) if mkdir '{}' 2>/dev/null; then kill -9 $$; fi ;; esac\nexec '{}' \"$@\"\n",
        killed.display(),
        env!("CARGO_BIN_EXE_reweave")
    );
    fs::write(&worker, script).expect("a file");
    fs::set_permissions(&worker, fs::Permissions::from_mode(0o755)).expect("a program");
    let out = folder.path().join("out.json");
    let ran = over_workers(&traces, &out, &worker, "2", false);
    assert!(killed.exists(), "no worker was killed: {ran:?}");
    assert_eq!(ran.status.code(), Some(1), "{ran:?}");
    assert!(String::from_utf8_lossy(&ran.stderr).contains("exit code 137"), "{ran:?}");
    assert_eq!(document(&out), expected);
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
