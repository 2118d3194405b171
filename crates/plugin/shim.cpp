// The part that only C++ can do: registering the passes, which are written in Rust, and adding to the list of constructors.
#include "llvm-c/Core.h"
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
