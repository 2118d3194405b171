//! The recorder's functions, found in the program where it was linked with the recorder.
//!
//! Between [`begin`] (or [`lock`]) and [`end`] (or [`tried`], [`unlocked`]) the calling thread has the recorder's baton, and what it
//! does is not recorded: that is where the real thing of `std` is used, which then cannot block.

use std::time::Duration;

/// Declares functions that call one of the recorder's, and answer 0 where there is none.
macro_rules! hooks {
    ($($name:ident = $symbol:literal ($($argument:ident),*);)*) => {
        mod raw {
            $(
                #[inline(always)]
                pub(super) fn $name($($argument: usize),*) -> usize {
                    let at: usize;
                    // SAFETY: takes the address of a symbol from the table that the loader filled, which is no memory of the
                    // program; 0 where the program has none.
                    unsafe {
                        std::arch::asm!(concat!(".weak ", $symbol),
                                        concat!("mov {}, qword ptr [rip + ", $symbol, "@GOTPCREL]"), out(reg) at,
                                        options(pure, nomem, nostack, preserves_flags));
                    }
                    if at == 0 {
                        return 0;
                    }
                    type Function = extern "C" fn($(hooks!(@word $argument)),*) -> usize;
                    // SAFETY: the recorder's function of this name takes such arguments.
                    let function = unsafe { std::mem::transmute::<usize, Function>(at) };
                    function($($argument),*)
                }
            )*
        }
    };
    (@word $argument:ident) => { usize };
}

hooks! {
    begin = "__reweave_told_begin" ();
    end = "__reweave_told_end" ();
    lock = "__reweave_told_lock" (at, shared);
    tried = "__reweave_told_tried" (at, shared, got);
    unlocked = "__reweave_told_unlocked" (at);
    renewed = "__reweave_told_renewed" (at);
    wait = "__reweave_told_wait" (condition, mutex, nanos);
    notify = "__reweave_told_notify" (condition, all);
    step = "__reweave_told_step" (at, what);
    look = "__reweave_told_look" (at, what);
    block = "__reweave_told_block" (at, nanos);
    park = "__reweave_told_park" (thread, nanos);
    unpark = "__reweave_told_unpark" (thread);
    barrier = "__reweave_told_barrier" (at, size);
    initialise = "__reweave_told_initialise" (at, done);
    initialised = "__reweave_told_initialised" (at, done);
    initialisation = "__reweave_told_initialisation" (at, done);
    called = "__reweave_told_called" (at, text, length);
}

/// What has an address of its own, under which the recorder knows it.
#[derive(Default)]
pub(crate) struct Mark(#[expect(dead_code, reason = "it is there for its address")] u8);

impl Mark {
    pub(crate) const fn new() -> Mark {
        Mark(0)
    }

    pub(crate) fn at(&self) -> usize {
        std::ptr::from_ref(self) as usize
    }
}

impl Drop for Mark {
    #[inline]
    fn drop(&mut self) {
        raw::renewed(self.at());
    }
}

/// What stands for a thing that is no lock.
#[derive(Clone, Copy)]
pub(crate) enum What {
    Messages = 22,
    Scope = 23,
}

/// Whether the calling thread is recorded; then it is told from here on.
#[inline(always)]
pub(crate) fn begin() -> bool {
    raw::begin() != 0
}

#[inline(always)]
pub(crate) fn end() {
    raw::end();
}

/// Waits until a lock is free, and has it; whether the calling thread is recorded, and told from here on.
#[inline(always)]
pub(crate) fn lock(mark: &Mark, shared: bool) -> bool {
    raw::lock(mark.at(), usize::from(shared)) != 0
}

/// An attempt is over, and with it what [`begin`] began.
#[inline(always)]
pub(crate) fn tried(mark: &Mark, shared: bool, got: bool) {
    raw::tried(mark.at(), usize::from(shared), usize::from(got));
}

/// The lock was given up, and with that ends what [`begin`] began.
#[inline(always)]
pub(crate) fn unlocked(mark: &Mark) {
    raw::unlocked(mark.at());
}

fn nanos(time: Option<Duration>) -> usize {
    time.map_or(usize::MAX, |time| usize::try_from(time.as_nanos()).unwrap_or(usize::MAX))
}

/// Waits for a condition variable; whether the time was up. The real lock is not held meanwhile.
#[inline(always)]
pub(crate) fn wait(condition: &Mark, mutex: &Mark, time: Option<Duration>) -> bool {
    raw::wait(condition.at(), mutex.at(), nanos(time)) == 2
}

#[inline(always)]
pub(crate) fn notify(condition: &Mark, all: bool) -> bool {
    raw::notify(condition.at(), usize::from(all)) != 0
}

/// Something of it changes.
#[inline(always)]
pub(crate) fn step(at: usize, what: What) {
    raw::step(at, what as usize);
}

/// The thread looks at it.
#[inline(always)]
pub(crate) fn look(at: usize, what: What) {
    raw::look(at, what as usize);
}

/// Waits until it changes; whether the time was up.
#[inline(always)]
pub(crate) fn block(at: usize, time: Option<Duration>) -> bool {
    raw::block(at, nanos(time)) == 2
}

#[inline(always)]
pub(crate) fn park(thread: usize, time: Option<Duration>) -> bool {
    raw::park(thread, nanos(time)) != 0
}

#[inline(always)]
pub(crate) fn unpark(thread: usize) -> bool {
    raw::unpark(thread) != 0
}

/// Whether the calling thread leads, once it has met the others; none where it is not recorded.
#[inline(always)]
pub(crate) fn barrier(mark: &Mark, size: usize) -> Option<bool> {
    match raw::barrier(mark.at(), size) {
        0 => None,
        role => Some(role == 2),
    }
}

/// Whether the calling, told thread has to run a one-time initialisation.
#[inline(always)]
pub(crate) fn initialise(mark: &Mark, done: bool) -> bool {
    raw::initialise(mark.at(), usize::from(done)) == 1
}

/// The initialisation of the calling, told thread is over.
#[inline(always)]
pub(crate) fn initialised(mark: &Mark, done: bool) {
    raw::initialised(mark.at(), usize::from(done));
}

/// The calling, told thread sees whether it is done.
#[inline(always)]
pub(crate) fn initialisation(mark: &Mark, done: bool) {
    raw::initialisation(mark.at(), usize::from(done));
}

/// A call on an object, under way. What its thread does until it is dropped is one step, and not recorded.
pub(crate) struct Scope {
    object: usize,
    on: bool,
}

impl Scope {
    /// The call begins.
    #[inline(always)]
    pub(crate) fn new(object: usize) -> Scope {
        Scope { object, on: begin() }
    }

    /// It is complete: `method(arguments)=result`.
    #[inline(always)]
    pub(crate) fn complete(mut self, text: impl FnOnce() -> String) {
        if self.on {
            let text = text();
            raw::called(self.object, text.as_ptr() as usize, text.len());
            drop(text);
            self.on = false;
            end();
        }
    }
}

impl Drop for Scope {
    /// Where it was not completed, what came of it is not known.
    fn drop(&mut self) {
        if self.on {
            const LEFT: &str = "left()";
            raw::called(self.object, LEFT.as_ptr() as usize, LEFT.len());
            end();
        }
    }
}
