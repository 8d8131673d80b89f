// The position of a run within its data, from which another run can continue.
// SPDX-License-Identifier: Apache-2.0
#pragma once
#include "halftone/Tensor.h"
#include <cstdint>
#include <random>
#include <string>
#include <utility>
#include <vector>

namespace halftone::detail {

/// A pass over the data. It yields the same elements in the same order if its seeds and counts are restored first.
struct PassPosition {
  bool isOpen = false;             // whether the next step continues it
  int64_t drawn = 0;               // elements
  int64_t rows = 0, batchSize = 0; // of arrays; 0 for a dataset
  std::mt19937_64 seeds; // the process's seed sequence at the start of the pass; NOLINT(bugprone-random-generator-seed)
  std::vector<int64_t> counts{}; // iterations that each shuffle of a dataset had started before the pass
};

struct DataPosition {
  int64_t epoch = 0, batch = 0; // finished epochs, and steps of the epoch after them
  PassPosition pass;
  std::vector<int64_t> counts{};                      // of the shuffles now, including those of validation data
  std::vector<Tensor> metrics{};                      // the sums of the metrics in this epoch
  std::vector<std::pair<std::string, double>> logs{}; // of the last step
};

} // namespace halftone::detail
