//! Published crates, fetched where the registry can be reached: their own tests recorded, and a race that one of them is
//! known to have.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

use crate::common::{Recorded, reweave};
use crate::project::{Project, findings, is_there};

/// A copy of the sources of a published crate; none where they cannot be had.
fn fetch(name: &str, version: &str) -> Option<(Project, PathBuf)> {
    let project = Project::new(&format!("{name} = \"={version}\""), &[("src/lib.rs", "//! Nothing.\n")]);
    let cargo = std::env::var_os("CARGO").unwrap_or_else(|| "cargo".into());
    let mut vendor = project.in_it(Command::new(cargo));
    let ran = vendor.args(["vendor", "--quiet", "--versioned-dirs"]).output().expect("cargo starts");
    if !ran.status.success() {
        eprintln!(
            "{name} cannot be fetched here, and is not tested: {}",
            String::from_utf8_lossy(&ran.stderr)
        );
        return None;
    }
    let sources = project.path().join("vendor").join(format!("{name}-{version}"));
    let manifest = sources.join("Cargo.toml");
    let text = fs::read_to_string(&manifest).expect("a manifest");
    // It is no part of the project around it.
    fs::write(&manifest, text + "\n[workspace]\n").expect("a manifest");
    Some((project, sources))
}

/// Records the tests of a crate that `arguments` choose; each trace must be well formed, and can be predicted from.
fn record_tests(name: &str, version: &str, program: &str, arguments: &[&str], kinds: &str) {
    let Some((project, sources)) = fetch(name, version) else { return };
    let mut command = project.in_it(reweave());
    let ran = command
        .current_dir(&sources)
        .args(["cargo", "test", "--timeout", "60s"])
        .args(arguments)
        .output()
        .expect("the command starts");
    let said = String::from_utf8_lossy(&ran.stdout).into_owned();
    if String::from_utf8_lossy(&ran.stderr).contains("failed to download") {
        eprintln!("what {name} needs cannot be fetched here");
        return;
    }
    assert!(ran.status.success(), "{said}{}", String::from_utf8_lossy(&ran.stderr));
    let traces = traces(&sources.join("target/reweave/traces").join(program));
    assert!(!traces.is_empty(), "{said}");
    for trace in traces {
        let recorded = Recorded { code: Some(0), out: String::new(), err: String::new(), trace };
        assert!(!recorded.events().is_empty());
        let found = findings(&recorded.trace, kinds);
        assert!(found.is_empty(), "{}: {found:?}", recorded.trace.display());
    }
}

fn traces(folder: &Path) -> Vec<PathBuf> {
    let entries = fs::read_dir(folder).into_iter().flatten().filter_map(|entry| Some(entry.ok()?.path()));
    let mut traces: Vec<PathBuf> =
        entries.filter(|path| path.extension().is_some_and(|extension| extension == "rw")).collect();
    traces.sort();
    traces
}

#[test]
fn a_thread_pool_is_recorded_by_its_own_tests() {
    if !is_there() {
        return;
    }
    // Others sleep for many seconds, or want an order of threads that nothing gives them (`test_multi_join`).
    let tests = ["--", "test_send_shared_data", "test_active_count", "test_debug"];
    record_tests("threadpool", "1.8.1", "threadpool", &tests, "race,deadlock,uaf");
}

#[test]
fn a_channel_is_recorded_by_its_own_tests() {
    if !is_there() {
        return;
    }
    let tests =
        ["--test", "array", "--", "smoke", "capacity", "len_empty_full", "recv", "send", "disconnect"];
    record_tests("crossbeam-channel", "0.5.15", "array", &tests, "race,deadlock,uaf");
}

/// `Buffer::read` and `Buffer::write` of this version may run at once at one place; its authors say so: "technically
/// speaking a data race and therefore UB".
#[test]
fn the_known_race_of_a_published_queue_is_found() {
    if !is_there() {
        return;
    }
    const MAIN: &str = include_str!("../programs/steal.rs");
    let project = Project::new("crossbeam-deque = \"=0.8.6\"", &[("src/main.rs", MAIN)]);
    let ran = project.cargo(&["run", "-o", "steal.rw", "--seed", "1", "--timeout", "60s"]);
    if !project.path().join("steal.rw").exists() {
        let said = String::from_utf8_lossy(&ran.stderr).into_owned();
        let unreachable = ["failed to download", "failed to get", "no matching package", "failed to query"];
        assert!(unreachable.iter().any(|reason| said.contains(reason)), "{said}");
        eprintln!("crossbeam-deque cannot be fetched here, and is not tested");
        return;
    }
    assert_eq!(String::from_utf8_lossy(&ran.stdout), "100\n");
    let ran =
        reweave().args(["predict", "--kinds", "race,deadlock"]).arg(project.path().join("steal.rw")).output();
    let said = String::from_utf8(ran.expect("the command starts").stdout).expect("text");
    assert!(said.contains("1 finding in"), "{said}");
    for frame in
        ["Buffer<usize>>::read", "Buffer<usize>>::write", "Stealer<usize>>::steal", "Worker<usize>>::push"]
    {
        assert!(said.contains(frame), "{said}");
    }
}
