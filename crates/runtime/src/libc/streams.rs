//! Streams of stdio: what is taken from one, and who has it locked.
//!
//! A stream is locked by `flockfile`, which is an acquire of a lock, and by every call on it while that lasts. A thread that
//! has to wait for either is blocked by the scheduler: inside of libc it would wait with the baton in its hands.
//!
//! What is printed to the standard output and error is seen by nobody in the program, so it is no event, and orders nothing. It
//! is one once the program has closed or opened them itself.

use reweave_wire::Life;
use reweave_wire::outside::State;

use crate::abi::export::export;
use crate::libc::locks::Hold;
use crate::libc::outside::How;
use crate::libc::real;
use crate::record::numbers::About;
use crate::record::recording::Inside;
use crate::sched::baton::key;
use crate::sched::policy::Step;

unsafe extern "C" {
    static stdin: usize;
    static stdout: usize;
    static stderr: usize;
}

/// The standard input, output or error.
pub(crate) fn standard(number: usize) -> usize {
    // SAFETY: libc defines them.
    unsafe {
        match number {
            0 => core::ptr::read_volatile(&raw const stdin),
            1 => core::ptr::read_volatile(&raw const stdout),
            _ => core::ptr::read_volatile(&raw const stderr),
        }
    }
}

/// The descriptor of a stream; none where it has none.
fn descriptor(stream: usize) -> Option<usize> {
    const AT: usize = 112;
    let file = crate::abi::access::load(stream + AT, 4) as i32;
    usize::try_from(file).ok()
}

impl Inside {
    /// The variable of a stream. The three that are always there come first.
    fn stream_variable(&mut self, stream: usize) -> u64 {
        (0..3).for_each(|number| _ = self.numbered(State::Stream, standard(number) as u64));
        self.numbered(State::Stream, stream as u64)
    }

    /// Waits while another thread has the stream.
    pub(crate) fn await_stream(&mut self, stream: usize) {
        let mine = self.me.index() as u64 + 1;
        loop {
            let caller = self.core().numbers.get(About::StreamCaller, stream).map_or(0, |thread| *thread);
            let free = self.is_free(stream, Hold::Exclusive) || self.depth(stream) > 0;
            if free && (caller == 0 || caller == mine) {
                return;
            }
            self.block_for(stream, Hold::Exclusive, 0);
        }
    }

    /// Has the stream, or lets go of it, during a call without the baton.
    pub(crate) fn reserve_stream(&mut self, stream: usize, on: bool) {
        let mine = self.me.index() as u64 + 1;
        if let Some(room) = self.core().numbers.entry(About::StreamCaller, stream) {
            *room = if on { mine } else { 0 };
        }
        if !on {
            self.wake(key::of(key::LOCK, stream), true);
        }
    }

    /// Whether nobody in the program sees what is printed there.
    fn is_printed_unseen(&mut self, stream: usize) -> bool {
        (1..3).any(|number| standard(number) == stream && descriptor(stream) == Some(number))
            && descriptor(stream).is_some_and(|file| !self.was_closed(file))
    }

    /// Records a use of a stream, and of what is behind it.
    pub(crate) fn uses_stream(&mut self, how: How, stream: usize, code: usize) {
        if stream == 0 {
            // All of them.
            return self.uses(how, State::Stream.variable(0), code);
        }
        self.await_stream(stream);
        if how == How::Prints && self.is_printed_unseen(stream) {
            return;
        }
        let variable = self.stream_variable(stream);
        if (0..3).all(|number| standard(number) != stream) {
            self.lives(how, Life::File, variable, code);
        }
        self.at_once(code, |inside| {
            inside.uses(how, variable, code);
            if let Some(file) = descriptor(stream) {
                inside.uses_contents(how, file, code);
            }
        });
    }
}

/// The thread has taken something from a stream.
pub(crate) fn taken(stream: usize, code: usize) {
    if let Some(mut inside) = Inside::enter() {
        inside.settle();
        inside.uses_stream(How::Changes, stream, code);
    }
}

fn begin(code: usize) -> Option<Inside> {
    let mut inside = Inside::enter()?;
    inside.settle();
    inside.point(Step::Sync, code);
    Some(inside)
}

extern "C" fn flockfile(stream: usize, code: usize) {
    let inside = begin(code);
    if let Some(mut inside) = inside {
        inside.await_stream(stream);
        inside.acquired(stream, Hold::Exclusive, false, code);
    }
    real::flockfile(stream);
}

extern "C" fn ftrylockfile(stream: usize, code: usize) -> usize {
    let inside = begin(code);
    let result = real::ftrylockfile(stream);
    let Some(mut inside) = inside else { return result };
    if result as i32 == 0 {
        inside.acquired(stream, Hold::Exclusive, true, code);
    } else if inside.is_free(stream, Hold::Exclusive) {
        // Another thread is in a call on it.
        let variable = inside.stream_variable(stream);
        inside.changes_state(variable, code);
    } else {
        inside.busy(stream, Hold::Exclusive, code);
    }
    result
}

extern "C" fn funlockfile(stream: usize, code: usize) {
    let inside = begin(code);
    real::funlockfile(stream);
    if let Some(mut inside) = inside {
        inside.released(stream, code);
    }
}

export! {
    flockfile(1) => flockfile;
    ftrylockfile(1) => ftrylockfile;
    funlockfile(1) => funlockfile;
}
