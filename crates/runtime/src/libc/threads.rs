//! Threads: creation, end, and waiting for it.

use core::sync::atomic::AtomicUsize;
use core::sync::atomic::Ordering::{Relaxed, SeqCst};

use reweave_wire::Op;
use reweave_wire::outside::State;
use reweave_wire::ring::{Slot, kind};

use crate::abi::export::export;
use crate::libc::libraries;
use crate::libc::outside::given;
use crate::libc::outside::memory::is_programs;
use crate::libc::real;
use crate::record::config;
use crate::record::recording::Inside;
use crate::sched::baton::{self, Away, Wake, key};
use crate::sched::forced::PART;
use crate::sched::free;
use crate::sched::policy::Step;
use crate::sched::thread::{self, MAX_THREADS, Thread, set_current, state, thread};
use crate::sched::time::Deadline;
use crate::sys;
use crate::text::Text;

const ETIMEDOUT: usize = 110;
const EBUSY: usize = 16;

/// libc lets destructors of thread-local data run this often; ours waits for the last time.
const DESTRUCTOR_ROUNDS: u32 = 4;

pub(crate) static KEY: AtomicUsize = AtomicUsize::new(0);

/// The name of a thread.
pub(crate) fn name<const N: usize>(text: &mut Text<N>, index: usize) {
    if index == 0 {
        text.push(b"main");
    } else {
        text.push(b"T").number(index as u64);
    }
}

impl Inside {
    /// Tells of the calling thread's stack. Stacks are used again: what was there before belonged to another thread.
    pub(crate) fn has_stack(&mut self, at: usize, size: usize, code: usize) {
        self.slot(Slot::new(kind::STACK, 0, code as u64, at as u64, size as u64));
    }

    /// Makes a thread known; it can run from now on.
    pub(crate) fn register(&mut self, index: usize, pthread: usize) {
        let new = thread(index);
        new.pthread.store(pthread as u64, Relaxed);
        let core = self.core();
        new.priority.store(core.policy.priority(), Relaxed);
        let count = core.live_count;
        if let Some(room) = core.live.as_mut().get_mut(count) {
            *room = index as u32;
            core.live_count += 1;
        }
        new.state.store(state::READY, SeqCst);
    }
}

/// Prepares for the ends of threads.
pub(crate) fn init() {
    let mut key = 0u32;
    real::pthread_key_create(&raw mut key as usize, ended as *const () as usize);
    KEY.store(key as usize, SeqCst);
}

/// What a new thread is told.
#[derive(Clone, Copy)]
struct Start {
    function: usize,
    argument: usize,
    index: usize,
    /// The signals that it blocks once it is known as a thread that is recorded.
    blocked: u64,
}

/// Where new threads find what they are told, by their number.
fn starts() -> *mut Start {
    static STARTS: AtomicUsize = AtomicUsize::new(0);
    if STARTS.load(SeqCst) == 0 {
        STARTS.store(sys::map(MAX_THREADS * size_of::<Start>()), SeqCst);
    }
    STARTS.load(SeqCst) as *mut Start
}

pub(crate) extern "C" fn create(
    result: *mut usize,
    attributes: usize,
    function: usize,
    argument: usize,
    code: usize,
) -> usize {
    let Some(mut inside) = Inside::enter() else {
        return real::pthread_create(result as usize, attributes, function, argument);
    };
    inside.settle();
    if is_programs(code) {
        inside.gives_away(attributes, given::THREAD, code | PART);
    }
    let index = inside.core().threads;
    inside.core().threads += 1;
    if index >= MAX_THREADS {
        return real::pthread_create(result as usize, attributes, function, argument);
    }
    // SAFETY: each number is given once, and there is room for all.
    let start = unsafe { starts().add(index) };
    let begin = begin as *const () as usize;
    // A handler that runs in the new thread before that is known as one would not be recorded.
    let make = || {
        let blocked = sys::block_all();
        // SAFETY: as above; the new thread reads it later.
        unsafe { start.write(Start { function, argument, index, blocked }) };
        let error = real::pthread_create(result as usize, attributes, begin, start as usize);
        sys::set_blocked(blocked);
        error
    };
    // A lock of libc's, which another thread may hold that waits for the baton, is taken in there.
    let error = if free::is_on() { inside.elsewhere(make) } else { make() };
    if error == 0 {
        // libc wrote the thread's name for the program.
        inside.written(result as usize, size_of::<usize>(), code);
        // SAFETY: pthread_create has written it.
        inside.register(index, unsafe { result.read() });
        inside.operation(Op::Fork, index, 0, code);
        let parent = inside.me.index();
        if let Some(forced) = &mut inside.core().forced {
            forced.created(parent, code, index);
        }
        inside.point(Step::Sync, 0);
    }
    error
}

/// Where every thread begins.
extern "C" fn begin(start: *const Start) -> usize {
    // SAFETY: `create` wrote it before it made this thread.
    let Start { function, argument, index, blocked } = unsafe { start.read() };
    if !config::recording() {
        sys::set_blocked(blocked);
        return call(function, argument);
    }
    let me = thread(index);
    me.closed.store(1, Relaxed);
    set_current(Some(me));
    sys::set_blocked(blocked);
    real::pthread_setspecific(KEY.load(Relaxed), core::ptr::from_ref(me) as usize);
    let mut inside = baton::first_turn(me);
    let stack = stack();
    inside.unpack();
    // Sites are addresses after a call: this one is in the first instruction.
    inside.operation(Op::Begin, 0, 0, function + 1);
    inside.has_stack(stack.0, stack.1, function + 1);
    drop(inside);
    libraries::begins(function);
    call(function, argument)
}

/// Where the calling thread's stack is, and its size.
pub(crate) fn stack() -> (usize, usize) {
    let (mut attributes, mut at, mut size) = ([0u64; 16], 0, 0);
    let attributes = &raw mut attributes as usize;
    real::pthread_getattr_np(real::pthread_self(), attributes);
    real::pthread_attr_getstack(attributes, &raw mut at as usize, &raw mut size as usize);
    real::pthread_attr_destroy(attributes);
    (at, size)
}

/// Calls a function of the program.
pub(crate) fn call(function: usize, argument: usize) -> usize {
    // SAFETY: the program passed it to be called like this.
    let function: extern "C" fn(usize) -> usize = unsafe { core::mem::transmute(function) };
    function(argument)
}

/// The last destructor of a thread's data, however it ends.
extern "C" fn ended(me: *const Thread) {
    // SAFETY: the value is the one that `begin` or `leave_main` set.
    let me = unsafe { &*me };
    if me.rounds.fetch_add(1, Relaxed) + 1 < DESTRUCTOR_ROUNDS {
        real::pthread_setspecific(KEY.load(Relaxed), core::ptr::from_ref(me) as usize);
        return;
    }
    // One that was cancelled in a call without the baton never came back from it.
    let away = me.state.load(SeqCst) == state::AWAY && me.closed.load(Relaxed) != 0;
    let inside = if away { Some(Away::of(me).back()) } else { Inside::enter() };
    if let Some(mut inside) = inside {
        // A handler from here on would not be recorded: the signals that come are for other threads.
        sys::block_all();
        inside.settle();
        inside.last_ways();
        inside.ends_as_owner();
        inside.ends_for_others();
        inside.operation(Op::End, 0, 0, 0);
        inside.wake(key::of(key::END, me.index()), true);
        set_current(None);
        inside.retire();
    }
}

impl Inside {
    /// Who asked in vain whether this thread had ended would not do so from now on.
    fn ends_for_others(&mut self) {
        let variable = State::Ends.variable(self.me.index() as u64);
        if self.was_used(variable) {
            self.changes_state(variable, 0);
        }
    }
}

/// The main thread may end before the others, but only like this.
extern "C" fn exits() -> usize {
    if let Some(me) = thread::current() {
        real::pthread_setspecific(KEY.load(Relaxed), core::ptr::from_ref(me) as usize);
    }
    0
}

/// The recorded thread that pthreads call `pthread`.
pub(crate) fn find(inside: &mut Inside, pthread: usize) -> Option<&'static Thread> {
    let count = inside.core().threads;
    // A name may be used again once its thread was awaited: the last one counts.
    (0..count)
        .rev()
        .map(thread)
        .find(|thread| thread.pthread.load(Relaxed) == pthread as u64 && !thread.joined.load(Relaxed))
}

/// Waits for the end of a thread.
fn join(
    pthread: usize,
    result: usize,
    code: usize,
    deadline: Deadline,
    real_join: impl FnOnce() -> usize,
) -> usize {
    let Some(mut inside) = Inside::enter() else { return real_join() };
    inside.settle();
    inside.point(Step::Sync, code);
    let Some(child) = find(&mut inside, pthread).filter(|child| child.index() != inside.me.index()) else {
        return real_join();
    };
    while child.state.load(SeqCst) != state::GONE {
        let until = match deadline {
            Deadline::Now => {
                inside.looks_at_state(State::Ends.variable(child.index() as u64), code);
                return EBUSY;
            }
            Deadline::Never => 0,
            Deadline::At(time) => time,
        };
        let key = key::of(key::END, child.index());
        let wake = inside.block(key, until);
        inside.end_if_cancelled();
        if wake == Wake::TimedOut && child.state.load(SeqCst) != state::GONE {
            inside.deadline_passed(code);
            inside.looks_at_state(State::Ends.variable(child.index() as u64), code);
            return ETIMEDOUT;
        }
    }
    let error = real::pthread_join(pthread, result);
    if error == 0 {
        child.joined.store(true, Relaxed);
        if result != 0 {
            inside.written(result, size_of::<usize>(), code);
        }
        inside.operation(Op::Join, child.index(), 0, code);
    }
    error
}

pub(crate) extern "C" fn pthread_join(pthread: usize, result: usize, code: usize) -> usize {
    join(pthread, result, code, Deadline::Never, || real::pthread_join(pthread, result))
}

extern "C" fn tryjoin(pthread: usize, result: usize, code: usize) -> usize {
    join(pthread, result, code, Deadline::Now, || real::pthread_tryjoin_np(pthread, result))
}

extern "C" fn timedjoin(pthread: usize, result: usize, time: usize, code: usize) -> usize {
    join(pthread, result, code, Deadline::wall(time), || real::pthread_timedjoin_np(pthread, result, time))
}

extern "C" fn clockjoin(pthread: usize, result: usize, clock: usize, time: usize, code: usize) -> usize {
    join(pthread, result, code, Deadline::of(clock, time), || {
        real::pthread_clockjoin_np(pthread, result, clock, time)
    })
}

pub(crate) extern "C" fn detach(pthread: usize, _code: usize) -> usize {
    if let Some(mut inside) = Inside::enter()
        && let Some(child) = find(&mut inside, pthread)
    {
        child.joined.store(true, Relaxed);
    }
    real::pthread_detach(pthread)
}

pub(crate) extern "C" fn sched_yield(_code: usize) -> usize {
    if let Some(mut inside) = Inside::enter() {
        inside.settle();
        inside.point(Step::Yield, 0);
        return 0;
    }
    real::sched_yield()
}

export! {
    pthread_create(4) => create;
    pthread_join(2) => pthread_join;
    pthread_tryjoin_np(2) => tryjoin;
    pthread_timedjoin_np(3) => timedjoin;
    pthread_clockjoin_np(4) => clockjoin;
    pthread_detach(1) => detach;
    sched_yield(0) => sched_yield;
    __sched_yield(0) => sched_yield;
    pthread_yield(0) => sched_yield;
    thrd_yield(0) => sched_yield;
}

crate::abi::export::export_before! {
    pthread_exit(1) => exits, then real::found::pthread_exit;
    thrd_exit(1) => exits, then real::found::pthread_exit;
}
