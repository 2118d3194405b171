//! How much of what a table has.

use std::collections::BTreeMap;

use crate::instruction::{Detail, Instruction, Mark};
use crate::operation::Operation;
use crate::role::MemoryCall;
use crate::table::Table;

/// Counts of a table, or of several.
#[derive(Clone, PartialEq, Eq, Default, Debug)]
pub struct Counts {
    /// Functions that are defined.
    pub functions: u64,
    /// Their blocks.
    pub blocks: u64,
    /// Their instructions.
    pub instructions: u64,
    /// The operands of their instructions, destinations aside.
    pub operands: u64,
    /// The operands of phis.
    pub phi_inputs: u64,
    /// Instructions with a place in the source.
    pub located: u64,
    /// Calls that name the function that they call, intrinsics aside.
    pub direct_calls: u64,
    /// Calls of what an operand says.
    pub indirect_calls: u64,
    /// Instructions by operation.
    pub operations: BTreeMap<Operation, u64>,
    /// What became of instructions that could have been recorded, by what they are.
    pub marks: BTreeMap<(Class, Mark), u64>,
}

/// What instrumentation looks at.
#[derive(Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord, Debug)]
pub enum Class {
    /// A load.
    Load,
    /// A store.
    Store,
    /// An atomic update, a compare-exchange or a fence.
    Atomic,
    /// A call that only touches memory.
    Memory,
    /// A branch with a condition, a switch or an indirect branch.
    Branch,
    /// A select.
    Select,
}

impl Class {
    /// What several of them are called.
    pub fn text(self) -> &'static str {
        match self {
            Class::Load => "loads",
            Class::Store => "stores",
            Class::Atomic => "atomics",
            Class::Memory => "memory intrinsics",
            Class::Branch => "branches",
            Class::Select => "selects",
        }
    }

    fn of(table: &Table, instruction: &Instruction) -> Option<Class> {
        Some(match instruction.operation {
            Operation::Load => Class::Load,
            Operation::Store => Class::Store,
            Operation::AtomicUpdate | Operation::CompareExchange | Operation::Fence => Class::Atomic,
            Operation::Call => {
                let callee = table.callee_name(instruction).filter(|name| name.starts_with("llvm."))?;
                MemoryCall::of(callee).map(|_| Class::Memory)?
            }
            Operation::Branch if instruction.operands.is_empty() => return None,
            Operation::Branch | Operation::Switch | Operation::IndirectBranch => Class::Branch,
            Operation::Select => Class::Select,
            _ => return None,
        })
    }
}

impl Counts {
    /// Adds those of a table.
    pub fn add(&mut self, table: &Table) {
        for function in &table.functions {
            self.functions += 1;
            self.blocks += function.blocks.len() as u64;
            self.instructions += function.instructions.len() as u64;
            for instruction in &function.instructions {
                self.add_instruction(table, instruction);
            }
        }
    }

    fn add_instruction(&mut self, table: &Table, instruction: &Instruction) {
        *self.operations.entry(instruction.operation).or_default() += 1;
        self.operands += instruction.operands.len() as u64;
        self.located += u64::from((instruction.location as usize) < table.locations.len());
        if let Detail::From(blocks) = &instruction.detail {
            self.phi_inputs += blocks.len() as u64;
        }
        if instruction.operation.calls() {
            match table.callee_name(instruction) {
                Some(name) if name.starts_with("llvm.") => {}
                Some(_) => self.direct_calls += 1,
                None => self.indirect_calls += 1,
            }
        }
        if let Some(class) = Class::of(table, instruction) {
            *self.marks.entry((class, instruction.mark)).or_default() += 1;
        }
    }
}
