// A region of a trace under construction.
// SPDX-License-Identifier: Apache-2.0
#pragma once
#include "frontend/graph/Trace.h"
#include "mlir/IR/Block.h"
#include "mlir/IR/Builders.h"

namespace halftone::detail {

/// The body of @main or of a layer, or a region of a branch or loop.
struct OpenRegion {
  int64_t id = 0;
  mlir::Block *block = nullptr;
  bool isolated = false;
  bool isLoop = false;
  // For isolated regions: the outer values that the region uses, and the block arguments that stand for them.
  llvm::SmallVector<mlir::Value> captured;
  llvm::DenseMap<mlir::Value, mlir::Value> captures;

  /// The value that ops inside the region use for an outer value.
  mlir::Value seenInside(mlir::Value outer, mlir::Location location) {
    if (!isolated)
      return outer;
    auto [it, isNew] = captures.try_emplace(outer, mlir::Value());
    if (isNew) {
      captured.push_back(outer);
      it->second = block->addArgument(outer.getType(), location);
    }
    return it->second;
  }
};

} // namespace halftone::detail
