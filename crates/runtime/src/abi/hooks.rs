//! The interface of ThreadSanitizer: plain accesses and functions.
//!
//! Most accesses, and small copies, are recorded right here, in some twenty instructions: the slot is written, and counts
//! once the cursor is moved behind it. A write's value is read by the thread's next hook, which finds the slot before its own.
//! Where the limit is reached, the function behind takes over. A signal's handler may come between any two instructions;
//! then the hook begins anew ([`crate::libc::signals`]), which is why it lies within a fixed number of bytes and changes nothing
//! that counts before the cursor. A copy that is done twice is the same copy: it does not overlap.

use core::sync::atomic::AtomicBool;

#[cfg(not(test))]
use reweave_wire::ring::AWAITED;

use crate::abi::access::write;
use crate::abi::export::export;
use crate::abi::front::told_front;

/// Each hook begins at a multiple of this and is no longer.
pub(crate) const HOOK_BYTES: usize = 256;

/// The instruction after which a hook is over.
pub(crate) const RETURN: u64 = 0xC3;

/// Hooks of one size each.
macro_rules! hooks {
    ($($function:ident: $access:ident $size:literal, $($name:ident)*;)*) => { $(
        extern "C" fn $function(at: usize, code: usize, stack: usize) {
            $access(at, $size, code, stack);
        }
        export! { $($name(1) => $function;)* }
    )* };
}

/// Puts the value of the write before the cursor into its slot, and goes back to 1.
#[cfg(not(test))]
macro_rules! settle {
    ($cursor:literal) => {
        // Exactly what was written is read: more would have to wait until the store is through.
        concat!(
            "2:\n",
            concat!("movzx ecx, byte ptr [", $cursor, " - 17]\n"),
            concat!("mov r10, [", $cursor, " - 16]\n"),
            "test cl, 4
             jnz 6f
             test cl, 1
             jnz 4f
             test cl, 2
             jnz 5f
             mov r10, [r10]
             7:\n",
            concat!("mov [", $cursor, " - 8], r10\n"),
            "jmp 1b
             4:
             movzx r10d, byte ptr [r10]
             jmp 7b
             5:
             movzx r10d, word ptr [r10]
             jmp 7b
             6:
             mov r10d, [r10]
             jmp 7b"
        )
    };
}

/// Hooks that record by themselves, each under several names. `$value` is what gets the value, if it is there.
macro_rules! quick {
    ($($name:ident $($alias:ident)*: $kind:literal, $value:literal, $slow:ident;)*) => {
        #[cfg(not(test))]
        core::arch::global_asm!(
            ".section reweave_hooks,\"ax\",@progbits",
            ".balign 256",
            $(
                ".balign 256",
                concat!(".weak ", stringify!($name)),
                concat!(".type ", stringify!($name), ",@function"),
                $(
                    concat!(".weak ", stringify!($alias)),
                    concat!(".type ", stringify!($alias), ",@function"),
                    concat!(stringify!($alias), ":"),
                )*
                concat!(stringify!($name), ":"),
                concat!("reweave_", stringify!($slow), ":"),
                "mov rax, qword ptr fs:[reweave_log@tpoff]",
                "mov rdx, [rax]",
                "cmp rdx, [rax + 8]",
                "jae 3f",
                // Whether the value of the slot before is awaited.
                "test byte ptr [rdx - 18], {awaited}",
                "jnz 2f",
                "1:",
                // The recorder has looked at the lines that come next: they are fetched back in time.
                "prefetchw [rdx + 768]",
                "mov rcx, [rsp]",
                concat!("movabs r10, ", $kind),
                "or rcx, r10",
                // Two words at once: stores are what there is most of.
                "movq xmm0, rcx",
                "movq xmm1, rdi",
                "punpcklqdq xmm0, xmm1",
                "movups [rdx], xmm0",
                $value,
                "add rdx, 24",
                "mov [rax], rdx",
                "ret",
                settle!("rdx"),
                "3:",
                "mov rsi, [rsp]",
                "mov rdx, rsp",
                concat!("jmp {", stringify!($slow), "}"),
                concat!(".size ", stringify!($name), ", . - ", stringify!($name)),
                // A hook that is too long does not assemble.
                concat!(".org ", stringify!($name), " + 256"),
            )*
            ".text",
            awaited = const AWAITED,
            read_1 = sym read_1, read_2 = sym read_2, read_4 = sym read_4, read_8 = sym read_8,
            write_1 = sym write_1, write_2 = sym write_2, write_4 = sym write_4, write_8 = sym write_8,
        );
        #[cfg(test)]
        const _: &[extern "C" fn(usize, usize, usize)] = &[$($slow),*];
    };
}

quick! {
    __tsan_read1 __tsan_volatile_read1 __tsan_read1_pc:
        "0x0100000000000000", "movzx r8d, byte ptr [rdi]\nmov [rdx + 16], r8", read_1;
    __tsan_read2 __tsan_volatile_read2 __tsan_unaligned_read2 __tsan_unaligned_volatile_read2:
        "0x0200000000000000", "movzx r8d, word ptr [rdi]\nmov [rdx + 16], r8", read_2;
    __tsan_read4 __tsan_volatile_read4 __tsan_unaligned_read4 __tsan_unaligned_volatile_read4:
        "0x0400000000000000", "mov r8d, [rdi]\nmov [rdx + 16], r8", read_4;
    __tsan_read8 __tsan_volatile_read8 __tsan_unaligned_read8 __tsan_unaligned_volatile_read8 __tsan_vptr_read:
        "0x0800000000000000", "mov r8, [rdi]\nmov [rdx + 16], r8", read_8;
    __tsan_write1 __tsan_volatile_write1:
        "0x1120000000000000", "", write_1;
    __tsan_write2 __tsan_volatile_write2 __tsan_unaligned_write2 __tsan_unaligned_volatile_write2:
        "0x1220000000000000", "", write_2;
    __tsan_write4 __tsan_volatile_write4 __tsan_unaligned_write4 __tsan_unaligned_volatile_write4:
        "0x1420000000000000", "", write_4;
    __tsan_write8 __tsan_volatile_write8 __tsan_unaligned_write8 __tsan_unaligned_volatile_write8:
        "0x1820000000000000", "", write_8;
}

/// Hooks of any size, which go on as those of one size where that is a power of two: gcc tells so of small structures, and of
/// what is read through `memcpy`.
macro_rules! ranges {
    ($($name:ident: $slow:ident, $one:literal $two:literal $four:literal $eight:literal;)*) => {
        #[cfg(not(test))]
        core::arch::global_asm!(
            ".section reweave_hooks,\"ax\",@progbits",
            $(
                ".balign 256",
                concat!(".weak ", stringify!($name)),
                concat!(".type ", stringify!($name), ",@function"),
                concat!(stringify!($name), ":"),
                "cmp rsi, 8",
                concat!("je ", $eight),
                "cmp rsi, 4",
                concat!("je ", $four),
                "cmp rsi, 2",
                concat!("je ", $two),
                "cmp rsi, 1",
                concat!("je ", $one),
                "mov rdx, [rsp]",
                concat!("jmp {", stringify!($slow), "}"),
                concat!(".size ", stringify!($name), ", . - ", stringify!($name)),
                concat!(".org ", stringify!($name), " + 256"),
            )*
            ".text",
            read_range = sym read_range, write_range = sym write_range,
        );
        #[cfg(test)]
        const _: &[extern "C" fn(usize, usize, usize)] = &[$($slow),*];
    };
}

ranges! {
    __tsan_read_range: read_range, "reweave_read_1" "reweave_read_2" "reweave_read_4" "reweave_read_8";
    __tsan_write_range: write_range, "reweave_write_1" "reweave_write_2" "reweave_write_4" "reweave_write_8";
}

/// Copies of two, four or eight bytes, recorded as a read and a write: programs read so what may lie anywhere. What the
/// `std` of Rust copies is not recorded.
macro_rules! copies {
    ($($name:ident: $slow:path;)*) => { $(
        #[cfg(not(test))]
        core::arch::global_asm!(
            ".section reweave_hooks,\"ax\",@progbits",
            ".balign 256",
            concat!(".weak ", stringify!($name)),
            concat!(".type ", stringify!($name), ",@function"),
            concat!(stringify!($name), ":"),
            "mov rax, qword ptr fs:[reweave_log@tpoff]",
            "mov r8, [rax]",
            "lea r9, [r8 + 24]",
            "cmp r9, [rax + 8]",
            "jae 3f",
            "cmp rdx, 8",
            "ja 3f",
            "mov r9d, 1 << 2 | 1 << 4 | 1 << 8",
            "bt r9d, edx",
            "jnc 3f",
            "cmp qword ptr [rip + __reweave_rust@GOTPCREL], 0",
            "jne 3f",
            "test byte ptr [r8 - 18], {awaited}",
            "jnz 2f",
            "1:",
            "prefetchw [r8 + 768]",
            "cmp edx, 4",
            "jb 8f",
            "je 9f",
            "mov r10, [rsi]",
            "mov [rdi], r10",
            "4:",
            "mov r11, rdx",
            "shl r11, 56",
            "or r11, [rsp]",
            "movq xmm0, r11",
            "movq xmm1, rsi",
            "punpcklqdq xmm0, xmm1",
            "movups [r8], xmm0",
            "mov [r8 + 16], r10",
            // A write that is recorded afterwards, and a part of the same call.
            "movabs r9, 0x2080000000000000",
            "or r11, r9",
            "mov [r8 + 24], r11",
            "mov [r8 + 32], rdi",
            "mov [r8 + 40], r10",
            "add r8, 48",
            "mov r9, rax",
            "mov rax, rdi",
            "mov [r9], r8",
            "ret",
            "9:",
            "mov r10d, [rsi]",
            "mov [rdi], r10d",
            "jmp 4b",
            "8:",
            "movzx r10d, word ptr [rsi]",
            "mov [rdi], r10w",
            "jmp 4b",
            settle!("r8"),
            "3:",
            "mov rcx, [rsp]",
            "jmp {slow}",
            concat!(".size ", stringify!($name), ", . - ", stringify!($name)),
            concat!(".org ", stringify!($name), " + 256"),
            ".text",
            awaited = const AWAITED,
            slow = sym $slow,
        );
        #[cfg(test)]
        const _: extern "C" fn(usize, usize, usize, usize) -> usize = $slow;
    )* };
}

copies! {
    memcpy: crate::libc::range::plain::memcpy;
    __tsan_memcpy: crate::libc::range::memcpy;
}

/// Where the hooks are that record by themselves.
#[cfg(not(test))]
pub(crate) fn range() -> (usize, usize) {
    unsafe extern "C" {
        static __start_reweave_hooks: u8;
        static __stop_reweave_hooks: u8;
    }
    (&raw const __start_reweave_hooks as usize, &raw const __stop_reweave_hooks as usize)
}

#[cfg(test)]
pub(crate) fn range() -> (usize, usize) {
    (0, 0)
}

hooks! {
    read_1: read 1,;
    read_2: read 2,;
    read_4: read 4,;
    read_8: read 8,;
    read_16: read 16, __tsan_read16 __tsan_unaligned_read16 __tsan_volatile_read16 __tsan_unaligned_volatile_read16;
    write_1: write 1,;
    write_2: write 2,;
    write_4: write 4,;
    write_8: write 8,;
    write_16: write 16, __tsan_write16 __tsan_unaligned_write16 __tsan_volatile_write16
        __tsan_unaligned_volatile_write16;
    update_1: update 1, __tsan_read_write1;
    update_2: update 2, __tsan_read_write2 __tsan_unaligned_read_write2;
    update_4: update 4, __tsan_read_write4 __tsan_unaligned_read_write4;
    update_8: update 8, __tsan_read_write8 __tsan_unaligned_read_write8;
    update_16: update 16, __tsan_read_write16 __tsan_unaligned_read_write16;
}

/// A read and a write of the same place, told of in one call.
fn update(at: usize, length: usize, code: usize, stack: usize) {
    crate::abi::access::read(at, length, code);
    write(at, length, code, stack);
}

/// A read need not know where the stack of its hook ends.
fn read(at: usize, length: usize, code: usize, _stack: usize) {
    crate::abi::access::read(at, length, code);
}

extern "C" fn read_range(at: usize, length: usize, code: usize) {
    crate::abi::access::read(at, length, code);
}

extern "C" fn write_range(at: usize, length: usize, code: usize) {
    write(at, length, code, 0);
}

/// An object gets another table of virtual functions; setting the same one again is no write.
extern "C" fn vptr_update(at: usize, new: usize, code: usize) {
    if crate::abi::access::load(at, 8) != new as u64 {
        write(at, 8, code, 0);
    }
}

export! {
    __tsan_vptr_update(2) => vptr_update;
}

extern "C" fn nothing() {}

extern "C" fn init(_: usize) {
    static TOLD: AtomicBool = AtomicBool::new(false);
    told_front(&TOLD, b"front tsan\n");
}

export! {
    __tsan_init(0) => init;
    __tsan_ignore_thread_begin(0) => nothing;
    __tsan_ignore_thread_end(0) => nothing;
}
