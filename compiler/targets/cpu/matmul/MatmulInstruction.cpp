// Guesses and limits behind the choices for matmul kernels.
// SPDX-License-Identifier: Apache-2.0
#include "compiler/targets/cpu/matmul/MatmulInstruction.h"

namespace halftone::compiler {

namespace {

/// As many as let a product pay, if it is left open how many there are.
constexpr int64_t manyRows = 64;

bool isWholeRun(int64_t run, int64_t vector) { return run > 0 && run % vector == 0; }

} // namespace

bool liesInWholeRuns(const CpuTarget &target, const MatmulTraits &traits) {
  return traits.splitDepth && isWholeRun(traits.depthRun, target.vectorBytes / itemsize(traits.accumulator));
}

bool readsDepthInRuns(const CpuTarget &target, DType dtype, int64_t rows, int64_t run) {
  // Every tile of rows packs the operand, and so transposes it, again. With more rows than this (a guess), one transposed copy
  // in memory costs less.
  constexpr int64_t mostRows = 4096;
  const bool isWide = dtype == DType::float32 || dtype == DType::float64;
  MatmulTraits pairs{dtype, dtype, DType::float32, manyRows};
  pairs.splitDepth = true;
  pairs.depthRun = run;
  const bool isOfPairs = chooseProduct(target, pairs).group == 2;
  return (isWide || isOfPairs) && rows <= mostRows && isWholeRun(run, target.vectorBytes / itemsize(dtype));
}

bool readsImage(const CpuTarget &target, const MatmulTraits &traits, const ProductRow &product) {
  // Guesses. In shorter lines too few places are summed together; with fewer channels the loop over a tap is too short.
  constexpr int64_t leastLine = 7, leastChannels = 16;
  const int64_t lanes = target.vectorBytes / itemsize(DType::float32);
  const bool isOfPairs = product.product == cpu::Product::vdpbf16ps && !traits.panels && traits.windowChannels % 2 == 0;
  const bool isPlain = product.product == cpu::Product::multiply_add && traits.lhs == DType::float32 &&
                       traits.accumulator == DType::float32;
  return (target.vectorRegisters >= 32 || target.math.hasFma) && (isPlain || isOfPairs) && traits.window &&
         !traits.strict && traits.lhsAlongDepth && traits.columns > lanes && traits.windowLine >= leastLine &&
         traits.windowChannels >= leastChannels;
}

bool sumsTall(const CpuTarget &target, const MatmulTraits &traits, const ProductRow &product) {
  const int64_t lanes = target.vectorBytes / itemsize(traits.accumulator);
  const bool fitsTwoVectors = traits.columns > lanes && traits.columns <= 2 * lanes;
  // Rows of a packed window begin in different sets of the cache, however many are read together.
  const bool readsPackedRows = product.product == cpu::Product::multiply_add && traits.window && traits.lhsAlongDepth &&
                               !packsAlongPlaces(traits) && traits.columns > lanes;
  return target.vectorRegisters >= 32 && !product.usesTiles() && (fitsTwoVectors || readsPackedRows);
}

/// Columns of a panel: one vector of 32-bit sums.
static constexpr int64_t panelColumns = 16;

static bool fitPanels(const CpuTarget &target, int64_t k, int64_t n, int64_t group) {
  constexpr int64_t smallest = int64_t(1) << 14; // of less a copy of its own costs more than packing it at each product
  return target.vectorBytes == panelColumns * 4 && k * n >= smallest && k % group == 0 && n % panelColumns == 0;
}

/// What multiplies many rows by panels of a weight.
static const ProductRow &productOfPanels(const CpuTarget &target, bool strict, DType weight) {
  MatmulTraits traits{weight, weight, weight == DType::int8 ? DType::int32 : DType::float32, manyRows};
  traits.strict = strict;
  traits.lhsAlongDepth = traits.panels = true;
  return chooseProduct(target, traits);
}

std::optional<WeightPanels> weightPanels(const CpuTarget &target, bool strict, DType weight, int64_t k, int64_t n) {
  const int64_t group = productOfPanels(target, strict, weight).group;
  if (group == 1 || !fitPanels(target, k, n, group))
    return std::nullopt;
  return WeightPanels{panelColumns, group};
}

std::optional<WeightPanels> halfBytePanels(const CpuTarget &target, DType lhs, int64_t k, int64_t n) {
  constexpr int64_t bits = 4, group = 8; // a group of a column lies in 32 bits
  const bool isFloat = lhs == DType::float32 || lhs == DType::bfloat16 || lhs == DType::float16;
  // Half bytes are read as unsigned numbers. Tiles are faster, and want whole bytes.
  const bool isRead = lhs == DType::int8 ? !productOfPanels(target, true, lhs).signedOperands : isFloat;
  return isRead && fitPanels(target, k, n, group) ? std::optional(WeightPanels{panelColumns, group, bits})
                                                  : std::nullopt;
}

} // namespace halftone::compiler
