//! A thin layer over LLVM's C interface: what the passes need of it, and no more.
//!
//! Handles are plain copies of LLVM's own pointers. They are valid as long as what they stand for is in its module: whoever
//! erases an instruction must not use its handle afterwards, which is why only [`Value::replace_with`] erases.

use std::ffi::{CStr, CString, c_char, c_uint};
use std::marker::PhantomData;

use llvm_sys::core::*;
use llvm_sys::prelude::{
    LLVMBasicBlockRef, LLVMBuilderRef, LLVMContextRef, LLVMModuleRef, LLVMTypeRef, LLVMValueRef,
};
use llvm_sys::target::{LLVMGetModuleDataLayout, LLVMStoreSizeOfType};
use llvm_sys::{LLVMIntPredicate, LLVMLinkage, LLVMTypeKind};

pub(crate) use llvm_sys::LLVMOpcode as Opcode;

/// Calls LLVM.
macro_rules! llvm {
    ($call:expr) => {{
        // SAFETY: every handle comes from the module that the pass runs on, which lives and which nobody else changes
        // meanwhile; names end with a zero, and lists are as long as is said.
        unsafe { $call }
    }};
}

unsafe extern "C" {
    fn reweave_plugin_constructor(module: LLVMModuleRef, function: LLVMValueRef);
}

/// What a module that was instrumented has.
const MARK: &CStr = c"reweave";

const NO_NAME: *const c_char = c"".as_ptr();

/// A module that a pass runs on.
pub(crate) struct Module {
    raw: LLVMModuleRef,
    lives: PhantomData<*mut ()>,
}

/// A value: an instruction, an argument, a function, a constant.
#[derive(Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord, Debug)]
pub(crate) struct Value(pub(crate) LLVMValueRef);

/// A block of instructions.
#[derive(Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord, Debug)]
pub(crate) struct Block(pub(crate) LLVMBasicBlockRef);

/// The type of a value.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) struct Type(pub(crate) LLVMTypeRef);

impl Module {
    /// # Safety
    /// The module has to live for as long as this does, and nobody else may change it meanwhile.
    pub(crate) unsafe fn new(raw: LLVMModuleRef) -> Module {
        Module { raw, lives: PhantomData }
    }

    pub(crate) fn raw(&self) -> LLVMModuleRef {
        self.raw
    }

    pub(crate) fn context(&self) -> LLVMContextRef {
        llvm!(LLVMGetModuleContext(self.raw))
    }

    /// Whether it was instrumented before: with link-time optimisation, passes run more than once.
    pub(crate) fn is_marked(&self) -> bool {
        llvm!(LLVMGetNamedMetadataNumOperands(self.raw, MARK.as_ptr()) > 0)
    }

    pub(crate) fn mark(&self) {
        let node = llvm!(LLVMMDNodeInContext2(self.context(), std::ptr::null_mut(), 0));
        let node = llvm!(LLVMMetadataAsValue(self.context(), node));
        llvm!(LLVMAddNamedMetadataOperand(self.raw, MARK.as_ptr(), node));
    }

    /// Whether it is for the one kind of machine that is recorded.
    pub(crate) fn is_for_x86_64(&self) -> bool {
        let target = llvm!(CStr::from_ptr(LLVMGetTarget(self.raw)));
        target.to_bytes().starts_with(b"x86_64")
    }

    /// The functions that have a body here.
    pub(crate) fn functions(&self) -> Vec<Value> {
        let mut functions = Vec::new();
        let mut next = llvm!(LLVMGetFirstFunction(self.raw));
        while !next.is_null() {
            if llvm!(LLVMIsDeclaration(next)) == 0 {
                functions.push(Value(next));
            }
            next = llvm!(LLVMGetNextFunction(next));
        }
        functions
    }

    /// The functions that have none.
    pub(crate) fn declarations(&self) -> Vec<Value> {
        let mut functions = Vec::new();
        let mut next = llvm!(LLVMGetFirstFunction(self.raw));
        while !next.is_null() {
            if llvm!(LLVMIsDeclaration(next)) != 0 {
                functions.push(Value(next));
            }
            next = llvm!(LLVMGetNextFunction(next));
        }
        functions
    }

    /// The function of this name, if there is one.
    pub(crate) fn function(&self, name: &str) -> Option<Value> {
        let name = CString::new(name).ok()?;
        let found = llvm!(LLVMGetNamedFunction(self.raw, name.as_ptr()));
        (!found.is_null()).then_some(Value(found))
    }

    /// A function like another, for this module only; without a body yet.
    pub(crate) fn define_twin(&self, original: Value, prefix: &str) -> Value {
        let name = CString::new(format!("{prefix}.{}", original.name())).unwrap_or_default();
        let (of, _) = original.function_type();
        let twin = llvm!(LLVMAddFunction(self.raw, name.as_ptr(), of.0));
        llvm!(LLVMSetLinkage(twin, LLVMLinkage::LLVMInternalLinkage));
        llvm!(LLVMSetFunctionCallConv(twin, LLVMGetFunctionCallConv(original.0)));
        // Panics go through it.
        let tables = llvm!(LLVMGetEnumAttributeKindForName(c"uwtable".as_ptr(), 7));
        let attribute = llvm!(LLVMCreateEnumAttribute(self.context(), tables, 2));
        llvm!(LLVMAddAttributeAtIndex(twin, llvm_sys::LLVMAttributeFunctionIndex, attribute));
        Value(twin)
    }

    /// The first block of a function that had none.
    pub(crate) fn entry(&self, function: Value) -> Block {
        Block(llvm!(LLVMAppendBasicBlockInContext(self.context(), function.0, NO_NAME)))
    }

    pub(crate) fn null(&self) -> Value {
        Value(llvm!(LLVMConstPointerNull(self.pointer().0)))
    }

    /// As [`Module::declare`], of a function that panics may go through.
    pub(crate) fn declare_unwinding(&self, name: &str, result: Type, parameters: &[Type]) -> (Value, Type) {
        let declared = self.declare(name, result, parameters);
        declared.0.remove_attribute("nounwind");
        declared
    }

    pub(crate) fn int(&self, bits: u32) -> Type {
        Type(llvm!(LLVMIntTypeInContext(self.context(), bits)))
    }

    pub(crate) fn pointer(&self) -> Type {
        Type(llvm!(LLVMPointerTypeInContext(self.context(), 0)))
    }

    pub(crate) fn void(&self) -> Type {
        Type(llvm!(LLVMVoidTypeInContext(self.context())))
    }

    /// How many bytes a value of this type takes in memory; 0 where that is not fixed.
    pub(crate) fn size(&self, of: Type) -> u64 {
        if of.kind() == LLVMTypeKind::LLVMScalableVectorTypeKind || llvm!(LLVMTypeIsSized(of.0)) == 0 {
            return 0;
        }
        llvm!(LLVMStoreSizeOfType(LLVMGetModuleDataLayout(self.raw), of.0))
    }

    /// A function that is defined elsewhere, and neither unwinds nor needs to be known by more than its name.
    pub(crate) fn declare(&self, name: &str, result: Type, parameters: &[Type]) -> (Value, Type) {
        let mut raw: Vec<LLVMTypeRef> = parameters.iter().map(|parameter| parameter.0).collect();
        let of = llvm!(LLVMFunctionType(result.0, raw.as_mut_ptr(), raw.len() as c_uint, 0));
        let name = CString::new(name).unwrap_or_default();
        let known = llvm!(LLVMGetNamedFunction(self.raw, name.as_ptr()));
        if !known.is_null() {
            return (Value(known), Type(of));
        }
        let function = llvm!(LLVMAddFunction(self.raw, name.as_ptr(), of));
        Value(function).add_attribute(self, "nounwind");
        (Value(function), Type(of))
    }

    /// LLVM's own function that gives the address that a function returns to.
    pub(crate) fn return_address(&self) -> (Value, Type) {
        let name = "llvm.returnaddress";
        let number = llvm!(LLVMLookupIntrinsicID(name.as_ptr().cast(), name.len()));
        let mut types = vec![self.pointer().0];
        types.truncate(usize::from(llvm!(LLVMIntrinsicIsOverloaded(number)) != 0));
        let (list, count) = (types.as_mut_ptr(), types.len());
        let function = llvm!(LLVMGetIntrinsicDeclaration(self.raw, number, list, count));
        let of = llvm!(LLVMIntrinsicGetType(self.context(), number, list, count));
        (Value(function), Type(of))
    }

    /// An array of words in a section of its own; [`Module::fill`] says what is in it.
    pub(crate) fn array(&self, name: &CStr, section: &CStr, length: usize) -> Value {
        let of = llvm!(LLVMArrayType2(self.int(64).0, length as u64));
        let array = llvm!(LLVMAddGlobal(self.raw, of, name.as_ptr()));
        llvm!(LLVMSetLinkage(array, LLVMLinkage::LLVMInternalLinkage));
        llvm!(LLVMSetSection(array, section.as_ptr()));
        llvm!(LLVMSetAlignment(array, 8));
        llvm!(LLVMSetGlobalConstant(array, 1));
        Value(array)
    }

    pub(crate) fn fill(&self, array: Value, words: &[u64]) {
        let mut values: Vec<LLVMValueRef> =
            words.iter().map(|&word| self.constant(self.int(64), word).0).collect();
        let content = llvm!(LLVMConstArray2(self.int(64).0, values.as_mut_ptr(), values.len() as u64));
        llvm!(LLVMSetInitializer(array.0, content));
    }

    /// Puts a shorter array, with this content, in the place of an array. Handles of its places stay valid.
    pub(crate) fn shrink(&self, array: Value, words: &[u64]) {
        let name = array.name();
        let name = CString::new(name).unwrap_or_default();
        let section = llvm!(CStr::from_ptr(LLVMGetSection(array.0))).to_owned();
        let shorter = self.array(&name, &section, words.len().max(1));
        self.fill(shorter, if words.is_empty() { &[0] } else { words });
        llvm!(LLVMReplaceAllUsesWith(array.0, shorter.0));
        llvm!(LLVMDeleteGlobal(array.0));
    }

    /// The address of a place in such an array.
    pub(crate) fn place(&self, array: Value, index: usize) -> Value {
        let mut index = [self.constant(self.int(64), index as u64).0];
        Value(llvm!(LLVMConstInBoundsGEP2(self.int(64).0, array.0, index.as_mut_ptr(), 1)))
    }

    pub(crate) fn constant(&self, of: Type, value: u64) -> Value {
        Value(llvm!(LLVMConstInt(of.0, value, 0)))
    }

    /// Calls `function` before anything else of the program.
    pub(crate) fn call_first(&self, function: Value) {
        llvm!(reweave_plugin_constructor(self.raw, function.0));
    }
}

impl Type {
    pub(crate) fn kind(self) -> LLVMTypeKind {
        llvm!(LLVMGetTypeKind(self.0))
    }

    /// How many bits an integer has.
    pub(crate) fn bits(self) -> Option<u32> {
        (self.kind() == LLVMTypeKind::LLVMIntegerTypeKind).then(|| llvm!(LLVMGetIntTypeWidth(self.0)))
    }

    pub(crate) fn is_pointer(self) -> bool {
        self.kind() == LLVMTypeKind::LLVMPointerTypeKind
    }

    /// The lanes of a vector of fixed length, and the type of one.
    pub(crate) fn lanes(self) -> Option<(u32, Type)> {
        (self.kind() == LLVMTypeKind::LLVMVectorTypeKind)
            .then(|| (llvm!(LLVMGetVectorSize(self.0)), Type(llvm!(LLVMGetElementType(self.0)))))
    }
}

impl Block {
    pub(crate) fn instructions(self) -> Vec<Value> {
        let mut instructions = Vec::new();
        let mut next = llvm!(LLVMGetFirstInstruction(self.0));
        while !next.is_null() {
            instructions.push(Value(next));
            next = llvm!(LLVMGetNextInstruction(next));
        }
        instructions
    }

    /// The first instruction that is no alloca: what comes before has to stay at the front.
    pub(crate) fn first_after_allocas(self) -> Option<Value> {
        self.instructions().into_iter().find(|instruction| !instruction.is(Opcode::LLVMAlloca))
    }

    pub(crate) fn terminator(self) -> Option<Value> {
        let last = llvm!(LLVMGetBasicBlockTerminator(self.0));
        (!last.is_null()).then_some(Value(last))
    }

    pub(crate) fn successors(self) -> Vec<Block> {
        let Some(last) = self.terminator() else { return Vec::new() };
        let count = llvm!(LLVMGetNumSuccessors(last.0));
        (0..count).map(|place| Block(llvm!(LLVMGetSuccessor(last.0, place)))).collect()
    }
}

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
