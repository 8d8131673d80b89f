// What the frontend asks of a dataset beside its public methods.
// SPDX-License-Identifier: Apache-2.0
#pragma once
#include "halftone/Data.h"
#include <atomic>
#include <memory>
#include <vector>

namespace halftone::detail {

/// How many iterations each shuffle of a dataset has begun. The next one's order follows from it, and from the shuffle's seed.
using ShuffleCounts = std::vector<std::shared_ptr<std::atomic<int64_t>>>;

struct DatasetAccess {
  /// Whether repeat() without a count makes an iteration go on for ever, unless a pass has no elements.
  static bool isEndless(const Dataset &dataset);
  /// Whether a thread of the dataset reads elements before a loop asks for them, as the user wants with prefetch().
  static bool isReadAhead(const Dataset &dataset);
  static const ShuffleCounts &shuffles(const Dataset &dataset);

  // Defined in frontend/data/DatasetRep.h, for the files of that folder.
  static Dataset make(Dataset::Rep rep);
  static const Dataset::Rep &rep(const Dataset &dataset);
  using Rep = Dataset::Rep;
};

} // namespace halftone::detail
