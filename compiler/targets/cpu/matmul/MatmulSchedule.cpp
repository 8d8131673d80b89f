// The selection of a matmul kernel's schedule.
// SPDX-License-Identifier: Apache-2.0
#include "compiler/targets/cpu/matmul/MatmulSchedule.h"

namespace halftone::compiler {

bool readsImage(const CpuTarget &target, const MatmulTraits &traits, const ProductRow &product) {
  // Guesses. Shorter lines have too few positions to accumulate together; with fewer channels the loop over a tap is
  // too short.
  constexpr int64_t minLine = 7, minChannels = 16;
  const int64_t lanes = target.vectorBytes / itemsize(DType::float32);
  const bool isOfPairs = product.product == cpu::Product::vdpbf16ps && !traits.panels && traits.windowChannels % 2 == 0;
  const bool isPlain = product.product == cpu::Product::multiply_add && traits.lhs == DType::float32 &&
                       traits.accumulator == DType::float32;
  return (target.vectorRegisters >= 32 || target.math.hasFma) && (isPlain || isOfPairs) && traits.window &&
         !traits.numerics.fixesOrder() && traits.lhsAlongDepth && traits.columns > lanes &&
         traits.windowLine >= minLine && traits.windowChannels >= minChannels;
}

bool sumsTall(const CpuTarget &target, const MatmulTraits &traits, const ProductRow &product) {
  const int64_t lanes = target.vectorBytes / itemsize(traits.accumulator);
  const bool fitsTwoVectors = traits.columns > lanes && traits.columns <= 2 * lanes;
  // Rows of a packed window begin in different cache sets, however many are read together.
  const bool readsPackedRows = product.product == cpu::Product::multiply_add && traits.window && traits.lhsAlongDepth &&
                               !packsAlongPositions(traits) && traits.columns > lanes;
  return target.vectorRegisters >= 32 && !product.usesTiles() && (fitsTwoVectors || readsPackedRows);
}

/// Returns true if K is several dims and a vector along K lies in one run of the last dim.
static bool liesInWholeRuns(const CpuTarget &target, const MatmulTraits &traits) {
  return traits.splitDepth && holdsWholeVectors(target, traits.depthRun, traits.accumulator);
}

cpu::MatmulScheduleAttr matmulSchedule(mlir::MLIRContext *context, const CpuTarget &target,
                                       const MatmulTraits &traits) {
  using namespace cpu;
  // Up to this number, each element of the right operand is used too seldom to be packed.
  constexpr int64_t maxFewRows = 16;
  const ProductRow &product = chooseProduct(target, traits);
  const bool isImage = readsImage(target, traits, product);
  // `image` takes precedence: rows of a window without taps are also short enough for `positions`.
  const WindowRead window = isImage                       ? WindowRead::image
                            : packsAlongPositions(traits) ? WindowRead::positions
                                                          : WindowRead::rows;
  const SumShape sums = !isImage && sumsTall(target, traits, product) ? SumShape::tall : SumShape::wide;
  const bool isEven = product.product == Product::vdpbf16ps && traits.depth % 2 == 0;
  const DepthFact depth = liesInWholeRuns(target, traits) ? DepthFact::runs : isEven ? DepthFact::even : DepthFact::any;
  const bool isOfFloats = traits.accumulator == DType::float32 && !product.takesIntegers;
  const bool scales = traits.vanishes && isOfFloats && !isImage && !traits.numerics.fixesOrder();
  return MatmulScheduleAttr::get(context, product.product, traits.rows <= maxFewRows, window, sums, depth, scales);
}

} // namespace halftone::compiler
