// Finishing a tile of a product.
// SPDX-License-Identifier: Apache-2.0
#include "compiler/targets/nvptx/MatmulTileEpilogue.h"
#include "mlir/IR/TypeUtilities.h"
#include <algorithm>

namespace halftone::compiler {
using namespace mlir;

MatmulTileEpilogue::MatmulTileEpilogue(const MatmulCta &cta, int64_t columns)
    : cta(cta), frame(cta.frame), epilogue(cta.source.epilogue), columns(columns), pitch(columns + 8),
      lanes(lanesOfResults()) {
  for (bool keepsColumns : {true, false}) {
    for (unsigned output = 0; output < cta.source.combiners.size(); ++output)
      if (!cta.source.combiners[output].empty() && cta.source.keepsColumns(output) == keepsColumns)
        sides.push_back({output, frame.splat(frame.initialOf(epilogue, output), lanes.count)});
    if (keepsColumns)
      keeping = sides.size();
  }
  for (const Side &side : ArrayRef<Side>(sides).drop_front(keeping))
    totals.push_back(side.neutral);
}

/// 16 bytes of the widest result, at most 8, if all results have aligned vectors along their rows.
Lanes MatmulTileEpilogue::lanesOfResults() const {
  int64_t count = 8;
  const int dim = cta.source.group[columnRole].back();
  for (auto [output, combiner] : llvm::enumerate(cta.source.combiners)) {
    if (!combiner.empty())
      continue;
    const TensorAccess access = cta.source.source.accessOf(epilogue, *epilogue.getDpsInitOperand(int64_t(output)));
    if (access.dims.empty() || access.dims.back() != dim)
      return {};
    count = std::min(count, 16 / elementBytes(getElementTypeOrSelf(epilogue.getResult(unsigned(output)).getType())));
  }
  while (count > 1 && (!cta.isMultiple(dim, count) || cta.tile.n % count != 0))
    count /= 2;
  return count > 1 ? Lanes{count, dim, {}, {}, /*isAligned=*/true} : Lanes{};
}

int64_t MatmulTileEpilogue::bytes() const {
  int64_t perThread = 0;
  for (const Side &side : sides)
    perThread += step() * elementBytes(side.neutral.type());
  return std::max(cta.tiling.rows * pitch * elementBytes(cta.source.accumulator), perThread * cta.tiling.threads());
}

Emitted MatmulTileEpilogue::sumAt(Emitted row, Emitted column) const {
  return frame.address(shared, cta.source.accumulator, row * pitch + column);
}

void MatmulTileEpilogue::put(Emitted sums, Emitted row, Emitted column) const {
  const int64_t alignment = cast<VectorType>(sums.type()).getNumElements() * elementBytes(sums.type());
  frame.store(sums, sumAt(row, column), alignment);
}

/// The body at the frame's index, a step of columns: stores the results, and returns the accumulators of the side reductions.
Values MatmulTileEpilogue::finishElement(const Values &accumulators) {
  Values arguments = loadInputs(frame, epilogue, lanes);
  const size_t inputs = arguments.size();
  arguments.resize(inputs + cta.source.combiners.size());
  for (auto [side, accumulator] : llvm::zip(sides, accumulators))
    arguments[inputs + side.output] = accumulator;
  const Values results = emitBody(frame, epilogue, arguments, lanes);
  for (unsigned output = 0; output < cta.source.combiners.size(); ++output)
    if (cta.source.combiners[output].empty())
      storeLanes(frame, results[output], frame.storage.lookup(epilogue.getResult(output)),
                 cta.source.source.accessOf(epilogue, *epilogue.getDpsInitOperand(output)), lanes);
  return Values(llvm::map_range(sides, [&](const Side &side) { return results[side.output]; }));
}

/// This thread's rows at `column` of the product, the frame's column being set.
Values MatmulTileEpilogue::finishRows(Emitted column, const Values &accumulators) {
  const int64_t lines = cta.tiling.threads() / across();
  const Emitted begin = divideUnsigned(frame.thread, frame.constant(across()));
  const Value sums = cta.source.contraction.getResult(0);
  const Type type = atLanes(cta.source.accumulator, lanes.count);
  const int64_t alignment = std::min<int64_t>(16, step() * elementBytes(type));
  return frame.loop(begin, cta.rows, frame.constant(lines), accumulators, [&](Emitted row, const Values &now) {
    frame.storage[sums] = {{}, cta.source.accumulator, frame.load(type, sumAt(row, column), alignment)};
    cta.moveTo(rowRole, cta.firstRow + row);
    return finishElement(now);
  });
}

void MatmulTileEpilogue::finishChunk(int64_t first) {
  frame.barrier();
  Values accumulators;
  for (const Side &side : ArrayRef<Side>(sides).take_front(keeping))
    accumulators.push_back(side.neutral);
  llvm::append_range(accumulators, totals);
  const Emitted column = remainderUnsigned(frame.thread, frame.constant(across())) * step();
  const Emitted inProduct = cta.firstColumn + first + column;
  const Emitted isInside = first + column < cta.columns;
  const auto finish = [&] {
    cta.moveTo(columnRole, inProduct);
    return finishRows(column, accumulators);
  };
  accumulators = frame.choose(isInside, finish, [&] { return accumulators; });
  totals = Values(ArrayRef<Emitted>(accumulators).drop_front(keeping));
  const ArrayRef<Side> kept = ArrayRef<Side>(sides).take_front(keeping);
  if (!kept.empty()) {
    accumulators.truncate(keeping);
    const Values combined = combineThreads(kept, accumulators, cta.tiling.threads() / across());
    frame.branch(isInside & (frame.thread < across()),
                 [&] { storePieces(kept, combined, cta.rowPiece * cta.size[columnRole] + inProduct); });
  }
  frame.barrier();
}

void MatmulTileEpilogue::finishTile() {
  const ArrayRef<Side> others = ArrayRef<Side>(sides).drop_front(keeping);
  if (others.empty())
    return;
  SmallVector<std::string> combiners;
  for (const Side &side : others)
    combiners.push_back(cta.source.combiners[side.output]);
  const Values own = lanes.count > 0 ? combineLanes(frame, combiners, totals) : totals;
  const Values combined = combineThreads(others, own, cta.tiling.threads());
  frame.branch(equal(frame.thread, frame.thread.like(0)),
               [&] { storePieces(others, combined, cta.rowPiece * cta.columnTiles + cta.columnTile); });
}

/// The block's threads are `lines` lines, a power of two. Those of the first line get the values of all lines combined,
/// by halves.
Values MatmulTileEpilogue::combineThreads(ArrayRef<Side> which, Values own, int64_t lines) const {
  const int64_t threads = cta.tiling.threads(), width = threads / lines;
  SmallVector<std::string> combiners;
  for (const Side &side : which)
    combiners.push_back(cta.source.combiners[side.output]);
  for (int64_t half = lines / 2; half > 0; half /= 2) {
    const Emitted partner = (frame.thread + half * width) & (threads - 1);
    const auto each = [&](llvm::function_ref<void(Emitted &, Emitted)> body) {
      int64_t begin = 0;
      for (Emitted &value : own) {
        body(value, frame.address(shared, frame.getI8Type(), frame.constant(begin)));
        begin += threads * step() * elementBytes(value.type());
      }
    };
    frame.barrier();
    each([&](Emitted &value, Emitted slots) { frame.store(value, frame.address(slots, value.type(), frame.thread)); });
    frame.barrier();
    Values others;
    each([&](Emitted &value, Emitted slots) {
      others.push_back(frame.load(value.type(), frame.address(slots, value.type(), partner)));
    });
    own = combineAll(frame, combiners, own, others);
  }
  return own;
}

/// The buffer of a side reduction holds a piece a block, reduced dims replaced by the tile's index: [batch][row
/// tile][column tile or column].
void MatmulTileEpilogue::storePieces(ArrayRef<Side> which, ArrayRef<Emitted> values, Emitted piece) const {
  for (auto [side, value] : llvm::zip(which, values)) {
    const Emitted pointer = frame.storage.lookup(epilogue.getResult(side.output)).pointer;
    frame.store(value, frame.address(pointer, getElementTypeOrSelf(value.type()), piece));
  }
}

} // namespace halftone::compiler
