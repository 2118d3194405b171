//! Candidates for calls in the wrong order.
//!
//! A specification says which call must not come after which, because it then fails or something is lost. Two calls of two threads
//! that came in the right order are a candidate where the must order does not keep them so. Locks and condition variables are used by
//! other operations than calls; a call that ends their life, by the same name, is paired with those.

use hashbrown::HashMap;
use reweave_decide::{Must, Prepared};
use reweave_spec::{Calls, Rule};
use reweave_trace::CallRelation;
use reweave_trace::{CallId, CallParts, EventId, Op, Relation, SiteId, Space, ThreadId, Trace};

use crate::groups::{Candidate, Groups};
use crate::orders::starts;
use crate::{Kind, Pattern};

/// Of one thread, site and call the last event is enough, unless every candidate is wanted.
type Key = (ThreadId, SiteId, Option<CallId>, Option<EventId>);

/// Calls, and uses of locks and condition variables, that may come too late.
pub(crate) fn candidates(prepared: &Prepared<'_>, must: &Must<'_>, groups: &mut Groups<'_>) {
    let trace = prepared.trace;
    if trace.names().space(Space::Call).iter().next().is_none() {
        return;
    }
    let objects = prepared.links.call_objects();
    let mut calls: Vec<Recent> = vec![Recent::default(); objects.count()];
    let mut uses: HashMap<&str, Recent> = HashMap::new();
    let starts = starts(prepared);
    for (id, event) in trace.events() {
        if groups.stopped() {
            return;
        }
        let every = groups.all().then_some(id);
        let awaited = starts.get(&id).and_then(|&wait| trace.target_name(wait));
        for name in used(trace, event.op).into_iter().chain(awaited) {
            uses.entry(name).or_default().add((event.thread, event.site, None, every), id);
        }
        let Op::Call(call) = event.op else { continue };
        for &object in objects.of(call) {
            for &(earlier, then) in &calls[object as usize].events {
                let other = trace.thread(then) != event.thread;
                if other
                    && earlier
                        .2
                        .is_some_and(|first| prepared.calls.relation(first, call) == Relation::Ordered)
                    && !must.before(then, id)
                {
                    groups.add(Kind::Order, Pattern::CallOrder, Candidate::ahead(id, then));
                }
            }
            calls[object as usize].add((event.thread, event.site, Some(call), every), id);
        }
        if prepared.calls.use_rule(call).is_some() {
            let object = CallParts::of(trace.names().space(Space::Call).get(call.0)).object;
            // Whoever uses the name after this uses another object.
            for (_, then) in uses.remove(object).unwrap_or_default().events {
                if trace.thread(then) != event.thread && !must.before(then, id) {
                    groups.add(Kind::Order, Pattern::CallOrder, Candidate::ahead(id, then));
                }
            }
        }
    }
}

/// The rule that a finding breaks: `first` came after `then`, and now comes before it.
pub fn rule(trace: &Trace, first: EventId, then: EventId) -> Option<Rule> {
    let calls = Calls::new(trace);
    let Op::Call(ahead) = trace.op(first) else { return None };
    match trace.op(then) {
        Op::Call(late) => calls.rule(late, ahead),
        _ => calls.use_rule(ahead),
    }
}

/// The name of the lock or condition variable that an operation uses. Who gives a lock back got it before its end. A wait uses its
/// condition variable where it starts, at the event before it; what it does when it was awakened is no use.
fn used(trace: &Trace, op: Op) -> Option<&str> {
    match op {
        Op::Acquire(_)
        | Op::TryAcquire(_)
        | Op::Busy(_)
        | Op::SharedAcquire(_)
        | Op::Notify(_)
        | Op::NotifyAll(_) => trace.target_name(op),
        _ => None,
    }
}

/// Events that a later one may go ahead of, in order of their first appearance.
#[derive(Clone, Default)]
struct Recent {
    events: Vec<(Key, EventId)>,
    places: HashMap<Key, usize>,
}

impl Recent {
    fn add(&mut self, key: Key, event: EventId) {
        let next = self.events.len();
        let place = *self.places.entry(key).or_insert(next);
        if place == next {
            self.events.push((key, event));
        } else {
            self.events[place].1 = event;
        }
    }
}
