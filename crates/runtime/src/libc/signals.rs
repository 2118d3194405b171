//! Signals: handlers of the program run where the recording is whole, and those that end it end the recording first.
//!
//! A handler is called through ours. A signal that comes while its thread is in our own code waits until that is left;
//! one that comes to a thread without the baton makes the thread wait for it first. No other thread runs during a
//! handler: what it interrupted may hold a lock of libc. A signal whose default is to end the program ends it all the
//! same, with the same status, once the recording is written.

use core::sync::atomic::Ordering::{Relaxed, SeqCst};
use core::sync::atomic::{AtomicI32, AtomicU64, AtomicUsize};

use crate::abi::calls;
use crate::abi::export::export;
use crate::abi::rust;
use crate::libc::interrupted::Context;
use crate::libc::outside::{self, How};
use crate::libc::real;
use crate::record::end;
use crate::record::recording::Inside;
use crate::sched::baton::Away;
use crate::sched::free;
use crate::sched::thread::{self, Thread, state};
use crate::sys::{self, KernelAction};
use crate::text::Text;

const SIGNALS: usize = 65;
const DEFAULT: usize = 0;
const IGNORE: usize = 1;
const WITH_INFO: u64 = 4;
const ABORT: i32 = 6;
const BAD_CALL: i32 = 31;
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

/// From the first call of the system that the recorder makes: a sandbox that forbids one is to be heard of.
pub(crate) fn expect_sandbox() {
    if sys::signal_action(BAD_CALL, None).handler == DEFAULT {
        install(BAD_CALL, ends as *const () as usize, None);
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

/// Installs a function of ours for a signal of ours, after which system calls that it interrupted go on.
pub(crate) fn install_restarting(signal: i32, handler: usize) {
    const RESTART_ON_STACK: i32 = 0x1800_0000;
    let like = Action { handler, mask: [0; 16], flags: RESTART_ON_STACK, restorer: 0 };
    install(signal, handler, Some(&like));
}

/// Says which call of the system a sandbox forbade.
fn tell_call(info: usize) {
    const CALL: usize = 24;
    let mut text = Text::<128>::new();
    text.push(b"reweave: a sandbox (seccomp) forbids system call ")
        .number(crate::abi::access::load(info + CALL, 4));
    text.push(b", and ends the program\n");
    let _ = sys::write(2, text.bytes());
}

/// A signal whose default is to end the program.
extern "C" fn ends(signal: i32, info: usize, context: usize) {
    let me = thread::current();
    if signal == BAD_CALL {
        tell_call(info);
    }
    end::FAULT.store(FAULTS.contains(&signal) || signal == ABORT, SeqCst);
    if signal == ABORT
        && let Some(mut inside) = rust::between()
    {
        end::finish(&mut inside);
    }
    match me.map(|me| (me, me.closed.load(Relaxed))) {
        // The thread runs the program: it has the baton, and the recording is whole.
        Some((me, 0)) => {
            let announced = me.announced.get();
            if let Some(mut inside) = Inside::enter() {
                if FAULTS.contains(&signal) {
                    // What it was about to write when it failed is not written.
                    inside.withdraw_announced(Context(context), &announced);
                }
                end::finish(&mut inside);
            }
        }
        // The fault is the program's, but it happened where its memory was read for it: nothing is half recorded.
        Some((me, _)) if FAULTS.contains(&signal) && me.state.load(SeqCst) == state::READY => {
            let mut inside = Inside { me };
            me.pending.set(None);
            inside.core().log.withdraw(|slot, _| slot.is_awaited());
            end::finish(&mut inside);
        }
        Some(_) | None if crate::record::config::recording() && !FAULTS.contains(&signal) => {
            // Whoever has the baton ends the program at its next step; if there is none soon, it ends unfinished.
            ENDING.store(signal, SeqCst);
            if let Some(me) = me.filter(|me| me.state.load(SeqCst) == state::AWAY && !me.leaving.load(SeqCst))
            {
                end::finish(&mut Away::of(me).back());
            } else if let Some(me) = me.filter(|me| !free::is_on() && crate::sched::baton::is_idle(me)) {
                // All wait: nobody is at work on the recording.
                end::finish(&mut Inside { me });
            } else {
                sys::sleep(300_000_000);
            }
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
    } else if crate::sched::baton::is_idle(me) {
        // All wait, and the one that a forced schedule wants is in a call.
        end::timeout(&mut Inside { me });
    }
    // Else our own code is running, or another thread: either looks at the clock.
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
    Context(context).rewind();
    let is_fault = FAULTS.contains(&signal);
    if me.closed.load(Relaxed) == 0 && (is_fault || !me.between.load(Relaxed)) {
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
    if is_fault {
        // The fault is the program's: values are read before anything is recorded.
        return call_handler(signal, info, context);
    }
    // It is sent again when our own code is left. Until then others of its number wait in the kernel.
    Context(context).block(signal);
    if let Some(kept) = me.signal_info.get(signal as usize - 1) {
        for (place, word) in kept.0.iter().enumerate() {
            word.store(crate::abi::access::load(info + place * 8, 8), Relaxed);
        }
    }
    me.signals.fetch_or(1 << (signal - 1), SeqCst);
}

/// Runs a handler: with the baton in hand, unless threads run freely.
fn handle(me: &'static Thread, signal: i32, info: usize, context: usize) {
    const RESTART: u64 = 0x1000_0000;
    if slot(&FLAGS, signal).is_some_and(|flags| flags.load(Relaxed) & RESTART == 0) {
        me.interrupted.store(true, Relaxed);
    }
    let run = || {
        outside::receives_signal();
        let interrupted = calls::interrupt(me);
        call_handler(signal, info, context);
        calls::resume(me, &interrupted);
    };
    if free::is_on() && me.pending.get().is_none() && free::apart(me, Context(context), run) {
        return;
    }
    apart(me, 1, Context(context), run);
}

/// Does something between what the thread did last and the write that it was about to do, if that has not happened yet: then
/// it comes after.
fn apart(me: &'static Thread, pins: u32, context: Context, what: impl FnOnce()) {
    let (mut pending, mut last) = (None, None);
    let announced = me.announced.get();
    if let Some(mut inside) = Inside::enter() {
        (pending, last) = inside.withdraw_announced(context, &announced);
        inside.settle();
        me.pinned.fetch_add(pins, Relaxed);
    }
    what();
    if let Some(mut inside) = Inside::enter() {
        me.pinned.store(me.pinned.load(Relaxed).saturating_sub(pins), Relaxed);
        inside.settle();
        if pending.is_some() || last.is_some() {
            me.announced.set_again(&announced);
        }
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
        apart(me, 0, Context(0), || {
            outside::receives_signal();
            real::pthread_testcancel();
        });
    }
}

/// Sends the signals that were kept back to the thread again, as they came; their handlers have run when this returns.
fn run_handlers(me: &'static Thread) {
    let signals = me.signals.fetch_and(ASKED_TO_END, SeqCst) & !ASKED_TO_END;
    for (place, kept) in me.signal_info.iter().enumerate().filter(|(place, _)| signals >> place & 1 != 0) {
        let mut info = [0u64; 16];
        for (word, kept) in info.iter_mut().zip(&kept.0) {
            *word = kept.load(Relaxed);
        }
        let signal = place as i32 + 1;
        if !sys::send_again(signal, &info) {
            handle(me, signal, info.as_ptr() as usize, 0);
        }
        sys::unblock(1 << place);
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

extern "C" fn sigaction(signal: i32, action: *const Action, before: *mut Action, code: usize) -> usize {
    outside::uses_dispositions(if action.is_null() { How::Looks } else { How::Changes }, code);
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
                DEFAULT if ENDS.contains(&signal) && crate::record::config::recording() => {
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
