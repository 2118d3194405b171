//! The program's table: what its functions, blocks and instructions are, as the code is before instrumentation.
//!
//! A [`Draft`] is made before anything is inserted, so that numbers are those of the program's own code; what the passes then
//! do with an instruction is noted in it; at last it becomes a section of the object. The linker puts the sections of all
//! modules together, and keeps them also where it drops what nothing refers to.

mod constants;
mod details;
mod llvm;
mod places;
mod shape;

use std::collections::HashMap;
use std::hash::Hash;

use llvm_sys::prelude::{LLVMBasicBlockRef, LLVMMetadataRef, LLVMTypeRef, LLVMValueRef};
use reweave_program::{Mark, Operand, Table};

use crate::ir::Module;

/// The table of a module in the making.
pub(crate) struct Draft {
    table: Table,
    instructions: HashMap<LLVMValueRef, u32>,
    functions: HashMap<LLVMValueRef, u32>,
}

impl Draft {
    /// Describes a module as it is now.
    pub(crate) fn new(module: &Module) -> Draft {
        let mut maker = Maker::default();
        shape::describe(&mut maker, module);
        let Maker { table, instructions, functions, .. } = maker;
        Draft { table, instructions, functions }
    }

    /// The number of an instruction in the module; none where it was not there when the draft was made.
    pub(crate) fn instruction(&self, instruction: LLVMValueRef) -> Option<u32> {
        self.instructions.get(&instruction).copied()
    }

    /// The number of a function that the module defines.
    pub(crate) fn function(&self, function: LLVMValueRef) -> Option<u32> {
        self.functions.get(&function).copied()
    }

    /// Notes what became of an instruction.
    pub(crate) fn mark(&mut self, instruction: LLVMValueRef, mark: Mark) {
        let number = self.instructions.get(&instruction).copied();
        let place = number.and_then(|number| self.table.instruction(number));
        if let Some((function, inside)) = place
            && let Some(function) = self.table.functions.get_mut(function as usize)
            && let Some(instruction) = function.instructions.get_mut(inside as usize)
        {
            instruction.mark = mark;
        }
    }

    /// Notes why a function as a whole was left out.
    pub(crate) fn mark_function(&mut self, function: LLVMValueRef, mark: Mark) {
        let number = self.functions.get(&function).copied();
        if let Some(function) = number.and_then(|number| self.table.functions.get_mut(number as usize)) {
            function.mark = mark;
        }
    }

    /// Puts the table into the module; what sites name it by.
    pub(crate) fn finish(self, module: &Module) -> u32 {
        if let Err(error) = self.table.check() {
            // Only what reads the table is lost.
            eprintln!(
                "warning: reweave's compiler plugin leaves out the program table of this module: {error}"
            );
            return 0;
        }
        llvm::add_section(module, reweave_program::TABLE_SECTION, &self.table.encode());
        self.table.hash().tag()
    }
}

/// A list in which each thing is once.
struct Interned<T>(HashMap<T, u32>);

impl<T> Default for Interned<T> {
    fn default() -> Interned<T> {
        Interned(HashMap::new())
    }
}

impl<T: Clone + Eq + Hash> Interned<T> {
    /// The place of a thing in the list, which it is added to where it is new.
    fn place(&mut self, list: &mut Vec<T>, thing: T) -> u32 {
        *self.0.entry(thing).or_insert_with_key(|thing| {
            list.push(thing.clone());
            list.len() as u32 - 1
        })
    }
}

/// Makes a table.
#[derive(Default)]
struct Maker {
    table: Table,
    strings: Interned<String>,
    types: Interned<reweave_program::Type>,
    files: Interned<reweave_program::File>,
    scopes: Interned<reweave_program::Scope>,
    locations: Interned<reweave_program::Location>,
    constants: Interned<reweave_program::Constant>,
    /// What LLVM's things became.
    known_types: HashMap<LLVMTypeRef, u32>,
    known_scopes: HashMap<LLVMMetadataRef, u32>,
    known_locations: HashMap<LLVMMetadataRef, u32>,
    known_constants: HashMap<LLVMValueRef, Operand>,
    globals: HashMap<LLVMValueRef, u32>,
    functions: HashMap<LLVMValueRef, u32>,
    instructions: HashMap<LLVMValueRef, u32>,
    /// Blocks and arguments by their number in their function.
    blocks: HashMap<LLVMBasicBlockRef, u32>,
    arguments: HashMap<LLVMValueRef, u32>,
}

impl Maker {
    fn string(&mut self, text: &str) -> u32 {
        match self.strings.0.get(text) {
            Some(&known) => known,
            None => self.strings.place(&mut self.table.strings, text.to_owned()),
        }
    }
}
