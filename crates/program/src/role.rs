//! The roles of operands: what an instruction uses them for.

use crate::instruction::Instruction;
use crate::operation::Operation;
use crate::table::Table;

/// What an operand is used for.
#[derive(Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord, Debug)]
pub enum Role {
    /// The result is computed from it, or it is written.
    Value,
    /// It says which memory is touched.
    Address,
    /// It says how much memory is touched, or which part of it.
    Size,
    /// It decides what comes next.
    Condition,
    /// It is what is called.
    Callee,
    /// It is a lock or another object of synchronisation.
    Lock,
    /// It is passed to a function, or given back to the caller.
    Passed,
}

/// Functions whose first arguments are objects of synchronisation: their name and how many.
const LOCKS: &[(&str, u32)] = &[
    ("pthread_barrier_wait", 1),
    ("pthread_cond_broadcast", 1),
    ("pthread_cond_clockwait", 2),
    ("pthread_cond_signal", 1),
    ("pthread_cond_timedwait", 2),
    ("pthread_cond_wait", 2),
    ("pthread_join", 1),
    ("pthread_mutex_clocklock", 1),
    ("pthread_mutex_lock", 1),
    ("pthread_mutex_timedlock", 1),
    ("pthread_mutex_trylock", 1),
    ("pthread_mutex_unlock", 1),
    ("pthread_once", 1),
    ("pthread_rwlock_clockrdlock", 1),
    ("pthread_rwlock_clockwrlock", 1),
    ("pthread_rwlock_rdlock", 1),
    ("pthread_rwlock_timedrdlock", 1),
    ("pthread_rwlock_timedwrlock", 1),
    ("pthread_rwlock_tryrdlock", 1),
    ("pthread_rwlock_trywrlock", 1),
    ("pthread_rwlock_unlock", 1),
    ("pthread_rwlock_wrlock", 1),
    ("pthread_spin_lock", 1),
    ("pthread_spin_trylock", 1),
    ("pthread_spin_unlock", 1),
    ("sem_clockwait", 1),
    ("sem_post", 1),
    ("sem_timedwait", 1),
    ("sem_trywait", 1),
    ("sem_wait", 1),
    ("cnd_broadcast", 1),
    ("cnd_signal", 1),
    ("cnd_timedwait", 2),
    ("cnd_wait", 2),
    ("mtx_lock", 1),
    ("mtx_timedlock", 1),
    ("mtx_trylock", 1),
    ("mtx_unlock", 1),
    ("thrd_join", 1),
];

impl Table {
    /// What each operand of an instruction is used for.
    pub fn roles(&self, instruction: &Instruction) -> Vec<Role> {
        (0..instruction.operands.len()).map(|operand| self.role(instruction, operand)).collect()
    }

    /// What an operand of an instruction is used for.
    pub fn role(&self, instruction: &Instruction, operand: usize) -> Role {
        use Operation::*;
        match (instruction.operation, operand) {
            (Load | CompareExchange | AtomicUpdate | VariadicArgument, 0) | (Store, 1) => Role::Address,
            (Branch | Switch | IndirectBranch | Select, 0) => Role::Condition,
            (Alloca, _) => Role::Size,
            (Return | Resume, _) => Role::Passed,
            (Call | Invoke | CallBranch, _) => self.role_in_call(instruction, operand),
            _ => Role::Value,
        }
    }

    fn role_in_call(&self, instruction: &Instruction, operand: usize) -> Role {
        if operand + 1 == instruction.operands.len() {
            return Role::Callee;
        }
        let callee = self.callee_name(instruction).unwrap_or_default();
        let count = LOCKS.iter().find(|(name, _)| *name == callee).map_or(0, |&(_, count)| count as usize);
        if operand < count {
            return Role::Lock;
        }
        match (MemoryCall::of(callee), operand) {
            (Some(MemoryCall::Copy), 0 | 1) | (Some(MemoryCall::Set), 0) => Role::Address,
            (Some(MemoryCall::Copy | MemoryCall::Set), 2) => Role::Size,
            (Some(MemoryCall::Set), 1) => Role::Value,
            // Masked accesses: an address, then what says which lanes, perhaps what other lanes give.
            (Some(MemoryCall::MaskedRead), 0) | (Some(MemoryCall::MaskedWrite), 1) => Role::Address,
            (Some(MemoryCall::MaskedRead), 2) | (Some(MemoryCall::MaskedWrite), 0) => Role::Value,
            (Some(MemoryCall::MaskedRead), 1) | (Some(MemoryCall::MaskedWrite), 2) => Role::Size,
            _ => Role::Passed,
        }
    }

    /// The name of the function that a call names, where it names one.
    pub fn callee_name(&self, instruction: &Instruction) -> Option<&str> {
        match instruction.callee()? {
            crate::Operand::Global(global) => Some(self.global_name(global)),
            _ => None,
        }
    }
}

/// Calls that only touch memory.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum MemoryCall {
    /// From the second argument to the first, as many bytes as the third says.
    Copy,
    /// The byte of the second argument to the first, as many times as the third says.
    Set,
    /// Lanes from an address, or from several.
    MaskedRead,
    /// The lanes of the first argument to an address, or to several.
    MaskedWrite,
}

impl MemoryCall {
    /// What a function is, by its name.
    pub(crate) fn of(callee: &str) -> Option<MemoryCall> {
        let starts = |stems: &[&str]| stems.iter().any(|stem| callee.starts_with(stem));
        if starts(&["llvm.memcpy.", "llvm.memmove."]) || matches!(callee, "memcpy" | "memmove") {
            Some(MemoryCall::Copy)
        } else if starts(&["llvm.memset."]) || callee == "memset" {
            Some(MemoryCall::Set)
        } else if starts(&["llvm.masked.load.", "llvm.masked.gather.", "llvm.masked.expandload."]) {
            Some(MemoryCall::MaskedRead)
        } else if starts(&["llvm.masked.store.", "llvm.masked.scatter.", "llvm.masked.compressstore."]) {
            Some(MemoryCall::MaskedWrite)
        } else {
            None
        }
    }
}
