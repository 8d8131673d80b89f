// What kernels for GPUs are made of.
// SPDX-License-Identifier: Apache-2.0
#include "compiler/targets/gpu/GpuTarget.h"
#include "compiler/targets/gpu/Emitters.h"
#include "compiler/targets/gpu/RowThreads.h"

namespace halftone::compiler {

std::optional<RowTile> GpuTarget::rowTile(mlir::func::FuncOp kernel, llvm::ArrayRef<int64_t> extents) const {
  const mlir::FailureOr<KernelSource> source = KernelSource::read(kernel);
  return succeeded(source) ? std::optional(chooseRowTile(*source, extents)) : std::nullopt;
}

/// Only a row kernel whose row does not fit into registers needs scratch; all other kernels use registers and shared
/// memory.
int64_t GpuTarget::scratchBytes(mlir::func::FuncOp kernel, llvm::ArrayRef<int64_t> extents) const {
  const mlir::FailureOr<KernelSource> source = KernelSource::read(kernel);
  if (failed(source) || source->form.kind != dialect::KernelKind::row || chooseRowTile(*source, extents).steps > 0)
    return 0;
  return keptRowBytes(*source, extents);
}

mlir::FailureOr<EmittedKernel> GpuTarget::emit(mlir::func::FuncOp kernel) const { return emitKernel(kernel, *this); }

} // namespace halftone::compiler
