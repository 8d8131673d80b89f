// The operations of a GPU's threads that no dialect has for all GPUs.
// SPDX-License-Identifier: Apache-2.0
#pragma once
#include "compiler/kernels/CodeBuilder.h"
#include "compiler/kernels/Numerics.h"
#include "mlir/Dialect/LLVMIR/LLVMDialect.h"

namespace halftone::compiler {

inline constexpr int64_t warpLanes = 32;

/// From which lane of its warp a thread reads a value: the one so many places further, or the one with that index.
enum class Shuffle { down, from };

/// Each kind of GPU writes these operations in a dialect of its own, and code generation for GPUs in no other way.
class GpuOps {
public:
  virtual ~GpuOps() = default;

  /// The index of the block in its launch, and of the thread in its block, as i32.
  virtual Emitted blockIndex(CodeBuilder &builder) const = 0;
  virtual Emitted threadIndex(CodeBuilder &builder) const = 0;
  /// Each thread waits here until all threads of the block have come; then each sees the memory that the others wrote
  /// before.
  virtual void barrier(CodeBuilder &builder) const = 0;
  /// The `value`, of 32 bits, of another lane of the warp; `lane`, an i32, is a distance or an index modulo 32. A lane
  /// whose `down` leads out of the warp keeps its value.
  virtual Emitted shuffle(CodeBuilder &builder, Shuffle kind, Emitted value, Emitted lane) const = 0;
  /// In all lanes of a warp, an i32 whose bit i is the `condition` of lane i.
  virtual Emitted ballot(CodeBuilder &builder, Emitted condition) const = 0;
  /// Makes `entry` a kernel with blocks of `threads` threads. If `numerics` round each op, the code gives the same bits on
  /// every GPU.
  virtual void markEntry(mlir::LLVM::LLVMFuncOp entry, int64_t threads, Numerics numerics) const = 0;
};

} // namespace halftone::compiler
