//! A place in the code where instructions are put.

use super::*;

/// Where instructions are put.
pub(crate) struct Cursor {
    raw: LLVMBuilderRef,
}

impl Drop for Cursor {
    fn drop(&mut self) {
        llvm!(LLVMDisposeBuilder(self.raw));
    }
}

impl Cursor {
    pub(crate) fn new(module: &Module) -> Cursor {
        Cursor { raw: llvm!(LLVMCreateBuilderInContext(module.context())) }
    }

    /// What follows goes before an instruction, and has its line.
    pub(crate) fn before(&self, instruction: Value) {
        llvm!(LLVMPositionBuilderBefore(self.raw, instruction.0));
    }

    /// What follows goes after an instruction that does not end its block, and has its line.
    pub(crate) fn after(&self, instruction: Value) {
        let line = llvm!(llvm_sys::debuginfo::LLVMInstructionGetDebugLoc(instruction.0));
        if let Some(next) = instruction.next() {
            self.before(next);
        }
        llvm!(LLVMSetCurrentDebugLocation2(self.raw, line));
    }

    /// What follows goes to the end of a block.
    pub(crate) fn at_end(&self, block: Block) {
        llvm!(LLVMPositionBuilderAtEnd(self.raw, block.0));
    }

    /// Returns a value, where the function has one.
    pub(crate) fn give(&self, value: Value, of: Type) {
        if of.kind() == LLVMTypeKind::LLVMVoidTypeKind {
            llvm!(LLVMBuildRetVoid(self.raw));
        } else {
            llvm!(LLVMBuildRet(self.raw, value.0));
        }
    }

    pub(crate) fn call(&self, (function, of): (Value, Type), arguments: &[Value]) -> Value {
        let mut raw: Vec<LLVMValueRef> = arguments.iter().map(|argument| argument.0).collect();
        let count = raw.len() as c_uint;
        Value(llvm!(LLVMBuildCall2(self.raw, of.0, function.0, raw.as_mut_ptr(), count, NO_NAME)))
    }

    /// What lies at an address now.
    pub(crate) fn load(&self, address: Value, of: Type) -> Value {
        let value = llvm!(LLVMBuildLoad2(self.raw, of.0, address.0, NO_NAME));
        llvm!(LLVMSetAlignment(value, 1));
        Value(value)
    }

    /// The same bits as another type.
    pub(crate) fn bits(&self, value: Value, to: Type) -> Value {
        Value(llvm!(LLVMBuildBitCast(self.raw, value.0, to.0, NO_NAME)))
    }

    pub(crate) fn pointer_number(&self, value: Value, to: Type) -> Value {
        Value(llvm!(LLVMBuildPtrToInt(self.raw, value.0, to.0, NO_NAME)))
    }

    pub(crate) fn to_pointer(&self, value: Value, to: Type) -> Value {
        Value(llvm!(LLVMBuildIntToPtr(self.raw, value.0, to.0, NO_NAME)))
    }

    /// An integer with zeros added in front.
    pub(crate) fn widen(&self, value: Value, to: Type) -> Value {
        Value(llvm!(LLVMBuildZExt(self.raw, value.0, to.0, NO_NAME)))
    }

    pub(crate) fn narrow(&self, value: Value, to: Type) -> Value {
        Value(llvm!(LLVMBuildTrunc(self.raw, value.0, to.0, NO_NAME)))
    }

    pub(crate) fn equal(&self, a: Value, b: Value) -> Value {
        Value(llvm!(LLVMBuildICmp(self.raw, LLVMIntPredicate::LLVMIntEQ, a.0, b.0, NO_NAME)))
    }

    pub(crate) fn lane(&self, vector: Value, index: Value) -> Value {
        Value(llvm!(LLVMBuildExtractElement(self.raw, vector.0, index.0, NO_NAME)))
    }

    /// The address so many bytes after another.
    pub(crate) fn offset(&self, module: &Module, address: Value, bytes: u64) -> Value {
        let mut index = [module.constant(module.int(64), bytes).0];
        Value(llvm!(LLVMBuildGEP2(self.raw, module.int(8).0, address.0, index.as_mut_ptr(), 1, NO_NAME)))
    }

    /// A pair of values as one of type `of`.
    pub(crate) fn pair(&self, of: Type, first: Value, second: Value) -> Value {
        let nothing = llvm!(LLVMGetUndef(of.0));
        let half = llvm!(LLVMBuildInsertValue(self.raw, nothing, first.0, 0, NO_NAME));
        Value(llvm!(LLVMBuildInsertValue(self.raw, half, second.0, 1, NO_NAME)))
    }
}
