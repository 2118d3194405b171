//! The end of a recording: by the program, by a deadlock, a limit or a signal.

use core::sync::atomic::AtomicBool;
use core::sync::atomic::Ordering::{Relaxed, SeqCst};

use crate::abi::rust;
use crate::libc::signals;
use crate::record::config;
use crate::record::note;
use crate::record::recording::Inside;
use crate::sched::baton::key;
use crate::sched::thread::{self, Thread, state};
use crate::sys;
use crate::text::Text;

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
    inside.gather_others();
    if let Some(forced) = &mut inside.core().forced {
        note::end(forced, FAULT.load(SeqCst));
    }
    inside.core().log.finish();
    config::save_modules();
}

/// Writes what there is, and goes on: the program may be gone at any time now.
pub(crate) fn flush() {
    if let Some(mut inside) = Inside::enter() {
        inside.settle();
        inside.gather_others();
        inside.core().log.publish();
    }
}

/// The last thing that the process does of its own will.
pub(crate) extern "C" fn at_exit() {
    match Inside::enter().or_else(rust::between) {
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
        let thread = thread::thread(index as usize);
        if thread.state.load(Relaxed) == state::BLOCKED {
            describe(&mut said, thread);
        }
    }
    let _ = sys::write(2, said.bytes());
    finish(inside);
    sys::exit(STOPPED)
}

/// Says what a thread waits for, to the user and in the notes of the recording.
fn describe(said: &mut Text<2048>, thread: &Thread) {
    let key = thread.key.load(Relaxed);
    let what: &[u8] = match key & 15 {
        key::LOCK => b"a lock",
        key::CONDITION => b"a condition variable",
        key::END => b"a thread to end",
        key::SEMAPHORE => b"a semaphore",
        key::BARRIER => b"others at a barrier",
        key::ONCE => b"an initialisation",
        _ => b"something",
    };
    let (mut name, mut noted) = (Text::<32>::new(), Text::<128>::new());
    crate::libc::threads::name(&mut name, thread.index());
    said.push(b"reweave:   ").push(name.bytes()).push(b" waits for ").push(what).push(b"\n");
    noted.push(b"waits ").push(name.bytes()).push(b" ").push(what).push(b"\n");
    config::note(noted.bytes());
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
