//! Good witnesses, spoilt in every way we know: each is refused with the right reason.

use reweave_testkit::trace;
use reweave_trace::{EventId, Links, Model, ProgramOrder, Trace};
use reweave_witness::{CheckedWitness, Checker, Claim, Failure, Refusal, Rejection, Witness};

fn check(trace: &Trace, model: Model, schedule: &[u32], claim: Claim) -> Result<CheckedWitness, Rejection> {
    let (links, order) = (Links::new(trace), ProgramOrder::new(trace));
    let tail = schedule.iter().copied().map(EventId).collect();
    Checker::new(trace, &links, &order).check(model, Witness { prefix: 0, tail }, claim)
}

/// The claim that the schedule's last event has run: it holds whenever the schedule does.
fn ran(schedule: &[u32]) -> Claim {
    Claim::Sequence { events: schedule.last().copied().map(EventId).into_iter().collect(), adjacent: vec![] }
}

#[track_caller]
fn accepts(trace: &Trace, model: Model, schedule: &[u32]) {
    if let Err(rejection) = check(trace, model, schedule, ran(schedule)) {
        panic!("{schedule:?} should run: {rejection}");
    }
}

#[track_caller]
fn refuses(trace: &Trace, model: Model, schedule: &[u32], step: usize, refusal: Refusal) {
    let event = EventId(schedule[step]);
    let expected = Rejection::Step { step, event, refusal };
    assert_eq!(check(trace, model, schedule, ran(schedule)), Err(expected));
}

#[track_caller]
fn fails(trace: &Trace, schedule: &[u32], claim: Claim, failure: Failure) {
    assert_eq!(check(trace, Model::Rf, schedule, claim), Err(Rejection::Claim(failure)));
}

fn ids(events: &[u32]) -> Vec<EventId> {
    events.iter().copied().map(EventId).collect()
}

#[test]
fn swapped_dropped_duplicated_and_unknown_steps() {
    let trace = trace! { a: w(x); a: w(y); b: w(z); };
    accepts(&trace, Model::Rf, &[2, 0, 1]);
    refuses(&trace, Model::Rf, &[1, 0], 0, Refusal::NotNext { next: EventId(0) });
    refuses(&trace, Model::Rf, &[2, 1], 1, Refusal::NotNext { next: EventId(0) });
    refuses(&trace, Model::Rf, &[0, 2, 0], 2, Refusal::AlreadyRan);
    refuses(&trace, Model::Rf, &[0, 1, 1], 2, Refusal::AlreadyRan);
    refuses(&trace, Model::Rf, &[0, 9], 1, Refusal::NoEvent);
}

#[test]
fn a_prefix_beyond_the_trace() {
    let trace = trace! { a: w(x); };
    let (links, order) = (Links::new(&trace), ProgramOrder::new(&trace));
    let witness = Witness { prefix: 2, tail: vec![] };
    let answer = Checker::new(&trace, &links, &order).check(Model::Rf, witness, Claim::CoEnabled(ids(&[0])));
    assert_eq!(answer, Err(Rejection::LongPrefix { prefix: 2, events: 1 }));
}

#[test]
fn moves_across_a_lock() {
    let trace = trace! { a: acq(l); a: w(x); a: rel(l); b: acq(l); b: w(x); b: rel(l); };
    accepts(&trace, Model::Rf, &[3, 4, 5, 0, 1, 2]);
    refuses(&trace, Model::Rf, &[0, 1, 3], 2, Refusal::Locked);
    refuses(&trace, Model::Rf, &[3, 4, 0], 2, Refusal::Locked);
}

#[test]
fn the_outer_pair_of_a_nest_counts() {
    let trace = trace! { a: acq(l); a: acq(l); a: rel(l); a: rel(l); b: tryacq(l); };
    accepts(&trace, Model::Rf, &[0, 1, 2, 3, 4]);
    refuses(&trace, Model::Rf, &[0, 1, 2, 4], 3, Refusal::Locked);
}

#[test]
fn shared_and_exclusive_overlap() {
    let trace = trace! { a: racq(l); a: rrel(l); b: racq(l); b: rrel(l); c: acq(l); c: rel(l); };
    accepts(&trace, Model::Rf, &[0, 2, 1, 3, 4]);
    refuses(&trace, Model::Rf, &[0, 2, 1, 4], 3, Refusal::Locked);
    refuses(&trace, Model::Rf, &[4, 0], 1, Refusal::Locked);
}

#[test]
fn an_attempt_that_would_not_fail() {
    let trace = trace! { a: acq(l); b: busy(l); a: rel(l); };
    accepts(&trace, Model::Rf, &[0, 1]);
    refuses(&trace, Model::Rf, &[1], 0, Refusal::NotBusy);
    refuses(&trace, Model::Rf, &[0, 2, 1], 2, Refusal::NotBusy);
    // It met an exclusive hold, so it may have been an attempt at the shared side: shared holds do not make that fail.
    let trace = trace! { a: acq(l); b: busy(l); a: rel(l); c: racq(l); };
    accepts(&trace, Model::Rf, &[0, 1]);
    refuses(&trace, Model::Rf, &[3, 1], 1, Refusal::NotBusy);
    // It met shared holds, so it was one at the exclusive side, and any hold will do.
    let trace = trace! { a: racq(l); b: busy(l); a: rrel(l); c: acq(l); };
    accepts(&trace, Model::Rf, &[3, 1]);
}

#[test]
fn forks_and_joins_too_early() {
    let trace = trace! { a: fork(b); b: w(x); b: r(y); a: join(b); };
    accepts(&trace, Model::Rf, &[0, 1, 2, 3]);
    refuses(&trace, Model::Rf, &[1], 0, Refusal::NotForked { fork: EventId(0) });
    refuses(&trace, Model::Rf, &[0, 1, 3], 2, Refusal::NotEnded);
}

#[test]
fn a_join_of_a_thread_that_may_have_gone_another_way() {
    let trace = trace! { a: fork(b); b: r(y); a: join(b); c: w(y); };
    accepts(&trace, Model::Rf, &[0, 1, 2]);
    refuses(&trace, Model::Rf, &[3, 0, 1, 2], 3, Refusal::JoinsTainted { read: EventId(1) });
    accepts(&trace, Model::Sync, &[3, 0, 1, 2]);
}

#[test]
fn a_read_moved_past_another_write() {
    let trace = trace! { capabilities: branches; a: w(x); b: r(x); b: w(y); b: br; c: w(x); };
    accepts(&trace, Model::Rf, &[0, 1, 2, 3, 4]);
    // The read itself may observe anything, as long as nothing uses it.
    accepts(&trace, Model::Rf, &[0, 4, 1]);
    refuses(&trace, Model::Rf, &[0, 4, 1, 2], 3, Refusal::Tainted { read: EventId(1) });
    accepts(&trace, Model::Branch, &[0, 4, 1, 2]);
    refuses(&trace, Model::Branch, &[0, 4, 1, 2, 3], 4, Refusal::Tainted { read: EventId(1) });
    refuses(&trace, Model::Rf, &[1, 2], 1, Refusal::Tainted { read: EventId(1) });
}

#[test]
fn taint_through_memory() {
    let trace = trace! { capabilities: branches; a: w(y); b: r(y); b: w(x); c: r(x); c: br; };
    accepts(&trace, Model::Branch, &[0, 1, 2, 3, 4]);
    refuses(&trace, Model::Branch, &[1, 2, 3, 4], 3, Refusal::Tainted { read: EventId(3) });
}

#[test]
fn an_equal_value_is_as_good_unless_it_is_tainted() {
    let trace = trace! { capabilities: values branches; a: w(x) = 1; b: w(x) = 1; c: r(x) = 1; c: br; };
    accepts(&trace, Model::Value, &[1, 0, 2, 3]);
    refuses(&trace, Model::Rf, &[1, 0, 2, 3], 3, Refusal::Tainted { read: EventId(2) });
    let tainted = trace! {
        capabilities: values branches;
        a: w(x) = 1; b: r(z) = 0; b: w(x) = 1; c: r(x) = 1; c: br; d: w(z) = 7;
    };
    accepts(&tainted, Model::BranchValue, &[1, 2, 3, 4]);
    refuses(&tainted, Model::BranchValue, &[5, 1, 2, 3, 4], 4, Refusal::Tainted { read: EventId(3) });
}

#[test]
fn an_update_that_would_observe_something_else() {
    let trace = trace! { a: au(x); b: au(x); };
    accepts(&trace, Model::Rf, &[0, 1]);
    refuses(&trace, Model::Rf, &[1], 0, Refusal::UncleanUpdate);
    fails(
        &trace,
        &[],
        Claim::CoEnabled(ids(&[0, 1])),
        Failure::MayNotRun { event: EventId(1), refusal: Refusal::UncleanUpdate },
    );
}

#[test]
fn waits_without_their_notification() {
    let trace = trace! { a: acq(l); a: rel(l); b: notify(c); a: wait(c); a: acq(l); };
    accepts(&trace, Model::Rf, &[0, 1, 2, 3, 4]);
    refuses(&trace, Model::Rf, &[0, 1, 3], 2, Refusal::NotWoken { waker: EventId(2) });
    // The notification itself may come too early: that is a lost wake-up.
    accepts(&trace, Model::Rf, &[2, 0, 1]);
    refuses(&trace, Model::Rf, &[2, 0, 1, 3], 3, Refusal::WokenTooEarly { waker: EventId(2) });
    refuses(&trace, Model::Rf, &[0, 2, 1, 3], 3, Refusal::WokenTooEarly { waker: EventId(2) });
}

#[test]
fn a_wait_that_nothing_woke_must_not_be_notified() {
    let trace = trace! { a: acq(l); a: rel(l); a: wait(c); a: acq(l); b: notify(c); };
    accepts(&trace, Model::Rf, &[4, 0, 1, 2, 3]);
    refuses(&trace, Model::Rf, &[0, 1, 4, 2], 3, Refusal::WouldBeWoken);
    accepts(&trace, Model::Sync, &[0, 1, 4, 2]);
}

#[test]
fn a_failed_attempt_that_could_succeed() {
    let trace = trace! {
        capabilities: values branches;
        a: w(x) = 1; b: af(x) = "1!5"; b: w(y) = 0; b: br; c: w(x) = 2; d: w(x) = 5;
    };
    accepts(&trace, Model::Rf, &[0, 1, 2, 3]);
    refuses(&trace, Model::Rf, &[1], 0, Refusal::UncleanAttempt);
    refuses(&trace, Model::Rf, &[0, 4, 1], 2, Refusal::UncleanAttempt);
    refuses(&trace, Model::Branch, &[0, 4, 1], 2, Refusal::UncleanAttempt);
    // At another known value it fails as well, but what it read is new.
    accepts(&trace, Model::Value, &[0, 4, 1]);
    refuses(&trace, Model::Value, &[0, 4, 1, 2], 3, Refusal::Tainted { read: EventId(1) });
    accepts(&trace, Model::BranchValue, &[0, 4, 1, 2]);
    refuses(&trace, Model::BranchValue, &[0, 4, 1, 2, 3], 4, Refusal::Tainted { read: EventId(1) });
    refuses(&trace, Model::Value, &[0, 5, 1], 2, Refusal::UncleanAttempt);
    // The initial value is not known.
    refuses(&trace, Model::Value, &[1], 0, Refusal::UncleanAttempt);
}

#[test]
fn a_failed_attempt_whose_reason_is_not_its_value() {
    let spurious = trace! { capabilities: values; a: w(x) = 1; b: af(x) = "1!1"; c: w(x) = 2; };
    let unknown = trace! { capabilities: values; a: w(x) = 1; b: af(x) = 1; c: w(x) = 2; };
    for trace in [&spurious, &unknown] {
        accepts(trace, Model::Value, &[0, 1]);
        refuses(trace, Model::Value, &[0, 2, 1], 2, Refusal::UncleanAttempt);
    }
    let tainted = trace! {
        capabilities: values branches;
        a: w(x) = 1; b: af(x) = "1!5"; c: r(z) = 0; c: w(x) = 2; d: w(z) = 3;
    };
    accepts(&tainted, Model::BranchValue, &[0, 2, 3, 1]);
    refuses(&tainted, Model::BranchValue, &[0, 4, 2, 3, 1], 4, Refusal::UncleanAttempt);
}

#[test]
fn a_clock_that_would_go_back() {
    let trace = trace! { a: look(c); b: look(c); b: w(x); d: look(e); };
    accepts(&trace, Model::Rf, &[0, 1, 2, 3]);
    accepts(&trace, Model::Rf, &[1, 2]);
    accepts(&trace, Model::Rf, &[3, 0]);
    for model in [Model::Sync, Model::Rf] {
        refuses(&trace, model, &[1, 0], 1, Refusal::LookedAlready { later: EventId(1) });
    }
}

#[test]
fn an_unseen_write_before_what_it_may_be_due_to() {
    let trace = trace! { a: w(y); b: w(z); c: unseen(x); c: r(x); a: w(y); };
    accepts(&trace, Model::Rf, &[1, 0, 2, 3]);
    accepts(&trace, Model::Rf, &[0, 1, 4, 2, 3]);
    for model in [Model::Sync, Model::Rf] {
        refuses(&trace, model, &[0, 2], 1, Refusal::UnseenTooEarly { missing: EventId(1) });
    }
}

#[test]
fn calls_out_of_their_order() {
    let trace = trace! { a: call("s.add(1)=true"); b: call("s.has(1)=true"); b: call("t.add(2)"); c: call("s.merge(t)"); };
    accepts(&trace, Model::Rf, &[0, 1, 2, 3]);
    refuses(&trace, Model::Rf, &[1], 0, Refusal::CallTooEarly { earlier: EventId(0) });
    refuses(&trace, Model::Rf, &[0, 1, 3], 2, Refusal::CallTooEarly { earlier: EventId(2) });
    accepts(&trace, Model::Sync, &[1]);
    fails(
        &trace,
        &[],
        Claim::CoEnabled(ids(&[0, 1])),
        Failure::MayNotRun { event: EventId(1), refusal: Refusal::CallTooEarly { earlier: EventId(0) } },
    );
}

#[test]
fn a_model_without_its_capability() {
    let trace = trace! { a: w(x); };
    for model in [Model::Value, Model::Branch, Model::BranchValue, Model::Dep, Model::DepValue] {
        assert_eq!(check(&trace, model, &[], Claim::CoEnabled(ids(&[0]))), Err(Rejection::Unsound { model }));
    }
}

#[test]
fn claims_that_do_not_hold() {
    let trace = trace! { a: w(x); a: w(x); b: r(x); c: w(y); };
    let sequence = |events: &[u32], adjacent: &[usize]| Claim::Sequence {
        events: ids(events),
        adjacent: adjacent.to_vec(),
    };
    fails(&trace, &[], Claim::CoEnabled(vec![]), Failure::Meaningless);
    fails(&trace, &[], Claim::CoEnabled(ids(&[2, 2])), Failure::SameThread(EventId(2), EventId(2)));
    let next = Refusal::NotNext { next: EventId(0) };
    fails(
        &trace,
        &[],
        Claim::CoEnabled(ids(&[1, 2])),
        Failure::MayNotRun { event: EventId(1), refusal: next },
    );
    fails(&trace, &[0, 1], sequence(&[0, 2], &[]), Failure::Missing(EventId(2)));
    fails(&trace, &[0, 2], sequence(&[2, 0], &[]), Failure::NotBefore(EventId(2), EventId(0)));
    fails(&trace, &[0, 3, 2], sequence(&[0, 2], &[0]), Failure::NotAdjacent(EventId(0), EventId(2)));
    fails(&trace, &[0, 2], sequence(&[0, 2], &[1]), Failure::Meaningless);
    fails(&trace, &[0], sequence(&[0], &[0]), Failure::Meaningless);
    fails(&trace, &[0], sequence(&[], &[]), Failure::Meaningless);
    let pairs =
        Claim::Before { pairs: vec![(EventId(0), EventId(2)), (EventId(3), EventId(0))], adjacent: vec![] };
    fails(&trace, &[0, 3, 2], pairs, Failure::NotBefore(EventId(3), EventId(0)));
}

#[test]
fn deadlocks_that_do_not_block() {
    let trace = trace! {
        a: acq(l); a: acq(m); a: rel(m); a: rel(l);
        b: acq(m); b: acq(l); b: rel(l); b: rel(m);
        c: acq(n); c: acq(l); c: rel(l); c: rel(n);
    };
    assert!(check(&trace, Model::Rf, &[0, 4], Claim::Deadlock(ids(&[1, 5]))).is_ok());
    assert!(check(&trace, Model::Rf, &[0, 4], Claim::Deadlock(ids(&[5, 1]))).is_ok());
    fails(&trace, &[0, 8], Claim::Deadlock(ids(&[1, 9])), Failure::NoCycle);
    fails(&trace, &[0, 4, 8], Claim::Deadlock(ids(&[1, 5, 9])), Failure::NoCycle);
    fails(&trace, &[0], Claim::Deadlock(ids(&[4])), Failure::NoCycle);
}

#[test]
fn a_deadlock_behind_a_dead_thread() {
    let trace = trace! { a: acq(l); a: end; };
    let two = trace! { a: fork(b); a: acq(l); a: rel(l); b: acq(l); b: end; };
    assert!(check(&two, Model::Rf, &[0, 3, 4], Claim::Deadlock(ids(&[1]))).is_ok());
    fails(&two, &[0, 3], Claim::Deadlock(ids(&[1])), Failure::NoCycle);
    fails(&trace, &[], Claim::Deadlock(ids(&[0])), Failure::NoCycle);
}

#[test]
fn a_sleep_that_somebody_may_end() {
    let trace = trace! {
        a: acq(l); a: rel(l); b: acq(l); b: notify(c); b: rel(l); a: wait(c); a: acq(l); a: rel(l); b: w(x);
    };
    let asleep = || Claim::Asleep(EventId(5));
    // The notification first, then the wait: it sleeps for ever.
    assert!(check(&trace, Model::Rf, &[2, 3, 4, 8, 0, 1], asleep()).is_ok());
    // b could still do something.
    let next = Some(EventId(8));
    fails(&trace, &[2, 3, 4, 0, 1], asleep(), Failure::NotAtRest { thread: trace.thread(EventId(8)), next });
    // It was notified in time, it has not started, its waker has not come.
    fails(&trace, &[0, 1, 2, 3, 4, 8], asleep(), Failure::NotAsleep(EventId(5)));
    fails(&trace, &[2, 3, 4, 8, 0], asleep(), Failure::NotAsleep(EventId(5)));
    fails(&trace, &[0, 1], asleep(), Failure::NotAsleep(EventId(5)));
    fails(&trace, &[2, 3, 4, 8, 0, 1], Claim::Asleep(EventId(3)), Failure::NotAsleep(EventId(3)));
    fails(&trace, &[], Claim::Asleep(EventId(99)), Failure::NotAsleep(EventId(99)));
}

#[test]
fn a_sleep_that_ends_by_itself_or_that_another_notification_ends() {
    let trace = trace! {
        a: acq(l); a: rel(l); a: look(clock); b: notify(c); a: wait(c); a: acq(l);
    };
    fails(&trace, &[3, 0, 1, 2], Claim::Asleep(EventId(4)), Failure::NotAsleep(EventId(4)));
    let trace = trace! { a: acq(l); a: rel(l); b: notify(c); a: wait(c); a: acq(l); b: notify(c); };
    fails(&trace, &[2, 0, 1, 5], Claim::Asleep(EventId(3)), Failure::NotAsleep(EventId(3)));
    assert!(check(&trace, Model::Rf, &[2, 5, 0, 1], Claim::Asleep(EventId(3))).is_ok());
}

#[test]
fn a_sleeper_whose_reason_to_wait_may_be_gone() {
    let trace = trace! { a: acq(l); a: r(x); a: rel(l); b: w(x); b: notify(c); a: wait(c); a: acq(l); };
    // It reads what b wrote, and may not wait at all then.
    let claim = Claim::Asleep(EventId(5));
    let step = Rejection::Step { step: 4, event: EventId(2), refusal: Refusal::Tainted { read: EventId(1) } };
    assert_eq!(check(&trace, Model::Rf, &[3, 4, 0, 1, 2], claim.clone()), Err(step));
    // Transparent events may run on, but not the wait.
    let trace = trace! {
        capabilities: branches; a: acq(l); a: r(x); a: rel(l); b: w(x); b: notify(c); a: wait(c); a: acq(l);
    };
    let answer = check(&trace, Model::Branch, &[3, 4, 0, 1, 2], claim);
    assert_eq!(answer, Err(Rejection::Claim(Failure::NotAsleep(EventId(5)))));
}

#[test]
fn a_thread_without_its_end_where_others_have_one() {
    let trace = trace! {
        a: acq(l); a: rel(l); b: acq(l); b: notify(c); b: rel(l); a: wait(c); a: acq(l); a: rel(l); a: end;
    };
    let failure = Failure::NotAtRest { thread: trace.thread(EventId(2)), next: None };
    fails(&trace, &[2, 3, 4, 0, 1], Claim::Asleep(EventId(5)), failure);
}

#[test]
fn a_deadlock_of_a_wait_and_an_acquire() {
    let trace = trace! {
        b: acq(k); b: rel(k); a: acq(k); a: acq(l); a: rel(l); b: notify(c); a: wait(c); a: acq(l); a: rel(l);
        a: rel(k);
    };
    let deadlock = || Claim::Deadlock(ids(&[0, 6]));
    assert!(check(&trace, Model::Rf, &[2, 3, 4], deadlock()).is_ok());
    // The other has the lock behind it.
    let refusal = Refusal::AlreadyRan;
    fails(&trace, &[0, 1, 2, 3, 4], deadlock(), Failure::MayNotRun { event: EventId(0), refusal });
    // Not asleep yet; not held; no cycle alone; twice the same thread.
    fails(&trace, &[2, 3], deadlock(), Failure::NotAsleep(EventId(6)));
    fails(&trace, &[2, 3, 4], Claim::Deadlock(ids(&[6])), Failure::NoCycle);
    // A third thread could notify after all.
    let trace = trace! {
        b: acq(k); b: rel(k); a: acq(k); a: acq(l); a: rel(l); b: notify(c); a: wait(c); a: acq(l); a: rel(l);
        a: rel(k); d: w(x);
    };
    let (thread, next) = (trace.thread(EventId(10)), Some(EventId(10)));
    fails(&trace, &[2, 3, 4], deadlock(), Failure::NotAtRest { thread, next });
    assert!(check(&trace, Model::Rf, &[10, 2, 3, 4], deadlock()).is_ok());
}

#[test]
fn a_read_of_what_was_written() {
    let trace = trace! { a: w(x); b: w(x); c: r(x); };
    let unwritten = || Claim::Unwritten(EventId(2));
    assert!(check(&trace, Model::Rf, &[2, 0], unwritten()).is_ok());
    fails(&trace, &[0, 2], unwritten(), Failure::Written(EventId(2)));
    // Before one write is not before all.
    fails(&trace, &[1, 2, 0], unwritten(), Failure::Written(EventId(2)));
    fails(&trace, &[0], unwritten(), Failure::Missing(EventId(2)));
    fails(&trace, &[0], Claim::Unwritten(EventId(0)), Failure::Written(EventId(0)));
    let trace = trace! { a: alloc(p); b: w(p.f); c: r(p.f); a: free(p); };
    assert!(check(&trace, Model::Rf, &[0, 2], unwritten()).is_ok());
    fails(&trace, &[1, 0, 2], unwritten(), Failure::Written(EventId(2)));
    fails(&trace, &[0, 3, 2], unwritten(), Failure::Written(EventId(2)));
}
