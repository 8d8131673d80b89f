// How the threads of a block share the rows of a row kernel, as the kernel's linalg form says it.
// SPDX-License-Identifier: Apache-2.0
#pragma once
#include "compiler/kernels/KernelSource.h"
#include <optional>

namespace halftone::compiler {

/// `halftone.row_tile = array<i64: teams, across, vector, steps>` on the function of a row or finish kernel, for targets
/// whose threads compute a block together: teams of `across` threads, both powers of two, and each thread vectors of
/// `vector` elements, which divides the last inner dim. `steps` vectors of each thread hold a row; 0: a team goes through
/// a row in a loop.
struct RowTile {
  int64_t teams = 1, across = 1, vector = 1, steps = 0;

  /// Reads the attribute of `function`; nullopt if the function has none. If the attribute is not of that form, a
  /// diagnostic says so.
  static mlir::FailureOr<std::optional<RowTile>> read(mlir::func::FuncOp function);
  void write(mlir::func::FuncOp function) const;
};

/// Bytes of one row of each value that one phase of a row kernel keeps for a later one, each at a multiple of 64, at
/// these extents.
int64_t keptRowBytes(const KernelSource &source, llvm::ArrayRef<int64_t> extents);

} // namespace halftone::compiler
