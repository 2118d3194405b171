//! Signals: handlers of the program run where the recording is whole, and those that end it end the recording first.
//!
//! A handler is called through ours. A signal that comes while its thread is in our own code waits until that is left;
//! one that comes to a thread without the baton makes the thread wait for it first. No other thread runs during a
//! handler: what it interrupted may hold a lock of libc. A signal whose default is to end the program ends it all the
//! same, with the same status, once the recording is written.

use core::sync::atomic::Ordering::{Relaxed, SeqCst};
use core::sync::atomic::{AtomicI32, AtomicU64, AtomicUsize};

use crate::calls;
use crate::end;
use crate::export::export;
use crate::hooks;
use crate::real;
use crate::recording::Inside;
use crate::sched::Away;
use crate::sys::{self, KernelAction};
use crate::thread::{self, Thread, state};

const SIGNALS: usize = 65;
const DEFAULT: usize = 0;
const IGNORE: usize = 1;
const WITH_INFO: u64 = 4;
const ABORT: i32 = 6;
const FAULTS: [i32; 6] = [4, 5, 7, 8, 11, 31];
/// Signals that end a program which does not say otherwise: interrupt, quit, abort, hang-up, pipe, alarm, terminate…
const ENDS: [i32; 13] = [1, 2, 3, 4, 6, 7, 8, 11, 13, 14, 15, 24, 31];

/// libc's `struct sigaction`.
#[derive(Clone, Copy)]
#[repr(C)]
struct Action {
    handler: usize,
    mask: [u64; 16],
    flags: i32,
    restorer: usize,
}

static HANDLERS: [AtomicUsize; SIGNALS] = [const { AtomicUsize::new(0) }; SIGNALS];
static FLAGS: [AtomicU64; SIGNALS] = [const { AtomicU64::new(0) }; SIGNALS];
/// A signal that ends the program has come, to a thread that cannot end it.
static ENDING: AtomicI32 = AtomicI32::new(0);

/// Whether the program is about to end by a signal.
#[inline]
pub(crate) fn ending() -> bool {
    ENDING.load(Relaxed) != 0
}

/// Ends the program by the signal that came.
pub(crate) fn die() -> ! {
    end_by(ENDING.load(SeqCst))
}

fn end_by(signal: i32) -> ! {
    sys::signal_action(signal, Some(&KernelAction::default()));
    sys::raise(signal);
    // Only a signal that is blocked comes here; its status is what shells make of it.
    sys::exit(128 + signal)
}

/// Takes the signals that would end the program.
pub(crate) fn init() {
    for signal in ENDS {
        if sys::signal_action(signal, None).handler == DEFAULT {
            install(signal, ends as *const () as usize, None);
        }
    }
}

/// In a child that is not recorded, the program's own dispositions hold again.
pub(crate) fn forget() {
    for signal in ENDS {
        if slot(&HANDLERS, signal).is_none_or(|handler| handler.load(Relaxed) == DEFAULT) {
            let now = sys::signal_action(signal, None);
            if now.handler == ends as *const () as usize {
                sys::signal_action(signal, Some(&KernelAction::default()));
            }
        }
    }
}

fn slot<T>(table: &'static [T; SIGNALS], signal: i32) -> Option<&'static T> {
    table.get(usize::try_from(signal).ok()?)
}

/// Installs a function of ours as libc's, with the program's flags where it has a handler itself.
fn install(signal: i32, handler: usize, like: Option<&Action>) -> usize {
    const ON_STACK: i32 = 0x0800_0000;
    let flags = like.map_or(ON_STACK, |like| like.flags) | WITH_INFO as i32;
    let mask = like.map_or([0; 16], |like| like.mask);
    let action = Action { handler, mask, flags, restorer: 0 };
    real::sigaction(signal as usize, &raw const action as usize, 0)
}

/// A signal whose default is to end the program.
extern "C" fn ends(signal: i32, _info: usize, _context: usize) {
    let me = thread::current();
    end::FAULT.store(FAULTS.contains(&signal) || signal == ABORT, SeqCst);
    match me.map(|me| (me, me.closed.load(Relaxed))) {
        // The thread runs the program: it has the baton, and the recording is whole.
        Some((_, 0)) => {
            if let Some(mut inside) = Inside::enter() {
                end::finish(&mut inside);
            }
        }
        // The fault is the program's, but it happened where its memory was read for it: nothing is half recorded.
        Some((me, _)) if FAULTS.contains(&signal) && me.state.load(SeqCst) == state::READY => {
            let mut inside = Inside { me };
            me.pending.set(None);
            inside.core().log.withdraw();
            end::finish(&mut inside);
        }
        Some(_) | None if crate::config::recording() && !FAULTS.contains(&signal) => {
            // Whoever has the baton ends the program at its next step; if there is none soon, it ends unfinished.
            ENDING.store(signal, SeqCst);
            if let Some(me) = me.filter(|me| me.state.load(SeqCst) == state::AWAY && !me.leaving.load(SeqCst))
            {
                end::finish(&mut Away::of(me).back());
            }
            sys::sleep(300_000_000);
        }
        _ => {}
    }
    end_by(signal);
}

/// The signal of the timer that ends a program whose time is up: one that programs do not use.
const TIME_IS_UP: i32 = 62;

/// Has the program ended when its time is up, whatever it is doing then.
pub(crate) fn end_after(nanos: u64) {
    install(TIME_IS_UP, time_is_up as *const () as usize, None);
    sys::set_timer(nanos, TIME_IS_UP);
}

extern "C" fn time_is_up(_signal: i32, _info: usize, _context: usize) {
    let Some(me) = thread::current() else { return };
    if me.closed.load(Relaxed) == 0 {
        if let Some(mut inside) = Inside::enter() {
            end::timeout(&mut inside);
        }
    } else if me.state.load(SeqCst) == state::AWAY && !me.leaving.load(SeqCst) {
        end::timeout(&mut Away::of(me).back());
    } else if crate::sched::is_idle(me) {
        // All wait, and the one that a forced schedule wants is in a call.
        end::timeout(&mut Inside { me });
    }
    // Else our own code is running, or another thread: either looks at the clock.
}

/// A hook that a signal interrupted before its slot counted begins anew when the handler returns: the handler appends
/// slots of its own. So does one that read what may not be read, once the handler has mended that.
fn rewind(context: usize) {
    const RIP: usize = 168;
    if context == 0 {
        return;
    }
    // SAFETY: the kernel passes the address of the interrupted thread's registers, of which this is one.
    let code = unsafe { &mut *((context + RIP) as *mut usize) };
    let (start, end) = hooks::range();
    if (start..end).contains(code) && crate::access::load(*code, 1) != hooks::RETURN {
        *code -= (*code - start) % hooks::HOOK_BYTES;
    }
}

/// Calls the program's handler.
fn call_handler(signal: i32, info: usize, context: usize) {
    let handler = slot(&HANDLERS, signal).map_or(DEFAULT, |handler| handler.load(Relaxed));
    if handler > IGNORE {
        // SAFETY: the program installed it; one that takes the signal only leaves the other registers alone.
        let handler: extern "C" fn(i32, usize, usize) = unsafe { core::mem::transmute(handler) };
        handler(signal, info, context);
    }
}

/// Stands before every handler of the program.
extern "C" fn handles(signal: i32, info: usize, context: usize) {
    let Some(me) = thread::current() else { return call_handler(signal, info, context) };
    rewind(context);
    if me.closed.load(Relaxed) == 0 {
        return handle(me, signal, info, context);
    }
    if me.state.load(SeqCst) == state::AWAY && !me.leaving.load(SeqCst) {
        let inside = Away::of(me).back();
        drop(inside);
        handle(me, signal, info, context);
        if let Some(inside) = Inside::enter() {
            inside.away();
        }
        return;
    }
    if FAULTS.contains(&signal) {
        // The fault is the program's: values are read before anything is recorded.
        return call_handler(signal, info, context);
    }
    for (place, word) in me.signal_info.iter().enumerate() {
        word.store(crate::access::load(info + place * 8, 8), Relaxed);
    }
    me.signals.fetch_or(1 << (signal - 1), SeqCst);
}

/// Runs a handler with the baton in hand.
fn handle(me: &'static Thread, signal: i32, info: usize, context: usize) {
    apart(me, 1, || {
        let interrupted = calls::interrupt(me);
        call_handler(signal, info, context);
        calls::resume(me, &interrupted);
    });
}

/// Does something between what the thread did last and the write that it was about to do, which comes after it.
fn apart(me: &'static Thread, pins: u32, what: impl FnOnce()) {
    let (mut pending, mut last) = (None, None);
    if let Some(mut inside) = Inside::enter() {
        pending = me.pending.take();
        last = inside.core().log.withdraw();
        me.pinned.fetch_add(pins, Relaxed);
    }
    what();
    if let Some(mut inside) = Inside::enter() {
        me.pinned.fetch_sub(pins, Relaxed);
        inside.settle();
        me.pending.set(pending);
        if let Some(last) = last {
            inside.slot(last);
        }
    }
}

/// Among the signals that wait for a thread: it was asked to end wherever it is.
pub(crate) const ASKED_TO_END: u64 = 1 << 63;

/// Runs the handlers of signals that had to wait, and ends the thread that was asked to; it is leaving our own code.
#[cold]
pub(crate) fn deliver(me: &'static Thread) {
    run_handlers(me);
    if me.signals.fetch_and(!ASKED_TO_END, SeqCst) & ASKED_TO_END != 0 {
        // The write that it was about to do does not happen, unless it does not end after all.
        apart(me, 0, || _ = real::pthread_testcancel());
    }
}

fn run_handlers(me: &'static Thread) {
    let signals = me.signals.fetch_and(ASKED_TO_END, SeqCst);
    let mut info = [0u64; 16];
    for (word, kept) in info.iter_mut().zip(&me.signal_info) {
        *word = kept.load(Relaxed);
    }
    for signal in (1..64).filter(|signal| signals >> (signal - 1) & 1 != 0) {
        handle(me, signal, info.as_ptr() as usize, 0);
    }
}

/// The same in the middle of our own code, where nothing is half done.
pub(crate) fn deliver_inside(me: &'static Thread) {
    let mut inside = Inside { me };
    inside.open();
    run_handlers(me);
    inside.close();
    core::mem::forget(inside);
}

extern "C" fn sigaction(signal: i32, action: *const Action, before: *mut Action, _code: usize) -> usize {
    let (Some(handler), Some(flags)) = (slot(&HANDLERS, signal), slot(&FLAGS, signal)) else {
        return real::sigaction(signal as usize, action as usize, before as usize);
    };
    // SAFETY: a null, or an action of the program's.
    let new = unsafe { action.as_ref() };
    let mut old = Action { handler: 0, mask: [0; 16], flags: 0, restorer: 0 };
    let result = real::sigaction(signal as usize, 0, &raw mut old as usize);
    // What the program finds is what it set: its own handler and flags, not ours.
    if old.handler == handles as *const () as usize || old.handler == ends as *const () as usize {
        old.handler = handler.load(Relaxed);
        old.flags = flags.load(Relaxed) as i32;
    }
    let result = match new {
        Some(new) if result as i32 == 0 => {
            handler.store(if new.handler > IGNORE { new.handler } else { DEFAULT }, SeqCst);
            flags.store(new.flags as u32 as u64, SeqCst);
            match new.handler {
                DEFAULT if ENDS.contains(&signal) && crate::config::recording() => {
                    install(signal, ends as *const () as usize, None)
                }
                DEFAULT | IGNORE => real::sigaction(signal as usize, action as usize, 0),
                _ => install(signal, handles as *const () as usize, Some(new)),
            }
        }
        _ => result,
    };
    // SAFETY: a null, or where the program wants it.
    if let (Some(before), 0) = (unsafe { before.as_mut() }, result as i32) {
        *before = old;
    }
    result
}

extern "C" fn signal(signal: i32, handler: usize, code: usize) -> usize {
    const RESTART: i32 = 0x1000_0000;
    let action = Action { handler, mask: [0; 16], flags: RESTART, restorer: 0 };
    let mut before = Action { handler: 0, mask: [0; 16], flags: 0, restorer: 0 };
    match sigaction(signal, &raw const action, &raw mut before, code) as i32 {
        0 => before.handler,
        _ => usize::MAX,
    }
}

export! {
    sigaction(3) => sigaction;
    signal(2) => signal;
    bsd_signal(2) => signal;
}
