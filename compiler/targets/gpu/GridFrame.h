// The function around a kernel's blocks on GPUs: the entry's parameters, the block and thread indices, shared memory.
// SPDX-License-Identifier: Apache-2.0
#pragma once
#include "compiler/kernels/BlockFrame.h"
#include "compiler/targets/Target.h"
#include "compiler/targets/gpu/GpuOps.h"

namespace halftone::compiler {

/// Address spaces of pointers: device memory, and memory shared by the threads of a block.
inline constexpr unsigned globalSpace = 1, sharedSpace = 3;

/// All threads of a block execute the code that is emitted into the frame; a block whose predicate does not hold has
/// exited before. Pointers of buffers and scratch are in `globalSpace`.
class GridFrame : public BlockFrame {
public:
  /// Creates the entry (runtime/plan/GpuAbi.h) next to the source's function, with the insertion point at the beginning
  /// of a block's work.
  GridFrame(const KernelSource &source, const GpuOps &ops);
  /// Erases the entry, unless finish() replaced the source's function by it.
  ~GridFrame();
  /// The launch requirements: `threads`, and the size of dynamic shared memory. Fails with a diagnostic if exchange()
  /// was called for more than a block may use without a request to the driver.
  mlir::FailureOr<LaunchShape> finish();

  void barrier(); // GpuOps::barrier
  /// Allocates memory that the block's threads share, undefined when a block begins; `alignment` is at most 128 bytes.
  Emitted shared(int64_t bytes, int64_t alignment = 16);
  /// Shared memory for one exchange of values. Every call returns the same memory, so callers need a barrier between
  /// the reads of one exchange and the writes of the next.
  Emitted exchange(int64_t bytes);
  /// The value of the lane `distance` above; lanes without one keep theirs. Takes i1, and integers and floats of up to
  /// 64 bits.
  Emitted shuffleDown(Emitted value, int64_t distance);
  /// The value of the lane with index `lane` modulo 32; `lane` is an index.
  Emitted shuffleFrom(Emitted value, Emitted lane);
  Emitted ballot(Emitted condition); // GpuOps::ballot

  int64_t threads = 256; // per block; an emitter that needs another number sets it first
  Emitted block;         // index within this part of the launch
  Emitted thread;        // index in the block
  Emitted lane, warp;    // of the thread
  Emitted scratch;       // the block's

private:
  void beginUnder(Emitted predicate, Emitted isNegated);
  Emitted partOf(Emitted gridBlock, Emitted table, Emitted parts, int64_t stride);
  void findPart(Emitted gridBlock, llvm::ArrayRef<Emitted> parameters);

  const GpuOps &ops;
  mlir::LLVM::LLVMFuncOp code;
  mlir::LLVM::GlobalOp pool, exchanged; // shared memory: of shared(), and of exchange() after its first call
  int64_t sharedBytes = 0, exchangedBytes = 0;
};

} // namespace halftone::compiler
