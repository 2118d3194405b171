//! The compiler plugin: an LLVM pass that makes a program tell what it reads and writes, with
//! values, and where it branches.
//!
//! The library is built once for each LLVM, 22 and 19: the first is loaded by clang 22
//! (`-fpass-plugin=`) and by rustc 1.95 (`-Zllvm-plugins=`), the other by clang 19. It runs twice
//! per module: first of all, before anything is inlined ([`rust_std`]), and last of all, when the
//! code is what will run ([`instrument`], [`branches`]); there it also leaves the program's table
//! ([`table`]). LLVM itself is reached through [`ir`] only.
//!
//! **Invariants.** Nothing unwinds into LLVM: a panic ends the compilation with a message. A module
//! is instrumented once, however often the pass is run on it. The output depends on the module
//! alone.
//!
//! Where LLVM's headers were missing at build time, the library is empty, and no compiler loads it.
#![cfg(any(reweave_llvm = "22", reweave_llvm = "19"))]

mod assembly;
mod branches;
mod calls;
mod escape;
mod hooks;
mod instrument;
mod interposed;
mod ir;
mod rust_std;
mod table;
mod traps;

use std::ffi::{c_char, c_void};
use std::panic::{AssertUnwindSafe, catch_unwind};

use llvm_sys::prelude::LLVMModuleRef;

use crate::ir::Module;

/// What LLVM calls the version of its interface for plugins.
const API_VERSION: u32 = if cfg!(reweave_llvm = "22") { 2 } else { 1 };

/// LLVM's `PassPluginLibraryInfo`.
#[repr(C)]
pub struct Info {
    api: u32,
    name: *const c_char,
    version: *const c_char,
    register: unsafe extern "C" fn(*mut c_void),
    // A compiler with LLVM 19 has no room for it.
    #[cfg(reweave_llvm = "22")]
    before_code: *const c_void,
}

unsafe extern "C" {
    fn reweave_plugin_register(builder: *mut c_void);
}

/// What a compiler asks a plugin for.
// SAFETY: LLVM looks for this very name, and for a function of this shape.
#[unsafe(no_mangle)]
pub extern "C" fn llvmGetPassPluginInfo() -> Info {
    Info {
        api: API_VERSION,
        name: c"reweave".as_ptr(),
        version: concat!(env!("CARGO_PKG_VERSION"), "\0").as_ptr().cast(),
        register: reweave_plugin_register,
        #[cfg(reweave_llvm = "22")]
        before_code: std::ptr::null(),
    }
}

/// Runs before any other pass; whether the module changed.
// SAFETY: only the shim of this library calls it, with a module.
#[unsafe(no_mangle)]
pub extern "C" fn reweave_plugin_start(module: LLVMModuleRef) -> i32 {
    run(module, |module| {
        rust_std::before_inlining(module);
        // Reads stay where the source has them: else a compiler reads early what the source reads only in some case, which
        // is a race of the code but not of the program.
        for function in module.functions() {
            function.add_attribute(module, "sanitize_thread");
        }
        true
    })
}

/// Runs after all other passes; whether the module changed.
// SAFETY: only the shim of this library calls it, with a module.
#[unsafe(no_mangle)]
pub extern "C" fn reweave_plugin_last(module: LLVMModuleRef) -> i32 {
    run(module, |module| {
        if module.is_marked() || !module.is_for_x86_64() {
            return false;
        }
        module.mark();
        instrument::module(module);
        true
    })
}

fn run(module: LLVMModuleRef, pass: impl FnOnce(&Module) -> bool) -> i32 {
    // SAFETY: LLVM hands out a module that lives as long as the pass runs.
    let module = unsafe { Module::new(module) };
    match catch_unwind(AssertUnwindSafe(|| pass(&module))) {
        Ok(changed) => i32::from(changed),
        Err(_) => {
            eprintln!("error: reweave's compiler plugin is wrong about this module; please report it");
            std::process::exit(70)
        }
    }
}
