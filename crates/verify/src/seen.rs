//! What came in a recorded run: patterns in their wrong order, and what kept others from it.

use reweave_capture::Step;
use reweave_trace::{EventId, Trace, VarId};

use crate::code::Code;
use crate::held::common_lock;

/// So many events of its thread may lie between the first and the last of a pattern.
const DISTANCE: usize = 200;
/// So many beginnings of a pattern are tried.
const MOST: usize = 10_000;

/// A pattern: per event its operation, and which of its threads and variables it is of.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Shape {
    /// The operations.
    pub operations: Vec<usize>,
    /// The thread of each, numbered as they come.
    pub threads: Vec<usize>,
    /// The variable of each, numbered as they come; none where it is no access.
    pub variables: Vec<Option<usize>>,
}

impl Shape {
    /// The shape of events; none where one is not of the program itself.
    pub fn new(trace: &Trace, steps: &[Step], code: &Code, events: &[EventId]) -> Option<Shape> {
        let operation = |&event: &EventId| {
            let place = steps.get(event.index())?.place;
            code.at(place.offset).filter(|_| place.module == Some(0))
        };
        let operations = events.iter().map(operation).collect::<Option<Vec<usize>>>()?;
        let threads = numbered(events.iter().map(|&event| trace.thread(event)));
        let variable = |event: EventId| trace.op(event).access().map(|access| access.variable);
        let all: Vec<Option<VarId>> = events.iter().map(|&event| variable(event)).collect();
        let numbers = numbered(all.iter().copied());
        let variables = all.iter().zip(numbers).map(|(variable, number)| variable.map(|_| number)).collect();
        Some(Shape { operations, threads, variables })
    }
}

/// Equal things get equal numbers, in the order in which they come.
fn numbered<T: PartialEq>(things: impl Iterator<Item = T>) -> Vec<usize> {
    let mut known = Vec::new();
    things
        .map(|thing| {
            known.iter().position(|one| *one == thing).unwrap_or_else(|| {
                known.push(thing);
                known.len() - 1
            })
        })
        .collect()
}

/// The events of a trace that are of operations of a pattern, in order.
fn events_of(shape: &Shape, trace: &Trace, steps: &[Step], code: &Code) -> Vec<(EventId, usize)> {
    let operation = |event: EventId| {
        let place = steps.get(event.index())?.place;
        code.at(place.offset).filter(|_| place.module == Some(0))
    };
    trace
        .ids()
        .filter_map(|event| Some((event, operation(event)?)))
        .filter(|(_, operation)| shape.operations.contains(operation))
        .collect()
}

/// The events of a recorded run that have a pattern in its order, the nearest ones to its beginning; none where it did not come.
pub fn came(shape: &Shape, trace: &Trace, steps: &[Step], code: &Code) -> Option<Vec<EventId>> {
    let events = events_of(shape, trace, steps, code);
    let first = *shape.operations.first()?;
    let starts = events.iter().enumerate().filter(|(_, (_, operation))| *operation == first).take(MOST);
    starts.map(|(at, _)| at).find_map(|at| follow(shape, trace, &events, at))
}

/// The pattern from one beginning on, each event as soon as it comes.
fn follow(shape: &Shape, trace: &Trace, events: &[(EventId, usize)], at: usize) -> Option<Vec<EventId>> {
    let mut chosen: Vec<EventId> = Vec::new();
    let mut own = 0;
    for &(event, operation) in events.get(at..)? {
        let next = chosen.len();
        if let Some(&first) = chosen.first() {
            own += usize::from(trace.thread(first) == trace.thread(event));
            // A second try of the thread begins another instance.
            if own > DISTANCE {
                return None;
            }
        }
        if shape.operations.get(next) == Some(&operation) && fits(shape, trace, &chosen, event) {
            chosen.push(event);
            if chosen.len() == shape.operations.len() {
                return Some(chosen);
            }
        }
    }
    None
}

/// Whether an event can be the next of those chosen: of the right thread and variable.
fn fits(shape: &Shape, trace: &Trace, chosen: &[EventId], event: EventId) -> bool {
    let next = chosen.len();
    let variable = |event: EventId| trace.op(event).access().map(|access| access.variable);
    chosen.iter().enumerate().all(|(place, &other)| {
        let same_thread = shape.threads.get(place) == shape.threads.get(next);
        let (mine, theirs) =
            (shape.variables.get(next).copied().flatten(), shape.variables.get(place).copied().flatten());
        let variables = match (mine, theirs) {
            (Some(mine), Some(theirs)) => (mine == theirs) == (variable(event) == variable(other)),
            _ => true,
        };
        same_thread == (trace.thread(other) == trace.thread(event)) && variables
    })
}

/// The first events of a trace that are of these operations, in whatever order, in threads as they should be.
pub fn instance(
    wanted: &[Vec<usize>],
    threads: &[usize],
    trace: &Trace,
    steps: &[Step],
    code: &Code,
) -> Option<Vec<EventId>> {
    let mut chosen: Vec<EventId> = Vec::new();
    for (place, operations) in wanted.iter().enumerate() {
        let found = trace.ids().find(|&event| {
            let Some(step) = steps.get(event.index()).filter(|step| step.place.module == Some(0)) else {
                return false;
            };
            let is_it = code.at(step.place.offset).is_some_and(|one| operations.contains(&one));
            is_it
                && chosen.iter().enumerate().all(|(other, &earlier)| {
                    (threads.get(other) == threads.get(place))
                        == (trace.thread(earlier) == trace.thread(event))
                })
        });
        chosen.push(found?);
    }
    Some(chosen)
}

/// A lock that all events of such an instance hold.
pub fn excluded_by(
    wanted: &[Vec<usize>],
    threads: &[usize],
    trace: &Trace,
    steps: &[Step],
    code: &Code,
) -> Option<String> {
    common_lock(trace, &instance(wanted, threads, trace, steps, code)?)
}
