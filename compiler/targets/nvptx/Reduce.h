// Accumulators of threads combined in a fixed order.
// SPDX-License-Identifier: Apache-2.0
#pragma once
#include "compiler/targets/nvptx/ThreadTile.h"

namespace halftone::compiler {

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
