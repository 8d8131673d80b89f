// Tiles of an attention kernel in which every key is masked.
// SPDX-License-Identifier: Apache-2.0
#include "compiler/targets/cpu/attention/AttentionMask.h"
#include "dialect/AttentionConstants.h"
#include "mlir/Dialect/Vector/IR/VectorOps.h"
#include "mlir/IR/Matchers.h"
#include <limits>

namespace halftone::compiler {
using namespace mlir;

/// The condition that tells whether a key is seen; null if there is none.
static Value condition(linalg::GenericOp generic) {
  auto select = generic.getBody()->getTerminator()->getOperand(0).getDefiningOp<arith::SelectOp>();
  FloatAttr other;
  if (!select || !matchPattern(select.getFalseValue(), m_Constant(&other)) ||
      other.getValueAsDouble() != double(float(dialect::maskedScore)))
    return {};
  return select.getCondition();
}

bool hidesKeys(const KernelSource &source, linalg::GenericOp scores) {
  const Value seen = condition(scores);
  // With `causal`, a mask is combined with the comparison of indices.
  return seen && (!source.form.causal || seen.getDefiningOp<arith::AndIOp>());
}

AttentionMask::AttentionMask(const AttentionTiles &tiles, linalg::GenericOp scores, Value products)
    : tiles(tiles), scores(scores), products(products) {
  exists = hidesKeys(tiles.frame.source, scores);
  if (!exists)
    return;
  const Value seen = condition(scores);
  alongQueries = dependsOn(seen, queryDim);
  alongKeys = dependsOn(seen, keyDim);
}

/// Returns true if `value`, of the body, varies along `dim`.
bool AttentionMask::dependsOn(Value value, int dim) const {
  linalg::GenericOp generic = scores;
  if (value.getParentBlock() != generic.getBody())
    return false;
  if (auto argument = dyn_cast<BlockArgument>(value))
    return llvm::is_contained(tiles.frame.source.accessOf(generic, generic->getOpOperand(argument.getArgNumber())).dims,
                              dim);
  Operation *op = value.getDefiningOp();
  if (auto index = dyn_cast<linalg::IndexOp>(op))
    return dimsOf(generic)[index.getDim()] == dim;
  return llvm::any_of(op->getOperands(), [&](Value operand) { return dependsOn(operand, dim); });
}

Emitted AttentionMask::seesAny(const ScoreTile &tile) const {
  KernelFrame &frame = tiles.frame;
  const Emitted one = frame.constant(1), all = tiles.matrices.padded(tile.queries);
  const Emitted keys = alongKeys ? tile.keys : one, columns = alongQueries ? all : one;
  if (!alongKeys && !alongQueries)
    return seesAny(tile, keys, columns);
  // For most tiles, the first key and query suffice.
  return frame.choose(
      seesAny(tile, one, one), [&] { return Values{frame.constant(frame.getBoolAttr(true))}; },
      [&] { return Values{seesAny(tile, keys, columns)}; })[0];
}

/// Whether any of the tile's first queries sees any of its first keys.
Emitted AttentionMask::seesAny(const ScoreTile &tile, Emitted keys, Emitted columns) const {
  KernelFrame &frame = tiles.frame;
  const Emitted step = tiles.matrices.step;
  const Emitted no = frame.constant(frame.getI32IntegerAttr(0)), none = frame.splat(no, frame.lanes);
  // A masked key's score does not depend on its product, so no score computed from infinity is that of a masked key.
  const Emitted infinity = frame.zero(frame.getF32Type()).like(std::numeric_limits<float>::infinity());
  const Emitted product = frame.splat(infinity, frame.lanes);
  const Emitted found =
      frame.loop(frame.constant(0), keys, frame.constant(1), none, [&](Emitted line, const Values &in) {
        frame.index[keyDim] = tile.firstKey + line;
        return frame.loop(frame.constant(0), columns, step, in, [&](Emitted column, const Values &before) {
          frame.index[queryDim] = tile.firstQuery + column;
          const Lanes lanes = maskedLanes(frame, frame.lanes, queryDim, tile.firstQuery + tile.queries);
          const Emitted score = tiles.alongQueries(scores, {{products, product}});
          const Emitted isSeen = differs(score, score.like(dialect::maskedScore)) & lanes.mask;
          return Values{before[0] | isSeen.widen(frame.getI32Type())};
        });
      })[0];
  const Value any = vector::ReductionOp::create(frame, vector::CombiningKind::OR, found.value());
  return negated(equal(frame.wrap(any), no));
}

} // namespace halftone::compiler
