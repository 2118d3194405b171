//! The recorder and scheduler inside the program under test.
//!
//! `reweave cc` compiles a program so that it calls the interface of ThreadSanitizer before each access to memory, or that of
//! our own compiler plugin ([`abi::front`]), and links it with this library instead of ThreadSanitizer's. It also stands before the functions of libc that threads use
//! to start, wait and talk. One thread runs at a time, chosen by a seeded policy ([`sched::policy`]), and hands the baton on only
//! here ([`sched::baton`]); so the order and the values that are recorded are exact. `docs/record.md` says what becomes of what.
//!
//! It lives in a foreign process, so it depends on `wire` only, has no `std`, takes memory from the kernel alone and
//! leaves `errno` as it was. The recording is *raw*: a variable is a range of bytes at an address, a site is an address
//! of code. `reweave record` makes a trace of it.
//!
//! **Invariants.** Only the thread with the baton has an [`record::recording::Inside`], and only through it the state is reached.
//! Nothing is scheduled from within libc. While a thread's `closed` is not 0, what it does passes through unrecorded.
#![cfg_attr(not(test), no_std)]
#![cfg(all(target_arch = "x86_64", target_os = "linux"))]

mod abi;
mod libc;
mod map;
mod record;
mod sched;
mod sys;
mod text;

/// There is nothing to panic about in here; should there be, the program must not go on with a half-written state.
#[cfg(reweave_linked)]
#[panic_handler]
fn panic(_: &::core::panic::PanicInfo<'_>) -> ! {
    let _ = sys::write(2, b"reweave: the recorder is wrong, and ends the program\n");
    sys::exit(70)
}

// Never called: nothing here unwinds. The compiled `core` refers to it; a program of Rust has one that counts.
#[cfg(reweave_linked)]
::core::arch::global_asm!(".text", ".weak rust_eh_personality", "rust_eh_personality:", "ud2");
