//! What the table needs of LLVM's C interface.
//!
//! All handles come from the module that a [`super::Draft`] is made of, which lives and is not changed meanwhile. LLVM's functions
//! are called through one macro, so that this is said once.

use std::ffi::{CStr, CString, c_char};

use llvm_sys::LLVMLinkage;
use llvm_sys::core::*;
use llvm_sys::debuginfo::{LLVMDIFileGetDirectory, LLVMDIFileGetFilename};
use llvm_sys::prelude::*;

use crate::ir::Module;

/// Asks LLVM something.
macro_rules! ask {
    ($function:ident($($argument:expr),* $(,)?)) => {
        // SAFETY: every handle is one of the module that is described, which lives, and of the kind that the function is for.
        unsafe { $function($($argument),*) }
    };
}
pub(super) use ask;

/// Text of LLVM's: `length` bytes from `start`.
pub(super) fn text(start: *const c_char, length: usize) -> String {
    if start.is_null() || length == 0 {
        return String::new();
    }
    // SAFETY: LLVM gives a start and a length of text that lives as long as what it is the name of.
    let bytes = unsafe { std::slice::from_raw_parts(start.cast::<u8>(), length) };
    String::from_utf8_lossy(bytes).into_owned()
}

/// Text of LLVM's that ends with a zero.
pub(super) fn text_to_zero(start: *const c_char) -> String {
    if start.is_null() {
        return String::new();
    }
    // SAFETY: LLVM ends such text with a zero.
    unsafe { CStr::from_ptr(start) }.to_string_lossy().into_owned()
}

/// The name of a global.
pub(super) fn name(value: LLVMValueRef) -> String {
    let mut length = 0;
    let start = ask!(LLVMGetValueName2(value, &mut length));
    text(start, length)
}

/// What a value looks like in LLVM's text.
pub(super) fn printed(value: LLVMValueRef) -> String {
    let start = ask!(LLVMPrintValueToString(value));
    let printed = text_to_zero(start);
    ask!(LLVMDisposeMessage(start));
    printed
}

/// The text and the constraints of inline assembly.
pub(super) fn assembly(value: LLVMValueRef) -> String {
    let (mut length, mut more) = (0, 0);
    let start = ask!(LLVMGetInlineAsmAsmString(value, &mut length));
    let constraints = ask!(LLVMGetInlineAsmConstraintString(value, &mut more));
    format!("{} : {}", text(start, length), text(constraints, more))
}

/// The folder and the name of a source file.
pub(super) fn file(file: LLVMMetadataRef) -> (String, String) {
    let (mut length, mut more) = (0, 0);
    let folder = ask!(LLVMDIFileGetDirectory(file, &mut length));
    let name = ask!(LLVMDIFileGetFilename(file, &mut more));
    (text(folder, length as usize), text(name, more as usize))
}

/// The operands of a node of metadata.
pub(super) fn node(context: LLVMContextRef, node: LLVMMetadataRef) -> Vec<LLVMValueRef> {
    let value = ask!(LLVMMetadataAsValue(context, node));
    let mut operands = vec![std::ptr::null_mut(); ask!(LLVMGetMDNodeNumOperands(value)) as usize];
    ask!(LLVMGetMDNodeOperands(value, operands.as_mut_ptr()));
    operands
}

/// A string of metadata; empty where there is none.
pub(super) fn metadata_text(value: LLVMValueRef) -> String {
    if value.is_null() {
        return String::new();
    }
    let mut length = 0;
    let start = ask!(LLVMGetMDString(value, &mut length));
    text(start, length as usize)
}

/// Those of a list that LLVM gives one after another.
pub(super) fn each<T>(
    first: *mut T,
    next: unsafe extern "C" fn(*mut T) -> *mut T,
) -> impl Iterator<Item = *mut T> {
    let some = |item: *mut T| (!item.is_null()).then_some(item);
    // SAFETY: `next` is the function for the list that the item is in, whose module lives.
    std::iter::successors(some(first), move |&item| some(unsafe { next(item) }))
}

/// The operands of an instruction or constant.
pub(super) fn operands(value: LLVMValueRef) -> impl Iterator<Item = LLVMValueRef> {
    let count = ask!(LLVMGetNumOperands(value)).max(0) as u32;
    (0..count).map(move |operand| ask!(LLVMGetOperand(value, operand)))
}

/// Adds `bytes` to the module, in a section of its own that no linker drops.
pub(super) fn add_section(module: &Module, section: &str, bytes: &[u8]) {
    let (raw, context) = (module.raw(), module.context());
    let Ok(section) = CString::new(section) else { return };
    let content = ask!(LLVMConstStringInContext2(context, bytes.as_ptr().cast(), bytes.len(), 1));
    let global = ask!(LLVMAddGlobal(raw, LLVMTypeOf(content), section.as_ptr()));
    ask!(LLVMSetInitializer(global, content));
    ask!(LLVMSetGlobalConstant(global, 1));
    ask!(LLVMSetLinkage(global, LLVMLinkage::LLVMPrivateLinkage));
    ask!(LLVMSetSection(global, section.as_ptr()));
    ask!(LLVMSetAlignment(global, 8));
    keep(module, global);
}

/// Adds a global to those that compilers and linkers keep.
fn keep(module: &Module, global: LLVMValueRef) {
    let (raw, list) = (module.raw(), c"llvm.used");
    let mut kept = Vec::new();
    let old = ask!(LLVMGetNamedGlobal(raw, list.as_ptr()));
    if !old.is_null() {
        kept.extend(operands(ask!(LLVMGetInitializer(old))));
        ask!(LLVMDeleteGlobal(old));
    }
    kept.push(global);
    let pointer = ask!(LLVMPointerTypeInContext(module.context(), 0));
    let content = ask!(LLVMConstArray2(pointer, kept.as_mut_ptr(), kept.len() as u64));
    let new = ask!(LLVMAddGlobal(raw, LLVMTypeOf(content), list.as_ptr()));
    ask!(LLVMSetInitializer(new, content));
    ask!(LLVMSetLinkage(new, LLVMLinkage::LLVMAppendingLinkage));
    ask!(LLVMSetSection(new, c"llvm.metadata".as_ptr()));
}
