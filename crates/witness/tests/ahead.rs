//! Calls that go ahead of their order: what the checker accepts, and what it must refuse.

use reweave_spec::links;
use reweave_testkit::parse;
use reweave_trace::{EventId, Model, ProgramOrder};
use reweave_witness::{Checker, Claim, Witness};

/// Checks that after `schedule`, in which `first` may go ahead, `then` may run; the error as text.
fn check(text: &str, schedule: &[u32], first: u32, then: u32) -> Result<(), String> {
    let lines: String = text.lines().map(|line| format!("{}\n", line.trim())).collect();
    let trace = parse(&format!("#! capabilities: branches\n{lines}")).unwrap();
    let (links, order) = (links(&trace), ProgramOrder::new(&trace));
    let witness = Witness { prefix: 0, tail: schedule.iter().copied().map(EventId).collect() };
    let claim = Claim::Ahead { first: EventId(first), then: EventId(then) };
    let checked = Checker::new(&trace, &links, &order).check(Model::Rf, witness, claim);
    checked.map(drop).map_err(|rejection| rejection.to_string())
}

fn refused(text: &str, schedule: &[u32], first: u32, then: u32, why: &str) {
    let rejection = check(text, schedule, first, then).expect_err("it must not be accepted");
    assert!(rejection.contains(why), "{rejection}");
}

const CHANNEL: &str = "T1|call(channel c.send(1)=())|1
    T1|call(channel c.send(2)=())|2
    T2|call(channel c.close()=())|3
    T2|w(x)|4";

#[test]
fn a_close_goes_ahead_of_sends() {
    assert_eq!(check(CHANNEL, &[0, 2], 2, 1), Ok(()));
    assert_eq!(check(CHANNEL, &[2, 3], 2, 0), Ok(()), "it overtakes both, and its thread goes on");
}

#[test]
fn what_comes_too_late_has_to_be_next() {
    refused(CHANNEL, &[2], 2, 1, "has to come first");
    refused(CHANNEL, &[0, 1, 2], 2, 1, "already");
    refused(CHANNEL, &[0], 2, 1, "not in the schedule");
}

#[test]
fn nothing_else_goes_ahead() {
    // Only the call that the claim names.
    refused(CHANNEL, &[0, 2, 3], 3, 1, "an earlier call on its object, has not run");
    // Nothing on its object comes after it.
    refused(CHANNEL, &[2, 0], 2, 1, "went ahead of its order");
}

#[test]
fn a_call_is_not_overtaken_without_a_rule() {
    let semaphore = "T1|call(semaphore s.post()=())|1
        T2|call(semaphore s.wait()=())|2
        T3|call(semaphore s.destroy()=())|3";
    refused(semaphore, &[1], 1, 0, "an earlier call on its object, has not run");
    assert_eq!(check(semaphore, &[0, 2], 2, 1), Ok(()));
    assert_eq!(check(semaphore, &[2], 2, 0), Ok(()));
    refused(semaphore, &[2], 2, 1, "an earlier call on its object, has not run");
    let untyped = "T1|call(c.send(1)=())|1
        T2|call(c.close()=())|2";
    refused(untyped, &[1], 1, 0, "an earlier call on its object, has not run");
}

#[test]
fn what_the_thread_read_still_counts() {
    let flag = "T1|call(channel c.send(1)=())|1
        T1|w(done)|2
        T2|r(done)|3
        T2|br|4
        T2|call(channel c.close()=())|5";
    refused(flag, &[2, 3, 4], 4, 0, "cannot run");
}

#[test]
fn a_mutex_is_destroyed_before_it_is_used() {
    let mutex = "T1|acq(m)|1
        T1|rel(m)|2
        main|call(mutex m.destroy()=())|3";
    assert_eq!(check(mutex, &[2], 2, 0), Ok(()));
    assert_eq!(check(mutex, &[0, 2], 2, 1), Ok(()));
}

#[test]
fn a_result_that_is_not_known_stops_its_thread() {
    let own = "T1|call(once o.call()=true)|1
        T2|call(once o.is_done()=true)|2
        T2|w(x)|3";
    refused(own, &[1, 2], 1, 0, "an earlier call on its object, has not run");
}
