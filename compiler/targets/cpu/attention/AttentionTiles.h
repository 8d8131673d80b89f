// Products of an attention kernel's tiles, and the values of its generics along rows of scores.
// SPDX-License-Identifier: Apache-2.0
#pragma once
#include "compiler/kernels/AttentionDims.h"
#include "compiler/kernels/Lanes.h"
#include "compiler/targets/cpu/attention/ScratchMatrices.h"
#include <optional>

namespace halftone::compiler {

/// Multiplies factors in scratch, and evaluates the kernel's generics for a tile of scores, along queries or along a
/// dim of a result.
class AttentionTiles {
public:
  /// Emits, for AMX tiles, the tile configuration.
  explicit AttentionTiles(const ScratchMatrices &matrices, TileProduct::Shapes shapes = shapesOfManyRows);
  /// Call it after the last product.
  void end();

  /// Emits a product. `widens`, which may be null, tells whether its pairs may hold subnormal numbers.
  void multiply(const TileProductCall &call, Emitted widens);

  /// The values of a generic's only output for a vector of queries from the frame's index on. `given` holds the values
  /// of inputs that are not in memory.
  Emitted alongQueries(mlir::linalg::GenericOp generic, llvm::ArrayRef<std::pair<mlir::Value, Emitted>> given) const;
  /// Evaluates a generic for one query along the dim `dim` and stores the values in the kernel's result.
  void storeAlong(int dim, mlir::linalg::GenericOp generic,
                  llvm::function_ref<Emitted(mlir::Value, Emitted column)> given) const;
  /// Evaluates a generic for one element, at the frame's index, and stores it.
  void storeScalar(mlir::linalg::GenericOp generic, llvm::function_ref<Emitted(mlir::Value)> given) const;

  /// Whether `test` holds for any of the `count` queries from `first` on. `test` gets the column of a vector of queries
  /// and the lanes that are inside; the frame's index is that of the vector's first query.
  Emitted holdsForAny(Emitted first, Emitted count, llvm::function_ref<Emitted(Emitted, const Lanes &)> test) const;

  KernelFrame &frame;
  const ScratchMatrices &matrices;

private:
  TileProduct product;
  std::optional<TileProduct> widenedProduct;
};

/// The value of a generic's only output at the frame's index. `given` holds the values of inputs that are not in
/// memory.
Emitted valueOf(KernelFrame &frame, mlir::linalg::GenericOp generic, const Lanes &lanes,
                llvm::ArrayRef<std::pair<mlir::Value, Emitted>> given);
/// Whether any lane of a vector of i32 is not 0.
Emitted isAnySet(KernelFrame &frame, Emitted lanes);
/// The exponential of a vector of numbers that are at most 0.
Emitted expOfDistance(KernelFrame &frame, Emitted x);

/// The `number`-th of `count` runs of queries in execution order. With `causal`, later runs have more keys. The order
/// then is last, first, second to last, second, and so on, which balances the work of neighbouring blocks.
Emitted inFairOrder(const KernelFrame &frame, Emitted number, Emitted count);
/// a | b, where null means false; null if both are.
Emitted either(Emitted a, Emitted b);

/// checkProduct() for the factors that come from memory; the others are computed in the product's format.
mlir::LogicalResult checkAttentionProduct(const KernelFrame &frame,
                                          llvm::ArrayRef<mlir::linalg::GenericOp> contractions);

/// A description of the computation, for reports.
std::string attentionMethod(const KernelSource &source);

} // namespace halftone::compiler
