//! Functions, blocks and instructions, from a module's.

use llvm_sys::LLVMLinkage;
use llvm_sys::LLVMOpcode;
use llvm_sys::core::*;
use llvm_sys::debuginfo::LLVMGetSubprogram;
use llvm_sys::prelude::*;
use llvm_sys::target::{LLVMGetModuleDataLayout, LLVMTargetDataRef};
use reweave_program::{
    Argument, Block, Function, Global, GlobalKind, Instruction, Linkage, Mark, NONE, Operand, Operation,
};

use super::Maker;
use super::constants::size;
use super::details::by_value;
use super::llvm::{ask, each, name, operands, text, text_to_zero};
use crate::ir::Module;

/// Puts all of a module into a table.
pub(super) fn describe(maker: &mut Maker, module: &Module) {
    let raw = module.raw();
    let data = ask!(LLVMGetModuleDataLayout(raw));
    let mut length = 0;
    let source = ask!(LLVMGetSourceFileName(raw, &mut length));
    maker.table.name = maker.string(&text(source, length));
    maker.table.target = maker.string(&text_to_zero(ask!(LLVMGetTarget(raw))));
    let functions: Vec<LLVMValueRef> = each(ask!(LLVMGetFirstFunction(raw)), LLVMGetNextFunction).collect();
    let mut aliases = Vec::new();
    for &function in &functions {
        maker.global(function, GlobalKind::Function, 0);
    }
    for variable in each(ask!(LLVMGetFirstGlobal(raw)), LLVMGetNextGlobal) {
        let kind = match () {
            () if ask!(LLVMIsThreadLocal(variable)) != 0 => GlobalKind::ThreadLocal,
            () if ask!(LLVMIsGlobalConstant(variable)) != 0 => GlobalKind::Constant,
            () => GlobalKind::Variable,
        };
        let bytes = size(data, ask!(LLVMGlobalGetValueType(variable))).unwrap_or(0);
        maker.global(variable, kind, bytes);
    }
    for alias in each(ask!(LLVMGetFirstGlobalAlias(raw)), LLVMGetNextGlobalAlias) {
        aliases.push((maker.global(alias, GlobalKind::Alias, 0), ask!(LLVMAliasGetAliasee(alias))));
    }
    for chosen in each(ask!(LLVMGetFirstGlobalIFunc(raw)), LLVMGetNextGlobalIFunc) {
        let chooser = ask!(LLVMGetGlobalIFuncResolver(chosen));
        aliases.push((maker.global(chosen, GlobalKind::Alias, 0), chooser));
    }
    let defined: Vec<LLVMValueRef> =
        functions.into_iter().filter(|&function| ask!(LLVMIsDeclaration(function)) == 0).collect();
    maker.number(&defined);
    for (alias, of) in aliases {
        let of = maker.operand(of, 0);
        if let Some(alias) = maker.table.globals.get_mut(alias as usize) {
            alias.stands_for = of;
        }
    }
    for function in defined {
        maker.function(module.context(), data, function);
    }
}

impl Maker {
    fn global(&mut self, global: LLVMValueRef, kind: GlobalKind, bytes: u64) -> u32 {
        let number = self.table.globals.len() as u32;
        let name = self.string(&name(global));
        let linkage = linkage(ask!(LLVMGetLinkage(global)));
        let defined = ask!(LLVMIsDeclaration(global)) == 0;
        self.table.globals.push(Global { name, kind, linkage, defined, bytes, stands_for: Operand::Nothing });
        self.globals.insert(global, number);
        number
    }

    /// Numbers functions, blocks and instructions.
    fn number(&mut self, functions: &[LLVMValueRef]) {
        for &function in functions {
            self.functions.insert(function, self.functions.len() as u32);
            for (number, block) in (0u32..).zip(blocks(function)) {
                self.blocks.insert(block, number);
                for instruction in instructions(block) {
                    self.instructions.insert(instruction, self.instructions.len() as u32);
                }
            }
        }
    }

    fn function(&mut self, context: LLVMContextRef, data: LLVMTargetDataRef, function: LLVMValueRef) {
        let first = self.table.functions.last().map_or(0, |last| last.first + last.instructions.len() as u32);
        let place = ask!(LLVMGetSubprogram(function));
        let kind = ask!(LLVMGlobalGetValueType(function));
        self.arguments.clear();
        let mut described = Function {
            global: self.globals.get(&function).copied().unwrap_or(NONE),
            scope: if place.is_null() { NONE } else { self.scope(context, place) },
            variadic: ask!(LLVMIsFunctionVarArg(kind)) != 0,
            mark: Mark::Unmarked,
            arguments: Vec::new(),
            blocks: Vec::new(),
            instructions: Vec::new(),
            first,
        };
        for number in 0..ask!(LLVMCountParams(function)) {
            let argument = ask!(LLVMGetParam(function, number));
            self.arguments.insert(argument, number);
            let copied = attribute_of(function, number + 1, "byval");
            described.arguments.push(Argument {
                kind: self.kind(data, ask!(LLVMTypeOf(argument))),
                by_value: by_value(data, copied).unwrap_or(0),
            });
        }
        for block in blocks(function) {
            let start = described.instructions.len() as u32;
            for instruction in instructions(block) {
                described.instructions.push(self.instruction(context, data, instruction, first));
            }
            let length = described.instructions.len() as u32 - start;
            described.blocks.push(Block { first: start, length });
        }
        self.table.functions.push(described);
    }

    fn instruction(
        &mut self,
        context: LLVMContextRef,
        data: LLVMTargetDataRef,
        instruction: LLVMValueRef,
        first: u32,
    ) -> Instruction {
        let code = ask!(LLVMGetInstructionOpcode(instruction));
        // An operation that is not known would be a new one of LLVM's: to readers, it is as opaque as this.
        let operation = Operation::from_code(code as u8).unwrap_or(Operation::Freeze);
        let result = match operation.gives_nothing() {
            true => NONE,
            false => self.kind(data, ask!(LLVMTypeOf(instruction))),
        };
        let used: Vec<Operand> = used(instruction, code).map(|value| self.operand(value, first)).collect();
        let following = if operation.ends_block() { ask!(LLVMGetNumSuccessors(instruction)) } else { 0 };
        Instruction {
            operation,
            result,
            location: self.location(context, instruction),
            mark: Mark::Unmarked,
            operands: used,
            successors: (0..following)
                .map(|place| self.block(ask!(LLVMGetSuccessor(instruction, place))))
                .collect(),
            detail: self.detail(data, instruction, operation),
        }
    }
}

/// What an instruction uses, destinations aside; of a switch, only its condition.
fn used(instruction: LLVMValueRef, code: LLVMOpcode) -> impl Iterator<Item = LLVMValueRef> {
    let count = match code {
        LLVMOpcode::LLVMSwitch | LLVMOpcode::LLVMIndirectBr => 1,
        _ => usize::MAX,
    };
    let ends = !ask!(LLVMIsATerminatorInst(instruction)).is_null();
    operands(instruction)
        .take(count)
        .filter(move |&value| !ends || value.is_null() || ask!(LLVMValueIsBasicBlock(value)) == 0)
}

fn blocks(function: LLVMValueRef) -> impl Iterator<Item = LLVMBasicBlockRef> {
    each(ask!(LLVMGetFirstBasicBlock(function)), LLVMGetNextBasicBlock)
}

fn instructions(block: LLVMBasicBlockRef) -> impl Iterator<Item = LLVMValueRef> {
    each(ask!(LLVMGetFirstInstruction(block)), LLVMGetNextInstruction)
}

fn attribute_of(function: LLVMValueRef, place: u32, name: &str) -> LLVMAttributeRef {
    let kind = ask!(LLVMGetEnumAttributeKindForName(name.as_ptr().cast(), name.len()));
    ask!(LLVMGetEnumAttributeAtIndex(function, place, kind))
}

fn linkage(linkage: LLVMLinkage) -> Linkage {
    match linkage {
        LLVMLinkage::LLVMAvailableExternallyLinkage => Linkage::Elsewhere,
        LLVMLinkage::LLVMLinkOnceODRLinkage | LLVMLinkage::LLVMWeakODRLinkage => Linkage::OneOfSame,
        LLVMLinkage::LLVMLinkOnceAnyLinkage
        | LLVMLinkage::LLVMWeakAnyLinkage
        | LLVMLinkage::LLVMExternalWeakLinkage
        | LLVMLinkage::LLVMCommonLinkage => Linkage::Weak,
        LLVMLinkage::LLVMInternalLinkage | LLVMLinkage::LLVMPrivateLinkage => Linkage::Local,
        _ => Linkage::External,
    }
}
