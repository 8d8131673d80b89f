// Loops whose steps treat the rows of a batch apart: what a recurrence kernel may hold.
// SPDX-License-Identifier: Apache-2.0
#pragma once
#include "compiler/targets/KernelTraits.h"
#include "dialect/Dialect.h"
#include "llvm/ADT/DenseMap.h"
#include <optional>

namespace halftone::compiler {

/// A loop that a recurrence kernel may run.
struct RecurrenceBody {
  RecurrenceTraits traits;
  /// Of each value that the results depend on: whether its first axis is that of the rows. If not, all rows see the same.
  llvm::DenseMap<mlir::Value, bool> hasRows;
};

/// `scan` if each of its steps treats the rows of the batch apart: axis 0 of every carry and of every slice of the
/// ys counts the same rows, and no op combines two of them. The body's values have one axis besides that of the rows, or none.
/// The right operands of its contractions are captures. nullopt for other scans.
std::optional<RecurrenceBody> readRecurrence(dialect::ScanOp scan);

/// Copies the glue that the body of `scan`, which readRecurrence() reads, captures into it, and moves slices
/// in front of elementwise ops. So slices are those of arguments, captures, concats and contractions.
void prepareRecurrence(dialect::ScanOp scan);

} // namespace halftone::compiler
