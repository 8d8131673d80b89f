// Accumulators of threads combined in a fixed order.
// SPDX-License-Identifier: Apache-2.0
#pragma once
#include "compiler/targets/gpu/ThreadTile.h"

namespace halftone::compiler {

/// A scalar or vector in memory as parts of one type, each of which one access of at most 16 bytes moves.
struct Parts {
  explicit Parts(mlir::Type value);
  int64_t bytes() const; // of a part

  mlir::Type type;
  int64_t count;
};
/// A value's parts in order, and the value that parts make.
Values split(CodeBuilder &builder, Emitted value);
Emitted unite(CodeBuilder &builder, llvm::ArrayRef<Emitted> parts);

/// Values of threads in shared memory, scalars or vectors: a slot of each for each thread. The same part of neighbouring
/// slots lies side by side: so the threads of a warp that access slots side by side use all banks evenly, however long
/// their vectors are.
class Slots {
public:
  /// `count` slots from `memory` on, which is aligned to 16 bytes.
  Slots(GridFrame &frame, llvm::ArrayRef<mlir::Type> types, int64_t count, Emitted memory)
      : frame(frame), types(types), count(count), memory(memory) {}
  static int64_t bytes(llvm::ArrayRef<mlir::Type> types, int64_t count);

  /// Of values of the types given, in their order.
  void write(llvm::ArrayRef<Emitted> values, Emitted slot) const;
  Values read(Emitted slot) const;

private:
  /// Calls `access` for each part of the values, the `value`-th of them, with the part's address in the slot.
  void eachPart(Emitted slot,
                llvm::function_ref<void(size_t value, int64_t part, const Parts &, Emitted address)> access) const;

  GridFrame &frame;
  llvm::SmallVector<mlir::Type> types;
  int64_t count;
  Emitted memory;
};

/// The accumulators of the 32 lanes of a warp, one for each name in `combiners` as combineAll() takes them, all scalars:
/// halves onto halves. Each lane gets the total.
Values foldWarp(GridFrame &frame, llvm::ArrayRef<std::string> combiners, llvm::ArrayRef<Emitted> values);

/// The same of each team of `across` threads side by side, whole warps and a power of two: lanes, then warps, by halves.
/// Each thread gets its team's total; all threads of the block take part.
Values foldTeam(GridFrame &frame, int64_t across, llvm::ArrayRef<std::string> combiners,
                llvm::ArrayRef<Emitted> values);

/// The same of all threads of a block.
Values foldBlock(GridFrame &frame, llvm::ArrayRef<std::string> combiners, llvm::ArrayRef<Emitted> values);

/// Accumulators, scalars or vectors, of the threads of a tile that have the same place in their rows: row by row. The
/// threads of the first row get the totals, others anything; all threads take part.
Values foldRows(GridFrame &frame, const ThreadTile &tile, llvm::ArrayRef<std::string> combiners,
                llvm::ArrayRef<Emitted> values);

} // namespace halftone::compiler
