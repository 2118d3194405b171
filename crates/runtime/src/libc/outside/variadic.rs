//! Functions that print to memory, or scan it or a stream, with arguments as they come: each is made one with a list of arguments.

use crate::libc::outside::Arguments;
use crate::libc::outside::memory::{Recorder, Use, is_programs};
use crate::libc::outside::texts::{format_list, prints, prints_new, scans, text};
use crate::libc::real;
use crate::libc::taking;
use crate::record::recording::Inside;
use crate::sched::forced::PART;
use crate::sched::policy::Step;

/// A `va_list`, and the registers that it refers to.
#[repr(C)]
struct List {
    integers: u32,
    floats: u32,
    stack: usize,
    registers: *const Arguments,
}

impl List {
    /// The arguments after the first `fixed`.
    fn new(registers: &Arguments, stack: usize, fixed: usize) -> List {
        List { integers: fixed as u32 * 8, floats: 48, stack, registers }
    }
}

/// Makes a call, and records what it does to memory.
fn through(uses: &[u32], arguments: &Arguments, code: usize, call: impl FnOnce() -> usize) -> usize {
    if !is_programs(code) {
        return call();
    }
    let parts = || uses.iter().filter_map(|&part| Use::of(part, arguments));
    if let Some(mut inside) = Inside::enter() {
        inside.settle();
        inside.point(Step::Access, code);
        let mut recorder = Recorder::new(code);
        parts().for_each(|part| recorder.before(&mut inside, part, arguments));
    }
    let result = call();
    if let Some(mut inside) = Inside::enter() {
        inside.settle();
        let mut recorder = Recorder::new(code | PART);
        parts().for_each(|part| recorder.after(&mut inside, part, arguments, result));
    }
    result
}

/// The symbol of a function that takes its arguments as they come: `$name` is given the registers, where the others are, and the site.
macro_rules! symbol {
    ($name:ident) => {
        // `va_arg` expects the registers for integers first, then those for floats.
        #[cfg(not(test))]
        core::arch::global_asm!(
            ".text",
            ".balign 16",
            concat!(".weak ", stringify!($name)),
            concat!(".type ", stringify!($name), ",@function"),
            concat!(stringify!($name), ":"),
            ".cfi_startproc",
            "push rbp",
            ".cfi_def_cfa_offset 16",
            ".cfi_offset rbp, -16",
            "mov rbp, rsp",
            ".cfi_def_cfa_register rbp",
            "sub rsp, 176",
            "mov [rsp], rdi", "mov [rsp + 8], rsi", "mov [rsp + 16], rdx",
            "mov [rsp + 24], rcx", "mov [rsp + 32], r8", "mov [rsp + 40], r9",
            "movaps [rsp + 48], xmm0", "movaps [rsp + 64], xmm1", "movaps [rsp + 80], xmm2", "movaps [rsp + 96], xmm3",
            "movaps [rsp + 112], xmm4", "movaps [rsp + 128], xmm5", "movaps [rsp + 144], xmm6", "movaps [rsp + 160], xmm7",
            "mov rdi, rsp",
            "lea rsi, [rbp + 16]",
            "mov rdx, [rbp + 8]",
            "call {function}",
            "leave",
            ".cfi_def_cfa rsp, 8",
            "ret",
            ".cfi_endproc",
            concat!(".size ", stringify!($name), ", . - ", stringify!($name)),
            function = sym $name,
        );
        #[cfg(test)]
        const _: extern "C" fn(&Arguments, usize, usize) -> usize = $name;
    };
}

/// Declares them: the arguments before those that come as they come, libc's function with a list of these, and what it
/// does to memory.
macro_rules! variadic {
    ($($name:ident ($($argument:ident),*) $fixed:literal as $real:ident $uses:expr;)*) => { $(
        extern "C" fn $name(registers: &Arguments, stack: usize, code: usize) -> usize {
            let list = List::new(registers, stack, $fixed);
            let at = &raw const list as usize;
            let mut arguments = *registers;
            if let Some(room) = arguments.get_mut($fixed) {
                *room = at;
            }
            let [$($argument,)* ..] = *registers;
            through(&$uses, &arguments, code, || real::$real($($argument,)* at))
        }

        symbol!($name);
    )* };
}

variadic! {
    snprintf(to, room, format) 3 as vsnprintf [format_list(3, 4), prints(1, 2)];
    __snprintf_chk(to, room, flag, size, format) 5 as __vsnprintf_chk [format_list(5, 6), prints(1, 2)];
    sprintf(to, format) 2 as vsprintf [format_list(2, 3), prints(1, 0)];
    __sprintf_chk(to, flag, size, format) 4 as __vsprintf_chk [format_list(4, 5), prints(1, 0)];
    asprintf(at, format) 2 as vasprintf [format_list(2, 3), prints_new(1)];
    __asprintf_chk(at, flag, format) 3 as __vasprintf_chk [format_list(3, 4), prints_new(1)];
    sscanf(at, format) 2 as vsscanf [text(1), text(2), scans(2, 3)];
    __isoc99_sscanf(at, format) 2 as __isoc99_vsscanf [text(1), text(2), scans(2, 3)];
}

/// Declares those that scan a stream: the arguments before those that come as they come, and the same with a list of these.
macro_rules! scanning {
    ($($name:ident ($($argument:ident),*) $fixed:literal as $of_list:ident;)*) => { $(
        extern "C" fn $name(registers: &Arguments, stack: usize, code: usize) -> usize {
            let list = List::new(registers, stack, $fixed);
            let [$($argument,)* ..] = *registers;
            taking::$of_list($($argument,)* &raw const list as usize, code)
        }

        symbol!($name);
    )* };
}

scanning! {
    fscanf(stream, format) 2 as vfscanf;
    __isoc99_fscanf(stream, format) 2 as __isoc99_vfscanf;
    __isoc23_fscanf(stream, format) 2 as __isoc23_vfscanf;
    fwscanf(stream, format) 2 as vfwscanf;
    __isoc99_fwscanf(stream, format) 2 as __isoc99_vfwscanf;
    __isoc23_fwscanf(stream, format) 2 as __isoc23_vfwscanf;
    scanf(format) 1 as vscanf;
    __isoc99_scanf(format) 1 as __isoc99_vscanf;
    __isoc23_scanf(format) 1 as __isoc23_vscanf;
    wscanf(format) 1 as vwscanf;
    __isoc99_wscanf(format) 1 as __isoc99_vwscanf;
    __isoc23_wscanf(format) 1 as __isoc23_vwscanf;
}
