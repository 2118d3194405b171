//! Calling contexts: through which calls a thread came to an event.
//!
//! A context is a call and the context that the call was made in, so that all contexts are a tree, whose root is
//! [`ContextId::NONE`]. A thread is in one context for many events in a row: what is kept is where it changes, eight bytes
//! each, and nothing at all in a trace without contexts. No analysis looks at them; reports do.

use hashbrown::HashMap;

use crate::{ContextId, Error, EventId, SiteId, ThreadId};

impl ContextId {
    /// No call: the function that the thread started with, or nothing is known.
    pub const NONE: ContextId = ContextId(0);
}

/// The tree of contexts.
#[derive(Clone, Default, Debug)]
pub struct Contexts {
    /// Per context but the root, in order of ids: the context of the call, and its site.
    calls: Vec<(ContextId, SiteId)>,
    known: HashMap<(ContextId, SiteId), ContextId>,
}

impl Contexts {
    /// How many contexts there are, the root not counted.
    pub fn len(&self) -> usize {
        self.calls.len()
    }

    /// Whether there is none but the root.
    pub fn is_empty(&self) -> bool {
        self.calls.is_empty()
    }

    /// The context that the call at `site` leads to from `parent`.
    ///
    /// `parent` must come from here.
    pub(crate) fn intern(&mut self, parent: ContextId, site: SiteId) -> Result<ContextId, Error> {
        if parent.index() > self.calls.len() {
            return Err(Error::UnknownName);
        }
        if let Some(&known) = self.known.get(&(parent, site)) {
            return Ok(known);
        }
        if self.calls.len() >= u32::MAX as usize - 1 {
            return Err(Error::TooMany { what: "calling contexts" });
        }
        self.calls.push((parent, site));
        let new = ContextId::from_index(self.calls.len());
        self.known.insert((parent, site), new);
        Ok(new)
    }

    /// The context that a context's last call was made in, and the site of that call; nothing for the root.
    #[inline]
    pub fn call(&self, context: ContextId) -> Option<(ContextId, SiteId)> {
        context.index().checked_sub(1).and_then(|place| self.calls.get(place)).copied()
    }

    /// The sites of the calls that led to a context, the last call first.
    pub fn callers(&self, context: ContextId) -> impl Iterator<Item = SiteId> + '_ {
        let mut next = context;
        // A call's context is older than what the call leads to, so this ends.
        std::iter::from_fn(move || {
            let (parent, site) = self.call(next)?;
            next = parent;
            Some(site)
        })
    }
}

/// Which context each event was in.
#[derive(Clone, Default, Debug)]
pub(crate) struct Calling {
    /// Per thread, the positions from which on it was in another context, in order.
    changes: Vec<Vec<(u32, ContextId)>>,
}

impl Calling {
    /// From `position` on, events of `thread` are in `context`; positions must not go back.
    pub(crate) fn change(&mut self, position: usize, thread: ThreadId, context: ContextId) {
        if self.changes.len() <= thread.index() {
            self.changes.resize(thread.index() + 1, Vec::new());
        }
        let changes = &mut self.changes[thread.index()];
        match changes.last_mut() {
            Some(last) if last.0 == position as u32 => last.1 = context,
            Some(last) if last.1 == context => {}
            _ => changes.push((position as u32, context)),
        }
    }

    pub(crate) fn get(&self, event: EventId, thread: ThreadId) -> ContextId {
        let Some(changes) = self.changes.get(thread.index()) else { return ContextId::NONE };
        let after = changes.partition_point(|&(position, _)| position <= event.0);
        after.checked_sub(1).and_then(|place| changes.get(place)).map_or(ContextId::NONE, |change| change.1)
    }

    /// Every change, in order of positions.
    pub(crate) fn in_order(&self) -> Vec<(EventId, ThreadId, ContextId)> {
        let mut all: Vec<_> = (0..)
            .map(ThreadId)
            .zip(&self.changes)
            .flat_map(|(thread, changes)| changes.iter().map(move |&(at, to)| (EventId(at), thread, to)))
            .collect();
        all.sort_unstable_by_key(|&(position, thread, _)| (position, thread));
        all
    }

    pub(crate) fn clear(&mut self) {
        self.changes.clear();
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn contexts_are_interned_and_told_from_the_inside_out() {
        let mut contexts = Contexts::default();
        let main = contexts.intern(ContextId::NONE, SiteId(7)).unwrap();
        let push = contexts.intern(main, SiteId(3)).unwrap();
        assert_eq!(contexts.intern(main, SiteId(3)).unwrap(), push);
        assert_ne!(contexts.intern(ContextId::NONE, SiteId(3)).unwrap(), push);
        assert_eq!(contexts.callers(push).collect::<Vec<_>>(), [SiteId(3), SiteId(7)]);
        assert_eq!(contexts.callers(ContextId::NONE).count(), 0);
        assert!(contexts.intern(ContextId(9), SiteId(0)).is_err());
    }

    #[test]
    fn an_event_is_in_the_context_that_its_thread_changed_to_last() {
        let mut calling = Calling::default();
        let (a, b) = (ThreadId(0), ThreadId(2));
        // Told one by one, as the naive way would keep it.
        let changes = [(0, a, 1), (2, b, 5), (3, a, 1), (4, a, 2), (4, a, 3), (9, a, 0)];
        for (position, thread, context) in changes {
            calling.change(position, thread, ContextId(context));
        }
        for thread in [a, b, ThreadId(1), ThreadId(7)] {
            for position in 0..12 {
                let naive = changes.iter().rfind(|change| change.0 <= position && change.1 == thread);
                let expected = naive.map_or(ContextId::NONE, |change| ContextId(change.2));
                assert_eq!(calling.get(EventId(position as u32), thread), expected);
            }
        }
        let told: Vec<_> = calling.in_order().into_iter().map(|(at, ..)| at.0).collect();
        assert_eq!(told, [0, 2, 4, 9], "what changes nothing is not kept");
    }
}
