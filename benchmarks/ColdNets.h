// The nets whose first calls are timed.
// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <functional>
#include <halftone/Halftone.h>
#include <string>
#include <vector>

namespace halftone::benchmarks {

struct ColdNet {
  std::string name;
  /// Creates the net under the policy of that name: compiled with Adam, built, and initialized from seed 1. It consists
  /// of layers and operations that Keras's files can represent.
  std::function<Model(const std::string &policy)> make;
  /// A batch; the same one on each call.
  std::function<Batch()> data;
};

/// Thirteen nets of common kinds and depths, on images of 28 to 64 pixels and sequences of 64 tokens or time steps.
const std::vector<ColdNet> &coldNets();

} // namespace halftone::benchmarks
