// Creates the functions of matmul cores, and addresses their sums.
// SPDX-License-Identifier: Apache-2.0
#include "compiler/targets/cpu/matmul/SumsCode.h"
#include "compiler/targets/cpu/KernelPasses.h"
#include "mlir/AsmParser/AsmParser.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"

namespace halftone::compiler {
using namespace mlir;

SumsCode::SumsCode(ModuleOp module, std::string_view accumulator, int64_t lanes, int64_t vectors)
    : CodeBuilder(module.getLoc(), module.getContext()), element(parseType(accumulator, module.getContext())),
      lanes(VectorType::get(lanes, element)), vectors(vectors) {
  setInsertionPointToEnd(module.getBody());
}

Values SumsCode::start(const std::string &symbol, TypeRange arguments, TypeRange results, bool hasManyPointers) {
  auto function = func::FuncOp::create(*this, symbol, getFunctionType(arguments, results));
  if (hasManyPointers)
    markManyPointers(function);
  Block *entry = function.addEntryBlock();
  setInsertionPointToStart(entry);
  return wrapAll(*this, entry->getArguments());
}

Values SumsCode::loadRows(int64_t count, Emitted first) {
  Values all;
  for (int64_t line = 0; line < count; ++line)
    for (int64_t vector = 0; vector < vectors; ++vector)
      all.push_back(load(lanes, addressOf(first, line, vector)));
  return all;
}

void SumsCode::storeRows(const Values &all, Emitted first) {
  for (const auto &[position, sum] : llvm::enumerate(all)) {
    const auto [line, vector] = std::div(int64_t(position), vectors);
    store(sum, addressOf(first, line, vector));
  }
}

} // namespace halftone::compiler
