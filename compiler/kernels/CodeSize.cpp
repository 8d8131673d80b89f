// The code size of bodies, computed per op, and the choice of outlined functions.
// SPDX-License-Identifier: Apache-2.0
#include "compiler/kernels/CodeSize.h"
#include "compiler/kernels/MathFunctions.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/IR/TypeUtilities.h"
#include <bit>
#include <map>

namespace halftone::compiler {
using namespace mlir;

namespace {

/// The size of an op without a vector instruction, which is emitted per lane: integer division, a load at any index.
constexpr int64_t sizeByLanes = 48;
constexpr int64_t callSize = 8; // the call, and the spills around it

int64_t codeSizeOf(Operation &op) {
  if (isa<tensor::ExtractOp, arith::DivSIOp, arith::DivUIOp, arith::RemSIOp, arith::RemUIOp>(op))
    return sizeByLanes;
  const int64_t size = expansionSize(op);
  return op.hasAttr(outlinedAttr) ? std::min(size, callSize) : size;
}

/// The common key of the ops that become calls of one function.
using FunctionKey = std::pair<StringRef, const void *>;
FunctionKey functionKeyOf(Operation &op) {
  return {op.getName().getStringRef(), getElementTypeOrSelf(op.getResult(0)).getAsOpaquePointer()};
}

} // namespace

int64_t codeSizeOf(linalg::GenericOp generic) {
  int64_t size = 0;
  for (Operation &op : generic.getBody()->without_terminator())
    size += codeSizeOf(op);
  return size;
}

int64_t boundedCopies(int64_t copies, int64_t codeSize) {
  const int64_t limit = std::max<int64_t>(maxInterleavedCode / std::max<int64_t>(codeSize, 1), 1);
  return copies <= limit ? copies : static_cast<int64_t>(std::bit_floor(static_cast<uint64_t>(limit)));
}

void outlineFunctions(func::FuncOp kernel) {
  constexpr int64_t minSize = 60, minUses = 4;
  std::map<FunctionKey, SmallVector<Operation *>> uses;
  bool isLarge = false;
  kernel.walk([&](linalg::GenericOp generic) {
    isLarge |= codeSizeOf(generic) > maxInterleavedCode;
    for (Operation &op : generic.getBody()->without_terminator())
      if (expansionSize(op) > callSize)
        uses[functionKeyOf(op)].push_back(&op);
  });
  for (const auto &[key, ops] : uses) {
    const bool isLong = expansionSize(*ops.front()) > minSize && static_cast<int64_t>(ops.size()) >= minUses;
    if (isLarge || isLong)
      for (Operation *op : ops)
        op->setAttr(outlinedAttr, UnitAttr::get(op->getContext()));
  }
}

} // namespace halftone::compiler
