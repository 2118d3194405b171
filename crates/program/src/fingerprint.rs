//! Hashes of single functions: the same as long as the function's code is, whatever else its module has.
//!
//! They see operations, types, operands and details, names of globals, values of constants; not the places in the source, nor
//! what was recorded, nor the numbers that the module gives to its strings, types and constants.

use std::fmt::Write as _;

use crate::constant::Constant;
use crate::hash::Hash;
use crate::instruction::{Detail, Operand};
use crate::table::{Function, Table, Type};

/// Text that goes into a hash.
struct Text<'t> {
    table: &'t Table,
    constants: &'t [Hash],
    text: String,
}

impl Table {
    /// The hash of each function, in order.
    pub fn function_hashes(&self) -> Vec<Hash> {
        let mut constants: Vec<Hash> = Vec::with_capacity(self.constants.len());
        for constant in &self.constants {
            // Those before are known: a constant refers to no later one.
            let mut text = Text { table: self, constants: &constants, text: String::new() };
            text.constant(constant);
            let hash = Hash::of(text.text.as_bytes());
            constants.push(hash);
        }
        self.functions
            .iter()
            .map(|function| {
                let mut text = Text { table: self, constants: &constants, text: String::new() };
                text.function(function)
            })
            .collect()
    }
}

impl Text<'_> {
    fn put(&mut self, part: impl std::fmt::Debug) {
        // Writing to a string cannot fail.
        let _ = write!(self.text, "{part:?};");
    }

    fn kind(&mut self, mut kind: u32) {
        loop {
            let found = self.table.types.get(kind as usize).copied();
            match found {
                Some(Type::Vector(element, lanes, at_least)) => {
                    self.put((lanes, at_least));
                    kind = element;
                }
                other => return self.put(other),
            }
        }
    }

    fn operand(&mut self, operand: Operand) {
        match operand {
            Operand::Constant(constant) => self.put(self.constants.get(constant as usize).copied()),
            Operand::Global(global) => self.put(self.table.global_name(global)),
            Operand::Assembly(text) => self.put(self.table.string(text)),
            other => self.put(other),
        }
    }

    fn constant(&mut self, constant: &Constant) {
        match constant {
            Constant::Text(text) => self.put(self.table.string(*text)),
            Constant::Aggregate(operands) => {
                self.put("aggregate");
                operands.iter().for_each(|&operand| self.operand(operand));
            }
            Constant::Expression(operation, operands) => {
                self.put(operation);
                operands.iter().for_each(|&operand| self.operand(operand));
            }
            Constant::Label(function, block) => self.put((self.table.global_name(*function), block)),
            other => self.put(other),
        }
    }

    fn function(&mut self, function: &Function) -> Hash {
        self.put((self.table.function_name(function), function.variadic));
        for argument in &function.arguments {
            self.kind(argument.kind);
            self.put(argument.by_value);
        }
        self.put(&function.blocks);
        let mut hash = Hash::of(self.text.as_bytes());
        for instruction in &function.instructions {
            self.text.clear();
            self.put((instruction.operation, &instruction.successors));
            self.kind(instruction.result);
            instruction.operands.iter().for_each(|&operand| self.operand(operand));
            match &instruction.detail {
                Detail::Cases(cases) => cases.iter().for_each(|&case| self.operand(Operand::Constant(case))),
                other => self.put(other),
            }
            hash.add(self.text.as_bytes());
        }
        hash
    }
}
