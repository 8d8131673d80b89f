// The epilogue of a matmul kernel's tile: sums in, results and side reductions out.
// SPDX-License-Identifier: Apache-2.0
#include "compiler/kernels/Combiner.h"
#include "compiler/targets/cpu/Matmul.h"
#include "mlir/Dialect/LLVMIR/LLVMDialect.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/Dialect/Vector/IR/VectorOps.h"

using namespace halftone;
using namespace halftone::compiler;
using namespace mlir;

namespace {

/// How early the lines of a result are asked for: some hundred nanoseconds, in which another core gives them up.
constexpr int64_t rowsAhead = 8;

/// Whether the output's map has all dims of `group` (or none, told apart by `any`).
bool keeps(AffineMap map, ArrayRef<int> dims, ArrayRef<int> group, bool any) {
  const auto has = [&](int64_t wanted) {
    return llvm::any_of(map.getResults(), [&](AffineExpr expr) {
      auto dim = dyn_cast<AffineDimExpr>(expr);
      return dim && dims[dim.getPosition()] == wanted;
    });
  };
  return any ? llvm::any_of(group, has) : llvm::all_of(group, has);
}

} // namespace

LogicalResult MatmulEmitter::checkSideReductions() {
  const SmallVector<int> dims = dimsOf(epilogue);
  for (auto [output, combiner] : llvm::enumerate(combiners)) {
    if (combiner.empty())
      continue;
    const AffineMap map = epilogue.getMatchingIndexingMap(epilogue.getDpsInitOperand(int64_t(output)));
    for (MatmulRole role : {rowRole, columnRole})
      if (keeps(map, dims, group[role], true) && !keeps(map, dims, group[role], false))
        return epilogue.emitError("side reduction over some of the dims of M or N; expected all or none");
    if (keeps(map, dims, group[rowRole], true))
      return epilogue.emitError("side reduction that keeps M; expected one over M, or over M and N");
  }
  return success();
}

bool MatmulEmitter::sumsAreResult() {
  Operation *yield = epilogue.getBody()->getTerminator();
  return groupSize == 1 && group[rowRole].size() == 1 && group[columnRole].size() == 1 &&
         epilogue.getNumDpsInputs() == 1 && epilogue.getNumResults() == 1 && combiners[0].empty() && !takesDots() &&
         yield->getOperand(0) == epilogue.getBody()->getArgument(0) &&
         epilogue.getMatchingIndexingMap(epilogue.getDpsInitOperand(0)).isIdentity();
}

MatmulSums MatmulEmitter::sumsFrom(Emitted row, Emitted column, int64_t vectors) {
  if (vectors == 1 || !sumsAreResult())
    return {address(sumsAt, accumulator, row * sumsPitch + column), sumsPitch};
  const Emitted line = batch * size[rowRole] + firstRow + row;
  return {address(pointers.lookup(epilogue.getResult(0)), accumulator, line * size[columnRole] + firstColumn + column),
          size[columnRole], false};
}

LogicalResult MatmulEmitter::emitEpilogue() {
  Lanes neutral;
  for (auto [output, combiner] : llvm::enumerate(combiners)) {
    if (combiner.empty())
      continue;
    auto fill = epilogue.getOutputs()[output].getDefiningOp<linalg::FillOp>();
    if (!fill)
      return epilogue.emitError("expected a linalg.fill under a side reduction");
    neutral.push_back(splat(outside.lookup(fill.getInputs()[0])));
  }
  const Emitted wholeVectors = columns / number(sizes->lanes) * sizes->lanes;
  if (neutral.empty()) {
    const Emitted begin = sumsAreResult() ? columns / number(sizes->columns()) * sizes->columns() : number(0);
    loop(number(0), rows, number(1), [&](Emitted row) {
      for (bool whole : {true, false})
        loop(whole ? begin : wholeVectors, whole ? wholeVectors : columns, number(sizes->lanes), [&](Emitted column) {
          if (whole)
            prefetchResults(minimum(row + rowsAhead, rows - 1), column);
          return void(sticky(emitEpilogueLanes(row, column, whole, {})));
        });
    });
    return failure(broken);
  }
  // Columns outermost, a panel at a time: sums over rows stay in registers, and lines that lanes of a row share are
  // read once. Reductions that keep N are stored after each panel, the rest last.
  const SmallVector<int> dims = dimsOf(epilogue);
  SmallVector<bool> keepsColumns;
  for (auto [output, combiner] : llvm::enumerate(combiners))
    if (!combiner.empty())
      keepsColumns.push_back(keeps(epilogue.getMatchingIndexingMap(epilogue.getDpsInitOperand(int64_t(output))), dims,
                                   group[columnRole], true));
  const size_t count = neutral.size();
  const auto reduceColumns = [&](Emitted column, int64_t vectors, bool whole, const Lanes &carried) {
    // The accumulators of each vector that keep N, then those of the panel that do not.
    Lanes start;
    for (int64_t vector = 0; vector < vectors; ++vector)
      start.append(neutral);
    start.append(carried);
    const auto split = [&](const Lanes &all, int64_t vector) {
      Lanes own;
      for (size_t i = 0; i < count; ++i)
        own.push_back(all[(keepsColumns[i] ? size_t(vector) : size_t(vectors)) * count + i]);
      return own;
    };
    const Lanes sums = loop(number(0), rows, number(1), start, [&](Emitted row, Lanes all) {
      for (int64_t vector = 0; vector < vectors; ++vector) {
        const FailureOr<Lanes> next = emitEpilogueLanes(row, column + vector * sizes->lanes, whole, split(all, vector));
        for (size_t i = 0; i < count && succeeded(sticky(next)); ++i)
          all[(keepsColumns[i] ? size_t(vector) : size_t(vectors)) * count + i] = (*next)[i];
      }
      return all;
    });
    for (int64_t vector = 0; vector < vectors; ++vector)
      storeSideReductions(split(sums, vector), column + vector * sizes->lanes);
    return Lanes(ArrayRef<Value>(sums).take_back(count));
  };
  const Emitted panels = columns / number(sizes->columns()) * sizes->columns();
  Lanes total = neutral;
  for (bool whole : {true, false}) {
    const int64_t vectors = whole ? sizes->vectors : 1;
    total = loop(whole ? number(0) : panels, whole ? panels : columns, number(vectors * sizes->lanes), total,
                 [&](Emitted column, Lanes carried) { return reduceColumns(column, vectors, whole, carried); });
  }
  storeSideReductions(total, {});
  return failure(broken);
}

void MatmulEmitter::prefetchResults(Emitted row, Emitted column) {
  MatmulPlace place;
  moveTo(place, batchRole, batch);
  moveTo(place, rowRole, firstRow + row);
  setLanes(place, columnRole, firstColumn, column, columns);
  const SmallVector<int> dims = dimsOf(epilogue);
  for (unsigned output = 0; output < epilogue.getNumResults(); ++output) {
    const Value result = epilogue.getResult(output);
    const Reach reach = this->reach(epilogue.getMatchingIndexingMap(epilogue.getDpsInitOperand(output)), dims, place);
    if (!combiners[output].empty() || !reach.contiguous)
      continue;
    const Emitted at = address(pointers.lookup(result), getElementTypeOrSelf(result), reach.offset);
    LLVM::Prefetch::create(b, b.getLoc(), at.value(), /*rw=*/1, /*hint=*/3, /*cache=*/1);
  }
}

FailureOr<MatmulEmitter::Lanes> MatmulEmitter::emitEpilogueLanes(Emitted row, Emitted column, bool whole, Lanes sums) {
  MatmulPlace place;
  moveTo(place, batchRole, batch);
  moveTo(place, rowRole, firstRow + row);
  setLanes(place, columnRole, firstColumn, column, columns);
  place.whole = whole;
  const SmallVector<int> dims = dimsOf(epilogue);
  Lanes arguments;
  for (OpOperand *input : epilogue.getDpsInputOperands()) {
    if (input->get() == contraction.getResult(0)) {
      const auto sumsOf = [&](Emitted of) {
        return wrap(loadValue(lanesOf(accumulator), address(sumsAt, accumulator, of * sumsPitch + column), true));
      };
      arguments.push_back(hasBiasRow() ? (sumsOf(row) - sumsOf(rows)).value() : sumsOf(row).value());
    } else
      arguments.push_back(load(input->get(), epilogue.getMatchingIndexingMap(input), dims, place));
  }
  size_t side = 0;
  for (const std::string &combiner : combiners)
    arguments.push_back(combiner.empty() ? Value() : sums[side++]);
  const FailureOr<Lanes> results = body(epilogue, arguments, place);
  if (failed(results))
    return failure();
  Lanes next;
  side = 0;
  for (auto [output, lanes] : llvm::enumerate(*results)) {
    if (combiners[output].empty()) {
      store(lanes, epilogue.getResult(unsigned(output)),
            epilogue.getMatchingIndexingMap(epilogue.getDpsInitOperand(int64_t(output))), place);
      continue;
    }
    next.push_back(whole ? lanes : select(laneMask(place), wrap(lanes), wrap(sums[side])).value());
    ++side;
  }
  return next;
}

void MatmulEmitter::store(Value lanes, Value result, AffineMap map, const MatmulPlace &place) {
  const Emitted pointer = pointers.lookup(result);
  const Type element = getElementTypeOrSelf(lanes);
  const SmallVector<int> dims = dimsOf(epilogue);
  const Reach reach = this->reach(map, dims, place);
  const unsigned bytes = std::max(1u, element.getIntOrFloatBitWidth() / 8);
  if (!reach.contiguous) {
    // Lanes past the end would write the last element again: each is written only when it is there.
    for (int64_t lane = 0; lane < sizes->lanes; ++lane) {
      auto branch = scf::IfOp::create(b, (place.start + lane < place.count).value(), false);
      OpBuilder::InsertionGuard guard(b);
      b.setInsertionPoint(branch.thenBlock()->getTerminator());
      const Value scalar = vector::ExtractOp::create(b, lanes, lane);
      storeValue(scalar, address(pointer, element, laneOffset(reach, map, dims, place, lane)));
    }
    return;
  }
  const Emitted at = address(pointer, element, reach.offset);
  if (place.whole)
    return storeValue(lanes, at);
  const auto masked = [&] { LLVM::MaskedStoreOp::create(b, lanes, at.value(), laneMask(place).value(), bytes); };
  if (cpu.hasMaskedMemory)
    return masked();
  auto branch = scf::IfOp::create(b, (place.start + sizes->lanes <= place.count).value(), true);
  OpBuilder::InsertionGuard guard(b);
  b.setInsertionPoint(branch.thenBlock()->getTerminator());
  storeValue(lanes, at);
  b.setInsertionPoint(branch.elseBlock()->getTerminator());
  masked();
}

void MatmulEmitter::storeSideReductions(Lanes sums, Emitted column) {
  // The buffer holds a piece a block, reduced dims replaced by the tile's number: [batch][row tile][column tile or
  // column].
  const SmallVector<int> dims = dimsOf(epilogue);
  size_t side = 0;
  for (size_t output = 0; output < combiners.size(); ++output) {
    if (combiners[output].empty())
      continue;
    const Value lanes = sums[side++];
    const AffineMap map = epilogue.getMatchingIndexingMap(epilogue.getDpsInitOperand(int64_t(output)));
    const bool keepsColumns = keeps(map, dims, group[columnRole], true);
    if (keepsColumns != bool(column))
      continue;
    const Emitted pointer = pointers.lookup(epilogue.getResult(unsigned(output)));
    const Type element = getElementTypeOrSelf(lanes);
    const Emitted line = batch * rowTiles + rowTile;
    if (keepsColumns) {
      const Emitted base = line * size[columnRole] + firstColumn + column;
      for (int64_t lane = 0; lane < sizes->lanes; ++lane) {
        auto branch = scf::IfOp::create(b, (column + lane < columns).value(), false);
        OpBuilder::InsertionGuard guard(b);
        b.setInsertionPoint(branch.thenBlock()->getTerminator());
        storeValue(vector::ExtractOp::create(b, lanes, lane), address(pointer, element, base + lane));
      }
      continue;
    }
    const Emitted at = address(pointer, element, line * columnTiles + columnTile);
    if (!isArgCombiner(combiners[output])) {
      Value sum = vector::ExtractOp::create(b, lanes, int64_t(0));
      for (int64_t lane = 1; lane < sizes->lanes; ++lane)
        sum = buildCombine(b, b.getLoc(), combiners[output], sum, vector::ExtractOp::create(b, lanes, lane));
      storeValue(sum, at);
      continue;
    }
    // Value and index stand on neighbouring outputs.
    const Value indices = sums[side++];
    std::pair<Value, Value> best(vector::ExtractOp::create(b, lanes, int64_t(0)),
                                 vector::ExtractOp::create(b, indices, int64_t(0)));
    for (int64_t lane = 1; lane < sizes->lanes; ++lane)
      best = buildArgCombine(b, b.getLoc(), combiners[output], best,
                             {vector::ExtractOp::create(b, lanes, lane), vector::ExtractOp::create(b, indices, lane)});
    storeValue(best.first, at);
    ++output;
    storeValue(best.second, address(pointers.lookup(epilogue.getResult(unsigned(output))),
                                    getElementTypeOrSelf(indices), line * columnTiles + columnTile));
  }
}
