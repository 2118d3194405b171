//! The process: its start, its children, its end.

use core::ffi::c_char;
use core::sync::atomic::Ordering::Relaxed;

use reweave_wire::Op;
use reweave_wire::outside::State;

use crate::abi::export::{export, export_before};
use crate::abi::rust;
use crate::libc::linkage;
use crate::libc::outside;
use crate::libc::outside::memory::{Recorder, is_programs, text};
use crate::libc::real;
use crate::libc::signals;
use crate::libc::threads;
use crate::record::config;
use crate::record::driven;
use crate::record::end;
use crate::record::inputs::Feed;
use crate::record::recording::{self, Core, Inside};
use crate::sched::clock;
use crate::sched::forced::{Forced, PART};
use crate::sched::free;
use crate::sched::policy::{Policy, Step};
use crate::sched::thread::{self, set_current, thread};
use crate::sched::watch;
use crate::sys;

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

extern "C" fn start(count: i32, arguments: usize, environment: *const *const c_char) {
    if config::asked(environment).is_none() {
        if !config::names_recording(environment) {
            driven::start_over(count, arguments, environment);
        }
        return;
    }
    signals::expect_sandbox();
    let Some(config) = config::read(count, arguments, environment) else { return signals::forget() };
    if crate::libc::heap::is_hidden() {
        config::note(b"allocator\n");
        return signals::forget();
    }
    let now = sys::now(sys::MONOTONIC);
    let timeout = if config.timeout == 0 { 0 } else { now.saturating_add(config.timeout) };
    let room = sys::map(size_of::<Core>()) as *mut Core;
    if room.is_null() || !thread::reserve() {
        let _ = sys::write(2, b"reweave: no memory to record with; the program runs without\n");
        config::note(b"no-memory\n");
        return signals::forget();
    }
    let policy = Policy::new(config.policy, config.seed);
    let given = config.inputs.as_ref().map_or(&b"\0"[..], |name| name.as_slice());
    // SAFETY: fresh memory of that size, and page-aligned.
    unsafe { room.write(Core::new(config.log, policy, timeout, config.kept)) };
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
    let core = unsafe { &mut *room };
    watch::init(core.log.head());
    recording::start(core);
    config::set_recording(true);
    config::save_modules();
    if free::is_on() {
        config::note(b"free\n");
    } else {
        // SAFETY: as above; no other thread runs yet.
        let recorded = unsafe { (*room).feed.as_ref() }.and_then(Feed::origins);
        clock::start(config.second, recorded);
    }
    threads::init();
    crate::libc::heap::init();
    signals::init();
    if config.timeout != 0 {
        signals::end_after(config.timeout);
    }
    linkage::lead();
    thread(0).seat.leave();
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

/// A child is a program of its own, with one thread, and is not recorded, unless that was asked for.
pub(crate) extern "C" fn fork(_code: usize) -> usize {
    split(config::follows_child())
}

/// The child of `vfork` is there to execute another program.
pub(crate) extern "C" fn fork_to_execute(_code: usize) -> usize {
    split(false)
}

/// The program goes into the background: the child is the program from then on, and this process ends.
extern "C" fn daemon(keeps_folder: i32, keeps_streams: i32, _code: usize) -> usize {
    let result = split(true);
    match result as i32 {
        0 => sys::detach(keeps_folder == 0, keeps_streams == 0),
        1.. => sys::exit(0),
        _ => {}
    }
    result
}

/// Forks. Where the child is wanted the recording goes on there, and no more in this process. That needs a program that
/// never had another thread: what other threads did could not have been done in the child, and must not be moved there.
fn split(follows: bool) -> usize {
    let Some(mut inside) = Inside::enter() else { return real::fork() };
    inside.settle();
    let follows = follows && inside.core().threads == 1;
    let owner = inside.core().log.owner();
    let result = real::fork();
    match (result as i32, follows) {
        (0, false) => leave(inside),
        (0, true) => {
            inside.core().log.takes_over_from(owner);
            inside.me.seat.renumber();
            if inside.core().timeout != 0 {
                // Timers stay with the parent.
                let left = inside.core().timeout.saturating_sub(sys::now(sys::MONOTONIC));
                signals::end_after(left.max(1));
            }
            config::note(b"followed\n");
        }
        (child @ 1.., true) => {
            // Before this process can end: from now on the child is waited for.
            inside.core().log.belongs_to(child);
            leave(inside);
        }
        (1.., false) => config::note(b"forked\n"),
        _ => {}
    }
    result
}

/// This process is not recorded from now on; another one is.
fn leave(inside: Inside) {
    set_current(None);
    config::set_recording(false);
    signals::forget();
    clock::stop();
    core::mem::forget(inside);
}

/// The program may be gone after the call that follows.
extern "C" fn before_end() -> usize {
    end::flush();
    0
}

/// A signal is sent to a process, which may be this one, and end it.
extern "C" fn before_kill(_process: usize, _signal: usize, code: usize) -> usize {
    outside::sends_signal(code);
    before_end()
}

/// What `sysconf` says that limits of the process, or the cores that it may use, decide; the rest
/// never changes.
const VARYING: [usize; 8] =
    [ARG_MAX, CHILD_MAX, OPEN_MAX, SIGQUEUE_MAX, CORES, CORES_IN_USE, PAGES, FREE_PAGES];
const ARG_MAX: usize = 0;
const CHILD_MAX: usize = 1;
const OPEN_MAX: usize = 4;
const SIGQUEUE_MAX: usize = 33;
const CORES: usize = 83;
const CORES_IN_USE: usize = 84;
const PAGES: usize = 85;
const FREE_PAGES: usize = 86;

extern "C" fn before_sysconf(name: usize, code: usize) -> usize {
    if VARYING.contains(&(name & 0xFFFF_FFFF))
        && let Some(mut inside) = Inside::enter()
    {
        inside.settle();
        inside.point(Step::Sync, code);
        inside.looks_at_state(State::Process.variable(0), code);
    }
    0
}

/// The program is gone after the call that follows.
pub(crate) extern "C" fn at_end() -> usize {
    if let Some(mut inside) = Inside::enter().or_else(rust::between) {
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
extern "C" fn dlopen(name: usize, flags: usize, code: usize) -> usize {
    let me = thread::current();
    if let Some(mut inside) = Inside::enter() {
        inside.settle();
        inside.point(Step::Sync, code);
        inside.changes_state(State::Libraries.variable(0), code);
        if name != 0 && is_programs(code) {
            Recorder::new(code | PART).read(&mut inside, name, text(name), true);
        }
    }
    pin();
    let result = real::dlopen(name, flags);
    unpin();
    if me.is_some() {
        config::save_modules();
        linkage::lead();
    }
    if let Some(mut inside) = Inside::enter()
        && let Some(forced) = &mut inside.core().forced
    {
        forced.plan.find_modules();
    }
    result
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
    vfork(0) => fork_to_execute;
    daemon(2) => daemon;
    dlopen(2) => dlopen;
}

export_before! {
    execve(3) => before_end, then real::found::execve;
    _exit(1) => at_end, then real::found::_exit;
    _Exit(1) => at_end, then real::found::_exit;
    abort(0) => before_end, then real::found::abort;
    kill(2) => before_kill, then real::found::kill;
    raise(1) => before_end, then real::found::raise;
    pthread_kill(2) => before_kill, then real::found::pthread_kill;
    sysconf(1) => before_sysconf, then real::found::sysconf;
    mprotect(3) => settle, then real::found::mprotect;
    mremap(5) => settle, then real::found::mremap;
}
