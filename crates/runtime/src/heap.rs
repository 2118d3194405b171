//! The malloc family: each allocation is a new object.
//!
//! libc's own functions do the work, under the names that are not interposed. Nothing is scheduled here: the caller may
//! be libc itself, with a lock of its own held.

use reweave_wire::Op;

use crate::export::export;
use crate::free;
use crate::recording::Inside;
use crate::thread::{self, GIVE_BACK};

unsafe extern "C" {
    fn __libc_malloc(size: usize) -> usize;
    fn __libc_calloc(count: usize, size: usize) -> usize;
    fn __libc_realloc(at: usize, size: usize) -> usize;
    fn __libc_memalign(alignment: usize, size: usize) -> usize;
    fn __libc_free(at: usize);
    fn malloc_usable_size(at: usize) -> usize;
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
        if let Some(known) = self.core().counters.entry(size_of_block(at)) {
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
        if let Some(known) = self.core().counters.get(size_of_block(at))
            && *known != 0
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
                // SAFETY: the program gave it back once, and it was kept until now.
                unsafe { __libc_free(at) };
            } else {
                self.allocated(at, size as usize, 0);
            }
        }
    }
}

/// Gives a block back to libc.
pub(crate) fn give_back(at: usize) {
    // SAFETY: the program gave it back once, and it was kept until now.
    unsafe { __libc_free(at) };
}

/// The key, among the numbers that stand for things, of the size of a block that is there, plus one.
fn size_of_block(at: usize) -> u64 {
    (at as u64) << 5 | 26
}

extern "C" fn malloc(size: usize, code: usize) -> usize {
    // SAFETY: the program asks for it.
    let at = unsafe { __libc_malloc(size) };
    allocated(at, size, code);
    at
}

extern "C" fn calloc(count: usize, size: usize, code: usize) -> usize {
    // SAFETY: the program asks for it.
    let at = unsafe { __libc_calloc(count, size) };
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
        // SAFETY: the program says that it is a block.
        let old_size = unsafe { malloc_usable_size(at) };
        let length = old_size.min(size);
        crate::real::memmove(new, at, length);
        if !free::is_on()
            && let Some(mut inside) = Inside::enter()
        {
            inside.settle();
            // What the program asked for, without what it got beyond that: the rest is nobody's.
            let asked = inside.core().counters.get(size_of_block(at)).filter(|asked| **asked != 0);
            let asked = asked.map_or(length, |asked| *asked as usize - 1);
            inside.observed(at, length.min(asked), code);
            inside.written(new, length.min(asked), code);
        }
        free(at, code);
    }
    new
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
    let at = unsafe { __libc_memalign(alignment, size) };
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

export! {
    malloc(1) => malloc;
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

crate::export::export_before! {
    _Znwm(1) => new, then crate::real::operator_new::plain;
    _Znam(1) => new, then crate::real::operator_new::array;
    _ZnwmSt11align_val_t(2) => new_aligned, then crate::real::operator_new::aligned;
    _ZnamSt11align_val_t(2) => new_aligned, then crate::real::operator_new::aligned_array;
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
