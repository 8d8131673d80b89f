// Tiles of an attention kernel's operands in scratch, and steps along rows of scores.
// SPDX-License-Identifier: Apache-2.0
#include "compiler/targets/cpu/attention/AttentionTiles.h"
#include "compiler/kernels/MathFunctions.h"
#include "compiler/kernels/MatmulSource.h"
#include "compiler/kernels/NarrowFloat.h"
#include "mlir/Dialect/Vector/IR/VectorOps.h"

namespace halftone::compiler {
using namespace mlir;

static std::string nameOf(KernelFrame &frame, const char *suffix) {
  return (frame.source.function.getSymName() + suffix).str();
}

static TileMultiply multiplyOf(const KernelSource &source) {
  if (source.form.instruction.empty())
    return TileMultiply::numbers;
  return source.form.instruction == name(MatmulInstruction::tdpbf16ps) ? TileMultiply::tilesOfPairs
                                                                       : TileMultiply::pairs;
}

AttentionTiles::AttentionTiles(KernelFrame &frame)
    : frame(frame), vector(VectorType::get(frame.lanes, frame.getF32Type())), step(frame.constant(frame.lanes)),
      pairs(!frame.source.form.instruction.empty()),
      product(frame, nameOf(frame, "_product"), multiplyOf(frame.source)), next(frame.scratch) {
  if (pairs)
    widenedProduct.emplace(frame, nameOf(frame, "_widened_product"), TileMultiply::widenedPairs);
  if (usesTiles())
    configureTiles(frame, frame.scratch);
}

void AttentionTiles::end() {
  if (usesTiles())
    releaseTiles(frame);
}

Emitted AttentionTiles::groups(Emitted depth) const {
  if (!pairs)
    return depth;
  const Emitted groups = ceilDivide(depth, depth.like(2));
  return usesTiles() ? padded(groups) : groups;
}

ScratchMatrix AttentionTiles::take(Emitted rows, Emitted columns) {
  const ScratchMatrix matrix{next, paddedPitch(columns, step)};
  next = frame.address(next, frame.getF32Type(), wholeRows(rows) * matrix.pitch);
  return matrix;
}

AttentionScratch::AttentionScratch(const KernelSource &source, const CpuTarget &target)
    : pairs(!source.form.instruction.empty()), usesTiles(multiplyOf(source) == TileMultiply::tilesOfPairs),
      lanes(std::max<int64_t>(1, target.vectorBytes / (source.holdsF64() ? 8 : 4))) {}

void AttentionScratch::add(int64_t rows, int64_t columns) {
  bytes += 4 * wholeRows(rows) * paddedPitch(columns, lanes);
}

Emitted AttentionTiles::address(const ScratchMatrix &matrix, Emitted row, Emitted column) const {
  return frame.address(matrix.at, frame.getF32Type(), row * matrix.pitch + column);
}

Emitted AttentionTiles::load(const ScratchMatrix &matrix, Emitted row, Emitted column) const {
  return frame.load(vector, address(matrix, row, column), frame.lanes * 4);
}

Emitted AttentionTiles::loadScalar(const ScratchMatrix &matrix, Emitted row, Emitted column) const {
  return frame.load(frame.getF32Type(), address(matrix, row, column));
}

void AttentionTiles::store(Emitted lanes, const ScratchMatrix &matrix, Emitted row, Emitted column) const {
  frame.store(lanes, address(matrix, row, column), frame.lanes * 4);
}

void AttentionTiles::fill(const ScratchMatrix &matrix, Emitted rows, Emitted columns, Emitted value) const {
  const Emitted lanes = splat(value);
  frame.loop(frame.constant(0), rows, frame.constant(1),
             [&](Emitted row) { forVectors(columns, [&](Emitted column) { store(lanes, matrix, row, column); }); });
}

int AttentionTiles::innermostDim(const Tile &tile) const {
  linalg::GenericOp contraction = tile.contraction;
  return frame.source.accessOf(contraction, *contraction.getDpsInputOperand(tile.side)).dims.back();
}

/// A vector of the operand along its innermost dim at the frame's index; 0 past that dim's end.
Emitted AttentionTiles::stored(const Tile &tile, const Lanes &lanes) const {
  linalg::GenericOp contraction = tile.contraction;
  OpOperand *operand = contraction.getDpsInputOperand(tile.side);
  const TensorAccess access = frame.source.accessOf(contraction, *operand);
  const Emitted numbers = loadLanes(frame, frame.storage.lookup(operand->get()), access, lanes);
  return lanes.mask ? selectInside(lanes, numbers, numbers.like(0)) : numbers;
}

/// The same in f32, or in pairs.
Emitted AttentionTiles::factor(const Tile &tile, const Lanes &lanes) const {
  const Emitted numbers = stored(tile, lanes);
  if (pairs)
    return frame.wrap(vector::BitCastOp::create(frame, vector, numbers.value()));
  return MatmulSource::factor(frame, tile.contraction, tile.side, numbers, frame.lanes);
}

void AttentionTiles::forInnermost(const Tile &tile, int64_t numbers,
                                  llvm::function_ref<void(Emitted, const Lanes &)> body) {
  const int dim = innermostDim(tile);
  const Emitted extent = frame.extents[size_t(dim)], width = frame.constant(numbers), whole = extent / width * width;
  const auto at = [&](Emitted index, bool isTail) {
    frame.index[size_t(dim)] = index;
    body(index / width * step, isTail ? maskedLanes(frame, numbers, dim, extent) : Lanes{numbers, dim});
  };
  frame.loop(frame.constant(0), whole, width, [&](Emitted index) { at(index, false); });
  frame.loop(whole, extent, width, [&](Emitted index) { at(index, true); });
}

void AttentionTiles::copyRows(const Tile &tile, const ScratchMatrix &to) {
  frame.loop(frame.constant(0), tile.count, frame.constant(1), [&](Emitted row) {
    frame.index[size_t(tile.dim)] = tile.first + row;
    forInnermost(tile, pairs ? 2 * frame.lanes : frame.lanes,
                 [&](Emitted column, const Lanes &lanes) { store(factor(tile, lanes), to, row, column); });
  });
}

/// The pair of rows 2 `row` and 2 `row` + 1; 0 for those from `count` on.
Emitted AttentionTiles::pairOf(Emitted row, Emitted count, llvm::function_ref<Emitted(Emitted)> numbers) const {
  const auto member = [&](Emitted place) {
    const Emitted found = numbers(minimum(place, count - 1));
    return select(place < count, found, found.like(0));
  };
  const Emitted even = usesTiles() ? member(row * 2) : numbers(row * 2);
  return interleaved(even, member(row * 2 + 1));
}

void AttentionTiles::copyDepth(const Tile &tile, const ScratchMatrix &to) {
  if (!pairs)
    return copyRows(tile, to);
  frame.loop(frame.constant(0), groups(tile.count), frame.constant(1), [&](Emitted row) {
    forInnermost(tile, frame.lanes, [&](Emitted column, const Lanes &lanes) {
      const Emitted pair = pairOf(row, tile.count, [&](Emitted place) {
        frame.index[size_t(tile.dim)] = tile.first + place;
        return stored(tile, lanes);
      });
      store(pair, to, row, column);
    });
  });
}

void AttentionTiles::copyColumns(const Tile &tile, const ScratchMatrix &to) {
  const Emitted last = tile.first + tile.count - 1;
  forVectors(tile.count, [&](Emitted row) {
    forInnermost(tile, pairs ? 2 * frame.lanes : frame.lanes, [&](Emitted column, const Lanes &lanes) {
      Values square;
      for (int64_t line = 0; line < frame.lanes; ++line) {
        frame.index[size_t(tile.dim)] = minimum(tile.first + row + line, last);
        square.push_back(factor(tile, lanes));
      }
      square = frame.transpose(square);
      for (int64_t line = 0; line < frame.lanes; ++line)
        store(square[size_t(line)], to, column + line, row);
    });
  });
}

/// f32 as the bits of bf16.
Emitted AttentionTiles::narrowed(Emitted numbers) const {
  return narrowFloat(frame.target.math, numbers, frame.getBF16Type());
}

/// Pairs of bf16 with these first and second members, as a vector of 32-bit elements.
Emitted AttentionTiles::interleaved(Emitted first, Emitted second) const {
  const Value both = vector::InterleaveOp::create(frame, first.value(), second.value());
  return frame.wrap(vector::BitCastOp::create(frame, vector, both));
}

ScratchMatrix AttentionTiles::packRows(const ScratchMatrix &from, Emitted rows, Emitted columns,
                                       const ScratchMatrix &to) {
  if (!pairs)
    return from;
  frame.loop(frame.constant(0), rows, frame.constant(1), [&](Emitted row) {
    forVectors(groups(columns), [&](Emitted group) {
      Values halves;
      for (const int64_t half : {0, 1}) {
        const Emitted column = group * 2 + half * frame.lanes;
        const Emitted index = frame.steps(frame.getI64Type(), frame.lanes) + splat(column);
        const Emitted numbers = narrowed(load(from, row, minimum(column, padded(columns) - step)));
        halves.push_back(select(index < splat(columns), numbers, numbers.like(0)));
      }
      const auto all = llvm::to_vector(llvm::seq<int64_t>(0, 2 * frame.lanes));
      const Value both = vector::ShuffleOp::create(frame, halves[0].value(), halves[1].value(), all);
      store(frame.wrap(vector::BitCastOp::create(frame, vector, both)), to, row, group);
    });
  });
  return to;
}

ScratchMatrix AttentionTiles::packDepth(const ScratchMatrix &from, Emitted rows, Emitted columns,
                                        const ScratchMatrix &to) {
  if (!pairs)
    return from;
  frame.loop(frame.constant(0), groups(rows), frame.constant(1), [&](Emitted group) {
    forVectors(columns, [&](Emitted column) {
      store(pairOf(group, rows, [&](Emitted row) { return narrowed(load(from, row, column)); }), to, group, column);
    });
  });
  return to;
}

MatrixPlace AttentionTiles::turned(const ScratchMatrix &from, Emitted rows, Emitted depth, const ScratchMatrix &to) {
  const Emitted one = frame.constant(1);
  if (!usesTiles())
    return {from.at, one, from.pitch};
  forVectors(depth, [&](Emitted group) {
    forVectors(rows, [&](Emitted row) {
      Values square;
      for (int64_t line = 0; line < frame.lanes; ++line)
        square.push_back(load(from, group + line, row));
      square = frame.transpose(square);
      for (int64_t line = 0; line < frame.lanes; ++line)
        store(square[size_t(line)], to, row + line, group);
    });
  });
  return {to.at, to.pitch, one};
}

Emitted AttentionTiles::hasSubnormal(const ScratchMatrix &matrix, Emitted rows, Emitted columns) const {
  if (!pairs)
    return {};
  constexpr int64_t smallestNormal = 2 * 0x80 - 1;
  const VectorType halves = VectorType::get(2 * frame.lanes, frame.getI16Type());
  const Emitted none = frame.constant(cast<TypedAttr>(DenseElementsAttr::get(halves, frame.getI16IntegerAttr(-1))));
  const Emitted least =
      frame.loop(frame.constant(0), rows, frame.constant(1), none, [&](Emitted row, const Values &in) {
        return frame.loop(frame.constant(0), columns, step, in, [&](Emitted column, const Values &now) {
          // Without the sign bit and less 1, zeros are the largest numbers
          // and subnormal ones the smallest.
          const Value bits = vector::BitCastOp::create(frame, halves, load(matrix, row, column).value());
          return Values{minimumUnsigned(now[0], (frame.wrap(bits) + frame.wrap(bits)) - 1)};
        });
      })[0];
  const Value one = vector::ReductionOp::create(frame, vector::CombiningKind::MINUI, least.value());
  return isLessUnsigned(frame.wrap(one), frame.wrap(one).like(smallestNormal));
}

Emitted AttentionTiles::isFinite(const ScratchMatrix &matrix, Emitted rows, Emitted columns) const {
  const auto difference = [](Emitted numbers) { return numbers - numbers; }; // 0, or NaN for inf and NaN
  const Emitted none = frame.zero(vector);
  const Emitted sum = frame.loop(frame.constant(0), rows, frame.constant(1), none, [&](Emitted row, const Values &in) {
    return frame.loop(frame.constant(0), columns, step, in, [&](Emitted column, const Values &now) {
      const Emitted numbers = load(matrix, row, column), bits = numbers.bits();
      if (!pairs)
        return Values{now[0] + difference(numbers)};
      return Values{now[0] + difference((bits << 16).bitsAs(numbers.f32())) +
                    difference((bits & int64_t(0xffff0000)).bitsAs(numbers.f32()))};
    });
  })[0];
  const Emitted total = frame.wrap(vector::ReductionOp::create(frame, vector::CombiningKind::ADD, sum.value()));
  return equal(total, total.like(0));
}

void AttentionTiles::multiply(const TileProductCall &call, Emitted widens) {
  if (!pairs)
    return product.call(call);
  frame.branch(widens, [&] { widenedProduct->call(call); }, [&] { product.call(call); });
}

Emitted AttentionTiles::alongQueries(linalg::GenericOp generic, ArrayRef<std::pair<Value, Emitted>> given) const {
  Lanes lanes{frame.lanes, queryDim};
  for (OpOperand *operand : generic.getDpsInputOperands())
    if (isa<BlockArgument>(operand->get()) &&
        llvm::is_contained(frame.source.accessOf(generic, *operand).dims, int(queryDim)))
      lanes = maskedLanes(frame, frame.lanes, queryDim, frame.extents[queryDim]);
  const auto inputs = generic.getDpsInputs();
  const Values values = loadInputs(frame, generic, lanes, [&](unsigned position) {
    const auto *found = llvm::find_if(given, [&](const auto &each) { return each.first == inputs[position]; });
    return found == given.end() ? Emitted() : found->second;
  });
  return emitBody(frame, generic, values, lanes)[0];
}

void AttentionTiles::storeAlong(int dim, linalg::GenericOp generic,
                                llvm::function_ref<Emitted(Value, Emitted)> given) const {
  const Emitted extent = frame.extents[size_t(dim)], whole = extent / step * step;
  const TensorAccess access = frame.source.accessOf(generic, *generic.getDpsInitOperand(0));
  const auto storeAt = [&](Emitted column, bool isTail) {
    frame.index[size_t(dim)] = column;
    const Lanes lanes = isTail ? maskedLanes(frame, frame.lanes, dim, extent) : Lanes{frame.lanes, dim};
    const auto inputs = generic.getDpsInputs();
    const Values values =
        loadInputs(frame, generic, lanes, [&](unsigned position) { return given(inputs[position], column); });
    storeLanes(frame, emitBody(frame, generic, values, lanes)[0], frame.storage.lookup(generic.getResult(0)), access,
               lanes);
  };
  frame.loop(frame.constant(0), whole, step, [&](Emitted column) { storeAt(column, false); });
  frame.loop(whole, extent, step, [&](Emitted column) { storeAt(column, true); });
}

void AttentionTiles::storeScalar(linalg::GenericOp generic, llvm::function_ref<Emitted(Value)> given) const {
  const auto inputs = generic.getDpsInputs();
  const Values values = loadInputs(frame, generic, {}, [&](unsigned position) { return given(inputs[position]); });
  storeLanes(frame, emitBody(frame, generic, values, {})[0], frame.storage.lookup(generic.getResult(0)),
             frame.source.accessOf(generic, *generic.getDpsInitOperand(0)), {});
}

Emitted AttentionTiles::holdsForAny(Emitted first, Emitted count,
                                    llvm::function_ref<Emitted(Emitted, const Lanes &)> test) const {
  const Emitted no = frame.constant(frame.getI32IntegerAttr(0)), none = splat(no);
  const Emitted found =
      frame.loop(frame.constant(0), padded(count), step, none, [&](Emitted column, const Values &before) {
        frame.index[queryDim] = first + column;
        const Lanes lanes = maskedLanes(frame, frame.lanes, queryDim, first + count);
        return Values{before[0] | (test(column, lanes) & lanes.mask).widen(frame.getI32Type())};
      })[0];
  const Value any = vector::ReductionOp::create(frame, vector::CombiningKind::OR, found.value());
  return negated(equal(frame.wrap(any), no));
}

Emitted AttentionTiles::expOfDistance(Emitted x) const { return buildExpOfDistance(MathTarget(frame.target.math), x); }

Emitted inFairOrder(const KernelFrame &frame, Emitted number, Emitted count) {
  if (!frame.source.form.causal)
    return number;
  const Emitted two = number.like(2), half = divideUnsigned(number, two);
  return select(equal(remainderUnsigned(number, two), number.like(0)), count - 1 - half, half);
}

Emitted either(Emitted a, Emitted b) { return a && b ? a | b : a ? a : b; }

std::string attentionMethod(const KernelSource &source) {
  return (source.form.instruction.empty() ? "multiply-add" : source.form.instruction) + ", scores of a tile in scratch";
}

} // namespace halftone::compiler
