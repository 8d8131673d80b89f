// The forms of operands that CPU kernels read directly.
// SPDX-License-Identifier: Apache-2.0
#include "compiler/targets/cpu/CpuLowerings.h"
#include "compiler/targets/cpu/matmul/Products.h"

namespace halftone::compiler {

/// A number of rows for which products pay; used if the number of rows is not known.
static constexpr int64_t manyRows = 64;

bool CpuLowerings::readsDepthInRuns(DType dtype, int64_t rows, int64_t run) const {
  // Every tile of rows packs the operand again, which includes its transposition. With more rows than this (a guess),
  // one transposed copy in memory is cheaper.
  constexpr int64_t maxRows = 4096;
  const bool isWide = dtype == DType::float32 || dtype == DType::float64;
  MatmulTraits pairs{dtype, dtype, DType::float32, manyRows};
  pairs.splitDepth = true;
  pairs.depthRun = run;
  const bool isOfPairs = chooseProduct(target(), pairs).group == 2;
  return (isWide || isOfPairs) && rows <= maxRows && holdsWholeVectors(target(), run, dtype);
}

bool CpuLowerings::joinsDepth(const MatmulTraits &traits, int64_t products) const {
  constexpr int64_t minProducts = 64; // from here on the faster product saves more than the transpose costs
  MatmulTraits joined = traits;
  joined.splitDepth = false;
  return products >= minProducts && chooseProduct(target(), joined).group > chooseProduct(target(), traits).group;
}

bool CpuLowerings::sumsGroups(DType dtype, int64_t channels, int64_t filters) const {
  const CpuTarget &cpu = target();
  const int64_t lanes = cpu.vectorBytes / (dtype == DType::float64 ? 8 : 4);
  if (filters < 2 || filters > lanes || lanes % filters != 0 || channels < 1)
    return false;
  // Several groups per vector: one vector of the image then holds all channels of these groups.
  if (filters < lanes)
    return channels <= filters;
  // One group per vector: the gradient with respect to the kernel holds a sum for each channel in registers. If a group
  // has many narrow channels, a contraction is faster: it widens each factor once, or multiplies pairs.
  const bool isNarrow = dtype != DType::float64 && dtype != DType::float32;
  return isNarrow ? channels <= filters && channels <= 8 : channels <= cpu.vectorRegisters / 2;
}

/// The number of columns in a panel: one vector of 32-bit sums.
static constexpr int64_t panelColumns = 16;

static bool fitPanels(const CpuTarget &cpu, int64_t k, int64_t n, int64_t group) {
  constexpr int64_t smallest = int64_t(1) << 14; // below, a copy costs more than packing the weight for each product
  return cpu.vectorBytes == panelColumns * 4 && k * n >= smallest && k % group == 0 && n % panelColumns == 0;
}

/// The product that multiplies many rows by panels of a weight.
static const ProductRow &productOfPanels(const CpuTarget &cpu, Numerics numerics, DType weight) {
  MatmulTraits traits{weight, weight, weight == DType::int8 ? DType::int32 : DType::float32, manyRows};
  traits.numerics = numerics;
  traits.lhsAlongDepth = traits.panels = true;
  return chooseProduct(cpu, traits);
}

std::optional<WeightPanels> CpuLowerings::weightPanels(Numerics numerics, DType weight, int64_t k, int64_t n) const {
  const int64_t group = productOfPanels(target(), numerics, weight).group;
  if (group == 1 || !fitPanels(target(), k, n, group))
    return std::nullopt;
  return WeightPanels{panelColumns, group};
}

std::optional<WeightPanels> CpuLowerings::halfBytePanels(DType lhs, int64_t k, int64_t n) const {
  constexpr int64_t bits = 4, group = 8; // a group of a column has 32 bits
  const bool isFloat = lhs == DType::float32 || lhs == DType::bfloat16 || lhs == DType::float16;
  // int4 elements are read as unsigned. AMX tiles are faster, but need whole bytes.
  const bool isRead = lhs == DType::int8 ? !productOfPanels(target(), Numerics::strict(), lhs).signedOperands : isFloat;
  return isRead && fitPanels(target(), k, n, group) ? std::optional(WeightPanels{panelColumns, group, bits})
                                                    : std::nullopt;
}

} // namespace halftone::compiler
