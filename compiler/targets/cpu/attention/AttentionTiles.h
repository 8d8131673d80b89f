// Products of an attention kernel's tiles, and the values of its generics along rows of scores.
// SPDX-License-Identifier: Apache-2.0
#pragma once
#include "compiler/kernels/AttentionDims.h"
#include "compiler/kernels/Lanes.h"
#include "compiler/targets/cpu/attention/ScratchMatrices.h"
#include <optional>

namespace halftone::compiler {

/// Multiplies factors in scratch, and computes the kernel's generics for a tile of scores: along queries, or along a dim of a
/// result.
class AttentionTiles {
public:
  /// Emits the products' functions and, where products are made by tiles, the configuration of these.
  explicit AttentionTiles(const ScratchMatrices &matrices, TileProduct::Shapes shapes = shapesOfManyRows);
  /// After the last product.
  void end();

  /// Makes the product. `widens`, which may be null, says whether its pairs may hold subnormal numbers.
  void multiply(const TileProductCall &call, Emitted widens);

  /// The values of a generic's only output for a vector of queries from the frame's index on, where `given` are the
  /// values of the inputs that are not in memory.
  Emitted alongQueries(mlir::linalg::GenericOp generic, llvm::ArrayRef<std::pair<mlir::Value, Emitted>> given) const;
  /// The same of one query along the dim `dim`, stored where the kernel's result is.
  void storeAlong(int dim, mlir::linalg::GenericOp generic,
                  llvm::function_ref<Emitted(mlir::Value, Emitted column)> given) const;
  /// The same of an element at the frame's index.
  void storeScalar(mlir::linalg::GenericOp generic, llvm::function_ref<Emitted(mlir::Value)> given) const;

  /// Whether `test` holds for one of the `count` queries from `first` on. It gets the column of a vector of them, and the
  /// lanes that are queries; the frame's index is that of the first.
  Emitted holdsForAny(Emitted first, Emitted count, llvm::function_ref<Emitted(Emitted, const Lanes &)> test) const;

  KernelFrame &frame;
  const ScratchMatrices &matrices;

private:
  TileProduct product;
  std::optional<TileProduct> widenedProduct;
};

/// The value of a generic's only output at the frame's index, where `given` are the values of the inputs that are not in memory.
Emitted valueOf(KernelFrame &frame, mlir::linalg::GenericOp generic, const Lanes &lanes,
                llvm::ArrayRef<std::pair<mlir::Value, Emitted>> given);
/// Whether a lane of a vector of i32 is not 0.
Emitted isAnySet(KernelFrame &frame, Emitted lanes);
/// The exponential of a vector of numbers that are not above 0.
Emitted expOfDistance(KernelFrame &frame, Emitted x);

/// Which of `count` runs of queries comes `number`th. With `causal` a later run has more keys; then the last run comes
/// first, the first one second, and so on, so that neighbouring blocks have as much work as others.
Emitted inFairOrder(const KernelFrame &frame, Emitted number, Emitted count);
/// a | b, where null stands for false; null if both are.
Emitted either(Emitted a, Emitted b);

/// checkProduct() of the factors that come from memory; others are made as the product takes them.
mlir::LogicalResult checkAttentionProduct(const KernelFrame &frame,
                                          llvm::ArrayRef<mlir::linalg::GenericOp> contractions);

/// How the code computes, for reports.
std::string attentionMethod(const KernelSource &source);

} // namespace halftone::compiler
