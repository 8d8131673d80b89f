// outline-kernels: names kernels by their text, and merges equal ones.
// SPDX-License-Identifier: Apache-2.0
//
//   kernel loop @loop_0 (...) {...};  kernel loop @loop_1 (...) {...};  launch @loop_0(%a);  launch @loop_1(%b)
// becomes, when the bodies are equal,
//   kernel loop @loop_<hash> (...) {...};  launch @loop_<hash>(%a);  launch @loop_<hash>(%b)
#include "compiler/passes/Passes.h"
#include "compiler/reports/Ledger.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/IR/SymbolTable.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/ADT/StringMap.h"
#include "llvm/Support/xxhash.h"

using namespace mlir;
using namespace halftone::dialect;

namespace halftone::compiler {
#define GEN_PASS_DEF_OUTLINEKERNELSPASS
#include "compiler/passes/Passes.h.inc"

namespace {

/// The kernel's text without its name and without locations.
std::string textOf(KernelOp kernel) {
  StringAttr name = kernel.getSymNameAttr();
  kernel.setSymName("kernel");
  std::string text;
  llvm::raw_string_ostream out(text);
  // Without assumeVerified, print would run the verifier.
  kernel->print(out, OpPrintingFlags().useLocalScope().assumeVerified().enableDebugInfo(false));
  kernel.setSymNameAttr(name);
  return text;
}

class OutlineKernels : public impl::OutlineKernelsPassBase<OutlineKernels> {
  void runOnModule() override;
};

void OutlineKernels::runOnModule() {
  ModuleOp module = getOperation();
  auto main = module.lookupSymbol<func::FuncOp>("main");
  if (!main) {
    module.emitError("expected a function @main");
    return signalPassFailure();
  }
  DenseMap<StringAttr, KernelOp> kernels;   // by old name
  DenseMap<StringAttr, StringAttr> newName; // by old name
  llvm::StringMap<StringAttr> byText;
  DenseSet<StringAttr> taken;
  SmallVector<std::pair<KernelOp, StringAttr>> unique;
  for (auto kernel : module.getOps<KernelOp>())
    kernels[kernel.getSymNameAttr()] = kernel;
  main.walk<WalkOrder::PreOrder>([&](LaunchOp launch) {
    StringAttr &name = newName[launch.getKernelAttr().getAttr()];
    if (!name) {
      KernelOp kernel = kernels.lookup(launch.getKernelAttr().getAttr());
      keepCastLocations(launch, kernel);
      std::string text = textOf(kernel);
      StringAttr &shared = byText[text];
      if (!shared) {
        uint64_t hash = llvm::xxh3_64bits(text);
        do
          shared = StringAttr::get(&getContext(), llvm::Twine(stringifyKernelKind(kernel.getKind())) + "_" +
                                                      llvm::utohexstr(hash++, /*LowerCase=*/true, /*Width=*/16));
        while (!taken.insert(shared).second);
        unique.push_back({kernel, shared});
      }
      name = shared;
    }
    launch.setKernelAttr(FlatSymbolRefAttr::get(name));
  });
  for (auto [kernel, name] : unique) {
    kernels.erase(kernel.getSymNameAttr());
    kernel.setSymNameAttr(name);
    kernel->moveBefore(main);
  }
  for (auto [name, kernel] : kernels)
    kernel.erase();
}

} // namespace
} // namespace halftone::compiler
