// The common part of all kinds of GPU targets: blocks of threads that share memory, and code generation for them.
// SPDX-License-Identifier: Apache-2.0
#pragma once
#include "compiler/targets/Target.h"
#include "compiler/targets/gpu/GpuBlocking.h"
#include "compiler/targets/gpu/GpuOps.h"

namespace halftone::compiler {

class GridFrame;

/// The common part of GPU targets. A kind of GPU adds its thread operations, its matrix instructions and its machine
/// code.
struct GpuTarget : Target {
  const Blocking &blocking(Numerics /*numerics*/) const final { return blocks; }
  /// Weights are not packed: blocks copy their tiles to shared memory from any layout.
  const Lowerings &lowerings() const final { return plain; }
  /// #halftone_gpu.row for a row or finish kernel; for a matmul, #halftone_gpu.matmul or a schedule of the kind.
  ScheduleAttrInterface schedule(mlir::MLIRContext *context, const KernelTraits &traits) const override;
  /// Bytes per block.
  int64_t scratchBytes(mlir::func::FuncOp kernel, llvm::ArrayRef<int64_t> extents) const final;
  mlir::FailureOr<EmittedKernel> emit(mlir::func::FuncOp kernel) const final;

  virtual const GpuOps &ops() const = 0;
  /// Emits the work of one block of a matmul kernel into `frame`, as the emitters of the other forms do (Emitters.h).
  virtual mlir::FailureOr<std::string> emitMatmul(GridFrame &frame) const = 0;

  int64_t multiprocessors; // for which blocks are chosen

protected:
  explicit GpuTarget(int64_t multiprocessors) : multiprocessors(multiprocessors), blocks(multiprocessors) {}

private:
  GpuBlocking blocks;
  Lowerings plain;
};

} // namespace halftone::compiler
