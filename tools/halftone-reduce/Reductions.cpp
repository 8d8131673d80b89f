// The table of reductions, and the reductions of functions, symbols, effects and attributes.
// SPDX-License-Identifier: Apache-2.0
#include "Reductions.h"
#include "ReductionsOfLoops.h"
#include "ReductionsOfOps.h"
#include "ReductionsOfScopes.h"
#include "dialect/Dialect.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/IR/Iterators.h"
#include "llvm/ADT/MapVector.h"

using namespace mlir;
using namespace halftone::dialect;

namespace halftone::tools {

DenseSet<StringAttr> usedSymbols(ModuleOp module) {
  DenseSet<StringAttr> used;
  if (std::optional<SymbolTable::UseRange> uses = SymbolTable::getSymbolUses(&module.getBodyRegion()))
    for (const SymbolTable::SymbolUse &use : *uses)
      used.insert(use.getSymbolRef().getLeafReference());
  return used;
}

SmallVector<func::FuncOp> freeFunctions(ModuleOp module) {
  const DenseSet<StringAttr> used = usedSymbols(module);
  SmallVector<func::FuncOp> functions;
  for (auto function : module.getOps<func::FuncOp>())
    if (function.getBody().hasOneBlock() && !used.contains(function.getSymNameAttr()))
      functions.push_back(function);
  return functions;
}

namespace {

/// Groups the indices of parts by op.
llvm::MapVector<Operation *, llvm::BitVector> byOp(ArrayRef<Part> parts, function_ref<unsigned(Operation *)> count) {
  llvm::MapVector<Operation *, llvm::BitVector> indices;
  for (const Part &part : parts) {
    llvm::BitVector &bits = indices[part.op];
    bits.resize(count(part.op));
    bits.set(part.index);
  }
  return indices;
}

SmallVector<Part> fetches(ModuleOp module) {
  SmallVector<Part> parts;
  for (func::FuncOp function : freeFunctions(module))
    for (unsigned i = 0; i < function.getNumResults(); ++i)
      parts.push_back({function, i});
  return parts;
}
void dropFetches(ArrayRef<Part> parts) {
  for (auto &[op, indices] : byOp(parts, [](Operation *op) { return cast<func::FuncOp>(op).getNumResults(); })) {
    auto function = cast<func::FuncOp>(op);
    function.getBody().front().getTerminator()->eraseOperands(indices);
    (void)function.eraseResults(indices);
  }
}

SmallVector<Part> unusedFeeds(ModuleOp module) {
  SmallVector<Part> parts;
  for (func::FuncOp function : freeFunctions(module))
    for (BlockArgument argument : function.getArguments())
      if (argument.use_empty())
        parts.push_back({function, argument.getArgNumber()});
  return parts;
}
void dropFeeds(ArrayRef<Part> parts) {
  for (auto &[op, indices] : byOp(parts, [](Operation *op) { return cast<func::FuncOp>(op).getNumArguments(); }))
    (void)cast<func::FuncOp>(op).eraseArguments(indices);
}

SmallVector<Part> unusedSymbols(ModuleOp module) {
  const DenseSet<StringAttr> used = usedSymbols(module);
  SmallVector<Part> parts;
  for (Operation &op : *module.getBody())
    if (auto symbol = dyn_cast<SymbolOpInterface>(op); symbol && !used.contains(symbol.getNameAttr()))
      if (symbol.getName() != "main")
        parts.push_back({&op});
  return parts;
}

SmallVector<Part> effects(ModuleOp module) {
  SmallVector<Part> parts;
  module.walk([&](Operation *op) {
    if (op != module && op->getNumResults() == 0 && !op->hasTrait<OpTrait::IsTerminator>() &&
        !isa<SymbolOpInterface>(op))
      parts.push_back({op});
  });
  return parts;
}
void erase(ArrayRef<Part> parts) {
  for (const Part &part : parts)
    part.op->erase();
}

SmallVector<Part> attributes(ModuleOp module) {
  SmallVector<Part> parts;
  module.walk([&](Operation *op) {
    for (unsigned i = 0; i < op->getDiscardableAttrDictionary().size(); ++i)
      parts.push_back({op, i});
  });
  return parts;
}
void dropAttributes(ArrayRef<Part> parts) {
  for (auto &[op, indices] :
       byOp(parts, [](Operation *op) { return unsigned(op->getDiscardableAttrDictionary().size()); })) {
    SmallVector<NamedAttribute> kept;
    for (auto [i, attribute] : llvm::enumerate(op->getDiscardableAttrDictionary()))
      if (!indices.test(i))
        kept.push_back(attribute);
    op->setDiscardableAttrs(kept);
  }
}

} // namespace

ArrayRef<Reduction> reductions() {
  static constexpr Reduction all[] = {
      {fetches, dropFetches},
      {effects, erase},
      {ownOps, eraseWithUsers},
      {layers, inlineLayers},
      {conditions, takeFirst},
      {conditions, takeSecond},
      {loops, takeStep},
      {carries, replaceByInit},
      {unusedStacks, dropStacks},
      {unusedSlices, dropSlices},
      {capturingOps, replaceByArgument},
      {opsLikeOperand<0>, replaceByOperand<0>},
      {opsLikeOperand<1>, replaceByOperand<1>},
      {opsLikeOperand<2>, replaceByOperand<2>},
      {opsLikeZero, replaceByZero},
      {writtenConstants, makeSplats},
      {unusedFeeds, dropFeeds},
      {unusedSymbols, erase},
      {attributes, dropAttributes},
  };
  return all;
}

void eraseUnusedOps(ModuleOp module) {
  module.walk<WalkOrder::PostOrder, ReverseIterator>([](Operation *op) { // users before producers
    if (isOpTriviallyDead(op))
      op->erase();
  });
}

} // namespace halftone::tools
