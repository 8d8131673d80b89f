// The ops and layouts that a target's kernels can read: queries of the passes that run before kernels are formed.
// SPDX-License-Identifier: Apache-2.0
#pragma once
#include "compiler/kernels/Numerics.h"
#include "compiler/targets/KernelTraits.h"
#include "halftone/DType.h"
#include <cstdint>
#include <optional>

namespace halftone::compiler {

/// The packed layout of a weight for products with any number of rows: panels of `columns` columns, in which `group`
/// neighbours along K are adjacent.
struct WeightPanels {
  int64_t columns = 0, group = 0;
  int64_t bits = 0; // per element; 0: those of its dtype
};

/// The answers of one target, as functions of dtypes, extents and numerics. The base class describes a target whose
/// kernels read only plain matrices.
class Lowerings {
public:
  virtual ~Lowerings() = default;

  /// Returns true if a matmul can read its left operand through a window of an image in memory (`halftone.window`).
  virtual bool readsWindows() const { return false; }
  /// Returns true if a matmul with this number of rows should read a right operand with several K axes directly, in
  /// contiguous runs of `run` elements. Otherwise a transpose converts it to a matrix first.
  virtual bool readsDepthInRuns(DType /*dtype*/, int64_t /*rows*/, int64_t /*run*/) const { return false; }
  /// Returns true if an operand of a matmul with several K axes, whose order differs between the operands, should first
  /// be transposed so that K is one axis. Each element of the operand occurs in `products` products.
  virtual bool joinsDepth(const MatmulTraits & /*traits*/, int64_t /*products*/) const { return false; }
  /// Returns true if a grouped convolution of this dtype, with this number of channels and filters per group, should be
  /// lowered to a sum of products with lanes along the filters of one or several groups, rather than to a contraction
  /// per group.
  virtual bool sumsGroups(DType /*dtype*/, int64_t /*channels*/, int64_t /*filters*/) const { return false; }
  /// The packed layout of a weight, K x N along any axes, for the matmuls that read it as their right operand, if it
  /// speeds up their products; nullopt: row-major. All batches share the copy.
  virtual std::optional<WeightPanels> weightPanels(Numerics /*numerics*/, DType /*weight*/, int64_t /*k*/,
                                                   int64_t /*n*/) const {
    return std::nullopt;
  }
  /// Packed layout for int4 weights, two elements per byte, which are multiplied by values of dtype `lhs`.
  virtual std::optional<WeightPanels> halfBytePanels(DType /*lhs*/, int64_t /*k*/, int64_t /*n*/) const {
    return std::nullopt;
  }
};

} // namespace halftone::compiler
