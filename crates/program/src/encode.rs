//! The bytes of a table.

use crate::bytes::Output;
use crate::call::Call;
use crate::constant::Constant;
use crate::decode::{AS_IS, DEFLATE, HEADER, MAGIC, VERSION};
use crate::hash::Hash;
use crate::instruction::{Access, Detail, Instruction, Mark, NONE, Operand};
use crate::operation::Operation;
use crate::table::{Function, Location, Table, Type};

/// Where tables begin in their section.
pub(crate) const ALIGN: usize = 8;

/// How hard to look for repetitions: more costs more than it saves.
const LEVEL: u8 = 6;

impl Table {
    /// Its bytes in a section: header, content, and zeros up to where the next may begin.
    pub fn encode(&self) -> Vec<u8> {
        let content = self.encode_content();
        let packed = miniz_oxide::deflate::compress_to_vec(&content, LEVEL);
        let (codec, stored) =
            if packed.len() < content.len() { (DEFLATE, &packed) } else { (AS_IS, &content) };
        // A module of 4 GiB of table would be thousands of times larger than compilers can take.
        let length = |bytes: &[u8]| u32::try_from(bytes.len()).unwrap_or(u32::MAX).to_le_bytes();
        let mut bytes = Vec::with_capacity(HEADER + stored.len() + ALIGN);
        bytes.extend_from_slice(&MAGIC);
        bytes.extend_from_slice(&VERSION.to_le_bytes());
        bytes.extend_from_slice(&[codec, 0]);
        bytes.extend_from_slice(&length(stored));
        bytes.extend_from_slice(&length(&content));
        bytes.extend_from_slice(&[0; 4]);
        bytes.extend_from_slice(&Hash::of(&content).0.to_le_bytes());
        bytes.extend_from_slice(stored);
        bytes.resize(bytes.len().next_multiple_of(ALIGN), 0);
        bytes
    }

    pub(crate) fn encode_content(&self) -> Vec<u8> {
        let mut out = Output::default();
        out.count(self.strings.len());
        for string in &self.strings {
            out.count(string.len());
            out.0.extend_from_slice(string.as_bytes());
        }
        out.id(self.name);
        out.id(self.target);
        out.count(self.types.len());
        self.types.iter().for_each(|kind| put_type(&mut out, *kind));
        out.count(self.files.len());
        for file in &self.files {
            out.id(file.folder);
            out.id(file.name);
        }
        out.count(self.scopes.len());
        for scope in &self.scopes {
            out.id(scope.name);
            out.maybe(scope.file);
            out.id(scope.line);
        }
        self.put_locations(&mut out);
        out.count(self.globals.len());
        for global in &self.globals {
            out.id(global.name);
            out.byte(global.kind as u8 | (global.linkage as u8) << 3 | u8::from(global.defined) << 6);
            out.number(global.bytes);
            put_operand(&mut out, global.stands_for, 0);
        }
        out.count(self.constants.len());
        self.constants.iter().for_each(|constant| put_constant(&mut out, constant));
        out.count(self.functions.len());
        self.functions.iter().for_each(|function| put_function(&mut out, function));
        out.0
    }

    fn put_locations(&self, out: &mut Output) {
        out.count(self.locations.len());
        let mut last = Location { scope: 0, file: NONE, line: 0, column: 0, inlined_at: NONE };
        for (number, location) in self.locations.iter().enumerate() {
            out.step(i64::from(location.scope) - i64::from(last.scope));
            let usual = self.scopes.get(location.scope as usize).map_or(NONE, |scope| scope.file);
            // 0 is the file of the function, 1 none, and others are two more.
            out.number(if location.file == usual { 0 } else { u64::from(location.file.wrapping_add(1)) + 1 });
            out.step(i64::from(location.line) - i64::from(last.line));
            out.id(location.column);
            let back = (number as u32).wrapping_sub(location.inlined_at);
            out.id(if location.inlined_at == NONE { 0 } else { back });
            last = *location;
        }
    }
}

fn put_type(out: &mut Output, kind: Type) {
    match kind {
        Type::Void => out.byte(0),
        Type::Integer(bits) => {
            out.byte(1);
            out.id(bits);
        }
        Type::Float(bits) => {
            out.byte(2);
            out.id(bits);
        }
        Type::Pointer(space) => {
            out.byte(3);
            out.id(space);
        }
        Type::Vector(element, lanes, at_least) => {
            out.byte(if at_least { 5 } else { 4 });
            out.id(element);
            out.id(lanes);
        }
        Type::Aggregate(bytes) => {
            out.byte(6);
            out.number(bytes);
        }
        Type::Other => out.byte(7),
    }
}

/// An operand of the instruction with number `at`: a kind in the lower three bits, above it what it names.
fn put_operand(out: &mut Output, operand: Operand, at: u32) {
    let (kind, number) = match operand {
        Operand::Instruction(used) if used < at => (0, at - used),
        Operand::Argument(argument) => (1, argument),
        Operand::Constant(constant) => (2, constant),
        Operand::Global(global) => (3, global),
        Operand::Block(block) => (4, block),
        Operand::Assembly(text) => (5, text),
        Operand::Nothing => (6, 0),
        Operand::Instruction(used) => (7, used - at),
    };
    out.number(u64::from(number) << 3 | kind);
}

fn put_operands(out: &mut Output, operands: &[Operand], at: u32) {
    operands.iter().for_each(|&operand| put_operand(out, operand, at));
}

fn put_constant(out: &mut Output, constant: &Constant) {
    match constant {
        Constant::Integer { bits, value } => {
            out.byte(0);
            out.id(*bits);
            // Small negative numbers are small.
            let shift = 64 - (*bits).clamp(1, 64);
            out.step((*value << shift) as i64 >> shift);
        }
        Constant::Zero => out.byte(1),
        Constant::Undefined => out.byte(2),
        Constant::Text(text) => {
            out.byte(3);
            out.id(*text);
        }
        Constant::Aggregate(operands) => {
            out.byte(4);
            out.count(operands.len());
            put_operands(out, operands, 0);
        }
        Constant::Expression(operation, operands) => {
            out.byte(5);
            out.byte(*operation as u8);
            out.count(operands.len());
            put_operands(out, operands, 0);
        }
        Constant::Label(function, block) => {
            out.byte(6);
            out.id(*function);
            out.maybe(*block);
        }
        Constant::Other => out.byte(7),
    }
}

fn put_function(out: &mut Output, function: &Function) {
    out.id(function.global);
    out.maybe(function.scope);
    out.byte(u8::from(function.variadic) | (function.mark as u8) << 1);
    out.count(function.arguments.len());
    for argument in &function.arguments {
        out.id(argument.kind);
        out.number(argument.by_value);
    }
    out.count(function.blocks.len());
    function.blocks.iter().for_each(|block| out.id(block.length));
    let mut location = NONE;
    for (number, instruction) in function.instructions.iter().enumerate() {
        put_instruction(out, instruction, number as u32, &mut location);
    }
}

fn put_instruction(out: &mut Output, instruction: &Instruction, at: u32, last: &mut u32) {
    let operation = instruction.operation;
    let marked = instruction.mark != Mark::Unmarked;
    out.byte(operation as u8 | u8::from(marked) << 7);
    if marked {
        out.byte(instruction.mark as u8);
    }
    put_location(out, instruction.location, last);
    if !operation.gives_nothing() {
        out.id(instruction.result);
    }
    if operation.arity().is_none() {
        out.count(instruction.operands.len());
    }
    put_operands(out, &instruction.operands, at);
    put_detail(out, &instruction.detail);
    if operation.ends_block() {
        if implied_successors(operation, instruction.operands.len(), &instruction.detail).is_none() {
            out.count(instruction.successors.len());
        }
        instruction.successors.iter().for_each(|&block| out.id(block));
    }
}

/// 0 for the location of the instruction before, 1 for none, else a step from the last one that was known.
fn put_location(out: &mut Output, location: u32, last: &mut u32) {
    if location == *last {
        out.byte(0);
    } else if location == NONE {
        out.byte(1);
        *last = NONE;
    } else {
        let from = if *last == NONE { 0 } else { i64::from(*last) };
        let step = i64::from(location) - from;
        out.number((((step << 1) ^ (step >> 63)) as u64) + 2);
        *last = location;
    }
}

/// How many blocks may follow, where the rest of the instruction says so.
pub(crate) fn implied_successors(operation: Operation, operands: usize, detail: &Detail) -> Option<usize> {
    match operation {
        Operation::Branch => Some(1 + operands),
        Operation::Return | Operation::Unreachable | Operation::Resume => Some(0),
        Operation::Invoke => Some(2),
        Operation::Switch => match detail {
            Detail::Cases(cases) => Some(1 + cases.len()),
            _ => None,
        },
        _ => None,
    }
}

fn put_detail(out: &mut Output, detail: &Detail) {
    match detail {
        Detail::None => {}
        Detail::Access(access) => put_access(out, access),
        Detail::Update(access, update) => {
            put_access(out, access);
            out.byte(*update as u8);
        }
        Detail::Exchange(access, failure, weak) => {
            put_access(out, access);
            out.byte(*failure as u8 | u8::from(*weak) << 3);
        }
        Detail::Fence(order, one_thread) => out.byte(*order as u8 | u8::from(*one_thread) << 4),
        Detail::Compare(predicate) => out.byte(*predicate as u8),
        // As many as there are operands.
        Detail::From(blocks) => blocks.iter().for_each(|&block| out.id(block)),
        Detail::Alloca(bytes, align) => {
            out.number(*bytes);
            out.byte(exponent(*align));
        }
        Detail::Offset(offset) => match offset {
            None => out.byte(0),
            Some(offset) => {
                out.byte(1);
                out.step(*offset);
            }
        },
        Detail::Call(call) => put_call(out, call),
        Detail::Cases(list) | Detail::Path(list) => {
            out.count(list.len());
            list.iter().for_each(|&item| out.id(item));
        }
        Detail::Lanes(lanes) => {
            out.count(lanes.len());
            lanes.iter().for_each(|&lane| out.maybe(lane));
        }
        Detail::Cleanup(cleanup) => out.byte(u8::from(*cleanup)),
    }
}

fn put_access(out: &mut Output, access: &Access) {
    out.number(access.bytes);
    let natural = u64::from(access.align) == access.bytes;
    let flags = u8::from(access.volatile) << 3 | u8::from(access.one_thread) << 4 | u8::from(natural) << 5;
    out.byte(access.order as u8 | flags);
    if !natural {
        out.byte(exponent(access.align));
    }
}

/// 0 for no alignment, 1 for one byte, 2 for two…
fn exponent(align: u32) -> u8 {
    if align == 0 { 0 } else { align.trailing_zeros() as u8 + 1 }
}

fn put_call(out: &mut Output, call: &Call) {
    out.id(call.arguments);
    let effects = call.effects;
    let flags = [
        effects.reads,
        effects.writes,
        effects.arguments_only,
        call.no_unwind,
        call.no_return,
        !call.by_value.is_empty(),
    ];
    out.byte(flags.iter().enumerate().fold(0, |byte, (bit, &set)| byte | u8::from(set) << bit));
    if !call.by_value.is_empty() {
        out.count(call.by_value.len());
        for &(argument, bytes) in &call.by_value {
            out.id(argument);
            out.number(bytes);
        }
    }
}
