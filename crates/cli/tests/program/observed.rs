//! What went wrong in the observed run itself, and what foreign logs tell too early.

use serde_json::Value;

use crate::common::run_with;

fn predict(text: &str, flags: &[&str]) -> (Option<i32>, String) {
    let line: Vec<&str> =
        ["predict", "-", "--format", "std"].into_iter().chain(flags.iter().copied()).collect();
    let ran = run_with(line, text.as_bytes());
    (ran.code, String::from_utf8(ran.out).expect("text") + &ran.err)
}

/// Two threads that ask for the lock of the other.
const DEADLOCK: &str = "T1|acq(a)|1\nT2|acq(b)|2\nT1|req(b)|3\nT2|req(a)|4\n";

#[test]
fn a_deadlock_that_requests_show_is_observed() {
    let (code, said) = predict(DEADLOCK, &[]);
    assert_eq!(code, Some(1), "{said}");
    for expected in
        ["failed by itself: it ended in a deadlock", "T1 waits for b, which T2 holds", "nothing predicted"]
    {
        assert!(said.contains(expected), "{said}");
    }
    // The same is in JSON, and in a trace that was converted.
    let (_, said) = predict(DEADLOCK, &["--json", "-", "--quiet"]);
    let document: Value = serde_json::from_str(&said).expect("JSON");
    let run = &document["failed_runs"][0];
    assert_eq!((&run["status"], &run["threads"][1]["waits_for"]), (&3.into(), &"a, which T1 holds".into()));
    for format in ["std", "rw"] {
        let folder = tempfile::tempdir().expect("a folder");
        let path = folder.path().join(format!("t.{format}"));
        let path = path.to_str().expect("a plain name");
        run_with(["convert", "-", path, "--format", "std"], DEADLOCK.as_bytes()).exits(0);
        let ran = run_with(["predict", path], b"").exits(1);
        assert!(String::from_utf8_lossy(&ran.out).contains("T2 waits for a, which T1 holds"));
    }
}

#[test]
fn requests_that_were_granted_or_wait_for_nobody_who_waits_are_nothing() {
    for text in [
        "T1|req(a)|1\nT1|acq(a)|1\nT2|req(b)|2\nT2|acq(b)|2\nT1|rel(a)|3\nT2|rel(b)|4\n",
        // The holder of b goes on, as far as the trace tells.
        "T1|acq(a)|1\nT2|acq(b)|2\nT1|req(b)|3\nT2|w(x)|4\n",
        // Nobody holds it.
        "T1|acq(a)|1\nT2|acq(b)|2\nT2|rel(b)|2\nT1|req(b)|3\nT2|req(a)|4\n",
        "T1|acq(a)|1\nT1|req(a)|2\n",
    ] {
        let (code, said) = predict(text, &[]);
        assert_eq!(code, Some(0), "{text}{said}");
    }
}

/// M sleeps until A notifies it, and only then forks B: B's sections do not overlap A's.
#[test]
fn a_wait_is_no_spurious_one_wherever_it_is_logged() {
    let (start, wait) = ("M|fork(A)|0\nM|acq(c)|1\nM|rel(c)|2\n", "M|wait(c)|2\n");
    let notifies =
        "A|acq(p)|10\nA|acq(q)|11\nA|acq(c)|12\nA|notify(c)|13\nA|rel(c)|14\nA|rel(q)|15\nA|rel(p)|16\n";
    let end = "M|acq(c)|3\nM|rel(c)|4\nM|fork(B)|5\nB|acq(q)|20\nB|acq(p)|21\nB|rel(p)|22\nB|rel(q)|23\n";
    let (code, said) = predict(&[start, notifies, wait, end].concat(), &["--kinds", "deadlock"]);
    assert!(code == Some(0) && !said.contains("went to sleep"), "{said}");
    let (code, said) = predict(&[start, wait, notifies, end].concat(), &["--kinds", "deadlock"]);
    assert!(code == Some(0) && said.contains("1 wait is logged where its thread went to sleep"), "{said}");
}

/// An acquire that was logged when it was asked for does not make a race of what the lock guards.
#[test]
fn an_acquire_that_was_logged_early_still_guards() {
    let text = "A|acq(l)|1\nB|acq(l)|2\nA|w(x)|3\nA|rel(l)|4\nB|w(x)|5\nB|rel(l)|6\n";
    assert_eq!(predict(text, &[]).0, Some(2));
    let (code, said) = predict(text, &["--repair"]);
    assert_eq!(code, Some(0), "{said}");
    assert!(said.contains("the acquire was moved to its thread's next event"), "{said}");
    let overlap = "A|acq(l)|1\nB|acq(l)|2\nB|w(x)|3\nA|w(x)|4\nA|rel(l)|5\nB|rel(l)|6\nA|w(y)|7\nB|w(y)|8\n";
    let (code, said) = predict(overlap, &["--repair"]);
    assert!(code == Some(1) && said.contains("race on y") && !said.contains("race on x"), "{said}");
    assert!(said.contains("its lock only orders"), "{said}");
}
