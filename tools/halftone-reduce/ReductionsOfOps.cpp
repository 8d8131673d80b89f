// Replaces ops by arguments, operands and zeros, and erases them with their users.
// SPDX-License-Identifier: Apache-2.0
#include "ReductionsOfOps.h"
#include "dialect/Dialect.h"
#include "llvm/ADT/MapVector.h"
#include "llvm/ADT/SetVector.h"
#include <fmt/format.h>
#include <set>

using namespace mlir;
using namespace halftone::dialect;

namespace halftone::tools {
namespace {

/// Generates unused names for feeds and fetches of a function.
class FreshNames {
public:
  explicit FreshNames(func::FuncOp function) : function(function) {
    for (unsigned i = 0; i < function.getNumArguments(); ++i)
      add(function.getArgAttrOfType<StringAttr>(i, nameAttr));
    for (unsigned i = 0; i < function.getNumResults(); ++i)
      add(function.getResultAttrOfType<StringAttr>(i, nameAttr));
  }
  /// The attributes of a new feed or fetch; none if the function's feeds and fetches have no names.
  DictionaryAttr attributes(const char *stem) {
    Builder builder(function.getContext());
    if (names.empty() && function.getSymName() != "main")
      return builder.getDictionaryAttr({});
    std::string name;
    do
      name = fmt::format("{}{}", stem, next++);
    while (!names.insert(name).second);
    return builder.getDictionaryAttr(builder.getNamedAttr(nameAttr, builder.getStringAttr(name)));
  }

private:
  void add(StringAttr name) {
    if (name)
      names.insert(name.str());
  }

  func::FuncOp function;
  std::set<std::string> names;
  int64_t next = 0;
};

/// Collects the ops of a block and of its regions that can capture values, parents first.
void collect(Block &block, SmallVectorImpl<Part> &parts) {
  for (Operation &op : block.without_terminator()) {
    if (op.getNumResults() != 0)
      parts.push_back({&op});
    if (!op.hasTrait<OpTrait::IsIsolatedFromAbove>())
      for (Region &region : op.getRegions())
        for (Block &inner : region)
          collect(inner, parts);
  }
}

/// Returns true if the op, or an op nested in it, uses a result of one of `ops`.
bool usesAny(Operation *op, const DenseSet<Operation *> &ops) {
  return op
      ->walk([&](Operation *inner) {
        return llvm::any_of(inner->getOperands(), [&](Value value) { return ops.contains(value.getDefiningOp()); })
                   ? WalkResult::interrupt()
                   : WalkResult::advance();
      })
      .wasInterrupted();
}

void eraseWithUsers(func::FuncOp function, DenseSet<Operation *> erased) {
  Block &body = function.getBody().front();
  SmallVector<Operation *> inOrder;
  for (Operation &op : body.without_terminator())
    if (erased.contains(&op) || usesAny(&op, erased)) {
      erased.insert(&op);
      inOrder.push_back(&op);
    }
  Operation *end = body.getTerminator();
  llvm::BitVector lost(end->getNumOperands());
  for (auto [i, value] : llvm::enumerate(end->getOperands()))
    lost[i] = erased.contains(value.getDefiningOp());
  end->eraseOperands(lost);
  (void)function.eraseResults(lost);
  llvm::SetVector<Value> read; // values that remain
  for (Operation *op : inOrder)
    op->walk([&](Operation *inner) {
      for (Value value : inner->getOperands())
        if (Operation *made = value.getDefiningOp(); made && made->getBlock() == &body && !erased.contains(made))
          read.insert(value);
    });
  for (Operation *op : llvm::reverse(inOrder))
    op->erase();
  FreshNames names(function);
  for (Value value : read)
    if (value.use_empty()) {
      (void)function.insertResult(function.getNumResults(), value.getType(), names.attributes("out"));
      end->insertOperands(end->getNumOperands(), value);
    }
}

/// The elements of a constant that are spelled out; null for splats.
DenseElementsAttr elementsOf(Operation *op) {
  auto elements = op->hasTrait<OpTrait::ConstantLike>() ? op->getAttrOfType<DenseElementsAttr>("value") : nullptr;
  return elements && !elements.isSplat() && !elements.empty() ? elements : nullptr;
}

void eraseIfUnused(Operation *op) {
  if (op->use_empty())
    op->erase();
}

} // namespace

SmallVector<Part> ownOps(ModuleOp module) {
  SmallVector<Part> parts;
  for (func::FuncOp function : freeFunctions(module))
    for (Operation &op : function.getBody().front().without_terminator())
      parts.push_back({&op});
  return parts;
}

void eraseWithUsers(ArrayRef<Part> parts) {
  llvm::MapVector<Operation *, DenseSet<Operation *>> ops;
  for (const Part &part : parts)
    ops[part.op->getParentOp()].insert(part.op);
  for (auto &[function, erased] : ops)
    eraseWithUsers(cast<func::FuncOp>(function), std::move(erased));
}

SmallVector<Part> capturingOps(ModuleOp module) {
  SmallVector<Part> parts;
  for (func::FuncOp function : freeFunctions(module))
    collect(function.getBody().front(), parts);
  return parts;
}

void replaceByArgument(ArrayRef<Part> parts) {
  llvm::MapVector<Operation *, FreshNames> names;
  for (const Part &part : llvm::reverse(parts)) { // users before producers, inner ops before outer ones
    auto function = part.op->getParentOfType<func::FuncOp>();
    FreshNames &fresh = names.try_emplace(function, function).first->second;
    for (Value result : part.op->getResults())
      if (!result.use_empty()) {
        const unsigned index = function.getNumArguments();
        (void)function.insertArgument(index, result.getType(), fresh.attributes("in"), result.getLoc());
        result.replaceAllUsesWith(function.getArgument(index));
      }
    part.op->erase();
  }
}

template <unsigned index> SmallVector<Part> opsLikeOperand(ModuleOp module) {
  SmallVector<Part> parts;
  module.walk([&](Operation *op) {
    if (index < op->getNumOperands() && llvm::is_contained(op->getResultTypes(), op->getOperand(index).getType()))
      parts.push_back({op});
  });
  return parts;
}

template <unsigned index> void replaceByOperand(ArrayRef<Part> parts) {
  for (const Part &part : parts) {
    const Value operand = part.op->getOperand(index);
    for (Value result : part.op->getResults())
      if (result.getType() == operand.getType())
        result.replaceAllUsesWith(operand);
    eraseIfUnused(part.op);
  }
}

template SmallVector<Part> opsLikeOperand<0>(ModuleOp);
template SmallVector<Part> opsLikeOperand<1>(ModuleOp);
template SmallVector<Part> opsLikeOperand<2>(ModuleOp);
template void replaceByOperand<0>(ArrayRef<Part>);
template void replaceByOperand<1>(ArrayRef<Part>);
template void replaceByOperand<2>(ArrayRef<Part>);

SmallVector<Part> opsLikeZero(ModuleOp module) {
  Builder builder(module.getContext());
  SmallVector<Part> parts;
  module.walk([&](Operation *op) {
    if (op->getNumResults() != 0 && !op->hasTrait<OpTrait::ConstantLike>() &&
        llvm::all_of(op->getResultTypes(), [&](Type type) { return static_cast<bool>(builder.getZeroAttr(type)); }))
      parts.push_back({op});
  });
  return parts;
}

void replaceByZero(ArrayRef<Part> parts) {
  for (const Part &part : parts) {
    OpBuilder builder(part.op);
    for (Value result : part.op->getResults())
      if (!result.use_empty())
        if (Operation *zero = part.op->getDialect()->materializeConstant(builder, builder.getZeroAttr(result.getType()),
                                                                         result.getType(), result.getLoc()))
          result.replaceAllUsesWith(zero->getResult(0));
    eraseIfUnused(part.op);
  }
}

SmallVector<Part> writtenConstants(ModuleOp module) {
  SmallVector<Part> parts;
  module.walk([&](Operation *op) {
    if (elementsOf(op))
      parts.push_back({op});
  });
  return parts;
}

void makeSplats(ArrayRef<Part> parts) {
  for (const Part &part : parts) {
    const DenseElementsAttr elements = elementsOf(part.op);
    part.op->setAttr("value", DenseElementsAttr::get(elements.getType(), *elements.value_begin<Attribute>()));
  }
}

} // namespace halftone::tools
