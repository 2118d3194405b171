//! What the machine takes a call to return, against what it would really return.
//!
//! Random programs call an object of each built-in type, which is not empty at first. Every schedule that the machine accepts is
//! executed: each call must be possible and return what was recorded.

use reweave_spec::links;
use reweave_testkit::calls::{Object, Outcome, TYPES, random_call, text};
use reweave_testkit::{Rng, show};
use reweave_trace::{Builder, Event, EventId, EventValues, Model, Op, ProgramOrder, Trace};
use reweave_witness::{Checker, Machine};

type Made = (usize, (&'static str, Vec<i64>), Option<String>);

/// A run of three threads that call one object, and what each event was.
fn recorded(of: usize, rng: &mut Rng) -> (Trace, Object, Vec<Made>) {
    let mut start = Object::new(of, rng);
    for _ in 0..rng.below(5) {
        let call = random_call(of, rng);
        let mut after = start.clone();
        if after.call(call.0, &call.1) != Outcome::Impossible {
            start = after;
        }
    }
    let (mut object, mut made) = (start.clone(), Vec::new());
    let mut builder = Builder::new();
    for _ in 0..30 {
        let call = random_call(of, rng);
        let mut after = object.clone();
        let Outcome::Done(result) = after.call(call.0, &call.1) else { continue };
        object = after;
        let thread = rng.below(3);
        let event = Event {
            thread: builder.thread(&format!("T{thread}")).unwrap(),
            op: Op::Call(builder.call(&text(of, "o", &call, result.as_deref())).unwrap()),
            site: builder.site("s").unwrap(),
        };
        builder.push(event, EventValues::NONE).unwrap();
        made.push((thread, call, result));
        if made.len() == 7 {
            break;
        }
    }
    (builder.finish().unwrap(), start, made)
}

/// Executes every schedule that the machine accepts from here on; says how many steps there were.
fn explore(
    machine: &Machine<'_>,
    order: &ProgramOrder,
    object: &Object,
    made: &[Made],
    trace: &Trace,
) -> u64 {
    let mut steps = 0;
    for thread in 0..order.threads() {
        let events = order.of(reweave_trace::ThreadId::from_index(thread));
        let Some(&event) = events.iter().find(|&&event| !machine.has_run(event)) else { continue };
        let mut next = machine.clone();
        if next.step(event).is_err() {
            continue;
        }
        let (_, call, result) = &made[event.index()];
        let mut after = object.clone();
        let really = after.call(call.0, &call.1);
        assert_eq!(really, Outcome::Done(result.clone()), "{event:?} is not what it was\n{}", show(trace));
        steps += 1 + explore(&next, order, &after, made, trace);
    }
    steps
}

#[test]
fn no_call_returns_anything_else() {
    let mut commuted = 0;
    for of in 0..TYPES.len() {
        for seed in 0..120 {
            let (trace, start, made) = recorded(of, &mut Rng::new(seed * 31 + of as u64));
            let (links, order) = (links(&trace), ProgramOrder::new(&trace));
            let machine = Checker::new(&trace, &links, &order).machine(Model::Rf).unwrap();
            let steps = explore(&machine, &order, &start, &made, &trace);
            let total = trace.len() as u64;
            commuted += u64::from(steps > total);
            // The observed run is one of them.
            let mut observed = machine.clone();
            (0..trace.len()).for_each(|event| observed.step(EventId::from_index(event)).unwrap());
        }
    }
    assert!(commuted > 800, "only {commuted} traces have calls that change places");
}
