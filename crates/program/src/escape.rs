//! Allocas that do not escape: memory that only the code of one activation of a function can reach.
//!
//! Such memory is not recorded, so what flows through it has to be followed in the table. An alloca escapes as soon as its
//! address, or one computed from it, is used for anything but accessing memory, comparing, or computing further addresses.

use std::collections::HashSet;

use crate::instruction::Operand;
use crate::operation::Operation;
use crate::role::{MemoryCall, Role};
use crate::table::{Function, Table};

/// The allocas of a function that do not escape, by their number in the function.
pub fn private_allocas(table: &Table, function: &Function) -> Vec<u32> {
    let users = function.users();
    let allocas = (0u32..).zip(&function.instructions);
    allocas
        .filter(|(_, instruction)| instruction.operation == Operation::Alloca)
        .map(|(number, _)| number)
        .filter(|&alloca| stays(table, function, &users, alloca))
        .collect()
}

fn stays(table: &Table, function: &Function, users: &[Vec<u32>], alloca: u32) -> bool {
    let (mut waiting, mut known) = (vec![alloca], HashSet::from([alloca]));
    while let Some(address) = waiting.pop() {
        for &user in users.get(address as usize).map_or(&[][..], Vec::as_slice) {
            match uses(table, function, user, address) {
                Use::Ends => {}
                Use::Goes if !known.insert(user) => {}
                Use::Goes => waiting.push(user),
                Use::Escapes => return false,
            }
        }
    }
    true
}

enum Use {
    /// The address goes no further.
    Ends,
    /// The result is an address of the same memory, or may be.
    Goes,
    /// Nobody knows.
    Escapes,
}

fn uses(table: &Table, function: &Function, user: u32, address: u32) -> Use {
    use Operation::*;
    let Some(instruction) = function.instructions.get(user as usize) else { return Use::Escapes };
    let mut roles = (0..instruction.operands.len())
        .filter(|&place| instruction.operands[place] == Operand::Instruction(address))
        .map(|place| table.role(instruction, place));
    match instruction.operation {
        Load | Store | CompareExchange | AtomicUpdate => {
            if roles.all(|role| role == Role::Address) {
                Use::Ends
            } else {
                Use::Escapes
            }
        }
        Call => {
            let callee = table.callee_name(instruction).unwrap_or_default();
            let harmless = callee.starts_with("llvm.lifetime.") || callee.starts_with("llvm.dbg.");
            // Only intrinsics: a function of that name could be anybody's.
            let touches = callee.starts_with("llvm.") && MemoryCall::of(callee).is_some();
            if harmless || touches && roles.all(|role| role == Role::Address) {
                Use::Ends
            } else {
                Use::Escapes
            }
        }
        ElementAddress | BitCast | AddressSpaceCast | Freeze | Phi | Select => Use::Goes,
        Compare => Use::Ends,
        _ => Use::Escapes,
    }
}
