// The tensors that a benchmark gives to peers, and the comparison of their losses with ours.
// SPDX-License-Identifier: Apache-2.0
#pragma once
#include "Peer.h"
#include <filesystem>
#include <halftone/Halftone.h>
#include <string>
#include <vector>

namespace halftone::benchmarks {

/// A folder for the tensors from which peers start; it is removed at the end.
class Exchange {
public:
  Exchange(); // std::runtime_error when it cannot be made
  ~Exchange();
  Exchange(const Exchange &) = delete;
  std::string path() const { return path_.string(); }
  /// Writes the batch as x and y, and the model's trainable weights as w0, w1, ...
  void put(const Batch &data, const Model &model) const;

private:
  std::filesystem::path path_;
};

/// The reason why `peer` is not timed; "" when it has answered `request` by losses whose relative differences from ours
/// are at most `tolerance`.
std::string refusal(Peer &peer, const std::string &request, const std::vector<double> &losses, double tolerance);

} // namespace halftone::benchmarks
