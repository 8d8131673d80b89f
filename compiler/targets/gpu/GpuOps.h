// Thread operations of GPUs for which no dialect covers all GPUs.
// SPDX-License-Identifier: Apache-2.0
#pragma once
#include "compiler/kernels/CodeBuilder.h"
#include "compiler/kernels/Numerics.h"
#include "mlir/Dialect/LLVMIR/LLVMDialect.h"

namespace halftone::compiler {

inline constexpr int64_t warpLanes = 32;

/// The lane of the warp from which a thread reads a value: the one at this distance, or the one with this index.
enum class Shuffle { down, from };

/// Each kind of GPU implements these operations in its own dialect; GPU code generation uses them in no other way.
class GpuOps {
public:
  virtual ~GpuOps() = default;

  /// The index of the block in its launch, and of the thread in its block, as i32.
  virtual Emitted blockIndex(CodeBuilder &builder) const = 0;
  virtual Emitted threadIndex(CodeBuilder &builder) const = 0;
  /// Waits for all threads of the block; makes their earlier memory writes visible to each other.
  virtual void barrier(CodeBuilder &builder) const = 0;
  /// Reads the 32-bit `value` of another lane of the warp; `lane`, an i32, is a distance or an index modulo 32. A lane
  /// for which `down` leads outside of the warp keeps its value.
  virtual Emitted shuffle(CodeBuilder &builder, Shuffle kind, Emitted value, Emitted lane) const = 0;
  /// An i32, the same in all lanes of a warp, whose bit i is the `condition` of lane i.
  virtual Emitted ballot(CodeBuilder &builder, Emitted condition) const = 0;
  /// Makes `entry` a kernel with blocks of `threads` threads. If `numerics` round each op, the code gives the same bits
  /// on every GPU.
  virtual void markEntry(mlir::LLVM::LLVMFuncOp entry, int64_t threads, Numerics numerics) const = 0;
};

} // namespace halftone::compiler
