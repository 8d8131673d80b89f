// The epilogue of a matmul's tile.
// SPDX-License-Identifier: Apache-2.0
#include "compiler/targets/cpu/matmul/MatmulEpilogue.h"
#include "compiler/kernels/CodeSize.h"
#include "compiler/kernels/Combiner.h"
#include "compiler/kernels/LongSums.h"
#include "mlir/Dialect/Vector/IR/VectorOps.h"
#include "mlir/IR/TypeUtilities.h"

namespace halftone::compiler {
using namespace mlir;

/// The prefetch distance for results, in rows: some hundred nanoseconds, in which another core releases the lines.
static constexpr int64_t rowsAhead = 8;

MatmulEpilogue::MatmulEpilogue(const MatmulBlock &block, const MatmulAccess &access)
    : block(block), access(access), frame(block.frame), plan(block.plan), epilogue(plan.epilogue) {
  for (unsigned output = 0; output < plan.combiners.size(); ++output)
    if (!plan.combiners[output].empty())
      partials.push_back({output, plan.keepsColumns(output), block.splat(frame.initialOf(epilogue, output))});
}

void MatmulEpilogue::emit() const {
  if (partials.empty())
    emitResults();
  else
    emitPartialReductions();
}

void MatmulEpilogue::emitResults() const {
  const int64_t lanes = block.sizes.lanes;
  const Emitted zero = frame.constant(0), wholeEnd = block.wholeOf(block.columns, lanes);
  const Emitted begin = plan.sumsAreResult ? block.wholeOf(block.columns, block.sizes.columns()) : zero;
  frame.loop(zero, block.rows, frame.constant(1), [&](Emitted row) {
    frame.loop(begin, wholeEnd, frame.constant(lanes), [&](Emitted column) {
      prefetchResults(minimum(row + rowsAhead, block.rows - 1), column);
      emitLanes(row, column, LanesInside::all, {});
    });
    frame.loop(wholeEnd, block.columns, frame.constant(lanes),
               [&](Emitted column) { emitLanes(row, column, LanesInside::notAll, {}); });
  });
}

/// Iterates over columns outermost, one panel at a time: sums over rows stay in registers, and cache lines that the
/// lanes of a row share are read once. Reductions that keep N are stored after each panel, the others last. With a
/// large body, a panel is one vector.
void MatmulEpilogue::emitPartialReductions() const {
  const Emitted zero = frame.constant(0), panels = block.wholeOf(block.columns, block.sizes.columns());
  Values totals;
  for (const Partial &partial : partials)
    totals.push_back(partial.neutral);
  const auto along = [&](Emitted begin, Emitted end, int64_t vectors) {
    const Emitted step = frame.constant(vectors * block.sizes.lanes);
    totals = frame.loop(begin, end, step, totals, [&](Emitted column, const Values &carried) {
      return reduceColumns({column, vectors, vectors > 1 ? LanesInside::all : LanesInside::unknown}, carried);
    });
  };
  if (block.sizes.vectors * codeSizeOf(epilogue) <= maxInterleavedCode) {
    along(zero, panels, block.sizes.vectors);
    along(panels, block.columns, 1);
  } else {
    along(zero, block.columns, 1);
  }
  storeTotals(totals);
}

/// Returns the accumulators that do not keep N; `carried` holds those of the preceding columns.
Values MatmulEpilogue::reduceColumns(const Columns &columns, const Values &carried) const {
  // First, each vector has a slot for each partial reduction, used by those that keep N. Then all vectors together have
  // one slot for each, used by the others.
  const auto slotOf = [&](size_t partial, int64_t vector) {
    return size_t(partials[partial].keepsColumns ? vector : columns.vectors) * partials.size() + partial;
  };
  const auto accumulatorsOf = [&](const Values &all, int64_t vector) {
    Values own;
    for (size_t partial = 0; partial < partials.size(); ++partial)
      own.push_back(all[slotOf(partial, vector)]);
    return own;
  };
  const auto columnOf = [&](int64_t vector) { return columns.column + vector * block.sizes.lanes; };
  Values start;
  SmallVector<std::string> combiners;
  for (int64_t slots = 0; slots <= columns.vectors; ++slots)
    for (const Partial &partial : partials) {
      start.push_back(partial.neutral);
      combiners.push_back(plan.combiners[partial.output]);
    }
  const bool sharesSlots = llvm::any_of(partials, [](const Partial &partial) { return !partial.keepsColumns; });
  const int64_t maxRows = sharesSlots ? maxAdditions / columns.vectors : maxAdditions;
  const Emitted zero = frame.constant(0), chunk = frame.constant(maxRows);
  Values sums = frame.loop(zero, block.rows, chunk, start, [&](Emitted begin, const Values &before) {
    const Emitted end = minimum(block.rows, begin + chunk);
    return combineAll(
        frame, combiners, before, frame.loop(begin, end, frame.constant(1), start, [&](Emitted row, const Values &now) {
          Values all = now;
          for (int64_t vector = 0; vector < columns.vectors; ++vector) {
            const Values next = emitLanes(row, columnOf(vector), columns.inside, accumulatorsOf(all, vector));
            for (size_t partial = 0; partial < partials.size(); ++partial)
              all[slotOf(partial, vector)] = next[partial];
          }
          return all;
        }));
  });
  for (int64_t vector = 0; vector < columns.vectors; ++vector)
    storeKept(accumulatorsOf(sums, vector), columnOf(vector), columns.inside);
  const ArrayRef<std::string> names = ArrayRef(combiners).take_back(partials.size());
  return combineAll(frame, names, carried, ArrayRef<Emitted>(sums).take_back(partials.size()));
}

TensorAccess MatmulEpilogue::accessOf(unsigned output) const {
  return frame.source.accessOf(epilogue, *epilogue.getDpsInitOperand(output));
}

Emitted MatmulEpilogue::sumsAt(Emitted row, Emitted column) const {
  return block.load(block.at(block.sums, row * block.sumsPitch + column));
}

void MatmulEpilogue::prefetchResults(Emitted row, Emitted column) const {
  MatmulIndex index = access.indexAt(rowRole, block.firstRow + row);
  access.setLanes(index, columnRole, block.firstColumn, column, block.columns);
  for (unsigned output = 0; output < epilogue.getNumResults(); ++output) {
    const MatmulReach reach = access.reach(accessOf(output), index);
    if (!plan.combiners[output].empty() || !reach.contiguous)
      continue;
    const Value result = epilogue.getResult(output);
    frame.prefetch(frame.address(block.pointerOf(result), getElementTypeOrSelf(result), reach.offset),
                   /*toWrite=*/true);
  }
}

Values MatmulEpilogue::emitLanes(Emitted row, Emitted column, LanesInside inside, const Values &accumulators) const {
  MatmulIndex index = access.indexAt(rowRole, block.firstRow + row);
  access.setLanes(index, columnRole, block.firstColumn, column, block.columns);
  index.inside = inside;
  Values arguments;
  for (OpOperand *input : epilogue.getDpsInputOperands()) {
    if (input->get() != plan.contraction.getResult(0)) {
      arguments.push_back(access.load(input->get(), frame.source.accessOf(epilogue, *input), index));
      continue;
    }
    arguments.push_back(sumsAt(row, column));
  }
  const size_t inputs = arguments.size();
  arguments.resize(inputs + plan.combiners.size());
  for (auto [partial, accumulator] : llvm::zip(partials, accumulators))
    arguments[inputs + partial.output] = accumulator;
  const Values results = access.body(epilogue, arguments, index);
  for (unsigned output = 0; output < plan.combiners.size(); ++output)
    if (plan.combiners[output].empty())
      access.store(results[output], epilogue.getResult(output), accessOf(output), index);
  Values next;
  for (auto [partial, accumulator] : llvm::zip(partials, accumulators))
    next.push_back(access.selectInside(index, results[partial.output], accumulator));
  return next;
}

Emitted MatmulEpilogue::lane(Emitted vector, int64_t lane) const {
  return frame.wrap(vector::ExtractOp::create(frame, vector.value(), lane));
}

// The buffer of a partial reduction has one partial result per block, with reduced dims replaced by the tile's index:
// [batch][row tile][column tile or column].

void MatmulEpilogue::storeKept(const Values &sums, Emitted column, LanesInside inside) const {
  MatmulIndex index;
  index.start = column;
  index.count = block.columns;
  index.inside = inside;
  for (auto [partial, vector] : llvm::zip(partials, sums)) {
    if (!partial.keepsColumns)
      continue;
    const Emitted pointer = block.pointerOf(epilogue.getResult(partial.output));
    const Emitted line = block.batch * block.rowTiles + block.rowTile;
    const Emitted offset = line * block.size[columnRole] + block.firstColumn + column;
    access.storeRun(vector, frame.address(pointer, getElementTypeOrSelf(vector.type()), offset), index);
  }
}

void MatmulEpilogue::storeTotals(const Values &sums) const {
  const auto resultOf = [&](size_t partial) {
    const Emitted line = block.batch * block.rowTiles + block.rowTile;
    return frame.address(block.pointerOf(epilogue.getResult(partials[partial].output)),
                         getElementTypeOrSelf(sums[partial].type()), line * block.columnTiles + block.columnTile);
  };
  for (size_t partial = 0; partial < partials.size(); ++partial) {
    if (partials[partial].keepsColumns)
      continue;
    const std::string &combiner = plan.combiners[partials[partial].output];
    const Emitted result = resultOf(partial);
    if (!isArgCombiner(combiner)) {
      Value total = lane(sums[partial], 0);
      for (int64_t index = 1; index < block.sizes.lanes; ++index)
        total = buildCombine(frame, frame.getLoc(), combiner, total, lane(sums[partial], index));
      frame.store(frame.wrap(total), result);
      continue;
    }
    // Value and index are adjacent outputs.
    const Emitted values = sums[partial], indices = sums[partial + 1];
    std::pair<Value, Value> best(lane(values, 0), lane(indices, 0));
    for (int64_t index = 1; index < block.sizes.lanes; ++index)
      best = buildArgCombine(frame, frame.getLoc(), combiner, best, {lane(values, index), lane(indices, index)});
    frame.store(frame.wrap(best.first), result);
    frame.store(frame.wrap(best.second), resultOf(++partial));
  }
}

} // namespace halftone::compiler
