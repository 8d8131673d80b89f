// Reductions across the threads of a block, in a fixed order.
// SPDX-License-Identifier: Apache-2.0
#pragma once
#include "compiler/targets/gpu/ThreadTile.h"

namespace halftone::compiler {

/// A scalar or vector in memory, divided into parts of one type, each accessed at once, with at most 16 bytes.
struct Parts {
  explicit Parts(mlir::Type value);
  int64_t bytes() const; // per part

  mlir::Type type;
  int64_t count;
};
/// Splits a value into its parts in order, and joins parts to the value.
Values split(CodeBuilder &builder, Emitted value);
Emitted join(CodeBuilder &builder, llvm::ArrayRef<Emitted> parts);

/// Values of threads in shared memory, scalars or vectors: one slot per thread. Equal parts of adjacent slots are
/// contiguous, so the threads of a warp that access adjacent slots use all banks evenly, however long their vectors
/// are.
class Slots {
public:
  /// Places `count` slots at `memory`, which is aligned to 16 bytes.
  Slots(GridFrame &frame, llvm::ArrayRef<mlir::Type> types, int64_t count, Emitted memory)
      : frame(frame), types(types), count(count), memory(memory) {}
  static int64_t bytes(llvm::ArrayRef<mlir::Type> types, int64_t count);

  /// The values have the given types, in their order.
  void write(llvm::ArrayRef<Emitted> values, Emitted slot) const;
  Values read(Emitted slot) const;

private:
  /// Calls `access` for each part of each value, with the value's index and the part's address in the slot.
  void eachPart(Emitted slot,
                llvm::function_ref<void(size_t value, int64_t part, const Parts &, Emitted address)> access) const;

  GridFrame &frame;
  llvm::SmallVector<mlir::Type> types;
  int64_t count;
  Emitted memory;
};

/// Combines the accumulators of the 32 lanes of a warp by folding halves onto halves; each lane gets the total.
/// `combiners` has a name for each accumulator, as for combineAll(); all accumulators are scalars.
Values foldWarp(GridFrame &frame, llvm::ArrayRef<std::string> combiners, llvm::ArrayRef<Emitted> values);

/// foldWarp() for each team of `across` adjacent threads, whole warps and a power of two: folds lanes, then warps, by
/// halves. Each thread gets its team's total; all threads of the block must take part.
Values foldTeam(GridFrame &frame, int64_t across, llvm::ArrayRef<std::string> combiners,
                llvm::ArrayRef<Emitted> values);

/// foldWarp() for all threads of a block.
Values foldBlock(GridFrame &frame, llvm::ArrayRef<std::string> combiners, llvm::ArrayRef<Emitted> values);

/// Combines accumulators, scalars or vectors, of the threads of a tile with the same index in their rows, row by row.
/// The threads of the first row get the totals, the others undefined values; all threads must take part.
Values foldRows(GridFrame &frame, const ThreadTile &tile, llvm::ArrayRef<std::string> combiners,
                llvm::ArrayRef<Emitted> values);

} // namespace halftone::compiler
