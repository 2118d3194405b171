//! The interface of our own compiler plugin.
//!
//! Its hooks are told the site, which is an address of the program's data, not of its code, and what is written; so nothing is
//! ever pending, and what is recorded is exact. What it says of functions, atomic accesses and copies is what the interface of
//! ThreadSanitizer says of them, and goes the same ways.
//!
//! **Branches.** One that follows another with nothing recorded in between is left out: the thread was clean at the first, and
//! has read nothing since. The ways of those are folded into one number, which the next one carries as its target, so that two
//! runs that differ in any way taken differ in what is recorded. "Nothing in between" is told by the cursor, which
//! also moves for what matters not; `reweave record` leaves out the rest.

use core::sync::atomic::AtomicBool;
use core::sync::atomic::Ordering::Relaxed;

use reweave_wire::Op;
#[cfg(not(test))]
use reweave_wire::ring::AWAITED;

use crate::abi::export::export;
use crate::record::config;
use crate::record::recording::Inside;
use crate::sched::forced::PART;
use crate::sched::free;
use crate::sched::policy::Step;

/// Exports symbols that take the site as an argument.
macro_rules! export_told {
    ($($name:ident => $function:path;)*) => { $(
        #[cfg(not(test))]
        core::arch::global_asm!(
            ".text",
            ".balign 16",
            concat!(".weak ", stringify!($name)),
            concat!(".type ", stringify!($name), ",@function"),
            concat!(stringify!($name), ":"),
            "jmp {function}",
            concat!(".size ", stringify!($name), ", . - ", stringify!($name)),
            function = sym $function
        );
        #[cfg(test)]
        const _: () = { let _ = $function; };
    )* };
}
pub(crate) use export_told;

/// The same for atomic accesses: `__reweave_atomic`, their size in bytes, an underscore, a name.
macro_rules! export_atomic {
    ($bytes:literal, $($name:ident => $function:path;)*) => { $(
        #[cfg(not(test))]
        core::arch::global_asm!(
            ".text",
            ".balign 16",
            concat!(".weak __reweave_atomic", $bytes, "_", stringify!($name)),
            concat!(".type __reweave_atomic", $bytes, "_", stringify!($name), ",@function"),
            concat!("__reweave_atomic", $bytes, "_", stringify!($name), ":"),
            "jmp {function}",
            function = sym $function
        );
        #[cfg(test)]
        const _: () = { let _ = $function; };
    )* };
}
pub(crate) use export_atomic;

/// Hooks that record by themselves, each within its place in the section of such hooks. Where the value of a write is
/// awaited, which code with other hooks did, the long way is taken.
macro_rules! quick {
    ($($name:ident: $kind:literal, $value:literal, $slow:ident;)*) => {
        #[cfg(not(test))]
        core::arch::global_asm!(
            ".section reweave_hooks,\"ax\",@progbits",
            $(
                ".balign 256",
                concat!(".weak ", stringify!($name)),
                concat!(".type ", stringify!($name), ",@function"),
                concat!(stringify!($name), ":"),
                "mov rax, qword ptr fs:[reweave_log@tpoff]",
                "mov rcx, [rax]",
                "cmp rcx, [rax + 8]",
                "jae 3f",
                "test byte ptr [rcx - 18], {awaited}",
                "jnz 3f",
                concat!("movabs r10, ", $kind),
                "or r10, rsi",
                "mov [rcx + 8], rdi",
                "mov [rcx], r10",
                $value,
                "add rcx, 24",
                "mov [rax], rcx",
                "ret",
                "3:",
                "mov rcx, rsp",
                concat!("jmp {", stringify!($slow), "}"),
                concat!(".size ", stringify!($name), ", . - ", stringify!($name)),
                concat!(".org ", stringify!($name), " + 256"),
            )*
            ".text",
            awaited = const AWAITED,
            read_1 = sym read_1, read_2 = sym read_2, read_4 = sym read_4, read_8 = sym read_8,
            write_1 = sym write_1, write_2 = sym write_2, write_4 = sym write_4, write_8 = sym write_8,
        );
        // Without the code above, nobody else refers to them.
        #[cfg(test)]
        const _: () = { let _ = ($($slow,)* branch); };
    };
}

quick! {
    __reweave_read1: "0x0100000000000000", "movzx r8d, byte ptr [rdi]\nmov [rcx + 16], r8", read_1;
    __reweave_read2: "0x0200000000000000", "movzx r8d, word ptr [rdi]\nmov [rcx + 16], r8", read_2;
    __reweave_read4: "0x0400000000000000", "mov r8d, [rdi]\nmov [rcx + 16], r8", read_4;
    __reweave_read8: "0x0800000000000000", "mov r8, [rdi]\nmov [rcx + 16], r8", read_8;
    __reweave_write1: "0x2100000000000000", "mov [rcx + 16], rdx", write_1;
    __reweave_write2: "0x2200000000000000", "mov [rcx + 16], rdx", write_2;
    __reweave_write4: "0x2400000000000000", "mov [rcx + 16], rdx", write_4;
    __reweave_write8: "0x2800000000000000", "mov [rcx + 16], rdx", write_8;
}

// A branch right after another, and one with something in between. The words of thread-local memory: where the
// cursor was after the last one, and the ways of those that were left out since.
#[cfg(not(test))]
core::arch::global_asm!(
    ".section .tbss.reweave_branch,\"awT\",@nobits",
    ".balign 8",
    ".hidden reweave_branched",
    ".globl reweave_branched",
    ".type reweave_branched,@object",
    ".size reweave_branched,8",
    "reweave_branched:",
    ".zero 8",
    ".hidden reweave_ways",
    ".globl reweave_ways",
    ".type reweave_ways,@object",
    ".size reweave_ways,8",
    "reweave_ways:",
    ".zero 8",
    ".section reweave_hooks,\"ax\",@progbits",
    ".balign 256",
    ".weak __reweave_branch",
    ".type __reweave_branch,@function",
    "__reweave_branch:",
    "mov rax, qword ptr fs:[reweave_log@tpoff]",
    "mov rcx, [rax]",
    "cmp rcx, qword ptr fs:[reweave_branched@tpoff]",
    "je reweave_fold",
    "cmp rcx, [rax + 8]",
    "jae 3f",
    "test byte ptr [rcx - 18], {awaited}",
    "jnz 3f",
    "movabs r10, 0x8f00000000000000",
    "or r10, rdi",
    "mov [rcx], r10",
    "mov r8, qword ptr fs:[reweave_ways@tpoff]",
    "mov [rcx + 8], r8",
    "mov [rcx + 16], rsi",
    "add rcx, 24",
    "mov qword ptr fs:[reweave_branched@tpoff], rcx",
    "mov qword ptr fs:[reweave_ways@tpoff], 0",
    "mov [rax], rcx",
    "ret",
    "3:",
    "jmp {branch}",
    ".size __reweave_branch, . - __reweave_branch",
    ".org __reweave_branch + 256",
    ".text",
    // This need not begin anew after a signal.
    "reweave_fold:",
    "mov r8, qword ptr fs:[reweave_ways@tpoff]",
    "imul r8, r8, 0x1000193",
    "lea r8, [r8 + rsi + 1]",
    "mov qword ptr fs:[reweave_ways@tpoff], r8",
    "ret",
    awaited = const AWAITED,
    branch = sym branch
);

// Functions are told of as ThreadSanitizer's interface has it.
#[cfg(not(test))]
core::arch::global_asm!(
    ".text",
    ".balign 16",
    ".weak __reweave_entry",
    ".type __reweave_entry,@function",
    "__reweave_entry:",
    "jmp __tsan_func_entry",
    ".balign 16",
    ".weak __reweave_exit",
    ".type __reweave_exit,@function",
    "__reweave_exit:",
    "jmp __tsan_func_exit",
);

/// The ways that were left out since the last branch; they count no more.
#[cfg(not(test))]
fn take_ways() -> usize {
    let ways;
    // SAFETY: reads and writes the word defined above.
    unsafe {
        core::arch::asm!("mov {ways}, qword ptr fs:[reweave_ways@tpoff]",
                         "mov qword ptr fs:[reweave_ways@tpoff], 0", ways = out(reg) ways,
                         options(nostack, preserves_flags));
    }
    ways
}

/// The next branch is recorded, whatever the cursor says: the ring may have been gone round meanwhile.
#[cfg(not(test))]
#[inline(always)]
pub(crate) fn forget_branch() {
    set_branched(0);
}

/// A branch is left out while the cursor is there.
#[cfg(not(test))]
#[inline(always)]
fn set_branched(cursor: u64) {
    // SAFETY: writes the word defined above.
    unsafe {
        core::arch::asm!("mov qword ptr fs:[reweave_branched@tpoff], {}", in(reg) cursor,
                         options(nostack, preserves_flags));
    }
}

#[cfg(test)]
fn take_ways() -> usize {
    0
}

#[cfg(test)]
pub(crate) fn forget_branch() {}

#[cfg(test)]
fn set_branched(_: u64) {}

extern "C" fn branch(code: usize, way: u64) {
    let Some(mut inside) = Inside::enter() else { return };
    inside.settle();
    inside.operation(Op::Branch, take_ways(), way, code);
    // As where the hook had room, which depends on how fast the recorder is: a step, and the next one right after is left out.
    inside.me.calls.miss();
    let cursor = inside.core().log.cursor();
    let alone = inside.me.signals.load(Relaxed) == 0;
    drop(inside);
    if alone && !free::is_on() {
        set_branched(cursor);
    }
}

impl Inside {
    /// The thread ends: the ways of branches that were left out are told.
    pub(crate) fn last_ways(&mut self) {
        let ways = take_ways();
        if ways != 0 {
            self.operation(Op::Branch, ways, 0, 0);
        }
    }
}

/// The other ways of hooks of one size each.
macro_rules! sizes {
    ($($read:ident $write:ident $size:literal;)*) => { $(
        extern "C" fn $read(at: usize, code: usize) {
            read(at, code, $size);
        }

        extern "C" fn $write(at: usize, code: usize, value: u64, stack: usize) {
            let Some(mut inside) = begin(code) else { return };
            inside.access(Op::Write, at, $size, code, (0, value));
            // Where the hook returns to is where its stack ends.
            inside.me.announced.set(crate::abi::access::load(stack, 8) as usize, stack);
        }
    )* };
}

sizes! {
    read_1 write_1 1;
    read_2 write_2 2;
    read_4 write_4 4;
    read_8 write_8 8;
}

/// Enters our own code before an access.
#[inline(always)]
fn begin(code: usize) -> Option<Inside> {
    let mut inside = Inside::enter()?;
    inside.settle();
    inside.point(Step::Access, code);
    Some(inside)
}

extern "C" fn read(at: usize, code: usize, length: usize) {
    if let Some(mut inside) = begin(code) {
        inside.observed(at, length, code);
    }
}

/// The program is about to do what another hook tells of afterwards.
extern "C" fn before(code: usize) {
    if let Some(inside) = begin(code) {
        let me = inside.me;
        drop(inside);
        me.between.store(true, Relaxed);
    }
}

/// The program has written, and nobody ran since it said so.
extern "C" fn wrote(at: usize, code: usize, length: usize) {
    if let Some(mut inside) = Inside::enter() {
        inside.settle();
        inside.written(at, length, code);
    }
}

extern "C" fn updated(at: usize, code: usize, length: usize, old: u64) {
    if let Some(mut inside) = Inside::enter() {
        inside.settle();
        let new = crate::abi::access::load(at, length);
        inside.access(Op::Update, at, length, code, (old, new));
    }
}

/// One lane of a vector is read, where its bit is set.
extern "C" fn read_lane(at: usize, code: usize, length: usize, bit: u64, lane: usize) {
    if bit == 0 {
        return;
    }
    let inside = if lane == 0 { begin(code) } else { Inside::enter() };
    if let Some(mut inside) = inside {
        inside.settle();
        inside.observed(at, length, if lane == 0 { code } else { code | PART });
    }
}

/// One lane of a vector was written, where its bit is set.
extern "C" fn wrote_lane(at: usize, code: usize, length: usize, bit: u64, lane: usize) {
    if bit != 0 {
        wrote(at, if lane == 0 { code } else { code | PART }, length);
    }
}

extern "C" fn init(_: usize) {
    static TOLD: AtomicBool = AtomicBool::new(false);
    told_front(&TOLD, b"front plugin\n");
}

/// Notes once which compiler's hooks the program has: what its trace can promise depends on it.
pub(crate) fn told_front(told: &AtomicBool, text: &[u8]) {
    if config::recording() && !told.swap(true, Relaxed) {
        config::note(text);
    }
}

export! {
    __reweave_init(0) => init;
}

export_told! {
    __reweave_read => read;
    __reweave_before => before;
    __reweave_wrote => wrote;
    __reweave_updated => updated;
    __reweave_read_lane => read_lane;
    __reweave_wrote_lane => wrote_lane;
}
