// Passes tensors to the peers of a benchmark, and compares their losses with ours.
// SPDX-License-Identifier: Apache-2.0
#pragma once
#include "Folder.h"
#include "Peer.h"
#include <halftone/Halftone.h>
#include <string>
#include <vector>

namespace halftone::benchmarks {

/// A temporary folder for the peers' initial tensors.
class Exchange {
public:
  std::string path() const { return folder_.path().string(); }
  /// Writes the batch as x and y, and the model's trainable weights as w0, w1, ...
  void put(const Batch &data, const Model &model) const;

private:
  const Folder folder_;
};

/// The reason why `peer` is not timed; "" if it answers `request` with losses that differ from ours by at most the
/// relative `tolerance`.
std::string refusal(Peer &peer, const std::string &request, const std::vector<double> &losses, double tolerance);

} // namespace halftone::benchmarks
