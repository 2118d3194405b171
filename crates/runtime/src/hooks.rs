//! The interface of ThreadSanitizer: plain accesses and functions.

use crate::access::{read, write};
use crate::export::export;

/// Hooks of one size each.
macro_rules! hooks {
    ($($function:ident: $access:ident $size:literal, $($name:ident)*;)*) => { $(
        extern "C" fn $function(at: usize, code: usize) {
            $access(at, $size, code);
        }
        export! { $($name(1) => $function;)* }
    )* };
}

hooks! {
    read_1: read 1, __tsan_read1 __tsan_read1_pc __tsan_volatile_read1;
    read_2: read 2, __tsan_read2 __tsan_unaligned_read2 __tsan_volatile_read2 __tsan_unaligned_volatile_read2;
    read_4: read 4, __tsan_read4 __tsan_unaligned_read4 __tsan_volatile_read4 __tsan_unaligned_volatile_read4;
    read_8: read 8, __tsan_read8 __tsan_unaligned_read8 __tsan_volatile_read8 __tsan_unaligned_volatile_read8
        __tsan_vptr_read;
    read_16: read 16, __tsan_read16 __tsan_unaligned_read16 __tsan_volatile_read16 __tsan_unaligned_volatile_read16;
    write_1: write 1, __tsan_write1 __tsan_volatile_write1;
    write_2: write 2, __tsan_write2 __tsan_unaligned_write2 __tsan_volatile_write2 __tsan_unaligned_volatile_write2;
    write_4: write 4, __tsan_write4 __tsan_unaligned_write4 __tsan_volatile_write4 __tsan_unaligned_volatile_write4;
    write_8: write 8, __tsan_write8 __tsan_unaligned_write8 __tsan_volatile_write8 __tsan_unaligned_volatile_write8;
    write_16: write 16, __tsan_write16 __tsan_unaligned_write16 __tsan_volatile_write16
        __tsan_unaligned_volatile_write16;
    update_1: update 1, __tsan_read_write1;
    update_2: update 2, __tsan_read_write2 __tsan_unaligned_read_write2;
    update_4: update 4, __tsan_read_write4 __tsan_unaligned_read_write4;
    update_8: update 8, __tsan_read_write8 __tsan_unaligned_read_write8;
    update_16: update 16, __tsan_read_write16 __tsan_unaligned_read_write16;
}

/// A read and a write of the same place, told of in one call.
fn update(at: usize, length: usize, code: usize) {
    read(at, length, code);
    write(at, length, code);
}

extern "C" fn read_range(at: usize, length: usize, code: usize) {
    read(at, length, code);
}

extern "C" fn write_range(at: usize, length: usize, code: usize) {
    write(at, length, code);
}

/// An object gets another table of virtual functions; setting the same one again is no write.
extern "C" fn vptr_update(at: usize, new: usize, code: usize) {
    if crate::access::load(at, 8) != new as u64 {
        write(at, 8, code);
    }
}

export! {
    __tsan_read_range(2) => read_range;
    __tsan_write_range(2) => write_range;
    __tsan_vptr_update(2) => vptr_update;
}

extern "C" fn nothing() {}

export! {
    __tsan_init(0) => nothing;
    __tsan_func_entry(1) => nothing;
    __tsan_func_exit(0) => nothing;
    __tsan_ignore_thread_begin(0) => nothing;
    __tsan_ignore_thread_end(0) => nothing;
}
