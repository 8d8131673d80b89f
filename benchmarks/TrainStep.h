// How long training steps of networks take beside PyTorch, JAX and Keras, from equal weights and with equal losses.
// SPDX-License-Identifier: Apache-2.0
#pragma once
#include "Table.h"
#include <functional>
#include <halftone/Halftone.h>
#include <map>
#include <string>
#include <utility>
#include <vector>

namespace halftone::benchmarks {

/// A network whose training steps are timed.
struct Network {
  std::string title, name; // in rows, and in requests to peers
  std::function<Batch(int64_t count)> data;
  /// The first steps are checked while nothing is dropped and the weights change; the timed ones are the others.
  std::function<Model(const std::string &policy, bool checked)> make;
  std::vector<std::string> policies;
  std::vector<int64_t> batches;
  std::vector<std::string> peers;
  std::map<std::string, std::pair<double, double>> bars; // by peer: bar and stretch
  bool besideFloat32 = false;                            // mixed policies are timed beside float32 too
};

/// A row for each network, policy, batch and peer. A peer whose losses differ from ours is not timed; its row says so.
void compareTrainSteps(Table &table, const std::vector<Network> &networks);

} // namespace halftone::benchmarks
