// The comparison of training steps.
// SPDX-License-Identifier: Apache-2.0
#include "TrainStep.h"
#include "Peer.h"
#include "Race.h"
#include <cmath>
#include <cstdlib>
#include <filesystem>
#include <fmt/format.h>
#include <sched.h>
#include <tuple>

namespace halftone::benchmarks {

namespace {

constexpr int checkedSteps = 5;

/// A folder for the tensors from which peers start; it is removed at the end.
struct Exchange {
  std::filesystem::path path;
  Exchange() {
    std::string pattern = (std::filesystem::temp_directory_path() / "halftone-train-step-XXXXXX").string();
    if (!::mkdtemp(pattern.data()))
      throw std::runtime_error("cannot make " + pattern);
    path = pattern;
  }
  ~Exchange() {
    std::error_code ignored;
    std::filesystem::remove_all(path, ignored);
  }
  void put(const std::string &name, const Tensor &tensor) const { tensor.save_npy((path / (name + ".npy")).string()); }
};

/// The largest relative difference between the losses of the first steps.
double difference(const std::vector<double> &ours, const std::vector<double> &theirs) {
  double largest = ours.size() == theirs.size() ? 0 : INFINITY;
  for (size_t i = 0; i < ours.size() && i < theirs.size(); ++i)
    largest = std::max(largest, std::abs(ours[i] - theirs[i]) / std::max(std::abs(ours[i]), 1e-3));
  return largest;
}

/// Writes a batch and the weights from which all start, and returns the losses of the first steps from them.
std::vector<double> firstLosses(const Model &model, const Batch &data, const Exchange &exchange) {
  exchange.put("x", data.x[0]);
  exchange.put("y", data.y[0]);
  const std::vector<Variable> weights = model.trainable_variables();
  for (size_t i = 0; i < weights.size(); ++i)
    exchange.put(fmt::format("w{}", i), weights[i].value());
  std::vector<double> losses;
  for (int step = 0; step < checkedSteps; ++step)
    losses.push_back(model.train_on_batch(data.x, data.y)["loss"]);
  return losses;
}

/// The reason why `peer` is not timed; "" when it has prepared and its losses are ours.
std::string refusal(Peer &peer, const std::string &request, const std::vector<double> &losses, double tolerance) {
  if (!peer.missing().empty())
    return peer.missing();
  try {
    const double off = difference(losses, peer.askNumbers(request));
    return off > tolerance ? fmt::format("its losses differ by {:.1e}", off) : "";
  } catch (const std::runtime_error &error) {
    return error.what();
  }
}

Contestant ours(const Network &network, const std::string &policy, const Batch &data) {
  return contestant("Halftone " + policy,
                    [model = network.make(policy, false), data] { model.train_on_batch(data.x, data.y); });
}

void compare(Table &table, const std::map<std::string, std::unique_ptr<Peer>> &peers, const Network &network,
             const std::string &policy, int64_t batch) {
  const std::string what = fmt::format("{} train step, batch {}, {}", network.title, batch, policy);
  if (!table.wants(what))
    return;
  const Exchange exchange;
  const Batch data = network.data(batch);
  const std::vector<double> losses = firstLosses(network.make(policy, true), data, exchange);
  std::vector<Contestant> field = {ours(network, policy, data)};
  if (network.besideFloat32 && policy != "float32")
    field.push_back(ours(network, "float32", data));
  // PyTorch's Adam adds epsilon after the bias correction, all others before: the third digit of losses differs.
  const double tolerance = policy == "float32" ? 5e-3 : 3e-2;
  const std::string request =
      fmt::format("prepare {} {} {} {}", network.name, policy, checkedSteps, exchange.path.string());
  std::vector<Row> absent;
  for (const std::string &name : network.peers) {
    Peer &peer = *peers.at(name);
    if (const std::string reason = refusal(peer, request, losses, tolerance); !reason.empty())
      absent.push_back({what, "", name + " missing", {}, {}, {}, false, reason});
    else
      field.push_back({name, [&peer](int times) { return peer.askNumbers(fmt::format("steps {}", times)).at(0); }});
  }
  const std::vector<double> seconds = race(field, 7, 0.15);
  for (size_t i = 1; i < field.size(); ++i) {
    Row row{what, milliseconds(seconds[0]), field[i].name + " " + milliseconds(seconds[i]), seconds[i] / seconds[0]};
    if (field[i].name == "Halftone float32")
      row.bar = 0.95;
    else if (const auto bars = network.bars.find(field[i].name);
             bars != network.bars.end() && policy != "mixed_float16")
      std::tie(row.bar, row.stretch) = bars->second;
    table.add(std::move(row));
  }
  for (Row &row : absent) {
    row.ours = milliseconds(seconds[0]);
    table.add(std::move(row));
  }
}

} // namespace

void compareTrainSteps(Table &table, const std::vector<Network> &networks) {
  cpu_set_t cores;
  CPU_ZERO(&cores);
  ::sched_getaffinity(0, sizeof cores, &cores);
  const std::string threads = std::to_string(CPU_COUNT(&cores)); // the threads that Halftone's plans use
  std::map<std::string, std::unique_ptr<Peer>> peers;
  for (const Network &network : networks)
    for (const std::string &name : network.peers)
      if (auto &peer = peers[name]; !peer) {
        peer = std::make_unique<Peer>(name, "train_step", std::vector<std::string>{name, threads});
        table.peer(*peer);
      }
  for (const Network &network : networks)
    for (const std::string &policy : network.policies)
      for (const int64_t batch : network.batches)
        compare(table, peers, network, policy, batch);
}

} // namespace halftone::benchmarks
