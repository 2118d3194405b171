// The part that only C++ can do: registering the passes, which are written in Rust, adding to the list of constructors, and
// what LLVM's C interface answers differently from one version to the next.
#include "llvm-c/Core.h"
#include "llvm/IR/Instructions.h"
#include "llvm/IR/Module.h"
#include "llvm/IR/PassManager.h"
#include "llvm/Passes/PassBuilder.h"
#include "llvm/Transforms/Utils/ModuleUtils.h"
using namespace llvm;

extern "C" int reweave_plugin_start(LLVMModuleRef);
extern "C" int reweave_plugin_last(LLVMModuleRef);

namespace {
template <int (*Run)(LLVMModuleRef)> struct RustPass : PassInfoMixin<RustPass<Run>> {
  PreservedAnalyses run(Module &M, ModuleAnalysisManager &) {
    return Run(wrap(&M)) ? PreservedAnalyses::none() : PreservedAnalyses::all();
  }
  static bool isRequired() { return true; }
};
} // namespace

extern "C" void reweave_plugin_register(PassBuilder &PB) {
  PB.registerPipelineStartEPCallback(
      [](ModulePassManager &MPM, auto...) { MPM.addPass(RustPass<reweave_plugin_start>()); });
  PB.registerOptimizerLastEPCallback(
      [](ModulePassManager &MPM, auto...) { MPM.addPass(RustPass<reweave_plugin_last>()); });
}

extern "C" void reweave_plugin_constructor(LLVMModuleRef M, LLVMValueRef F) {
  appendToGlobalCtors(*unwrap(M), cast<Function>(unwrap(F)), 0);
}

// The value of the case that leads to a successor of a switch. C has this since LLVM 22, whose switches hold it apart.
extern "C" LLVMValueRef reweave_plugin_case(LLVMValueRef I, unsigned Successor) {
  auto Case = cast<SwitchInst>(unwrap(I))->case_begin() + (Successor - 1);
  return wrap(Case->getCaseValue());
}

// C's function reads the wrong bytes of loads, stores and fences before LLVM 20.
extern "C" LLVMBool reweave_plugin_one_thread(LLVMValueRef I) {
  auto Scope = getAtomicSyncScopeID(cast<Instruction>(unwrap(I)));
  return Scope && *Scope == SyncScope::SingleThread;
}

// The declarations that we use are those of LLVM 22, which has no kind for MMX: it is taken for another that is opaque.
extern "C" LLVMTypeKind reweave_plugin_type_kind(LLVMTypeRef T) {
#if LLVM_VERSION_MAJOR < 20
  if (unwrap(T)->isX86_MMXTy())
    return LLVMX86_AMXTypeKind;
#endif
  return LLVMGetTypeKind(T);
}
