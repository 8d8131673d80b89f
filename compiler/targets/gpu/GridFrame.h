// The function around a kernel's blocks on GPUs: the entry's parameters, the block and thread that run, shared memory.
// SPDX-License-Identifier: Apache-2.0
#pragma once
#include "compiler/kernels/BlockFrame.h"
#include "compiler/targets/Target.h"
#include "compiler/targets/gpu/GpuOps.h"

namespace halftone::compiler {

/// Address spaces of pointers: memory of the device, and memory that the threads of a block share.
inline constexpr unsigned globalSpace = 1, sharedSpace = 3;

/// All threads of a block run the code that is written into the frame; a predicate that does not hold has ended the block
/// before. Pointers of buffers and scratch are in `globalSpace`.
class GridFrame : public BlockFrame {
public:
  /// Creates the entry (runtime/plan/GpuAbi.h) next to the source's function and stands where a block begins its work.
  GridFrame(const KernelSource &source, const GpuOps &ops);
  /// Erases the entry, unless finish() replaced the source's function by it.
  ~GridFrame();
  /// What launches need: `threads`, and the shared memory that was asked for. Fails, with a diagnostic, if exchange() was asked
  /// for more than a block has without asking the driver.
  mlir::FailureOr<LaunchShape> finish();

  void barrier(); // GpuOps::barrier
  /// New memory that the block's threads share, undefined when a block begins; `alignment` at most 128 bytes.
  Emitted shared(int64_t bytes, int64_t alignment = 16);
  /// Shared memory for one exchange of values. Every call returns the same memory: so a caller puts a barrier between
  /// the reads of one exchange and the writes of the next.
  Emitted exchange(int64_t bytes);
  /// The value of the lane `distance` above; lanes without one keep theirs. i1 and integers and floats of up to 64 bits.
  Emitted shuffleDown(Emitted value, int64_t distance);
  /// The value of the lane with index `lane` modulo 32; `lane` is an index.
  Emitted shuffleFrom(Emitted value, Emitted lane);
  Emitted ballot(Emitted condition); // GpuOps::ballot

  int64_t threads = 256; // of a block; an emitter that wants another number sets it first
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
  mlir::LLVM::GlobalOp pool, exchanged; // shared memory: of shared(), of exchange() once there is some
  int64_t sharedBytes = 0, exchangedBytes = 0;
};

} // namespace halftone::compiler
