// Reading, writing and combining along the vector dim of a kernel.
// SPDX-License-Identifier: Apache-2.0
#pragma once
#include "compiler/kernels/ScalarBody.h"
#include "compiler/targets/cpu/KernelFrame.h"

namespace halftone::compiler {

/// One step along the vector dim: `count` neighbours that begin at the frame's index of `dim`, or a scalar (count 0).
struct Lanes {
  int64_t count = 0;
  int dim = -1;
  mlir::Value mask;  // vector of i1: which lanes are inside; null: all
  mlir::Value limit; // with a mask: where the range ends
};

/// The lanes of a masked step that begins at the present index and ends before `limit`.
Lanes maskedLanes(KernelFrame &frame, int64_t count, int dim, mlir::Value limit);

/// The element or elements at the present index; a scalar when the access does not vary along the lanes. Lanes outside
/// hold anything.
mlir::Value loadLanes(KernelFrame &frame, const TensorHome &home, const TensorAccess &access, const Lanes &lanes);
void storeLanes(KernelFrame &frame, mlir::Value value, const TensorHome &home, const TensorAccess &access,
                const Lanes &lanes);
/// A whole vector to an address that is a multiple of its size, or of 64 bytes, past the caches; later stores of this
/// thread wait for it only after storeFence().
void streamLanes(KernelFrame &frame, mlir::Value value, const TensorHome &home, const TensorAccess &access);
void storeFence(KernelFrame &frame);
/// `value` where the lanes are inside, else `other`.
mlir::Value selectInside(KernelFrame &frame, const Lanes &lanes, mlir::Value value, mlir::Value other);

/// `vectors`, as many as each has lanes, as rows of a square: its columns.
KernelFrame::Values transposeLanes(KernelFrame &frame, KernelFrame::Values vectors);

/// Whether a generic's body holds a function that becomes many instructions.
bool hasLongFunction(mlir::linalg::GenericOp generic);
/// Whether a generic's body is so short that waiting for its accumulators would take longer than computing it.
bool isShort(mlir::linalg::GenericOp generic);

/// The values that a generic's body yields at the present index, when its block arguments are `values`.
mlir::FailureOr<KernelFrame::Values> emitBody(KernelFrame &frame, mlir::linalg::GenericOp generic,
                                              llvm::ArrayRef<mlir::Value> values, const Lanes &lanes);

/// Accumulators, one for each name in `combiners` ("" takes none), combined pairwise: the values of `a`, then those of
/// `b`.
KernelFrame::Values combineAll(KernelFrame &frame, llvm::ArrayRef<std::string> combiners, llvm::ArrayRef<mlir::Value> a,
                               llvm::ArrayRef<mlir::Value> b);
/// Vectors folded to scalars, halves onto halves: a fixed order.
KernelFrame::Values combineLanes(KernelFrame &frame, llvm::ArrayRef<std::string> combiners,
                                 llvm::ArrayRef<mlir::Value> vectors);

} // namespace halftone::compiler
