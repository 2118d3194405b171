//! Operands, constants and types, from LLVM's values.

use llvm_sys::LLVMTypeKind::{self, *};
use llvm_sys::LLVMValueKind::*;
use llvm_sys::core::*;
use llvm_sys::prelude::*;
use llvm_sys::target::{LLVMABISizeOfType, LLVMTargetDataRef};
use reweave_program::{Constant, NONE, Operand, Operation, Type};

use super::Maker;
use super::llvm::{ask, assembly, operands, printed};
use crate::ir::reweave_plugin_type_kind;

/// Constants with more elements than this are not spelled out: nothing depends on them but their value.
const MOST_ELEMENTS: i32 = 64;

impl Maker {
    /// An operand of an instruction in the function whose first instruction has the number `first`; of a constant, too, where
    /// it has no instructions.
    pub(super) fn operand(&mut self, value: LLVMValueRef, first: u32) -> Operand {
        if value.is_null() {
            return Operand::Nothing;
        }
        match ask!(LLVMGetValueKind(value)) {
            LLVMInstructionValueKind => self
                .instructions
                .get(&value)
                .map_or(Operand::Nothing, |number| Operand::Instruction(number - first)),
            LLVMArgumentValueKind => {
                self.arguments.get(&value).map_or(Operand::Nothing, |&number| Operand::Argument(number))
            }
            LLVMBasicBlockValueKind => Operand::Block(self.block(ask!(LLVMValueAsBasicBlock(value)))),
            LLVMFunctionValueKind
            | LLVMGlobalVariableValueKind
            | LLVMGlobalAliasValueKind
            | LLVMGlobalIFuncValueKind => {
                self.globals.get(&value).map_or(Operand::Nothing, |&number| Operand::Global(number))
            }
            LLVMInlineAsmValueKind => Operand::Assembly(self.string(&assembly(value))),
            LLVMMetadataAsValueValueKind | LLVMConstantTokenNoneValueKind => Operand::Nothing,
            _ => self.constant(value),
        }
    }

    /// The number of a block in its function.
    pub(super) fn block(&self, block: LLVMBasicBlockRef) -> u32 {
        self.blocks.get(&block).copied().unwrap_or(NONE)
    }

    fn constant(&mut self, value: LLVMValueRef) -> Operand {
        if let Some(&known) = self.known_constants.get(&value) {
            return known;
        }
        let constant = self.constant_itself(value);
        let place = Operand::Constant(self.constants.place(&mut self.table.constants, constant));
        self.known_constants.insert(value, place);
        place
    }

    fn constant_itself(&mut self, value: LLVMValueRef) -> Constant {
        let count = ask!(LLVMGetNumOperands(value));
        match ask!(LLVMGetValueKind(value)) {
            LLVMConstantIntValueKind => {
                let kind = ask!(LLVMTypeOf(value));
                let is_one = ask!(reweave_plugin_type_kind(kind)) == LLVMIntegerTypeKind;
                match if is_one { ask!(LLVMGetIntTypeWidth(kind)) } else { 0 } {
                    bits @ 1..=64 => Constant::Integer { bits, value: ask!(LLVMConstIntGetZExtValue(value)) },
                    _ => Constant::Text(self.string(&printed(value))),
                }
            }
            LLVMConstantFPValueKind => Constant::Text(self.string(&printed(value))),
            LLVMConstantPointerNullValueKind | LLVMConstantAggregateZeroValueKind => Constant::Zero,
            LLVMUndefValueValueKind | LLVMPoisonValueKind => Constant::Undefined,
            LLVMConstantDataVectorValueKind => Constant::Text(self.string(&printed(value))),
            LLVMConstantStructValueKind | LLVMConstantArrayValueKind | LLVMConstantVectorValueKind
                if count <= MOST_ELEMENTS =>
            {
                Constant::Aggregate(operands(value).map(|operand| self.operand(operand, 0)).collect())
            }
            LLVMConstantExprValueKind => {
                let parts = operands(value).map(|operand| self.operand(operand, 0)).collect();
                match Operation::from_code(ask!(LLVMGetConstOpcode(value)) as u8) {
                    Some(operation) => Constant::Expression(operation, parts),
                    None => Constant::Aggregate(parts),
                }
            }
            LLVMBlockAddressValueKind => {
                let function = ask!(LLVMGetBlockAddressFunction(value));
                let block = self.block(ask!(LLVMGetBlockAddressBasicBlock(value)));
                self.globals.get(&function).map_or(Constant::Other, |&global| Constant::Label(global, block))
            }
            _ => Constant::Other,
        }
    }

    /// A type, by its place in the table.
    pub(super) fn kind(&mut self, data: LLVMTargetDataRef, kind: LLVMTypeRef) -> u32 {
        if let Some(&known) = self.known_types.get(&kind) {
            return known;
        }
        let found = self.kind_itself(data, kind);
        let place = self.types.place(&mut self.table.types, found);
        self.known_types.insert(kind, place);
        place
    }

    fn kind_itself(&mut self, data: LLVMTargetDataRef, kind: LLVMTypeRef) -> Type {
        match ask!(reweave_plugin_type_kind(kind)) {
            LLVMVoidTypeKind => Type::Void,
            LLVMIntegerTypeKind => Type::Integer(ask!(LLVMGetIntTypeWidth(kind))),
            LLVMHalfTypeKind | LLVMBFloatTypeKind => Type::Float(16),
            LLVMFloatTypeKind => Type::Float(32),
            LLVMDoubleTypeKind => Type::Float(64),
            LLVMX86_FP80TypeKind => Type::Float(80),
            LLVMFP128TypeKind | LLVMPPC_FP128TypeKind => Type::Float(128),
            LLVMPointerTypeKind => Type::Pointer(ask!(LLVMGetPointerAddressSpace(kind))),
            lanes @ (LLVMVectorTypeKind | LLVMScalableVectorTypeKind) => {
                let element = self.kind(data, ask!(LLVMGetElementType(kind)));
                Type::Vector(element, ask!(LLVMGetVectorSize(kind)), lanes == LLVMScalableVectorTypeKind)
            }
            LLVMStructTypeKind | LLVMArrayTypeKind => match size(data, kind) {
                Some(bytes) => Type::Aggregate(bytes),
                None => Type::Other,
            },
            _ => Type::Other,
        }
    }
}

/// How many bytes lie from one value of a type to the next in an array; none where that is not fixed.
pub(super) fn size(data: LLVMTargetDataRef, kind: LLVMTypeRef) -> Option<u64> {
    (ask!(LLVMTypeIsSized(kind)) != 0 && !scales(kind)).then(|| ask!(LLVMABISizeOfType(data, kind)))
}

/// Whether the size of a type depends on the machine.
pub(super) fn scales(kind: LLVMTypeRef) -> bool {
    match ask!(reweave_plugin_type_kind(kind)) {
        LLVMScalableVectorTypeKind | LLVMTypeKind::LLVMTargetExtTypeKind => true,
        LLVMArrayTypeKind => scales(ask!(LLVMGetElementType(kind))),
        LLVMStructTypeKind => {
            let count = ask!(LLVMCountStructElementTypes(kind));
            (0..count).any(|element| scales(ask!(LLVMStructGetTypeAtIndex(kind, element))))
        }
        _ => false,
    }
}
