//! Symbols that pass the address of their caller on.
//!
//! A symbol of `n` arguments puts its return address into the register of the argument after them and jumps to the
//! function that does the work, so that the caller is the site. The symbols are weak: a program that defines one of them
//! itself keeps its own, and they still come before those of any shared library.

/// Exports symbols: `name(arguments) => function`. Unit tests do without: they would call ours instead of libc's.
macro_rules! export {
    ($($name:ident ($count:tt) => $function:path;)*) => { $(
        #[cfg(not(test))]
        core::arch::global_asm!(
            ".text",
            ".balign 16",
            concat!(".weak ", stringify!($name)),
            concat!(".type ", stringify!($name), ",@function"),
            concat!(stringify!($name), ":"),
            concat!("mov ", crate::abi::export::register!($count), ", [rsp]"),
            "jmp {function}",
            concat!(".size ", stringify!($name), ", . - ", stringify!($name)),
            function = sym $function
        );
        #[cfg(test)]
        const _: &str = { let _ = $function; crate::abi::export::register!($count) };
    )* };
}

/// The register of the argument that follows so many.
macro_rules! register {
    (0) => {
        "rdi"
    };
    (1) => {
        "rsi"
    };
    (2) => {
        "rdx"
    };
    (3) => {
        "rcx"
    };
    (4) => {
        "r8"
    };
    (5) => {
        "r9"
    };
    // No argument is left; nobody minds this one.
    (6) => {
        "r11"
    };
}

/// Exports symbols that call a function first, which may answer with 0, and then go on with libc's: C++ unwinds through
/// these, and must not find our frames. `name(arguments) => function, then libc's, found by a function`.
macro_rules! export_before {
    ($($name:ident ($count:tt) => $function:path, then $found:path;)*) => { $(
        #[cfg(not(test))]
        core::arch::global_asm!(
            ".text",
            ".balign 16",
            concat!(".weak ", stringify!($name)),
            concat!(".type ", stringify!($name), ",@function"),
            concat!(stringify!($name), ":"),
            "push rdi",
            "push rsi",
            "push rdx",
            "push rcx",
            "push r8",
            "push r9",
            "sub rsp, 8",
            concat!("mov ", crate::abi::export::register!($count), ", [rsp + 56]"),
            "call {function}",
            "test rax, rax",
            "jz 2f",
            "add rsp, 56",
            "ret",
            "2:",
            "call {found}",
            "add rsp, 8",
            "pop r9",
            "pop r8",
            "pop rcx",
            "pop rdx",
            "pop rsi",
            "pop rdi",
            "jmp rax",
            concat!(".size ", stringify!($name), ", . - ", stringify!($name)),
            function = sym $function,
            found = sym $found
        );
        #[cfg(test)]
        const _: &str = { let _ = ($function, $found); crate::abi::export::register!($count) };
    )* };
}

pub(crate) use export;
pub(crate) use export_before;
pub(crate) use register;
