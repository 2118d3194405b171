//! Calls that follow specifications.

mod common;

use std::rc::Rc;

use common::{explore, policy, saturate, specified, wanted};
use reweave_explore::{
    Error, Explorer, Failure, Init, Limits, Objects, Outcome, Policy, Script, Scripted, Specified, Steps,
};
use reweave_spec::{Spec, Value, builtin};
use reweave_testkit::Rng;
use reweave_testkit::interleave::{Flavour, draw, everything};

fn drawn(seed: u64) -> reweave_testkit::interleave::Small {
    draw(&mut Rng::new(seed * 7 + 3), Flavour::Calls)
}

/// With commuting calls and without: what brute force finds, in fewer states.
#[test]
fn the_switch_changes_nothing_but_the_cost() {
    let (mut with, mut without) = (0, 0);
    for seed in 0..150 {
        let program = drawn(seed);
        let Some(oracle) = everything(&program, 6_000) else { continue };
        let (found, report) = explore(&program, true, None);
        let ordered = Explorer::with_objects(policy(&program), specified(), false);
        let (same, more) = saturate(ordered, &program);
        assert_eq!(found, wanted(&oracle), "{seed}: {program:?}");
        assert_eq!(same, wanted(&oracle), "{seed}: {program:?}");
        with += report.counts.states;
        without += more.counts.states;
    }
    println!("{with} states, {without} in order");
    assert!(with * 10 < without * 9, "{with} {without}");
}

/// The specifications with one more claim: all calls on one object commute.
struct Careless(Rc<Specified>);

impl Objects for Careless {
    fn call(&self, class: u32, state: u64, call: u64) -> Vec<(u64, Outcome)> {
        self.0.call(class, state, call)
    }

    fn commute(&self, _: u32, _: u64, _: u64) -> bool {
        true
    }
}

#[test]
fn a_wrong_claim_is_seen_by_the_oracle() {
    let caught = (0..300).any(|seed| {
        let program = drawn(seed);
        let Some(oracle) = everything(&program, 2_000) else { return false };
        let careless: Rc<dyn Objects> = Rc::new(Careless(specified()));
        let explorer = Explorer::with_objects(policy(&program), careless, true);
        saturate(explorer, &program).0 != wanted(&oracle)
    });
    assert!(caught);
}

/// One worker per call, on one object of a type.
fn calls(of: reweave_spec::Type, calls: &[(&str, &[i64])], commuting: bool) -> Result<(u64, u64), Error> {
    let objects = Rc::new(Specified::default());
    let (class, state) = objects.add(of);
    let numbers: Vec<u64> = calls
        .iter()
        .map(|(method, arguments)| {
            let values: Vec<Value> = arguments.iter().map(|&value| Value::Int(value)).collect();
            objects.number(class, method, &values).expect("a method of the type")
        })
        .collect();
    let work = |index: u32, script: &mut Script<'_>| -> Steps {
        script.call(0, numbers[index as usize])?;
        Ok(())
    };
    let run = |trace: bool| {
        let mut program = Scripted::new([Init::Object { class, state }], numbers.len() as u32, &work);
        let mut explorer =
            Explorer::with_objects(Policy::default(), Rc::clone(&objects) as Rc<dyn Objects>, commuting);
        if trace {
            explorer.trace(&mut program, &Limits::default()).map(|report| report.counts.executions)
        } else {
            explorer.saturate(&mut program, &Limits::default()).map(|report| report.counts.runs)
        }
    };
    Ok((run(false)?, run(true)?))
}

fn type_of(text: &str) -> reweave_spec::Type {
    Spec::parse(text).expect("a specification").types.remove(0)
}

#[test]
fn commuting_calls_are_run_in_one_order() {
    let counter = || builtin("counter").expect("built in").types.remove(0);
    let set = || builtin("set").expect("built in").types.remove(0);
    let none: &[i64] = &[];
    let inc = [("inc", none); 5];
    assert_eq!(calls(counter(), &inc, true).expect("an answer"), (1, 1));
    assert_eq!(calls(counter(), &inc, false).expect("an answer"), (1, 120));
    let adds: &[(&str, &[i64])] = &[("add", &[1]), ("add", &[2]), ("add", &[3]), ("size", &[])];
    // Size sees from none to three elements; which three of them came before it makes eight classes.
    assert_eq!(calls(set(), adds, true).expect("an answer"), (4, 8));
}

/// A claim that is wrong in a state which the search meets: no answer, and the claim is named.
#[test]
fn a_wrong_specification_is_named() {
    let text = "type list sync internal\n  state s: set\n  method add(v) = new { new := not has(s, v); s := insert(s, v) }\n  \
                method size() = n { n := len(s) }\n  commute add add, add size if true\n";
    let error = calls(type_of(text), &[("add", &[1]), ("size", &[])], true).expect_err("no answer");
    let text = error.to_string();
    assert!(text.contains("list.add(1) and list.size() commute, and in the state"), "{text}");
}

/// A queue that is full after eight sends: a claim that holds of shorter ones is seen to be wrong.
#[test]
fn a_claim_that_fails_only_when_the_queue_is_full_is_named() {
    let text = "type ring sync internal\n  state q: seq\n  method try_send(v) = sent { sent := len(q) < 3; if sent { q := push(q, v) } }\n  \
                method recv() = r when len(q) > 0 { r := first(q); q := rest(q) }\n  \
                commute try_send recv if r2 != nil\n  commute try_send try_send if true\n";
    let sends: Vec<(&str, &[i64])> = vec![("try_send", &[1]); 4];
    assert!(calls(type_of(text), &sends, true).is_err());
}

/// A call that waits goes on when another lets it, and is a deadlock where none does.
#[test]
fn calls_may_wait() {
    for (takers, fails) in [(1, false), (2, true)] {
        let objects = Rc::new(Specified::default());
        let (class, state) = objects.add(builtin("queue").expect("built in").types.remove(0));
        let take = objects.number(class, "take", &[]).expect("a method");
        let enq = objects.number(class, "enq", &[Value::Int(7)]).expect("a method");
        let work = |index: u32, script: &mut Script<'_>| -> Steps {
            script.call(0, if index == 0 { enq } else { take })?;
            Ok(())
        };
        for engine in [Explorer::saturate, Explorer::trace] {
            let mut program = Scripted::new([Init::Object { class, state }], takers + 1, &work);
            let shared = Rc::clone(&objects) as Rc<dyn Objects>;
            let mut explorer = Explorer::with_objects(Policy::default(), shared, true);
            let report = engine(&mut explorer, &mut program, &Limits::default()).expect("an answer");
            assert_eq!(report.proved, !fails);
            let deadlock = matches!(report.first, Some((Failure::Deadlock { .. }, _)));
            assert_eq!(deadlock, fails);
        }
    }
    let objects = Specified::default();
    let (class, _) = objects.add(builtin("queue").expect("built in").types.remove(0));
    let error = objects.number(class, "push", &[]).expect_err("no method");
    assert!(error.to_string().contains("`queue` has no method `push`: expected one of enq, deq"), "{error}");
    let error = objects.number(class, "enq", &[]).expect_err("no argument");
    assert_eq!(error.to_string(), "`queue.enq` takes 1 arguments, not 0");
}

/// `enq(1); deq` beside `deq`, where two `deq` are said to commute if they return the same: each gets the element in some order.
#[test]
fn calls_that_commute_by_their_results_are_run_in_both_orders() {
    let text = "type fifo sync internal\n  state q: seq\n  method enq(x) { q := push(q, x) }\n  \
                method deq() = r { r := first(q); q := rest(q) }\n  commute deq deq if r1 == r2\n";
    let objects = Rc::new(Specified::default());
    let (class, state) = objects.add(type_of(text));
    let enq = objects.number(class, "enq", &[Value::Int(1)]).expect("a method");
    let deq = objects.number(class, "deq", &[]).expect("a method");
    let work = |index: u32, script: &mut Script<'_>| -> Steps {
        if index == 0 {
            script.call(0, enq)?;
        }
        script.call(0, deq)?;
        Ok(())
    };
    for engine in [Explorer::saturate, Explorer::trace] {
        let mut program = Scripted::new([Init::Object { class, state }], 2, &work);
        let shared = Rc::clone(&objects) as Rc<dyn Objects>;
        let mut explorer = Explorer::with_objects(Policy::default(), shared, true);
        engine(&mut explorer, &mut program, &Limits::default()).expect("an answer");
        for thread in [1, 2] {
            let own = |node: &reweave_explore::NodeId| explorer.thread(*node).0 == thread;
            let mut seen: Vec<Option<Value>> = explorer
                .histories()
                .filter(own)
                .filter_map(|node| explorer.history(node).last().map(|(_, outcome)| *outcome))
                .filter_map(|outcome| objects.result(deq, outcome).map(Some))
                .collect();
            seen.sort();
            seen.dedup();
            assert!(
                seen.contains(&Some(Value::Int(1))) && seen.contains(&Some(Value::Nil)),
                "{thread}: {seen:?}"
            );
        }
    }
}

/// Two calls each of which makes the other wait: in no order are both done, and so a claim is never tested by what is done.
#[test]
fn calls_that_shut_each_other_out_do_not_commute() {
    let text = "type once_map sync internal\n  state m: map\n  method put(k, v) when m[k] == nil { m[k] := v }\n  \
                commute put put if true\n";
    let puts: &[(&str, &[i64])] = &[("put", &[1, 1]), ("put", &[1, 2])];
    assert!(calls(type_of(text), puts, true).is_err());
}
