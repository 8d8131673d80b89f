// The common part of GPU targets.
// SPDX-License-Identifier: Apache-2.0
#include "compiler/targets/gpu/GpuTarget.h"
#include "compiler/kernels/KeptRows.h"
#include "compiler/targets/gpu/Emitters.h"
#include "compiler/targets/gpu/RowThreads.h"
#include "compiler/targets/gpu/Schedules.h"

namespace halftone::compiler {

ScheduleAttrInterface GpuTarget::schedule(mlir::MLIRContext *context, const KernelTraits &traits) const {
  context->getOrLoadDialect<gpu::ScheduleDialect>();
  if (const auto *matmul = std::get_if<MatmulTraits>(&traits))
    return gpu::MatmulScheduleAttr::get(context, {matmul->tile.m, matmul->tile.n}, matmul->divisors);
  const auto *row = std::get_if<RowTraits>(&traits);
  if (!row)
    return {};
  const mlir::FailureOr<KernelSource> source = KernelSource::read(row->kernel);
  if (failed(source))
    return {};
  const RowTile tile = chooseRowTile(*source, row->extents);
  return gpu::RowScheduleAttr::get(context, tile.teams, tile.across, tile.vector, tile.steps);
}

/// A row kernel needs scratch if its row does not fit in registers, a sort kernel if its row does not fit in shared
/// memory. All other kernels use registers and shared memory.
int64_t GpuTarget::scratchBytes(mlir::func::FuncOp kernel, llvm::ArrayRef<int64_t> extents) const {
  const mlir::FailureOr<KernelSource> source = KernelSource::read(kernel);
  if (failed(source))
    return 0;
  if (source->form.kind == dialect::KernelKind::sort)
    return sortScratchBytes(*source, extents);
  if (source->form.kind != dialect::KernelKind::row)
    return 0;
  const auto row = llvm::dyn_cast_or_null<gpu::RowScheduleAttr>(source->form.schedule);
  return row && row.getSteps() == 0 ? keptRowBytes(*source, extents) : 0;
}

mlir::FailureOr<EmittedKernel> GpuTarget::emit(mlir::func::FuncOp kernel) const { return emitKernel(kernel, *this); }

} // namespace halftone::compiler
