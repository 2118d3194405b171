//! The accesses of a function, told to the runtime.
//!
//! A hook comes before its access, because there another thread may be let run; so what it reads is what the access will read.
//! What is written is passed along, or, where it is more than a word, looked at right after the write, before
//! anybody else runs. Atomic accesses, and copies by LLVM's own functions, are done by the runtime itself.

use reweave_program::Mark;

use crate::branches::Flow;
use crate::escape::{Escapes, is_constant};
use crate::hooks::Hooks;
use crate::interposed::{is_told, memory_arguments};
use crate::ir::{Module, Opcode, Value};
use crate::table::Draft;
use crate::traps::{always_returns, deciding_operands, depends_on_arguments};

/// Copies that are no longer than this are not made by libc, and may stay as they are where nobody is to see them.
pub(crate) const SHORT_COPY: u64 = 64;

/// What holds no longer of a function that tells of what it does.
const NOT_ANY_MORE: [&str; 6] = ["memory", "speculatable", "nosync", "nofree", "willreturn", "norecurse"];

/// Instruments a module; its table and its sites are left in sections of their own.
pub(crate) fn module(module: &Module) {
    // First of all: its numbers are those of the code as it is.
    let mut draft = Draft::new(module);
    let functions = module.functions();
    let blocks = functions.iter().flat_map(|function| function.blocks());
    let most: usize = blocks.map(|block| block.instructions().len()).sum();
    let mut hooks = Hooks::new(module, most + functions.len());
    for function in functions {
        let suppressed = function.has_attribute("naked")
            || function.has_attribute("disable_sanitizer_instrumentation")
            || function.is_only_for_inlining();
        if suppressed {
            draft.mark_function(function.0, Mark::Suppressed);
            continue;
        }
        Instrumenter { hooks: &mut hooks, draft: &mut draft, escapes: Escapes::default() }.function(function);
    }
    let (init, _) = module.declare("__reweave_init", module.void(), &[]);
    module.call_first(init);
    let tag = draft.finish(module);
    hooks.finish(tag);
}

/// What it takes to instrument one function.
pub(crate) struct Instrumenter<'i, 'm> {
    pub(crate) hooks: &'i mut Hooks<'m>,
    pub(crate) draft: &'i mut Draft,
    pub(crate) escapes: Escapes,
}

impl Instrumenter<'_, '_> {
    fn function(&mut self, function: Value) {
        let mut flow = Flow::new(function);
        let blocks = flow.blocks().to_vec();
        // First all events are found, in the code as it is; only then the code is changed.
        let mut branches = Vec::new();
        let mut all = Vec::new();
        for block in blocks {
            for instruction in block.instructions() {
                if let Some(way) = self.branch(&flow, instruction) {
                    flow.note(instruction);
                    branches.push((instruction, way));
                }
                all.push(instruction);
            }
        }
        let has_branches = !branches.is_empty();
        for (instruction, way) in branches {
            self.tell_branch(instruction, way);
        }
        let mut calls = false;
        for &instruction in &all {
            calls |= self.is_call(instruction);
        }
        let mut told = has_branches;
        let ends: Vec<Value> = all.iter().copied().filter(|&end| is_end(end)).collect();
        for instruction in all {
            told |= self.access(instruction);
        }
        if told || calls {
            self.entry_and_exits(function, &ends);
            NOT_ANY_MORE.iter().for_each(|name| function.remove_attribute(name));
        }
    }

    /// Whether an instruction calls a function that may tell of something.
    fn is_call(&mut self, instruction: Value) -> bool {
        if instruction.is_tail_call_that_must_be() {
            // The callee takes the place of this function.
            self.draft.mark(instruction.0, Mark::Unsupported);
        }
        let calls = matches!(instruction.opcode(), Opcode::LLVMCall | Opcode::LLVMInvoke)
            && !instruction.callee().is_intrinsic()
            && !instruction.callee().is_inline_assembly();
        if calls && !instruction.callee().is_declared_elsewhere() {
            NOT_ANY_MORE.iter().for_each(|name| instruction.remove_attribute(name));
        }
        calls
    }

    /// The value that tells which way an instruction goes, where that needs an event.
    fn branch(&mut self, flow: &Flow, instruction: Value) -> Option<Option<Value>> {
        match instruction.opcode() {
            Opcode::LLVMBr if instruction.is_conditional() => {
                self.way(flow, instruction, instruction.condition())
            }
            Opcode::LLVMSwitch | Opcode::LLVMIndirectBr => {
                self.way(flow, instruction, instruction.operand(0))
            }
            Opcode::LLVMSelect if instruction.operand(0).of().bits() == Some(1) => {
                self.way(flow, instruction, instruction.operand(0))
            }
            Opcode::LLVMLoad => self.first_needed(flow, instruction, &[instruction.operand(0)]),
            Opcode::LLVMStore => self.first_needed(flow, instruction, &[instruction.operand(1)]),
            Opcode::LLVMAtomicRMW | Opcode::LLVMAtomicCmpXchg => {
                self.first_needed(flow, instruction, &[instruction.operand(0)])
            }
            Opcode::LLVMCall | Opcode::LLVMInvoke | Opcode::LLVMCallBr => self.call(flow, instruction),
            _ => self.first_needed(flow, instruction, &deciding_operands(instruction)),
        }
    }

    fn way(&mut self, flow: &Flow, instruction: Value, condition: Value) -> Option<Option<Value>> {
        let depends = flow.depends(condition);
        let mark = if depends { Mark::Recorded } else { Mark::Redundant };
        self.draft.mark(instruction.0, mark);
        depends.then_some(Some(condition))
    }

    fn first_needed(&self, flow: &Flow, at: Value, values: &[Value]) -> Option<Option<Value>> {
        values.iter().find(|&&value| flow.needs_event(value, at)).map(|&value| Some(value))
    }

    fn call(&self, flow: &Flow, call: Value) -> Option<Option<Value>> {
        let callee = call.callee();
        if callee.is_inline_assembly() {
            return (!callee.assembly().trim().is_empty()).then_some(None);
        }
        let mut depend_on = Vec::new();
        let name = callee.name();
        if callee.is_intrinsic() {
            if depends_on_arguments(call, &name) {
                depend_on = call.call_arguments();
            }
        } else if callee.is_function() && (is_told(&name) || memory_arguments(&name).is_some()) {
            depend_on = call.call_arguments();
        } else if !callee.is_function() {
            return Some(Some(callee));
        } else if callee.is_declared_elsewhere() {
            if !call.touches_no_memory() {
                return Some(None);
            }
            if !always_returns(&name) {
                depend_on = call.call_arguments();
            }
        }
        for (place, argument) in call.call_arguments().into_iter().enumerate() {
            if call.copied_parameter(place as u32).is_some() {
                depend_on.push(argument);
            }
        }
        self.first_needed(flow, call, &depend_on)
    }

    fn tell_branch(&mut self, instruction: Value, way: Option<Value>) {
        let site = self.hooks.site(self.draft, instruction);
        self.hooks.cursor.before(instruction);
        let way = way.and_then(|way| self.hooks.as_number(way)).unwrap_or_else(|| self.hooks.number(0));
        self.hooks.tell("branch", &[site, way]);
    }

    /// Tells of what an instruction does to memory; whether there is something to tell.
    fn access(&mut self, instruction: Value) -> bool {
        match instruction.opcode() {
            Opcode::LLVMLoad => {
                let address = instruction.operand(0);
                self.is_shared(instruction, address) && {
                    if instruction.is_atomic() {
                        self.atomic_load(instruction)
                    } else {
                        self.load(instruction, address)
                    }
                }
            }
            Opcode::LLVMStore => {
                let address = instruction.operand(1);
                self.is_shared(instruction, address) && {
                    if instruction.is_atomic() {
                        self.atomic_store(instruction)
                    } else {
                        self.store(instruction, address)
                    }
                }
            }
            Opcode::LLVMAtomicRMW => {
                self.is_shared(instruction, instruction.operand(0)) && self.update(instruction)
            }
            Opcode::LLVMAtomicCmpXchg => {
                self.is_shared(instruction, instruction.operand(0)) && self.compare(instruction)
            }
            Opcode::LLVMCall | Opcode::LLVMInvoke | Opcode::LLVMCallBr
                if instruction.callee().is_inline_assembly() =>
            {
                self.assembly(instruction)
            }
            Opcode::LLVMCall | Opcode::LLVMInvoke => self.called(instruction),
            _ => false,
        }
    }

    /// Whether other threads may reach what an instruction touches; the table is told.
    fn is_shared(&mut self, instruction: Value, address: Value) -> bool {
        let mark = if address.address_space() != 0 {
            Mark::Unsupported
        } else if self.escapes.is_private(address) {
            Mark::Private
        } else if is_constant(address) {
            Mark::Constant
        } else {
            Mark::Recorded
        };
        self.draft.mark(instruction.0, mark);
        mark == Mark::Recorded
    }

    pub(crate) fn load(&mut self, load: Value, address: Value) -> bool {
        let size = self.hooks.module.size(load.of());
        let site = self.hooks.site(self.draft, load);
        self.hooks.cursor.before(load);
        self.read(address, site, size)
    }

    /// Tells of a read where the cursor is.
    pub(crate) fn read(&mut self, address: Value, site: Value, size: u64) -> bool {
        match size {
            0 => return false,
            1 | 2 | 4 | 8 => self.hooks.tell(&format!("read{size}"), &[address, site]),
            _ => {
                let size = self.hooks.number(size);
                self.hooks.tell("read", &[address, site, size]);
            }
        }
        true
    }

    pub(crate) fn store(&mut self, store: Value, address: Value) -> bool {
        let value = store.operand(0);
        let size = self.hooks.module.size(value.of());
        let site = self.hooks.site(self.draft, store);
        self.hooks.cursor.before(store);
        let number = if matches!(size, 1 | 2 | 4 | 8) { self.hooks.as_number(value) } else { None };
        match number {
            Some(number) => self.hooks.tell(&format!("write{size}"), &[address, site, number]),
            None if size > 0 => {
                self.hooks.tell("before", &[site]);
                self.hooks.cursor.after(store);
                let size = self.hooks.number(size);
                self.hooks.tell("wrote", &[address, site, size]);
            }
            None => return false,
        }
        true
    }

    /// Where the stack is, and where control came from, is noted at the start; and that they are no more, at each end.
    fn entry_and_exits(&mut self, function: Value, ends: &[Value]) {
        for &end in ends {
            self.hooks.cursor.before(end);
            self.hooks.tell("exit", &[]);
        }
        let Some(first) = function.blocks().first().and_then(|entry| entry.first_after_allocas()) else {
            return;
        };
        self.hooks.cursor.before(first);
        let (caller, site) = (self.hooks.return_address(), self.hooks.site(self.draft, function));
        self.hooks.tell("entered", &[caller, site]);
        for (place, parameter) in function.parameters().into_iter().enumerate() {
            if let Some(of) = function.copied_parameter(place as u32) {
                let (site, size) = (self.hooks.site(self.draft, function), self.hooks.module.size(of));
                let size = self.hooks.number(size);
                self.hooks.tell("wrote", &[parameter, site, size]);
            }
        }
    }
}

/// Whether control leaves the function there.
fn is_end(instruction: Value) -> bool {
    match instruction.opcode() {
        Opcode::LLVMRet => !after_tail_call(instruction),
        Opcode::LLVMResume => true,
        _ => instruction.is_tail_call_that_must_be(),
    }
}

fn after_tail_call(instruction: Value) -> bool {
    instruction.previous().is_some_and(|before| {
        before.is_tail_call_that_must_be()
            || before.is(Opcode::LLVMBitCast)
                && before.previous().is_some_and(Value::is_tail_call_that_must_be)
    })
}
