// Computes the addresses at which the multiplication reads its factors.
// SPDX-License-Identifier: Apache-2.0
#include "compiler/targets/cpu/matmul/MatmulFactors.h"
#include "compiler/targets/cpu/matmul/MatmulCores.h"
#include "mlir/Dialect/Vector/IR/VectorOps.h"
#include "mlir/IR/TypeUtilities.h"

namespace halftone::compiler {
using namespace mlir;

MatmulRows MatmulFactors::rows(const MatmulDepth &depth) const {
  const Emitted one = frame.constant(1);
  if (plan.a == ReadA::packedPanels) {
    const Emitted lanes = frame.constant(block.sizes.lanes);
    return {block.packedA, one, lanes, lanes, lanes * block.sizes.rowPitch()};
  }
  if (plan.a == ReadA::packedRows)
    return {block.packedA, frame.constant(block.sizes.rowPitch()), one};
  if (plan.a == ReadA::packedColumns)
    return {block.packedA, one, block.packedPitch};
  OpOperand *input = plan.contraction.getDpsInputOperand(0);
  const TensorAccess accessed = frame.source.accessOf(plan.contraction, *input);
  MatmulIndex index = access.indexAt(rowRole, block.firstRow);
  access.moveTo(index, depthRole, depth.first * plan.groupSize);
  const auto pitch = [&](MatmulRole role) {
    index.laneRole = role;
    const Emitted stride = access.reach(accessed, index).stride;
    return stride ? stride : frame.constant(0);
  };
  const Emitted rowPitch = pitch(rowRole) / frame.constant(plan.groupSize), depthPitch = pitch(depthRole);
  const Emitted offset = access.reach(accessed, index).offset;
  return {frame.address(block.pointerOf(input->get()), getElementTypeOrSelf(input->get()), offset), rowPitch,
          depthPitch};
}

std::function<Values(const MatmulStep &)> MatmulFactors::columns(const MatmulStrip &strip) const {
  if (plan.panels && plan.groupSize > 1)
    return columnsOfPanels(strip);
  if (plan.b == ReadB::inPlace)
    return columnsInPlace(strip);
  return [this, panel = stripAt(strip), vectors = strip.vectors](const MatmulStep &step) {
    Values read;
    for (int64_t vector = 0; vector < vectors; ++vector)
      read.push_back(block.load(block.at(panel, (step.k * vectors + vector) * block.sizes.lanes)));
    return read;
  };
}

Emitted MatmulFactors::stripAt(const MatmulStrip &strip) const {
  if (plan.b == ReadB::inPlace)
    return block.at(panelAt(strip.column), strip.depth.first * block.sizes.lanes);
  return plan.b == ReadB::packedStrip ? block.packedB : block.at(block.packedB, strip.column * block.sizes.depth);
}

Values MatmulFactors::columnsAt(const MatmulStrip &strip, const MatmulStep &step,
                                function_ref<Emitted(Emitted, int64_t)> use) const {
  MatmulIndex index = access.indexAt(depthRole, strip.depth.first + step.k);
  if (strip.vectors > 1)
    index.inside = LanesInside::all;
  index.inWord = step.inWord;
  if (step.sameLookups)
    index.sameLookups = strip.depth.first + *step.sameLookups;
  Values read;
  for (int64_t vector = 0; vector < strip.vectors; ++vector) {
    access.setLanes(index, columnRole, block.firstColumn, strip.column + vector * block.sizes.lanes, block.columns);
    read.push_back(use(operands.factor(1, index), vector));
  }
  return read;
}

std::function<Values(const MatmulStep &)> MatmulFactors::columnsInPlace(const MatmulStrip &strip) const {
  return [this, strip](const MatmulStep &step) {
    return columnsAt(strip, step, [&](Emitted elements, int64_t vector) {
      if (strip.scale)
        elements = elements * block.splat(strip.scale);
      if (plan.b == ReadB::packedStrip)
        block.store(elements, block.at(block.packedB, (step.k * strip.vectors + vector) * block.sizes.lanes));
      return elements;
    });
  };
}

void MatmulFactors::scaleBy(MatmulStrip &strip, Emitted limit, function_ref<Emitted(Emitted)> magnitudes) const {
  constexpr double scale = 0x1p64;
  const auto constant = [&](double value) { return Emitted::constant(frame, frame.getF32Type(), value); };
  const Emitted zero = frame.constant(0), one = frame.constant(1);
  const auto largestOf = [&](Emitted count) { // over the first indices of K
    const Emitted none = block.zeros().bits();
    const Values maxima = frame.loop(
        zero, count, one, none, [&](Emitted k, const Values &now) { return Values{maximum(now[0], magnitudes(k))}; });
    return frame.wrap(vector::ReductionOp::create(frame, vector::CombiningKind::MAXSI, maxima[0].value()));
  };
  const auto lookAtAll = [&] {
    const Emitted largest = largestOf(strip.depth.count);
    return Values{(largest < limit) & differs(largest, largest.like(int64_t(0)))};
  };
  const Emitted mayBeSmall = largestOf(minimum(strip.depth.count, one)) < limit; // the first index of K usually decides
  const Emitted isSmall =
      frame.choose(mayBeSmall, lookAtAll, [&] { return Values{frame.constant(frame.getBoolAttr(false))}; })[0];
  strip.scale = select(isSmall, constant(scale), constant(1));
  strip.unscale = select(isSmall, constant(1 / scale), constant(1));
}

/// Strips with an element of at least this magnitude are not scaled.
static constexpr double smallFactorsEnd = 0x1p-80;

void MatmulFactors::scale(MatmulStrip &strip) const {
  // As integers, NaN compares above infinity, so strips with either are not scaled.
  scaleBy(strip, Emitted::constant(frame, frame.getF32Type(), smallFactorsEnd).bits(), [&](Emitted k) {
    Emitted maxima;
    columnsAt(strip, {k}, [&](Emitted elements, int64_t) {
      const Emitted magnitudes = absolute(elements).bits();
      maxima = maxima ? maximum(maxima, magnitudes) : magnitudes;
      return elements;
    });
    return maxima;
  });
}

void MatmulFactors::scalePairs(MatmulStrip &strip) const {
  const Emitted limit = Emitted::constant(frame, frame.getF32Type(), smallFactorsEnd).bits();
  scaleBy(strip, limit, [&](Emitted k) {
    Emitted maxima;
    for (const Emitted &pairs : strip.b({k})) {
      const Emitted both = maximum(absolute(firstOfPairs(pairs)).bits(), absolute(secondOfPairs(pairs)).bits());
      maxima = maxima ? maximum(maxima, both) : both;
    }
    return maxima;
  });
  // Scaling bf16 by a power of two is exact.
  const Emitted isSmall = strip.scale > 1, scale = block.splat(strip.scale), panel = stripAt(strip);
  frame.loop(frame.constant(0), select(isSmall, strip.depth.count, frame.constant(0)), frame.constant(1),
             [&](Emitted k) {
               for (auto [vector, pairs] : llvm::enumerate(strip.b({k}))) {
                 const Emitted first = firstOfPairs(pairs) * scale, second = secondOfPairs(pairs) * scale;
                 block.store(((first.bits() >> 16) | second.bits()).bitsAs(getElementTypeOrSelf(pairs.type())),
                             block.at(panel, (k * strip.vectors + int64_t(vector)) * block.sizes.lanes));
               }
             });
}

void MatmulFactors::prefetchColumns(const MatmulStrip &strip, Emitted k) const {
  if (plan.prologue[1])
    return;
  OpOperand *input = plan.contraction.getDpsInputOperand(1);
  MatmulIndex index = access.indexAt(depthRole, strip.depth.first + k + depthAhead);
  for (int64_t vector = 0; vector < strip.vectors; ++vector) {
    access.setLanes(index, columnRole, block.firstColumn, strip.column + vector * block.sizes.lanes, block.columns);
    const Emitted offset = access.reach(frame.source.accessOf(plan.contraction, *input), index).offset;
    frame.prefetch(frame.address(block.pointerOf(input->get()), getElementTypeOrSelf(input->get()), offset),
                   /*toWrite=*/false);
  }
}

Emitted MatmulFactors::panelAt(Emitted column) const {
  const Emitted groups = block.size[depthRole] / frame.constant(plan.panels->group);
  const Emitted panel = (block.firstColumn + column) / frame.constant(block.sizes.lanes);
  return block.at(block.pointerOf(plan.contraction.getInputs()[1]), panel * groups * block.sizes.lanes);
}

void MatmulFactors::watchPanels() const {
  const Emitted lanes = frame.constant(block.sizes.lanes);
  watch.loop(frame.constant(0), block.columns, lanes, [&](Emitted column) {
    const Emitted panel = panelAt(column);
    watch.loop(frame.constant(0), block.groups(), frame.constant(1),
               [&](Emitted k) { watch.check(block.load(block.at(panel, k * lanes))); });
  });
}

/// A right operand that is stored in packed form (#halftone.panels) is read in place, for any number of rows. A panel
/// has one vector of columns, so a strip reads `vectors` adjacent panels.
std::function<Values(const MatmulStep &)> MatmulFactors::columnsOfPanels(const MatmulStrip &strip) const {
  const Emitted inWord = frame.constant(plan.depthOfWord);
  const Emitted words = block.size[depthRole] / frame.constant(plan.panels->group);
  const int64_t lanes = block.sizes.lanes;
  const Emitted first = panelAt(strip.column);
  return [=, this, vectors = strip.vectors, firstDepth = strip.depth.first](const MatmulStep &step) {
    const Emitted start = firstDepth + step.k - step.inWord, word = divideUnsigned(start, inWord);
    Values read;
    for (int64_t vector = 0; vector < vectors; ++vector) {
      read.push_back(block.load(block.at(first, (words * vector + word) * lanes)));
      if (plan.bias == 8)
        read.back() = biasedHalves(read.back(), remainderUnsigned(start, inWord) + step.inWord);
      read.back() = groups.biased(1, read.back());
      watch.check(read.back());
    }
    return read;
  };
}

/// The low nibbles of all bytes if `half` is 0, or the high ones if it is 1, as numbers from 0 to 15: the int4 elements
/// plus 8.
Emitted MatmulFactors::biasedHalves(Emitted words, Emitted half) const {
  const Emitted down = (half * 4).narrow(frame.getI32Type());
  return ((words >> block.splat(down)) & int64_t(0x0f0f0f0f)) ^ int64_t(0x08080808);
}

} // namespace halftone::compiler
