//! The interface of ThreadSanitizer: atomic accesses of 8 to 64 bits.
//!
//! Whatever order the program asks for, it gets the strongest: memory is sequentially consistent in a recording.

use core::sync::atomic::Ordering::SeqCst;
use core::sync::atomic::{AtomicU8, AtomicU16, AtomicU32, AtomicU64};

use reweave_wire::Op;

use crate::abi::export::export;
use crate::abi::front::export_atomic;
use crate::record::recording::Inside;
use crate::sched::policy::Step;

/// Enters our own code before an atomic access.
pub(crate) fn begin(code: usize) -> Option<Inside> {
    let mut inside = Inside::enter()?;
    inside.settle();
    inside.point(Step::Access, code);
    Some(inside)
}

/// Declares the functions of one width.
macro_rules! width {
    ($module:ident, $type:ident, $atomic:ident, $bytes:literal, load $load:ident, store $store:ident,
     exchange $exchange:ident, strong $strong:ident, weak $weak:ident, value $value:ident,
     $($update:ident $symbol:ident $new:expr;)*) => {
        mod $module {
            use super::*;

            /// The word at an address.
            fn word(at: usize) -> &'static $atomic {
                // SAFETY: the program uses this address as an atomic of this width, for as long as this call lasts.
                unsafe { &*(at as *const $atomic) }
            }

            extern "C" fn load(at: usize, _order: i32, code: usize) -> $type {
                let inside = begin(code);
                let value = word(at).load(SeqCst);
                if let Some(mut inside) = inside {
                    inside.access(Op::AtomicRead, at, $bytes, code, (u64::from(value), 0));
                }
                value
            }

            extern "C" fn store(at: usize, value: $type, _order: i32, code: usize) {
                let inside = begin(code);
                word(at).store(value, SeqCst);
                if let Some(mut inside) = inside {
                    inside.access(Op::AtomicWrite, at, $bytes, code, (0, u64::from(value)));
                }
            }

            fn update(at: usize, code: usize, new: impl Fn($type) -> $type) -> $type {
                let inside = begin(code);
                let mut old = word(at).load(SeqCst);
                while let Err(now) = word(at).compare_exchange(old, new(old), SeqCst, SeqCst) {
                    old = now;
                }
                if let Some(mut inside) = inside {
                    inside.access(Op::Update, at, $bytes, code, (u64::from(old), u64::from(new(old))));
                }
                old
            }

            extern "C" fn exchange(at: usize, value: $type, _order: i32, code: usize) -> $type {
                update(at, code, |_| value)
            }

            $(
                extern "C" fn $update(at: usize, value: $type, _order: i32, code: usize) -> $type {
                    let new: fn($type, $type) -> $type = $new;
                    update(at, code, |old| new(old, value))
                }
            )*

            fn compare(at: usize, expected: $type, value: $type, code: usize) -> Result<$type, $type> {
                let inside = begin(code);
                let result = word(at).compare_exchange(expected, value, SeqCst, SeqCst);
                if let Some(mut inside) = inside {
                    match result {
                        Ok(old) => {
                            inside.access(Op::Update, at, $bytes, code, (u64::from(old), u64::from(value)));
                        }
                        Err(old) => {
                            let values = (u64::from(old), u64::from(expected));
                            inside.access(Op::FailedAttempt, at, $bytes, code, values);
                        }
                    }
                }
                result
            }

            extern "C" fn strong(
                at: usize, expected: *mut $type, value: $type, _order: i32, _failed: i32, code: usize,
            ) -> i32 {
                // SAFETY: the program passes the address of what it expects.
                match compare(at, unsafe { expected.read() }, value, code) {
                    Ok(_) => 1,
                    Err(old) => {
                        // SAFETY: as above.
                        unsafe { expected.write(old) };
                        0
                    }
                }
            }

            extern "C" fn value(
                at: usize, expected: $type, value: $type, _order: i32, _failed: i32, code: usize,
            ) -> $type {
                compare(at, expected, value, code).unwrap_or_else(|old| old)
            }

            export! {
                $load(2) => load;
                $store(3) => store;
                $exchange(3) => exchange;
                $strong(5) => strong;
                $weak(5) => strong;
                $value(5) => value;
                $($symbol(3) => $update;)*
            }
            export_atomic! {
                $bytes,
                load => load;
                store => store;
                exchange => exchange;
                compare => value;
                $($update => $update;)*
            }
        }
    };
}

width!(bits_8, u8, AtomicU8, 1, load __tsan_atomic8_load, store __tsan_atomic8_store,
    exchange __tsan_atomic8_exchange, strong __tsan_atomic8_compare_exchange_strong,
    weak __tsan_atomic8_compare_exchange_weak, value __tsan_atomic8_compare_exchange_val,
    add __tsan_atomic8_fetch_add |a, b| a.wrapping_add(b); sub __tsan_atomic8_fetch_sub |a, b| a.wrapping_sub(b);
    and __tsan_atomic8_fetch_and |a, b| a & b; or __tsan_atomic8_fetch_or |a, b| a | b;
    xor __tsan_atomic8_fetch_xor |a, b| a ^ b; nand __tsan_atomic8_fetch_nand |a, b| !(a & b););
width!(bits_16, u16, AtomicU16, 2, load __tsan_atomic16_load, store __tsan_atomic16_store,
    exchange __tsan_atomic16_exchange, strong __tsan_atomic16_compare_exchange_strong,
    weak __tsan_atomic16_compare_exchange_weak, value __tsan_atomic16_compare_exchange_val,
    add __tsan_atomic16_fetch_add |a, b| a.wrapping_add(b); sub __tsan_atomic16_fetch_sub |a, b| a.wrapping_sub(b);
    and __tsan_atomic16_fetch_and |a, b| a & b; or __tsan_atomic16_fetch_or |a, b| a | b;
    xor __tsan_atomic16_fetch_xor |a, b| a ^ b; nand __tsan_atomic16_fetch_nand |a, b| !(a & b););
width!(bits_32, u32, AtomicU32, 4, load __tsan_atomic32_load, store __tsan_atomic32_store,
    exchange __tsan_atomic32_exchange, strong __tsan_atomic32_compare_exchange_strong,
    weak __tsan_atomic32_compare_exchange_weak, value __tsan_atomic32_compare_exchange_val,
    add __tsan_atomic32_fetch_add |a, b| a.wrapping_add(b); sub __tsan_atomic32_fetch_sub |a, b| a.wrapping_sub(b);
    and __tsan_atomic32_fetch_and |a, b| a & b; or __tsan_atomic32_fetch_or |a, b| a | b;
    xor __tsan_atomic32_fetch_xor |a, b| a ^ b; nand __tsan_atomic32_fetch_nand |a, b| !(a & b););
width!(bits_64, u64, AtomicU64, 8, load __tsan_atomic64_load, store __tsan_atomic64_store,
    exchange __tsan_atomic64_exchange, strong __tsan_atomic64_compare_exchange_strong,
    weak __tsan_atomic64_compare_exchange_weak, value __tsan_atomic64_compare_exchange_val,
    add __tsan_atomic64_fetch_add |a, b| a.wrapping_add(b); sub __tsan_atomic64_fetch_sub |a, b| a.wrapping_sub(b);
    and __tsan_atomic64_fetch_and |a, b| a & b; or __tsan_atomic64_fetch_or |a, b| a | b;
    xor __tsan_atomic64_fetch_xor |a, b| a ^ b; nand __tsan_atomic64_fetch_nand |a, b| !(a & b););

extern "C" fn fence() {
    core::sync::atomic::fence(SeqCst);
}

export! {
    __tsan_atomic_thread_fence(1) => fence;
    __tsan_atomic_signal_fence(1) => fence;
}
