//! A thin layer over LLVM's C interface: what the passes need of it, and no more.

use std::ffi::CStr;
use std::marker::PhantomData;

use llvm_sys::core::{
    LLVMAddNamedMetadataOperand, LLVMGetModuleContext, LLVMGetNamedMetadataNumOperands, LLVMMDNodeInContext2,
    LLVMMetadataAsValue,
};
use llvm_sys::prelude::{LLVMContextRef, LLVMModuleRef};

/// What a module that was instrumented has.
const MARK: &CStr = c"reweave";

/// A module that a pass runs on.
pub(crate) struct Module {
    raw: LLVMModuleRef,
    lives: PhantomData<*mut ()>,
}

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
        // SAFETY: the module lives.
        unsafe { LLVMGetModuleContext(self.raw) }
    }

    /// Whether it was instrumented before: with link-time optimisation, passes run more than once.
    pub(crate) fn is_marked(&self) -> bool {
        // SAFETY: the module lives, and the name ends with a zero.
        unsafe { LLVMGetNamedMetadataNumOperands(self.raw, MARK.as_ptr()) > 0 }
    }

    pub(crate) fn mark(&self) {
        // SAFETY: the module lives, and the name ends with a zero; a node without operands needs no array.
        unsafe {
            let node = LLVMMDNodeInContext2(self.context(), std::ptr::null_mut(), 0);
            LLVMAddNamedMetadataOperand(self.raw, MARK.as_ptr(), LLVMMetadataAsValue(self.context(), node));
        }
    }
}
