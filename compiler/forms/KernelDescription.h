// A kernel as linalg on tensors without static extents, and the values that belong to one launch of it.
// SPDX-License-Identifier: Apache-2.0
#pragma once
#include "compiler/targets/Target.h"
#include "dialect/Dialect.h"
#include "mlir/IR/BuiltinOps.h"
#include "mlir/IR/OwningOpRef.h"
#include <cstdint>
#include <vector>

namespace halftone::compiler {

/// docs/kernel-form.md specifies `module`.
struct KernelDescription {
  mlir::OwningOpRef<mlir::ModuleOp> module;
  std::vector<int64_t> extents; // sizes of the iteration dims, as the code's `extents` argument
  int64_t grid = 1;             // number of blocks; depends only on the extents and the spec
  int64_t scratchBytes = 0;     // per thread
  double cost = 0;              // estimated nanoseconds on one core
};

/// Returns true if indices and offsets of a tensor of this shape, or of a loop over these extents, may be i32.
bool fitShortIndices(llvm::ArrayRef<int64_t> counts);

/// Describes `kernel` in a new module of the same context. Values inside the kernel stay in the arithmetic type (f32 or
/// f64) except at rounding casts, unless `numerics` round each op. On failure a diagnostic is emitted.
mlir::FailureOr<KernelDescription> describeKernel(dialect::KernelOp kernel, const Target &target, Numerics numerics);

} // namespace halftone::compiler
