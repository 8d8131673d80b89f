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
  Emitted mask = {};  // vector of i1: which lanes are inside; null: all
  Emitted limit = {}; // with a mask: where the range ends
};

/// The lanes of a masked step that begins at the present index and ends before `limit`.
Lanes maskedLanes(KernelFrame &frame, int64_t count, int dim, Emitted limit);

/// The element or elements at the present index; a scalar when the access does not vary along the lanes. Lanes outside
/// hold anything.
Emitted loadLanes(KernelFrame &frame, const TensorHome &home, const TensorAccess &access, const Lanes &lanes);
/// The same of each input of `generic` that its body reads; null for the others.
Values loadInputs(KernelFrame &frame, mlir::linalg::GenericOp generic, const Lanes &lanes);
void storeLanes(KernelFrame &frame, Emitted value, const TensorHome &home, const TensorAccess &access,
                const Lanes &lanes);
/// A whole vector to an address that is a multiple of its size, or of 64 bytes, past the caches; later stores of this
/// thread wait for it only after storeFence().
void streamLanes(KernelFrame &frame, Emitted value, const TensorHome &home, const TensorAccess &access);
void storeFence(KernelFrame &frame);
/// `value` where the lanes are inside, else `other`.
Emitted selectInside(const Lanes &lanes, Emitted value, Emitted other);

/// Whether a generic's body holds a function that becomes many instructions.
bool hasLongFunction(mlir::linalg::GenericOp generic);
/// Whether a generic's body is so short that waiting for its accumulators would take longer than computing it.
bool isShort(mlir::linalg::GenericOp generic);

/// The values that a generic's body yields at the present index, when its block arguments are `values`.
Values emitBody(KernelFrame &frame, mlir::linalg::GenericOp generic, const Values &values, const Lanes &lanes);

/// Accumulators, one for each name in `combiners` ("" takes none), combined pairwise: the values of `a`, then those of
/// `b`.
Values combineAll(KernelFrame &frame, llvm::ArrayRef<std::string> combiners, llvm::ArrayRef<Emitted> a,
                  llvm::ArrayRef<Emitted> b);
/// Vectors folded to scalars, halves onto halves: a fixed order.
Values combineLanes(KernelFrame &frame, llvm::ArrayRef<std::string> combiners, llvm::ArrayRef<Emitted> vectors);

} // namespace halftone::compiler
