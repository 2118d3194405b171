//! The malloc family: each allocation is a new object.
//!
//! libc's own functions do the work, under the names that are not interposed. Nothing is scheduled here: the caller may
//! be libc itself, with a lock of its own held. What is freed does not go back to libc at once ([`crate::libc::quarantine`]).

use reweave_wire::Op;

use crate::abi::export::export;
use crate::record::numbers::About;
use crate::record::recording::{Core, Inside};
use crate::sched::free;
use crate::sched::thread::{self, GIVE_BACK};

unsafe extern "C" {
    fn __libc_malloc(size: usize) -> usize;
    fn __libc_calloc(count: usize, size: usize) -> usize;
    fn __libc_realloc(at: usize, size: usize) -> usize;
    fn __libc_memalign(alignment: usize, size: usize) -> usize;
    fn __libc_free(at: usize);
    fn __errno_location() -> *mut i32;
}

const ENOMEM: i32 = 12;
const EINVAL: i32 = 22;

/// Records that a block was allocated; its name says where and how large.
fn allocated(at: usize, size: usize, code: usize) {
    if at == 0 || free::note(Op::Alloc, at, size, code) {
        return;
    }
    match Inside::enter() {
        Some(mut inside) => inside.allocated(at, size, code),
        None => {
            if let Some(me) = thread::current() {
                me.parcels.add(at, size as u64);
            }
        }
    }
}

impl Inside {
    pub(crate) fn allocated(&mut self, at: usize, size: usize, code: usize) {
        self.settle();
        if let Some(known) = self.core().numbers.entry(About::BlockSize, at) {
            *known = size as u64 + 1;
        }
        if let Some(forced) = &mut self.core().forced {
            forced.touches(at, size);
        }
        self.operation(Op::Alloc, at, size as u64, code);
    }

    /// Records the end of a block that was seen to be allocated.
    pub(crate) fn freed(&mut self, at: usize, code: usize) {
        self.settle();
        if let Some(known) = self.core().numbers.get(About::BlockSize, at)
            && is_size(*known)
        {
            let size = core::mem::take(known) as usize - 1;
            if let Some(forced) = &mut self.core().forced {
                forced.touches(at, size.max(1));
            }
            self.operation(Op::Free, at, 0, code);
        }
    }

    /// Records what was taken and given back while the thread was away, and gives it back.
    pub(crate) fn unpack(&mut self) {
        let parcels = &self.me.parcels;
        let count = parcels.count.swap(0, core::sync::atomic::Ordering::Relaxed);
        for place in 0..count {
            let (at, size) = parcels.get(place);
            if size == GIVE_BACK {
                self.freed(at, 0);
                self.keep_block(at);
            } else {
                self.allocated(at, size as usize, 0);
            }
        }
    }
}

/// Notes the size of a block that another thread took, or that it gave the block back; whether it was known to be there.
pub(crate) fn note_size(core: &mut Core, at: usize, size: Option<usize>) -> bool {
    let known = core.numbers.entry(About::BlockSize, at);
    known.is_some_and(|known| is_size(core::mem::replace(known, size.map_or(0, |size| size as u64 + 1))))
}

impl Inside {
    /// Keeps a block that the program freed; the oldest that are kept go back to libc.
    pub(crate) fn keep_block(&mut self, at: usize) {
        if let Some(known) = self.core().numbers.entry(About::BlockSize, at)
            && core::mem::replace(known, KEPT) == KEPT
        {
            // It was freed before. libc says so, once it knows.
            give_back(at);
            return give_back(at);
        }
        let size = usable_size(at, 0);
        while !self.core().quarantine.has_room(size) && self.give_back_oldest() {}
        if self.core().quarantine.has_room(size) {
            self.core().quarantine.keep(at, size);
        } else {
            self.forget(at);
            give_back(at);
        }
    }

    /// Gives the oldest block that is kept back to libc; false where there is none.
    fn give_back_oldest(&mut self) -> bool {
        let Some(at) = self.core().quarantine.oldest() else { return false };
        self.forget(at);
        give_back(at);
        true
    }

    fn forget(&mut self, at: usize) {
        if let Some(known) = self.core().numbers.get(About::BlockSize, at) {
            *known = 0;
        }
    }
}

/// Gives a block back to libc.
pub(crate) fn give_back(at: usize) {
    // SAFETY: the program gave it back, and it was kept until now.
    unsafe { __libc_free(at) };
}

/// Stands for the size of a block that was freed and is kept.
const KEPT: u64 = u64::MAX;

/// Whether a block is there that has this for its size, plus one.
fn is_size(known: u64) -> bool {
    known != 0 && known != KEPT
}

/// Asks libc for a block; where there is no memory, again without what is kept.
fn ask(libc: impl Fn() -> usize) -> usize {
    let at = libc();
    // A thread that runs freely must not wait for the baton here.
    if at != 0 || free::is_on() {
        return at;
    }
    let Some(mut inside) = Inside::enter() else { return 0 };
    while inside.give_back_oldest() {}
    libc()
}

extern "C" fn malloc(size: usize, code: usize) -> usize {
    // SAFETY: the program asks for it.
    let at = ask(|| unsafe { __libc_malloc(size) });
    allocated(at, size, code);
    at
}

extern "C" fn calloc(count: usize, size: usize, code: usize) -> usize {
    // SAFETY: the program asks for it.
    let at = ask(|| unsafe { __libc_calloc(count, size) });
    allocated(at, count.wrapping_mul(size), code);
    at
}

extern "C" fn free(at: usize, code: usize) {
    if at == 0 || free::note(Op::Free, at, 0, code) {
        return;
    }
    match Inside::enter() {
        Some(mut inside) => {
            inside.settle();
            inside.point_if_named(code);
            inside.freed(at, code);
            inside.keep_block(at);
            return;
        }
        None => {
            if thread::current().is_some_and(|me| me.parcels.add(at, GIVE_BACK)) {
                return;
            }
        }
    }
    // SAFETY: the program asks for it.
    unsafe { __libc_free(at) };
}

/// A new block with the old one's content, even where it could have grown in place: each allocation is a new object.
extern "C" fn realloc(at: usize, size: usize, code: usize) -> usize {
    if at == 0 {
        return malloc(size, code);
    }
    if size == 0 {
        free(at, code);
        return 0;
    }
    if thread::current().is_none() {
        // SAFETY: the program asks for it.
        return unsafe { __libc_realloc(at, size) };
    }
    let new = malloc(size, code);
    if new != 0 {
        let old_size = usable_size(at, 0);
        let length = old_size.min(size);
        crate::libc::real::memmove(new, at, length);
        if !free::is_on()
            && let Some(mut inside) = Inside::enter()
        {
            inside.settle();
            // What the program asked for, without what it got beyond that: the rest is nobody's.
            let asked = inside.core().numbers.get(About::BlockSize, at).filter(|asked| is_size(**asked));
            let asked = asked.map_or(length, |asked| *asked as usize - 1);
            inside.observed(at, length.min(asked), code);
            inside.written(new, length.min(asked), code);
        }
        free(at, code);
    }
    new
}

/// Finds the function that tells how much blocks have room for, while no other thread can be in the loader.
pub(crate) fn init() {
    crate::libc::real::usable_size(0, __libc_malloc as *const () as usize);
}

/// How much a block has room for. Where another allocator's function of this name stands before libc's, and its blocks are
/// libc's all the same, it is what libc notes before the block.
extern "C" fn usable_size(at: usize, _code: usize) -> usize {
    const IS_MAPPED: usize = 2;
    if at == 0 {
        return 0;
    }
    if let Some(size) = crate::libc::real::usable_size(at, __libc_malloc as *const () as usize) {
        return size;
    }
    // SAFETY: the program says that it is a block.
    let size = unsafe { ((at - 8) as *const usize).read() };
    (size & !7).saturating_sub(if size & IS_MAPPED != 0 { 16 } else { 8 })
}

extern "C" fn reallocarray(at: usize, count: usize, size: usize, code: usize) -> usize {
    match count.checked_mul(size) {
        Some(bytes) => realloc(at, bytes, code),
        None => {
            // SAFETY: libc's own place for it.
            unsafe { *__errno_location() = ENOMEM };
            0
        }
    }
}

extern "C" fn memalign(alignment: usize, size: usize, code: usize) -> usize {
    // SAFETY: the program asks for it.
    let at = ask(|| unsafe { __libc_memalign(alignment, size) });
    allocated(at, size, code);
    at
}

extern "C" fn posix_memalign(result: *mut usize, alignment: usize, size: usize, code: usize) -> i32 {
    if !alignment.is_power_of_two() || !alignment.is_multiple_of(size_of::<usize>()) {
        return EINVAL;
    }
    let at = memalign(alignment, size, code);
    if at == 0 {
        return ENOMEM;
    }
    // SAFETY: the program passes where it wants the address.
    unsafe { result.write(at) };
    0
}

extern "C" fn valloc(size: usize, code: usize) -> usize {
    memalign(4096, size, code)
}

extern "C" fn pvalloc(size: usize, code: usize) -> usize {
    memalign(4096, size.next_multiple_of(4096), code)
}

/// How much of an allocator's code is looked at.
#[cfg(not(test))]
const LOOKED_AT: usize = 512;

/// Whether the program has an allocator of its own, as from an archive, that was not compiled to be recorded. How that passes
/// memory from one thread to another is not seen, and what the threads do with it would look like races.
#[cfg(not(test))]
pub(crate) fn is_hidden() -> bool {
    use crate::abi::access::load;
    let ours = malloc as *const () as usize;
    let linked = {
        unsafe extern "C" {
            fn malloc(size: usize) -> usize;
        }
        malloc as *const () as usize
    };
    // Our symbol takes the address of the caller from the stack and jumps to our function.
    const TAKES_CALLER: u64 = 0x2434_8B48;
    const JUMP: u64 = 0xE9;
    const CALL: u64 = 0xE8;
    let target = |at: usize| (at + 5).wrapping_add_signed(load(at + 1, 4) as i32 as isize);
    if load(linked, 4) == TAKES_CALLER && load(linked + 4, 1) == JUMP && target(linked + 4) == ours {
        return false;
    }
    let (start, end) = crate::abi::hooks::range();
    let calls_hook = |at: usize| load(at, 1) == CALL && (start..end).contains(&target(at));
    !(linked..linked + LOOKED_AT).any(calls_hook)
}

#[cfg(test)]
pub(crate) fn is_hidden() -> bool {
    let _ = malloc as *const ();
    false
}

export! {
    malloc(1) => malloc;
    malloc_usable_size(1) => usable_size;
    calloc(2) => calloc;
    free(1) => free;
    cfree(1) => free;
    realloc(2) => realloc;
    reallocarray(3) => reallocarray;
    memalign(2) => memalign;
    aligned_alloc(2) => memalign;
    posix_memalign(3) => posix_memalign;
    valloc(1) => valloc;
    pvalloc(1) => pvalloc;
    _ZdlPv(1) => free;
    _ZdaPv(1) => free;
    _ZdlPvm(1) => free_sized;
    _ZdaPvm(1) => free_sized;
}

/// The size comes second, where [`free()`] has its site: the address of the caller went to that register.
extern "C" fn free_sized(at: usize, code: usize) {
    free(at, code);
}

/// An object of C++, or 0: the library's own function then throws.
extern "C" fn new(size: usize, code: usize) -> usize {
    malloc(size.max(1), code)
}

extern "C" fn new_aligned(size: usize, alignment: usize, code: usize) -> usize {
    memalign(alignment, size.max(1), code)
}

crate::abi::export::export_before! {
    _Znwm(1) => new, then crate::libc::real::operator_new::plain;
    _Znam(1) => new, then crate::libc::real::operator_new::array;
    _ZnwmSt11align_val_t(2) => new_aligned, then crate::libc::real::operator_new::aligned;
    _ZnamSt11align_val_t(2) => new_aligned, then crate::libc::real::operator_new::aligned_array;
}

export! {
    _ZnwmRKSt9nothrow_t(1) => new;
    _ZnamRKSt9nothrow_t(1) => new;
    _ZdlPvSt11align_val_t(1) => free_sized;
    _ZdaPvSt11align_val_t(1) => free_sized;
    _ZdlPvmSt11align_val_t(1) => free_sized;
    _ZdaPvmSt11align_val_t(1) => free_sized;
    _ZdlPvRKSt9nothrow_t(1) => free_sized;
    _ZdaPvRKSt9nothrow_t(1) => free_sized;
}
