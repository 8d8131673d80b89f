// Access to a dataset beyond its public methods, for the frontend.
// SPDX-License-Identifier: Apache-2.0
#pragma once
#include "halftone/Data.h"
#include <atomic>
#include <memory>
#include <vector>

namespace halftone::detail {

/// The number of iterations started by each shuffle of a dataset. It determines, with the shuffle's seed, the order of
/// the next iteration.
using ShuffleCounts = std::vector<std::shared_ptr<std::atomic<int64_t>>>;

struct DatasetAccess {
  /// Returns true if repeat() without a count makes an iteration endless, unless a pass has no elements.
  static bool isEndless(const Dataset &dataset);
  /// Returns true if the last step of the dataset is prefetch(), so that elements may be read before they are requested.
  static bool isReadAhead(const Dataset &dataset);
  static const ShuffleCounts &shuffles(const Dataset &dataset);

  // Defined in frontend/data/DatasetRep.h, for the files of that folder.
  static Dataset make(Dataset::Rep rep);
  static const Dataset::Rep &rep(const Dataset &dataset);
  using Rep = Dataset::Rep;
};

} // namespace halftone::detail
