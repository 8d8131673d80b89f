// The epilogue of a product's tile.
// SPDX-License-Identifier: Apache-2.0
#include "compiler/targets/gpu/MatmulTileEpilogue.h"
#include "compiler/targets/gpu/Reduce.h"
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
        partials.push_back({output, frame.splat(frame.initialOf(epilogue, output), lanes.count)});
    if (keepsColumns)
      keeping = partials.size();
  }
  for (const Partial &partial : ArrayRef<Partial>(partials).drop_front(keeping))
    totals.push_back(partial.neutral);
}

/// 16 bytes of the widest result, at most 8 elements, if all results have aligned vectors along their rows.
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
  const SmallVector<Type> types(
      llvm::map_range(partials, [](const Partial &partial) { return partial.neutral.type(); }));
  return std::max(cta.tiling.rows * pitch * elementBytes(cta.source.accumulator),
                  Slots::bytes(types, cta.tiling.threads()));
}

/// The number of 16-byte accesses that read the sums of a step.
int64_t MatmulTileEpilogue::partsOfStep() const { return Parts(atLanes(cta.source.accumulator, lanes.count)).count; }

/// The address of the sum at `column`, which the other sums in the same 16 bytes follow. Adjacent threads read steps of
/// several such chunks, one chunk of each step at a time. So chunks are permuted within their step by the index of the
/// 128 bytes of sums, counted in the chunk's rows, to which they belong: chunks that eight threads read at the same
/// time are then in different banks.
Emitted MatmulTileEpilogue::sumAt(Emitted row, Emitted column) const {
  const Type accumulator = cta.source.accumulator;
  const int64_t parts = partsOfStep(), inChunk = 16 / elementBytes(accumulator), inBanks = 8 * inChunk;
  if (parts == 1)
    return frame.address(shared, accumulator, row * pitch + column);
  const Emitted group = divideUnsigned(row * columns + column, row.like(inBanks)) & (parts - 1);
  return frame.address(shared, accumulator, row * pitch + (column ^ (group * inChunk)));
}

/// The sums of the step that begins at `column`.
Emitted MatmulTileEpilogue::sumsAt(Emitted row, Emitted column) const {
  const Parts parts(atLanes(cta.source.accumulator, lanes.count));
  const int64_t inPart = parts.bytes() / elementBytes(parts.type);
  Values all;
  for (int64_t part = 0; part < parts.count; ++part)
    all.push_back(frame.load(parts.type, sumAt(row, column + part * inPart), parts.bytes()));
  return join(frame, all);
}

void MatmulTileEpilogue::put(Emitted sums, Emitted row, Emitted column) const {
  const int64_t alignment = cast<VectorType>(sums.type()).getNumElements() * elementBytes(sums.type());
  frame.store(sums, sumAt(row, column), alignment);
}

/// Emits the body at the frame's index, for one step of columns: stores the results, and returns the accumulators of
/// the partial reductions.
Values MatmulTileEpilogue::finishElement(const Values &accumulators) {
  Values arguments = loadInputs(frame, epilogue, lanes);
  const size_t inputs = arguments.size();
  arguments.resize(inputs + cta.source.combiners.size());
  for (auto [partial, accumulator] : llvm::zip(partials, accumulators))
    arguments[inputs + partial.output] = accumulator;
  const Values results = emitBody(frame, epilogue, arguments, lanes);
  for (unsigned output = 0; output < cta.source.combiners.size(); ++output)
    if (cta.source.combiners[output].empty())
      storeLanes(frame, results[output], frame.storage.lookup(epilogue.getResult(output)),
                 cta.source.source.accessOf(epilogue, *epilogue.getDpsInitOperand(output)), lanes);
  return Values(llvm::map_range(partials, [&](const Partial &partial) { return results[partial.output]; }));
}

/// Emits this thread's rows at `column` of the product; the frame's column is already set.
Values MatmulTileEpilogue::finishRows(Emitted column, const Values &accumulators) {
  const int64_t lines = cta.tiling.threads() / across();
  const Emitted begin = divideUnsigned(frame.thread, frame.constant(across()));
  const Value sums = cta.source.contraction.getResult(0);
  return frame.loop(begin, cta.rows, frame.constant(lines), accumulators, [&](Emitted row, const Values &now) {
    frame.storage[sums] = {{}, cta.source.accumulator, sumsAt(row, column)};
    cta.moveTo(rowRole, cta.firstRow + row);
    return finishElement(now);
  });
}

void MatmulTileEpilogue::finishChunk(int64_t first) {
  frame.barrier();
  Values accumulators;
  for (const Partial &partial : ArrayRef<Partial>(partials).take_front(keeping))
    accumulators.push_back(partial.neutral);
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
  const ArrayRef<Partial> kept = ArrayRef<Partial>(partials).take_front(keeping);
  if (!kept.empty()) {
    accumulators.truncate(keeping);
    const Values combined = combineThreads(kept, accumulators, cta.tiling.threads() / across());
    frame.branch(isInside & (frame.thread < across()),
                 [&] { storePartials(kept, combined, cta.rowTileIndex * cta.size[columnRole] + inProduct); });
  }
  frame.barrier();
}

void MatmulTileEpilogue::finishTile() {
  const ArrayRef<Partial> others = ArrayRef<Partial>(partials).drop_front(keeping);
  if (others.empty())
    return;
  SmallVector<std::string> combiners;
  for (const Partial &partial : others)
    combiners.push_back(cta.source.combiners[partial.output]);
  const Values own = lanes.count > 0 ? combineLanes(frame, combiners, totals) : totals;
  const Values combined = combineThreads(others, own, cta.tiling.threads());
  frame.branch(equal(frame.thread, frame.thread.like(0)),
               [&] { storePartials(others, combined, cta.rowTileIndex * cta.columnTiles + cta.columnTile); });
}

/// Combines values across `lines` lines of the block's threads, a power of two, by halves. The threads of the first
/// line get the totals.
Values MatmulTileEpilogue::combineThreads(ArrayRef<Partial> which, Values own, int64_t lines) const {
  const int64_t threads = cta.tiling.threads(), width = threads / lines;
  SmallVector<std::string> combiners;
  for (const Partial &partial : which)
    combiners.push_back(cta.source.combiners[partial.output]);
  const SmallVector<Type> types(llvm::map_range(own, [](const Emitted &value) { return value.type(); }));
  const Slots slots(frame, types, threads, shared);
  for (int64_t half = lines / 2; half > 0; half /= 2) {
    frame.barrier();
    slots.write(own, frame.thread);
    frame.barrier();
    own = combineAll(frame, combiners, own, slots.read((frame.thread + half * width) & (threads - 1)));
  }
  return own;
}

/// The buffer of a partial reduction has one partial result per block, with reduced dims replaced by the tile's index:
/// [batch][row tile][column tile or column]. A row of columns has whole steps, so a step's values are aligned.
void MatmulTileEpilogue::storePartials(ArrayRef<Partial> which, ArrayRef<Emitted> values, Emitted index) const {
  for (auto [partial, value] : llvm::zip(which, values)) {
    const Emitted pointer = frame.storage.lookup(epilogue.getResult(partial.output)).pointer;
    const Emitted address = frame.address(pointer, getElementTypeOrSelf(value.type()), index);
    frame.store(value, address, Parts(value.type()).bytes());
  }
}

} // namespace halftone::compiler
