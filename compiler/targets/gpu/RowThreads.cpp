// The choice of a row kernel's threads.
// SPDX-License-Identifier: Apache-2.0
#include "compiler/targets/gpu/RowThreads.h"
#include "compiler/kernels/CodeBuilder.h"
#include "compiler/targets/Blocking.h"
#include "compiler/targets/gpu/GridFrame.h"
#include "mlir/IR/TypeUtilities.h"
#include "llvm/ADT/DenseSet.h"
#include "llvm/Support/MathExtras.h"
#include <algorithm>

namespace halftone::compiler {
using namespace mlir;

namespace {

constexpr int64_t plainThreads = 256, longThreads = 512;
constexpr int64_t maxSteps = 4, vectorBytes = 16;

/// The facts on which the threads of a row kernel depend.
struct RowFacts {
  int64_t widest = 1;       // bytes per element of an operand or result along the rows
  int64_t registers = 0;    // of 4 bytes, per element of a row, with all its tensors held
  bool hasRowSides = false; // a partial reduction keeps outer dims: each element of its partial result has one thread
};

RowFacts factsOf(const KernelSource &source) {
  RowFacts facts;
  llvm::SmallDenseSet<Value> seen;
  for (linalg::GenericOp generic : source.generics)
    for (OpOperand &operand : generic->getOpOperands()) {
      const TensorAccess access = source.accessOf(generic, operand);
      const bool isOutput = generic.isDpsInit(&operand);
      const Value tensor = isOutput ? Value(generic.getTiedOpResult(&operand)) : operand.get();
      const bool isPartial = isOutput && !source.formOf(tensor).partial.empty();
      const int64_t outerDims =
          llvm::count_if(access.dims, [&](int dim) { return dim >= 0 && dim < source.form.outer; });
      facts.hasRowSides |= isPartial && outerDims > 0;
      if (llvm::none_of(access.dims, [&](int dim) { return dim >= source.form.outer; }) || !seen.insert(tensor).second)
        continue;
      const int64_t bytes = elementBytes(getElementTypeOrSelf(tensor));
      if (isa<BlockArgument>(tensor) || (llvm::is_contained(source.results(), tensor) && !isPartial))
        facts.widest = std::max(facts.widest, bytes);
      facts.registers += std::max<int64_t>(1, bytes / 4);
    }
  return facts;
}

} // namespace

RowTile chooseRowTile(const KernelSource &source, ArrayRef<int64_t> extents) {
  const RowFacts facts = factsOf(source);
  const ArrayRef<int64_t> inner = extents.take_front(source.dims).drop_front(source.form.outer);
  int64_t columns = 1;
  for (const int64_t extent : inner)
    columns *= extent;
  RowTile tile{1, longThreads, std::min(maxVector, vectorBytes / facts.widest), 0};
  while (!inner.empty() && inner.back() % tile.vector != 0)
    tile.vector /= 2;
  if (source.form.kind == dialect::KernelKind::finish) {
    tile.vector = 1; // its rows have several extents
    return tile;
  }
  const int64_t vectors = std::max<int64_t>(1, ceilDivide(columns, tile.vector));
  const auto threadsFor = [&](int64_t maxVectors) {
    return std::max(warpLanes, int64_t(llvm::PowerOf2Ceil(uint64_t(ceilDivide(vectors, maxVectors)))));
  };
  // A thread of a large block has few registers.
  const int64_t across = threadsFor(maxSteps) <= plainThreads ? threadsFor(maxSteps) : threadsFor(maxSteps / 2);
  const int64_t steps = ceilDivide(vectors, across);
  // The row may use half of a thread's registers.
  const int64_t threads = std::max(across, plainThreads), ofThread = std::min<int64_t>(255, 65536 / threads);
  if (across > maxRowThreads || 2 * steps * tile.vector * facts.registers > ofThread)
    return tile;
  return {facts.hasRowSides ? 1 : threads / across, across, tile.vector, steps};
}

} // namespace halftone::compiler
