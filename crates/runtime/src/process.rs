//! The process: its start, its children, its end.

use core::ffi::c_char;
use core::sync::atomic::Ordering::Relaxed;

use reweave_wire::Op;

use crate::clock;
use crate::config;
use crate::end;
use crate::export::{export, export_before};
use crate::forced::Forced;
use crate::free;
use crate::inputs::Feed;
use crate::policy::Policy;
use crate::real;
use crate::recording::{self, Core, Inside};
use crate::signals;
use crate::sys;
use crate::thread::{self, set_current, thread};
use crate::threads;

/// Runs before anything else of the program, its libraries' constructors included.
#[cfg_attr(reweave_linked, used)]
#[cfg_attr(reweave_linked, unsafe(link_section = ".preinit_array"))]
#[cfg_attr(not(reweave_linked), expect(dead_code, reason = "only a linked program starts with it"))]
static START: extern "C" fn(i32, usize, *const *const c_char) = start;

/// What `reweave cc` asks the linker for, and `reweave record` looks for in a program.
#[cfg(reweave_linked)]
#[unsafe(no_mangle)]
#[used]
pub static __reweave_runtime: [u8; 24] = *b"reweave runtime 1: ready";

/// The most that the main thread's stack is taken for.
const MAIN_STACK: usize = 1 << 26;

extern "C" fn start(_count: i32, arguments: usize, environment: *const *const c_char) {
    let Some(config) = config::read(arguments, environment) else { return };
    let now = sys::now(sys::MONOTONIC);
    let timeout = if config.timeout == 0 { 0 } else { now.saturating_add(config.timeout) };
    let room = sys::map(size_of::<Core>()) as *mut Core;
    if room.is_null() || !thread::reserve() {
        let _ = sys::write(2, b"reweave: no memory to record with; the program runs without\n");
        return;
    }
    let policy = Policy::new(config.policy, config.seed);
    let given = config.inputs.as_ref().map_or(&b"\0"[..], |name| name.as_slice());
    // SAFETY: fresh memory of that size, and page-aligned.
    unsafe { room.write(Core::new(config.log, policy, timeout)) };
    // SAFETY: as above.
    unsafe { (*room).feed = Some(Feed::new(config.plan.as_ref().map(|_| given))) };
    if let Some(plan) = &config.plan {
        let forced = Forced::read(plan.as_slice());
        if forced.is_none() {
            config::note(b"no-plan\n");
        }
        // SAFETY: as above.
        unsafe { (*room).forced = forced };
    }
    // SAFETY: it was just written, and nobody else knows of it.
    recording::start(unsafe { &mut *room });
    config::set_recording(true);
    config::save_modules();
    if free::is_on() {
        config::note(b"free\n");
    } else {
        clock::start(config.second);
    }
    threads::init();
    signals::init();
    if config.timeout != 0 {
        signals::end_after(config.timeout);
    }
    real::__cxa_atexit(end::at_exit as *const () as usize, 0, 0);
    let me = thread(0);
    me.closed.store(1, Relaxed);
    set_current(Some(me));
    let mut inside = Inside { me };
    inside.core().threads = 1;
    inside.core().flushed = now;
    inside.register(0, real::pthread_self());
    inside.operation(Op::Begin, 0, 0, 0);
    // Its stack begins below its arguments, and is told by the distance from there, which does not change from run to run.
    inside.has_stack(arguments.saturating_sub(MAIN_STACK), MAIN_STACK, 0);
}

/// A child is a program of its own, with one thread, and is not recorded.
extern "C" fn fork(_code: usize) -> usize {
    let Some(mut inside) = Inside::enter() else { return real::fork() };
    inside.settle();
    let result = real::fork();
    if result as i32 == 0 {
        set_current(None);
        config::set_recording(false);
        signals::forget();
        clock::stop();
        core::mem::forget(inside);
    }
    result
}

/// The program may be gone after the call that follows.
extern "C" fn before_end() -> usize {
    end::flush();
    0
}

/// The program is gone after the call that follows.
extern "C" fn at_end() -> usize {
    if let Some(mut inside) = Inside::enter() {
        end::finish(&mut inside);
    }
    0
}

/// No other thread runs from now on. Steps are counted up to here: from here on they do not count.
fn pin() {
    let inside = Inside::enter();
    if let Some(me) = thread::current() {
        me.pinned.fetch_add(1, Relaxed);
    }
    drop(inside);
}

fn unpin() {
    let inside = Inside::enter();
    if let Some(me) = thread::current() {
        me.pinned.fetch_sub(1, Relaxed);
    }
    drop(inside);
}

/// A library is loaded: its constructors run with a lock of the loader held, and it has code of its own.
extern "C" fn dlopen(name: usize, flags: usize, _code: usize) -> usize {
    let me = thread::current();
    pin();
    let result = real::dlopen(name, flags);
    unpin();
    if me.is_some() {
        config::save_modules();
    }
    if let Some(mut inside) = Inside::enter()
        && let Some(forced) = &mut inside.core().forced
    {
        forced.plan.find_modules();
    }
    result
}

/// No other thread runs while this one has a stream locked: it would wait inside libc, with the baton in its hands.
extern "C" fn flockfile(file: usize, _code: usize) {
    real::flockfile(file);
    pin();
}

extern "C" fn ftrylockfile(file: usize, _code: usize) -> usize {
    let result = real::ftrylockfile(file);
    if result as i32 == 0 {
        pin();
    }
    result
}

extern "C" fn funlockfile(file: usize, _code: usize) {
    unpin();
    real::funlockfile(file);
}

/// Memory goes away, or may no longer be read: what was written to it last is read now.
extern "C" fn settle() -> usize {
    if let Some(mut inside) = Inside::enter() {
        inside.settle();
    }
    0
}

export! {
    fork(0) => fork;
    vfork(0) => fork;
    dlopen(2) => dlopen;
    flockfile(1) => flockfile;
    ftrylockfile(1) => ftrylockfile;
    funlockfile(1) => funlockfile;
}

export_before! {
    execve(3) => before_end, then real::found::execve;
    _exit(1) => at_end, then real::found::_exit;
    _Exit(1) => at_end, then real::found::_exit;
    abort(0) => before_end, then real::found::abort;
    kill(2) => before_end, then real::found::kill;
    raise(1) => before_end, then real::found::raise;
    pthread_kill(2) => before_end, then real::found::pthread_kill;
    munmap(2) => settle, then real::found::munmap;
    mprotect(3) => settle, then real::found::mprotect;
    mremap(5) => settle, then real::found::mremap;
}
