//! Instructions that may trap, or not return, depending on what they are given.
//!
//! A division by zero ends its thread as surely as a branch to `abort` does, and so does the division of the smallest number
//! by -1. Whether the thread goes on depends on the operands, so the law asks for a branch there. A division of floating-point
//! numbers does not trap, unless the program unmasks the exceptions; the constrained intrinsics, which such programs
//! are compiled to, count.

use crate::ir::{Opcode, Value};

/// The operands that decide whether an instruction that is no call traps.
pub(crate) fn deciding_operands(instruction: Value) -> Vec<Value> {
    match instruction.opcode() {
        Opcode::LLVMUDiv | Opcode::LLVMURem => vec![instruction.operand(1)],
        Opcode::LLVMSDiv | Opcode::LLVMSRem => {
            let (dividend, divisor) = (instruction.operand(0), instruction.operand(1));
            if is_harmless_divisor(divisor) { Vec::new() } else { vec![divisor, dividend] }
        }
        // The stack may overflow, and what lies behind has another address.
        Opcode::LLVMAlloca => vec![instruction.operand(0)],
        _ => Vec::new(),
    }
}

/// Whether a signed division by this never overflows: it is known, and not -1.
fn is_harmless_divisor(divisor: Value) -> bool {
    let ones = match divisor.of().bits() {
        Some(bits @ 1..=63) => (1 << bits) - 1,
        Some(64) => u64::MAX,
        _ => return false,
    };
    divisor.number().is_some_and(|number| number != ones)
}

/// Intrinsics that compute only, but trap as a division does.
const DIVIDE: [&str; 9] = [
    "llvm.vp.udiv.",
    "llvm.vp.sdiv.",
    "llvm.vp.urem.",
    "llvm.vp.srem.",
    "llvm.masked.",
    "llvm.udiv.fix.",
    "llvm.sdiv.fix.",
    "llvm.experimental.constrained.",
    "llvm.experimental.vp.",
];

/// Intrinsics that are said to touch memory, so that they stay where they are, but do nothing that can fail.
const NEVER_FAIL: [&str; 22] = [
    "llvm.assume",
    "llvm.dbg.",
    "llvm.debugtrap",
    "llvm.donothing",
    "llvm.eh.",
    "llvm.experimental.noalias.",
    "llvm.fake.use",
    "llvm.frameaddress",
    "llvm.instrprof.",
    "llvm.invariant.",
    "llvm.launder.",
    "llvm.lifetime.",
    "llvm.localescape",
    "llvm.prefetch",
    "llvm.pseudoprobe",
    "llvm.readcyclecounter",
    "llvm.returnaddress",
    "llvm.sideeffect",
    "llvm.stack",
    "llvm.strip.",
    "llvm.va_",
    "llvm.var.annotation",
];

/// Whether a call of an intrinsic may fail, or touch other memory, depending on its arguments.
pub(crate) fn depends_on_arguments(call: Value, name: &str) -> bool {
    let starts = |list: &[&str]| list.iter().any(|start| name.starts_with(start));
    starts(&DIVIDE) || !call.touches_no_memory() && !starts(&NEVER_FAIL)
}

/// Functions of mathematics that always return, without the letter for their type at the end.
const ALWAYS_RETURN: [&str; 40] = [
    "abs",
    "acos",
    "acosh",
    "asin",
    "asinh",
    "atan",
    "atan2",
    "atanh",
    "cbrt",
    "ceil",
    "copysign",
    "cos",
    "cosh",
    "erf",
    "erfc",
    "exp",
    "exp10",
    "exp2",
    "expm1",
    "fabs",
    "fdim",
    "floor",
    "fma",
    "fmax",
    "fmin",
    "fmod",
    "hypot",
    "ldexp",
    "log",
    "log10",
    "log1p",
    "log2",
    "nearbyint",
    "pow",
    "rint",
    "round",
    "sin",
    "sinh",
    "sqrt",
    "tan",
];

/// Whether a function that touches no memory is known to return whatever it is given.
pub(crate) fn always_returns(name: &str) -> bool {
    let known = |name: &str| ALWAYS_RETURN.contains(&name);
    known(name)
        || name.strip_suffix(['f', 'l']).is_some_and(known)
        || matches!(name, "tanh" | "trunc" | "labs" | "llabs")
}
