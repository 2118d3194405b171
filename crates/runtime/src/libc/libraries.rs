//! Calls from recorded code into libraries without hooks, and back.
//!
//! What such a library does inside is not seen, and it may hand anything over from one thread to another. So each step
//! across its border is an update of a variable that stands for the library: a call of one of its functions
//! ([`crate::libc::linkage`] puts `reweave_cross` before those), the entry of a recorded function that it calls, and the exit of
//! that function. `reweave record` adds the way back from a call: an update before the thread's next event.
//!
//! A library that was found to block unseen ([`crate::sched::watch`]) runs without the baton from then on.

use core::ffi::{CStr, c_char};
use core::sync::atomic::Ordering::{Acquire, Relaxed, Release};
use core::sync::atomic::{AtomicU32, AtomicUsize};

use reweave_wire::Op;

use crate::abi::front::export_told;
use crate::libc::outside::{Arguments, Caller};
use crate::record::recording::{Inside, stands_for};
use crate::sched::forced::PART;
use crate::sched::policy::Step;

/// The most modules that are told apart; the code of others counts as the system's.
const MOST: usize = 512;

/// What kind of code a module has.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Code {
    /// Nothing is known of it: made at run time, say.
    Unknown,
    /// It has hooks.
    Recorded,
    /// It comes with the compiler and the system; its functions are told apart by name.
    System,
    /// A library without hooks.
    Foreign,
}

/// Where a module is, and what it is.
struct Module {
    start: AtomicUsize,
    end: AtomicUsize,
    code: AtomicU32,
    /// Whether its code was found to block unseen.
    blocks: AtomicU32,
}

static MODULES: [Module; MOST] = [const {
    Module {
        start: AtomicUsize::new(0),
        end: AtomicUsize::new(0),
        code: AtomicU32::new(0),
        blocks: AtomicU32::new(0),
    }
}; MOST];
static COUNT: AtomicUsize = AtomicUsize::new(0);
/// Where the program itself is. Before that is known, everything is.
static PROGRAM: AtomicUsize = AtomicUsize::new(0);
static PROGRAM_LENGTH: AtomicUsize = AtomicUsize::new(usize::MAX);

/// Adds a module, unless it is known. The program itself comes first.
pub(crate) fn add(start: usize, end: usize, code: Code) {
    let count = COUNT.load(Acquire);
    if find(start).is_some() {
        return;
    }
    let Some(room) = MODULES.get(count) else { return };
    room.start.store(start, Relaxed);
    room.end.store(end, Relaxed);
    room.code.store(code as u32, Relaxed);
    COUNT.store(count + 1, Release);
    if count == 0 {
        PROGRAM.store(start, Relaxed);
        PROGRAM_LENGTH.store(end - start, Relaxed);
    }
}

fn find(at: usize) -> Option<&'static Module> {
    let known = MODULES.iter().take(COUNT.load(Acquire));
    // A library that was unloaded may have left its place to another: the last one counts.
    known.rev().find(|module| (module.start.load(Relaxed)..module.end.load(Relaxed)).contains(&at))
}

/// What kind of code is at an address.
pub(crate) fn code_at(at: usize) -> Code {
    match find(at).map(|module| module.code.load(Relaxed)) {
        Some(code) if code == Code::Recorded as u32 => Code::Recorded,
        Some(code) if code == Code::System as u32 => Code::System,
        Some(code) if code == Code::Foreign as u32 => Code::Foreign,
        _ => Code::Unknown,
    }
}

/// Whether an address is in a library without hooks.
#[inline(always)]
pub(crate) fn is_foreign(at: usize) -> bool {
    at.wrapping_sub(PROGRAM.load(Relaxed)) >= PROGRAM_LENGTH.load(Relaxed) && code_at(at) == Code::Foreign
}

/// The library at an address was found to block; whether that is new.
pub(crate) fn blocks_at(at: usize) -> bool {
    find(at).is_some_and(|module| {
        module.code.load(Relaxed) == Code::Foreign as u32 && module.blocks.swap(1, Relaxed) == 0
    })
}

impl Inside {
    /// Records a step across the border of the library at `at`, and, where control goes into it and it is known to block,
    /// lets others run until the thread's next event.
    fn crosses(mut self, at: usize, code: usize, into: bool) {
        self.settle();
        self.point(Step::Sync, code);
        self.stand_in(Op::Update, at, stands_for::LIBRARY, code, (0, 0));
        if into && find(at).is_some_and(|module| module.blocks.load(Relaxed) != 0) {
            self.leave_unseen();
        }
    }
}

/// A function of a library whose address was replaced: what the code of the stub refers to.
#[repr(C)]
pub(crate) struct Callee {
    /// The address of `reweave_cross`.
    cross: usize,
    /// The function itself.
    function: usize,
    /// Its name, where it is one of libc that is on no list.
    unlisted: *const c_char,
    /// Whether it was called, see [`crate::libc::outside::Caller`].
    caller: Caller,
}

impl Callee {
    pub(crate) fn new(function: usize, unlisted: *const c_char) -> Callee {
        Callee { cross: cross(), function, unlisted, caller: Caller::new() }
    }
}

/// Recorded code calls a function of a library; `code` is where it returns to.
extern "C" fn calls(callee: &'static Callee, code: usize, arguments: &Arguments) {
    // The address may have been passed on to code that is not recorded.
    if code_at(code) == Code::Recorded
        && let Some(inside) = Inside::enter()
    {
        if callee.unlisted.is_null() {
            inside.crosses(callee.function, code, true);
        } else {
            // SAFETY: the name that a module has of a function ends in a zero.
            let name = unsafe { CStr::from_ptr(callee.unlisted) };
            inside.calls_unlisted(name, &callee.caller, arguments, code);
        }
    }
}

/// A library calls a recorded function, which was just entered; it returns to `code`.
#[cold]
pub(crate) fn called_back(code: usize) {
    if let Some(inside) = Inside::enter() {
        inside.crosses(code, code, false);
    }
}

/// A recorded function returns to the library that called it, at `code`.
#[cold]
pub(crate) fn returns(code: usize) {
    if let Some(inside) = Inside::enter() {
        inside.crosses(code, code, true);
    }
}

/// A new thread begins with a function of a library.
pub(crate) fn begins(function: usize) {
    if is_foreign(function) {
        returns(function);
    }
}

/// Inline assembly that may touch memory other than its operands comes next.
extern "C" fn assembly(code: usize) {
    if let Some(inside) = Inside::enter() {
        inside.crosses(0, code, false);
    }
}

/// Inline assembly has updated a memory operand. Other accesses to it are as atomic as that one: its program reads with plain
/// instructions what it writes with locked ones.
extern "C" fn assembled(at: usize, code: usize, length: usize, old: u64) {
    let Some(mut inside) = Inside::enter() else { return };
    inside.settle();
    inside.stand_in(Op::AtomicRead, at, stands_for::ASSEMBLED, code, (length as u64, 0));
    let new = crate::abi::access::load(at, length);
    inside.access(Op::Update, at, length, code | PART, (old, new));
}

/// Recorded code calls a function by its address.
extern "C" fn calls_at(function: usize, code: usize) {
    if is_foreign(function)
        && let Some(inside) = Inside::enter()
    {
        inside.crosses(function, code, true);
    }
}

export_told! {
    __reweave_assembly => assembly;
    __reweave_assembled => assembled;
    __reweave_calls => calls_at;
}

// The same before inline assembly that gcc's assembler was given: no register changes, and the stack may end anywhere.
#[cfg(not(test))]
core::arch::global_asm!(
    ".text",
    ".balign 16",
    ".weak __reweave_assembly_here",
    ".type __reweave_assembly_here,@function",
    "__reweave_assembly_here:",
    "pushfq",
    "push rax",
    "push rdi",
    "push rsi",
    "push rdx",
    "push rcx",
    "push r8",
    "push r9",
    "push r10",
    "push r11",
    "mov rdi, [rsp + 80]",
    "push rbp",
    "mov rbp, rsp",
    "and rsp, -16",
    "sub rsp, 256",
    ".irp n, 0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15",
    "movups [rsp + 16 * \\n], xmm\\n",
    ".endr",
    "call {assembly}",
    ".irp n, 0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15",
    "movups xmm\\n, [rsp + 16 * \\n]",
    ".endr",
    "mov rsp, rbp",
    "pop rbp",
    "pop r11",
    "pop r10",
    "pop r9",
    "pop r8",
    "pop rcx",
    "pop rdx",
    "pop rsi",
    "pop rdi",
    "pop rax",
    "popfq",
    "ret",
    ".size __reweave_assembly_here, . - __reweave_assembly_here",
    assembly = sym assembly
);

// A stub comes here with its callee in r11, and everything as the function is to find it, which then is jumped to: so it
// returns to its caller directly, and exceptions and `longjmp` find nothing of ours on the stack.
#[cfg(not(test))]
core::arch::global_asm!(
    ".text",
    ".balign 16",
    ".hidden reweave_cross",
    ".globl reweave_cross",
    ".type reweave_cross,@function",
    "reweave_cross:",
    // Those that arguments are passed in come last, so that they lie in order.
    "push r11",
    "push r10",
    "push rax",
    "push r9",
    "push r8",
    "push rcx",
    "push rdx",
    "push rsi",
    "push rdi",
    "sub rsp, 128",
    "movups [rsp], xmm0",
    "movups [rsp + 16], xmm1",
    "movups [rsp + 32], xmm2",
    "movups [rsp + 48], xmm3",
    "movups [rsp + 64], xmm4",
    "movups [rsp + 80], xmm5",
    "movups [rsp + 96], xmm6",
    "movups [rsp + 112], xmm7",
    "mov rdi, r11",
    "mov rsi, [rsp + 200]",
    "lea rdx, [rsp + 128]",
    "call {calls}",
    "movups xmm0, [rsp]",
    "movups xmm1, [rsp + 16]",
    "movups xmm2, [rsp + 32]",
    "movups xmm3, [rsp + 48]",
    "movups xmm4, [rsp + 64]",
    "movups xmm5, [rsp + 80]",
    "movups xmm6, [rsp + 96]",
    "movups xmm7, [rsp + 112]",
    "add rsp, 128",
    "pop rdi",
    "pop rsi",
    "pop rdx",
    "pop rcx",
    "pop r8",
    "pop r9",
    "pop rax",
    "pop r10",
    "pop r11",
    "jmp [r11 + 8]",
    ".size reweave_cross, . - reweave_cross",
    calls = sym calls
);

/// Where stubs go.
#[cfg(not(test))]
fn cross() -> usize {
    unsafe extern "C" {
        fn reweave_cross();
    }
    reweave_cross as *const () as usize
}

#[cfg(test)]
fn cross() -> usize {
    calls as *const () as usize
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_last_module_at_an_address_counts() {
        add(0x1000, 0x2000, Code::Recorded);
        add(0x3000, 0x4000, Code::Foreign);
        add(0x5000, 0x6000, Code::System);
        assert!(!is_foreign(0x1800) && is_foreign(0x3000) && !is_foreign(0x4000) && !is_foreign(0x5000));
        assert_eq!([0x1000, 0x5fff, 0x9000].map(code_at), [Code::Recorded, Code::System, Code::Unknown]);
        assert!(!blocks_at(0x1000) && blocks_at(0x3800) && !blocks_at(0x3800));
    }
}
