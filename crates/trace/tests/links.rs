//! Links against their definitions, on random traces.

use reweave_testkit::{Shape, ValueMode, generate, show, trace};
use reweave_trace::{EventId, Kind, Links, Op, ProgramOrder, Space, ThreadId, Trace};

fn traces() -> impl Iterator<Item = Trace> {
    let presets = Shape::presets();
    (0..20_000u64).map(move |seed| {
        let (_, shape) = presets[seed as usize % presets.len()].clone();
        generate(&shape.with_values(ValueMode::All), seed)
    })
}

/// Whether `write` writes the variable that `read` reads, by their names.
fn writes(trace: &Trace, write: EventId, read: EventId) -> bool {
    let (Some(access), Some(other)) = (trace.op(write).access(), trace.op(read).access()) else {
        return false;
    };
    let (name, variable) = (trace.variable_name(access.variable), trace.variable_name(other.variable));
    let field = variable.strip_prefix(name).is_some_and(|rest| rest.starts_with('.'));
    access.writes && (name == variable || access.lifetime && field)
}

#[test]
fn a_read_observes_the_last_write_before_it() {
    for trace in traces() {
        let links = Links::new(&trace);
        for read in trace.ids().filter(|&id| trace.kind(id).reads()) {
            let last = trace.ids().take(read.index()).rev().find(|&write| writes(&trace, write, read));
            assert_eq!(links.observed(read), last, "{read:?}\n{}", show(&trace));
        }
    }
}

#[test]
fn a_release_closes_the_latest_open_acquire() {
    for trace in traces() {
        let links = Links::new(&trace);
        let mut open: Vec<EventId> = Vec::new();
        for (id, event) in trace.events() {
            let side = |kind| matches!(kind, Kind::SharedAcquire | Kind::SharedRelease);
            let same = |&acquire: &EventId| {
                let other = trace.event(acquire);
                other.thread == event.thread
                    && other.op.target() == event.op.target()
                    && side(other.op.kind()) == side(event.op.kind())
            };
            match event.op {
                Op::Acquire(_) | Op::TryAcquire(_) | Op::SharedAcquire(_) => {
                    assert_eq!(links.is_outermost(id), !open.iter().any(same), "{id:?}\n{}", show(&trace));
                    open.push(id);
                }
                Op::Release(_) | Op::SharedRelease(_) => {
                    let place = open.iter().rposition(same).expect("the trace is well formed");
                    let acquire = open.remove(place);
                    assert_eq!((links.partner(id), links.partner(acquire)), (Some(acquire), Some(id)));
                    assert_eq!(links.is_outermost(id), links.is_outermost(acquire));
                }
                _ => {}
            }
        }
        assert!(open.iter().all(|&acquire| links.partner(acquire).is_none()));
    }
}

#[test]
fn each_notify_wakes_at_most_one_wait() {
    for trace in traces() {
        let links = Links::new(&trace);
        let order = ProgramOrder::new(&trace);
        let mut taken: Vec<EventId> = Vec::new();
        for (wait, event) in trace.events().filter(|(_, event)| event.op.kind() == Kind::Wait) {
            let link = links.wait(wait).expect("every wait has a link");
            let events = order.of(event.thread);
            let place = events.iter().position(|&e| e == wait).unwrap();
            assert_eq!(link.start, if place == 0 { wait } else { events[place - 1] });
            let earliest = (link.start.0 + 1..wait.0).map(EventId).find(|&n| {
                let notifies = matches!(trace.kind(n), Kind::Notify | Kind::NotifyAll);
                notifies && trace.op(n).target() == event.op.target() && !taken.contains(&n)
            });
            assert_eq!(link.waker, earliest, "{wait:?}\n{}", show(&trace));
            taken.extend(earliest.filter(|&n| trace.kind(n) == Kind::Notify));
        }
    }
}

#[test]
fn forks_initial_values_and_program_order() {
    for trace in traces() {
        let (links, order) = (Links::new(&trace), ProgramOrder::new(&trace));
        for thread in (0..trace.count(Space::Thread) as u32).map(ThreadId) {
            let fork = trace.ids().find(|&id| trace.op(id) == Op::Fork(thread));
            assert_eq!(links.fork(thread), fork);
            let events: Vec<EventId> =
                trace.events().filter(|(_, e)| e.thread == thread).map(|(id, _)| id).collect();
            assert_eq!(order.of(thread), events);
        }
        for read in trace.ids().filter(|&id| trace.kind(id).reads() && links.observed(id).is_none()) {
            let variable = trace.op(read).access().unwrap().variable;
            assert_eq!(links.initial_value(variable), trace.values(read).read);
        }
    }
}

#[test]
fn accesses_conflict_as_the_law_says() {
    let trace = trace! { a: w(x); b: r(x); b: ar(x); c: au(x); c: free(p); a: aw(p.f); a: r(x); d: r(y); };
    let conflicts: Vec<(u32, u32)> = (0..8)
        .flat_map(|a| (0..a).map(move |b| (b, a)))
        .filter(|&(a, b)| trace.conflict(EventId(a), EventId(b)))
        .collect();
    assert_eq!(conflicts, [(0, 1), (0, 2), (0, 3), (1, 3), (4, 5), (3, 6)]);
}
