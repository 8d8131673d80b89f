// What the frontend asks of a dataset beside its public methods.
// SPDX-License-Identifier: Apache-2.0
#pragma once
#include "halftone/Data.h"

namespace halftone::detail {

struct DatasetAccess {
  /// Whether repeat() without a count makes an iteration go on for ever, unless a pass has no elements.
  static bool isEndless(const Dataset &dataset);
};

} // namespace halftone::detail
