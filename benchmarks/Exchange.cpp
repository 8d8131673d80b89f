// Writes tensors for peers and compares losses.
// SPDX-License-Identifier: Apache-2.0
#include "Exchange.h"
#include <algorithm>
#include <cmath>
#include <fmt/format.h>
#include <stdexcept>

namespace halftone::benchmarks {

void Exchange::put(const Batch &data, const Model &model) const {
  const auto write = [&](const std::string &name, const Tensor &tensor) {
    tensor.save_npy((folder_.path() / (name + ".npy")).string());
  };
  write("x", data.x[0]);
  write("y", data.y[0]);
  const std::vector<Variable> weights = model.trainable_variables();
  for (size_t i = 0; i < weights.size(); ++i)
    write(fmt::format("w{}", i), weights[i].value());
}

/// The largest relative difference between the losses of the first steps; infinity if one is not a number.
static double difference(const std::vector<double> &ours, const std::vector<double> &theirs) {
  double largest = ours.size() == theirs.size() ? 0 : INFINITY;
  for (size_t i = 0; i < ours.size() && i < theirs.size(); ++i) {
    const double off = std::abs(ours[i] - theirs[i]) / std::max(std::abs(ours[i]), 1e-3);
    largest = std::max(largest, std::isfinite(off) ? off : INFINITY);
  }
  return largest;
}

std::string refusal(Peer &peer, const std::string &request, const std::vector<double> &losses, double tolerance) {
  if (!peer.missing().empty())
    return peer.missing();
  try {
    const double off = difference(losses, peer.askNumbers(request));
    return off <= tolerance ? "" : fmt::format("its losses differ by {:.1e}", off);
  } catch (const std::runtime_error &error) {
    return error.what();
  }
}

} // namespace halftone::benchmarks
