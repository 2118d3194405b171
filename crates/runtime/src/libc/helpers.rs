//! Threads that libc makes by itself to run a function of the program: for a timer that expires, or a message that arrives in a
//! queue (`SIGEV_THREAD`).
//!
//! `pthread_create` is not called for them. So the thread that asks for such a function makes one known, which is forked there
//! and away until libc runs the function in it; and as soon as it has begun, it makes the next one known, for the next time.
//! While one is known that has not begun, no thread waits in vain: it may still come. What it does comes after all that was done
//! to the timers before, which is an update of their variable, and so is its first step.

use core::sync::atomic::AtomicUsize;
use core::sync::atomic::Ordering::{Acquire, Relaxed, Release, SeqCst};

use reweave_wire::Op;
use reweave_wire::outside::State;

use crate::abi::access::load;
use crate::abi::export::export;
use crate::libc::outside::waits::begin;
use crate::libc::threads::{KEY, call, stack};
use crate::libc::vectors::{Given, given};
use crate::libc::{libraries, real};
use crate::record::config;
use crate::record::recording::Inside;
use crate::sched::baton::Away;
use crate::sched::free;
use crate::sched::policy::Step;
use crate::sched::thread::{self, MAX_THREADS, set_current, state};
use crate::sys;

// Where a `struct sigevent` has what.
const VALUE: usize = 0;
const HOW: usize = 12;
const FUNCTION: usize = 16;
const IN_A_THREAD: u64 = 2;
/// How many bytes it has.
const EVENT: usize = 64;

/// A function that libc is to call.
struct Helper {
    function: AtomicUsize,
    argument: AtomicUsize,
    /// What its state is called that is changed before it is called.
    state: AtomicUsize,
    /// The thread that runs it next.
    next: AtomicUsize,
}

/// The most functions that are told apart; what more of them do is not recorded.
const MOST: usize = 1024;
static HELPERS: [Helper; MOST] = [const {
    Helper {
        function: AtomicUsize::new(0),
        argument: AtomicUsize::new(0),
        state: AtomicUsize::new(0),
        next: AtomicUsize::new(0),
    }
}; MOST];
static COUNT: AtomicUsize = AtomicUsize::new(0);

/// How long a thread waits before it looks again whether it is known, in nanoseconds.
const NAP: u64 = 100_000;

impl Inside {
    /// Makes the next thread known that runs the function; whether there is room for it.
    fn expects(&mut self, helper: &Helper, code: usize) -> bool {
        let index = self.core().threads;
        if index >= MAX_THREADS {
            return false;
        }
        self.core().threads += 1;
        self.register(index, 0);
        thread::thread(index).state.store(state::AWAY, SeqCst);
        self.operation(Op::Fork, index, 0, code);
        let parent = self.me.index();
        if let Some(forced) = &mut self.core().forced {
            forced.created(parent, code, index);
        }
        helper.next.store(index, Release);
        true
    }
}

/// The `struct sigevent` to pass to libc in place of the one at `event`: its thread begins with our function.
fn instead(event: usize, of: State, code: usize) -> Option<[u64; EVENT / 8]> {
    if event == 0 || load(event + HOW, 4) != IN_A_THREAD || free::is_on() {
        return None;
    }
    let mut inside = begin(code)?;
    let helper = HELPERS.get(COUNT.load(Relaxed))?;
    helper.function.store(load(event + FUNCTION, 8) as usize, Relaxed);
    helper.argument.store(load(event + VALUE, 8) as usize, Relaxed);
    helper.state.store(of as usize, Relaxed);
    if !inside.expects(helper, code) {
        return None;
    }
    COUNT.fetch_add(1, Relaxed);
    let mut copy = [0; EVENT / 8];
    for (place, word) in copy.iter_mut().enumerate() {
        *word = load(event + 8 * place, 8);
    }
    copy[VALUE / 8] = core::ptr::from_ref(helper) as u64;
    copy[FUNCTION / 8] = helped as *const () as u64;
    Some(copy)
}

/// Where such a thread begins.
extern "C" fn helped(helper: &'static Helper) {
    let (function, argument) = (helper.function.load(Relaxed), helper.argument.load(Relaxed));
    if !config::recording() {
        call(function, argument);
        return;
    }
    let blocked = sys::block_all();
    let me = loop {
        // One that expired before this one was known takes the thread first, and makes another one known.
        let next = helper.next.load(Acquire);
        if next >= MAX_THREADS {
            // There were too many: this one is not recorded.
            sys::set_blocked(blocked);
            call(function, argument);
            return;
        }
        let me = thread::thread(next);
        if !me.claimed.swap(true, SeqCst) {
            break me;
        }
        sys::sleep(NAP);
    };
    me.closed.store(1, Relaxed);
    me.joined.store(true, Relaxed);
    me.pthread.store(real::pthread_self() as u64, Relaxed);
    set_current(Some(me));
    real::pthread_setspecific(KEY.load(Relaxed), core::ptr::from_ref(me) as usize);
    me.seat.leave();
    let stack = stack();
    let mut inside = Away::of(me).back();
    let code = function + 1;
    inside.operation(Op::Begin, 0, 0, code);
    inside.has_stack(stack.0, stack.1, code);
    if let Some(state) = State::from_code(helper.state.load(Relaxed) as u8) {
        inside.changes_state(state.variable(0), code);
    }
    if !inside.expects(helper, code) {
        helper.next.store(MAX_THREADS, Release);
    }
    inside.point(Step::Sync, code);
    drop(inside);
    sys::set_blocked(blocked);
    libraries::begins(function);
    call(function, argument);
}

extern "C" fn timer_create(clock: usize, event: usize, timer: usize, code: usize) -> usize {
    if event != 0 {
        given(Given::Bytes(event, 24), code);
    }
    let instead = instead(event, State::Timers, code);
    if let Some(mut inside) = begin(code) {
        inside.changes_state(State::Timers.variable(0), code);
    }
    let result =
        real::timer_create(clock, instead.as_ref().map_or(event, |event| event.as_ptr() as usize), timer);
    if result as i32 == 0 {
        crate::libc::outside::waits::written(timer, 8, code);
    }
    result
}

extern "C" fn mq_notify(queue: usize, event: usize, code: usize) -> usize {
    let instead = instead(event, State::Ipc, code);
    if let Some(mut inside) = begin(code) {
        inside.changes_state(State::Ipc.variable(0), code);
    }
    real::mq_notify(queue, instead.as_ref().map_or(event, |event| event.as_ptr() as usize))
}

export! {
    timer_create(3) => timer_create;
    mq_notify(2) => mq_notify;
}
