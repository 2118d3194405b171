//! Memory that no other thread can reach: allocas whose address never leaves their function.
//!
//! An address leaves where it is stored, passed to a call, returned, merged with another one or turned into a number; it does not
//! where it is loaded from, stored to, compared, copied from or to by LLVM's own functions, or moved by a number. What
//! is left out that way is neither seen by another thread nor read by code that is recorded.

use std::collections::HashMap;

use crate::ir::{Opcode, Value};

/// What is known of the allocas of a function.
#[derive(Default)]
pub(crate) struct Escapes {
    known: HashMap<Value, bool>,
}

impl Escapes {
    /// Whether an address is one of memory that no other thread can reach.
    pub(crate) fn is_private(&mut self, address: Value) -> bool {
        let object = object(address);
        object.is(Opcode::LLVMAlloca) && !*self.known.entry(object).or_insert_with(|| escapes(object))
    }
}

/// Whether an address is one of memory that never changes.
pub(crate) fn is_constant(address: Value) -> bool {
    object(address).is_constant_memory()
}

/// What an address was computed from.
fn object(mut address: Value) -> Value {
    loop {
        let moved = [Opcode::LLVMGetElementPtr, Opcode::LLVMBitCast, Opcode::LLVMAddrSpaceCast];
        if address.is_instruction() && moved.contains(&address.opcode()) || address.is_moved_constant() {
            address = address.operand(0);
        } else {
            return address;
        }
    }
}

fn escapes(object: Value) -> bool {
    let mut addresses = vec![object];
    while let Some(address) = addresses.pop() {
        for user in address.users() {
            if !user.is_instruction() {
                return true;
            }
            match user.opcode() {
                Opcode::LLVMLoad | Opcode::LLVMICmp => {}
                Opcode::LLVMStore if user.operand(0) != address => {}
                Opcode::LLVMAtomicRMW if user.operand(1) != address => {}
                Opcode::LLVMAtomicCmpXchg if user.operand(1) != address && user.operand(2) != address => {}
                Opcode::LLVMGetElementPtr | Opcode::LLVMBitCast | Opcode::LLVMAddrSpaceCast => {
                    addresses.push(user);
                }
                Opcode::LLVMCall if keeps(user.callee()) => {}
                _ => return true,
            }
        }
    }
    false
}

/// Whether a function that is LLVM's own keeps an address to itself.
fn keeps(callee: Value) -> bool {
    const KEEP: [&str; 7] = [
        "llvm.lifetime.",
        "llvm.dbg.",
        "llvm.memcpy.",
        "llvm.memmove.",
        "llvm.memset.",
        "llvm.assume",
        "llvm.invariant.",
    ];
    callee.is_intrinsic() && {
        let name = callee.name();
        KEEP.iter().any(|keep| name.starts_with(keep))
    }
}
