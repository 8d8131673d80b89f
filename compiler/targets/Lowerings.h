// Which ops and layouts kernels of a target read: what passes ask before kernels are formed.
// SPDX-License-Identifier: Apache-2.0
#pragma once
#include "compiler/kernels/Numerics.h"
#include "compiler/targets/KernelTraits.h"
#include "halftone/DType.h"
#include <cstdint>
#include <optional>

namespace halftone::compiler {

/// A weight's layout for products of any number of rows: panels of `columns` columns, `group` neighbours along K
/// together.
struct WeightPanels {
  int64_t columns = 0, group = 0;
  int64_t bits = 0; // of an element; 0: those of its dtype
};

/// The answers of one target: functions of dtypes, extents, numerics and target. Those of the base class are of a target whose
/// kernels read plain matrices.
class Lowerings {
public:
  virtual ~Lowerings() = default;

  /// Whether a matmul reads its left operand through a window of an image in memory (`halftone.window`).
  virtual bool readsWindows() const { return false; }
  /// Whether a matmul of so many rows should read a right operand whose K is several axes, and lies in runs of `run` elements,
  /// as it is. Otherwise a transpose lays it out as a matrix first.
  virtual bool readsDepthInRuns(DType /*dtype*/, int64_t /*rows*/, int64_t /*run*/) const { return false; }
  /// Whether a matmul whose K is several axes, which do not lie in one order in both operands, should read an operand that a
  /// transpose has laid out with K as one axis. Each of its elements is in `products` products.
  virtual bool joinsDepth(const MatmulTraits & /*traits*/, int64_t /*products*/) const { return false; }
  /// Whether a convolution of this dtype, in groups of so many channels and filters, should be lowered to a sum of products,
  /// with lanes along the filters of one or several groups, and not to a contraction for each group.
  virtual bool sumsGroups(DType /*dtype*/, int64_t /*channels*/, int64_t /*filters*/) const { return false; }
  /// The layout of a weight, K x N along whichever axes, for the matmuls that read it as their right operand, where
  /// that makes their products faster; nullopt: row-major. All batches share the copy.
  virtual std::optional<WeightPanels> weightPanels(Numerics /*numerics*/, DType /*weight*/, int64_t /*k*/,
                                                   int64_t /*n*/) const {
    return std::nullopt;
  }
  /// The same of a weight of integers of four bits that values of dtype `lhs` are multiplied by: two in a byte.
  virtual std::optional<WeightPanels> halfBytePanels(DType /*lhs*/, int64_t /*k*/, int64_t /*n*/) const {
    return std::nullopt;
  }
};

} // namespace halftone::compiler
