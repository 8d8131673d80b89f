// Rounds of canonicalization and chunked reductions.
// SPDX-License-Identifier: Apache-2.0
#include "Reducer.h"
#include "Reductions.h"
#include "mlir/Interfaces/FunctionInterfaces.h"
#include "mlir/Pass/PassManager.h"
#include "mlir/Reducer/Passes.h"
#include "llvm/Support/raw_ostream.h"
#include <algorithm>
#include <compare>

using namespace mlir;

namespace halftone::tools {
namespace {

/// The size of a module, the most important measure first.
struct Size {
  int64_t ops = 0, constants = 0, ports = 0, bytes = 0;
  auto operator<=>(const Size &) const = default;
};

Size sizeOf(ModuleOp module) {
  Size size;
  module.walk([&](Operation *op) {
    if (auto function = dyn_cast<FunctionOpInterface>(op))
      size.ports += function.getNumArguments() + function.getNumResults();
    else if (op->hasTrait<OpTrait::ConstantLike>())
      ++size.constants;
    else if (op != module && !op->hasTrait<OpTrait::IsTerminator>())
      ++size.ops;
  });
  std::string text;
  llvm::raw_string_ostream out(text);
  module.print(out);
  size.bytes = int64_t(text.size());
  return size;
}

class Reducer {
public:
  Reducer(OwningOpRef<ModuleOp> &module, const Probe &probe) : module(module), probe(probe), size(sizeOf(*module)) {}
  void run();

private:
  void canonicalize();
  /// Tries the reduction on each chunk of `chunk` parts, from the last to the first.
  void reduceBy(const Reduction &reduction, size_t chunk);
  bool accepts(OwningOpRef<ModuleOp> variant);

  OwningOpRef<ModuleOp> &module;
  const Probe &probe;
  Size size;
  bool needsUnused = false; // whether the failure requires ops without uses
};

void Reducer::run() {
  OwningOpRef<ModuleOp> variant = module->clone();
  eraseUnusedOps(*variant);
  needsUnused = sizeOf(*variant) < size && !accepts(std::move(variant));
  for (unsigned level = 0; probe.fault().isOk(); ++level) {
    const Size before = size;
    size_t largest = 0;
    canonicalize();
    for (const Reduction &reduction : reductions()) {
      const size_t chunk = std::max<size_t>(reduction.parts(*module).size() >> level, 1);
      largest = std::max(largest, chunk);
      reduceBy(reduction, chunk);
    }
    if (largest == 1 && size >= before)
      return;
  }
}

void Reducer::canonicalize() {
  OptReductionPassOptions options;
  options.optPass = "canonicalize,cse,symbol-dce";
  options.testerName = probe.program();
  options.testerArgs.assign(probe.arguments().begin(), probe.arguments().end());
  PassManager passes(module->getContext());
  passes.addPass(createOptReductionPass(std::move(options)));
  (void)passes.run(*module); // on failure the module is unchanged
  size = sizeOf(*module);
}

void Reducer::reduceBy(const Reduction &reduction, size_t chunk) {
  for (size_t end = reduction.parts(*module).size(); end != 0 && probe.fault().isOk();) {
    const size_t first = end > chunk ? end - chunk : 0;
    OwningOpRef<ModuleOp> variant = module->clone();
    const SmallVector<Part> parts = reduction.parts(*variant);
    reduction.apply(ArrayRef(parts).slice(first, end - first));
    if (!needsUnused)
      eraseUnusedOps(*variant);
    end = first;
    if (accepts(std::move(variant)))
      end = std::min(first, reduction.parts(*module).size()); // the reduction may have removed earlier parts too
  }
}

bool Reducer::accepts(OwningOpRef<ModuleOp> variant) {
  const Size smaller = sizeOf(*variant);
  if (smaller >= size || !probe.fails(*variant))
    return false;
  module = std::move(variant);
  size = smaller;
  return true;
}

} // namespace

int64_t countOps(ModuleOp module) {
  const Size size = sizeOf(module);
  return size.ops + size.constants;
}

void reduce(OwningOpRef<ModuleOp> &module, const Probe &probe) {
  ScopedDiagnosticHandler quiet(module->getContext(), [](Diagnostic &) { return success(); }); // of invalid variants
  Reducer(module, probe).run();
}

} // namespace halftone::tools
