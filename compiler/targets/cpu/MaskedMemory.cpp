// Emits the code of cores that load and store some lanes of a vector.
// SPDX-License-Identifier: Apache-2.0
//
// LLVM expands these accesses to one branch per lane.
#include "compiler/targets/cpu/MaskedMemory.h"
#include "compiler/kernels/CodeBuilder.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/Dialect/LLVMIR/LLVMTypes.h"
#include <fmt/format.h>

namespace halftone::compiler {
using namespace mlir;

/// A core named for the lanes of `type`, which are integers in its function. `compute` emits the function's body from
/// its arguments and returns the results.
static Core coreOf(StringRef verb, VectorType type, bool stores,
                   Values (*compute)(CodeBuilder &, const Values &, VectorType)) {
  const int64_t lanes = type.getNumElements();
  const unsigned width = type.getElementTypeBitWidth();
  std::string symbol = fmt::format("{}{}_{}xi{}", Core::prefix.str(), verb.str(), lanes, width);
  const auto emit = [=, symbol = symbol](ModuleOp module) {
    CodeBuilder code(module.getLoc(), module.getContext());
    code.setInsertionPointToEnd(module.getBody());
    const auto lanesOf = [&](unsigned bits) { return VectorType::get(lanes, code.getIntegerType(bits)); };
    const VectorType vector = lanesOf(width);
    SmallVector<Type> arguments{LLVM::LLVMPointerType::get(code.getContext()), lanesOf(1)}, results;
    (stores ? arguments : results).push_back(vector);
    auto function = func::FuncOp::create(code, symbol, code.getFunctionType(arguments, results));
    code.setInsertionPointToStart(function.addEntryBlock());
    func::ReturnOp::create(code, plain(compute(code, wrapAll(code, function.getArguments()), vector)));
  };
  return {std::move(symbol), "one branch per lane", emit};
}

Core maskedLoadCore(VectorType type) {
  return coreOf("loads", type, /*stores=*/false, [](CodeBuilder &code, const Values &arguments, VectorType vector) {
    return Values{code.loadMasked(vector, arguments[0], arguments[1])};
  });
}

Core maskedStoreCore(VectorType type) {
  return coreOf("stores", type, /*stores=*/true, [](CodeBuilder &code, const Values &arguments, VectorType) {
    code.storeMasked(arguments[2], arguments[0], arguments[1]);
    return Values();
  });
}

} // namespace halftone::compiler
