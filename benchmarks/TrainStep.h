// Times training steps of networks beside PyTorch, JAX and Keras, from equal weights and with equal losses.
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
  std::string title, name; // title: in rows; name: in requests to peers
  std::function<Batch(int64_t count)> data;
  /// `checked`: for the first steps, whose losses are compared, without dropout and with changing weights; otherwise
  /// for timed steps.
  std::function<Model(const std::string &policy, bool checked)> make;
  std::vector<std::string> policies{};
  std::vector<int64_t> batches{};
  std::vector<std::string> peers{};
  std::map<std::string, std::pair<double, double>> bars{}; // bar and stretch goal by peer
  double checkedRate = 1e-3;                               // learning rate of the steps whose losses are compared
  bool besideFloat32 = false;                              // whether to time mixed policies beside float32 too
};

/// Adds a row for each network, policy, batch size and peer. All train on `device`, where their batches are. A peer
/// whose losses differ from ours is not timed, and its row says so.
void compareTrainSteps(Table &table, const std::vector<Network> &networks, Device device = Device::cpu());

} // namespace halftone::benchmarks
