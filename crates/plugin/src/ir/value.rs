//! What can be asked of a value.

use super::*;

impl Value {
    pub(crate) fn of(self) -> Type {
        Type(llvm!(LLVMTypeOf(self.0)))
    }

    pub(crate) fn name(self) -> String {
        let mut length = 0;
        let name = llvm!(LLVMGetValueName2(self.0, &raw mut length));
        if name.is_null() {
            return String::new();
        }
        let bytes = llvm!(std::slice::from_raw_parts(name.cast::<u8>(), length));
        String::from_utf8_lossy(bytes).into_owned()
    }

    pub(crate) fn is_instruction(self) -> bool {
        !llvm!(LLVMIsAInstruction(self.0)).is_null()
    }

    pub(crate) fn is_argument(self) -> bool {
        !llvm!(LLVMIsAArgument(self.0)).is_null()
    }

    pub(crate) fn is_function(self) -> bool {
        !llvm!(LLVMIsAFunction(self.0)).is_null()
    }

    /// Whether it is a variable whose content never changes.
    pub(crate) fn is_constant_memory(self) -> bool {
        !llvm!(LLVMIsAGlobalVariable(self.0)).is_null() && llvm!(LLVMIsGlobalConstant(self.0)) != 0
    }

    /// Whether it is the address of a variable, or a place in it, written as an expression.
    pub(crate) fn is_moved_constant(self) -> bool {
        !llvm!(LLVMIsAConstantExpr(self.0)).is_null()
            && matches!(
                llvm!(LLVMGetConstOpcode(self.0)),
                Opcode::LLVMGetElementPtr | Opcode::LLVMBitCast | Opcode::LLVMAddrSpaceCast
            )
    }

    /// Whether a call, or the function that it calls, touches no memory at all.
    pub(crate) fn touches_no_memory(self) -> bool {
        let kind = llvm!(LLVMGetEnumAttributeKindForName(c"memory".as_ptr(), 6));
        let index = llvm_sys::LLVMAttributeFunctionIndex;
        let mut attributes = vec![llvm!(LLVMGetCallSiteEnumAttribute(self.0, index, kind))];
        if self.callee().is_function() {
            attributes.push(llvm!(LLVMGetEnumAttributeAtIndex(self.callee().0, index, kind)));
        }
        attributes
            .into_iter()
            .any(|attribute| !attribute.is_null() && llvm!(LLVMGetEnumAttributeValue(attribute)) == 0)
    }

    pub(crate) fn opcode(self) -> Opcode {
        llvm!(LLVMGetInstructionOpcode(self.0))
    }

    pub(crate) fn is(self, opcode: Opcode) -> bool {
        self.is_instruction() && self.opcode() == opcode
    }

    pub(crate) fn operands(self) -> impl Iterator<Item = Value> {
        let count = llvm!(LLVMGetNumOperands(self.0)).max(0) as c_uint;
        (0..count).map(move |place| self.operand(place))
    }

    pub(crate) fn operand(self, place: u32) -> Value {
        Value(llvm!(LLVMGetOperand(self.0, place)))
    }

    pub(crate) fn users(self) -> Vec<Value> {
        let mut users = Vec::new();
        let mut next = llvm!(LLVMGetFirstUse(self.0));
        while !next.is_null() {
            users.push(Value(llvm!(LLVMGetUser(next))));
            next = llvm!(LLVMGetNextUse(next));
        }
        users
    }

    /// The blocks of a function.
    pub(crate) fn blocks(self) -> Vec<Block> {
        let mut blocks = Vec::new();
        let mut next = llvm!(LLVMGetFirstBasicBlock(self.0));
        while !next.is_null() {
            blocks.push(Block(next));
            next = llvm!(LLVMGetNextBasicBlock(next));
        }
        blocks
    }

    pub(crate) fn parameters(self) -> Vec<Value> {
        (0..llvm!(LLVMCountParams(self.0))).map(|place| Value(llvm!(LLVMGetParam(self.0, place)))).collect()
    }

    pub(crate) fn is_declaration(self) -> bool {
        llvm!(LLVMIsDeclaration(self.0)) != 0
    }

    /// Whether no code is made of a function's body.
    pub(crate) fn is_only_for_inlining(self) -> bool {
        llvm!(LLVMGetLinkage(self.0)) == LLVMLinkage::LLVMAvailableExternallyLinkage
    }

    /// Whether a function has an attribute.
    pub(crate) fn has_attribute(self, name: &str) -> bool {
        let kind = llvm!(LLVMGetEnumAttributeKindForName(name.as_ptr().cast(), name.len()));
        let index = llvm_sys::LLVMAttributeFunctionIndex;
        kind != 0 && !llvm!(LLVMGetEnumAttributeAtIndex(self.0, index, kind)).is_null()
    }

    /// Gives a function an attribute.
    pub(crate) fn add_attribute(self, module: &Module, name: &str) {
        let kind = llvm!(LLVMGetEnumAttributeKindForName(name.as_ptr().cast(), name.len()));
        let attribute = llvm!(LLVMCreateEnumAttribute(module.context(), kind, 0));
        llvm!(LLVMAddAttributeAtIndex(self.0, llvm_sys::LLVMAttributeFunctionIndex, attribute));
    }

    pub(crate) fn remove_attribute(self, name: &str) {
        let kind = llvm!(LLVMGetEnumAttributeKindForName(name.as_ptr().cast(), name.len()));
        let index = llvm_sys::LLVMAttributeFunctionIndex;
        if self.is_function() {
            llvm!(LLVMRemoveEnumAttributeAtIndex(self.0, index, kind));
        } else {
            llvm!(LLVMRemoveCallSiteEnumAttribute(self.0, index, kind));
        }
    }

    /// The type that a parameter of a function, or of a call, is a copy of.
    pub(crate) fn copied_parameter(self, place: u32) -> Option<Type> {
        let kind = llvm!(LLVMGetEnumAttributeKindForName(c"byval".as_ptr(), 5));
        let attribute = if self.is_function() {
            llvm!(LLVMGetEnumAttributeAtIndex(self.0, place + 1, kind))
        } else {
            llvm!(LLVMGetCallSiteEnumAttribute(self.0, place + 1, kind))
        };
        (!attribute.is_null()).then(|| Type(llvm!(LLVMGetTypeAttributeValue(attribute))))
    }

    /// Whether a parameter of a function is where its result goes.
    pub(crate) fn is_result_parameter(self, place: u32) -> bool {
        let kind = llvm!(LLVMGetEnumAttributeKindForName(c"sret".as_ptr(), 4));
        !llvm!(LLVMGetEnumAttributeAtIndex(self.0, place + 1, kind)).is_null()
    }

    /// The type of a function, and that of its result.
    pub(crate) fn function_type(self) -> (Type, Type) {
        let of = llvm!(LLVMGlobalGetValueType(self.0));
        (Type(of), Type(llvm!(LLVMGetReturnType(of))))
    }

    pub(crate) fn replace_uses_with(self, other: Value) {
        llvm!(LLVMReplaceAllUsesWith(self.0, other.0));
    }

    /// Has a call call another function of the same type.
    pub(crate) fn call_instead(self, function: Value) {
        // The callee is the last operand.
        let last = llvm!(LLVMGetNumOperands(self.0)).max(1) as c_uint - 1;
        llvm!(LLVMSetOperand(self.0, last, function.0));
    }

    /// What a call calls.
    pub(crate) fn callee(self) -> Value {
        Value(llvm!(LLVMGetCalledValue(self.0)))
    }

    pub(crate) fn call_arguments(self) -> Vec<Value> {
        (0..llvm!(LLVMGetNumArgOperands(self.0))).map(|place| self.operand(place)).collect()
    }

    /// Whether a call is made of a function that is LLVM's own.
    pub(crate) fn is_intrinsic(self) -> bool {
        self.is_function() && llvm!(LLVMGetIntrinsicID(self.0)) != 0
    }

    pub(crate) fn is_inline_assembly(self) -> bool {
        !llvm!(LLVMIsAInlineAsm(self.0)).is_null()
    }

    /// The text of inline assembly.
    pub(crate) fn assembly(self) -> String {
        let mut length = 0;
        let text = llvm!(LLVMGetInlineAsmAsmString(self.0, &raw mut length));
        if text.is_null() {
            return String::new();
        }
        let bytes = llvm!(std::slice::from_raw_parts(text.cast::<u8>(), length));
        String::from_utf8_lossy(bytes).into_owned()
    }

    /// What inline assembly says of its operands.
    pub(crate) fn constraints(self) -> String {
        let mut length = 0;
        let text = llvm!(LLVMGetInlineAsmConstraintString(self.0, &raw mut length));
        if text.is_null() {
            return String::new();
        }
        let bytes = llvm!(std::slice::from_raw_parts(text.cast::<u8>(), length));
        String::from_utf8_lossy(bytes).into_owned()
    }

    /// The type of what an argument of a call, an address, points to, where the call says so.
    pub(crate) fn element_of_parameter(self, place: u32) -> Option<Type> {
        let name = c"elementtype";
        let kind = llvm!(LLVMGetEnumAttributeKindForName(name.as_ptr(), name.count_bytes()));
        let attribute = llvm!(LLVMGetCallSiteEnumAttribute(self.0, place + 1, kind));
        (!attribute.is_null()).then(|| Type(llvm!(LLVMGetTypeAttributeValue(attribute))))
    }

    pub(crate) fn is_tail_call_that_must_be(self) -> bool {
        self.is(Opcode::LLVMCall)
            && llvm!(LLVMGetTailCallKind(self.0)) == llvm_sys::LLVMTailCallKind::LLVMTailCallKindMustTail
    }

    pub(crate) fn is_atomic(self) -> bool {
        llvm!(LLVMGetOrdering(self.0)) != llvm_sys::LLVMAtomicOrdering::LLVMAtomicOrderingNotAtomic
    }

    pub(crate) fn is_conditional(self) -> bool {
        llvm!(LLVMIsConditional(self.0)) != 0
    }

    pub(crate) fn condition(self) -> Value {
        Value(llvm!(LLVMGetCondition(self.0)))
    }

    /// The number of a pointer's address space.
    pub(crate) fn address_space(self) -> u32 {
        if self.of().is_pointer() { llvm!(LLVMGetPointerAddressSpace(self.of().0)) } else { 0 }
    }

    /// Whether a function has no body that this module's code is made of.
    pub(crate) fn is_declared_elsewhere(self) -> bool {
        self.is_function()
            && (self.is_declaration()
                || self.is_only_for_inlining()
                || self.has_attribute("disable_sanitizer_instrumentation"))
    }

    /// A constant integer's value.
    pub(crate) fn number(self) -> Option<u64> {
        let is_number = !llvm!(LLVMIsAConstantInt(self.0)).is_null();
        is_number.then(|| llvm!(LLVMConstIntGetZExtValue(self.0)))
    }

    /// The instruction before this one.
    pub(crate) fn previous(self) -> Option<Value> {
        let before = llvm!(LLVMGetPreviousInstruction(self.0));
        (!before.is_null()).then_some(Value(before))
    }

    /// The instruction after this one.
    pub(crate) fn next(self) -> Option<Value> {
        let next = llvm!(LLVMGetNextInstruction(self.0));
        (!next.is_null()).then_some(Value(next))
    }

    /// Puts another value in the place of an instruction, and erases it.
    pub(crate) fn replace_with(self, other: Option<Value>) {
        if let Some(other) = other {
            llvm!(LLVMReplaceAllUsesWith(self.0, other.0));
        }
        llvm!(LLVMInstructionEraseFromParent(self.0));
    }

    pub(crate) fn update_operation(self) -> llvm_sys::LLVMAtomicRMWBinOp {
        llvm!(LLVMGetAtomicRMWBinOp(self.0))
    }
}
