// GPUs of any kind: blocks of threads that share memory, and how kernels become code for them.
// SPDX-License-Identifier: Apache-2.0
#pragma once
#include "compiler/targets/Target.h"
#include "compiler/targets/gpu/GpuBlocking.h"
#include "compiler/targets/gpu/GpuOps.h"

namespace halftone::compiler {

class GridFrame;

/// What kinds of GPUs have in common. A kind adds its operations of threads, the instructions by which it multiplies
/// matrices, and its machine code.
struct GpuTarget : Target {
  const Blocking &blocking(Numerics /*numerics*/) const final { return blocks; }
  /// Weights stay row-major: blocks copy their tiles to shared memory from any layout.
  const Lowerings &lowerings() const final { return plain; }
  /// A row or finish kernel has #halftone_gpu.row, a matmul #halftone_gpu.matmul or one of the kind's own.
  ScheduleAttrInterface schedule(mlir::MLIRContext *context, const KernelTraits &traits) const override;
  /// Bytes per block.
  int64_t scratchBytes(mlir::func::FuncOp kernel, llvm::ArrayRef<int64_t> extents) const final;
  mlir::FailureOr<EmittedKernel> emit(mlir::func::FuncOp kernel) const final;

  virtual const GpuOps &ops() const = 0;
  /// Writes the work of one block of a matmul kernel into `frame`, as the emitters of the other kinds do (Emitters.h).
  virtual mlir::FailureOr<std::string> emitMatmul(GridFrame &frame) const = 0;

  int64_t multiprocessors; // that blocks are chosen for

protected:
  explicit GpuTarget(int64_t multiprocessors) : multiprocessors(multiprocessors), blocks(multiprocessors) {}

private:
  GpuBlocking blocks;
  Lowerings plain;
};

} // namespace halftone::compiler
