//! The operations of a program that a recorder can see, listed from its file, whether they ever run or not.
//!
//! Two sources: the sites that the compiler plugin left, with the program table behind them, and calls in the machine code,
//! which is where ThreadSanitizer's hooks and the functions of libc that are recorded return to. Calls are found by their opcode
//! and a target that is the start of a function, without decoding what lies between: a false one needs four bytes that
//! are an exact distance by chance. Functions are compared by their instructions in the table, else by [`machine`] code. Calls through pointers, and jumps that stand for calls, are not listed.

mod machine;

use std::fs;
use std::path::Path;

use addr2line::Loader;
use hashbrown::{HashMap, HashSet};
use object::{Object, ObjectSegment, ObjectSymbol, SymbolKind};
use reweave_program::{
    Constant, Detail, Found, Function, Instruction, NONE, Operand, Operation, Order, Table,
};

use crate::binary::{Binary, BinaryError};
use crate::place::{demangled, short};

/// An operation of a program.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Listed {
    /// Where it is, as in a [`crate::CodePlace`] of the program.
    pub offset: u64,
    /// The function of the source that it is written in.
    pub function: String,
    /// The copy of that function: the places that it was inlined into, from the inside out, and the function that is there.
    pub copy: String,
    /// The function whose machine code it is in.
    pub within: String,
    /// The file.
    pub file: String,
    /// The line; 0 where it is not known.
    pub line: u32,
    /// The column; 0 where it is not known.
    pub column: u32,
    /// What it does: `read`, `write`, `call pthread_mutex_lock`.
    pub what: String,
    /// The global that it does it to, where that is fixed; else empty.
    pub target: String,
}

/// What a program consists of.
#[derive(Clone, PartialEq, Eq, Default, Debug)]
pub struct Listing {
    /// Its operations, by their offset.
    pub operations: Vec<Listed>,
    /// A number for the code of each of its functions, whatever its lines and wherever it lies. With a table, for all that have
    /// one, else for those that have operations.
    pub bodies: Vec<(String, u64)>,
}

/// Lists the operations of the program at `path`.
pub fn list(path: &Path) -> Result<Listing, BinaryError> {
    let bytes = fs::read(path).map_err(|source| BinaryError::Io { path: path.to_owned(), source })?;
    let file = object::File::parse(&*bytes).map_err(|_| BinaryError::NoBinary)?;
    let mut listing = Listing::default();
    match Binary::of(&file, &bytes) {
        Ok(binary) => {
            let sites = binary.all().filter_map(|(offset, found)| listed(offset, &found));
            listing.operations.extend(sites);
            listing.bodies = bodies(&binary);
        }
        Err(BinaryError::NoTable) => {}
        Err(error) => return Err(error),
    }
    if let Ok(loader) = Loader::new(path) {
        calls(&file, &loader, &mut listing.operations);
    }
    if listing.bodies.is_empty() {
        listing.bodies = machine::bodies(&file, &listing.operations);
    }
    listing.operations.sort_by_key(|operation| operation.offset);
    Ok(listing)
}

/// The operation of a site; none for branches, which are no steps.
fn listed(offset: u64, found: &Found<'_>) -> Option<Listed> {
    let what = match found.instruction() {
        None => "begin".to_owned(),
        Some(instruction) => what(found.table, instruction)?,
    };
    let target = found.instruction().map_or(String::new(), |instruction| target(found.table, instruction));
    let frames = found.frames();
    let (first, around) = frames.split_first()?;
    let mut copy: Vec<String> =
        around.iter().map(|frame| format!("{}:{}:{}", frame.function, frame.line, frame.column)).collect();
    let within = function_name(found.table.function_name(found.function));
    copy.push(within.clone());
    Some(Listed {
        offset,
        function: function_name(first.function),
        copy: copy.join(" "),
        within,
        file: first.file.clone(),
        line: first.line,
        column: first.column,
        what,
        target,
    })
}

/// What an instruction does, where it is a step.
fn what(table: &Table, instruction: &Instruction) -> Option<String> {
    let atomic = instruction.access().is_some_and(|access| access.order > Order::NotAtomic);
    Some(match instruction.operation {
        Operation::Load if atomic => "atomic read".to_owned(),
        Operation::Store if atomic => "atomic write".to_owned(),
        Operation::Load => "read".to_owned(),
        Operation::Store => "write".to_owned(),
        Operation::AtomicUpdate | Operation::CompareExchange => "update".to_owned(),
        operation if operation.calls() => match instruction.callee()? {
            Operand::Global(global) => format!("call {}", demangled(table.global_name(global))),
            _ => "call".to_owned(),
        },
        _ => return None,
    })
}

/// The global that an instruction touches, where that is fixed.
fn target(table: &Table, instruction: &Instruction) -> String {
    let address = match instruction.operation {
        Operation::Store => instruction.operands.get(1),
        _ => instruction.operands.first(),
    };
    address.and_then(|&address| global(table, address, 0)).unwrap_or_default()
}

fn global(table: &Table, operand: Operand, depth: u32) -> Option<String> {
    match operand {
        Operand::Global(global) => Some(demangled(table.global_name(global))),
        Operand::Constant(constant) if depth < 8 => match table.constants.get(constant as usize)? {
            Constant::Expression(_, operands) => global(table, *operands.first()?, depth + 1),
            _ => None,
        },
        _ => None,
    }
}

/// A function's name without what tells builds apart.
fn function_name(symbol: &str) -> String {
    let name = demangled(symbol);
    // Rust's former mangling ends with a hash.
    let hash = name
        .rsplit_once("::h")
        .filter(|(_, hash)| hash.len() == 16 && hash.bytes().all(|byte| byte.is_ascii_hexdigit()));
    hash.map_or(name.clone(), |(stem, _)| stem.to_owned())
}

const CALL: u8 = 0xE8;
const CALL_BYTES: usize = 5;

/// Hooks that say nothing of an operation: those of the plugin, whose sites are listed, and of the stack.
fn is_silent(name: &str) -> bool {
    name.starts_with("__reweave_") && !name.starts_with("__reweave_told_")
        || name.starts_with("__tsan_func_exit")
        || name.starts_with("__tsan_init")
}

/// Adds the calls in the machine code.
fn calls(file: &object::File<'_>, loader: &Loader, operations: &mut Vec<Listed>) {
    let lowest = file.segments().map(|segment| segment.address()).min().unwrap_or(0) / 4096 * 4096;
    let (mut functions, mut ours) = (HashMap::new(), HashSet::new());
    for symbol in file.symbols().filter(|symbol| symbol.is_definition() && symbol.kind() == SymbolKind::Text)
    {
        let Ok(name) = symbol.name() else { continue };
        // The runtime itself calls what it interposes.
        if name.contains("reweave_runtime") {
            ours.insert(symbol.address());
        }
        functions.entry(symbol.address()).or_insert_with(|| name.to_owned());
    }
    for segment in file.segments() {
        let object::SegmentFlags::Elf { p_flags, .. } = segment.flags() else { continue };
        let Ok(code) = segment.data() else { continue };
        if p_flags & object::elf::PF_X != object::elf::PF_X {
            continue;
        }
        for (at, window) in code.windows(CALL_BYTES).enumerate() {
            let [CALL, distance @ ..] = window else { continue };
            let distance = distance.first_chunk().map_or(0, |distance| i32::from_le_bytes(*distance));
            let next = segment.address() + (at + CALL_BYTES) as u64;
            let to = next.wrapping_add_signed(i64::from(distance));
            let Some(name) = functions.get(&to).filter(|_| !ours.contains(&to)) else { continue };
            if !is_silent(name) {
                operations.extend(call(loader, next, next.wrapping_sub(lowest), name));
            }
        }
    }
}

/// The call that returns to an address of the file, where the source is known.
fn call(loader: &Loader, next: u64, offset: u64, callee: &str) -> Option<Listed> {
    let mut frames = Vec::new();
    let mut iterator = loader.find_frames(next.checked_sub(1)?).ok()?;
    while let Ok(Some(frame)) = iterator.next() {
        let function = frame.function.and_then(|name| name.demangle().ok().map(|name| short(&name)));
        let at = frame.location?;
        frames.push((function?, at.file?.to_owned(), at.line?, at.column.unwrap_or(0)));
    }
    let ((function, file, line, column), around) = frames.split_first()?;
    if file.contains("/crates/runtime/src/") || file.starts_with("/rustc/") {
        return None;
    }
    let mut copy: Vec<String> =
        around.iter().map(|(function, _, line, column)| format!("{function}:{line}:{column}")).collect();
    let within = function_name(loader.find_symbol(next - 1).unwrap_or_default());
    copy.push(within.clone());
    let what = match callee.strip_prefix("__tsan_") {
        Some("func_entry") => "begin".to_owned(),
        Some(hook) => hooked(hook),
        None => format!("call {}", demangled(callee)),
    };
    Some(Listed {
        offset,
        function: function_name(function),
        copy: copy.join(" "),
        within,
        file: file.clone(),
        line: *line,
        column: *column,
        what,
        target: String::new(),
    })
}

/// What a hook of ThreadSanitizer tells of, in the words that are used of the plugin's sites.
fn hooked(hook: &str) -> String {
    if let Some(atomic) = hook.strip_prefix("atomic") {
        return match atomic.trim_start_matches(|one: char| one.is_ascii_digit()) {
            "_load" => "atomic read".to_owned(),
            "_store" => "atomic write".to_owned(),
            "_thread_fence" | "_signal_fence" => hook.to_owned(),
            _ => "update".to_owned(),
        };
    }
    let plain = hook.trim_start_matches("unaligned_").trim_start_matches("volatile_");
    let plain = plain.trim_end_matches("_pc").trim_end_matches(|one: char| one.is_ascii_digit());
    match plain {
        "read" | "read_range" | "vptr_read" => "read".to_owned(),
        "write" | "write_range" | "read_write" | "vptr_update" => "write".to_owned(),
        _ => hook.to_owned(),
    }
}

/// A number for each function's code.
fn bodies(binary: &Binary) -> Vec<(String, u64)> {
    let mut bodies: Vec<(String, u64)> = Vec::new();
    for (_, _, table) in &binary.program.modules {
        for function in &table.functions {
            bodies.push((function_name(table.function_name(function)), body(table, function)));
        }
    }
    bodies.sort();
    bodies
}

fn body(table: &Table, function: &Function) -> u64 {
    let mut hash = Hash(0xcbf2_9ce4_8422_2325);
    for instruction in &function.instructions {
        hash.text(instruction.operation.text());
        for &operand in &instruction.operands {
            hash.operand(table, operand, 0);
        }
        instruction.successors.iter().for_each(|&block| hash.number(u64::from(block)));
        match &instruction.detail {
            // The cases of a switch are constants of the table.
            Detail::Cases(cases) => {
                cases.iter().for_each(|&case| hash.operand(table, Operand::Constant(case), 0));
            }
            Detail::Call(_) | Detail::None => {}
            detail => hash.text(&format!("{detail:?}")),
        }
    }
    hash.0
}

/// FNV-1a: the same in every run.
struct Hash(u64);

impl Hash {
    fn text(&mut self, text: &str) {
        for byte in text.bytes().chain([0xff]) {
            self.0 = (self.0 ^ u64::from(byte)).wrapping_mul(0x0000_0100_0000_01b3);
        }
    }

    fn number(&mut self, number: u64) {
        self.text(&number.to_string());
    }

    fn operand(&mut self, table: &Table, operand: Operand, depth: u32) {
        match operand {
            Operand::Global(global) => self.text(&demangled(table.global_name(global))),
            Operand::Constant(constant) if depth < 8 => {
                match table.constants.get(constant as usize) {
                    Some(Constant::Integer { bits, value }) => {
                        self.number(u64::from(*bits));
                        self.number(*value);
                    }
                    Some(Constant::Text(text)) => self.text(table.string(*text)),
                    Some(Constant::Aggregate(operands) | Constant::Expression(_, operands)) => {
                        operands.iter().for_each(|&operand| self.operand(table, operand, depth + 1));
                    }
                    _ => self.text("constant"),
                };
            }
            Operand::Assembly(text) if text != NONE => self.text(table.string(text)),
            Operand::Assembly(_) | Operand::Constant(_) | Operand::Nothing => self.text("-"),
            operand => self.text(&format!("{operand:?}")),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn hooks_are_what_sites_are() {
        for (hook, what) in [
            ("read4", "read"),
            ("unaligned_write4", "write"),
            ("volatile_read8", "read"),
            ("unaligned_volatile_write2", "write"),
            ("read1_pc", "read"),
            ("read_write8", "write"),
            ("write_range", "write"),
            ("vptr_update", "write"),
            ("atomic32_load", "atomic read"),
            ("atomic8_store", "atomic write"),
            ("atomic64_fetch_add", "update"),
            ("atomic32_compare_exchange_val", "update"),
            ("atomic_thread_fence", "atomic_thread_fence"),
            ("memcpy", "memcpy"),
        ] {
            assert_eq!(hooked(hook), what, "{hook}");
        }
    }
}
