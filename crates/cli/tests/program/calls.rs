//! Calls: what is predicted of them, and where their types come from.

use crate::common::{run, run_with};

/// A close and a send, each in a critical section of one lock.
const CHANNEL: &str = "main|fork(T1)|main.c:1
main|fork(T2)|main.c:2
T1|acq(m)|send.c:1
T1|call(channel c.send(1)=())|send.c:2
T1|rel(m)|send.c:3
T2|acq(m)|close.c:1
T2|call(channel c.close()=())|close.c:2
T2|rel(m)|close.c:3
";

#[test]
fn a_close_before_a_send_is_found_with_its_rule() {
    let ran = run_with(["predict", "--quiet", "-"], CHANNEL.as_bytes()).exits(1);
    for part in [
        "order violation: send on a closed channel",
        "at close.c:2 (event 6), holding m since close.c:1",
        "at send.c:2 (event 3), holding m since send.c:1",
        "Rule: channel: \"send on a closed channel\" (channel.rwspec:18); tier: fails",
    ] {
        assert!(ran.text().contains(part), "{part}: {}", ran.text());
    }
}

#[test]
fn the_witness_of_calls_in_the_wrong_order_is_one() {
    let folder = tempfile::tempdir().expect("a folder");
    let path = |name: &str| folder.path().join(name).to_str().expect("a readable path").to_owned();
    std::fs::write(path("t.std"), CHANNEL).expect("a file");
    let witness = |last: &str| {
        format!(
            "{{\"model\": \"rf\", \"witness_prefix\": 2, \"witness\": [5, 6, 7, 2], \"claim\": {{\"ahead\": [{last}]}}}}"
        )
    };
    std::fs::write(path("good.json"), witness("6, 3")).expect("a file");
    std::fs::write(path("bad.json"), witness("6, 4")).expect("a file");
    run(["check", &path("t.std"), &path("good.json")]).exits(0);
    run(["check", &path("t.std"), &path("bad.json")]).exits(1);
    run(["predict", "--quiet", "--json", &path("found.json"), &path("t.std")]).exits(1);
    let report = run(["report", &path("found.json")]).exits(0).text().to_owned();
    assert!(report.contains("send on a closed channel"), "{report}");
}

#[test]
fn what_keeps_two_calls_in_order_is_seen() {
    let flag = CHANNEL
        .replace("T1|rel(m)", "T1|w(done)|send.c:4\nT1|rel(m)")
        .replace("T2|call", "T2|r(done)|close.c:4\nT2|br|close.c:4\nT2|call");
    run_with(["predict", "--quiet", "-"], flag.as_bytes()).exits(0);
    let joined = CHANNEL.replace("T2|acq(m)", "T2|join(T1)|close.c:4\nT2|acq(m)");
    run_with(["predict", "--quiet", "-"], joined.as_bytes()).exits(0);
}

#[test]
fn a_type_comes_with_the_call_the_trace_or_a_pattern() {
    let bare = CHANNEL.replace("channel c", "c");
    let ran = run_with(["predict", "--quiet", "-"], bare.as_bytes()).exits(0);
    assert!(ran.err.contains("calls on 1 object without a known type"), "{}", ran.err);
    let declared = format!("#! object c: channel\n{bare}");
    run_with(["predict", "--quiet", "-"], declared.as_bytes()).exits(1);
    let folder = tempfile::tempdir().expect("a folder");
    let path = |name: &str| folder.path().join(name).to_str().expect("a readable path").to_owned();
    std::fs::write(path("bind.rwspec"), "bind \"c*\" channel\n").expect("a file");
    run_with(["predict", "--quiet", "--spec", &path("bind.rwspec"), "-"], bare.as_bytes()).exits(1);
    // What a trace declares stays with its calls in every format.
    std::fs::write(path("t.std"), &declared).expect("a file");
    run(["convert", &path("t.std"), &path("t.rw")]).exits(0);
    run(["predict", "--quiet", &path("t.rw")]).exits(1);
    let two = format!("#! object c: channel\n{}", bare.replace("c.close", "queue c.close"));
    run_with(["predict", "--quiet", "-"], two.as_bytes()).exits(0);
}

#[test]
fn specifications_that_do_not_hold_are_not_used() {
    let folder = tempfile::tempdir().expect("a folder");
    let path = |name: &str| folder.path().join(name).to_str().expect("a readable path").to_owned();
    let file = "type file sync internal\n state closed: bool\n method write(x) needs not closed { }\n method close() { closed := true }\n commute write close if true\n";
    for (text, message) in [
        (file, "the specification of file does not hold"),
        ("type t", "bad.rwspec:1:7: expected"),
        ("bind \"x\" nothing", "there is no type `nothing`"),
    ] {
        std::fs::write(path("bad.rwspec"), text).expect("a file");
        let ran = run_with(["predict", "--spec", &path("bad.rwspec"), "-"], CHANNEL.as_bytes()).exits(2);
        assert!(ran.err.contains(message), "{message}: {}", ran.err);
    }
}

#[test]
fn a_mutex_that_is_destroyed_too_early_is_found() {
    let mutex = "#! object q.mut: mutex
main|fork(T2)|main.c:1
T2|acq(q.mut)|consumer.c:889
T2|rel(q.mut)|consumer.c:890
main|call(q.mut.destroy()=())|main.c:1046
";
    let ran = run_with(["predict", "--quiet", "-"], mutex.as_bytes()).exits(1);
    assert!(ran.text().contains("order violation: use of a mutex after its destruction"), "{}", ran.text());
    assert!(
        ran.text().contains("Acquire of q.mut by thread T2 should have come before it"),
        "{}",
        ran.text()
    );
    let joined = mutex.replace("main|call", "main|join(T2)|main.c:1045\nmain|call");
    run_with(["predict", "--quiet", "-"], joined.as_bytes()).exits(0);
}
