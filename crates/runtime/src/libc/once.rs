//! One-time initialisation: `pthread_once`, the guards of C++'s static variables, and what Rust's are told as.
//!
//! A variable stands for each. It begins anew, runs and is done, and its number goes up with every step, also where the memory is
//! initialised again: so no state is taken for one of an earlier life. Who runs the initialiser updates it before and after.
//! So does whoever finds it done, without a change: that can only be after the update which says so, because until then the
//! thread would have to wait.

use core::sync::atomic::AtomicU8;
use core::sync::atomic::Ordering::SeqCst;

use reweave_wire::Op;

use crate::abi::access::load;
use crate::abi::export::export;
use crate::libc::real;
use crate::libc::rendezvous::begin;
use crate::record::numbers::About;
use crate::record::recording::{Inside, stands_for};
use crate::sched::baton::key;
use crate::sched::time::Deadline;

/// What an initialisation goes through: the lowest bits of its number, and libc's mark.
pub(crate) mod phase {
    pub(crate) const NEW: u64 = 0;
    pub(crate) const RUNS: u64 = 1;
    pub(crate) const DONE: u64 = 2;
    const BITS: u64 = 3;

    pub(super) fn of(number: u64) -> u64 {
        number & BITS
    }

    /// The number of a later state in this phase.
    pub(super) fn next(number: u64, phase: u64) -> u64 {
        let life = number & !BITS;
        if phase > of(number) { life | phase } else { (life + BITS + 1) | phase }
    }
}

impl Inside {
    fn once_number(&mut self, control: usize) -> u64 {
        self.core().numbers.entry(About::Once, control).map_or(0, |number| *number)
    }

    /// Which phase was recorded last.
    pub(crate) fn once_phase(&mut self, control: usize) -> u64 {
        phase::of(self.once_number(control))
    }

    /// Records that it is in another phase, by what the calling thread does.
    pub(crate) fn once_is(&mut self, control: usize, phase: u64, code: usize) {
        let before = self.once_number(control);
        let after = phase::next(before, phase);
        if let Some(number) = self.core().numbers.entry(About::Once, control) {
            *number = after;
        }
        self.stand_in(Op::Update, control, stands_for::ONCE, code, (before, after));
    }

    /// Records that the calling thread finds it in a phase. Where another one was recorded, somebody who was not has done
    /// something, and this thread is the first to know.
    pub(crate) fn once_found(&mut self, control: usize, phase: u64, code: usize) {
        let number = self.once_number(control);
        if phase::of(number) != phase {
            return self.once_is(control, phase, code);
        }
        self.goes_on(control, stands_for::ONCE, code, number);
    }
}

/// How long a thread waits before it looks again: an initialisation that throws tells nobody.
const PATIENCE: u64 = 20_000_000;

extern "C" fn pthread_once(control: usize, function: usize, code: usize) -> usize {
    let Some(mut inside) = begin(code) else { return real::pthread_once(control, function) };
    loop {
        match load(control, 4) {
            // Where threads run freely, libc's mark may be there before that was recorded.
            phase::DONE if inside.once_phase(control) != phase::RUNS => {
                inside.once_found(control, phase::DONE, code);
                return 0;
            }
            phase::NEW => break,
            _ => _ = inside.block(key::of(key::ONCE, control), Deadline::after(PATIENCE).number()),
        }
    }
    inside.once_is(control, phase::RUNS, code);
    drop(inside);
    real::pthread_once(control, function);
    // libc has marked it as done: nobody may see that before it is recorded.
    if let Some(mut inside) = Inside::enter() {
        inside.settle();
        inside.once_is(control, phase::DONE, code);
        inside.wake(key::of(key::ONCE, control), true);
    }
    0
}

/// The first byte of the guard of a static variable of C++: the compiler's own code looks at it, too, atomically.
fn guard(at: usize) -> &'static AtomicU8 {
    // SAFETY: the compiler gives every guard eight bytes that live as long as the program.
    unsafe { &*(at as *const AtomicU8) }
}

/// The second byte, which belongs to the library: whether somebody initialises.
fn under_way(at: usize) -> &'static AtomicU8 {
    guard(at + 1)
}

extern "C" fn guard_acquire(at: usize, code: usize) -> usize {
    let mut inside = begin(code);
    loop {
        if guard(at).load(SeqCst) != 0 {
            if let Some(inside) = &mut inside {
                inside.once_found(at, phase::DONE, code);
            }
            return 0;
        }
        if under_way(at).swap(1, SeqCst) == 0 {
            if let Some(inside) = &mut inside {
                inside.once_is(at, phase::RUNS, code);
            }
            return 1;
        }
        match &mut inside {
            Some(inside) => _ = inside.block(key::of(key::ONCE, at), 0),
            None => _ = real::sched_yield(),
        }
    }
}

extern "C" fn guard_release(at: usize, code: usize) {
    let inside = begin(code);
    guard(at).store(1, SeqCst);
    under_way(at).store(0, SeqCst);
    if let Some(mut inside) = inside {
        // For the compiler's own look.
        inside.access(Op::AtomicWrite, at, 1, code, (0, 1));
        inside.once_is(at, phase::DONE, code);
        inside.wake(key::of(key::ONCE, at), true);
    }
}

extern "C" fn guard_abort(at: usize, code: usize) {
    let inside = begin(code);
    under_way(at).store(0, SeqCst);
    if let Some(mut inside) = inside {
        inside.once_is(at, phase::NEW, code);
        inside.wake(key::of(key::ONCE, at), true);
    }
}

extern "C" fn call_once(control: usize, function: usize, code: usize) {
    pthread_once(control, function, code);
}

export! {
    pthread_once(2) => pthread_once;
    call_once(2) => call_once;
    __cxa_guard_acquire(1) => guard_acquire;
    __cxa_guard_release(1) => guard_release;
    __cxa_guard_abort(1) => guard_abort;
}

#[cfg(test)]
mod tests {
    use super::phase::{DONE, NEW, RUNS, next, of};

    #[test]
    fn no_state_comes_twice() {
        let mut number = 0;
        let mut seen = vec![number];
        for phase in [RUNS, DONE, NEW, RUNS, NEW, RUNS, DONE, RUNS, DONE, DONE, NEW] {
            number = next(number, phase);
            assert!(of(number) == phase && !seen.contains(&number), "{phase} {number}");
            seen.push(number);
        }
        assert!(seen.is_sorted());
    }
}
