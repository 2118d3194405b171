//! The lives of semaphores, barriers, descriptors, streams and directories: each use and the end is a call on the thing.
//!
//! It is recorded before what else the function does, so that a schedule can have the end come first: all else that a use and an
//! end do to the same state keeps its order. A wait is a use where it starts. Who was awakened, and who leaves a barrier,
//! uses nothing any more: POSIX lets it be destroyed then.

use reweave_wire::{Life, Op};

use crate::abi::export::export;
use crate::libc::outside::How;
use crate::libc::real;
use crate::record::numbers::About;
use crate::record::recording::Inside;
use crate::sched::policy::Step;

impl Inside {
    /// The thread uses a thing.
    pub(crate) fn uses_thing(&mut self, of: Life, at: usize, code: usize) {
        let generation = self.core().numbers.get(About::Lives(of), at).map_or(0, |lives| *lives as u32);
        self.operation(Op::Call, at, of.value(false, generation), code);
    }

    /// The thread ends it: what is there later is another one.
    pub(crate) fn ends_thing(&mut self, of: Life, at: usize, code: usize) {
        let generation = self.core().numbers.entry(About::Lives(of), at).map_or(0, |lives| {
            *lives += 1;
            *lives as u32 - 1
        });
        self.operation(Op::Call, at, of.value(true, generation), code);
    }

    /// The thread uses or ends a thing that a variable stands for.
    pub(crate) fn lives(&mut self, how: How, of: Life, variable: u64, code: usize) {
        match how {
            How::Ends => self.ends_thing(of, variable as usize, code),
            _ => self.uses_thing(of, variable as usize, code),
        }
    }

    /// The thread ends a lock or condition variable, whose generations are counted where its uses are recorded.
    pub(crate) fn ends_lock(&mut self, of: Life, at: usize, generation: u32, code: usize) {
        self.operation(Op::Call, at, of.value(true, generation), code);
    }
}

/// Ends a thing, if the real function does not say that it cannot be ended. Nothing runs in between.
fn destroys(of: Life, at: usize, code: usize, real: fn(usize) -> usize) -> usize {
    let Some(mut inside) = Inside::enter() else { return real(at) };
    inside.settle();
    inside.point(Step::Sync, code);
    let result = real(at);
    if result as i32 == 0 {
        inside.ends_thing(of, at, code);
    }
    result
}

extern "C" fn sem_destroy(semaphore: usize, code: usize) -> usize {
    destroys(Life::Semaphore, semaphore, code, real::sem_destroy)
}

extern "C" fn barrier_destroy(barrier: usize, code: usize) -> usize {
    destroys(Life::Barrier, barrier, code, real::pthread_barrier_destroy)
}

export! {
    sem_destroy(1) => sem_destroy;
    pthread_barrier_destroy(1) => barrier_destroy;
}
