// Emits the code of math cores.
// SPDX-License-Identifier: Apache-2.0
#include "compiler/kernels/MathCores.h"
#include "compiler/kernels/NarrowFloat.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/IR/TypeUtilities.h"
#include <fmt/format.h>

namespace halftone::compiler {
using namespace mlir;

namespace {

/// Adds the function `symbol` to `module`, which returns the values that `compute` emits from its arguments.
void emitFunction(ModuleOp module, StringRef symbol, TypeRange types,
                  llvm::function_ref<SmallVector<Value>(ImplicitLocOpBuilder &, ValueRange)> compute) {
  ImplicitLocOpBuilder builder(module.getLoc(), module.getContext());
  builder.setInsertionPointToEnd(module.getBody());
  auto function = func::FuncOp::create(builder, symbol, builder.getFunctionType(types, {}));
  Block *entry = function.addEntryBlock();
  builder.setInsertionPointToStart(entry);
  const SmallVector<Value> results = compute(builder, entry->getArguments());
  func::ReturnOp::create(builder, results);
  function.setType(builder.getFunctionType(types, TypeRange(ValueRange(results))));
}

VectorType vectorType(Type element, int64_t lanes) { return VectorType::get(lanes, element); }

} // namespace

Core mathCore(Operation *op) {
  const Type type = op->getResult(0).getType();
  const auto vector = dyn_cast<VectorType>(type);
  const int64_t lanes = vector ? vector.getNumElements() : 1;
  const unsigned operands = op->getNumOperands(), width = getElementTypeOrSelf(type).getIntOrFloatBitWidth();
  const std::string name = op->getName().getStringRef().str(), function = op->getName().stripDialect().str();
  std::string symbol =
      fmt::format("{}{}_{}f{}", Core::prefix.str(), function, vector ? fmt::format("{}x", lanes) : "", width);
  const auto emit = [=, isVector = bool(vector), symbol = symbol](ModuleOp module) {
    Builder types(module);
    const Type element = width == 32 ? Type(types.getF32Type()) : Type(types.getF64Type());
    const Type own = isVector ? Type(vectorType(element, lanes)) : element;
    emitFunction(module, symbol, SmallVector<Type>(operands, own), [&](ImplicitLocOpBuilder &builder, ValueRange x) {
      OperationState state(builder.getLoc(), name, x, own);
      return llvm::to_vector_of<Value>(builder.insert(Operation::create(state))->getResults());
    });
  };
  return {std::move(symbol), fmt::format("{} of {} lanes", function, lanes), emit};
}

Core roundingCore(int64_t lanes, int64_t count) {
  std::string symbol = fmt::format("{}rounds_{}x{}xf32_to_bf16", Core::prefix.str(), count, lanes);
  const auto emit = [=, symbol = symbol](ModuleOp module) {
    const Type type = vectorType(Float32Type::get(module.getContext()), lanes);
    emitFunction(module, symbol, SmallVector<Type>(count, type), [&](ImplicitLocOpBuilder &builder, ValueRange x) {
      return llvm::map_to_vector(x, [&](Value value) { return bitsOfBf16(Emitted(builder, value)).value(); });
    });
  };
  return {std::move(symbol), fmt::format("{} lanes in integers", count * lanes), emit};
}

} // namespace halftone::compiler
