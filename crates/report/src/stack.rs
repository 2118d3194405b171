//! Stacks: the site of an event and the calls that led there, as texts.

use std::collections::BTreeMap;

use reweave_trace::{EventId, Op, ThreadId, Trace, VarId};

use crate::event::{self, clean};
use crate::json::predict::Origin;

/// How many calls are told of one event; a stack as deep as that says no more than its innermost calls.
const MAX_FRAMES: usize = 64;

/// The site of `event` and those of the calls that led there, the last one first; the site alone where no call is known.
pub(crate) fn stack(trace: &Trace, event: EventId) -> Vec<String> {
    let sites = std::iter::once(trace.site(event)).chain(trace.callers(event));
    sites.map(|site| trace.site_name(site).to_owned()).take(MAX_FRAMES).collect()
}

/// Whether calls are known of a trace.
pub(crate) fn known(trace: &Trace) -> bool {
    !trace.names().contexts.is_empty()
}

/// Where threads were created, and objects allocated.
#[derive(Default)]
pub(crate) struct Origins {
    forks: BTreeMap<ThreadId, EventId>,
    births: BTreeMap<VarId, EventId>,
}

impl Origins {
    /// Those of `trace`, of which nothing is looked for where no calls are known. One pass.
    pub(crate) fn new(trace: &Trace) -> Origins {
        let mut origins = Origins::default();
        if !known(trace) {
            return origins;
        }
        for (id, event) in trace.events() {
            match event.op {
                Op::Fork(child) => _ = origins.forks.insert(child, id),
                Op::Alloc(object) => _ = origins.births.insert(object, id),
                _ => {}
            }
        }
        origins
    }

    /// What the threads and objects of some events come from, in order of the events, each once.
    pub(crate) fn of(&self, trace: &Trace, events: &[EventId]) -> Vec<Origin> {
        let mut found: Vec<Origin> = Vec::new();
        let mut add = |what: &str, name: &str, birth: EventId| {
            if found.iter().all(|other| other.event != birth.0) {
                let (name, by) = (name.to_owned(), trace.thread_name(trace.thread(birth)).to_owned());
                found.push(Origin {
                    what: what.to_owned(),
                    name,
                    by,
                    event: birth.0,
                    stack: stack(trace, birth),
                });
            }
        };
        let events = events.iter().filter(|&&id| event::op(trace, id).is_some());
        for &id in events.clone() {
            if let Some(&fork) = self.forks.get(&trace.thread(id)) {
                add("thread", trace.thread_name(trace.thread(id)), fork);
            }
        }
        for &id in events {
            let Some(access) = trace.op(id).access() else { continue };
            for object in trace.objects().around(access.variable) {
                if let Some(&birth) = self.births.get(&object).filter(|&&birth| birth != id) {
                    add("object", trace.variable_name(object), birth);
                }
            }
        }
        found
    }
}

/// The frames of a stack in ThreadSanitizer's form, with `more` behind the first.
pub(crate) fn lines(stack: &[String], more: &str) -> Vec<String> {
    let line = |(place, site): (usize, &String)| {
        let site = if site.is_empty() { "?".into() } else { clean(site) };
        format!("#{place} {site}{}", if place == 0 { more } else { "" })
    };
    stack.iter().enumerate().map(line).collect()
}
