//! The interface of ThreadSanitizer: atomic accesses of 128 bits.
//!
//! One is recorded as two, of its halves, one right after the other: no thread runs in between.

use core::arch::asm;

use reweave_wire::Op;

use crate::abi::atomics::begin;
use crate::abi::export::export;
use crate::abi::front::export_atomic;
use crate::record::recording::Inside;
use crate::sched::forced::PART;

/// Compares and swaps in one step; what was there.
fn swap(at: usize, expected: u128, new: u128) -> u128 {
    let (low, high): (u64, u64);
    // SAFETY: the program uses this address as an atomic of this width, which is aligned. rbx is what the
    // instruction takes and the compiler does not give away, so it is put back; the others have fixed registers, or one of
    // them might be rbx all the same.
    unsafe {
        asm!("xchg rsi, rbx", "lock cmpxchg16b [rdi]", "mov rbx, rsi", in("rdi") at,
             inout("rsi") new as u64 => _, in("rcx") (new >> 64) as u64,
             inout("rax") expected as u64 => low, inout("rdx") (expected >> 64) as u64 => high);
    }
    u128::from(low) | u128::from(high) << 64
}

fn record(inside: Option<Inside>, op: Op, at: usize, code: usize, old: u128, new: u128) {
    if let Some(mut inside) = inside {
        inside.access(op, at, 8, code, (old as u64, new as u64));
        inside.access(op, at + 8, 8, code | PART, ((old >> 64) as u64, (new >> 64) as u64));
    }
}

fn update(op: Op, at: usize, code: usize, new: impl Fn(u128) -> u128) -> u128 {
    let inside = begin(code);
    let mut old = swap(at, 0, 0);
    loop {
        let now = swap(at, old, new(old));
        if now == old {
            record(inside, op, at, code, old, new(old));
            return old;
        }
        old = now;
    }
}

extern "C" fn load(at: usize, _order: i32, code: usize) -> u128 {
    let inside = begin(code);
    let value = swap(at, 0, 0);
    record(inside, Op::AtomicRead, at, code, value, 0);
    value
}

extern "C" fn store(at: usize, value: u128, _order: i32, code: usize) {
    update(Op::AtomicWrite, at, code, |_| value);
}

extern "C" fn exchange(at: usize, value: u128, _order: i32, code: usize) -> u128 {
    update(Op::Update, at, code, |_| value)
}

/// Declares updates.
macro_rules! updates {
    ($($name:ident $symbol:ident $new:expr;)*) => {
        $(
            extern "C" fn $name(at: usize, value: u128, _order: i32, code: usize) -> u128 {
                let new: fn(u128, u128) -> u128 = $new;
                update(Op::Update, at, code, |old| new(old, value))
            }
        )*
        // A value takes two registers.
        export! { $($symbol(4) => $name;)* }
        export_atomic! { 16, $($name => $name;)* }
    };
}

updates! {
    add __tsan_atomic128_fetch_add |a, b| a.wrapping_add(b);
    sub __tsan_atomic128_fetch_sub |a, b| a.wrapping_sub(b);
    and __tsan_atomic128_fetch_and |a, b| a & b;
    or __tsan_atomic128_fetch_or |a, b| a | b;
    xor __tsan_atomic128_fetch_xor |a, b| a ^ b;
    nand __tsan_atomic128_fetch_nand |a, b| !(a & b);
}

fn compare(at: usize, expected: u128, new: u128, code: usize) -> u128 {
    let inside = begin(code);
    let old = swap(at, expected, new);
    if old == expected {
        record(inside, Op::Update, at, code, old, new);
    } else {
        record(inside, Op::FailedAttempt, at, code, old, expected);
    }
    old
}

/// The order on failure is the sixth argument: nobody needs it, and its register takes the site.
extern "C" fn strong(at: usize, expected: *mut u128, value: u128, _order: i32, code: usize) -> i32 {
    // SAFETY: the program passes the address of what it expects.
    let wanted = unsafe { expected.read_unaligned() };
    let old = compare(at, wanted, value, code);
    if old == wanted {
        return 1;
    }
    // SAFETY: as above.
    unsafe { expected.write_unaligned(old) };
    0
}

/// Here the order is the sixth, and its register takes the site.
extern "C" fn value(at: usize, expected: u128, value: u128, code: usize) -> u128 {
    compare(at, expected, value, code)
}

export! {
    __tsan_atomic128_load(2) => load;
    __tsan_atomic128_store(4) => store;
    __tsan_atomic128_exchange(4) => exchange;
    __tsan_atomic128_compare_exchange_strong(5) => strong;
    __tsan_atomic128_compare_exchange_weak(5) => strong;
    __tsan_atomic128_compare_exchange_val(5) => value;
}

export_atomic! {
    16,
    load => load;
    store => store;
    exchange => exchange;
    compare => value;
}
