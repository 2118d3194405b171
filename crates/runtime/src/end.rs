//! The end of a recording: by the program, by a deadlock, a limit or a signal.

use core::sync::atomic::AtomicBool;
use core::sync::atomic::Ordering::{Relaxed, SeqCst};

use crate::config;
use crate::recording::Inside;
use crate::sched::key;
use crate::signals;
use crate::sys;
use crate::tell;
use crate::text::Text;
use crate::thread::{self, Thread, state};

/// What the program ends with where the recorder ends it. `reweave record` knows more, from the note.
const STOPPED: i32 = 3;

static FINISHED: AtomicBool = AtomicBool::new(false);
/// Whether the program is ended by a fault of its own.
pub(crate) static FAULT: AtomicBool = AtomicBool::new(false);

/// Writes the rest of the recording, once.
pub(crate) fn finish(inside: &mut Inside) {
    if FINISHED.swap(true, SeqCst) {
        return;
    }
    // Whatever comes now, such as a fault of the write that is still to be read, finds nothing to do.
    inside.settle();
    if let Some(forced) = &mut inside.core().forced {
        tell::end(forced, FAULT.load(SeqCst));
    }
    inside.core().log.finish();
    config::save_modules();
}

/// Writes what there is, and goes on: the program may be gone at any time now.
pub(crate) fn flush() {
    if let Some(mut inside) = Inside::enter() {
        inside.settle();
        inside.core().log.publish();
    }
}

/// The last thing that the process does of its own will.
pub(crate) extern "C" fn at_exit() {
    match Inside::enter() {
        Some(mut inside) => finish(&mut inside),
        // A thread that has ended runs this where it was the last one: nobody has the baton.
        None => {
            if thread::current().is_none() && config::recording() {
                finish(&mut Inside { me: thread::thread(0) });
            }
        }
    }
}

/// Every thread waits for another.
pub(crate) fn deadlock(inside: &mut Inside) -> ! {
    config::note(b"deadlock\n");
    let core = inside.core();
    let mut said = Text::<2048>::new();
    said.push(b"reweave: deadlock: every thread waits\n");
    for &index in core.live.as_ref().iter().take(core.live_count).take(24) {
        describe(&mut said, thread::thread(index as usize));
    }
    let _ = sys::write(2, said.bytes());
    finish(inside);
    sys::exit(STOPPED)
}

fn describe(said: &mut Text<2048>, thread: &Thread) {
    let key = thread.key.load(Relaxed);
    let what: &[u8] = match key & 15 {
        key::LOCK => b" waits for a lock",
        key::CONDITION => b" waits for a condition variable",
        key::END => b" waits for a thread to end",
        key::SEMAPHORE => b" waits for a semaphore",
        key::BARRIER => b" waits at a barrier",
        key::ONCE => b" waits for an initialisation",
        _ => b" waits",
    };
    if thread.state.load(Relaxed) == state::BLOCKED {
        said.push(b"reweave:   ");
        crate::threads::name(said, thread.index());
        said.push(what).push(b"\n");
    }
}

/// The time is up.
pub(crate) fn timeout(inside: &mut Inside) -> ! {
    config::note(b"timeout\n");
    finish(inside);
    sys::exit(STOPPED)
}

/// A signal that ends the program came to another thread.
pub(crate) fn by_signal(inside: &mut Inside) -> ! {
    finish(inside);
    signals::die()
}
