//! How the tables of functions become symbols: each leads to one piece of code with what the table says of the function.

/// The most things that a table says of one function.
pub(crate) const MOST_USES: usize = 10;

/// What a table says of a function, as the assembler lays it out.
#[cfg(not(test))]
pub(crate) const fn padded(uses: &[u32]) -> [u32; MOST_USES] {
    let mut padded = [0; MOST_USES];
    let mut place = 0;
    while place < uses.len() {
        padded[place] = uses[place];
        place += 1;
    }
    padded
}

/// A symbol of libc that is stood before, and the code that it leads to.
macro_rules! entry {
    ($routine:literal $name:ident $uses:tt) => {
        #[cfg(not(test))]
        core::arch::global_asm!(
            ".text",
            ".balign 8",
            concat!(".weak ", stringify!($name)),
            concat!(".type ", stringify!($name), ",@function"),
            concat!(stringify!($name), ":"),
            "lea r11, [rip + 8f]",
            concat!("jmp ", $routine),
            concat!(".size ", stringify!($name), ", . - ", stringify!($name)),
            ".section .data.reweave_outside,\"aw\",@progbits",
            ".balign 8",
            "8:",
            ".quad 0",
            ".quad 9f",
            ".long {a}, {b}, {c}, {d}, {e}, {f}, {g}, {h}, {i}, {j}",
            ".long 0, 0",
            ".section .rodata.reweave_outside,\"a\",@progbits",
            "9:",
            concat!(".asciz \"", stringify!($name), "\""),
            ".text",
            a = const crate::libc::outside::entries::padded(&$uses)[0],
            b = const crate::libc::outside::entries::padded(&$uses)[1],
            c = const crate::libc::outside::entries::padded(&$uses)[2],
            d = const crate::libc::outside::entries::padded(&$uses)[3],
            e = const crate::libc::outside::entries::padded(&$uses)[4],
            f = const crate::libc::outside::entries::padded(&$uses)[5],
            g = const crate::libc::outside::entries::padded(&$uses)[6],
            h = const crate::libc::outside::entries::padded(&$uses)[7],
            i = const crate::libc::outside::entries::padded(&$uses)[8],
            j = const crate::libc::outside::entries::padded(&$uses)[9],
        );
    };
}

/// The functions of one line.
macro_rules! line {
    ($routine:literal $uses:tt $($name:ident)*) => { $( entry!($routine $name $uses); )* };
}

/// The same as data.
#[cfg(test)]
macro_rules! rows {
    ($uses:tt $($name:ident)*) => { &[$((stringify!($name), &$uses)),*] };
}

/// A table: lines of what functions use, and their names. `$routine` is the code that they lead to.
macro_rules! table {
    ($routine:literal; $($uses:tt $($name:ident)+;)+) => {
        $( line!($routine $uses $($name)+); )+

        /// Every function, with what it uses.
        #[cfg(test)]
        pub(crate) const TABLE: &[&[(&str, &[u32])]] = &[$(rows!($uses $($name)+)),+];
    };
}
