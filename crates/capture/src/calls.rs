//! The calls under way in each thread, as contexts of the trace.
//!
//! The recording says, before an event, what changed since the thread's last one: from a depth on calls are over, and
//! perhaps another one is under way there. Contexts are made for events that are written only.

use reweave_trace::ContextId;

use crate::Error;
use crate::names::Namer;

/// More calls than the recorder keeps are not to be believed.
const MAX_DEPTH: usize = 1 << 15;

/// The calls of all threads, at some time of the recording.
#[derive(Default)]
pub(crate) struct Calls {
    threads: Vec<Thread>,
}

#[derive(Default)]
struct Thread {
    /// From the outermost on: where each call returns to.
    calls: Vec<u64>,
    /// The contexts that the first of them lead to.
    contexts: Vec<ContextId>,
    changed: bool,
    /// How many of the innermost were left out last.
    left_out: usize,
}

impl Calls {
    fn thread(&mut self, thread: u32) -> &mut Thread {
        let thread = thread as usize;
        if self.threads.len() <= thread {
            self.threads.resize_with(thread + 1, Thread::default);
        }
        &mut self.threads[thread]
    }

    /// The calls from `depth` on are over; where there is a `call`, that one is under way there.
    pub(crate) fn change(&mut self, thread: u32, depth: usize, call: Option<u64>) {
        let thread = self.thread(thread);
        thread.calls.truncate(depth);
        thread.contexts.truncate(depth);
        // Calls that began before a recording of the last events did are not known.
        thread.calls.resize(depth.min(MAX_DEPTH), 0);
        thread.calls.extend(call);
        thread.changed = true;
    }

    /// Where in the program's own code something happens at `code`, and how many calls lead from there into Rust's standard
    /// library; `code` itself where it is not library, or nothing is known.
    pub(crate) fn own(&self, thread: u32, code: u64, namer: &mut Namer) -> (u64, usize) {
        if !namer.is_library(code) {
            return (code, 0);
        }
        let calls =
            self.threads.get(thread as usize).map(|thread| thread.calls.as_slice()).unwrap_or_default();
        let found = calls.iter().rposition(|&call| call != 0 && !namer.is_library(call));
        found.map_or((code, 0), |place| (calls[place], calls.len() - place))
    }

    /// The context of a thread's next event, without the innermost calls that are `left_out`, where it may be another one
    /// than that of its last.
    pub(crate) fn context(
        &mut self,
        thread: u32,
        left_out: usize,
        namer: &mut Namer,
    ) -> Result<Option<ContextId>, Error> {
        let differs = |thread: &&mut Thread| thread.changed || thread.left_out != left_out;
        let Some(thread) = self.threads.get_mut(thread as usize).filter(differs) else {
            return Ok(None);
        };
        (thread.changed, thread.left_out) = (false, left_out);
        let depth = thread.calls.len().saturating_sub(left_out);
        for place in thread.contexts.len()..depth {
            let around = thread.contexts.last().copied().unwrap_or(ContextId::NONE);
            let again = place > 0 && thread.calls[place] == 0 && thread.calls[place - 1] == 0;
            let call = |namer: &mut Namer| namer.context(around, thread.calls[place], place == 0);
            let context = if again { around } else { call(namer)? };
            thread.contexts.push(context);
        }
        let innermost = depth.checked_sub(1).and_then(|place| thread.contexts.get(place));
        Ok(Some(innermost.copied().unwrap_or(ContextId::NONE)))
    }
}

#[cfg(test)]
mod tests {
    use std::rc::Rc;

    use super::*;
    use crate::modules::Modules;

    /// Told as the recorder tells, only what changed since a thread's last event, contexts are those of whole stacks.
    #[test]
    fn contexts_are_those_of_whole_stacks() {
        let mut random = 3u64;
        let mut draw = |bound: u64| {
            random = random.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
            (random >> 33) % bound
        };
        let mut namer = Namer::new(Rc::new(Modules::new("")));
        let mut calls = Calls::default();
        // What is under way in two threads, and what was told of it.
        let mut stacks: [(Vec<u64>, Vec<u64>); 2] = Default::default();
        let (mut changes, mut deepest) = (0, 0);
        for _ in 0..5_000 {
            let thread = draw(2) as usize;
            let (now, told) = &mut stacks[thread];
            match draw(5) {
                0 | 1 if now.len() < 12 => now.push(0x1000 + 16 * draw(3)),
                2 | 3 => _ = now.pop(),
                _ => {
                    let same = now.iter().zip(&*told).take_while(|(a, b)| a == b).count();
                    for (depth, &call) in now.iter().enumerate().skip(same) {
                        calls.change(thread as u32, depth, Some(call));
                    }
                    if same == now.len() && told.len() > same {
                        calls.change(thread as u32, same, None);
                    }
                    let changed = now != told;
                    told.clone_from(now);
                    let context = calls.context(thread as u32, 0, &mut namer).unwrap();
                    assert_eq!(context.is_some(), changed, "only what changed is told");
                    let Some(context) = context else { continue };
                    let names = namer.builder.names();
                    let found: Vec<&str> =
                        names.contexts.callers(context).map(|site| names.sites.get(site.0)).collect();
                    // A thread's first call is made by what started it, which has no name here.
                    let expected: Vec<String> =
                        now.iter().skip(1).rev().map(|call| format!("{call:#x}")).collect();
                    assert_eq!(found, expected);
                    changes += 1;
                    deepest = deepest.max(found.len());
                }
            }
        }
        assert!(changes > 500 && deepest > 5, "{changes} {deepest}");
    }
}
