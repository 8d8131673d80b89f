// The contents of a History.
// SPDX-License-Identifier: Apache-2.0
#pragma once
#include "halftone/Model.h"
#include <string>
#include <utility>
#include <vector>

namespace halftone {

struct History::Rep {
  std::vector<std::pair<std::string, std::vector<double>>> values; // one value per epoch
  std::vector<std::vector<int64_t>> epochsOfValues;                // per key: validation may be infrequent
  std::vector<int64_t> epochs;
  void record(int64_t epoch, const Logs &logs);
};

} // namespace halftone
