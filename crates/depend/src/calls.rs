//! Calls: what is known of the function that is called.

use reweave_program::{
    Constant, Function, GlobalKind, Instruction, Linkage, Mark, Operand, Operation, Table, Type,
};

/// What a call calls.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Callee {
    /// One of LLVM's own functions that only computes, and cannot fail.
    Computes,
    /// One of LLVM's own functions that the program does not notice.
    Nothing,
    /// One that only computes, and may fail or not return depending on its arguments.
    MayFail,
    /// A copy of memory by LLVM's own function: from the second argument to the first.
    Copy,
    /// A fill of memory by LLVM's own function.
    Fill,
    /// A masked access of a vector: whether it writes.
    Masked(bool),
    /// A function that the recorder stands in for, and whose events depend on nothing but its arguments: whether it is one
    /// of a lock.
    Recorded(bool),
    /// An allocator: what it gives is the same in every run.
    Allocates,
    /// A function of the C library that prints its arguments.
    Prints,
    /// A function whose code has a table and hooks.
    Known(Known),
    /// Inline assembly without a text, which only keeps the compiler from moving something across it.
    Barrier,
    /// Anything else.
    Unknown,
}

/// A function whose code has a table and hooks.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Known {
    /// What it is among the globals of the caller's module.
    pub global: u32,
    /// How many arguments it names.
    pub arguments: u32,
}

/// Intrinsics that do nothing that the program could notice, in any case.
const NOTHING: [&str; 12] = [
    "llvm.assume",
    "llvm.dbg.",
    "llvm.donothing",
    "llvm.experimental.noalias.",
    "llvm.fake.use",
    "llvm.instrprof.",
    "llvm.invariant.",
    "llvm.lifetime.",
    "llvm.prefetch",
    "llvm.pseudoprobe",
    "llvm.sideeffect",
    "llvm.var.annotation",
];

/// Intrinsics that compute only, but trap as a division does.
const DIVIDE: [&str; 8] = [
    "llvm.vp.udiv.",
    "llvm.vp.sdiv.",
    "llvm.vp.urem.",
    "llvm.vp.srem.",
    "llvm.udiv.fix.",
    "llvm.sdiv.fix.",
    "llvm.experimental.constrained.",
    "llvm.experimental.vp.",
];

/// Functions of locks whose events are acquires and releases.
const LOCKS: [&str; 14] = [
    "pthread_mutex_lock",
    "pthread_mutex_unlock",
    "pthread_mutex_trylock",
    "pthread_rwlock_rdlock",
    "pthread_rwlock_wrlock",
    "pthread_rwlock_tryrdlock",
    "pthread_rwlock_trywrlock",
    "pthread_rwlock_unlock",
    "pthread_spin_lock",
    "pthread_spin_trylock",
    "pthread_spin_unlock",
    "pthread_cond_wait",
    "mtx_lock",
    "mtx_unlock",
];

/// Other functions that the recorder stands in for.
const OTHERS: [&str; 5] =
    ["pthread_cond_signal", "pthread_cond_broadcast", "pthread_self", "pthread_join", "free"];

const ALLOCATE: [&str; 2] = ["malloc", "calloc"];

/// Functions that write no memory of the program.
const PRINT: [&str; 8] = ["printf", "puts", "putchar", "fprintf", "fputs", "fputc", "putc", "fwrite"];

/// Functions that return twice, or into a frame that is not the last one.
pub(crate) const JUMPS: [&str; 10] = [
    "setjmp",
    "_setjmp",
    "sigsetjmp",
    "__sigsetjmp",
    "vfork",
    "getcontext",
    "swapcontext",
    "longjmp",
    "_longjmp",
    "siglongjmp",
];

impl Callee {
    /// What an instruction calls; `defines` says how many arguments a function names that another module of the same binary
    /// defines, with hooks.
    pub fn of(
        table: &Table,
        function: &Function,
        instruction: &Instruction,
        defines: &dyn Fn(&str) -> Option<u32>,
    ) -> Callee {
        let global = match instruction.callee() {
            _ if instruction.operation == Operation::CallBranch => return Callee::Unknown,
            // It takes its caller's place: nobody sees where it returns to.
            _ if instruction.mark == Mark::Unsupported => return Callee::Unknown,
            Some(Operand::Assembly(text)) if table.string(text).trim().is_empty() => return Callee::Barrier,
            Some(Operand::Global(global)) => global,
            _ => return Callee::Unknown,
        };
        let name = table.global_name(global);
        let effects = instruction.call().map(|call| call.effects).unwrap_or_default();
        let pure = !effects.reads && !effects.writes;
        if name.starts_with("llvm.") {
            return intrinsic(name, pure);
        }
        let Some(found) = table.globals.get(global as usize) else { return Callee::Unknown };
        if found.defined {
            let sure = matches!(found.linkage, Linkage::External | Linkage::Local);
            let called = table.functions.iter().find(|function| function.global == global);
            let followed = called.filter(|called| sure && is_followed(called));
            return followed.map_or(Callee::Unknown, |function| {
                Callee::Known(Known { global, arguments: function.arguments.len() as u32 })
            });
        }
        if let Some(arguments) = defines(name) {
            return Callee::Known(Known { global, arguments });
        }
        match by_name(name, pure) {
            Callee::Prints if !prints_numbers(table, function, instruction, name) => Callee::Unknown,
            known => known,
        }
    }
}

/// Whether the events of a function tell all that it does. Code of a kind that is not recorded may do anything, and a call that
/// must be a tail call, which is marked as such, returns to another function.
pub fn is_followed(function: &Function) -> bool {
    let is_strange = |one: &Instruction| one.mark == Mark::Unsupported;
    function.mark != Mark::Suppressed && !function.instructions.iter().any(is_strange)
}

/// Whether a function that prints is passed numbers only, and texts that never change: else it reads memory, which nobody
/// sees.
fn prints_numbers(table: &Table, function: &Function, call: &Instruction, name: &str) -> bool {
    let stream = match name {
        "fprintf" => Some(0),
        "fputs" | "fputc" | "putc" => Some(1),
        _ => None,
    };
    let is_number =
        |kind: u32| matches!(table.types.get(kind as usize), Some(Type::Integer(_) | Type::Float(_)));
    let count = call.call().map_or(0, |call| call.arguments as usize);
    let arguments = call.operands.get(..count).unwrap_or_default();
    name != "fwrite"
        && arguments.iter().enumerate().filter(|&(place, _)| Some(place) != stream).all(|(_, &argument)| {
            match argument {
                Operand::Instruction(number) => {
                    function.instructions.get(number as usize).is_some_and(|one| is_number(one.result))
                }
                Operand::Argument(number) => {
                    function.arguments.get(number as usize).is_some_and(|argument| is_number(argument.kind))
                }
                Operand::Constant(constant) => matches!(
                    table.constants.get(constant as usize),
                    Some(Constant::Integer { .. } | Constant::Zero | Constant::Text(_))
                ),
                Operand::Global(global) => {
                    let found = table.globals.get(global as usize);
                    found.is_some_and(|found| found.kind == GlobalKind::Constant)
                }
                _ => false,
            }
        })
}

fn by_name(name: &str, pure: bool) -> Callee {
    match name {
        _ if LOCKS.contains(&name) => Callee::Recorded(true),
        _ if OTHERS.contains(&name) => Callee::Recorded(false),
        _ if ALLOCATE.contains(&name) => Callee::Allocates,
        _ if PRINT.contains(&name) => Callee::Prints,
        _ if pure && !JUMPS.contains(&name) => Callee::MayFail,
        _ => Callee::Unknown,
    }
}

fn intrinsic(name: &str, pure: bool) -> Callee {
    let starts = |list: &[&str]| list.iter().any(|start| name.starts_with(start));
    if starts(&["llvm.memcpy.", "llvm.memmove."]) {
        Callee::Copy
    } else if starts(&["llvm.memset."]) {
        Callee::Fill
    } else if starts(&["llvm.masked.load", "llvm.masked.gather"]) {
        Callee::Masked(false)
    } else if starts(&["llvm.masked.store", "llvm.masked.scatter"]) {
        Callee::Masked(true)
    } else if starts(&NOTHING) {
        Callee::Nothing
    } else if starts(&DIVIDE) || starts(&["llvm.masked."]) {
        if pure { Callee::MayFail } else { Callee::Unknown }
    } else if pure {
        Callee::Computes
    } else {
        Callee::Unknown
    }
}
