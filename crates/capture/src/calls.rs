//! The calls under way in each thread, as contexts of the trace.
//!
//! The recording says, before an event, what changed since the thread's last one: from a depth on calls are over, and
//! perhaps another one is under way there. Contexts are made for events that are written only.

use reweave_trace::ContextId;

use crate::Error;
use crate::names::Namer;

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
        thread.calls.extend(call);
        thread.changed = true;
    }

    /// The context of a thread's next event, where it may be another one than that of its last.
    pub(crate) fn context(&mut self, thread: u32, namer: &mut Namer) -> Result<Option<ContextId>, Error> {
        let Some(thread) = self.threads.get_mut(thread as usize).filter(|thread| thread.changed) else {
            return Ok(None);
        };
        thread.changed = false;
        for place in thread.contexts.len()..thread.calls.len() {
            let around = thread.contexts.last().copied().unwrap_or(ContextId::NONE);
            thread.contexts.push(namer.context(around, thread.calls[place], place == 0)?);
        }
        Ok(Some(thread.contexts.last().copied().unwrap_or(ContextId::NONE)))
    }
}
