// Products of an attention kernel's tiles, and steps along rows of scores.
// SPDX-License-Identifier: Apache-2.0
#include "compiler/targets/cpu/attention/AttentionTiles.h"
#include "compiler/kernels/MathFunctions.h"
#include "compiler/targets/cpu/x86/AmxTiles.h"
#include "mlir/Dialect/Vector/IR/VectorOps.h"

namespace halftone::compiler {
using namespace mlir;

AttentionTiles::AttentionTiles(const ScratchMatrices &matrices, TileProduct::Shapes shapes)
    : frame(matrices.frame), matrices(matrices), product(frame, matrices.product, shapes) {
  if (matrices.pairs)
    widenedProduct.emplace(frame, matrices.product, shapes, /*widens=*/true);
  if (matrices.usesTiles())
    configureTiles(frame, frame.scratch);
}

void AttentionTiles::end() {
  if (matrices.usesTiles())
    releaseTiles(frame);
}

void AttentionTiles::multiply(const TileProductCall &call, Emitted widens) {
  if (!matrices.pairs)
    return product.call(call);
  frame.branch(widens, [&] { widenedProduct->call(call); }, [&] { product.call(call); });
}

Emitted AttentionTiles::alongQueries(linalg::GenericOp generic, ArrayRef<std::pair<Value, Emitted>> given) const {
  Lanes lanes{frame.lanes, queryDim};
  for (OpOperand *operand : generic.getDpsInputOperands())
    if (isa<BlockArgument>(operand->get()) &&
        llvm::is_contained(frame.source.accessOf(generic, *operand).dims, int(queryDim)))
      lanes = maskedLanes(frame, frame.lanes, queryDim, frame.extents[queryDim]);
  return valueOf(frame, generic, lanes, given);
}

void AttentionTiles::storeAlong(int dim, linalg::GenericOp generic,
                                llvm::function_ref<Emitted(Value, Emitted)> given) const {
  const Emitted extent = frame.extents[size_t(dim)], whole = extent / matrices.step * matrices.step;
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
  frame.loop(frame.constant(0), whole, matrices.step, [&](Emitted column) { storeAt(column, false); });
  frame.loop(whole, extent, matrices.step, [&](Emitted column) { storeAt(column, true); });
}

void AttentionTiles::storeScalar(linalg::GenericOp generic, llvm::function_ref<Emitted(Value)> given) const {
  const auto inputs = generic.getDpsInputs();
  const Values values = loadInputs(frame, generic, {}, [&](unsigned position) { return given(inputs[position]); });
  storeLanes(frame, emitBody(frame, generic, values, {})[0], frame.storage.lookup(generic.getResult(0)),
             frame.source.accessOf(generic, *generic.getDpsInitOperand(0)), {});
}

Emitted AttentionTiles::holdsForAny(Emitted first, Emitted count,
                                    llvm::function_ref<Emitted(Emitted, const Lanes &)> test) const {
  const Emitted none = frame.splat(frame.constant(frame.getI32IntegerAttr(0)), frame.lanes);
  const Emitted found = frame.loop(
      frame.constant(0), matrices.padded(count), matrices.step, none, [&](Emitted column, const Values &before) {
        frame.index[queryDim] = first + column;
        const Lanes lanes = maskedLanes(frame, frame.lanes, queryDim, first + count);
        return Values{before[0] | (test(column, lanes) & lanes.mask).widen(frame.getI32Type())};
      })[0];
  return isAnySet(frame, found);
}

Emitted valueOf(KernelFrame &frame, linalg::GenericOp generic, const Lanes &lanes,
                ArrayRef<std::pair<Value, Emitted>> given) {
  const auto inputs = generic.getDpsInputs();
  const Values values = loadInputs(frame, generic, lanes, [&](unsigned position) {
    const auto *found = llvm::find_if(given, [&](const auto &each) { return each.first == inputs[position]; });
    return found == given.end() ? Emitted() : found->second;
  });
  return emitBody(frame, generic, values, lanes)[0];
}

Emitted isAnySet(KernelFrame &frame, Emitted lanes) {
  const Value any = vector::ReductionOp::create(frame, vector::CombiningKind::OR, lanes.value());
  return negated(equal(frame.wrap(any), frame.constant(frame.getI32IntegerAttr(0))));
}

Emitted expOfDistance(KernelFrame &frame, Emitted x) { return buildExpOfDistance(MathTarget(frame.target.math), x); }

Emitted inFairOrder(const KernelFrame &frame, Emitted number, Emitted count) {
  if (!frame.source.form.causal)
    return number;
  const Emitted two = number.like(2), half = divideUnsigned(number, two);
  return select(equal(remainderUnsigned(number, two), number.like(0)), count - 1 - half, half);
}

Emitted either(Emitted a, Emitted b) { return a && b ? a | b : a ? a : b; }

LogicalResult checkAttentionProduct(const KernelFrame &frame, ArrayRef<linalg::GenericOp> contractions) {
  SmallVector<OpOperand *> factors;
  for (linalg::GenericOp contraction : contractions)
    llvm::append_range(factors, llvm::make_filter_range(contraction.getDpsInputOperands(), [](OpOperand *operand) {
                         return isa<BlockArgument>(operand->get());
                       }));
  return checkProduct(frame.source, frame.target, factors);
}

std::string attentionMethod(const KernelSource &source) {
  return (source.form.schedule.getStrategy() + ", scores of a tile in scratch").str();
}

} // namespace halftone::compiler
