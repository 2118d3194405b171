//! A thin layer over LLVM's C interface: what the passes need of it, and no more.
//!
//! Handles are plain copies of LLVM's own pointers. They are valid as long as what they stand for is in its module: whoever
//! erases an instruction must not use its handle afterwards, which is why only [`Value::replace_with`] erases.

use std::ffi::{CStr, CString, c_char, c_uint};
use std::marker::PhantomData;

use llvm_sys::core::*;
use llvm_sys::prelude::{
    LLVMBasicBlockRef, LLVMBool, LLVMBuilderRef, LLVMContextRef, LLVMModuleRef, LLVMTypeRef, LLVMValueRef,
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

mod cursor;
mod value;

pub(crate) use cursor::Cursor;

// What the C interface lacks, or answers differently from one version of LLVM to the next:
// `shim.cpp` has it from the C++ one.
unsafe extern "C" {
    fn reweave_plugin_constructor(module: LLVMModuleRef, function: LLVMValueRef);
    pub(crate) fn reweave_plugin_case(switch: LLVMValueRef, successor: c_uint) -> LLVMValueRef;
    pub(crate) fn reweave_plugin_one_thread(instruction: LLVMValueRef) -> LLVMBool;
    pub(crate) fn reweave_plugin_type_kind(kind: LLVMTypeRef) -> LLVMTypeKind;
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
        llvm!(reweave_plugin_type_kind(self.0))
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
