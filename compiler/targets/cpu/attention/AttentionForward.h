// The generics of an attention kernel, as its emitters read them.
// SPDX-License-Identifier: Apache-2.0
#pragma once
#include "compiler/targets/cpu/KernelFrame.h"

namespace halftone::compiler {

/// The generics of the form, in order. Without dropout `weights` is `raised`.
struct ForwardForm {
  mlir::linalg::GenericOp products, scores, largest, raised, total, weights, sums;
  llvm::SmallVector<mlir::linalg::GenericOp> results;

  /// On failure a diagnostic says what an attention kernel must have.
  static mlir::FailureOr<ForwardForm> read(const KernelSource &source);
};

/// The emitters of kernels with tiles of queries and of kernels with few queries (`few_queries`), and their scratch
/// size in bytes.
mlir::FailureOr<std::string> emitAttentionOfTiles(KernelFrame &frame);
int64_t attentionScratchOfTiles(const KernelSource &source, llvm::ArrayRef<int64_t> extents, const CpuTarget &target);
mlir::FailureOr<std::string> emitAttentionOfFewQueries(KernelFrame &frame);
int64_t attentionScratchOfFewQueries(const KernelSource &source, llvm::ArrayRef<int64_t> extents,
                                     const CpuTarget &target);

} // namespace halftone::compiler
