//! Threads of Rust that do not overlap in the recorded run: what std does for each of them keeps no
//! other in order.

use crate::common::reweave;
use crate::project::{Project, is_there};

const PROGRAM: &str = r#"//! Two threads that write without a lock.
static mut COUNT: u64 = 0;

fn add() {
    // SAFETY: there is none: this is what is to be found.
    unsafe { *&raw mut COUNT += 1 };
}

#[test]
fn one_after_the_other() {
    let threads = [std::thread::spawn(add), std::thread::spawn(add)];
    threads.map(|thread| thread.join().unwrap());
}
"#;

/// With this policy the thread that is made first ends before the second one begins.
#[test]
fn a_race_of_threads_that_do_not_overlap_is_found() {
    if !is_there() {
        return;
    }
    let project = Project::new("", &[("src/lib.rs", "//! Nothing.\n"), ("tests/race.rs", PROGRAM)]);
    let policy = ["--policy", "plain", "--timeout", "60s"];
    project.cargo_ok(&[&["test", "--offline"][..], &policy].concat());
    let trace = project.trace("race", "one_after_the_other");
    for model in ["rf", "auto"] {
        let mut predict = reweave();
        predict.args(["predict", "--quiet", "--kinds", "race", "--model", model]).arg(&trace);
        let found = predict.output().unwrap();
        let said = String::from_utf8_lossy(&found.stdout);
        assert!(found.status.code() == Some(1) && said.contains("data race"), "{model}: {said}");
        assert!(said.contains("COUNT"), "{model}: {said}");
    }
}
