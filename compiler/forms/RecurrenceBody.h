// Scans whose steps treat the rows of a batch independently: the loops that a recurrence kernel may hold.
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
  /// For each value that the results depend on: true if its first axis is that of the rows, false if the value is the
  /// same for all rows.
  llvm::DenseMap<mlir::Value, bool> hasRows;
};

/// Returns a description of `scan` if each of its steps treats the rows of the batch independently: axis 0 of every
/// carry and of every slice of the ys runs over the same rows, and no op combines two rows. The values of the body have
/// at most one axis besides that of the rows. The right operands of its contractions are captures. Returns nullopt for
/// other scans.
std::optional<RecurrenceBody> readRecurrence(dialect::ScanOp scan);

/// Clones the always cloned ops that the body of `scan`, which readRecurrence() accepts, captures into the body, and
/// moves slices above elementwise ops. Afterwards only arguments, captures, concats and contractions are sliced.
void prepareRecurrence(dialect::ScanOp scan);

} // namespace halftone::compiler
