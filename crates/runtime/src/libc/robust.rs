//! Mutexes that outlive their owner: `PTHREAD_MUTEX_ROBUST`.
//!
//! A thread that ends with such a mutex releases it, and the next to lock it is told so. What lock, unlock and
//! `pthread_mutex_consistent` say depends on that, so a variable stands for it: the end of an owner and whatever mends it, or
//! gives it up, are updates, and each lock is one that changes nothing.

use core::sync::atomic::AtomicBool;
use core::sync::atomic::Ordering::Relaxed;

use reweave_wire::Op;

use crate::abi::access::load;
use crate::abi::export::export;
use crate::libc::real;
use crate::record::numbers::About;
use crate::record::recording::{Inside, stands_for};

/// Where a mutex of glibc has its kind, and the bit in it that says that it is robust.
const KIND: usize = 16;
const ROBUST: u64 = 16;

/// How many a thread that ends releases at once.
const AT_ONCE: usize = 16;

/// Whether there ever was one.
static ANY: AtomicBool = AtomicBool::new(false);

pub(crate) fn is_robust(mutex: usize) -> bool {
    load(mutex + KIND, 4) & ROBUST != 0
}

impl Inside {
    fn owner_changes(&mut self, mutex: usize, unmended: bool, code: usize) {
        if let Some(room) = self.core().numbers.entry(About::Unmended, mutex) {
            *room = u64::from(unmended);
        }
        let before = self.core().numbers.entry(About::Owner, mutex).map_or(0, |number| {
            *number += 1;
            *number - 1
        });
        self.stand_in(Op::Update, mutex, stands_for::OWNER, code, (before, before + 1));
    }

    fn is_unmended(&mut self, mutex: usize) -> bool {
        self.core().numbers.get(About::Unmended, mutex).is_some_and(|unmended| *unmended != 0)
    }

    /// The calling thread has a robust mutex, or was told that nobody can have it any more: that depends on its last owner.
    pub(crate) fn finds_owner(&mut self, mutex: usize, code: usize) {
        ANY.store(true, Relaxed);
        let number = self.core().numbers.entry(About::Owner, mutex).map_or(0, |number| *number);
        self.goes_on(mutex, stands_for::OWNER, code, number);
    }

    /// The calling thread is about to release a robust mutex: where it did not mend it, nobody can have it any more.
    pub(crate) fn leaves_unmended(&mut self, mutex: usize, code: usize) {
        if self.is_unmended(mutex) {
            self.owner_changes(mutex, false, code);
            self.between_events();
        }
    }

    /// The calling thread ends: the robust mutexes that it holds are released, and the next who locks one is told.
    pub(crate) fn ends_as_owner(&mut self) {
        if !ANY.load(Relaxed) {
            return;
        }
        let me = self.me.index() as u32 + 1;
        let mut owned = [0; AT_ONCE];
        loop {
            let mut count = 0;
            for room in &mut owned {
                let Some(mutex) = self.core().locks.find(|lock| lock.holder == me && lock.robust) else {
                    break;
                };
                *room = mutex as usize;
                count += 1;
                self.owner_changes(*room, true, 0);
                self.is_owned(*room, false);
                // Until the thread is gone it holds them all: an attempt of another one fails.
                self.between_events();
            }
            for &mutex in owned.iter().take(count) {
                while self.depth(mutex) > 0 {
                    self.released(mutex, 0);
                }
            }
            if count < AT_ONCE {
                return;
            }
        }
    }
}

extern "C" fn consistent(mutex: usize, code: usize) -> usize {
    let result = real::pthread_mutex_consistent(mutex);
    if result == 0
        && let Some(mut inside) = Inside::enter()
    {
        inside.settle();
        inside.owner_changes(mutex, false, code);
    }
    result
}

export! {
    pthread_mutex_consistent(1) => consistent;
    pthread_mutex_consistent_np(1) => consistent;
}
