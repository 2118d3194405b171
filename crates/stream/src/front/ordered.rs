//! Events that keep their observed order: looks at a clock, calls on an object, and writes that nobody recorded.
//!
//! Each is more than the law asks for, and never less. A look follows the look before it, and a call the last one that has a
//! word in common with it, as the notification that woke it: which words are objects is known only when all calls are. An analysis that
//! knows which calls commute gets the call itself instead. An unseen
//! write follows the last event of every thread, as if it joined them.

use hashbrown::HashMap;
use reweave_trace::{CallId, Kind, Names, Space, call_words};

use super::{Found, Front};
use crate::step::{Code, Step};

/// Which slots stand for clocks and for the words of calls.
#[derive(Default, Debug)]
pub(super) struct Ordered {
    clocks: HashMap<u32, u32>,
    words: HashMap<Box<str>, u32>,
}

impl Front {
    /// Appends the steps that put an event behind those that it has to follow, and answers what the event itself is.
    #[cold]
    pub(super) fn ordered(
        &mut self,
        names: &Names,
        kind: Kind,
        step: &Step,
        steps: &mut Vec<Step>,
    ) -> Result<Option<Code>, Found> {
        if step.thread != self.current {
            self.switch(names, step)?;
        }
        match kind {
            Kind::Unseen => {
                self.facts.objects.used(step.target);
                let others = self.threads.iter().zip(0..).filter(|(thread, _)| thread.runs);
                let others = others.map(|(_, other)| other).filter(|&other| other != step.thread);
                steps.extend(others.map(|target| Step { target, code: Code::Join, ..*step }));
                return Ok(Some(Code::AtomicWrite));
            }
            Kind::Call => {
                if self.views.commuting {
                    let target = self.facts.calls.make(names, CallId(step.target));
                    steps.push(Step { code: Code::Call, target, ..*step });
                }
                if !self.views.ordered {
                    return Ok(None);
                }
                let mut words: Vec<&str> = call_words(names.space(Space::Call).get(step.target)).collect();
                words.sort_unstable();
                words.dedup();
                let mut slots = Vec::new();
                for word in words {
                    let known = self.ordered.words.get(word).copied();
                    let slot = known.unwrap_or_else(|| self.notifications.reserve());
                    if known.is_none() {
                        self.ordered.words.insert(word.into(), slot);
                    }
                    slots.push((slot, known.is_some()));
                }
                chain(step, &slots, [Code::CallWake, Code::CallNotify], steps);
            }
            _ => {
                let known = self.ordered.clocks.get(&step.target).copied();
                let slot = known.unwrap_or_else(|| self.notifications.reserve());
                self.ordered.clocks.insert(step.target, slot);
                chain(step, &[(slot, known.is_some())], [Code::Wake, Code::Notify], steps);
            }
        }
        Ok(None)
    }
}

/// The event follows the last one of each slot that has one, and is the last one of all from now on.
fn chain(step: &Step, slots: &[(u32, bool)], [wake, notify]: [Code; 2], steps: &mut Vec<Step>) {
    let follows = slots.iter().filter(|(_, known)| *known);
    steps.extend(follows.map(|&(target, _)| Step { target, code: wake, ..*step }));
    steps.extend(slots.iter().map(|&(target, _)| Step { target, code: notify, ..*step }));
}
